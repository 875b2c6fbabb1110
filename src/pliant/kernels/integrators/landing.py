"""The step that is made: trial steps until one is good and, where it passes an event, until one ends on it."""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, STEPPER, routine
from pliant.kernels.algebra.finite import ULP
from pliant.kernels.integrators import events
from pliant.kernels.integrators.event_scan import NONE, are_near, find_event
from pliant.kernels.integrators.events import G_TRIAL, GDOT, G
from pliant.kernels.integrators.step_control import is_explicit, min_step, shorter_step, weighted_norm
from pliant.system.status import Status

# numba sees the callers as names of this module
call_derivative = DERIVATIVE.call
call_stepper = STEPPER.call
call_interpolant = INTERPOLANT.call

OK, INTERRUPTED, STEP_TOO_SMALL = int(Status.OK), int(Status.INTERRUPTED), int(Status.STEP_TOO_SMALL)

MAX_WAITING = 2  # steps of hardly any length in a row before time must pass
MAX_LANDINGS = 60  # steps to land on one event: Newton's method, or halving
MAX_FALSE_ALARMS = 8  # events that were not where the dense output had them, before they count as being there
FALSE_ALARM_FACTOR = 0.25  # to the next trial step
FALSE_ALARM_MARGIN = 16.0  # times the resolution of events
RESOLUTION = 2.0 * ULP  # of t
MAX_FADING_ERROR = 0.03  # estimated, of the tolerance, of a step that ends where a force fades, or soon will; else
APPROACH = 0.7  # of it first
MAX_SHIFT = 1e-2  # of a step: less may be left to Heun's method
MAX_CORRECTION = 1e-2  # of the tolerance: its second order; what it leaves out is that times the shift over the step
MAX_MISFIT = 1.0  # of the tolerance: of dense output made of stages that lie where those of the unmoved step do


@routine
def normalise(quaternions, y, f):
    """Quaternions to unit length; their rates are linear in them and are divided by the same norm."""
    for k in range(quaternions.shape[0]):
        i = quaternions[k]
        norm = math.sqrt(y[i] ** 2 + y[i + 1] ** 2 + y[i + 2] ** 2 + y[i + 3] ** 2)
        for j in range(i, i + 4):
            y[j] /= norm
            f[j] /= norm


@routine
def make_step(system, work, memory, h):
    """One trial step, with its dense output where it is needed: (status, whether an event may happen in it).

    It is good if the status is OK and stepping.error at most 1. Events are looked for, and dense output is made, only
    while none is the target."""
    stepping, calls = memory.stepping[0], work.calls[0]
    work.run[0].step, work.run[0].is_at_end = h, 0
    status, is_near = call_stepper(stepping.step, (system, work, memory, stepping.t, h)), False
    if status != OK or not stepping.error <= 1.0:
        return status, False
    normalise(memory.quaternions, memory.y_new, memory.f_new)
    if memory.quaternions.shape[0] > 0 or calls.end_step != 0:
        work.run[0].is_at_end = 0
    if calls.end_step != 0:
        status = call_derivative(calls.end_step, (system, work, stepping.t + h, memory.y_new, memory.f_new))
        if status != OK:
            # the factor that the stepper has set is that of a good step
            stepping.factor = 0.0
    has_events = memory.fired.shape[0] > 0
    is_trial = stepping.target < 0
    is_near = status == OK and has_events and is_trial and are_near(system, work, memory, h)
    work.run[0].is_at_end = 0
    if status == OK and (is_near or (stepping.wants_dense == 1 and is_trial)):
        status = make_dense(system, work, memory, h)
    return status, is_near


@routine
def make_dense(system, work, memory, h):
    """Dense output of the step just made. What it evaluates leaves no trace in the motion."""
    work.run[0].is_aside = 1
    status = call_interpolant(memory.stepping[0].interpolant, (system, work, memory, memory.stepping[0].t, h))
    work.run[0].is_aside = 0
    return status


@routine
def reject(stepping, h, status):
    """After a trial step that was not good: a shorter one, without a target. OK, or why there is none."""
    if stepping.is_fixed == 1:
        return status
    stepping.h_made = shorter_step(stepping, h, status)
    stepping.target = -1
    if stepping.h_made < min_step(stepping):
        return status if status != OK else STEP_TOO_SMALL
    return OK


@routine
def is_false_alarm(stepping, values, h):
    """Whether the event that the dense output promised is not there where the step ends now: g leaves its zero. The
    dense output of the long step has been less accurate than the event asks for."""
    sign = -stepping.target_direction
    g, gdot = sign * values[G, stepping.target], sign * values[GDOT, stepping.target]
    return g > 0.0 and gdot > 0.0 and g > FALSE_ALARM_MARGIN * gdot * events.resolution(stepping, h)


@routine
def drop_target(stepping, longest):
    """After a false alarm: a shorter step, without a target. OK, or why there is none."""
    stepping.n_false_alarms += 1
    stepping.n_rejected += 1
    stepping.was_rejected = 1
    stepping.target = -1
    stepping.h_made = FALSE_ALARM_FACTOR * longest
    return STEP_TOO_SMALL if stepping.h_made < min_step(stepping) else OK


@routine
def next_landing(stepping, table, values, side, h, left, right, before):
    """Next length of a step that shall end on the event, and the correction made; 0: good as it is.

    Good: located as well as t can say, or no longer improving (rounding of g). Newton's method between left, where the
    event has not happened, and right; halved where that leads out."""
    tau = events.correction(stepping, table, values, side)
    least = RESOLUTION * abs(stepping.t + h)
    if abs(tau) <= least or right - left <= least or 0.5 * before < abs(tau) <= events.resolution(stepping, h):
        return h, 0.0
    landing = (stepping.t + h + tau) - stepping.t
    if left < landing < right and abs(tau) <= 0.5 * before:
        return landing, abs(tau)
    return 0.5 * (left + right), math.inf


@routine
def leaves_zero(system, work, memory):
    """Whether g of the target, zero at t itself, goes back to its side there."""
    stepping, values = memory.stepping[0], memory.event_values
    events.evaluate(system, work, memory, stepping.t, memory.y, memory.f, G)
    return not stepping.target_direction * values[GDOT, stepping.target] >= 0.0


@routine
def can_shift(work, memory, made, h):
    """Whether the end of a step made is so near to that of a step of length h that it may be moved there: stages stay
    those of the step made. Not where a stepper remembers its steps or has implicit stages, or something is done at
    their ends."""
    if not is_explicit(memory) or work.calls[0].end_step != 0 or abs(h - made) > MAX_SHIFT * made:
        return False
    if memory.D.shape[0] == 0:
        return True
    # values and slopes at both ends are right; what stages add to their cubic, by the part of it that they add to
    cubic = memory.scratch[0]
    for i in range(cubic.shape[0]):
        cubic[i] = made * (memory.f[i] + memory.f_new[i]) - 2.0 * (memory.y_new[i] - memory.y[i])
    return abs(h - made) * weighted_norm(cubic, memory.y_new, memory.atol, memory.stepping[0].rtol) <= MAX_MISFIT * made


@routine
def shift_end(system, work, memory, made, h):
    """The end of a step of length h from the near one of the step made, by Heun's method: (status, whether it is
    accurate enough; else nothing has changed)."""
    stepping, y, f, x, g = memory.stepping[0], memory.y_new, memory.f_new, memory.scratch[0], memory.scratch[1]
    tau, correction = h - made, memory.scratch[2]
    for i in range(x.shape[0]):
        x[i] = y[i] + tau * f[i]
    status = call_derivative(work.calls[0].derivative, (system, work, stepping.t + h, x, g))
    stepping.n_evaluations += 1
    for i in range(x.shape[0]):
        correction[i] = 0.5 * tau * (g[i] - f[i])
    if status != OK or not weighted_norm(correction, x, memory.atol, stepping.rtol) <= MAX_CORRECTION:
        return status, False
    for i in range(x.shape[0]):
        y[i] = x[i] + correction[i]
        f[i] = g[i]
    normalise(memory.quaternions, y, f)
    return OK, True


@routine
def is_too_rough(stepping):
    """Whether a step must not end where a force fades, or soon will: the error sees that, but hardly its estimate."""
    return stepping.fading > 0.0 and stepping.is_fixed == 0 and stepping.error > MAX_FADING_ERROR


@routine
def fades_ahead(stepping, table, values, side, h):
    """Whether, at the end of a step of length h, a force will soon fade."""
    for k in range(side.shape[1]):
        left = -values[G, k]
        if table[k].is_fractional == 1 and side[1, k] < 0 and 0.0 < left < stepping.fading * h * values[GDOT, k]:
            return True
    return False


@routine
def land(system, work, memory, theta):
    """Steps until one ends on the target, which the dense output of the step just made has at theta.

    Leaves its length in stepping.h_made; with target -1 that of the next trial step, because one was not good or the
    event was not there."""
    stepping, values = memory.stepping[0], memory.event_values
    longest, before, made = stepping.h_made, math.inf, 0.0
    left, right, h = 0.0, longest, (stepping.t + theta * longest) - stepping.t
    for landing in range(1, MAX_LANDINGS + 1):
        # near t = 0 the length of the step says what time resolves
        if h <= RESOLUTION * longest:
            waits = stepping.n_stagnant > MAX_WAITING
            if not (waits or leaves_zero(system, work, memory)):
                h = 0.0
                break
            # g leaves zero and is back within the resolution of t, or what the event does is undone at the same
            # instant, again and again: let the least time pass, or a little more
            least = RESOLUTION * max(abs(stepping.t), longest)
            h = min(least * (stepping.n_stagnant - MAX_WAITING if waits else 1), longest)
        if stepping.stop == 1:
            return INTERRUPTED
        status, is_shifted = OK, False
        if made > 0.0 and can_shift(work, memory, made, h):
            status, is_shifted = shift_end(system, work, memory, made, h)
        if status == OK and not is_shifted:
            status, _ = make_step(system, work, memory, h)
        if status != OK or not stepping.error <= 1.0:
            return reject(stepping, h, status)
        is_fading = system.events[stepping.target].is_fractional == 1 and stepping.target_direction > 0
        if is_fading and is_too_rough(stepping):
            stepping.h_made, stepping.target = APPROACH * h, -1
            return OK
        made = h
        events.evaluate(system, work, memory, stepping.t + h, memory.y_new, memory.f_new, G)
        if stepping.failure != OK:
            return stepping.failure
        may_doubt = stepping.is_fixed == 0 and stepping.n_false_alarms < MAX_FALSE_ALARMS
        if may_doubt and is_false_alarm(stepping, values, h):
            return drop_target(stepping, longest)
        if stepping.target_direction * values[G, stepping.target] < 0.0:
            left = max(left, h)
        else:
            right = min(right, h)
        target = stepping.target
        h_next, before = next_landing(stepping, system.events, values, memory.side, h, left, right, before)
        if stepping.target != target:
            # another event came first
            left, right = 0.0, h
        if before == 0.0 or landing == MAX_LANDINGS:
            break
        h = h_next
    stepping.h_made = h
    if stepping.wants_dense == 1 and h > 0.0:
        status = make_dense(system, work, memory, h)
        if status != OK:
            return reject(stepping, h, status)
        # the event handler finds the kinematics of the end in work; values at the end are known
        work.run[0].is_aside = 1
        events.evaluate(system, work, memory, stepping.t + h, memory.y_new, memory.f_new, G_TRIAL)
        work.run[0].is_aside = 0
        return stepping.failure
    return OK


@routine
def find_step(system, work, memory):
    """The step that is made, from a first trial of length stepping.h_made.

    Its length in stepping.h_made, 0 if an event is at t itself; stepping.target >= 0 says that it ends on an event."""
    stepping = memory.stepping[0]
    stepping.target, stepping.n_false_alarms = -1, 0
    while True:
        if stepping.stop == 1:
            return INTERRUPTED
        h = stepping.h_made
        status, is_near = make_step(system, work, memory, h)
        if status != OK or not stepping.error <= 1.0:
            status = reject(stepping, h, status)
            if status != OK or stepping.is_fixed == 1:
                return status
            continue
        theta = find_event(system, work, memory, h) if is_near else NONE
        if stepping.failure != OK:
            return stepping.failure
        if theta > 1.0:
            if is_too_rough(stepping) and fades_ahead(stepping, system.events, memory.event_values, memory.side, h):
                stepping.h_made = APPROACH * h
                stepping.n_rejected += 1
                stepping.was_rejected = 1
                continue
            return OK
        status = land(system, work, memory, theta)
        if status != OK or stepping.target >= 0:
            return status
