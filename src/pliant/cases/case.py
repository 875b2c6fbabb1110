"""What a built-in case is: settings with units, a model made from them, figures made from its result."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.model.model import Model
from pliant.model.quantities import parse_angle
from pliant.report_types import Figure, Finding, Panel
from pliant.result import Result
from pliant.results.figures import extreme

LARGEST = 1e35  # as in models


@dataclass(frozen=True)
class Setting:
    """One key a user may set: its default says its type."""

    default: Any
    help: str
    unit: str = ""
    choices: tuple[Any, ...] = ()
    low: float | None = None  # allowed from here
    high: float | None = None  # allowed up to here
    off: str = ""  # a word that is allowed as well

    def parse(self, key: str, value: Any) -> Any:
        """A value of the default's type, from Python or from text; or a message."""
        kind = type(self.default)
        if self.off and value == self.off:
            return self.off
        try:
            if kind is bool:
                parsed: Any = _parse_bool(value)
            elif kind is float:
                parsed = self._parse_number(value)
            elif kind is int:
                if isinstance(value, float) and not value.is_integer():
                    raise ValueError
                parsed = int(value)
            else:
                # names of methods may be written with hyphens
                plain = str(value).replace("-", "_")
                parsed = plain if plain in self.choices else str(value)
        except (TypeError, ValueError, OverflowError) as error:
            if self.unit == "rad" and '"' in str(error):
                raise ModelError(f"{key}: {error}") from None
            wanted = {"float": "a number", "int": "a whole number", "bool": "true or false"}.get(kind.__name__, "text")
            found = repr(value) if len(repr(value)) < 80 else repr(value)[:76] + "..."
            unit = f" [{self.unit}]" if self.unit else ""
            raise ModelError(f"{key}: {found} is not {wanted}{unit}; give one, as in {key}={self.default}") from None
        self._check_range(key, parsed)
        return parsed

    def _parse_number(self, value: Any) -> float:
        try:
            return float(value)
        except ValueError:
            if self.unit != "rad":
                raise
            return float(parse_angle(value))

    def _check_range(self, key: str, value: Any) -> None:
        if self.choices and value not in self.choices:
            raise ModelError(f"{key}: {value!r} is not known; choose one of {', '.join(map(str, self.choices))}")
        if isinstance(value, (int, float)):
            too_low = self.low is not None and not value >= self.low
            too_high = self.high is not None and not value <= self.high
            if too_low or too_high or not abs(value) <= LARGEST:
                low = f", at least {self.low:g}" if self.low is not None else ""
                high = f", at most {self.high:g}" if self.high is not None else ""
                unit = f" [{self.unit}]" if self.unit else ""
                raise ModelError(f"{key}: {value!r} found; give a finite number{low}{high}{unit}")


def _parse_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    return words[str(value).lower()] if str(value).lower() in words else bool(int("x"))


def vector_panel(title: str, unit: str, output: str, first: int = 0) -> Panel:
    """Three components of an output, from component `first` on."""
    return Panel(title, unit, tuple((axis, f"{output}[{first + k}]") for k, axis in enumerate("xyz")))


@dataclass(frozen=True)
class Variant:
    """One of several runs of a case: its settings, and what it changes of simulate's options."""

    settings: dict[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    may_fail: bool = False  # that it breaks down is part of what is shown


@dataclass(frozen=True)
class Case:
    """A built-in case."""

    name: str
    title: str
    source: str
    settings: Mapping[str, Setting]
    build: Callable[[dict[str, Any]], Model]
    figures: Callable[[Result], dict[str, float]]
    figure_table: Mapping[str, Figure]
    panels: Callable[[dict[str, Any]], tuple[Panel, ...]]  # of several runs: shown side by side
    # figures that need the settings, too
    chosen_figures: Callable[[dict[str, Any], Result], dict[str, float]] = lambda settings, result: {}
    run: Mapping[str, Any] = field(default_factory=dict)  # simulate's options where the case wants its own
    # and where its settings choose them
    options: Callable[[dict[str, Any]], Mapping[str, Any]] = lambda settings: {}
    # time [s] and enlargement of the picture of bent beams; None: the report's own choice
    picture: Callable[[dict[str, Any]], tuple[float | None, float | None]] = lambda settings: (None, None)
    # keys (also of the run) that do nothing with these settings, and why
    unused: Callable[[dict[str, Any]], Mapping[str, str]] = lambda settings: {}
    # whether building the model needs compiled kernels, so that a command says beforehand that it compiles
    needs_kernels: Callable[[dict[str, Any]], bool] = lambda settings: False
    # several runs in place of one, by label; the first is the one that result.nc holds
    variants: Callable[[dict[str, Any]], Mapping[str, Variant]] = lambda settings: {}
    compare_variants: Callable[[dict[str, Any], Mapping[str, Result]], tuple[Finding, ...]] = lambda settings, runs: ()
    # what is worked out from a single run, as charts
    summarise_run: Callable[[Result], tuple[Finding, ...]] = lambda result: ()

    def usual_options(self, settings: dict[str, Any]) -> dict[str, Any]:
        """simulate's options as the case wants them."""
        return {**self.run, **self.options(settings)}

    def figures_of(self, settings: dict[str, Any], result: Result) -> dict[str, float]:
        """All figures of a run."""
        return self.figures(result) | self.chosen_figures(settings, result)

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Defaults overridden by what is given; unknown keys are refused."""
        values = {key: setting.default for key, setting in self.settings.items()}
        for key, value in given.items():
            if key not in self.settings:
                raise ModelError(unknown_key(key, self.settings, f"case {self.name!r}"))
            values[key] = self.settings[key].parse(key, value)
        return values


def peak(result: Result, output: str, columns: slice = slice(None)) -> float:
    """Largest size of an output over the run, from the dense output: accepted steps would miss it between them."""
    if result.dense is None or len(result.dense.starts) == 0:
        return float(np.max(np.linalg.norm(result.outputs[output][:, columns], axis=1)))
    return extreme(result, lambda t: np.linalg.norm(result.outputs_at(t)[output][:, columns], axis=1))[0]


def coordinate_peak(result: Result, column: int) -> float:
    """The same of a coordinate."""
    if result.dense is None or len(result.dense.starts) == 0:
        return float(np.max(np.abs(result.q[:, column])))
    return extreme(result, lambda t: np.abs(result.at(t)[0][:, column]))[0]


MODULES = (
    "falling_chain",
    "spin_up",
    "elastica",
    "flexible_double_pendulum",
    "bouncing_ball",
    "sliding_block",
    "two_link_arm",
    "space_robot",
    "ground_space",
    "long_chain",
    "parallel_3rrr",
    "four_bar",
    "slider_crank",
    "flexible_slider_crank",
    "five_bar",
    "stewart",
    "canadarm",
    "one_link_collision",
    "slew",
    "tmm_chain",
    "tmm_beam",
    "flexible_arm_online",
    "andrews_squeezer",
    "n_four_bar",
    "bricard",
    "pendulum",
    "n_pendulum",
    "symmetric_top",
    "tennis_racket",
    "stick_slip_belt",
    "painleve_rod",
    "reorienting_satellite",
)


def unknown_key(key: str, allowed: Any, where: str) -> str:
    close = difflib.get_close_matches(key, list(allowed), 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{where}: no key {key!r}; {hint}allowed: {', '.join(allowed)}"


def all_cases() -> dict[str, Case]:
    """Every built-in case by name."""
    found = [_case_of(module) for module in MODULES]
    return {case.name: case for case in found}


def case_named(name: str) -> Case | None:
    """The built-in case of this name, alone: to import them all takes its time. A case has the name of its module."""
    module = name.replace("-", "_")
    return _case_of(module) if module in MODULES and "_" not in name else None


def _case_of(module: str) -> Case:
    case: Case = importlib.import_module(f"pliant.cases.{module}").CASE
    return case
