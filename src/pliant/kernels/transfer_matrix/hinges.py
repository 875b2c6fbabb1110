"""A hinge in a step of discrete-time transfer matrices: where it is predicted to be, what it transmits, where it ends.

q_new = q + P + beta h^2 vdot_new, v_new = R + gamma h vdot_new (integrators/second_order_rows.py); (T10) of
docs/equations.md."""

from pliant.kernels._jit import kernel
from pliant.kernels.forces.joints import motor_force
from pliant.kernels.integrators.second_order_rows import NEW, OLD, P, R


@kernel
def predict(system, work, memory, segment, of_q, of_v, is_first):
    """(q_new, v_new, vdot_new): of the accelerations of the step before, or of those found last; prescribed ones are
    where their signals say."""
    j, n, stages = segment.dof, len(work.dofs), memory.stages
    if segment.is_held:
        signal = work.signals[system.dofs[j].motion]
        q, v, a = signal.s, signal.sdot, signal.sddot
    else:
        a = stages[OLD, n + j] if is_first else stages[NEW, n + j]
        q, v = memory.y[j] + stages[P, n + j] + of_q * a, stages[R, n + j] + of_v * a
    memory.y_new[j], memory.y_new[n + j], stages[NEW, n + j] = q, v, a
    return q, v, a


@kernel
def hinge_moment(system, work, segment, q, v, vdot):
    """On the inboard part, by spring, damper, armature and motor of a hinge: minus their sum about the axis."""
    moment = segment.stiffness * (q - segment.rest) + segment.damping * v + segment.armature * vdot
    if segment.has_motor:
        moment -= motor_force(system, work, segment.dof)
    return segment.sign * moment


@kernel
def end_hinge(system, work, memory, segment, M, change, A, D):
    """The end of the step with the change of a coordinate; M: moment that the hinge transmits. Powers of motor, damper
    and prescribed motion."""
    j, n, y_new, a = segment.dof, len(work.dofs), memory.y_new, memory.stages[NEW]
    if segment.is_held == 0:
        y_new[j] += change
        y_new[n + j] += D * change
        a[n + j] += A * change
    v, drive, motor = y_new[n + j], 0.0, 0.0
    memory.f_new[j], memory.f_new[n + j] = v, a[n + j]
    if segment.has_motor:
        motor = motor_force(system, work, j) * v
    if segment.is_held:
        force = segment.sign * (hinge_moment(system, work, segment, y_new[j], v, a[n + j]) - M)
        work.dofs[j].constraint_force, drive = force, force * v
    return motor, -segment.damping * v * v, drive
