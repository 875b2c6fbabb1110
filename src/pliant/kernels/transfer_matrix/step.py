"""Discrete-time transfer matrices of a planar chain of hinges: a step of a second-order method by Riccati sweeps.

The method ties changes of angle phi, angular velocity D phi and angular acceleration A phi of every segment together
(T10), A = 1/(beta h^2), D = gamma/(beta h). The equations of motion are linearised about a prediction, with all
derivatives by the angles, and solved by one way out and one way back (riccati.py); by default once.
Numbers in brackets: docs/equations.md, section Transfer matrices."""

import math

from pliant.kernels._jit import DERIVATIVE, INTERPOLANT, STEPPER, kernel, routine
from pliant.kernels.algebra.finite import larger_or_nan
from pliant.kernels.algebra.trigonometry import cos_sin
from pliant.kernels.forces.signals import evaluate_signals
from pliant.kernels.integrators.second_order_rows import (
    INPUT,
    NEW,
    POINT,
    P,
    R,
    begin_step,
    change_past,
    end_step,
    integrate_powers,
    put_rows,
)
from pliant.kernels.transfer_matrix.acceleration import base_acceleration
from pliant.kernels.transfer_matrix.coaxial import step_coaxial
from pliant.kernels.transfer_matrix.hinges import end_hinge, hinge_moment, predict
from pliant.kernels.transfer_matrix.loads import put_load_power, put_loads
from pliant.kernels.transfer_matrix.riccati import sweep_inward, sweep_outward
from pliant.system.status import Status
from pliant.system.tables import Power

call_derivative = DERIVATIVE.call

OK, NOT_FINITE, SINGULAR = int(Status.OK), int(Status.NOT_FINITE), int(Status.SINGULAR)
NEWTON_TOLERANCE = 0.01  # of the tolerances, where more than one linearisation is asked for


@kernel
def move_segments(system, work, memory, h, is_first):
    """(T1), outward: the predicted motion; h: to where equilibrium is asked for."""
    table, shapes, rows, motions = system.segments, system.segment_shapes, work.segments, work.segment_motions
    newton = memory.newton[0]
    of_q, of_v = newton.beta * h * h, newton.gamma * h
    ax, ay = base_acceleration(system.world[0])
    angle, w, al, c, s = 0.0, 0.0, 0.0, 1.0, 0.0
    for i in range(len(table)):
        segment, shape, x = table[i], shapes[i], motions[i]
        if i > 0:
            before, w2 = motions[i - 1], w * w
            ox, oy = c * shape.ox - s * shape.oy, s * shape.ox + c * shape.oy
            before.ox, before.oy = ox, oy
            ax, ay = ax - al * oy - w2 * ox, ay + al * ox - w2 * oy
        if segment.dof >= 0:
            q, v, a = predict(system, work, memory, segment, of_q, of_v, is_first)
            angle, w, al = angle + segment.sign * q, w + segment.sign * v, al + segment.sign * a
            c, s = cos_sin(angle)
        rows[i].w, x.angle, x.al, x.ax, x.ay = w, angle, al, ax, ay
        x.cx, x.cy = c * shape.cx - s * shape.cy, s * shape.cx + c * shape.cy


@kernel
def put_coefficients(system, work, memory, A, D):
    """(T2 - T4), inward: forces of this motion, and the coefficients of small changes."""
    table, rows, motions, y_new, n = system.segments, work.segments, work.segment_motions, memory.y_new, len(work.dofs)
    Fx, Fy, M, a = 0.0, 0.0, 0.0, memory.stages[NEW]
    for i in range(len(table) - 1, -1, -1):
        segment, row, x, m = table[i], rows[i], motions[i], system.segment_shapes[i].mass
        w, al, cx, cy, ox, oy, ax, ay = row.w, x.al, x.cx, x.cy, x.ox, x.oy, x.ax, x.ay
        w2 = w * w
        along, across = -al - 2.0 * w * D, A - w2
        x.jx, x.jy = along * ox - across * oy, along * oy + across * ox
        x.hx, x.hy = m * (along * cx - across * cy) - x.fx_angle, m * (along * cy + across * cx) - x.fy_angle
        row.J = segment.J * A - m * (cx * ax + cy * ay) + ox * Fx + oy * Fy - x.n_angle
        M += ox * Fy - oy * Fx + row.n - segment.J * al - m * (cx * ay - cy * ax)
        Fx += x.fx - m * (ax - al * cy - w2 * cx)
        Fy += x.fy - m * (ay + al * cx - w2 * cy)
        row.M = M
        if segment.is_held == 0:
            j = segment.dof
            row.kappa = segment.stiffness + segment.damping * D + segment.armature * A
            x.excess = hinge_moment(system, work, segment, y_new[j], y_new[n + j], a[n + j]) - M


@kernel
def put_end(system, work, memory, A, D):
    """The end of the step; returns the largest change of a coordinate over its tolerance."""
    table, rows, stepping = system.segments, work.segments, memory.stepping[0]
    motor_power, damper_power, drive_power = 0.0, 0.0, 0.0
    before, size = 0.0, 0.0
    for i in range(len(table)):
        segment, x = table[i], rows[i]
        if segment.dof >= 0:
            change = segment.sign * (x.phi - before)
            motor, damper, drive = end_hinge(system, work, memory, segment, x.M, change, A, D)
            motor_power, damper_power, drive_power = motor_power + motor, damper_power + damper, drive_power + drive
            if segment.is_held == 0:
                j = segment.dof
                size = larger_or_nan(size, abs(change) / (memory.atol[j] + stepping.rtol * abs(memory.y_new[j])))
        before = x.phi
    work.power[Power.MOTOR], work.power[Power.DAMPER], work.power[Power.DRIVE] = motor_power, damper_power, drive_power
    return size


@routine
def step_planar(system, work, memory, h, A, D):
    """Linearise, sweep, and again if asked for."""
    newton, has_loads = memory.newton[0], len(system.loads) > 0
    for k in range(newton.max_linearisations):
        move_segments(system, work, memory, h, k == 0)
        if has_loads:
            put_loads(system, work)
        put_coefficients(system, work, memory, A, D)
        if not sweep_outward(system, work):
            return SINGULAR
        sweep_inward(system, work)
        newton.n_iterations += 1
        size = put_end(system, work, memory, A, D)
        if not size < math.inf:
            return NOT_FINITE
        if size <= NEWTON_TOLERANCE:
            break
    if has_loads:
        put_load_power(system, work, D)
    return OK


@kernel
def put_interpolated(memory, n, h):
    """y_new of the accelerations at t + h, where equilibrium was asked for elsewhere."""
    newton, y, y_new, rows = memory.newton[0], memory.y, memory.y_new, memory.stages
    for j in range(n):
        a = rows[NEW, n + j]
        y_new[j] = y[j] + rows[P, n + j] + newton.beta * h * h * a
        y_new[n + j] = rows[R, n + j] + newton.gamma * h * a


@routine
def solve_step(system, work, memory, h):
    """Find the accelerations of P and R, and the end of the step."""
    newton = memory.newton[0]
    A, D = 1.0 / (newton.beta * h * h), newton.gamma / (newton.beta * h)
    if system.world[0].is_coaxial:
        return step_coaxial(system, work, memory, h, A, D)
    return step_planar(system, work, memory, h, A, D)


@routine
def respond_to_input(system, work, memory, h):
    """Make INPUT, the change of f by new forces, what the step can follow of it: K^-1 f of second_order_rows.py, by two
    sweeps. Where P and R change as they would with accelerations larger by f, a_new changes by K^-1 f - f."""
    newton, rows, n = memory.newton[0], memory.stages, len(work.dofs)
    status = solve_step(system, work, memory, h)
    if status != OK:
        return status
    for i in range(n, 2 * n):
        rows[POINT, i] = rows[NEW, i]
        rows[P, i] += newton.beta * h * h * rows[INPUT, i]
        rows[R, i] += newton.gamma * h * rows[INPUT, i]
    status = solve_step(system, work, memory, h)
    for i in range(n, 2 * n):
        rows[INPUT, i] += rows[NEW, i] - rows[POINT, i]
    return status


@kernel(STEPPER)
def step(system, work, memory, t, h):
    """One step from (y, f) at t into (y_new, f_new) at t + h."""
    stepping, n = memory.stepping[0], len(work.dofs)
    length = begin_step(memory, t, h)
    if system.world[0].n_acting > 0:
        evaluate_signals(system, work, t + length, system.world[0].n_acting)
    stepping.n_evaluations += 1
    stepping.error = 0.0
    if memory.newton[0].has_new_input == 1:
        status = respond_to_input(system, work, memory, length)
        if status != OK:
            return status
        change_past(memory)
        put_rows(memory, h)
    status = solve_step(system, work, memory, length)
    if status != OK:
        return status
    if end_step(memory, h):
        put_interpolated(memory, n, h)
        status = call_derivative(work.calls[0].derivative, (system, work, t + h, memory.y_new, memory.f_new))
    else:
        for k in range(len(system.quadratures)):
            memory.f_new[2 * n + k] = work.power[system.quadratures[k]]
    integrate_powers(memory, h)
    return status


@kernel(INTERPOLANT)
def interpolate(system, work, memory, t, h):
    """Dense output of the step just made: cubics through both ends and their rates, but for velocities a parabola (the
    rates of stiff ones are rough)."""
    r, y, y_new, f, f_new, n = memory.dense, memory.y, memory.y_new, memory.f, memory.f_new, len(work.dofs)
    for i in range(r.shape[1]):
        change = y_new[i] - y[i]
        r[0, i] = y[i]
        r[1, i] = change
        if n <= i < 2 * n:
            r[2, i], r[3, i] = 0.5 * h * (f[i] - f_new[i]), 0.0
        else:
            r[2, i] = h * f[i] - change
            r[3, i] = change - h * f_new[i] - r[2, i]
    return OK
