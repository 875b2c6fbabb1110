"""The resumable loop of all integrators: where steps end, step control, records, events. Knows no robot, no method.

It returns with a Status; called again it goes on exactly where it was. Steps end on boundaries (kinks of signals),
samples (Python controllers), events and t_end.
References: Hairer, Norsett, Wanner I, II.4 (step size); Hairer, Wanner II, IV.2 (PI controller).
"""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, LOOP, STEPPER, SWITCH, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.integrators import events
from pliant.system.status import Status

# numba sees the callers as names of this module
call_derivative = DERIVATIVE.call
call_stepper = STEPPER.call
call_interpolant = INTERPOLANT.call
call_switch = SWITCH.call

OK, DONE, BUFFER_FULL, SAMPLE = int(Status.OK), int(Status.DONE), int(Status.BUFFER_FULL), int(Status.SAMPLE)
PAUSE, SWITCHED, REVIEW = int(Status.PAUSE), int(Status.SWITCHED), int(Status.REVIEW)
STEP_TOO_SMALL, NOT_FINITE = int(Status.STEP_TOO_SMALL), int(Status.NOT_FINITE)
TOO_MANY_STEPS, EVENT_NOT_LOCATED = int(Status.TOO_MANY_STEPS), int(Status.EVENT_NOT_LOCATED)
EVENT_MISSED, INTERRUPTED = int(Status.EVENT_MISSED), int(Status.INTERRUPTED)

G, GDOT = events.G, events.GDOT  # rows of event values

ULP = 2.0**-52
MAX_REDOS = 60  # steps to land on one event: Newton's method, or halving
MAX_ALARMS = 8  # times that an event was not where the dense output had it, before it counts as being there
MAX_STANDING = 100  # steps in a row that come nowhere, or as many times 4 as there are events
LEAST_ERROR = 1e-4  # remembered by the controller
JUMP_STEP = 4.0  # times Hairer's cautious guess, after a switch
STALL_STEPS = 1000  # whose progress is watched
STALLED = 1e-8  # of t: progress of so many steps that is none
STABLE = 6.1  # h times eigenvalue at the bound of stability of DOP853
BESIDE = 0.3  # of a step: too near to a dead point to end there
MOST_MILD = 6  # steps off that bound that forget those at it


@routine
def is_full(loop, n_rows, n_pieces, n_log, n_events, n_phases):
    """Room is kept for the most one step can record: two rows (before and after a jump), one piece, all events twice
    (as located, and as forces decide what sticks), one phase."""
    return (
        (loop.wants_rows == 1 and loop.n_rows + 2 > n_rows)
        or (loop.wants_dense == 1 and loop.n_pieces + 1 > n_pieces)
        or loop.n_log + 2 * n_events > n_log
        or (loop.wants_rows == 1 and loop.n_phases + 1 > n_phases)
    )


@routine
def record_row(loop, y, inputs, rows):
    if loop.wants_rows == 1:
        rows[loop.n_rows, 0] = loop.t
        for i in range(y.shape[0]):
            rows[loop.n_rows, 1 + i] = y[i]
        loop.n_rows += 1
        note_inputs(loop, inputs, rows)


@routine
def note_inputs(loop, inputs, rows):
    """Inputs of the newest row: at a sampling instant those held from then on."""
    last, first = loop.n_rows - 1, rows.shape[1] - inputs.shape[0]
    if last >= 0 and rows[last, 0] == loop.t:
        for i in range(inputs.shape[0]):
            rows[last, first + i] = inputs[i]


@routine
def record_piece(loop, h, dense, times, terms):
    times[loop.n_pieces, 0] = loop.t
    times[loop.n_pieces, 1] = h
    for k in range(dense.shape[0]):
        for i in range(dense.shape[1]):
            terms[loop.n_pieces, k, i] = dense[k, i]
    loop.n_pieces += 1


@routine
def record_phase(loop, phase, times, phases):
    """The whole phase, valid from t on."""
    if loop.wants_rows == 1:
        times[loop.n_phases] = loop.t
        for k in range(phase.shape[0]):
            phases[loop.n_phases, k] = phase[k]
        loop.n_phases += 1


@routine
def weighted_norm(x, y, atol, rtol):
    """Largest |x_i| over its tolerance at y; NaN if any x_i is not finite."""
    norm, total = 0.0, 0.0
    for i in range(x.shape[0]):
        if x[i] != 0.0:
            norm = max(norm, abs(x[i]) / (atol[i] + rtol * abs(y[i])))
        total += 0.0 * x[i]
    return norm + total


@routine
def next_stop(loop, boundaries, samples):
    stop = loop.t_end
    if loop.boundary < boundaries.shape[0]:
        stop = min(stop, boundaries[loop.boundary])
    if loop.sample < samples.shape[0]:
        stop = min(stop, samples[loop.sample])
    return stop


@routine
def middle(loop, boundaries):
    """A time inside the smooth piece that begins (or goes on) at t."""
    left = boundaries[loop.boundary - 1] if loop.boundary > 0 else loop.t
    right = boundaries[loop.boundary] if loop.boundary < boundaries.shape[0] else max(loop.t, left) + 1.0
    return 0.5 * (left + right)


@routine
def restart(system, work, memory):
    """After a jump: derivative anew at (t, y), memory of earlier steps dropped, first step guessed where needed."""
    loop, run = memory.loop[0], work.run[0]
    y, x, f = memory.y, memory.scratch[0], memory.scratch[1]
    run.segment = middle(loop, memory.boundaries)
    run.step = loop.h
    if run.settle_friction != 0:
        if loop.was_switched == 0:
            for k in range(memory.fired.shape[0]):
                memory.fired[k] = 0
        status = call_switch(run.settle_friction, (system, work, loop.t, y, memory.fired))
        if status == SWITCHED:
            loop.was_switched = 1
            events.log_found(loop, memory.fired, memory.log)
        elif status != OK:
            return status
    if loop.was_switched == 1:
        record_phase(loop, work.phase, memory.phase_times, memory.phases)
    status = call_derivative(run.derivative, (system, work, loop.t, y, memory.f))
    loop.n_evaluations += 1
    if status != OK:
        return status
    d1 = weighted_norm(memory.f, y, memory.atol, loop.rtol)
    if not math.isfinite(d1):
        return NOT_FINITE
    if memory.fired.shape[0] > 0:
        events.evaluate(system, work, memory, loop.t, y, memory.f, events.G_START)
    if loop.was_switched == 1:
        events.take(memory.event_values, G, events.G_LEFT)
        events.take(memory.event_values, events.G_START, G)
        events.renew_sides(system.events, memory.event_values, memory.fired, loop.has_moved, memory.side)
    loop.error_old = LEAST_ERROR
    loop.made_jump = 0
    loop.dropped = 2 if loop.was_switched == 1 or loop.n_steps == 0 else 1
    if loop.was_switched == 1:
        loop.n_stiff = 0
    if loop.is_fixed == 1 or (loop.h > 0.0 and loop.was_switched == 0):
        return OK
    # II.4, 'starting step size'
    longest = min(next_stop(loop, memory.boundaries, memory.samples) - loop.t, loop.max_step)
    d0 = weighted_norm(y, y, memory.atol, loop.rtol)
    h = min(0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else 1e-6, longest)
    for i in range(x.shape[0]):
        x[i] = y[i] + h * memory.f[i]
    status = call_derivative(run.derivative, (system, work, loop.t + h, x, f))
    loop.n_evaluations += 1
    for i in range(x.shape[0]):
        f[i] -= memory.f[i]
    steepest = max(d1, weighted_norm(f, y, memory.atol, loop.rtol) / h)
    if status != OK or not math.isfinite(steepest):
        guess = 1e-3 * h
    elif steepest > 1e-15:
        guess = min(100.0 * h, (0.01 / steepest) ** (1.0 / (loop.order + 1.0)), longest)
    else:
        guess = min(100.0 * h, longest)
    loop.h = guess if loop.h <= 0.0 else min(loop.h, JUMP_STEP * guess)
    loop.was_switched = 0
    return OK


@routine
def fitted(loop, wanted, stop):
    """Step that does not pass stop: stretched a little rather than leaving a crumb, or two equal ones."""
    gap = stop - loop.t
    stretch = 1.0 + 1e-6 if loop.is_fixed == 1 else 1.01
    if wanted * stretch >= gap:
        return gap
    h = 0.5 * gap if loop.is_fixed == 0 and wanted > 0.5 * gap else wanted
    return (loop.t + h) - loop.t  # as t can represent it


@routine
def past_dead_point(loop, t_dead, wanted):
    """Step that does not end beside a dead point of loops: before it, from where the next one goes far beyond it."""
    due = t_dead - loop.t
    return 0.5 * due if loop.is_fixed == 0 and abs(wanted - due) < BESIDE * wanted else wanted


@routine
def least_step(loop):
    return max(16.0 * ULP * abs(loop.t), loop.h_min, 1e-300)


@routine
def rejected(loop, h, status):
    """Shorter step after a rejection; a failed evaluation may be just a bad trial."""
    loop.n_rejected += 1
    loop.was_rejected = 1
    if loop.factor > 0.0:
        return h * min(loop.factor, loop.safety)
    if status != OK:
        return 0.25 * h
    return h * min(max(loop.shrink, loop.safety * loop.error ** (-loop.alpha)), loop.safety)


@routine
def control(loop, h, wanted):
    """Next trial step from the error of an accepted one; after a cut step the step wanted before is good again. A step
    of no length, on an event at t itself, tells nothing."""
    if loop.is_fixed == 1 or h == 0.0:
        return
    factor = loop.factor
    if factor == 0.0:
        factor = loop.safety * max(loop.error, 1e-10) ** (-loop.alpha) * loop.error_old**loop.beta
    factor = max(loop.shrink, min(factor, loop.growth))
    if loop.was_rejected == 1:
        factor = min(factor, 1.0)
    loop.h = h * factor
    if h < wanted:
        loop.h = max(loop.h, wanted)
    else:
        loop.error_old = max(loop.error, LEAST_ERROR)
    loop.was_rejected = 0


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
def event_landing(loop, table, values, side, h, left, right, before):
    """Next length of a step that shall end on the event, and the correction made; 0: good as it is.

    Good: located as well as t can say, or no longer improving (rounding of g). Newton's method between left, where the
    event has not happened, and right; halved where that leads out."""
    tau = events.correction(loop, table, values, side)
    t, finest = abs(loop.t + h), loop.simultaneous * max(abs(loop.t), h)
    if abs(tau) <= 2.0 * ULP * t or right - left <= 2.0 * ULP * t or 0.5 * before < abs(tau) <= finest:
        return h, 0.0
    landing = (loop.t + h + tau) - loop.t
    if left < landing < right and abs(tau) <= 0.5 * before:
        return landing, abs(tau)
    return 0.5 * (left + right), math.inf


@routine
def is_false_alarm(loop, values, h):
    """Whether the event that the dense output promised is not there where the step ends now: g leaves its zero. The
    dense output of the long step has been less accurate than the event asks for."""
    g, gdot = -loop.target_direction * values[G, loop.target], -loop.target_direction * values[GDOT, loop.target]
    return g > 0.0 and gdot > 0.0 and g > 16.0 * gdot * loop.simultaneous * max(abs(loop.t), h)


@routine
def trial(system, work, memory):
    """Find the step that is made: steps until one is good, then, where it passes an event, until it ends on it.

    Its length in loop.h_made, 0 if the event is at t itself; loop.target >= 0 says that it ends on an event."""
    loop, values = memory.loop[0], memory.event_values
    h, before, redo, alarms = loop.h_made, math.inf, 0, 0
    longest, left, right = h, 0.0, h
    has_events = memory.fired.shape[0] > 0
    loop.target = -1
    while True:
        if loop.stop == 1:
            return INTERRUPTED
        work.run[0].step = h
        status, is_near = call_stepper(loop.step, (system, work, memory, loop.t, h)), False
        if status == OK and loop.error <= 1.0:
            normalise(memory.quaternions, memory.y_new, memory.f_new)
            if work.run[0].settle != 0:
                status = call_derivative(work.run[0].settle, (system, work, loop.t + h, memory.y_new, memory.f_new))
                if status != OK:
                    # what the stepper wants next is of a good step
                    loop.factor = 0.0
            is_near = status == OK and has_events and loop.target < 0 and events.are_near(system, work, memory, h)
            if status == OK and (loop.wants_dense == 1 or is_near):
                status = call_interpolant(loop.interpolant, (system, work, memory, loop.t, h))
        if status != OK or not loop.error <= 1.0:
            if loop.is_fixed == 1:
                return status
            h = rejected(loop, h, status)
            longest, loop.target = h, -1
            if h < least_step(loop):
                return status if status != OK else STEP_TOO_SMALL
            continue
        if loop.target < 0:
            if not is_near:
                if loop.failure != OK:
                    return loop.failure
                break
            theta = events.find_event(system, work, memory, h)
            if loop.failure != OK:
                return loop.failure
            if theta > 1.0:
                break
            left, right, before, redo = 0.0, longest, math.inf, 0
            h = (loop.t + theta * h) - loop.t
        else:
            events.evaluate(system, work, memory, loop.t + h, memory.y_new, memory.f_new, G)
            if loop.failure != OK:
                return loop.failure
            if loop.is_fixed == 0 and alarms < MAX_ALARMS and is_false_alarm(loop, values, h):
                alarms += 1
                h = longest = 0.25 * longest
                loop.target = -1
                loop.n_rejected += 1
                loop.was_rejected = 1
                if h < least_step(loop):
                    return STEP_TOO_SMALL
                continue
            if loop.target_direction * values[G, loop.target] < 0.0:
                left = max(left, h)
            else:
                right = min(right, h)
            target = loop.target
            landing, before = event_landing(loop, system.events, values, memory.side, h, left, right, before)
            if loop.target != target:
                # which came first
                left, right = 0.0, h
            redo += 1
            if before == 0.0 or redo == MAX_REDOS:
                break
            h = landing
        if h <= 0.0:
            events.evaluate(system, work, memory, loop.t, memory.y, memory.f, G)
            if loop.target_direction * values[GDOT, loop.target] >= 0.0:
                break
            # g leaves zero and is back within the resolution of t: let the least time pass
            h = min(2.0 * ULP * max(abs(loop.t), longest), longest)
    loop.h_made = h
    return OK


@routine
def switch(system, work, memory):
    """Fire what is due and let the event handler act."""
    loop, values = memory.loop[0], memory.event_values
    tolerance = loop.simultaneous * max(abs(loop.t), loop.h_made)
    events.fire(loop, system.events, values, tolerance, memory.side, memory.fired, memory.log)
    before = memory.scratch[3]
    copy(memory.y, before)
    status = call_switch(work.run[0].switch, (system, work, loop.t, memory.y, memory.fired))
    if status != SWITCHED:
        return status
    loop.made_jump = 1
    loop.was_switched = 1
    loop.has_moved = 0
    for i in range(before.shape[0]):
        if before[i] != memory.y[i]:
            loop.has_moved = 1
    if loop.has_moved == 1:
        record_row(loop, memory.y, work.inputs, memory.rows)
    return OK


@routine
def watch(loop):
    """Count the steps whose length stability decides (Hairer and Wanner II, IV.2)."""
    if loop.stiffness > STABLE:
        loop.n_stiff += 1
        loop.n_mild = 0
    else:
        loop.n_mild += 1
        if loop.n_mild >= MOST_MILD:
            loop.n_stiff = 0


@routine
def has_stalled(loop):
    """Whether many steps have come nowhere, as beside a singularity that rounding blurs."""
    if loop.is_fixed == 1 or loop.n_steps < loop.stall_steps + STALL_STEPS:
        return False
    before, loop.stall_t, loop.stall_steps = loop.stall_t, loop.t, loop.n_steps
    return loop.t - before < STALLED * loop.t


@routine
def one_step(system, work, memory):
    """One accepted step with the event that may end it."""
    loop = memory.loop[0]
    stop = next_stop(loop, memory.boundaries, memory.samples)
    wanted = loop.h_fixed if loop.is_fixed == 1 else min(loop.h, loop.max_step)
    if loop.is_fixed == 0 and work.run[0].turning * wanted > events.MOST_TURN:
        # the scan for events must not miss whole turns
        wanted = events.MOST_TURN / work.run[0].turning
    wanted = max(wanted, least_step(loop))
    loop.h_made = fitted(loop, past_dead_point(loop, work.run[0].t_dead, wanted), stop)
    n_rejected = loop.n_rejected
    status = trial(system, work, memory)
    if status != OK:
        return status
    h = loop.h_made
    control(loop, h, wanted if n_rejected == loop.n_rejected else h)
    # every pass of the loop raises t or this
    loop.n_standing = loop.n_standing + 1 if h <= least_step(loop) else 0
    if loop.n_standing > max(MAX_STANDING, 4 * memory.fired.shape[0]):
        return EVENT_NOT_LOCATED if loop.target >= 0 else STEP_TOO_SMALL
    if h > 0.0:
        if loop.wants_dense == 1:
            record_piece(loop, h, memory.dense, memory.piece_times, memory.piece_terms)
        loop.t = stop if h == stop - loop.t else loop.t + h
        loop.n_steps += 1
        copy(memory.y_new, memory.y)
        copy(memory.f_new, memory.f)
        if loop.watches > 0:
            watch(loop)
        record_row(loop, memory.y, work.inputs, memory.rows)
        if has_stalled(loop):
            return STEP_TOO_SMALL
    if memory.fired.shape[0] > 0:
        events.take(memory.event_values, G, events.G_START)
    if loop.target >= 0:
        return switch(system, work, memory)
    if events.is_missed(loop, system.events, memory.event_values, memory.side, h):
        return EVENT_MISSED
    events.settle_sides(system.events, memory.event_values, memory.side)
    return OK


@kernel(LOOP)
def advance(system, work, memory):
    """Go on until something is due."""
    loop, values = memory.loop[0], memory.event_values
    n_rows, n_pieces, n_log = memory.rows.shape[0], memory.piece_times.shape[0], memory.log.shape[0]
    if loop.is_awaiting == 1:
        loop.is_awaiting = 0
        note_inputs(loop, work.inputs, memory.rows)
    last = loop.n_steps + loop.budget
    while True:
        if loop.has_begun == 1 and loop.t >= loop.t_end:
            return DONE
        while loop.boundary < memory.boundaries.shape[0] and memory.boundaries[loop.boundary] <= loop.t:
            loop.boundary += 1
            loop.made_jump = 1
        if loop.sample < memory.samples.shape[0] and memory.samples[loop.sample] <= loop.t < loop.t_end:
            loop.sample += 1
            loop.made_jump = 1
            loop.is_awaiting = 1
            return SAMPLE
        if is_full(loop, n_rows, n_pieces, n_log, memory.fired.shape[0], memory.phase_times.shape[0]):
            return BUFFER_FULL
        if 0 < loop.watches <= loop.n_stiff or 0 < loop.review <= loop.n_steps:
            loop.n_stiff = loop.review = 0
            return REVIEW
        if loop.n_steps >= last or loop.stop == 1:
            return PAUSE
        if loop.n_steps >= loop.max_steps:
            return TOO_MANY_STEPS
        if loop.made_jump == 1:
            status = restart(system, work, memory)
            if status != OK:
                return status
        if loop.has_begun == 0:
            loop.has_begun = 1
            record_row(loop, memory.y, work.inputs, memory.rows)
            if memory.fired.shape[0] > 0:
                events.take(values, events.G_START, G)
                events.start_sides(system.events, values, loop.simultaneous * abs(loop.t), memory.side)
            continue
        status = one_step(system, work, memory) if loop.failure == OK else loop.failure
        if status != OK:
            return status
