"""The door to compiled code: @kernel, the contracts, calls by address. Nothing else knows where the code comes from.

A contract is one explicit signature. Kernels of a contract are called through their address, so one compiled
integration serves every formulation and integrator. Release wheels bring their machine code (_ready.py); elsewhere,
and where a setting asks for it, numba compiles it once and it is loaded from the cache (_compiled.py). Under
NUMBA_DISABLE_JIT=1 kernels are plain functions (_plain.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pliant.kernels import _ready
from pliant.system.memory import empty_memory
from pliant.system.tables import OUTPUT, empty_system, rows
from pliant.system.work import new_work

COMPILES = _ready.CODE is None  # here, by numba

if not COMPILES:
    _way = _ready
elif _ready.is_jit_disabled():
    from pliant.kernels import _plain as _way
else:
    from pliant.kernels import _compiled as _way

IS_COMPILED = _way.IS_COMPILED
CACHE_FOLDER = _way.CACHE_FOLDER  # of kernels that numba compiled
is_cached = _way.is_cached  # is_cached(module): whether its kernels are there (else a first run says that it compiles)
address = _way.address  # of a kernel that was compiled for one contract
entry = _way.entry  # entry(function): called from Python, same arguments as the kernel
pin = _way.pin  # for kernels/tables.py
addresses = _way.addresses  # addresses(refs) of many pinned tables, for kernels that take arrays of them
table_at = _way.table_at  # table_at(kind)(address), in kernels: the table there
routine = _way.routine  # @routine: a helper that stays a call, where inlining would only cost compile time
native = _way.native  # @native(module): a function that compiled kernels take from a module of numba's own


class Kind:
    """What a kernel takes or returns, by an example: a number, an array, or a NamedTuple of arrays (by pointer)."""

    def __init__(self, example: Any) -> None:
        self.example = example

    def __call__(self, *arguments: "Kind") -> "Signature":
        return Signature(self, arguments)


class Signature(NamedTuple):
    result: Kind
    arguments: tuple[Kind, ...]


class Contract:
    """One signature that many kernels share, and the way to call any of them by address."""

    def __init__(self, signature: Signature, is_entered: bool = False) -> None:
        self.signature = signature
        self.is_entered = is_entered  # called from Python, not only by address
        self.call = _way.caller(signature)  # call(address, arguments), in kernels


KERNELS: dict[str, tuple[Any, Contract]] = {}  # of contracts, those that have been imported, as "energy.energies"


def kernel(contract: Any) -> Any:
    """@kernel: a helper inlined into its callers. @kernel(CONTRACT): compiled when needed, cached, has an address."""
    if not isinstance(contract, Contract):
        return _way.helper(contract)

    def decorate(function: Callable[..., Any]) -> Any:
        KERNELS[_ready.name_of(function)] = function, contract
        return _way.contracted(function, contract.signature)

    return decorate


def compile_kernel(name: str) -> None:
    """Now, instead of when it is needed."""
    function, contract = KERNELS[name]
    (entry if contract.is_entered else address)(function)


# --- contracts --------------------------------------------------------------------------------------------------

_system = empty_system()
SYSTEM, WORK, MEMORY = Kind(_system), Kind(new_work(_system)), Kind(empty_memory())
REAL, INTEGER = Kind(0.0), Kind(0)
VECTOR, MATRIX, MATRICES = Kind(np.zeros(0)), Kind(np.zeros((0, 0))), Kind(np.zeros((0, 0, 0)))
INTEGERS = Kind(np.zeros(0, np.int64))


# acceleration(system, work, q, v, vdot, reaction) -> Status. Kinematics are done and forces are gathered in work.
# reaction: (n_bodies, 6) force and moment by the parent on the child, child axes; no rows: not wanted.
ACCELERATION = Contract(INTEGER(SYSTEM, WORK, VECTOR, VECTOR, VECTOR, MATRIX))

# respond(system, work, x) -> 0: x <- M^-1 x, x (n_v, 8), M as the last call of the formulation without reactions has
# factored it; prescribed velocities do not respond. Beside each formulation: NAME_response.py;
# rows_response.py where that is a mass matrix.
RESPONSE = Contract(INTEGER(SYSTEM, WORK, MATRIX))

# state(system, work, t, q, v) -> Status: brings work to a state: prepare (kinematics, forces), set_phase.
STATE = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR))

# rest_forces(work, n) -> Status: n forces of friction pairs at rest, of work.stick and work.stick_force.
REST_FORCES = Contract(INTEGER(WORK, INTEGER))

# equations(system, work, q, v, M, h) -> Status: M vdot + h = tau, h without gathered forces, gravity included.
EQUATIONS = Contract(INTEGER(SYSTEM, WORK, VECTOR, VECTOR, MATRIX, VECTOR), is_entered=True)

# derivative(system, work, t, y, ydot) -> Status, y = (q, v, z). May put prescribed coordinates of y in place.
DERIVATIVE = Contract(INTEGER(SYSTEM, WORK, REAL, VECTOR, VECTOR), is_entered=True)

# derivatives(system, work, t, y, ydot, room) -> 0: of eight states y = (q, v, z), a column each, at a time each; every
# column has the bits of the derivative. room: see formulations/articulated_lanes.py; in its first row, in every column,
# the largest of what was there and of all -pivot: a state failed where it is not negative.
DERIVATIVES = Contract(INTEGER(SYSTEM, WORK, VECTOR, MATRIX, MATRIX, MATRIX))

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
OUTPUTS = Kind(rows(0, OUTPUT))
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
