"""Memory: all a time integration carries from step to step, and its recorded buffers. One per thread; numpy only.

Dense output has one form for every integrator, with theta = (t - start) / h in [0, 1]:
    y(theta) = r0 + theta (r1 + (1 - theta) (r2 + theta (r3 + (1 - theta) (r4 + ...))))
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.system.contact_tables import PHASE
from pliant.system.newton import Unknowns, newton_tables
from pliant.system.tables import rows

Array = NDArray[np.float64]

LOOP = np.dtype(
    [
        # set by Python
        ("step", np.int64),  # address of the STEPPER kernel
        ("interpolant", np.int64),  # address of the INTERPOLANT kernel
        ("is_fixed", np.int64),  # 1: steps of h_fixed, no error control
        ("watches", np.int64),  # come back with REVIEW after so many steps at the bound of stability, 0: never
        ("review", np.int64),  # come back with REVIEW after so many steps in all, 0: never
        ("wants_rows", np.int64),  # 1: record rows
        ("wants_dense", np.int64),  # 1: record dense pieces
        ("max_steps", np.int64),  # accepted steps in all, then TOO_MANY_STEPS
        ("budget", np.int64),  # accepted steps per entry, then PAUSE
        ("stop", np.int64),  # 1: come back as soon as possible; set by another thread
        ("t_end", np.float64),  # [s]
        ("h_fixed", np.float64),  # [s]
        ("h_min", np.float64),  # [s] besides 16 ulp of t
        ("max_step", np.float64),  # [s]
        ("rtol", np.float64),
        ("simultaneous", np.float64),  # events closer than this, relative to max(|t|, h), fire together
        # facts of the method: filled by new_memory from its tableau
        ("n_stages", np.int64),  # without the derivative at the end
        ("error_uses_end", np.int64),  # 1: the error estimate needs the derivative at the end
        ("order", np.int64),
        ("alpha", np.float64),  # exponent of this step's error in the controller
        ("beta", np.float64),  # exponent of the step before's
        ("safety", np.float64),
        ("shrink", np.float64),  # least factor between steps
        ("growth", np.float64),  # largest
        # state of the run: read by Python, written by the loop
        ("t", np.float64),  # [s] now
        ("h", np.float64),  # [s] next trial step, 0: to be guessed
        ("made_jump", np.int64),  # 1: f does not belong to (t, y) any more
        ("has_begun", np.int64),
        ("is_awaiting", np.int64),  # 1: went back for a sample
        ("was_rejected", np.int64),  # 1: the next step must not grow
        ("was_switched", np.int64),  # 1: the phase changed: guess the step anew, renew the sides of events
        ("dropped", np.int64),  # for steppers with a past: 1 it is void, 2 the Jacobian too; they set it back to 0
        ("has_moved", np.int64),  # 1: and so did y
        ("failure", np.int64),  # status of an event function that failed
        ("boundary", np.int64),  # next row of boundaries
        ("sample", np.int64),  # next row of samples
        ("h_made", np.float64),  # [s] length of the step being made
        ("target", np.int64),  # event on which the step ends, -1: none
        ("target_direction", np.int64),  # +1 rising, -1 falling
        ("n_standing", np.int64),  # events in a row with hardly any time passing
        ("error", np.float64),  # norm of the last trial step, filled by the stepper; > 1 rejects
        ("error_old", np.float64),  # of the step before
        ("factor", np.float64),  # to the next step as the stepper itself wants it, 0: the loop's controller decides
        ("stiffness", np.float64),  # h times the largest eigenvalue, as explicit steppers see it; filled if it watches
        ("stall_t", np.float64),  # [s] where progress was looked at last, and after how many steps
        ("stall_steps", np.int64),
        ("n_stiff", np.int64),  # steps at the bound of stability since ..
        ("n_mild", np.int64),  # .. so many in a row were not
        # recorded so far: Python copies the buffers away and resets these four to 0
        ("n_rows", np.int64),
        ("n_pieces", np.int64),
        ("n_log", np.int64),
        ("n_phases", np.int64),
        # counters of the whole run
        ("n_steps", np.int64),
        ("n_rejected", np.int64),
        ("n_evaluations", np.int64),
        ("n_events", np.int64),  # times at which events fired
        ("event_error", np.float64),  # largest |g / gdot| at which an event fired [s]
    ],
    align=True,
)

FOUND = -2  # in fired: fell without having been located, where forces jump
LOG = np.dtype([("event", np.int64), ("direction", np.int64), ("t", np.float64)], align=True)

N_SCRATCH = 4
N_EVENT_VALUES = 10
LOG_ROWS = 256
PHASE_ROWS = 256


class Memory(NamedTuple):
    """Everything one run of the loop writes."""

    loop: Any  # one row
    # state
    y: Any  # (n_y) at t; filled by Python, then by the loop
    y_new: Any  # (n_y) at t + h; filled by the stepper
    f: Any  # (n_y) derivative at t; filled by the loop
    f_new: Any  # (n_y) derivative at t + h; filled by the stepper
    atol: Any  # (n_y) inf: integrated, not controlled (quadratures)
    quaternions: Any  # int64: first component in y of each quaternion
    # method: tableau with the derivative at the end as row n_stages (A[n_stages] = weights, c = 1), then extra stages
    A: Any  # (n_all, n_all)
    c: Any  # (n_all)
    E: Any  # (0, 1 or 2 estimates, n_all)
    D: Any  # (n_terms - 4, n_all) weights of r4, r5, ..; no rows: bootstrapped quartic
    stages: Any  # (n_all, n_y) derivatives; filled by the stepper, extra ones by the interpolant
    scratch: Any  # (N_SCRATCH, n_y) private to the running kernel
    dense: Any  # (n_terms, n_y) r0, r1, .. of the step just made; filled by the interpolant
    # implicit methods; the tables of system/newton.py, filled by integrators/newton.py
    newton: Any  # one row
    active: Any  # int64: index in y of every column of the Jacobian: the m unknowns, then the paired coordinates
    mates: Any  # int64: of each paired coordinate, the row of its rate among the unknowns
    jacobian: Any  # (m, m + pairs) derivatives of the unknowns' rates
    factor: Any  # (n_factors, m, m) factors of Newton's matrices: real; real and imaginary part of the complex one
    pivots: Any  # int64 (2, m) their row exchanges
    # where steps must end
    boundaries: Any  # sorted times of kinks of signals [s]
    samples: Any  # sorted times at which a Python controller is due [s]
    # events; filled by integrators/events.py
    side: Any  # int64 (2, n_events) +1 or -1: side of zero where each is known to be; at t, and while scanning
    fired: Any  # int64 (n_events) -1 fell, +1 rose, 0 did not fire; FOUND
    event_values: Any  # (N_EVENT_VALUES, n_events) g, gdot at five points: kernels/integrators/events.py
    # recorded
    rows: Any  # (capacity, 1 + n_y + n_inputs) t, y, held inputs
    piece_times: Any  # (capacity, 2) start and length of each step
    piece_terms: Any  # (capacity, n_terms, n_y) dense output of each step
    log: Any  # events that fired
    phase_times: Any  # (PHASE_ROWS) from when on a phase is valid [s]
    phases: Any  # (PHASE_ROWS, n_phases) whole phase tables


def empty_memory() -> Memory:
    """The smallest Memory: its numba type is the type of all of them."""
    return _allocate(0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, Unknowns((), ()))


def _allocate(
    n_y: int,
    n_all: int,
    n_estimates: int,
    n_extra_terms: int,
    n_terms: int,
    n_events: int,
    n_inputs: int,
    n_rows: int,
    n_pieces: int,
    n_phases: int,
    n_factors: int,
    unknowns: Unknowns,
) -> Memory:
    return Memory(
        loop=rows(1, LOOP),
        y=np.zeros(n_y),
        y_new=np.zeros(n_y),
        f=np.zeros(n_y),
        f_new=np.zeros(n_y),
        atol=np.zeros(n_y),
        quaternions=np.zeros(0, np.int64),
        A=np.zeros((n_all, n_all)),
        c=np.zeros(n_all),
        E=np.zeros((n_estimates, n_all)),
        D=np.zeros((n_extra_terms, n_all)),
        stages=np.zeros((n_all, n_y)),
        scratch=np.zeros((N_SCRATCH, n_y)),
        dense=np.zeros((n_terms, n_y)),
        **newton_tables(n_factors, unknowns),
        boundaries=np.zeros(0),
        samples=np.zeros(0),
        side=np.ones((2, n_events), np.int64),
        fired=np.zeros(n_events, np.int64),
        event_values=np.zeros((N_EVENT_VALUES, n_events)),
        rows=np.zeros((n_rows, 1 + n_y + n_inputs)),
        piece_times=np.zeros((n_pieces, 2)),
        piece_terms=np.zeros((n_pieces, n_terms, n_y)),
        log=rows(max(LOG_ROWS, 2 * n_events), LOG),
        phase_times=np.zeros(PHASE_ROWS if n_rows else 0),
        phases=rows((PHASE_ROWS if n_rows else 0, n_phases), PHASE),
    )


def new_memory(
    y: Any,
    t: float,
    t_end: float,
    tableau: Any,
    *,
    step: int,
    interpolant: int,
    rtol: float = 1e-8,
    atol: Any = 1e-10,
    h: float = 0.0,
    is_fixed: bool = False,
    max_step: float = np.inf,
    h_min: float = 0.0,
    boundaries: Sequence[float] | Array = (),
    samples: Sequence[float] | Array = (),
    quaternions: Sequence[int] | NDArray[np.int64] = (),
    n_events: int = 0,
    n_inputs: int = 0,
    n_phases: int = 0,
    unknowns: Unknowns | None = None,
    watches: int = 0,
    wants_rows: bool = True,
    wants_dense: bool = True,
    capacity: int = 1024,
    max_steps: int = 10_000_000,
    budget: int = 10_000_000,
) -> Memory:
    """A Memory ready for integrators/loop.py: advance.

    y, t, t_end: start and end. tableau: a row of integrators/tableaus.py. step, interpolant: addresses of its kernels.
    rtol, atol: atol one number or one per component, inf where a component shall not be controlled.
    h: first step (0: guessed), or the step itself if is_fixed. A tableau without error estimate needs is_fixed.
    boundaries: kinks of signals; samples: instants of Python controllers; both in any order, repetitions allowed.
    quaternions: first index in y of each. n_events: as many as system.events.
    n_inputs, n_phases: lengths of work.inputs and work.phase. unknowns: of implicit methods; default: all components
    that are controlled, no pairs. watches: come back with REVIEW after so many stiff steps (0: never).
    capacity: rows and pieces held before BUFFER_FULL.
    """
    y = np.array(y, np.float64)
    n_y = len(y)
    memory_atol = np.broadcast_to(atol, n_y)
    if is_fixed and not h > 0.0:
        raise ValueError(f"fixed steps need a step size h > 0; found h = {h}")
    if not is_fixed and not tableau.is_adaptive:
        raise ValueError(f"{tableau.name} has no error estimate; give a fixed step (is_fixed, h)")
    if capacity < 4:
        raise ValueError(f"capacity must be at least 4 rows; found {capacity}")
    memory = _allocate(
        n_y,
        len(tableau.c),
        len(tableau.E),
        len(tableau.D),
        tableau.n_terms,
        n_events,
        n_inputs,
        capacity if wants_rows else 0,
        capacity if wants_dense else 0,
        n_phases,
        tableau.n_factors,
        unknowns or Unknowns([i for i in range(n_y) if memory_atol[i] < np.inf], ()),
    )
    memory.y[:] = y
    memory.atol[:] = memory_atol
    loop = memory.loop[0]
    loop.is_fixed, loop.wants_rows, loop.wants_dense = is_fixed, wants_rows, wants_dense
    loop.max_steps, loop.budget, loop.watches = max_steps, budget, watches
    loop.t, loop.t_end, loop.h, loop.h_fixed, loop.h_min, loop.max_step = t, t_end, h, h, h_min, max_step
    loop.rtol, loop.simultaneous, loop.safety = rtol, 1e-12, 0.9
    _put_method(memory, tableau, step, interpolant)
    return memory._replace(
        boundaries=_sorted_times(boundaries, -np.inf),
        samples=_sorted_times(samples, t),
        quaternions=np.array(quaternions, np.int64),
    )


def _put_method(memory: Memory, tableau: Any, step: int, interpolant: int) -> None:
    """The facts of a method; the next step begins without a past."""
    memory.A[:], memory.c[:], memory.E[:], memory.D[:] = tableau.A, tableau.c, tableau.E, tableau.D
    loop = memory.loop[0]
    loop.step, loop.interpolant = step, interpolant
    loop.n_stages, loop.order, loop.error_uses_end = tableau.n_stages, tableau.order, tableau.error_uses_end
    loop.alpha, loop.beta, loop.shrink, loop.growth = tableau.alpha, tableau.beta, tableau.shrink, tableau.growth
    loop.made_jump, loop.error_old, loop.factor = 1, 1e-4, 0.0


def with_method(memory: Memory, tableau: Any, unknowns: Unknowns, *, step: int, interpolant: int) -> Memory:
    """The same run with another method from now on; its dense output must not have more terms."""
    n_y, n_all = len(memory.y), len(tableau.c)
    assert tableau.n_terms <= len(memory.dense)
    other = memory._replace(
        A=np.zeros((n_all, n_all)),
        c=np.zeros(n_all),
        E=np.zeros((len(tableau.E), n_all)),
        D=np.zeros((len(tableau.D), n_all)),
        stages=np.zeros((n_all, n_y)),
        **newton_tables(tableau.n_factors, unknowns),
    )
    _put_method(other, tableau, step, interpolant)
    return other


def _sorted_times(times: Any, earliest: float) -> Array:
    times = np.unique(np.asarray(times, np.float64))
    return np.ascontiguousarray(times[times >= earliest])


def evaluate_dense(starts: Array, steps: Array, coefficients: Array, t: Any) -> Array:
    """Dense output at times t (any shape) -> (*t.shape, n_y). At a joint of two pieces the later one counts.

    starts, steps: (n_pieces); coefficients: (n_pieces, n_terms, n_y).
    """
    t = np.asarray(t, np.float64)
    piece = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, len(starts) - 1)
    theta = ((t - starts[piece]) / steps[piece])[..., None]
    last = coefficients.shape[1] - 1
    y: Array = coefficients[piece, last]
    for k in range(last - 1, -1, -1):
        y = coefficients[piece, k] + (theta if k % 2 == 0 else 1.0 - theta) * y
    return y
