"""Variants of a model: one per choice of its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pliant.cases.loading import load
from pliant.engine.callbacks import CallbackError, guarded
from pliant.errors import ModelError
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model

Variant = Callable[[dict[str, float]], Any]


def as_variants(source: Any, names: tuple[str, ...]) -> Variant:
    """values -> what they make: of a model, its copy with these keys; of a case or file, as load does; of a function,
    what it says. Keys that are not there are refused here."""
    if isinstance(source, Model):
        for name in names:
            _value(source, name)
        return lambda values: changed(source, values)
    if isinstance(source, (str, Path)):
        load(source)  # what is no model is refused before the first run
        return lambda values: load(source, **dict[str, Any](values))
    if not callable(source):
        raise ModelError(
            f"model: {quoted(source)} found; give a pliant.Model, a case or file, or a function of a dict of parameters"
        )
    return lambda values: _called(source, values)


def _called(function: Callable[[dict[str, float]], Any], values: dict[str, float]) -> Any:
    """A user's function; a value that the model refuses is told from a mistake in the function."""
    try:
        return guarded(lambda: function(dict(values)), function, "the function of the parameters")
    except CallbackError as error:
        if isinstance(error.__cause__, ModelError):
            raise ModelError(str(error.__cause__)) from None
        raise


def changed(model: Model, values: Mapping[str, float]) -> Model:
    """The model with other numbers under some of its keys, as "joints.elbow.stiffness"."""
    for key, value in values.items():
        model = _with(model, key.split("."), value, key)
    return model


def _with(here: Any, parts: list[str], value: float, key: str) -> Any:
    """A copy of what lies here, with another value at the end of the path."""
    if not parts:
        return value
    part, *rest = parts
    inner = _with(_inner(here, part, key), rest, value, key)
    if isinstance(here, tuple):
        place = _place(here, part, key)
        return (*here[:place], inner, *here[place + 1 :])
    return dataclasses.replace(here, **{part: inner})


def _value(here: Any, key: str) -> Any:
    """What lies under a key, a number; or a message."""
    for part in key.split("."):
        here = _inner(here, part, key)
    if isinstance(here, (tuple, list)) and len(here) == 1:  # of a joint with one coordinate
        here = here[0]
    if isinstance(here, bool) or not isinstance(here, (int, float)):
        raise ModelError(f"parameters: {quoted(key)} is {quoted(here)}, no number; give the key of a number")
    return here


def _inner(here: Any, part: str, key: str) -> Any:
    if isinstance(here, tuple):
        return here[_place(here, part, key)]
    names = [field.name for field in dataclasses.fields(here)] if dataclasses.is_dataclass(here) else []
    if part not in names:
        there = f"there are {listed(names, 30)}" if names else f"{quoted(here)} has no keys"
        hint = closest(part, names) or ";"
        raise ModelError(
            f"parameters: {quoted(key)}: no {quoted(part)}{hint} {there}; keys are written as joints.elbow.stiffness"
        )
    return getattr(here, part)


def _place(items: tuple[Any, ...], part: str, key: str) -> int:
    """Where in a list: by name, or by number from 0."""
    names = [getattr(item, "name", None) for item in items]
    if part in names:
        return names.index(part)
    if part.isdecimal() and int(part) < len(items):
        return int(part)
    words = [name for name in names if isinstance(name, str)]
    there = f"there are {listed(words)}" if words else f"there are {len(items)}, counted from 0"
    raise ModelError(f"parameters: {quoted(key)}: no {quoted(part)}{closest(part, words) or ';'} {there}")
