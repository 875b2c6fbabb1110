"""Variants of a model: one per choice of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.cases.loading import load
from pliant.engine.callbacks import CallbackError, guarded
from pliant.errors import ModelError
from pliant.io.toml import with_keys
from pliant.model.messages import quoted
from pliant.model.model import Model

Variant = Callable[[dict[str, float]], Any]


def as_variants(source: Any) -> Variant:
    """values -> what they make: of a model, its copy with these keys; of a case or file, as load does; of a function,
    what it says."""
    if isinstance(source, Model):
        return lambda values: with_keys(source, values)
    if isinstance(source, (str, Path)):
        return lambda values: load(source, **dict[str, Any](values))
    if not callable(source):
        raise ModelError(
            f"model: {quoted(source)} found; give a pliant.Model, a case or file, or a function of the parameters"
        )
    return lambda values: _called(source, values)


def _called(function: Callable[..., Any], values: dict[str, float]) -> Any:
    """A user's function; a value that the model refuses is told from a mistake in the function."""
    try:
        return guarded(lambda: function(**values), function, "the function of the parameters")
    except CallbackError as error:
        if isinstance(error.__cause__, ModelError):
            raise ModelError(str(error.__cause__)) from None
        raise
