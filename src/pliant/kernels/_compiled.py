"""Kernels compiled on this machine: loaded from the cache, and compiled by numba where they are not in it.

numba is imported only then. Until then decorators note what there is, and modules hold plain functions; numba compiles
copies of these that see each other compiled (_numba.py)."""

import functools
import hashlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.kernels import _cache, _loader
from pliant.kernels._ready import asks_for_numba, hashed_sources, name_of

IS_COMPILED = True
# what machine code asks for without saying so: functions that LLVM knows by itself
ASSUMED = ("cos", "exp", "log", "memcpy", "memset", "pow", "sin")

_noted: dict[Callable[..., Any], Callable[[Any], Any]] = {}  # what _numba makes of each function in the modules
_signatures: dict[Callable[..., Any], Any] = {}  # of kernels
_addresses: dict[Callable[..., Any], int] = {}
_turn = threading.RLock()  # threads may ask for the same kernel


# --- cache ------------------------------------------------------------------------------------------------------


def _version_of_numba() -> str:
    """Without importing it: numba, and llvmlite below it."""
    texts = []
    for name in ("numba", "llvmlite"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ImportError(f"{name} is not installed: pliant compiles with it; pip install pliant brings it")
        texts.append(Path(spec.origin).with_name("_version.py").read_text(encoding="utf-8"))
    return "".join(texts)


def _settings() -> list[str]:
    """Those of numba that decide machine code, where they are not the usual ones."""
    if not asks_for_numba({**os.environ, "PLIANT_JIT": "0"}):
        return []
    import numba

    names = ("BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "CPU_NAME", "CPU_FEATURES", "ENABLE_AVX")
    names += ("LOOP_VECTORIZE", "SLP_VECTORIZE")
    return [f"{name}={getattr(numba.config, name, None)}" for name in names]


def source_hash() -> str:
    """Hash of everything that decides machine code, but the processor and the kernel itself."""
    facts = [hashed_sources(), _version_of_numba(), sys.version, *_settings()]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


CACHE_FOLDER = _cache.find_folder(source_hash())


def is_cached(module: str = "") -> bool:
    """Whether this machine has compiled these kernels before (else the first run says that it compiles)."""
    return CACHE_FOLDER is not None and _cache.has_kernels(CACHE_FOLDER, module)


@functools.cache
def _hash_of_file(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if os.path.isfile(file) else ""


def _pattern(signature: Any) -> str:
    """Of arguments and result, as "int64(System, float64[2], ...)"."""

    def word(example: Any) -> str:
        if isinstance(example, np.ndarray):
            return f"{example.dtype}[{example.ndim}]"
        if isinstance(example, tuple):
            return type(example).__name__
        return "float64" if isinstance(example, float) else "int64"

    return f"{word(signature.result.example)}({', '.join(word(kind.example) for kind in signature.arguments)})"


def _file(name: str, *facts: Any) -> Path | None:
    """Of code for this processor."""
    if CACHE_FOLDER is None:
        return None
    name = name.replace("<", "").replace(">", "")
    digest = hashlib.sha256(repr((*facts, _loader.processor())).encode()).hexdigest()[:16]
    return CACHE_FOLDER / f"{name}-{digest}{_cache.SUFFIX}"


def _file_of(function: Callable[..., Any]) -> Path | None:
    code = function.__code__
    if function.__closure__:  # what it holds has no name
        return None
    own = (code.co_firstlineno, code.co_code, code.co_consts, code.co_names, _hash_of_file(code.co_filename))
    return _file(f"{function.__module__}.{function.__qualname__}", _pattern(_signatures[function]), own)


def _loaded(path: Path | None, make: Callable[[], tuple[Sequence[str], bytes]]) -> int:
    """Address of code from its file, or made anew and kept there: a line of the symbols that it asks for, then it."""
    if path is not None:
        try:
            asked, _, code = _cache.read_sealed(path).partition(b"\n")
            _find_symbols(asked.decode().split())
            return _loader.loaded(code)
        except FileNotFoundError:
            pass
        except Exception:  # whatever damage, an error of the disk, or a file that belongs to somebody else
            _cache.remove(path)
    symbols, code = make()
    if path is not None:
        try:
            _cache.write_sealed(path, " ".join(symbols).encode() + b"\n" + code)
        except OSError as error:
            _cache.warn_unwritable(str(path.parent), error.strerror or str(error))
    return _loader.loaded(code)


def _find_symbols(names: Sequence[str]) -> None:
    """LLVM ends the process where one is missing; numba brings those that a platform lacks."""
    if not all(map(_loader.is_known, (*names, *ASSUMED))):
        import numba  # noqa: F401

        missing = [name for name in names if not _loader.is_known(name)]
        if missing:
            raise ValueError(f"there is no {missing[0]}")


# --- kernels ----------------------------------------------------------------------------------------------------


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    _noted[function] = lambda compiler: compiler.helper(function)
    return function


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    _noted[function] = lambda compiler: compiler.routine(function)
    return function


def native(module: str) -> Any:
    """Decorator of a function that numba replaces by the one of this name in a module of pliant.kernels."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        _noted[function] = lambda compiler: compiler.native(module, function.__name__)
        return function

    return decorate


def contracted(function: Callable[..., Any], signature: Any) -> Callable[..., Any]:
    """A kernel for one signature, compiled when its address or entry is asked for."""
    _noted[function] = lambda compiler: compiler.kernel(function)
    _signatures[function] = signature
    return function


def caller(signature: Any) -> Any:
    """call(address, arguments) of kernels with this signature, for kernels."""

    def call(address: Any, arguments: Any) -> Any:
        raise NotImplementedError("kernels call by address; Python calls by entry(kernel)")

    _noted[call] = lambda compiler: compiler.caller(signature)
    return call


def table_at(kind: Any) -> Any:
    def at(address: Any) -> Any:
        raise NotImplementedError("for kernels")

    _noted[at] = lambda compiler: compiler.table_at(kind)
    return at


def compiled(function: Callable[..., Any]) -> Any:
    """numba's result."""
    from pliant.kernels import _numba

    return _numba.compiled(function, _signatures[function], _noted)


def _object_code(function: Callable[..., Any]) -> tuple[Sequence[str], bytes]:
    from pliant.kernels import _numba

    return _numba.object_code(compiled(function), _loader.SYMBOL)


def address(function: Callable[..., Any]) -> int:
    if function not in _addresses:
        with _turn:
            if function not in _addresses:
                _addresses[function] = _loaded(_file_of(function), lambda: _object_code(function))
    return _addresses[function]


@functools.cache
def _calling(pattern: str, signature: Any) -> int:
    """Address of the code by which Python calls kernels of a signature."""

    def make() -> tuple[Sequence[str], bytes]:
        return (), _loader.calling_code([kind.example for kind in signature.arguments])

    return _loaded(_file("calling", pattern), make)


@functools.cache
def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel as a function of Python: no dispatch, numbers converted, the layout of arrays looked at."""
    signature = _signatures[function]
    assert isinstance(signature.result.example, int), f"{name_of(function)} is not called from Python"
    pattern = _pattern(signature)

    def failed(status: int, exception: int) -> None:
        if status == _loader.DOES_NOT_FIT:
            raise TypeError(f"{name_of(function)} takes {pattern.partition('(')[2][:-1]}")
        if not exception:
            raise RuntimeError(f"kernel {name_of(function)} ended with status {status} of numba")
        from pliant.kernels import _numba

        raise _numba.exception_at(exception)

    with _turn:
        return _loader.python_function(_calling(pattern, signature), address(function), failed)


# --- tables -----------------------------------------------------------------------------------------------------


def _descriptor(array: np.ndarray) -> np.ndarray:
    """numba's array: no owner, no parent, size, itemsize, data, shape, strides."""
    assert array.flags.c_contiguous
    head = (0, 0, array.size, array.itemsize, array.ctypes.data)
    return np.array([*head, *array.shape, *array.strides], np.int64)


def pin(tables: Any) -> tuple[Any, Any]:
    """What kernels take for a NamedTuple of arrays, and what must live as long."""
    descriptors = np.concatenate([_descriptor(array) for array in tables])
    return descriptors.ctypes.data, descriptors


def addresses(refs: Sequence[Any]) -> Any:
    return np.array(refs, np.int64)
