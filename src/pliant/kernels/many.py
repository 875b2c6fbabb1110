"""One kernel over rows of states, each with its own status: a batched call costs hardly more than its kernels, and
threads do not wait for each other's Python between rows."""

import numpy as np

from pliant.kernels._jit import (
    ADVANCE,
    EQUATIONS,
    FORWARD,
    INTEGER,
    INTEGERS,
    MATRICES,
    MATRIX,
    MEMORY,
    QUERY,
    SYSTEM,
    VECTOR,
    WORK,
    Contract,
    Kind,
    kernel,
    routine,
    table_at,
)
from pliant.kernels.integrators import lanes
from pliant.kernels.integrators.advance import (
    begin,
    begin_step,
    judge_step,
    note_new_input,
    pass_time,
    reason_to_return,
    wanted_step,
)
from pliant.kernels.integrators.landing import reject
from pliant.kernels.integrators.restart import restart
from pliant.kernels.integrators.step_control import has_stalled
from pliant.system import memory as tables
from pliant.system.status import Status
from pliant.system.tables import rows
from pliant.system.work import WIDTH

# many(function, system, work, t, q, v, given, found, reaction, status) -> 0: a FORWARD kernel (forward or inverse).
# given without columns: no tau. reaction: one matrix per row, or one that all share; without rows: not wanted.
MANY = Contract(
    INTEGER(INTEGER, SYSTEM, WORK, VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, MATRICES, INTEGERS), is_entered=True
)
# many_equations(function, system, work, q, v, M, h) -> 0: an EQUATIONS kernel.
MANY_EQUATIONS = Contract(INTEGER(INTEGER, SYSTEM, WORK, MATRIX, MATRIX, MATRICES, MATRIX), is_entered=True)
# sweep(advance, start_phase, system, work, memory, start, q0, v0, gaps, stop, ends, times, facts) -> 0: runs from
# many starts. start: the STEPPING row of a run that has not begun. facts: status, steps, newest event, body, per run.
START, FACTS = Kind(rows(1, tables.STEPPING)), Kind(np.zeros((0, 4), np.int64))
SWEEP = Contract(
    INTEGER(INTEGER, INTEGER, SYSTEM, WORK, MEMORY, START, MATRIX, MATRIX, MATRIX, INTEGERS, MATRIX, VECTOR, FACTS),
    is_entered=True,
)
# sweep_in_lanes(advance, derivatives, system, work, memory, start, runs, places, room, q0, v0, stop, ends, times,
# facts) -> 0: the same, eight runs at once, of models without phases. runs: STEPPING, a row per lane; places: which run
# each lane makes; room: integrators/lanes.py.
SWEEP_IN_LANES = Contract(
    INTEGER(
        *(INTEGER, INTEGER, SYSTEM, WORK, MEMORY, START, START, INTEGERS, MATRIX),
        *(MATRIX, MATRIX, INTEGERS, MATRIX, VECTOR, FACTS),
    ),
    is_entered=True,
)
# step_many(advance, systems, works, memories, first, tau, t_end, status, y) -> 0: a step of many steppers, a row each.
# systems, works, memories: addresses of their tables. first: which of the inputs tau begins at. t_end: where each ends.
# status: RUNNING for those that step; then what advance says. y: states at the end, those that do not step as well.
STEP_MANY = Contract(
    INTEGER(INTEGER, INTEGERS, INTEGERS, INTEGERS, INTEGER, MATRIX, VECTOR, INTEGERS, MATRIX), is_entered=True
)
call_forward = FORWARD.call
call_equations = EQUATIONS.call
call_advance = ADVANCE.call
call_query = QUERY.call
PAUSE, BUFFER_FULL, INTERRUPTED = int(Status.PAUSE), int(Status.BUFFER_FULL), int(Status.INTERRUPTED)
OK = int(Status.OK)
STATUS, STEPS, EVENT, BODY = 0, 1, 2, 3
NEVER = 2**62  # steps before a pause
RUNNING = -1  # in status of step_many: no Status
system_at, work_at, memory_at = table_at(SYSTEM), table_at(WORK), table_at(MEMORY)


@kernel(MANY)
def many(function, system, work, t, q, v, given, found, reaction, status):
    """found[row] of every row; a row that fails does not stop the others."""
    for i in range(len(q)):
        wrenches = reaction[i if len(reaction) > 1 else 0]
        status[i] = call_forward(function, (system, work, t[i], q[i], v[i], given[i], found[i], wrenches))
    return 0


@kernel(MANY_EQUATIONS)
def many_equations(function, system, work, q, v, M, h):
    """M[row] and h[row] of every row."""
    for i in range(len(q)):
        call_equations(function, (system, work, q[i], v[i], M[i], h[i]))
    return 0


@routine
def put_start(memory, start, q, v):
    """A run that has not begun, at its start."""
    memory.stepping[0] = start[0]
    y, n_q, n_v = memory.y, len(q), len(v)
    for k in range(len(y)):
        y[k] = q[k] if k < n_q else v[k - n_q] if k < n_q + n_v else 0.0


@routine
def run_alone(advance, system, work, memory, stop, end, facts):
    """To its end, from what put_start has put; its fields of facts, and its end. Returns when it ended [s]."""
    stepping, event, status = memory.stepping[0], -1, PAUSE
    while status in (PAUSE, BUFFER_FULL) and stop[0] == 0:
        status = call_advance(advance, (system, work, memory))
        if stepping.n_log > 0:
            event = memory.log[stepping.n_log - 1].event
            stepping.n_log = 0
    facts[STATUS] = INTERRUPTED if status in (PAUSE, BUFFER_FULL) else status
    facts[STEPS] = stepping.n_steps
    facts[EVENT] = event
    facts[BODY] = work.run[0].body
    for k in range(len(end)):
        end[k] = memory.y[k]
    return stepping.t


@kernel(SWEEP)
def sweep(advance, start_phase, system, work, memory, start, q0, v0, gaps, stop, ends, times, facts):
    """Where the run from every row ends. stop[0] ends the run that is on its way at its next pause, and those to come.

    Only for memories that record no rows and await no Python controllers."""
    for i in range(len(q0)):
        put_start(memory, start, q0[i], v0[i])
        if len(work.phase) > 0:
            call_query(start_phase, (system, work, q0[i : i + 1], v0[i : i + 1], gaps))
        times[i] = run_alone(advance, system, work, memory, stop, ends[i], facts[i])
    return 0


@routine
def enter_lane(system, work, memory, start, q, v, runs, room, s):
    """A run begins in lane s; False where it cannot."""
    put_start(memory, start, q, v)
    if restart(system, work, memory) != OK:
        return False
    begin(system, work, memory)
    runs[s] = memory.stepping[0]
    lanes.put_state(memory, room, s)
    return True


@routine
def leave_lane(work, memory, stepping, room, s, status, end, facts):
    """The fields of facts of the run in lane s, and its end. Returns when it ended [s]."""
    y = lanes.states_of(room, memory.stages.shape[0], len(memory.y))[0]
    facts[STATUS], facts[STEPS], facts[EVENT], facts[BODY] = status, stepping.n_steps, -1, work.run[0].body
    for k in range(len(end)):
        end[k] = y[k, s]
    return stepping.t


@routine
def end_trial(work, memory, stepping, room, s):
    """The trial step of lane s, accepted or rejected, as find_step and one_step do. False: it is none of the usual."""
    h = stepping.h_made
    if not lanes.put_found(memory, room, s, stepping):
        return False
    if not stepping.error <= 1.0:
        return reject(stepping, h, OK) == OK
    # was_rejected: a trial step of this very step was
    wanted = h if stepping.was_rejected == 1 else wanted_step(stepping, work.run[0].max_angular_speed)
    if judge_step(stepping, h, wanted, 0) != OK:
        return False
    pass_time(stepping, memory, h)
    lanes.take_step(memory, room, s)
    return not has_stalled(stepping)


@kernel(SWEEP_IN_LANES)
def sweep_in_lanes(
    advance, derivatives, system, work, memory, start, runs, places, room, q0, v0, stop, ends, times, facts
):
    """As sweep, every run to the same bits. A lane whose run has ended takes the next one; a run that meets anything
    unusual begins anew alone, and says what it says alone."""
    n_begun, n_running = 0, 1
    for s in range(WIDTH):
        places[s] = -1
    while n_running > 0:
        n_running = 0
        for s in range(WIDTH):
            stepping = runs[s]
            # a step that is to be tried again, the next step of the run, or the first one of the next run
            is_ready = places[s] >= 0 and stepping.was_rejected == 1
            while not is_ready and (places[s] >= 0 or n_begun < len(q0)):
                i = places[s]
                if i < 0:
                    i = n_begun
                    n_begun += 1
                    if stop[0] == 0 and enter_lane(system, work, memory, start, q0[i], v0[i], runs, room, s):
                        places[s] = i
                    else:
                        put_start(memory, start, q0[i], v0[i])
                        times[i] = run_alone(advance, system, work, memory, stop, ends[i], facts[i])
                    continue
                status = INTERRUPTED if stop[0] != 0 else reason_to_return(stepping, memory, NEVER)
                if status == OK:
                    begin_step(stepping, work, memory)
                    is_ready = True
                else:
                    times[i] = leave_lane(work, memory, stepping, room, s, status, ends[i], facts[i])
                    places[s] = -1
            if is_ready:
                n_running += 1
                room[lanes.H_AT, s] = stepping.h_made
        if n_running > 0:
            lanes.try_steps(derivatives, system, work, memory, runs, room)
        for s in range(WIDTH):
            i = places[s]
            if i >= 0 and not end_trial(work, memory, runs[s], room, s):
                put_start(memory, start, q0[i], v0[i])
                times[i] = run_alone(advance, system, work, memory, stop, ends[i], facts[i])
                places[s] = -1
    return 0


@kernel(STEP_MANY)
def step_many(advance, systems, works, memories, first, tau, t_end, status, y):
    """Every stepper that runs goes on to its t_end, with its torques held; events of the step before are dropped."""
    for i in range(len(status)):
        system, work, memory = system_at(systems[i]), work_at(works[i]), memory_at(memories[i])
        if status[i] == RUNNING:
            stepping = memory.stepping[0]
            stepping.t_end = t_end[i]
            note_new_input(stepping)
            stepping.n_log = 0
            for k in range(tau.shape[1]):
                work.inputs[first + k] = tau[i, k]
            status[i] = call_advance(advance, (system, work, memory))
        for k in range(y.shape[1]):
            y[i, k] = memory.y[k]
    return 0
