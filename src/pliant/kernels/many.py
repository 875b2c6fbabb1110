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
    table_at,
)
from pliant.system import memory as tables
from pliant.system.status import Status
from pliant.system.tables import rows

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
STATUS, STEPS, EVENT, BODY = 0, 1, 2, 3
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


@kernel(SWEEP)
def sweep(advance, start_phase, system, work, memory, start, q0, v0, gaps, stop, ends, times, facts):
    """Where the run from every row ends. stop[0] ends the run that is on its way at its next pause, and those to come.

    Only for memories that record no rows and await no Python controllers."""
    n_q, n_v = q0.shape[1], v0.shape[1]
    stepping, y = memory.stepping[0], memory.y
    for i in range(len(q0)):
        memory.stepping[0] = start[0]
        for k in range(len(y)):
            y[k] = q0[i, k] if k < n_q else v0[i, k - n_q] if k < n_q + n_v else 0.0
        if len(work.phase) > 0:
            call_query(start_phase, (system, work, q0[i : i + 1], v0[i : i + 1], gaps))
        event = -1
        status = PAUSE
        while status in (PAUSE, BUFFER_FULL) and stop[0] == 0:
            status = call_advance(advance, (system, work, memory))
            if stepping.n_log > 0:
                event = memory.log[stepping.n_log - 1].event
                stepping.n_log = 0
        facts[i, STATUS] = INTERRUPTED if status in (PAUSE, BUFFER_FULL) else status
        facts[i, STEPS] = stepping.n_steps
        facts[i, EVENT] = event
        facts[i, BODY] = work.run[0].body
        times[i] = stepping.t
        for k in range(n_q + n_v):
            ends[i, k] = y[k]
    return 0


@kernel(STEP_MANY)
def step_many(advance, systems, works, memories, first, tau, t_end, status, y):
    """Every stepper that runs goes on to its t_end, with its torques held; events of the step before are dropped."""
    for i in range(len(status)):
        system, work, memory = system_at(systems[i]), work_at(works[i]), memory_at(memories[i])
        if status[i] == RUNNING:
            stepping = memory.stepping[0]
            stepping.t_end = t_end[i]
            stepping.made_jump = 1
            stepping.n_log = 0
            for k in range(tau.shape[1]):
                work.inputs[first + k] = tau[i, k]
            status[i] = call_advance(advance, (system, work, memory))
        for k in range(y.shape[1]):
            y[i, k] = memory.y[k]
    return 0
