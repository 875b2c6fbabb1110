"""After a jump (start, event, kink, sample): the derivative anew, earlier steps forgotten, the first step guessed.

Reference: Hairer, Norsett, Wanner I, II.4, 'Starting Step Size', a) to f).
"""

import math

from pliant.kernels._jit import DERIVATIVE, SWITCH, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.integrators import events
from pliant.kernels.integrators.records import record_phase
from pliant.kernels.integrators.step_control import is_explicit, next_stop, weighted_norm
from pliant.system.memory import CHANGED_INPUT, FORGET_JACOBIAN, FORGET_STEPS, MIN_ERROR_OLD, NEW_INPUT
from pliant.system.status import Status

# numba sees the callers as names of this module
call_derivative = DERIVATIVE.call
call_switch = SWITCH.call

OK, SWITCHED, NOT_FINITE = int(Status.OK), int(Status.SWITCHED), int(Status.NOT_FINITE)

# the starting step of II.4
EULER_CHANGE = 0.01  # b), e): change of y over its size, or tolerance, that a first step makes
MIN_NORM = 1e-5  # b): of y and f, below which they say nothing
EULER_STEP = 1e-6  # b): [s] then
MIN_SLOPE = 1e-15  # e): of f and f'
MAX_GROWTH = 100.0  # f): over the Euler step
FAILED_EULER_FACTOR = 1e-3  # times the Euler step, where that cannot be evaluated
JUMP_FACTOR = 2.0  # times this cautious guess, after a switch
# after a switch forces may begin at zero, as those of a contact do, and say nothing of how fast they change then
PROBE_ANGLE = 0.03  # [rad] that a swing as fast as they let expect goes in the first step
SLOW_SWING = 4.0  # [1/s^2] slower than this: that coordinates change with velocities is all that is seen
MAX_PROBES = 4
FAILED_PROBE_FACTOR = 0.1


@routine
def middle(stepping, boundaries):
    """A time inside the smooth piece that begins (or goes on) at t."""
    left = boundaries[stepping.boundary - 1] if stepping.boundary > 0 else stepping.t
    right = boundaries[stepping.boundary] if stepping.boundary < boundaries.shape[0] else max(stepping.t, left) + 1.0
    return 0.5 * (left + right)


@routine
def decide_friction(system, work, memory):
    """Which friction pairs stick from now on; OK or a failure."""
    stepping, calls = memory.stepping[0], work.calls[0]
    if calls.decide_friction == 0:
        return OK
    if stepping.was_switched == 0:
        for k in range(memory.fired.shape[0]):
            memory.fired[k] = 0
    status = call_switch(calls.decide_friction, (system, work, stepping.t, memory.y, memory.fired))
    if status != SWITCHED:
        return status
    stepping.was_switched = 1
    events.log_found(stepping, memory.fired, memory.log)
    return OK


@routine
def is_equal(x, y):
    """Return True if two arrays have the same numbers."""
    is_so = True
    for i in range(x.shape[0]):
        is_so = is_so and x[i] == y[i]
    return is_so


@routine
def restart_events(system, work, memory, before):
    """Event values at (t, y); sides anew after a switch. before: y as the switch has left it.

    The derivative moves y by rounding where it closes loops or puts coordinates on signals. Whether an event function
    has jumped is seen at the very same state: else every one would seem to have."""
    stepping, values, f = memory.stepping[0], memory.event_values, memory.f
    has_moved = stepping.was_switched == 1 and not is_equal(before, memory.y)
    if stepping.was_switched == 1:
        events.take(values, events.G, events.G_LEFT)
        if has_moved:
            work.run[0].is_aside = 1
            events.evaluate(system, work, memory, stepping.t, before, f, events.G_TRIAL)
            work.run[0].is_aside = 0
    if memory.fired.shape[0] > 0:
        events.evaluate(system, work, memory, stepping.t, memory.y, f, events.G_START)
    if stepping.was_switched == 1:
        events.take(values, events.G_START, events.G)
        if not has_moved:
            events.take(values, events.G_START, events.G_TRIAL)
        events.renew_sides(system.events, values, memory.fired, stepping.has_moved, memory.side)


@routine
def forget_steps(stepping):
    """What controller and stepper remember of earlier steps."""
    stepping.error_old = MIN_ERROR_OLD
    if stepping.was_switched == 1 or stepping.n_steps == 0:
        stepping.dropped = FORGET_JACOBIAN
    else:
        stepping.dropped = NEW_INPUT if stepping.made_jump == CHANGED_INPUT else FORGET_STEPS
    stepping.made_jump = 0
    if stepping.was_switched == 1:
        stepping.n_stiff = 0


@routine
def change_of_slope(system, work, memory, h):
    """Norm of the change of f over a step of Euler's method; not finite where it cannot be evaluated."""
    stepping, y, x, f = memory.stepping[0], memory.y, memory.scratch[0], memory.scratch[1]
    for i in range(x.shape[0]):
        x[i] = y[i] + h * memory.f[i]
    status = call_derivative(work.calls[0].derivative, (system, work, stepping.t + h, x, f))
    stepping.n_evaluations += 1
    for i in range(x.shape[0]):
        f[i] -= memory.f[i]
    return weighted_norm(f, y, memory.atol, stepping.rtol) if status == OK else math.nan


@routine
def starting_step(system, work, memory, slope):
    """First step [s], II.4; slope: norm of f (a)."""
    stepping, y = memory.stepping[0], memory.y
    longest = min(next_stop(stepping, memory.boundaries, memory.samples) - stepping.t, stepping.max_step)
    size = weighted_norm(y, y, memory.atol, stepping.rtol)
    h = min(EULER_CHANGE * size / slope if size > MIN_NORM and slope > MIN_NORM else EULER_STEP, longest)
    # c), d)
    steepest = change_of_slope(system, work, memory, h) / h
    if not math.isfinite(steepest):
        return FAILED_EULER_FACTOR * h
    steepest = max(slope, steepest)
    # e), f)
    if steepest > MIN_SLOPE:
        return min(MAX_GROWTH * h, (EULER_CHANGE / steepest) ** (1.0 / (stepping.order + 1.0)), longest)
    return min(MAX_GROWTH * h, longest)


@routine
def probed_step(system, work, memory, slope, h):
    """h [s], or as much less as the change of f over it asks for: f' / y' is the square of the frequency of a swing."""
    for _ in range(MAX_PROBES):
        square = change_of_slope(system, work, memory, h) / (h * slope)
        if not math.isfinite(square):
            h *= FAILED_PROBE_FACTOR
        elif square <= SLOW_SWING or h * math.sqrt(square) <= PROBE_ANGLE:
            break
        else:
            h = PROBE_ANGLE / math.sqrt(square)
    return h


@routine
def restart(system, work, memory):
    """Ready for the next step from (t, y)."""
    stepping, run = memory.stepping[0], work.run[0]
    run.segment = middle(stepping, memory.boundaries)
    run.step = stepping.h
    status = decide_friction(system, work, memory)
    if status != OK:
        return status
    if stepping.was_switched == 1:
        record_phase(stepping, work.phase, memory.phase_times, memory.phases)
    before = memory.scratch[3]
    copy(memory.y, before)
    status = call_derivative(work.calls[0].derivative, (system, work, stepping.t, memory.y, memory.f))
    stepping.n_evaluations += 1
    if status != OK:
        return status
    slope = weighted_norm(memory.f, memory.y, memory.atol, stepping.rtol)
    if not math.isfinite(slope):
        return NOT_FINITE
    restart_events(system, work, memory, before)
    forget_steps(stepping)
    if stepping.is_fixed == 1 or (stepping.h > 0.0 and stepping.was_switched == 0):
        stepping.was_switched = 0
        return OK
    guess = starting_step(system, work, memory, slope)
    # explicit stages only: implicit ones need not follow what is fast, and loops are not closed in a state far away
    if stepping.h <= 0.0:
        stepping.h = guess
    elif is_explicit(memory) and work.calls[0].end_step == 0 and slope > MIN_NORM:
        stepping.h = probed_step(system, work, memory, slope, JUMP_FACTOR * guess)
    else:
        stepping.h = min(stepping.h, JUMP_FACTOR * guess)
    stepping.was_switched = 0
    return OK
