"""A step of a chain whose hinges and mass centres lie on one line: rotation alone, linear, solved exactly.

theta = S tau + p from the base outward, as in the thesis [transfermatrix]: a hinge adds its compliance,
s_1 = s + 1/kappa, a segment its inertia, s = s_1 / (1 + J A s_1); written with kappa s_1 = 1 + kappa s, so that hinges
without spring and damper divide by nothing. Numbers in brackets: docs/equations.md, section Transfer matrices."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.finite import without_underflow, zero_or_nan
from pliant.kernels.transfer_matrix.hinges import end_hinge, hinge_moment, predict
from pliant.kernels.transfer_matrix.loads import put_load_power, put_loads
from pliant.kernels.transfer_matrix.riccati import LARGEST
from pliant.system.status import Status
from pliant.system.tables import Power

OK, SINGULAR, NOT_FINITE = int(Status.OK), int(Status.SINGULAR), int(Status.NOT_FINITE)


@kernel
def cross(s, p3, kappa, JA, source, torque, is_held, can_rotate):
    """(T11): 1/d, and nu of a hinge and its segment; torque: on the segment, beyond what its inertia needs."""
    if is_held:
        # s = 0: nothing inboard can rotate
        r = 1.0 / s if s != 0.0 else 0.0
        return (1.0 / (r + JA) if can_rotate else 0.0), torque + r * p3
    stretched = 1.0 + kappa * s
    rho = 1.0 / stretched
    # 1/d = 1 / (kappa / (1 + kappa s) + JA)
    return stretched / (kappa + JA * stretched), torque - rho * (source - kappa * p3)


@kernel
def sweep_outward(system, work, memory, h, A, D):
    """Prediction and elimination, from the base to the tip. False, with the body named, if a pivot is zero."""
    table, rows, newton = system.segments, work.segments, memory.newton[0]
    of_q, of_v = newton.beta * h * h, newton.gamma * h
    w, al, s, p3, can_rotate = 0.0, 0.0, 0.0, 0.0, False
    for i in range(len(table)):
        segment, x = table[i], rows[i]
        kappa, source = 0.0, 0.0
        if segment.dof >= 0:
            q, v, a = predict(system, work, memory, segment, of_q, of_v, True)
            w, al = w + segment.sign * v, al + segment.sign * a
            if segment.is_held == 0:
                can_rotate = True
                kappa = segment.stiffness + segment.damping * D + segment.armature * A
                source = hinge_moment(system, work, segment, q, v, a)
        torque, JA = x.n - segment.J * al, segment.J * A
        s, nu = cross(s, p3, kappa, JA, source, torque, segment.is_held != 0, can_rotate)
        if can_rotate and not abs(s) < LARGEST:
            work.run[0].body = system.segment_shapes[i].body
            return False
        x.w, x.inverse, x.nu, x.M, x.J = w, s, nu, torque, JA
        p3 = without_underflow(s * nu)
    return True


@kernel
def sweep_inward(system, work, memory, A, D):
    """(T9), from the tip to the base: moments, changes of the angles, and with them the end of the step. Whether all
    are finite."""
    table, rows, M, n = system.segments, work.segments, 0.0, len(work.segments)
    motor_power, damper_power, drive_power = 0.0, 0.0, 0.0
    outer, check = 0.0, 0.0
    for i in range(n, -1, -1):
        # angle of the segment before, then the hinge between the two
        phi, M_outer = 0.0, M
        if i > 0:
            x = rows[i - 1]
            phi = x.inverse * (M + x.nu)
            M = without_underflow(M + x.M - x.J * phi)
            x.phi = phi
        if i < n and table[i].dof >= 0:
            change = table[i].sign * (outer - phi)
            check += zero_or_nan(change)
            motor, damper, drive = end_hinge(system, work, memory, table[i], M_outer, change, A, D)
            motor_power, damper_power, drive_power = motor_power + motor, damper_power + damper, drive_power + drive
        outer = phi
    work.power[Power.MOTOR], work.power[Power.DAMPER], work.power[Power.DRIVE] = motor_power, damper_power, drive_power
    return check == 0.0


@routine
def step_coaxial(system, work, memory, h, A, D):
    has_loads = len(system.loads) > 0
    if has_loads:
        put_loads(system, work)
    if not sweep_outward(system, work, memory, h, A, D):
        return SINGULAR
    if not sweep_inward(system, work, memory, A, D):
        return NOT_FINITE
    memory.newton[0].n_iterations += 1
    if has_loads:
        put_load_power(system, work, D)
    return OK
