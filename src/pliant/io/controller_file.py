"""Controllers that model files name, "control.py:law": Python code beside the model file, run only if it is trusted."""

from __future__ import annotations

import dataclasses
import inspect
import os
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pliant.errors import ModelError
from pliant.io.plain_file import read_plain
from pliant.model.control import Controller
from pliant.model.messages import closest, listed


def resolved(controller: Controller, path: Path, trust: bool) -> Controller:
    """A controller of the model file `path` with its function, from a Python file in the folder of the model file."""
    if not isinstance(controller.function, str):
        return controller
    where = f"{path.name}: controller '{controller.name}'"
    file, name = controller.function.split(":")
    if trust is not True:
        raise ModelError(
            f"{where}: it would run '{file}', code that can do anything on this computer; look at it, and if you trust "
            "it, say so: --trust on the command line, trust=True in Python"
        )
    source = _inside(where, path.parent.resolve(), file)
    try:
        module = _module(source, source.stat().st_mtime_ns)
    except (ModelError, OSError) as error:
        raise ModelError(f"{where}: '{file}' cannot be read ({error}); give a Python file") from None
    except _CodeError as error:
        raise ModelError(f"{where}: '{file}' cannot be imported ({error}); correct it") from error.__cause__
    function = getattr(module, name, None)
    if not callable(function):
        others = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        hint = closest(name, others) or ";"
        raise ModelError(f"{where}: '{file}' has no function '{name}'{hint} it has: {listed(others) or 'none'}")
    return dataclasses.replace(controller, function=function)


def _inside(where: str, folder: Path, file: str) -> Path:
    """The file that is meant, links followed; it has to lie in the folder or below."""
    try:
        source = (folder / file).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # also circles of links, and names that no file can have
        raise ModelError(
            f"{where}: file '{file}' does not exist; paths start at the folder of the model file"
        ) from None
    if not source.is_relative_to(folder):
        raise ModelError(
            f"{where}: '{file}' lies outside the folder of the model file, in {source.parent}; only code inside it is "
            "run: copy it there"
        )
    return source


class _CodeError(Exception):
    """Code of a controller file raised."""


@lru_cache(maxsize=32)
def _module(source: Path, changed: int) -> ModuleType:
    """The module in a file; once per version of the file, so that equal models have equal functions.

    What is run is the text that was read, never a compiled file from __pycache__."""
    text = read_plain(source)
    module = ModuleType(f"pliant_controller_{source.stem}_{changed}")
    module.__file__ = str(source)
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, str(source), "exec"), vars(module))
    except BaseException as error:  # a user's code may raise anything, sys.exit included
        del sys.modules[module.__name__]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _CodeError(f"{type(error).__name__}: {error}") from error
    return module


def source_of(controller: Controller, path: Path) -> str:
    """A controller's function as "file.py:name", seen from a model file."""
    function: Any = controller.function
    if isinstance(function, str):
        return function
    where = f"{path.name}: controller '{controller.name}'"
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", "")
    if code is None or not name.isidentifier() or not Path(code.co_filename).is_file():
        raise ModelError(f"{where}: only functions at the top level of a .py file can be saved; move it to one")
    source = Path(code.co_filename).resolve()
    if not source.is_relative_to(path.parent.resolve()):
        raise ModelError(
            f"{where}: its function is in {source}, and only code in the folder of the model file is run; save the "
            "model beside it"
        )
    return f"{Path(os.path.relpath(source, path.parent.resolve())).as_posix()}:{name}"


def label_of(controller: Controller) -> str:
    """A controller's function as "file.py:name", for a record of a run: nobody looks it up again."""
    function: Any = controller.function
    if isinstance(function, str):
        return function
    code, name = getattr(function, "__code__", None), getattr(function, "__name__", type(function).__name__)
    file = Path(code.co_filename).name if code is not None else ""
    return f"{file if file.endswith('.py') else 'python.py'}:{name if name.isidentifier() else 'function'}"
