"""The numba floor: @kernel, the contracts, calls by address, the cache folder. Nothing else in pliant configures numba.

A contract is one explicit signature. Kernels of a contract are compiled once, cached on disk, and called through their
address, so one compiled integration serves every formulation and integrator (numba's calling convention is not public:
numba's upper version is pinned and tests/kernels/test_jit.py holds one test per assumption). Under
NUMBA_DISABLE_JIT=1 an address is an index into a list of plain functions.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import cgutils, typeinfer
from numba.extending import intrinsic

from pliant.kernels._cache import KernelCache, has_kernels, usable
from pliant.kernels._whole import compiled_whole
from pliant.kernels.tables import IS_COMPILED, Table
from pliant.system.memory import empty_memory
from pliant.system.tables import OUTPUT, empty_system, rows
from pliant.system.work import new_work

UNUSED_DAYS = 30

_plain_functions: list[Callable[..., Any]] = []


# --- cache ------------------------------------------------------------------------------------------------------


def source_hash() -> str:
    """Hash of everything that decides machine code but that numba's own cache does not notice."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted([*package.glob("kernels/**/*.py"), *package.glob("system/*.py")]):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
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
        str(package),
        numba.__version__,
        sys.version,
        *(f"{name}={getattr(numba.config, name, None)}" for name in settings),
    ]
    digest.update(repr(facts).encode())
    return digest.hexdigest()[:16]


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


# --- kernels ----------------------------------------------------------------------------------------------------


def routine(function: Callable[..., Any]) -> Any:
    """@routine: a helper that stays a call, where inlining would only cost compile time."""
    return numba.njit(**_OPTIONS, no_cpython_wrapper=True)(function)


def kernel(contract: Any) -> Any:
    """@kernel: a helper inlined into its callers. @kernel(CONTRACT): compiled now, cached, has an address."""
    if not isinstance(contract, Contract):
        return numba.njit(**_OPTIONS, no_cpython_wrapper=True, forceinline=True)(contract)

    def decorate(function: Callable[..., Any]) -> Any:
        if not IS_COMPILED:
            return function
        dispatcher = numba.njit(no_cpython_wrapper=not contract.is_entered, **_OPTIONS)(function)
        if CACHE_FOLDER is not None:
            dispatcher._cache = KernelCache(CACHE_FOLDER, function)
        with compiled_whole(function.__qualname__), typeinfer.register_dispatcher(dispatcher):
            dispatcher.compile(contract.signature)
            dispatcher.disable_compile()
        return dispatcher

    return decorate


@functools.cache
def address(function: Any) -> int:
    """Address of a kernel that was compiled for one contract."""
    if not IS_COMPILED:
        if function not in _plain_functions:
            _plain_functions.append(function)
        return _plain_functions.index(function)
    result = function.overloads[function.signatures[0]]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


@functools.cache
def entry(function: Any) -> Callable[..., Any]:
    """The compiled entry point itself: same arguments as the kernel, no dispatch, no type check."""
    if not IS_COMPILED:
        return function  # type: ignore[no-any-return]
    return function.overloads[function.signatures[0]].entry_point  # type: ignore[no-any-return]


class Contract:
    """One signature that many kernels share, and the way to call any of them by address."""

    def __init__(self, signature: Any, is_entered: bool = False) -> None:
        self.signature = signature
        self.is_entered = is_entered  # called from Python, not only by address
        self.call = self._caller() if IS_COMPILED else self._plain_caller()

    def _caller(self) -> Any:
        contract = self.signature

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

    def _plain_caller(self) -> Any:
        return lambda addr, args: _plain_functions[addr](*args)


# --- contracts --------------------------------------------------------------------------------------------------

_system = empty_system()
SYSTEM = Table("System", numba.typeof(_system))
WORK = Table("Work", numba.typeof(new_work(_system)))
MEMORY = Table("Memory", numba.typeof(empty_memory()))
REAL, INTEGER = types.float64, types.int64
VECTOR = types.Array(REAL, 1, "C")
MATRIX = types.Array(REAL, 2, "C")
MATRICES = types.Array(REAL, 3, "C")
INTEGERS = types.Array(INTEGER, 1, "C")

# acceleration(system, work, q, v, vdot, reaction) -> Status. Kinematics are done and forces are gathered in work.
# reaction: (n_bodies, 6) force and moment by the parent on the child, child axes; no rows: not wanted.
ACCELERATION = Contract(INTEGER(SYSTEM, WORK, VECTOR, VECTOR, VECTOR, MATRIX))

# respond(system, work, x) -> 0: x <- M^-1 x, x (n_v, 8), M as the last call of the formulation without reactions has
# factored it; prescribed velocities do not respond. Beside each formulation: NAME_response.py;
# rows_response.py where that is a mass matrix.
RESPONSE = Contract(INTEGER(SYSTEM, WORK, MATRIX))

# state(system, work, t, q, v) -> Status: brings work to a state: prepare (kinematics, forces), set_phase.
STATE = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR))

# equations(system, work, q, v, M, h) -> Status: M vdot + h = tau, h without gathered forces, gravity included.
EQUATIONS = Contract(INTEGER(SYSTEM, WORK, VECTOR, VECTOR, MATRIX, VECTOR), is_entered=True)

# derivative(system, work, t, y, ydot) -> Status, y = (q, v, z). May put prescribed coordinates of y in place.
DERIVATIVE = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR))

# nearby(system, work, t, y, ydot, y_near, ydot_near) -> Status: derivative at y_near, about, from that at y, which has
# been evaluated last.
NEARBY = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR, VECTOR, VECTOR))

# stage(system, work, t, y, y_hat, a_h, k) -> Status: k = H(y, y_hat + a_h k) of a semi-implicit step, where
# H(y, y) = derivative at y. May put prescribed coordinates of y in place.
STAGE = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR, REAL, VECTOR))

# forward(system, work, t, q, v, tau, vdot, reaction) -> Status, and inverse with tau and vdot exchanged.
FORWARD = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX), is_entered=True)

# record(system, work, t, y, inputs, outputs, out) -> Status: one row of out per row of t, y, inputs, in the phase of
# work.
OUTPUTS = numba.typeof(rows(0, OUTPUT))
RECORD = Contract(INTEGER(SYSTEM, WORK, VECTOR, MATRIX, MATRIX, OUTPUTS, MATRIX), is_entered=True)

# query(system, work, q, v, out) -> 0: one row of out per row of q and v.
QUERY = Contract(INTEGER(SYSTEM, WORK, MATRIX, MATRIX, MATRIX), is_entered=True)

# events(system, work, t, y, ydot, g, gdot) -> Status: value and rate of every event function; inactive: inf, 0.
EVENTS = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR, VECTOR, VECTOR), is_entered=True)

# switch(system, work, t, y, fired) -> OK | SWITCHED | STOPPED. fired: -1 fell, +1 rose, 0 did not fire.
SWITCH = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, INTEGERS))

# step(system, work, memory, t, h) -> Status: one trial step of memory.y into y_new, error norm in stepping.
STEPPER = Contract(INTEGER(SYSTEM, WORK, MEMORY, REAL, REAL))

# interpolant(system, work, memory, t, h) -> Status: fills memory.dense for the step just made.
INTERPOLANT = Contract(INTEGER(SYSTEM, WORK, MEMORY, REAL, REAL))

# control(system, work, t, y, is_first) -> when it is due next [s]: samples controllers at t, holds what has arrived.
CONTROL = Contract(REAL(SYSTEM, WORK, REAL, VECTOR, INTEGER))

# laws(system, work, t, y, x, u) -> Status: what laws with states x (all controllers') command at t in the state
# y = (q, v, ..), one u per held command: exact measurements, no steps, limits or delay.
LAWS = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR, VECTOR), is_entered=True)

# shift(system, q, w, q_new) -> Status: q moved along constant velocities w for unit time.
SHIFT = Contract(INTEGER(SYSTEM, VECTOR, VECTOR, VECTOR), is_entered=True)

# advance(system, work, memory) -> Status: the resumable integration.
ADVANCE = Contract(INTEGER(SYSTEM, WORK, MEMORY), is_entered=True)


# batch(system, q, v, tau, vdot, scratch) -> Status: one row per state; see formulations/spherical_batch.py.
BATCH = Contract(INTEGER(SYSTEM, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX), is_entered=True)
