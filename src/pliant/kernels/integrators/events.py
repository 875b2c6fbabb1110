"""Values of event functions, the sides they are on, and firing; event_scan.py finds where they happen.

Symbols: g, gdot event functions and their rates; s = side (+1, -1) on which an event function is known to be, so that
rounding at a root cannot make an event fire twice. An event with a band has changed its side only when it is farther
beyond zero than that: one that rests at its zero does not fire by rounding.
"""

import math

from pliant.kernels._jit import EVENTS, routine
from pliant.kernels.algebra.dense import copy
from pliant.system.memory import FOUND
from pliant.system.status import Status

call_events = EVENTS.call  # numba sees it as a name of this module

MAX_KINKS = 20  # events in a row at one instant before kinks wait
MISSED_MARGIN = 16.0  # times the resolution of events

# rows of memory.event_values: newest, left of the newest, in a search, at both ends of the step; each with its rates
G, GDOT, G_LEFT, GDOT_LEFT, G_TRIAL, GDOT_TRIAL, G_START, GDOT_START, G_END, GDOT_END = range(10)
# at right ends, inside the step, of parts that are yet to be looked at: an odd number of halves, quarters, eighths
G_HALF, GDOT_HALF, G_QUARTER, GDOT_QUARTER, G_EIGHTH, GDOT_EIGHTH = range(10, 16)
OK, INTERRUPTED = int(Status.OK), int(Status.INTERRUPTED)


@routine
def resolution(stepping, h):
    """Events in a step of length h that are closer than this fire together [s]."""
    return stepping.simultaneous * max(abs(stepping.t), h)


@routine
def sign(x):
    return 1 if x > 0.0 else -1


@routine
def matches(event, direction):
    return event.direction == 0 or event.direction == direction


@routine
def evaluate(system, work, memory, t, y, ydot, row):
    """Event values at (t, y) into row (and the next, their rates). A failure is noted and ends the step."""
    values = memory.event_values
    if memory.stepping[0].stop == 1:
        memory.stepping[0].failure = INTERRUPTED
    if memory.stepping[0].failure != OK:
        return
    status = call_events(work.calls[0].events, (system, work, t, y, ydot, values[row], values[row + 1]))
    if status != OK:
        memory.stepping[0].failure = status


@routine
def take(values, source, row):
    """Copy values and rates."""
    copy(values[source], values[row])
    copy(values[source + 1], values[row + 1])


@routine
def start_sides(table, values, tolerance, side):
    """Sides at the start, from the newest values."""
    for k in range(side.shape[1]):
        begin_side(table[k], values[G, k], values[GDOT, k], tolerance, side, k)


@routine
def begin_side(event, g, gdot, tolerance, side, k):
    """Side of an event function that begins: sign of g; where g vanishes what the table says, or that of gdot; at rest
    there the crossing asked for is still to come."""
    if event.is_firm and g < math.inf:
        side[0, k] = event.start_side
    elif abs(g) > abs(gdot) * tolerance:
        side[0, k] = sign(g)
    elif event.start_side != 0:
        side[0, k] = event.start_side
    elif gdot != 0.0:
        side[0, k] = sign(gdot)
    elif event.direction != 0:
        side[0, k] = -event.direction


@routine
def accept_sides(table, values, side):
    """Sides at the accepted end of a step. Only crossings nobody asked for change one silently."""
    for k in range(side.shape[1]):
        s = side[1, k]
        is_passed = s * values[G, k] < -table[k].band and not matches(table[k], -s)
        side[0, k] = -s if is_passed else s


@routine
def renew_sides(table, values, fired, has_moved, side):
    """Sides after the event handler changed the phase, or y (has_moved): those of functions that jumped (G_TRIAL
    against G_LEFT, both at the state of the switch) begin anew, and of those with one side only; an event just fired
    keeps its side, but goes where gdot points if y has changed. Gaps change their side where they fire, and nowhere
    else."""
    for k in range(side.shape[1]):
        g, gdot = values[G, k], values[GDOT, k]
        if table[k].is_gap:
            continue
        if values[G_TRIAL, k] != values[G_LEFT, k] or (table[k].is_firm and table[k].direction != 0):
            begin_side(table[k], g, gdot, 0.0, side, k)
        elif has_moved == 1 and fired[k] != 0 and gdot != 0.0:
            side[0, k] = sign(gdot)


@routine
def is_chattering(stepping, event):
    """Whether a kink is passed to and fro without time passing: let one step go on beyond it."""
    return event.is_kink == 1 and event.is_firm == 0 and stepping.n_stagnant > MAX_KINKS


@routine
def is_missed(stepping, table, values, side, h):
    """Whether, at the end of a step that no event has ended, one is beyond its zero; stepping.target says which."""
    tolerance = MISSED_MARGIN * resolution(stepping, h)
    for k in range(side.shape[1]):
        s, event = side[1, k], table[k]
        is_beyond = s * values[G, k] < -event.band - tolerance * abs(values[GDOT, k])
        if is_beyond and matches(event, -s) and not is_chattering(stepping, event):
            stepping.target = k
            return True
    return False


@routine
def correction(stepping, table, values, side):
    """Newton's correction of the event time from g, gdot at the landing; an event already passed there comes first."""
    gdot = values[GDOT, stepping.target]
    tau = -values[G, stepping.target] / gdot if gdot != 0.0 else 0.0
    for k in range(side.shape[1]):
        s = side[1, k]
        g, gdot = s * values[G, k], s * values[GDOT, k]
        if k != stepping.target and g < -table[k].band and gdot < 0.0 and matches(table[k], -s) and -g / gdot < tau:
            tau = -g / gdot
            stepping.target, stepping.target_direction = k, -s
    return tau


@routine
def is_resting(event, values, s, k):
    """Whether the step began in the band of the event: what it does there is rounding."""
    return event.band > 0.0 and s * values[G_START, k] <= event.band


@routine
def is_due(event, values, s, tolerance, k):
    """Whether an event happens within the tolerance [s], or is a gap that vanishes and does not change."""
    g, gdot = s * values[G, k], s * values[GDOT, k]
    if not matches(event, -s) or is_resting(event, values, s, k):
        return False
    return (gdot < 0.0 and g <= -gdot * tolerance) or (event.is_gap == 1 and s > 0 and g == 0.0 and gdot == 0.0)


@routine
def log_found(stepping, fired, log):
    """Events that the decision at an instant has found."""
    for k in range(fired.shape[0]):
        if fired[k] == FOUND:
            fired[k] = -1
            entry = log[stepping.n_log]
            entry.event, entry.direction, entry.t = k, -1, stepping.t
            stepping.n_log += 1


@routine
def fire(stepping, table, values, tolerance, side, fired, log):
    """Fill fired: the target and all that are due at the same instant; sides change, the log grows."""
    accept_sides(table, values, side)
    for k in range(fired.shape[0]):
        s, g, gdot = side[1, k], values[G, k], values[GDOT, k]
        fired[k] = 0
        if k == stepping.target:
            fired[k] = stepping.target_direction
        elif is_due(table[k], values, s, tolerance, k):
            fired[k] = -s
        if fired[k] != 0:
            side[0, k] = fired[k]
            entry = log[stepping.n_log]
            entry.event, entry.direction, entry.t = k, fired[k], stepping.t
            stepping.n_log += 1
            # kinks of friction may be passed at hardly any rate, and do not matter to that
            if gdot != 0.0 and not table[k].is_kink:
                stepping.event_error = max(stepping.event_error, abs(g / gdot))
    stepping.n_events += 1
