"""Where events happen in a step: scan of its dense output, and root finding. Imports _jit, algebra and system only.

Symbols: as in events.py; theta in [0, 1]: place in the step, a and b ends of a part of it.
"""

import math

from pliant.kernels._jit import routine
from pliant.kernels.algebra.dense import copy
from pliant.kernels.integrators.events import (
    G_EIGHTH,
    G_END,
    G_HALF,
    G_LEFT,
    G_QUARTER,
    G_START,
    G_TRIAL,
    GDOT,
    GDOT_LEFT,
    GDOT_TRIAL,
    G,
    evaluate,
    is_chattering,
    matches,
    resolution,
    take,
)
from pliant.system.status import Status
from pliant.system.work import ABOUT_AT_END

OK = int(Status.OK)

N_PARTS = 8  # of a step, at most, that are looked at apart: halves of halves of halves
MAX_ROOT_STEPS = 80
ROOT_TOLERANCE, MIN_THETA = 1e-15, 1e-3  # of theta, but of MIN_THETA where theta is less
MAX_ROTATION = 1.5  # [rad] of a body in a step that is scanned for events
ABOUT_NEARNESS = 2.0  # more of this is near where g is known about only
NONE = 2.0  # a theta outside the step: nothing found


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
def evaluate_inside(system, work, memory, theta, h, row):
    """Event values at theta of the step just made, on its dense output, into row (and the next, their rates)."""
    x, xdot = memory.scratch[0], memory.scratch[1]
    dense_point(memory.dense, theta, h, x, xdot)
    evaluate(system, work, memory, memory.stepping[0].t + theta * h, x, xdot, row)


# --- roots ------------------------------------------------------------------------------------------------------------


@routine
def root(system, work, memory, h, k, row, a, fa, b, fb):
    """Zero of trial value `row` (g or gdot) of event k between a and b, where it changes sign: Illinois."""
    values, theta, last = memory.event_values, b, 0
    work.run[0].only_event = k + 1 if row == G_TRIAL else 0
    for _ in range(MAX_ROOT_STEPS):
        if memory.stepping[0].failure != OK:
            break
        before = theta
        theta = (a * fb - b * fa) / (fb - fa)
        if not a < theta < b:
            theta = 0.5 * (a + b)
        elif theta == before:
            break
        evaluate_inside(system, work, memory, theta, h, G_TRIAL)
        f = values[row, k]
        if (f > 0.0) == (fb > 0.0):
            b, fb = theta, f
            fa = 0.5 * fa if last == 1 else fa
            last = 1
        else:
            a, fa = theta, f
            fb = 0.5 * fb if last == -1 else fb
            last = -1
        if f == 0.0 or b - a <= ROOT_TOLERANCE * (b + MIN_THETA):
            break
    work.run[0].only_event = 0
    return theta


@routine
def crossing_after_zero(system, work, memory, h, k, a, b, gb):
    """First crossing in [a, b] of an event whose g is zero at a but for rounding, grows there, and has crossed at b."""
    values, s, right, f_right = memory.event_values, memory.side[1, k], b, gb
    for _ in range(MAX_ROOT_STEPS):
        if memory.stepping[0].failure != OK:
            break
        theta = 0.5 * (a + right)
        evaluate_inside(system, work, memory, theta, h, G_TRIAL)
        g = s * values[G_TRIAL, k]
        if g > 0.0:
            return root(system, work, memory, h, k, G_TRIAL, theta, s * g, right, s * f_right)
        right, f_right = theta, g
        if right - a <= ROOT_TOLERANCE * (b + MIN_THETA) or g == 0.0:
            break
    return a


@routine
def crossing_of_sign(system, work, memory, h, k, a, b):
    """First crossing of event k in [a, b], whose g has changed its side at b."""
    values, s = memory.event_values, memory.side[1, k]
    ga, gb = s * values[G_LEFT, k], s * values[G, k]
    if not ga <= 0.0:
        return root(system, work, memory, h, k, G_TRIAL, a, s * ga, b, s * gb)
    # at a g is zero but for rounding: it first goes back to its side, or goes over at once
    if s * values[GDOT_LEFT, k] > 0.0:
        return crossing_after_zero(system, work, memory, h, k, a, b, gb)
    return a


@routine
def crossing_in_dip(system, work, memory, h, k, a, b):
    """The same of an event that is on its side at a and b, but dips between them: (theta, direction)."""
    values, s, event = memory.event_values, memory.side[1, k], system.events[k]
    ga, gb = s * values[G_LEFT, k], s * values[G, k]
    da, db = s * values[GDOT_LEFT, k], s * values[GDOT, k]
    lowest = root(system, work, memory, h, k, GDOT_TRIAL, a, s * da, b, s * db)
    g = s * values[G_TRIAL, k]
    if g >= -event.band:
        return NONE, 0
    if matches(event, -s):
        # on the way down
        if ga <= 0.0:
            return a, -s
        return root(system, work, memory, h, k, G_TRIAL, a, s * ga, lowest, s * g), -s
    if gb < 0.0:
        return NONE, 0
    # on the way up
    return root(system, work, memory, h, k, G_TRIAL, lowest, s * g, b, s * gb), s


@routine
def crossing(system, work, memory, h, k, a, b, tolerance):
    """First crossing of event k in [a, b] that matches its direction: (theta, direction); NONE if there is none.

    The values at a are those of the left rows, at b the newest; g at a counts as being on its side. One that is less
    than a tolerance [s] before b counts as being at b, where another event has been found."""
    values, s, event = memory.event_values, memory.side[1, k], system.events[k]
    ga, gb = s * values[G_LEFT, k], s * values[G, k]
    da, db = s * values[GDOT_LEFT, k], s * values[GDOT, k]
    if gb < -event.band - tolerance * abs(db):
        if matches(event, -s):
            return crossing_of_sign(system, work, memory, h, k, a, b), -s
        return NONE, 0
    # a dip between two samples that may reach zero
    if da < 0.0 < db and min(ga, gb) < 2.0 * (b - a) * h * max(-da, db):
        return crossing_in_dip(system, work, memory, h, k, a, b)
    return NONE, 0


# --- the scan ---------------------------------------------------------------------------------------------------------


@routine
def are_near(system, work, memory, h):
    """Whether some event may happen in the step just made. Leaves the values at the end in the newest rows, and the
    sides as at the start, as find_event does.

    Where kinematics are about those of the end only, that will do while nothing is near."""
    run = work.run[0]
    is_about = run.is_at_end == ABOUT_AT_END
    is_near = is_near_step(system, work, memory, h, is_about)
    if is_near and is_about:
        run.is_at_end = 0
        is_near = is_near_step(system, work, memory, h, False)
    return is_near


@routine
def is_near_step(system, work, memory, h, is_about):
    """The same with the kinematics that work has; is_about: which are about those of the end only."""
    copy(memory.side[0], memory.side[1])
    evaluate(system, work, memory, memory.stepping[0].t + h, memory.y_new, memory.f_new, G_END)
    take(memory.event_values, G_END, G)
    return is_near_between(system, work, memory, G_START, G_END, h, is_about)


@routine
def is_near_between(system, work, memory, left, right, h, is_about):
    """Whether some event may happen in a part of length h of a step, with values at its ends in these rows: its g is
    not farther from zero than it bends."""
    values, side, max_angular_speed = memory.event_values, memory.side, work.run[0].max_angular_speed
    for k in range(side.shape[1]):
        a, b = values[left, k], values[right, k]
        if (a == math.inf and b == math.inf) or is_chattering(memory.stepping[0], system.events[k]):
            continue
        if h * max_angular_speed > MAX_ROTATION:
            return True
        # how far g bends away from the line between its ends: a cubic with these rates by less than a sixth of this
        bend = abs(h * values[left + 1, k] - (b - a)) + abs(h * values[right + 1, k] - (b - a))
        if is_about:
            bend = ABOUT_NEARNESS * (bend + abs(b - a))
        if not min(side[1, k] * a, side[1, k] * b) > bend:
            return True
    return False


@routine
def first_crossing(system, work, memory, h, a, b):
    """Earliest matching crossing of all events in [a, b] (its theta, or NONE), with stepping.target and its direction.

    Whatever comes before one that is found lies left of it: it becomes the right end, with the newest values."""
    stepping, first, tolerance = memory.stepping[0], NONE, 0.0
    for k in range(memory.side.shape[1]):
        if is_chattering(stepping, system.events[k]):
            continue
        theta, direction = crossing(system, work, memory, h, k, a, b, tolerance)
        if theta < first:
            first, stepping.target, stepping.target_direction = theta, k, direction
            if theta > a:
                b, tolerance = theta, resolution(stepping, h)
                evaluate_inside(system, work, memory, b, h, G)
        if stepping.failure != OK or first == a:
            break
    return first


@routine
def pass_silently(table, values, side):
    """Sides, while scanning, of events that cross in a direction nobody asked for."""
    for k in range(side.shape[1]):
        if side[1, k] * values[G, k] < -table[k].band:
            side[1, k] = -side[1, k]


@routine
def row_at(part):
    """Where values at the right end of this part of the step are, of N_PARTS: no two that are needed at a time meet."""
    if part == N_PARTS:
        return G_END
    return G_EIGHTH if part % 2 == 1 else G_QUARTER if part % 4 == 2 else G_HALF


@routine
def find_event(system, work, memory, h):
    """Earliest matching crossing in the step just made (its theta, or NONE); stepping.target says which and how.

    From left to right; a part in which an event may happen is halved before it is looked at."""
    values, side = memory.event_values, memory.side
    copy(side[0], side[1])
    take(values, G_START, G_LEFT)
    left, right = 0, N_PARTS
    while left < N_PARTS:
        a, b = left / N_PARTS, right / N_PARTS
        is_near = is_near_between(system, work, memory, G_LEFT, row_at(right), (b - a) * h, False)
        if is_near and right - left > 1:
            right = (left + right) // 2
            evaluate_inside(system, work, memory, right / N_PARTS, h, row_at(right))
            if memory.stepping[0].failure != OK:
                return NONE
            continue
        take(values, row_at(right), G)
        if is_near:
            theta = first_crossing(system, work, memory, h, a, b)
            if memory.stepping[0].failure != OK:
                return NONE
            if theta <= 1.0:
                return theta
            pass_silently(system.events, values, side)
        take(values, G, G_LEFT)
        # the next right end at which values are known: left without its lowest bit, but for that twice
        left = right
        right = left + (left & -left)
    return NONE
