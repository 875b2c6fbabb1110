"""The derivative at a state near the one just evaluated, for a fraction of an evaluation.

Where bodies are, M and the forces that depend on it are kept; what stiff models feel first is exact: forces of springs,
dampers, stops, flexible joints and beams change as they do between the two states, and M^-1 from the factors of the
last evaluation turns that into accelerations. Coordinates have their own rates. Not for prescribed motion, loops and
stiffened beams. Whoever uses it must know how much it neglects (integrators/adams.py measures it)."""

from pliant.kernels._jit import NEARBY, RESPONSE, kernel
from pliant.kernels.algebra.dense import copy
from pliant.kernels.flexible.pool import damping, stiffness
from pliant.kernels.forces.joints import add_joint_force, joint_deflection, joint_deflection_rate, limit_force
from pliant.kernels.forces.transmissions import transmission_torque
from pliant.kernels.kinematics.joints import rates
from pliant.system.status import Status

call_response = RESPONSE.call  # numba sees it as a name of this module

OK = int(Status.OK)


@kernel
def change_joint_forces(system, work, q, v, q_near, v_near):
    """Change of the forces of springs, dampers and stops into tau."""
    for j in range(len(system.dofs)):
        dof, force = system.dofs[j], 0.0
        if dof.stiffness != 0.0 and dof.q >= 0:
            force -= dof.stiffness * (joint_deflection(system, q_near, j) - joint_deflection(system, q, j))
        if dof.damping != 0.0:
            force -= dof.damping * (joint_deflection_rate(system, v_near, j) - joint_deflection_rate(system, v, j))
        if force != 0.0:
            add_joint_force(system, work, j, force)
    for k in range(len(system.limits)):
        force = limit_force(system, work, q_near, v_near, k) - limit_force(system, work, q, v, k)
        add_joint_force(system, work, system.limits[k].dof, force)


@kernel
def change_transmissions(system, work, q, v, q_near, v_near):
    """The same of the torques of flexible joints."""
    for k in range(len(system.transmissions)):
        row = system.transmissions[k]
        torque, _ = transmission_torque(system, work, row, q, v)
        torque_near, _ = transmission_torque(system, work, row, q_near, v_near)
        add_joint_force(system, work, row.motor, torque - torque_near)
        add_joint_force(system, work, row.link, torque_near - torque)


@kernel
def change_beam_forces(system, work, q, v, q_near, v_near):
    """The same of -K d - D e of all beams."""
    shapes = system.shapes
    for i in range(len(system.flexes)):
        f = system.flexes[i]
        body = system.bodies[f.body]
        first_q, first_v = body.q + body.n_q, body.v + body.n_v
        d, d_near, e, e_near = q[first_q:], q_near[first_q:], v[first_v:], v_near[first_v:]
        for j in range(f.m):
            elastic, damped = 0.0, 0.0
            for l in range(f.m):
                elastic += stiffness(f, shapes, j, l) * (d_near[l] - d[l])
                damped += damping(f, shapes, j, l) * (e_near[l] - e[l])
            work.dofs[first_v + j].tau -= elastic + damped


@kernel(NEARBY)
def nearby(system, work, t, y, ydot, y_near, ydot_near):
    world = system.world[0]
    n_q, n_v = world.n_q, world.n_v
    q, v = y[:n_q], y[n_q : n_q + n_v]
    q_near, v_near = y_near[:n_q], y_near[n_q : n_q + n_v]
    copy(ydot, ydot_near)
    rates(system, q_near, v_near, ydot_near)
    for j in range(n_v):
        work.dofs[j].tau = 0.0
    change_joint_forces(system, work, q, v, q_near, v_near)
    change_transmissions(system, work, q, v, q_near, v_near)
    change_beam_forces(system, work, q, v, q_near, v_near)
    x = work.lanes
    for j in range(n_v):
        for lane in range(x.shape[1]):
            x[j, lane] = 0.0
        x[j, 0] = work.dofs[j].tau
    call_response(work.calls[0].respond, (system, work, x))
    for j in range(n_v):
        ydot_near[n_q + j] += x[j, 0]
    return OK
