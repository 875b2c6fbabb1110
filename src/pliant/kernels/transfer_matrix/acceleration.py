"""Accelerations of a planar chain of hinges by Riccati transfer matrices, from the base outward [transfermatrix].

The equations are linear in the accelerations: about the motion with no acceleration but the prescribed ones, phi is the
angular acceleration, and one way out and back is exact. Numbers in brackets: docs/equations.md, section Transfer
matrices."""

from pliant.kernels._jit import ACCELERATION, kernel, routine
from pliant.kernels.algebra.sym3 import mul_sym, sym
from pliant.kernels.algebra.trigonometry import cos_sin
from pliant.kernels.algebra.vec3 import add, cross, mat, mul, put, scale, sub, vec
from pliant.kernels.kinematics.tree import accelerate
from pliant.kernels.transfer_matrix.riccati import sweep_inward, sweep_outward
from pliant.system.status import Status


@kernel
def base_acceleration(world):
    """Of the first hinge, which does not move: minus gravity, in the plane."""
    g, X = world.gravity, world.plane
    return -(X[0] * g[0] + X[1] * g[1] + X[2] * g[2]), -(X[3] * g[0] + X[4] * g[1] + X[5] * g[2])


@kernel
def external_wrench(b, X, c, s):
    """Gathered forces on a segment in the plane, and their moment about its hinge; X: axes of the plane in its own."""
    f, n = b.f, b.n
    fx = X[0] * f[0] + X[1] * f[1] + X[2] * f[2]
    fy = X[3] * f[0] + X[4] * f[1] + X[5] * f[2]
    return c * fx - s * fy, s * fx + c * fy, X[6] * n[0] + X[7] * n[1] + X[8] * n[2]


@kernel
def move_segments(system, work, q, v):
    """(T1), outward: angles, velocities and accelerations without any but prescribed angular accelerations."""
    table, shapes, rows, motions = system.segments, system.segment_shapes, work.segments, work.segment_motions
    ax, ay = base_acceleration(system.world[0])
    angle, w, al, c, s = 0.0, 0.0, 0.0, 1.0, 0.0
    for i in range(len(table)):
        segment, shape, row, x = table[i], shapes[i], rows[i], motions[i]
        j = segment.dof
        if i > 0:
            before = motions[i - 1]
            ox, oy = c * shape.ox - s * shape.oy, s * shape.ox + c * shape.oy
            before.ox, before.oy, before.jx, before.jy = ox, oy, -oy, ox
            ax, ay = ax - al * oy - w * w * ox, ay + al * ox - w * w * oy
        if j >= 0:
            angle, w = angle + segment.sign * q[j], w + segment.sign * v[j]
            al += segment.sign * work.dofs[j].motion_vdot if segment.is_held else 0.0
        c, s = cos_sin(angle)
        row.w, x.al, x.ax, x.ay = w, al, ax, ay
        x.cx, x.cy = c * shape.cx - s * shape.cy, s * shape.cx + c * shape.cy
        x.fx, x.fy, row.n = external_wrench(work.bodies[shape.body], system.segment_axes[i], c, s)
        x.hx, x.hy = -shape.mass * x.cy, shape.mass * x.cx
        row.J, row.kappa = segment.J, segment.armature


@kernel
def put_forces(system, work):
    """(T2), inward: forces of this motion, and what the laws of the hinges exceed them by."""
    table, rows, motions = system.segments, work.segments, work.segment_motions
    Fx, Fy, M = 0.0, 0.0, 0.0
    for i in range(len(table) - 1, -1, -1):
        segment, row, x = table[i], rows[i], motions[i]
        m, w2, al = system.segment_shapes[i].mass, row.w * row.w, x.al
        M += x.ox * Fy - x.oy * Fx + row.n - segment.J * al - m * (x.cx * x.ay - x.cy * x.ax)
        Fx += x.fx - m * (x.ax - al * x.cy - w2 * x.cx)
        Fy += x.fy - m * (x.ay + al * x.cx - w2 * x.cy)
        row.M = M
        x.excess = 0.0 if segment.is_held else -segment.sign * work.dofs[segment.dof].tau - M


@kernel
def put_accelerations(system, work, vdot):
    """vdot from the angular accelerations, and the forces that enforce prescribed ones."""
    table, rows = system.segments, work.segments
    before = 0.0
    for i in range(len(table)):
        segment, x = table[i], rows[i]
        j = segment.dof
        if j >= 0:
            dof = work.dofs[j]
            vdot[j] = dof.motion_vdot if segment.is_held else segment.sign * (x.phi - before)
            if segment.is_held:
                dof.constraint_force = dof.armature * dof.motion_vdot - segment.sign * x.M - dof.tau
        before = x.phi


@kernel
def turn_motors(system, work, vdot):
    """The motors of flexible joints rotate by themselves."""
    for k in range(len(system.transmissions)):
        j = system.transmissions[k].motor
        dof = work.dofs[j]
        vdot[j] = dof.motion_vdot if dof.is_prescribed else dof.tau / dof.armature
        if dof.is_prescribed:
            dof.constraint_force = dof.armature * dof.motion_vdot - dof.tau


@routine
def put_reactions(system, work, vdot, reaction):
    """Wrench of every joint on its body, all six components: what the body and all that follow need beyond what acts on
    them."""
    accelerate(system, work, vdot)
    bodies = system.bodies
    for i in range(len(bodies)):
        body, x = bodies[i], work.bodies[i]
        a, al, w, c, J = vec(x.a), vec(x.al), vec(x.w), vec(body.c), sym(body.J)
        force = add(scale(body.mass, a), add(cross(al, c), cross(w, cross(w, c))))
        moment = add(cross(c, a), add(mul_sym(J, al), cross(w, mul_sym(J, w))))
        put(reaction[i], sub(force, vec(x.f)))
        put(reaction[i, 3:], sub(moment, vec(x.n)))
    for i in range(len(bodies) - 1, 0, -1):
        body, x = bodies[i], work.bodies[i]
        if body.parent >= 0:
            force, moment, onto = mul(mat(x.R), vec(reaction[i])), mul(mat(x.R), vec(reaction[i, 3:])), body.parent
            put(reaction[onto], add(vec(reaction[onto]), force))
            put(reaction[onto, 3:], add(vec(reaction[onto, 3:]), add(moment, cross(vec(x.o), force))))


@kernel(ACCELERATION)
def transfer_matrix(system, work, q, v, vdot, reaction):
    move_segments(system, work, q, v)
    put_forces(system, work)
    if not sweep_outward(system, work):
        return Status.SINGULAR
    sweep_inward(system, work)
    put_accelerations(system, work, vdot)
    if len(system.transmissions) > 0:
        turn_motors(system, work, vdot)
    if len(reaction) > 0:
        put_reactions(system, work, vdot, reaction)
    return Status.OK
