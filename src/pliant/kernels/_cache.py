"""Compiled kernels on disk: one file each, with a checksum, so that damage is seen before anything of it is run.

A file that cannot be used for whatever reason is dropped, its kernel compiled anew and written again; a folder that
cannot be written costs one warning. Uses inner parts of numba, whose version pyproject.toml pins."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import shutil
import time
import uuid
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_assembly, parse_bitcode
from numba.core.caching import Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

SUFFIX = ".kernel"
UNFINISHED = ".part"  # what a killed process leaves
OLD = 3600.0  # [s] writing takes a fraction of a second
NO_BITCODE = parse_assembly("").as_bitcode()


class KernelCache(Cache):  # type: ignore[misc]
    """What numba asks for one kernel's machine code, and gives it to."""

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        # numba's own __init__ finds a place by itself; of the base class only _index_key is used
        self._py_func, self._folder = function, folder
        self._cache_path = str(folder)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled kernel, or None: compile it. (What numba knows of types is loaded when it compiles.)"""
        codegen = context.codegen()
        path = self._path(signature, codegen)
        try:
            name, code, symbols, *facts = pickle.loads(read_sealed(path))
            codegen._engine._defined_symbols |= symbols
            return CompileResult._rebuild(context, (name, "object", (code, NO_BITCODE)), *facts)
        except FileNotFoundError:
            return None
        except Exception:  # whatever damage, an error of the disk, or a file that belongs to somebody else
            remove(path)
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the compiled kernel, if it can be kept: machine code only, nothing is linked to it."""
        (name, _, (code, bitcode)), *facts = result._reduce()
        module = parse_bitcode(bitcode)
        symbols = {one.name for one in (*module.functions, *module.global_variables) if not one.is_declaration}
        try:
            write_sealed(self._path(signature, result.codegen), dumps((name, code, symbols, *facts)))
        except OSError as error:
            warn_unwritable(str(self._folder), error.strerror or str(error))

    def flush(self) -> None:
        for path in self._folder.glob(f"{self._name()}-*{SUFFIX}"):
            remove(path)

    def _name(self) -> str:
        return f"{self._py_func.__module__}.{self._py_func.__qualname__}".replace("<", "").replace(">", "")

    def _path(self, signature: Any, codegen: Any) -> Path:
        """One file per kernel, source, signature and processor."""
        code = self._py_func.__code__
        facts = (self._index_key(signature, codegen), code.co_firstlineno, _source(inspect.getfile(self._py_func)))
        return self._folder / f"{self._name()}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}{SUFFIX}"


@cache
def _source(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if os.path.isfile(file) else ""


def read_sealed(path: Path) -> bytes:
    """What write_sealed wrote; ValueError if it is anything else."""
    if path.exists() and not path.is_file():  # to open a pipe would wait for ever
        raise ValueError(f"{path} is no regular file")
    data = path.read_bytes()
    if data[:4] != _seal(path, data[4:]):
        raise ValueError(f"{path} is damaged")
    return data[4:]


def write_sealed(path: Path, data: bytes) -> None:
    """The file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f"{uuid.uuid4().hex}{UNFINISHED}"
    try:
        temporary.write_bytes(_seal(path, data) + data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _seal(path: Path, data: bytes) -> bytes:
    """Of the name, too: a file in another's place is damage."""
    return zlib.crc32(data, zlib.crc32(path.name.encode())).to_bytes(4, "little")


def remove(path: Path) -> None:
    """A file, or a folder in a file's place; what cannot be removed stays."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        pass


def usable(folder: Path) -> bool:
    """Whether kernels can be kept here, or are; clears what killed processes left."""
    if folder.exists() and not folder.is_dir():
        remove(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # a full disk takes empty files
        (folder / "used").write_bytes(bytes(65536))
    except OSError:
        return has_kernels(folder)
    for path in folder.glob(f"*{UNFINISHED}"):
        try:
            if time.time() - path.stat().st_mtime > OLD:
                path.unlink()
        except OSError:
            pass
    return True


def has_kernels(folder: Path, module: str = "") -> bool:
    """Whether kernels of a module (as pliant.kernels.energy), or any, are in a folder."""
    return any(folder.glob(f"{module or '*'}.*{SUFFIX}"))


@cache
def warn_unwritable(folder: str, reason: str) -> None:
    """Once."""
    warnings.warn(
        f"pliant's cache of compiled kernels in {folder} cannot be written ({reason}): what is not in it is compiled "
        "anew in every process",
        stacklevel=2,
    )
