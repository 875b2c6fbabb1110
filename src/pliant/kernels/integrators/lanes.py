"""Explicit Runge-Kutta steps of eight runs at once, a lane each: trial steps of one length per lane.

The stages, the error norm and the estimate of stiffness of runge_kutta.py, with the same operations in the same order:
every lane has the bits of its run alone. What steps do is decided run by run (kernels/many.py), by the same routines.
References: those of runge_kutta.py."""

import math
from typing import Any

from pliant.kernels._jit import DERIVATIVES, kernel
from pliant.kernels.algebra.finite import larger_or_nan, zero_or_nan
from pliant.kernels.algebra.lanes import WIDTH, at, larger, magnitude, store
from pliant.kernels.integrators.runge_kutta import THIRD_ORDER_WEIGHT, combined_error, largest_eigenvalue
from pliant.system.work import room_for_lanes

# numba sees the callers as names of this module
call_derivatives = DERIVATIVES.call

# rows of the room: of every lane the length of its trial step, the time of the stage, the error norm that is known
# before the end and that which needs it, 0 (NaN where something is not finite), |f - g|^2 and |y - x|^2 of the
# stiffness; two components of the error
H_AT, TIME_AT, EARLY_AT, LATE_AT, FINITE_AT, RISE_AT, RUN_AT, FIFTH_AT, THIRD_AT, LANE_ROWS = range(10)


def new_room(memory: Any, n_derivative: int) -> Any:
    """LANE_ROWS, weights of the stages, y, y_new, the point of a stage, stages, the room of a DERIVATIVES kernel."""
    n_all, n_y = memory.stages.shape
    return room_for_lanes(LANE_ROWS + n_all + (3 + n_all) * n_y + n_derivative)


@kernel
def states_of(room, n_all, n_y):
    """Parts of the room: y, y_new, point of a stage, stages, room of the derivative."""
    first = LANE_ROWS + n_all
    y, y_new = room[first : first + n_y], room[first + n_y : first + 2 * n_y]
    return y, y_new, room[first + 2 * n_y : first + 3 * n_y], room[first + 3 * n_y :], room[first + (3 + n_all) * n_y :]


@kernel
def stage_point(A, row, h, weights, stages, y, out):
    """out = y + h sum A[row, j] k_j."""
    n = len(y)
    for j in range(row):
        store(weights, j, h * A[row, j])
    for i in range(n):
        x = at(y, i) + at(weights, 0) * at(stages, i)
        for j in range(1, row):
            if A[row, j] != 0.0:
                x = x + at(weights, j) * at(stages, j * n + i)
        store(out, i, x)


@kernel
def estimate(E, row, stages, n, i):
    """Component i of sum E[row, j] k_j."""
    x = 0.0
    for j in range(E.shape[1]):
        if E[row, j] != 0.0:
            x = x + E[row, j] * at(stages, j * n + i)
    return x


@kernel
def combine_estimates(room, error, other):
    """Of DOP853, lane by lane."""
    store(room, FIFTH_AT, error)
    store(room, THIRD_AT, other)
    for s in range(WIDTH):
        room[FIFTH_AT, s] = combined_error(room[FIFTH_AT, s], room[THIRD_AT, s])
    return at(room, FIFTH_AT)


@kernel
def put_error_norm(memory, first, last, room, row, h, stages, y, y_new):
    """As error_norm, into a row of the room; NaN where anything is not finite."""
    E, atol, rtol, n = memory.E, memory.atol, memory.stepping[0].rtol, len(y)
    norm, total = 0.0, 0.0
    for i in range(n):
        error = magnitude(h * estimate(E, first, stages, n, i))
        if last - first == 2:
            error = combine_estimates(room, error, THIRD_ORDER_WEIGHT * h * estimate(E, first + 1, stages, n, i))
        total = total + zero_or_nan(error)
        # no error over no tolerance is not larger
        norm = larger(error / (atol[i] + rtol * larger(magnitude(at(y, i)), magnitude(at(y_new, i)))), norm)
    store(room, row, norm + total)


@kernel
def put_steepness(memory, room, end, stages, y_new, point):
    """What steepness divides."""
    n = len(y_new)
    rise, run = 0.0, 0.0
    for i in range(n):
        if memory.atol[i] < math.inf:
            f = at(stages, end * n + i) - at(stages, (end - 1) * n + i)
            x = at(y_new, i) - at(point, i)
            rise, run = rise + f * f, run + x * x
    store(room, RISE_AT, rise)
    store(room, RUN_AT, run)


@kernel
def try_steps(derivatives, system, work, memory, runs, room):
    """As runge_kutta.step, from y and the first stage of every lane; what has been found is in the rows of the room.

    runs: STEPPING, a row per lane."""
    stepping, n_all, n_y = memory.stepping[0], memory.stages.shape[0], len(memory.y)
    weights = room[LANE_ROWS:]
    y, y_new, point, stages, scratch = states_of(room, n_all, n_y)
    end, h = stepping.n_stages, at(room, H_AT)
    store(scratch, 0, -math.inf)
    for i in range(1, end + 1):
        x = y_new if i == end else point
        stage_point(memory.A, i, h, weights, stages, y, x)
        for s in range(WIDTH):
            room[TIME_AT, s] = runs[s].t + memory.c[i] * room[H_AT, s]
        stage = stages[n_y * i : n_y * (i + 1)]
        call_derivatives(derivatives, (system, work, room[TIME_AT], x, stage, scratch))
    n_early, n_estimates = stepping.n_early, memory.E.shape[0]
    if n_early > 0:
        put_error_norm(memory, 0, n_early, room, EARLY_AT, h, stages, y, y_new)
    if n_early < n_estimates:
        put_error_norm(memory, n_early, n_estimates, room, LATE_AT, h, stages, y, y_new)
    if stepping.watches > 0 and end > 1 and memory.c[end - 1] == 1.0:
        put_steepness(memory, room, end, stages, y_new, point)
    total = 0.0
    for i in range(n_y):
        total = total + zero_or_nan(at(y_new, i)) + zero_or_nan(at(stages, n_y * end + i))
    store(room, FINITE_AT, total)


@kernel
def put_found(memory, room, s, stepping):
    """What runge_kutta.step would say of lane s into the row of its run; False where that is not that all is well, but
    for the error."""
    n_all, n_y = memory.stages.shape[0], len(memory.y)
    end = stepping.n_stages
    scratch = states_of(room, n_all, n_y)[4]
    stepping.error = room[EARLY_AT, s] if stepping.n_early > 0 else 0.0
    # a step to be rejected is not worth the last evaluation, where the error is known before
    is_good = stepping.error <= 1.0
    stepping.n_evaluations += end if is_good else end - 1
    if is_good and stepping.n_early < memory.E.shape[0]:
        stepping.error = larger_or_nan(stepping.error, room[LATE_AT, s])
    if stepping.watches > 0 and end > 1 and memory.c[end - 1] == 1.0:
        stepping.stiffness = room[H_AT, s] * largest_eigenvalue(room[RISE_AT, s], room[RUN_AT, s])
    return math.isfinite(stepping.error) and room[FINITE_AT, s] == 0.0 and scratch[0, s] < 0.0


@kernel
def put_state(memory, room, s):
    """y and its derivative from memory into lane s."""
    y, _, _, stages, _ = states_of(room, memory.stages.shape[0], len(memory.y))
    for i in range(len(memory.y)):
        y[i, s], stages[i, s] = memory.y[i], memory.f[i]


@kernel
def take_step(memory, room, s):
    """y and its derivative of lane s are those at the end of its step."""
    n_y = len(memory.y)
    last = n_y * memory.stepping[0].n_stages
    y, y_new, _, stages, _ = states_of(room, memory.stages.shape[0], n_y)
    for i in range(n_y):
        y[i, s], stages[i, s] = y_new[i, s], stages[last + i, s]
