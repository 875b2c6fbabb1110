"""Where the unknown forces of friction pairs at rest stand in J, in M^-1 J^T and in W; after every change of phase.

A pair moves and is moved by the velocities of the trees that its bodies belong to (a span of velocities, all of them
where loops connect trees). Pairs whose spans do not meet go through M^-1 as one, in one lane. Unknowns whose spans
meet, and all between them, are a range: W has no entries between ranges.
"""

from pliant.kernels._jit import kernel, routine
from pliant.system.work import (
    LANE,
    LANE_END,
    RANGE_END,
    RANGE_SPAN_END,
    RANGE_SPAN_FIRST,
    SLACK_BEFORE,
    SPAN_END,
    SPAN_FIRST,
)


@routine
def put_spans(system, work):
    """Of every unknown: the first velocity of its span, and the one after the last."""
    places, is_coupled, n_v = work.stick_places, work.run[0].is_coupled, system.world[0].n_v
    for k in range(len(system.contacts)):
        i, contact = work.contacts[k].unknown, system.contacts[k]
        if i >= 0:
            for a in range(i, i + (1 if system.world[0].is_planar else 2)):
                places[SPAN_FIRST, a] = 0 if is_coupled else contact.span_first
                places[SPAN_END, a] = n_v if is_coupled else contact.span_end
    for k in range(len(system.joint_frictions)):
        i, joint = work.joint_frictions[k].unknown, system.joint_frictions[k]
        if i >= 0:
            places[SPAN_FIRST, i] = 0 if is_coupled else joint.span_first
            places[SPAN_END, i] = n_v if is_coupled else joint.span_end


@kernel
def do_meet(places, i, j):
    return places[SPAN_FIRST, i] < places[SPAN_END, j] and places[SPAN_FIRST, j] < places[SPAN_END, i]


@routine
def put_ranges(work, n):
    """Of every unknown: the end of its range, and the velocities between which all spans of the range are."""
    places, first = work.stick_places, 0
    while first < n:
        end, i = first + 1, first
        low, high = places[SPAN_FIRST, first], places[SPAN_END, first]
        while i < end:
            if i + 1 < n and work.stick_first[i + 1] == work.stick_first[i]:
                end = max(end, i + 2)
            j = n - 1
            while j >= end and not do_meet(places, i, j):
                j -= 1
            end = max(end, j + 1)
            low, high = min(low, places[SPAN_FIRST, i]), max(high, places[SPAN_END, i])
            i += 1
        for k in range(first, end):
            places[RANGE_END, k], places[RANGE_SPAN_FIRST, k], places[RANGE_SPAN_END, k] = end, low, high
        first = end


@routine
def put_lanes(places, n):
    """Of every unknown the first lane whose velocities end before its own; how many lanes there are."""
    n_lanes = 0
    for i in range(n):
        lane = 0
        while lane < n_lanes and places[LANE_END, lane] > places[SPAN_FIRST, i]:
            lane += 1
        n_lanes = max(n_lanes, lane + 1)
        places[LANE, i], places[LANE_END, lane] = lane, places[SPAN_END, i]
    return n_lanes


@routine
def place_unknowns(system, work):
    """Unknowns are numbered. J is zero outside their spans from now on; forces follow those of an evaluation before
    (follow_steps.py) within one phase only, so that they depend on nothing earlier."""
    run, J = work.run[0], work.stick_jacobian
    put_spans(system, work)
    put_ranges(work, run.n_sticking)
    run.n_stick_lanes = put_lanes(work.stick_places, run.n_sticking)
    for i in range(run.n_sticking):
        work.stick_force[SLACK_BEFORE, i] = 0.0
        for j in range(J.shape[1]):
            J[i, j] = 0.0


@routine
def place_again(system, work):
    """Place unknowns anew where a semi-implicit stage begins or ends whose stiff forces connect trees by rows."""
    is_coupled = 1 if work.run[0].implicit_step > 0.0 and work.run[0].n_rows > 0 else 0
    if work.run[0].is_coupled != is_coupled:
        work.run[0].is_coupled = is_coupled
        place_unknowns(system, work)
