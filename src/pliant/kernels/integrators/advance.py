"""Advancing time: the resumable integration of all methods. Knows no robot, no method.

It returns with a Status; called again it goes on exactly where it was. Steps end on boundaries (kinks of signals),
samples (controllers), events and t_end.
"""

import math

from pliant.kernels._jit import ADVANCE, CONTROL, SWITCH, kernel, routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.integrators import events
from pliant.kernels.integrators.event_scan import MAX_ROTATION
from pliant.kernels.integrators.events import G_START, G
from pliant.kernels.integrators.growth import begin_growth, failure, has_grown
from pliant.kernels.integrators.landing import find_step
from pliant.kernels.integrators.records import is_full, record_inputs, record_piece, record_row
from pliant.kernels.integrators.restart import restart
from pliant.kernels.integrators.step_control import (
    control,
    count_stiff_steps,
    has_stalled,
    min_step,
    next_stop,
    step_past_dead_point,
    step_to,
)
from pliant.system.control_tables import SAME_INSTANT
from pliant.system.memory import CHANGED_INPUT, MADE_JUMP
from pliant.system.status import Status

# numba sees the callers as names of this module
call_switch = SWITCH.call
call_control = CONTROL.call

OK, DONE, BUFFER_FULL, SAMPLE = int(Status.OK), int(Status.DONE), int(Status.BUFFER_FULL), int(Status.SAMPLE)
PAUSE, SWITCHED, REVIEW = int(Status.PAUSE), int(Status.SWITCHED), int(Status.REVIEW)
STEP_TOO_SMALL, EVENT_MISSED = int(Status.STEP_TOO_SMALL), int(Status.EVENT_MISSED)
TOO_MANY_STEPS, EVENT_NOT_LOCATED = int(Status.TOO_MANY_STEPS), int(Status.EVENT_NOT_LOCATED)
GROWN, STALLED = int(Status.GROWN), int(Status.STALLED)

MAX_STAGNANT_STEPS = 100  # in a row of hardly any length, or 4 times as many as there are events


@routine
def note_fractional_forces(stepping, table, fired):
    """Since when a force acts that has begun as a fractional power of time. Where one begins and one ends, the
    beginning counts."""
    for k in range(fired.shape[0]):
        if fired[k] > 0 and table[k].is_fractional:
            stepping.root_time = -math.inf
    for k in range(fired.shape[0]):
        if fired[k] < 0 and table[k].is_fractional:
            stepping.root_time = stepping.t


@routine
def fire_events(system, work, memory):
    """Fire what is due and let the event handler act."""
    stepping, values = memory.stepping[0], memory.event_values
    tolerance = events.resolution(stepping, stepping.h_made)
    events.fire(stepping, system.events, values, tolerance, memory.side, memory.fired, memory.log)
    before = memory.scratch[3]
    copy(memory.y, before)
    status = call_switch(work.calls[0].switch, (system, work, stepping.t, memory.y, memory.fired))
    if status != SWITCHED:
        return status
    stepping.made_jump = MADE_JUMP
    stepping.was_switched = 1
    stepping.has_moved = 0
    note_fractional_forces(stepping, system.events, memory.fired)
    for i in range(before.shape[0]):
        if before[i] != memory.y[i]:
            stepping.has_moved = 1
    if stepping.has_moved == 1:
        record_row(stepping, memory.y, work.inputs, memory.rows)
    return OK


@routine
def wanted_step(stepping, max_angular_speed):
    """Step that the controller wants [s]; the scan for events must not miss whole revolutions."""
    wanted = stepping.h_fixed if stepping.is_fixed == 1 else min(stepping.h, stepping.max_step)
    if stepping.is_fixed == 0 and max_angular_speed * wanted > MAX_ROTATION:
        wanted = MAX_ROTATION / max_angular_speed
    return max(wanted, min_step(stepping))


@routine
def begin_step(stepping, work, memory):
    """The first trial step, into stepping.h_made; returns the step wanted."""
    wanted = wanted_step(stepping, work.run[0].max_angular_speed)
    trial = step_past_dead_point(stepping, work.dead_point[0].t_expected, wanted)
    stepping.h_made = step_to(stepping, trial, next_stop(stepping, memory.boundaries, memory.samples))
    return wanted


@routine
def judge_step(stepping, h, wanted, n_events):
    """The next step, from the one that was found; OK, or why there is none."""
    control(stepping, h, wanted)
    # every call raises t or this
    stepping.n_stagnant = stepping.n_stagnant + 1 if h <= min_step(stepping) else 0
    if stepping.n_stagnant > max(MAX_STAGNANT_STEPS, 4 * n_events):
        return EVENT_NOT_LOCATED if stepping.target >= 0 else STEP_TOO_SMALL
    return OK


@routine
def pass_time(stepping, memory, h):
    stop = next_stop(stepping, memory.boundaries, memory.samples)
    stepping.t = stop if h == stop - stepping.t else stepping.t + h
    stepping.n_steps += 1
    if stepping.watches > 0:
        count_stiff_steps(stepping)


@routine
def accept(work, memory, h):
    """t and y go on by the step just made, which is recorded."""
    stepping = memory.stepping[0]
    if stepping.wants_dense == 1:
        record_piece(stepping, h, memory.dense, memory.piece_times, memory.piece_terms)
    pass_time(stepping, memory, h)
    copy(memory.y_new, memory.y)
    copy(memory.f_new, memory.f)
    record_row(stepping, memory.y, work.inputs, memory.rows)


@routine
def one_step(system, work, memory):
    """One accepted step with the event that may end it."""
    stepping = memory.stepping[0]
    wanted = begin_step(stepping, work, memory)
    n_rejected = stepping.n_rejected
    status = find_step(system, work, memory)
    if status != OK:
        return failure(system, work, memory, status)
    h = stepping.h_made
    status = judge_step(stepping, h, wanted if n_rejected == stepping.n_rejected else h, memory.fired.shape[0])
    if status != OK:
        return status
    if h > 0.0:
        accept(work, memory, h)
        if has_stalled(stepping):
            return STALLED
        if has_grown(system, work, memory):
            return GROWN
    if memory.fired.shape[0] > 0:
        events.take(memory.event_values, G, G_START)
    if stepping.target >= 0:
        return fire_events(system, work, memory)
    if events.is_missed(stepping, system.events, memory.event_values, memory.side, h):
        return EVENT_MISSED
    events.accept_sides(system.events, memory.event_values, memory.side)
    return OK


@routine
def begin(system, work, memory):
    """The first row, and the sides of all events."""
    stepping = memory.stepping[0]
    stepping.has_begun = 1
    record_row(stepping, memory.y, work.inputs, memory.rows)
    begin_growth(system, work, memory)
    if memory.fired.shape[0] > 0:
        events.take(memory.event_values, G_START, G)
        tolerance = stepping.simultaneous * abs(stepping.t)
        events.start_sides(system.events, memory.event_values, tolerance, memory.side)


@kernel
def note_new_input(stepping):
    """Note that forces change, not the state; a jump made at the same instant prevails."""
    if stepping.made_jump == 0:
        stepping.made_jump = CHANGED_INPUT


@routine
def sample_controllers(system, work, memory):
    """Let the controllers with a law act at t."""
    stepping = memory.stepping[0]
    args = (system, work, stepping.t, memory.y, 1 - stepping.has_begun)
    stepping.t_control = call_control(work.calls[0].control, args)
    note_new_input(stepping)
    record_inputs(stepping, work.inputs, memory.rows)


@routine
def reason_to_return(stepping, memory, last_step):
    """What is due for Python before the next step; OK: nothing."""
    if stepping.has_begun == 1 and stepping.t >= stepping.t_end:
        return DONE
    while stepping.boundary < memory.boundaries.shape[0] and memory.boundaries[stepping.boundary] <= stepping.t:
        stepping.boundary += 1
        note_new_input(stepping)
    has_sample = stepping.sample < memory.samples.shape[0] and stepping.t < stepping.t_end
    if has_sample and memory.samples[stepping.sample] <= stepping.t + SAME_INSTANT:
        stepping.sample += 1
        note_new_input(stepping)
        stepping.is_awaiting = 1
        return SAMPLE
    if is_full(stepping, memory):
        return BUFFER_FULL
    if 0 < stepping.watches <= stepping.n_stiff or 0 < stepping.review <= stepping.n_steps:
        stepping.n_stiff = stepping.review = 0
        return REVIEW
    if stepping.n_steps >= last_step or stepping.stop == 1:
        return PAUSE
    if stepping.n_steps >= stepping.max_steps:
        return TOO_MANY_STEPS
    return OK


@kernel(ADVANCE)
def advance(system, work, memory):
    """Go on until something is due."""
    stepping = memory.stepping[0]
    if stepping.is_awaiting == 1:
        stepping.is_awaiting = 0
        record_inputs(stepping, work.inputs, memory.rows)
    last_step = stepping.n_steps + stepping.budget
    while True:
        if stepping.t_control <= stepping.t + SAME_INSTANT and stepping.t < stepping.t_end:
            sample_controllers(system, work, memory)
        status = reason_to_return(stepping, memory, last_step)
        if status == OK and stepping.made_jump != 0:
            status = restart(system, work, memory)
        if status != OK:
            return status
        if stepping.has_begun == 0:
            begin(system, work, memory)
            continue
        status = one_step(system, work, memory) if stepping.failure == OK else stepping.failure
        if status != OK:
            return status
