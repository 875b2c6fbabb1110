"""Functions that a user gives: called so that whatever they do has its message."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.engine.arguments import as_callback
from pliant.errors import SimulationError

Progress = Callable[[float, float], None]  # (done, whole)


class CallbackError(SimulationError):
    """A user's function raised, or returned what cannot be used."""


def guarded(call: Callable[[], Any], function: Any, where: str) -> Any:
    """What a user's function says. It may raise anything: only Ctrl-C stays an interruption."""
    try:
        return call()
    except (CallbackError, KeyboardInterrupt):
        raise
    except BaseException as error:
        try:
            what = f"{type(error).__name__}: {error}"
        except Exception:  # words of its own that fail, too
            what = type(error).__name__
        raise CallbackError(f"{where} failed in {_line(error, function)}: {what}") from error


def heard(progress: Any, what: str = "progress") -> Any:
    """A progress function of the user's as the loop calls it; if it fails, the run ends with that as its reason."""
    if as_callback(progress, what) is None:
        return None
    return lambda done, whole: guarded(lambda: progress(done, whole), progress, what)


def _line(error: BaseException, function: Any) -> str:
    """The last line of the function's own file on the way to an error, else where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    frame = (own or frames)[-1]
    return f"{Path(frame.filename).name}, line {frame.lineno}"
