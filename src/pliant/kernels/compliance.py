"""Accelerations of a semi-implicit stage where forces between two bodies are implicit, over the articulated recursion.

Rows J (tangents.py) of forces with mass mu and the force s that their known differences make:
    (M + J^T mu J) a = r - J^T s:   a = a_0 + X l,   X = M^-1 J^T,   (J X + 1/mu) l = -J a_0 - s/mu
M with all blocks of the stage, a_0 and X from the recursion and its response. Motors that move by themselves are
eliminated before, and follow their links afterwards (A17): share = mass / (armature + mass).
Both kernels stand in place of the recursion's own; outside of stages they pass everything on."""

from pliant.kernels._jit import ACCELERATION, RESPONSE, kernel, routine
from pliant.kernels.algebra.dense import cholesky, cholesky_solve
from pliant.kernels.algebra.lanes import WIDTH
from pliant.kernels.tangents import product
from pliant.system.status import Status
from pliant.system.work import ROW_FORCE, ROW_MASS, ROW_MULTIPLIER

call_acceleration = ACCELERATION.call
call_response = RESPONSE.call

OK, SINGULAR = int(Status.OK), int(Status.SINGULAR)


@kernel
def pass_motor_forces(system, work, sign):
    """(A17): what motors pass to their links, or, with sign -1, taken back."""
    for i in range(len(system.transmissions)):
        row, share = system.transmissions[i], work.rotor_shares[i]
        work.dofs[row.link].tau += sign * share * work.dofs[row.motor].tau


@kernel
def follow_links(system, work, vdot):
    for i in range(len(system.transmissions)):
        row = system.transmissions[i]
        vdot[row.motor] += work.rotor_shares[i] * vdot[row.link]


@kernel
def respond_by_recursion(system, work, x):
    for i in range(len(system.transmissions)):
        row, share = system.transmissions[i], work.rotor_shares[i]
        for lane in range(WIDTH):
            x[row.link, lane] += share * x[row.motor, lane]
    call_response(work.calls[0].recursion_response, (system, work, x))
    for i in range(len(system.transmissions)):
        row, share = system.transmissions[i], work.rotor_shares[i]
        for lane in range(WIDTH):
            x[row.motor, lane] += share * x[row.link, lane]


@routine
def factor_rows(system, work, n):
    """X and the factor of J X + 1/mu; whether it has one."""
    J, X, W, x = work.compliant_jacobian, work.compliant_lift, work.compliant_matrix, work.lanes
    n_v = J.shape[1]
    for first in range(0, n, WIDTH):
        count = min(WIDTH, n - first)
        for lane in range(WIDTH):
            for j in range(n_v):
                x[j, lane] = J[first + min(lane, count - 1), j]
        respond_by_recursion(system, work, x)
        for lane in range(count):
            for j in range(n_v):
                X[first + lane, j] = x[j, lane]
    for i in range(n):
        for j in range(i + 1):
            W[i, j] = product(J[i], X[j])
        W[i, i] += 1.0 / work.compliant_forces[ROW_MASS, i]
    return cholesky(W, n) < 0


@routine
def add_rows(work, n, vdot):
    """a = a_0 + X l."""
    J, X, forces = work.compliant_jacobian, work.compliant_lift, work.compliant_forces
    multiplier = forces[ROW_MULTIPLIER]
    for i in range(n):
        multiplier[i] = -product(J[i], vdot) - forces[ROW_FORCE, i] / forces[ROW_MASS, i]
    cholesky_solve(work.compliant_matrix, n, multiplier)
    for i in range(n):
        for j in range(vdot.shape[0]):
            vdot[j] += X[i, j] * multiplier[i]


@kernel(ACCELERATION)
def solve(system, work, q, v, vdot, reaction):
    """vdot of the open tree in a stage; as the recursion gives it outside of one."""
    calls, n = work.calls[0], work.run[0].n_rows
    if work.run[0].implicit_step == 0.0:
        return call_acceleration(calls.recursion, (system, work, q, v, vdot, reaction))
    pass_motor_forces(system, work, 1.0)
    status = call_acceleration(calls.recursion, (system, work, q, v, vdot, reaction))
    pass_motor_forces(system, work, -1.0)
    if status != OK:
        return status
    follow_links(system, work, vdot)
    if n > 0:
        if not factor_rows(system, work, n):
            return SINGULAR
        add_rows(work, n, vdot)
    return status


@kernel(RESPONSE)
def respond(system, work, x):
    """x <- (M + J^T mu J)^-1 x, with what solve has left."""
    n = work.run[0].n_rows
    if work.run[0].implicit_step == 0.0:
        return call_response(work.calls[0].recursion_response, (system, work, x))
    respond_by_recursion(system, work, x)
    J, X, y = work.compliant_jacobian, work.compliant_lift, work.compliant_forces[ROW_MULTIPLIER]
    for lane in range(WIDTH if n > 0 else 0):
        for i in range(n):
            total = 0.0
            for j in range(J.shape[1]):
                total -= J[i, j] * x[j, lane]
            y[i] = total
        cholesky_solve(work.compliant_matrix, n, y)
        for i in range(n):
            for j in range(J.shape[1]):
                x[j, lane] += X[i, j] * y[i]
    return 0
