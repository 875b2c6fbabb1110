"""Options of a run, a row each: simulate, [run] of model files, --set, completion, listings, schema and docs use them.

The table stands here, below io/ and simulation/, because files and calls are checked by the same rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pliant.engine.arguments import as_flag, as_number, as_whole
from pliant.errors import ModelError
from pliant.machine import free_memory
from pliant.methods import CHOSEN, PARAMETERS, find_method
from pliant.model.messages import closest, listed, quoted

FREE_SHARE = 0.5  # of the free memory a run may keep, unless said otherwise
OFF = "off"
SIZES = {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30}


LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "nm": 1e-9}
ANGLES = {"rad": 1.0, "mrad": 1e-3, "deg": np.pi / 180.0}


class Accuracy(NamedTuple):
    """Asked for: as a length, as an angle, or as a number, part of the model's size and of a radian."""

    number: float | None = None
    length: float | None = None  # [m]
    angle: float | None = None  # [rad]

    @property
    def relative(self) -> float:
        """As a number, about."""
        return next(value for value in self if value is not None)


@dataclass(frozen=True)
class RunOption:
    """One option: its name, default, unit, range, words."""

    name: str
    words: str
    default: Any = None  # None: off, or as the words say
    unit: str = ""
    low: float = 0.0  # numbers are above this
    high: float = np.inf  # and below this
    example: Any = None  # where the default is None: of the type that it has
    choices: tuple[str, ...] = ()
    can_be_off: bool = False  # "off" is a value too: a call undoes with it what a file says
    is_for_files: bool = True  # else for calls in Python only
    takes_units: bool = False  # a number, or a text with a unit

    def checked(self, value: Any, where: str = "") -> Any:
        """The value as a run takes it, or a message."""
        where, kind = where or self.name, type(self.usual)
        if self.name in CHOSEN:
            return find_method(self.name, value)
        if self.can_be_off and isinstance(value, str) and value == OFF:
            return None
        if self.name == "memory":
            return _checked_memory(value, where)
        if self.name == "accuracy":
            as_accuracy(value, where)
            return value
        if kind is bool:
            return as_flag(value, where)
        if kind is int:
            return as_whole(value, where)
        unit = f"[{self.unit}]" if self.unit else ""
        hint = f"such as {self.default:g}".replace("e-0", "e-") if self.default is not None else ""
        off = f'or "{OFF}"' if self.can_be_off else ""
        return as_number(value, where, self.low, self.high, ", ".join(filter(None, (unit, hint, off))))

    @property
    def usual(self) -> Any:
        """The default, or an example of what it may be."""
        return self.example if self.default is None else self.default

    @property
    def shown_default(self) -> Any:
        return OFF if self.default is None else self.default


def _family(name: str, words: str) -> RunOption:
    return RunOption(name, words, "auto", choices=("auto", *(method.name for method in CHOSEN[name])))


RUN_OPTIONS = {
    option.name: option
    for option in (
        RunOption("duration", "length of the run", unit="s", example=1.0),
        _family("formulation", "who computes accelerations"),
        _family("integrator", "who advances time"),
        _family("closure", "how loops are closed"),
        RunOption("rtol", "relative tolerance of a step", 1e-8, low=1e-16, high=1.0),
        RunOption("atol", "absolute tolerance of a step (lengths: times the model's size); where it is not given and "
                  "rtol is below its default, as much smaller as that", 1e-10, "rad"),
        RunOption("accuracy", "of the motion itself, in place of rtol and atol: 1 mm, 0.01 deg, or a number, part of "
                  "the model's size and of a radian", example="1 mm", can_be_off=True, takes_units=True),
        RunOption("step", "fixed step instead of error control", unit="s", example=0.001, can_be_off=True),
        RunOption("max_step", "largest step", unit="s", example=0.01, can_be_off=True),
        RunOption("max_steps", "give up after so many steps", 10_000_000),
        RunOption("sample", "rows of the result on a grid of this period instead of at accepted steps", unit="s",
                  example=0.01, can_be_off=True),
        RunOption("dense", "whether the dense output is kept, for at(t)", True, is_for_files=False),
        RunOption("memory", "what the run may keep in memory, as 2 GB; auto: half of what is free", "auto",
                  takes_units=True),
    )
}  # fmt: skip
MIN_ATOL = 1e-15  # that follows rtol: rounding of an angle of about 1
FILE_OPTIONS = tuple(name for name, option in RUN_OPTIONS.items() if option.is_for_files)


def usual_atol(rtol: float) -> float:
    """The absolute tolerance of a run that gives none: its default, or as much smaller as rtol is."""
    share: float = min(1.0, rtol / RUN_OPTIONS["rtol"].default)
    # without the last digits, which are rounding: 1e-13 for 1e-11
    return float(f"{max(share * RUN_OPTIONS['atol'].default, MIN_ATOL):.12g}")


def check_run(run: Mapping[str, Any]) -> None:
    """The table [run] of a model: known keys, each with a value that it may have; or a message."""
    for key, value in run.items():
        if key in PARAMETERS:
            method, parameter = PARAMETERS[key]
            raise ModelError(
                f"run.{key}: it is a parameter of {method.name}; write it with it: "
                f'{method.family} = {{ kind = "{method.name}", {parameter.name} = {value} }}'
            )
        if key not in FILE_OPTIONS:
            hint = closest(str(key), FILE_OPTIONS) or ";"
            raise ModelError(f"run: unknown key {quoted(key)}{hint} allowed: {listed(FILE_OPTIONS, 20)}")
        try:
            RUN_OPTIONS[key].checked(value, f"run.{key}")
        except ModelError as error:
            text = str(error)
            raise ModelError(text if text.startswith(f"run.{key}") else f"run.{key}: {text}") from None


def run_schema() -> dict[str, Any]:
    """JSON schema of [run]."""
    kinds = {float: "number", int: "integer", bool: "boolean", str: "string"}
    properties: dict[str, Any] = {}
    for name in FILE_OPTIONS:
        option = RUN_OPTIONS[name]
        row: dict[str, Any] = {"description": option.words + (f" [{option.unit}]" if option.unit else "")}
        if option.choices:
            row["anyOf"] = [{"enum": list(option.choices)}, *(_method_schema(method) for method in CHOSEN[name])]
        else:
            row["type"] = ["string", "number"] if option.takes_units else kinds[type(option.usual)]
            if row["type"] == "number":
                row |= {"exclusiveMinimum": option.low}
                row |= {"exclusiveMaximum": option.high} if option.high < np.inf else {}
            if option.can_be_off:
                words = {"description": row.pop("description")}
                row = words | {"anyOf": [row, {"const": OFF}]}
        properties[name] = row
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _method_schema(method: Any) -> dict[str, Any]:
    own: dict[str, Any] = {"kind": {"const": method.name}}
    for each in method.parameters():
        kind = {"enum": list(each.choices)} if each.choices else {"type": "number"}
        kind = {"type": "boolean"} if isinstance(each.default, bool) else kind
        own[each.name] = {"description": each.words, "default": each.default, **kind}
    return {"type": "object", "additionalProperties": False, "properties": own, "required": ["kind"]}


def as_accuracy(value: Any, where: str = "accuracy") -> Accuracy:
    """1e-6, "1e-6", "1 mm", "0.01 deg"; or a message."""
    number, unit = value, ""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([0-9.eE+-]+)\s*([a-z]*)\s*", value)
        number, unit = (found[1], found[2]) if found else ("nan", "")
    try:
        size = float("nan" if isinstance(value, bool) else number)
    except Exception:  # what a caller's objects do when they shall become a number
        size = float("nan")
    known = unit == "" or unit in LENGTHS or unit in ANGLES
    if not known or not 0.0 < size < (1.0 if unit == "" else np.inf):
        allowed = f'a number below 1, or text with one of {", ".join((*LENGTHS, *ANGLES))}, as in "1 mm"'
        raise ModelError(f"{where}: {quoted(value)} found; give {allowed}")
    if unit in LENGTHS:
        return Accuracy(length=size * LENGTHS[unit])
    return Accuracy(angle=size * ANGLES[unit]) if unit else Accuracy(size)


def _checked_memory(value: Any, where: str) -> float | str:
    if isinstance(value, str) and value.strip().lower() == "auto":
        return "auto"
    size = allowed_memory(value, where)
    if size == np.inf:
        raise ModelError(f'{where}: inf found; give a size such as "2 GB" or "500 MB", or "auto"')
    return size


def allowed_memory(value: Any, where: str = "memory") -> float:
    """Bytes that a run may keep in memory: a number of them, "2 GB", or "auto", half of what is free now."""
    if isinstance(value, str) and value == "auto":
        return FREE_SHARE * free_memory()
    number, unit = value, ""
    if isinstance(value, str):
        found = re.fullmatch(r"([0-9.e+]+)\s*([a-z]*)", value.strip().lower())
        number, unit = (found[1], found[2]) if found else ("", "")
    try:
        size = float("nan" if isinstance(value, bool) else number) * SIZES[unit]
    except Exception:  # what a caller's objects do when they shall become a number
        size = float("nan")
    if not size > 0.0:
        raise ModelError(f'{where}: {quoted(value)} found; give a size such as "2 GB" or "500 MB", or "auto"')
    return size
