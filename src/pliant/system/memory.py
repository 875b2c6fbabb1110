"""Memory: all a time integration carries from step to step, and its recorded buffers. One per thread; numpy only.

Dense output has one form for every integrator, with theta = (t - start) / h in [0, 1]:
    y(theta) = r0 + theta (r1 + (1 - theta) (r2 + theta (r3 + (1 - theta) (r4 + ...))))
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.system.contact_tables import PHASE
from pliant.system.newton import Unknowns, newton_tables
from pliant.system.tables import rows

Array = NDArray[np.float64]

STEPPING = np.dtype(
    [
        # set by Python
        ("step", np.int64),  # address of the STEPPER kernel
        ("interpolant", np.int64),  # address of the INTERPOLANT kernel
        ("is_fixed", np.int64),  # 1: steps of h_fixed, no error control
        ("watches", np.int64),  # come back with REVIEW after so many steps that seem stiff, 0: never
        ("watched_stiffness", np.float64),  # h times the largest eigenvalue from which on they do
        ("review", np.int64),  # come back with REVIEW after so many steps in all, 0: never
        ("wants_rows", np.int64),  # 1: record rows
        ("wants_dense", np.int64),  # 1: record dense pieces
        ("max_steps", np.int64),  # accepted steps in all, then TOO_MANY_STEPS
        ("budget", np.int64),  # accepted steps per entry, then PAUSE
        ("stop", np.int64),  # 1: come back as soon as possible; set by another thread
        ("t_end", np.float64),  # [s]
        ("h_fixed", np.float64),  # [s]
        ("duration", np.float64),  # of the whole run [s]
        ("h_min", np.float64),  # [s] besides 16 ulp of t
        ("max_step", np.float64),  # [s]
        ("rtol", np.float64),
        ("rest_energy", np.float64),  # [J] of motion that counts as rest, for integrators/growth.py
        ("simultaneous", np.float64),  # events closer than this, relative to max(|t|, h), fire together
        # facts of the method: filled by new_memory from its tableau
        ("n_stages", np.int64),  # without the derivative at the end
        ("n_early", np.int64),  # error estimates that do not need the derivative at the end
        ("order", np.int64),
        ("alpha", np.float64),  # exponent of this step's error in the controller
        ("beta", np.float64),  # exponent of the step before's
        ("safety", np.float64),
        ("fading", np.float64),  # steps before a force fades in which the error estimate is not to be believed
        ("shrink", np.float64),  # least factor between steps
        ("growth", np.float64),  # largest
        # state of the run: read by Python, written by integrators/advance.py and the modules it uses
        ("t", np.float64),  # [s] now
        ("h", np.float64),  # [s] next trial step, 0: to be guessed
        ("made_jump", np.int64),  # MADE_JUMP, CHANGED_INPUT: f does not belong to (t, y) any more
        ("has_begun", np.int64),
        ("is_awaiting", np.int64),  # 1: went back for a sample
        ("was_rejected", np.int64),  # 1: the next step must not grow
        ("was_switched", np.int64),  # 1: the phase changed: guess the step anew, renew the sides of events
        # for steppers with a past: FORGET_STEPS, FORGET_JACOBIAN, NEW_INPUT; they set it back to 0
        ("dropped", np.int64),
        ("has_moved", np.int64),  # 1: and so did y
        ("root_time", np.float64),  # when a force began that grows as a fractional power of time, -inf: none acts [s]
        ("failure", np.int64),  # status of an event function that failed
        ("boundary", np.int64),  # next row of boundaries
        ("sample", np.int64),  # next row of samples
        ("t_control", np.float64),  # when the controllers with a law are due next, inf: never [s]
        ("h_made", np.float64),  # [s] length of the step being made
        ("target", np.int64),  # event on which the step ends, -1: none
        ("target_direction", np.int64),  # +1 rising, -1 falling
        ("n_stagnant", np.int64),  # steps in a row of hardly any length
        ("n_false_alarms", np.int64),  # events of this step that were not where the dense output had them
        ("error", np.float64),  # norm of the last trial step, filled by the stepper; > 1 rejects
        ("error_old", np.float64),  # of the step before
        ("factor", np.float64),  # to the next step as the stepper itself wants it, 0: step_control.py decides
        (
            "stiffness",
            np.float64,
        ),  # h times the largest eigenvalue, as explicit steppers estimate it; filled if watches > 0
        ("stall_t", np.float64),  # [s] where progress was measured last, and after how many steps
        ("stall_steps", np.int64),
        ("n_stiff", np.int64),  # steps that seem stiff since ..
        ("n_mild", np.int64),  # .. so many in a row were not
        # filled by integrators/growth.py
        ("top_speed", np.float64),  # largest velocity when growth was looked for last
        ("n_unexplained", np.int64),  # looks in a row that found energy which nothing explains
        ("start_energy", np.float64),  # [J] kinetic and elastic, at the start
        ("start_gravity", np.float64),  # [J]
        # recorded so far: Python copies the buffers away and resets these four to 0
        ("n_rows", np.int64),
        ("n_pieces", np.int64),
        ("n_log", np.int64),
        ("n_phases", np.int64),
        # counters of the whole run
        ("n_steps", np.int64),
        ("n_rejected", np.int64),
        ("n_evaluations", np.int64),
        ("n_dense", np.int64),  # of these, for dense output
        ("n_events", np.int64),  # times at which events fired
        ("event_error", np.float64),  # largest |g / gdot| at which an event fired [s]
    ],
    align=True,
)

FOUND = -2  # in fired: fell without having been located, where forces jump
LOG = np.dtype([("event", np.int64), ("direction", np.int64), ("t", np.float64)], align=True)

# stepping.made_jump: state, phase or motion have changed, or only what is held over the next step (commands, loads)
MADE_JUMP, CHANGED_INPUT = 1, 2
# stepping.dropped: the step before is void, and the Jacobian with it; it is not, but forces have changed: f by
# memory.f - memory.f_new
FORGET_STEPS, FORGET_JACOBIAN, NEW_INPUT = 1, 2, 3
MIN_ERROR_OLD = 1e-4  # that the controller remembers of a step
SIMULTANEOUS = 1e-12  # relative to max(|t|, h): events closer than this fire together
MIN_CAPACITY = 4  # rows

N_SCRATCH = 4
N_EVENT_VALUES = 16
LOG_ROWS = 256
PHASE_ROWS = 256


class Memory(NamedTuple):
    """Everything that advancing one run in time writes."""

    stepping: Any  # one row
    # state
    y: Any  # (n_y) at t; filled by Python, then by advance
    y_new: Any  # (n_y) at t + h; filled by the stepper
    f: Any  # (n_y) derivative at t; filled by restart, then by advance
    f_new: Any  # (n_y) derivative at t + h; filled by the stepper
    atol: Any  # (n_y) inf: integrated, not controlled (quadratures)
    quaternions: Any  # int64: first component in y of each quaternion
    pairs: Any  # int64 (n, 2) coordinates with the velocities that are their rates, for methods that integrate twice
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
    unknown_of: Any  # int64 (n_v) which unknown each velocity is, -1: prescribed
    blocks: Any  # int64 (n_branches, 2) first unknown of each row of system.branches, and the one after its last
    # where steps must end
    boundaries: Any  # sorted times of kinks of signals [s]
    samples: Any  # sorted times at which a Python controller is due [s]
    # events; filled by integrators/events.py
    side: Any  # int64 (2, n_events) +1 or -1: side of zero where each is known to be; at t, and while scanning
    fired: Any  # int64 (n_events) -1 fell, +1 rose, 0 did not fire; FOUND
    event_values: Any  # (N_EVENT_VALUES, n_events) g, gdot at eight points: kernels/integrators/events.py
    # recorded
    rows: Any  # (capacity, 1 + n_y + n_inputs) t, y, held inputs
    piece_times: Any  # (capacity, 2) start and length of each step
    piece_terms: Any  # (capacity, n_terms, n_y) dense output of each step
    log: Any  # events that fired
    phase_times: Any  # (PHASE_ROWS) from when on a phase is valid [s]
    phases: Any  # (PHASE_ROWS, n_phases) whole phase tables


@dataclass(frozen=True)
class Sizes:
    """Lengths of the tables of a Memory."""

    n_y: int = 0
    n_events: int = 0  # as many as system.events
    n_inputs: int = 0  # as many as work.inputs
    n_phases: int = 0  # as many as work.phase
    n_rows: int = 0  # held before BUFFER_FULL; 0: rows are not recorded
    n_pieces: int = 0  # the same of dense output


@dataclass(frozen=True)
class StepOptions:
    """How a run steps."""

    rtol: float = 1e-8
    atol: Any = 1e-10  # one number or one per component, inf where a component shall not be controlled
    h: float = 0.0  # [s] first step, 0: guessed; if is_fixed the step itself
    is_fixed: bool = False  # a method without error estimate needs it
    h_min: float = 0.0  # [s]
    max_step: float = np.inf  # [s]
    max_steps: int = 10_000_000
    budget: int = 10_000_000  # steps per entry, then PAUSE
    watches: int = 0  # come back with REVIEW after so many stiff steps, 0: never
    watched_stiffness: float = 6.1  # from which on steps are; by default the bound of stability of DOP853


class Scheme(NamedTuple):
    """A method as Memory takes it."""

    tableau: Any  # a row of integrators/tableaus.py
    step: int  # address of its STEPPER kernel
    interpolant: int  # address of its INTERPOLANT kernel


def empty_memory() -> Memory:
    """The smallest Memory: its numba type is the type of all of them."""
    none = np.zeros((0, 0))
    return _allocate(
        Sizes(), 4, **_method_tables(none, np.zeros(0), none, none, 0), **newton_tables(0, Unknowns((), ()))
    )


def _method_tables(A: Array, c: Array, E: Array, D: Array, n_y: int) -> dict[str, Array]:
    """The fields of Memory that hold a method."""
    copies = {"A": A.copy(), "c": c.copy(), "E": E.copy(), "D": D.copy()}
    return copies | {"stages": np.zeros((len(c), n_y))}


def _scheme_tables(scheme: Scheme, n_y: int, unknowns: Unknowns) -> dict[str, NDArray[Any]]:
    tableau = scheme.tableau
    method = _method_tables(tableau.A, tableau.c, tableau.E, tableau.D, n_y)
    return {**method, **newton_tables(tableau.n_factors, unknowns)}


def _allocate(sizes: Sizes, n_terms: int, **method: NDArray[Any]) -> Memory:
    n_y, n_phase_rows = sizes.n_y, PHASE_ROWS if sizes.n_rows else 0
    return Memory(
        stepping=rows(1, STEPPING),
        y=np.zeros(n_y),
        y_new=np.zeros(n_y),
        f=np.zeros(n_y),
        f_new=np.zeros(n_y),
        atol=np.zeros(n_y),
        quaternions=np.zeros(0, np.int64),
        pairs=np.zeros((0, 2), np.int64),
        **method,
        scratch=np.zeros((N_SCRATCH, n_y)),
        dense=np.zeros((n_terms, n_y)),
        boundaries=np.zeros(0),
        samples=np.zeros(0),
        side=np.ones((2, sizes.n_events), np.int64),
        fired=np.zeros(sizes.n_events, np.int64),
        event_values=np.zeros((N_EVENT_VALUES, sizes.n_events)),
        rows=np.zeros((sizes.n_rows, 1 + n_y + sizes.n_inputs)),
        piece_times=np.zeros((sizes.n_pieces, 2)),
        piece_terms=np.zeros((sizes.n_pieces, n_terms, n_y)),
        log=rows(max(LOG_ROWS, 2 * sizes.n_events), LOG),
        phase_times=np.zeros(n_phase_rows),
        phases=rows((n_phase_rows, sizes.n_phases), PHASE),
    )


def _check(scheme: Scheme, sizes: Sizes, options: StepOptions) -> None:
    if options.is_fixed and not options.h > 0.0:
        raise ValueError(f"fixed steps need a step size h > 0; found h = {options.h}")
    if not options.is_fixed and not scheme.tableau.is_adaptive:
        raise ValueError(f"{scheme.tableau.name} has no error estimate; give a fixed step (is_fixed, h)")
    for capacity in (sizes.n_rows, sizes.n_pieces):
        if 0 < capacity < MIN_CAPACITY:
            raise ValueError(f"capacity must be at least {MIN_CAPACITY} rows; found {capacity}")


def new_memory(
    y: Array,
    span: tuple[float, float],
    scheme: Scheme,
    sizes: Sizes,
    options: StepOptions,
    *,
    boundaries: Sequence[float] | Array = (),
    samples: Sequence[float] | Array = (),
    has_laws: bool = False,
    quaternions: Sequence[int] | NDArray[np.int64] = (),
    unknowns: Unknowns | None = None,
) -> Memory:
    """A Memory ready for integrators/advance.py, at y and the first time of the span [s].

    boundaries: kinks of signals; samples: instants of Python controllers; both in any order, repetitions allowed.
    has_laws: there are controllers with a law, which work.calls.control samples.
    quaternions: first index in y of each. unknowns: of implicit methods; default: all components that are controlled,
    no pairs."""
    _check(scheme, sizes, options)
    t, t_end = span
    atol = np.broadcast_to(options.atol, sizes.n_y)
    unknowns = unknowns or Unknowns([i for i in range(sizes.n_y) if atol[i] < np.inf], ())
    memory = _allocate(sizes, scheme.tableau.n_terms, **_scheme_tables(scheme, sizes.n_y, unknowns))
    memory.y[:], memory.atol[:] = y, atol
    stepping = memory.stepping[0]
    for name in ("rtol", "h", "is_fixed", "h_min", "max_step", "max_steps", "budget", "watches", "watched_stiffness"):
        stepping[name] = getattr(options, name)
    stepping.root_time = -np.inf
    stepping.t, stepping.t_end, stepping.h_fixed = t, t_end, options.h
    stepping.stall_t, stepping.duration = t, t_end - t
    stepping.t_control = t if has_laws else np.inf
    stepping.wants_rows, stepping.wants_dense = sizes.n_rows > 0, sizes.n_pieces > 0
    stepping.simultaneous = SIMULTANEOUS
    put_method(stepping, scheme)
    return memory._replace(
        boundaries=_sorted_times(boundaries, -np.inf),
        samples=_sorted_times(samples, t),
        quaternions=np.array(quaternions, np.int64),
        pairs=np.array([] if options.is_fixed else unknowns.pairs, np.int64).reshape(-1, 2),
    )


def put_method(stepping: Any, scheme: Scheme) -> None:
    """The facts of a method; the next step begins without a past."""
    tableau = scheme.tableau
    stepping.step, stepping.interpolant = scheme.step, scheme.interpolant
    for name in ("n_stages", "order", "n_early", "alpha", "beta", "safety", "fading", "shrink", "growth"):
        stepping[name] = getattr(tableau, name)
    stepping.made_jump, stepping.error_old, stepping.factor = MADE_JUMP, MIN_ERROR_OLD, 0.0


def with_method(memory: Memory, scheme: Scheme, unknowns: Unknowns) -> Memory:
    """The same run with another method from now on; its dense output must not have more terms."""
    assert scheme.tableau.n_terms <= len(memory.dense)
    other = memory._replace(**_scheme_tables(scheme, len(memory.y), unknowns))
    put_method(other.stepping[0], scheme)
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
