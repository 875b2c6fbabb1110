"""What a study varies: a case or a file, a Model, or a Python function that makes a Model or a Result."""

from __future__ import annotations

import hashlib
import inspect
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pliant.cases.case import Case, unknown_key
from pliant.cases.chosen_run import RUN_SETTINGS, choose_run, chosen_start, is_start
from pliant.cases.loading import find_case
from pliant.engine.callbacks import guarded
from pliant.errors import ModelError
from pliant.files import as_path
from pliant.io.controller_file import label_of
from pliant.io.toml import model_tables, with_keys
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.result import Result
from pliant.simulation.options import check_options, with_values
from pliant.simulation.simulate import simulate


@dataclass(frozen=True, eq=False)
class RowRun:
    """One row of a study, ready to be simulated; or its result, where a function has made it."""

    model: Model
    options: Mapping[str, Any] = field(default_factory=dict)  # of simulate
    starts: Mapping[str, Any] = field(default_factory=dict)  # q0, v0
    case: Case | None = None
    settings: dict[str, Any] = field(default_factory=dict)  # of the case
    result: Result | None = None

    @property
    def duration(self) -> float:
        return float(check_options(self.model, **self.options)["duration"])

    def simulated(self) -> Result:
        """The whole Result."""
        return self.result or simulate(self.model, **self.starts, **self.options)


class Base(Protocol):
    """What is varied. It travels to other processes by pickle."""

    @property
    def name(self) -> str: ...

    def run(self, values: Mapping[str, Any]) -> RowRun:
        """The run with these values of the parameters."""
        ...

    def identity(self) -> dict[str, Any]:
        """What tells studies apart, as plain data."""
        ...

    def command(self, values: Mapping[str, Any]) -> str:
        """A line that makes this run again."""
        ...


@dataclass(frozen=True)
class CaseOrFile:
    """A built-in case, or a file, with keys set for all rows."""

    place: str
    settings: Mapping[str, Any]
    trust: bool = False

    @property
    def name(self) -> str:
        return self.place if find_case(self.place) else Path(self.place).stem

    def run(self, values: Mapping[str, Any]) -> RowRun:
        chosen = choose_run(self.place, {**self.settings, **values}, self.trust)
        if chosen.case is not None and chosen.case.variants(chosen.settings):
            raise ModelError(f"{chosen.name}: with these settings it is several runs; vary one of them")
        options = with_values(chosen.model, chosen.options)
        return RowRun(chosen.model, options, chosen.starts, chosen.case, chosen.settings)

    def unit(self, key: str) -> str:
        """Of a setting, or of an option of the run."""
        case = find_case(self.place)
        known = {**RUN_SETTINGS, **(case.settings if case else {})}
        return known[key].unit if key in known else ""

    def identity(self) -> dict[str, Any]:
        # the model at its own values: it says what a file, its meshes and its sidecar hold, wherever they lie
        model = choose_run(self.place, self.settings, self.trust).model
        case = find_case(self.place)
        where = {"case": self.place} if case else {"file": str(Path(self.place).resolve())}
        return {**where, "settings": dict(self.settings), "model": model_digest(model)}

    def command(self, values: Mapping[str, Any]) -> str:
        words = ["pliant", "run", self.place]
        for key, value in {**self.settings, **values}.items():
            words += ["--set", f"{key}={_text(value)}"]
        return shlex.join([*words, *(["--trust"] if self.trust else [])])


@dataclass(frozen=True, eq=False)
class ModelBase:
    """A Model: keys of its file, options of the run, and starts are varied."""

    model: Model
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.model.name

    def run(self, values: Mapping[str, Any]) -> RowRun:
        given = {**self.settings, **values}
        begun = {key: value for key, value in given.items() if is_start(key)}
        options = {key: RUN_SETTINGS[key].parse(key, value) for key, value in given.items() if key in RUN_SETTINGS}
        keys = {key: value for key, value in given.items() if key not in begun and key not in options}
        model = with_keys(self.model, keys) if keys else self.model
        options = with_values(model, options)
        check_options(model, **options)
        return RowRun(model, options, chosen_start(model, begun))

    def identity(self) -> dict[str, Any]:
        return {"settings": dict(self.settings), "model": model_digest(self.model)}

    def command(self, values: Mapping[str, Any]) -> str:
        return f"# a model in Python, with {_listed({**self.settings, **values})}"


@dataclass(frozen=True, eq=False)
class FunctionBase:
    """A function of the parameters that makes a Model, which is simulated, or a Result."""

    function: Callable[..., Any]
    settings: Mapping[str, Any]  # options of the run

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def check_arguments(self, names: Sequence[str]) -> None:
        """Refuse parameters that are not its arguments."""
        try:
            signature = inspect.signature(self.function)
        except Exception:  # whatever a caller's object does when one looks at it: the first call will tell
            return
        try:
            signature.bind(**dict.fromkeys(names))
        except TypeError as error:
            takes = f"{self.name}{signature}"
            raise ModelError(f"Study: {takes} cannot be called with {listed(names)}: {error}; let them agree") from None

    def run(self, values: Mapping[str, Any]) -> RowRun:
        begun = {key: value for key, value in {**self.settings, **values}.items() if is_start(key)}
        values = {key: value for key, value in values.items() if key not in begun}
        for key in self.settings:
            if key not in RUN_SETTINGS and key not in begun:
                raise ModelError(unknown_key(key, RUN_SETTINGS, f"settings of {self.name}"))
        made = guarded(lambda: self.function(**values), self.function, self.name)
        if isinstance(made, Result):
            return RowRun(made.model, result=made)
        if not isinstance(made, Model):
            raise ModelError(f"{self.name}: {quoted(made)} returned; return a pliant.Model or a Result")
        given = {key: value for key, value in self.settings.items() if key not in begun}
        options = with_values(made, {key: RUN_SETTINGS[key].parse(key, value) for key, value in given.items()})
        check_options(made, **options)
        return RowRun(made, options, chosen_start(made, begun))

    def identity(self) -> dict[str, Any]:
        return {"function": function_identity(self.function), "settings": dict(self.settings)}

    def command(self, values: Mapping[str, Any]) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in values.items())})"


def as_base(given: Any, settings: Mapping[str, Any], trust: bool) -> Base:
    """What is to be varied, or a message."""
    if isinstance(given, Model):
        return ModelBase(given, settings)
    if isinstance(given, (str, Path)):
        place = str(as_path(given, "model"))
        find_case(place)
        return CaseOrFile(place, settings, trust)
    if callable(given) and not isinstance(given, type):
        return FunctionBase(given, settings)
    raise ModelError(
        f"Study: {quoted(given)} found; give a case, a file, a Model, or a function that makes a Model or a Result"
    )


def model_digest(model: Model) -> str:
    """Of all that a model says; functions of controllers by name."""
    text = json.dumps(model_tables(model), sort_keys=True, default=_named)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def function_identity(function: Any) -> dict[str, str]:
    """Name and source of a function; a study cannot know what it calls."""
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        source = code.co_code.hex() + repr(code.co_consts) if code is not None else ""
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
    return {"name": name, "source": hashlib.sha256(source.encode()).hexdigest()[:32]}


def _named(value: Any) -> str:
    if hasattr(value, "function"):
        return label_of(value)
    return str(getattr(value, "__qualname__", type(value).__name__)) if callable(value) else str(value)


def _text(value: Any) -> str:
    """As --set reads it, to the last bit."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, (int, float)) else str(value)


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_text(value)}" for key, value in values.items())
