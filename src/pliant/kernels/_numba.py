"""Kernels compiled by numba on the spot, and kept on disk. Nothing else in pliant configures numba.

numba's calling convention and array descriptor are not public: its upper version is pinned, and
tests/kernels/test_jit.py holds one test per assumption. Under NUMBA_DISABLE_JIT=1 nothing is compiled, and an address
is an index into a list of plain functions.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, typeinfer
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, intrinsic, lower_getattr_generic, models, register_model, unbox

from pliant.kernels._cache import KernelCache, has_kernels, usable
from pliant.kernels._ready import hashed_sources, name_of
from pliant.kernels._whole import compiled_whole

IS_COMPILED = not numba.config.DISABLE_JIT
UNUSED_DAYS = 30

_plain_functions: list[Callable[..., Any]] = []
_waiting: dict[Any, Any] = {}  # kernels that are not compiled yet: their signatures
_turn = threading.RLock()  # threads may ask for the same kernel


# --- cache ------------------------------------------------------------------------------------------------------


def source_hash() -> str:
    """Hash of everything that decides machine code but that numba's own cache does not notice."""
    settings = (
        "BOUNDSCHECK",
        "OPT",
        "DEBUGINFO_DEFAULT",
        "CPU_NAME",
        "CPU_FEATURES",
        "ENABLE_AVX",
        "LOOP_VECTORIZE",
        "SLP_VECTORIZE",
    )
    # numba's index is by path: a second installation compiles for itself
    facts = [
        hashed_sources(),
        str(Path(__file__).parent.parent),
        numba.__version__,
        sys.version,
        *(f"{name}={getattr(numba.config, name, None)}" for name in settings),
    ]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _cache_roots() -> Iterator[Path]:
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"]) / "pliant"
    if sys.platform == "win32":
        user = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local"))
    elif sys.platform == "darwin":
        user = Path.home() / "Library/Caches"
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    yield user / "pliant"
    user_id = os.getuid() if hasattr(os, "getuid") else None
    try:
        shared = Path(tempfile.gettempdir()) / f"pliant-{'cache' if user_id is None else user_id}"
        shared.mkdir(mode=0o700, exist_ok=True)
        # machine code that somebody else may have put there is not run
        is_own = user_id is None or shared.stat().st_uid == user_id
    except OSError:
        return
    if is_own:
        yield shared


def _find_cache_folder() -> Path | None:
    """First writable place for this version of the kernels; old versions beside it are dropped."""
    for root in _cache_roots():
        folder = root / f"kernels-{source_hash()}"
        if not usable(folder):
            continue
        for other in root.glob("kernels-*"):
            with contextlib.suppress(OSError):
                if time.time() - (other / "used").stat().st_mtime > UNUSED_DAYS * 86400:
                    shutil.rmtree(other)
        return folder
    warnings.warn("pliant found no writable cache folder: kernels are compiled anew in every process", stacklevel=2)
    return None


CACHE_FOLDER = _find_cache_folder() if IS_COMPILED else None


def is_cached(module: str = "") -> bool:
    """Whether this machine has compiled these kernels before (else the first run says that it compiles)."""
    return CACHE_FOLDER is not None and has_kernels(CACHE_FOLDER, module)


# Wrappers that nobody calls are a third of the compile time. Without reference counts (_nrt) a call that passes System
# and Work costs tens of ns instead of a microsecond; kernels therefore never allocate.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True, "_nrt": False}


# --- tables -----------------------------------------------------------------------------------------------------


_tables: dict[str, Any] = {}  # those there are, by name


class Table(types.Type):
    """Type of a pointer to the arrays of a NamedTuple."""

    def __init__(self, name: str, tuple_type: Any) -> None:
        self.tuple_type = tuple_type
        super().__init__(name=f"Table({name})")  # its layout is in the hash of the cache
        _tables[self.name] = self

    def __reduce__(self) -> Any:
        """By name: the fields of all rows would be in the file of every kernel."""
        return _find_table, (self.name,)


def _find_table(name: str) -> Table:
    return _tables[name]


@register_model(Table)
class _TableModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@infer_getattr
class _TableAttribute(AttributeTemplate):
    key = Table

    def generic_resolve(self, kind: Any, name: str) -> Any:
        fields = kind.tuple_type.fields
        return kind.tuple_type.types[fields.index(name)] if name in fields else None


@lower_getattr_generic(Table)
def _load_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    whole = context.get_value_type(kind.tuple_type)
    pointer = builder.inttoptr(value, whole.as_pointer())
    return builder.load(cgutils.gep_inbounds(builder, pointer, 0, kind.tuple_type.fields.index(name)))


@unbox(Table)
def _unbox_table(kind: Any, address: Any, c: Any) -> NativeValue:
    return NativeValue(c.pyapi.long_as_longlong(address))


def _descriptor(array: np.ndarray) -> np.ndarray:
    """numba's array: no owner, no parent, size, itemsize, data, shape, strides."""
    assert array.flags.c_contiguous
    head = (0, 0, array.size, array.itemsize, array.ctypes.data)
    return np.array([*head, *array.shape, *array.strides], np.int64)


def pin(tables: Any) -> tuple[Any, Any]:
    """What kernels take for a NamedTuple of arrays, and what must live as long."""
    descriptors = np.concatenate([_descriptor(array) for array in tables])
    return (descriptors.ctypes.data if IS_COMPILED else tables), descriptors


def addresses(refs: Sequence[Any]) -> Any:
    return np.array(refs, np.int64) if IS_COMPILED else list(refs)


def table_at(kind: Any) -> Any:
    if not IS_COMPILED:
        return lambda tables: tables
    table = _type(kind)

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return values[0]  # a Table is its address

        return table(address), codegen

    return at


# --- kernels ----------------------------------------------------------------------------------------------------


@functools.cache
def _type(kind: Any) -> Any:
    """numba's type of a Kind."""
    found = numba.typeof(kind.example)
    return Table(type(kind.example).__name__, found) if isinstance(kind.example, tuple) else found


def _signature(signature: Any) -> Any:
    return _type(signature.result)(*(_type(kind) for kind in signature.arguments))


def routine(function: Callable[..., Any]) -> Any:
    return numba.njit(**_OPTIONS, no_cpython_wrapper=True)(function)


def helper(function: Callable[..., Any]) -> Any:
    return numba.njit(**_OPTIONS, no_cpython_wrapper=True, forceinline=True)(function)


def contracted(function: Callable[..., Any], signature: Any, is_entered: bool) -> Any:
    """A kernel for one signature, compiled when its address or entry is asked for."""
    if not IS_COMPILED:
        return function
    dispatcher = numba.njit(no_cpython_wrapper=not is_entered, **_OPTIONS)(function)
    if CACHE_FOLDER is not None:
        dispatcher._cache = KernelCache(CACHE_FOLDER, function)
    _waiting[dispatcher] = signature
    return dispatcher


def compiled(dispatcher: Any) -> Any:
    """numba's result for the one signature of a kernel."""
    with _turn:
        if dispatcher in _waiting:
            with compiled_whole(dispatcher.__qualname__), typeinfer.register_dispatcher(dispatcher):
                dispatcher.compile(_signature(_waiting[dispatcher]))
                dispatcher.disable_compile()
            del _waiting[dispatcher]
    return dispatcher.overloads[dispatcher.signatures[0]]


def compile_all(but: Collection[str] = ()) -> None:
    """Every kernel that has been imported, but those of these names (as "energy.energies")."""
    for dispatcher in list(_waiting):
        if name_of(dispatcher) not in but:
            compiled(dispatcher)


@functools.cache
def address(function: Any) -> int:
    if not IS_COMPILED:
        if function not in _plain_functions:
            _plain_functions.append(function)
        return _plain_functions.index(function)
    result = compiled(function)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


@functools.cache
def entry(function: Any) -> Callable[..., Any]:
    """The compiled entry point itself: no dispatch, no type check."""
    if not IS_COMPILED:
        return function  # type: ignore[no-any-return]
    return compiled(function).entry_point  # type: ignore[no-any-return]


def caller(signature: Any) -> Any:
    """call(address, arguments) of kernels with this signature, for kernels."""
    if not IS_COMPILED:
        return lambda addr, args: _plain_functions[addr](*args)
    contract = _signature(signature)

    @intrinsic
    def call(typing_context: Any, addr: Any, args: Any) -> Any:
        signature = contract.return_type(addr, args)

        def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            packed = values[1]
            actual = [
                context.cast(builder, builder.extract_value(packed, i), args.types[i], wanted)
                for i, wanted in enumerate(contract.args)
            ]
            function = context.call_conv.get_function_type(contract.return_type, contract.args)
            pointer = builder.inttoptr(values[0], function.as_pointer())
            status, result = context.call_conv.call_function(
                builder, pointer, contract.return_type, contract.args, actual
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        return signature, codegen

    return call
