"""Kernels that came compiled with a release wheel, and when they serve.

The extension `_prebuilt` has the machine code of every contract kernel (prebuild/ at the top of the repository makes
it). It serves where it can be loaded (its platform, its processor level), was made from these very sources, and nothing
asks for numba. numba is not imported then."""

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

# numba's settings that do not change machine code
HARMLESS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_THREADING_LAYER_PRIORITY"}


def hashed_sources() -> str:
    """Hash of all that decides what kernels do: their sources, and those of the tables that they read."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted([*package.glob("kernels/**/*.py"), *package.glob("system/*.py")]):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def asks_for_numba(environment: Mapping[str, str]) -> bool:
    """PLIANT_JIT=1, or any setting of numba that could change machine code."""
    if environment.get("PLIANT_JIT", "0") not in ("", "0"):
        return True
    if any(name.startswith("NUMBA_") and name not in HARMLESS for name in environment):
        return True
    if os.path.exists(".numba_config.yaml"):  # which numba reads, too
        return True
    numba = sys.modules.get("numba")
    return numba is not None and bool(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK)


def is_jit_disabled() -> bool:
    """By NUMBA_DISABLE_JIT=1, wherever numba reads it."""
    if not asks_for_numba(os.environ):
        return False
    import numba

    return bool(numba.config.DISABLE_JIT)


def _find_code() -> Any:
    if asks_for_numba(os.environ):
        return None
    try:
        from pliant.kernels import _prebuilt
    except ImportError:  # a source install, another platform, an older processor
        return None
    return _prebuilt if hashed_sources() == _prebuilt.SOURCES else None


CODE = _find_code()  # None: numba compiles here

IS_COMPILED, CACHE_FOLDER = True, None


def is_cached(module: str = "") -> bool:
    return True


def name_of(function: Callable[..., Any]) -> str:
    """As "formulations.articulated.articulated"."""
    return f"{function.__module__}.{function.__qualname__}".removeprefix("pliant.kernels.")


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Its code is in the kernels that call it."""
    return function


routine = helper


def native(module: str) -> Any:
    return helper


def contracted(function: Callable[..., Any], signature: Any) -> Callable[..., Any]:
    return function


def caller(signature: Any) -> None:
    """Calls between kernels are in their code."""
    return None


@functools.cache
def address(function: Callable[..., Any]) -> int:
    return int(CODE.address(name_of(function)))


@functools.cache
def entry(function: Callable[..., Any]) -> Any:
    return CODE.entry(name_of(function))


def addresses(refs: Sequence[Any]) -> Any:
    return np.array([CODE.pinned_at(ref) for ref in refs], np.int64)


def table_at(kind: Any) -> None:
    return None


def pin(tables: Any) -> tuple[Any, Any]:
    """What kernels take for a NamedTuple of arrays, which it keeps alive; item sizes and dimensions are looked at."""
    return CODE.pin(type(tables).__name__, tables), None
