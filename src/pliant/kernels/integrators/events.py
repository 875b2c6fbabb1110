"""Where events happen in a step: scan of the dense output, root finding, sides, firing. Imports _jit and system only.

Symbols: g, gdot event functions and their rates; s = side (+1, -1) on which an event function is known to be, so that
rounding at a root cannot make an event fire twice. theta in [0, 1]: place in the step. An event with a band has changed
its side only when it is farther beyond zero than that: one that rests at its zero fires at no rounding.
"""

import math

from pliant.kernels._jit import EVENTS, routine
from pliant.kernels.algebra.dense import copy
from pliant.system.memory import FOUND
from pliant.system.status import Status

call_events = EVENTS.call  # numba sees it as a name of this module

N_SAMPLES = 8  # per step
MAX_ROOT_STEPS = 80
MOST_TURN = 1.5  # [rad] of a body in a step that is scanned for events
MOST_KINKS = 20  # events in a row at one instant before kinks wait
FAR = 1.0  # times what g seems to move in a step; a cubic with these ends dips by less than a sixth of that
NONE = 2.0  # a theta outside the step: nothing found

# rows of memory.event_values: newest, left of the newest, in a search, at both ends of the step; each with its rates
G, GDOT, G_LEFT, GDOT_LEFT, G_TRIAL, GDOT_TRIAL, G_START, GDOT_START, G_END, GDOT_END = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
OK, INTERRUPTED = int(Status.OK), int(Status.INTERRUPTED)


@routine
def sign(x):
    return 1 if x > 0.0 else -1


@routine
def matches(event, direction):
    return event.direction == 0 or event.direction == direction


@routine
def dense_point(r, theta, h, out, rate):
    """out = y(theta), rate = dy/dt."""
    n_terms, n = r.shape
    for i in range(n):
        out[i] = r[n_terms - 1, i]
        rate[i] = 0.0
    for k in range(n_terms - 2, -1, -1):
        factor, slope = (theta, 1.0 / h) if k % 2 == 0 else (1.0 - theta, -1.0 / h)
        for i in range(n):
            rate[i] = slope * out[i] + factor * rate[i]
            out[i] = r[k, i] + factor * out[i]


@routine
def evaluate(system, work, memory, t, y, ydot, row):
    """Event values at (t, y) into row (and the next, their rates). A failure is noted and ends the step."""
    values = memory.event_values
    if memory.loop[0].stop == 1:
        memory.loop[0].failure = INTERRUPTED
    if memory.loop[0].failure != OK:
        return
    status = call_events(work.run[0].events, (system, work, t, y, ydot, values[row], values[row + 1]))
    if status != OK:
        memory.loop[0].failure = status


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
def settle_sides(table, values, side):
    """Sides at the accepted end of a step. Only crossings nobody asked for change one silently."""
    for k in range(side.shape[1]):
        s = side[1, k]
        is_passed = s * values[G, k] < -table[k].band and not matches(table[k], -s)
        side[0, k] = -s if is_passed else s


@routine
def renew_sides(table, values, fired, has_moved, side):
    """Sides after the event handler changed the phase, or y (has_moved): those of functions that jumped begin anew, and
    of those with one side only; an event just fired keeps its side, but goes where gdot points if y has changed."""
    for k in range(side.shape[1]):
        g, gdot = values[G, k], values[GDOT, k]
        if g != values[G_LEFT, k] or (table[k].is_firm and table[k].direction != 0):
            begin_side(table[k], g, gdot, 0.0, side, k)
        elif has_moved == 1 and fired[k] != 0 and gdot != 0.0:
            side[0, k] = sign(gdot)


@routine
def root(system, work, memory, h, k, row, a, fa, b, fb):
    """Zero of trial value `row` (g or gdot) of event k between a and b, where it changes sign: Illinois."""
    values, x, xdot, t = memory.event_values, memory.scratch[0], memory.scratch[1], memory.loop[0].t
    theta, last = b, 0
    for _ in range(MAX_ROOT_STEPS):
        if memory.loop[0].failure != OK:
            break
        before = theta
        theta = (a * fb - b * fa) / (fb - fa)
        if not a < theta < b:
            theta = 0.5 * (a + b)
        elif theta == before:
            break
        dense_point(memory.dense, theta, h, x, xdot)
        evaluate(system, work, memory, t + theta * h, x, xdot, G_TRIAL)
        f = values[row, k]
        if (f > 0.0) == (fb > 0.0):
            b, fb = theta, f
            fa = 0.5 * fa if last == 1 else fa
            last = 1
        else:
            a, fa = theta, f
            fb = 0.5 * fb if last == -1 else fb
            last = -1
        if f == 0.0 or b - a <= 1e-15 * (b + 1e-3):
            break
    return theta


@routine
def leaving(system, work, memory, h, k, a, b, gb):
    """First crossing in [a, b] of an event whose g is zero at a but for rounding, grows there, and has crossed at b."""
    values, x, xdot = memory.event_values, memory.scratch[0], memory.scratch[1]
    s, right, f_right = memory.side[1, k], b, gb
    for _ in range(MAX_ROOT_STEPS):
        if memory.loop[0].failure != OK:
            break
        theta = 0.5 * (a + right)
        dense_point(memory.dense, theta, h, x, xdot)
        evaluate(system, work, memory, memory.loop[0].t + theta * h, x, xdot, G_TRIAL)
        g = s * values[G_TRIAL, k]
        if g > 0.0:
            return root(system, work, memory, h, k, G_TRIAL, theta, s * g, right, s * f_right)
        right, f_right = theta, g
        if right - a <= 1e-15 * (b + 1e-3) or g == 0.0:
            break
    return a


@routine
def crossing(system, work, memory, h, k, a, b, tolerance):
    """First crossing of event k in [a, b] that matches its direction: (theta, direction); NONE if there is none.

    The values at a are those of the left rows, at b the newest; g at a counts as being on its side. One that is less
    than a tolerance [s] before b counts as being at b, where another event has been found."""
    values, s, event = memory.event_values, memory.side[1, k], system.events[k]
    ga, gb = s * values[G_LEFT, k], s * values[G, k]
    da, db = s * values[GDOT_LEFT, k], s * values[GDOT, k]
    is_crossed = gb < -event.band - tolerance * abs(db)
    if is_crossed and not matches(event, -s):
        return NONE, 0
    # a dip between two samples that may reach zero
    is_turning = not is_crossed and da < 0.0 < db and min(ga, gb) < 2.0 * (b - a) * h * max(-da, db)
    if not (is_crossed or is_turning):
        return NONE, 0
    if is_crossed and ga <= 0.0:
        # at a g is zero but for rounding: it goes over at once, or first goes back to its side
        return (leaving(system, work, memory, h, k, a, b, gb) if da > 0.0 else a), -s
    row, direction = (GDOT_TRIAL if is_turning else G_TRIAL), -s
    left, f_left, right, f_right = (a, da, b, db) if is_turning else (a, ga, b, gb)
    while True:
        theta = root(system, work, memory, h, k, row, left, s * f_left, right, s * f_right)
        if row == G_TRIAL:
            return theta, direction
        # the extremum is found: which side of it brackets the crossing
        row, g = G_TRIAL, s * values[G_TRIAL, k]
        left, f_left, right, f_right = a, ga, b, gb
        if g >= -event.band:
            return NONE, 0
        elif matches(event, -s):
            if ga <= 0.0:
                return a, -s
            right, f_right = theta, g
        elif gb < 0.0:
            return NONE, 0
        else:
            left, f_left, direction = theta, g, s


@routine
def is_tired(loop, event):
    """Whether a kink has been passed to and fro without time passing: let one step go on beyond it."""
    return event.is_kink == 1 and event.is_firm == 0 and loop.n_standing > MOST_KINKS


@routine
def are_near(system, work, memory, h):
    """Whether some event may happen in the step just made: its g is not farther from zero than it moves.

    Leaves the values at the end in the newest rows and the sides as at the start, as find_event does."""
    loop, values, side = memory.loop[0], memory.event_values, memory.side
    copy(side[0], side[1])
    evaluate(system, work, memory, loop.t + h, memory.y_new, memory.f_new, G_END)
    take(values, G_END, G)
    for k in range(side.shape[1]):
        a, b = values[G_START, k], values[G, k]
        if (a == math.inf and b == math.inf) or is_tired(loop, system.events[k]):
            continue
        if h * work.run[0].turning > MOST_TURN:
            return True
        moved = abs(b - a) + h * (abs(values[GDOT_START, k]) + abs(values[GDOT, k]))
        if not min(side[1, k] * a, side[1, k] * b) > FAR * moved:
            return True
    return False


@routine
def is_missed(loop, table, values, side, h):
    """Whether, at the end of a step that no event has ended, one is beyond its zero; loop.target says which."""
    tolerance = 16.0 * loop.simultaneous * max(abs(loop.t), h)
    for k in range(side.shape[1]):
        s, event = side[1, k], table[k]
        is_beyond = s * values[G, k] < -event.band - tolerance * abs(values[GDOT, k])
        if is_beyond and matches(event, -s) and not is_tired(loop, event):
            loop.target = k
            return True
    return False


@routine
def find_event(system, work, memory, h):
    """Earliest matching crossing in the step just made (its theta, or NONE); loop.target says which and how."""
    loop, values, side = memory.loop[0], memory.event_values, memory.side
    copy(side[0], side[1])
    x, xdot = memory.scratch[0], memory.scratch[1]
    take(values, G_START, G)
    for sample in range(1, N_SAMPLES + 1):
        b = sample / N_SAMPLES
        take(values, G, G_LEFT)
        if sample == N_SAMPLES:
            take(values, G_END, G)
        else:
            dense_point(memory.dense, b, h, x, xdot)
            evaluate(system, work, memory, loop.t + b * h, x, xdot, G)
        first, a, tolerance = NONE, b - 1.0 / N_SAMPLES, 0.0
        for k in range(side.shape[1]):
            if is_tired(loop, system.events[k]):
                continue
            theta, direction = crossing(system, work, memory, h, k, a, b, tolerance)
            if theta < first:
                first, loop.target, loop.target_direction = theta, k, direction
                if theta > a:
                    # whatever comes first lies before it
                    b, tolerance = theta, loop.simultaneous * max(abs(loop.t), h)
                    dense_point(memory.dense, b, h, x, xdot)
                    evaluate(system, work, memory, loop.t + b * h, x, xdot, G)
            if loop.failure != OK or first == a:
                break
        if loop.failure != OK:
            return NONE
        if first <= 1.0:
            return first
        # crossings in the other direction pass silently
        for k in range(side.shape[1]):
            if side[1, k] * values[G, k] < -system.events[k].band:
                side[1, k] = -side[1, k]
    return NONE


@routine
def correction(loop, table, values, side):
    """Newton's correction of the event time from g, gdot at the landing; an event already passed there comes first."""
    gdot = values[GDOT, loop.target]
    tau = -values[G, loop.target] / gdot if gdot != 0.0 else 0.0
    for k in range(side.shape[1]):
        s = side[1, k]
        g, gdot = s * values[G, k], s * values[GDOT, k]
        if k != loop.target and g < -table[k].band and gdot < 0.0 and matches(table[k], -s) and -g / gdot < tau:
            tau = -g / gdot
            loop.target, loop.target_direction = k, -s
    return tau


@routine
def is_resting(event, values, s, k):
    """Whether the step began in the band of the event: what it does there is rounding."""
    return event.band > 0.0 and s * values[G_START, k] <= event.band


@routine
def log_found(loop, fired, log):
    """Events that the decision at an instant has found."""
    for k in range(fired.shape[0]):
        if fired[k] == FOUND:
            fired[k] = -1
            entry = log[loop.n_log]
            entry.event, entry.direction, entry.t = k, -1, loop.t
            loop.n_log += 1


@routine
def fire(loop, table, values, tolerance, side, fired, log):
    """Fill fired: the target and all that are due at the same instant; sides change, the log grows."""
    settle_sides(table, values, side)
    for k in range(fired.shape[0]):
        s = side[1, k]
        g, gdot = s * values[G, k], s * values[GDOT, k]
        fired[k] = 0
        if k == loop.target:
            fired[k] = loop.target_direction
        elif gdot < 0.0 and g <= -gdot * tolerance and matches(table[k], -s) and not is_resting(table[k], values, s, k):
            fired[k] = -s
        if fired[k] != 0:
            side[0, k] = fired[k]
            entry = log[loop.n_log]
            entry.event, entry.direction, entry.t = k, fired[k], loop.t
            loop.n_log += 1
            # kinks of friction may be passed at hardly any rate, and do not matter to that
            if gdot != 0.0 and not table[k].is_kink:
                loop.event_error = max(loop.event_error, abs(g / gdot))
    loop.n_events += 1
