"""Loads on the segments of a chain at the end of a step, with their derivatives by the angle, and their power."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.trigonometry import cos_sin
from pliant.kernels.algebra.vec3 import dot, mat, mul, vec
from pliant.kernels.forces.loads import component
from pliant.system.tables import Power


@kernel
def plane_components(system, work, load):
    """Force or couple of a load: (x, y, about the axis), in axes of the plane, or of its segment if it follows it."""
    given = (
        component(work, load.signal[0]),
        component(work, load.signal[1]),
        component(work, load.signal[2]),
    )
    if not load.is_follower:
        return mul(mat(system.world[0].plane), given)
    frame = system.frames[load.frame]
    return mul(mat(system.segment_axes[frame.body]), mul(mat(frame.R_BF), given))


@kernel
def load_place(system, frame, c, s):
    """From the hinge of its segment, in axes of the plane."""
    X, p = system.segment_axes[frame.body], vec(frame.p_BF)
    px, py = dot(vec(X), p), dot(vec(X[3:]), p)
    return c * px - s * py, s * px + c * py


@routine
def put_loads(system, work):
    """Loads on the segments, whose angles are known; those of all others are zero and stay so. Without flexible joints
    segment and body have one number."""
    rows, motions = work.segments, work.segment_motions
    for k in range(len(system.loads)):
        i = system.frames[system.loads[k].frame].body
        if i >= 0:
            x, rows[i].n = motions[i], 0.0
            x.fx, x.fy, x.fx_angle, x.fy_angle, x.n_angle = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(system.loads)):
        load = system.loads[k]
        frame = system.frames[load.frame]
        if frame.body < 0:
            continue
        x, row = motions[frame.body], rows[frame.body]
        fx, fy, n = plane_components(system, work, load)
        if load.is_couple:
            row.n += n
            continue
        c, s = cos_sin(x.angle)
        px, py = load_place(system, frame, c, s)
        if load.is_follower:
            fx, fy = c * fx - s * fy, s * fx + c * fy
            x.fx_angle, x.fy_angle = x.fx_angle - fy, x.fy_angle + fx
        else:
            x.n_angle -= px * fx + py * fy
        x.fx, x.fy, row.n = x.fx + fx, x.fy + fy, row.n + px * fy - py * fx


@routine
def put_load_power(system, work, D):
    """Power of all loads at the end of a step, from the changes phi of the angles."""
    rows, motions, power = work.segments, work.segment_motions, 0.0
    for k in range(len(system.loads)):
        load = system.loads[k]
        frame = system.frames[load.frame]
        if frame.body < 0:
            continue
        fx, fy, n = plane_components(system, work, load)
        row = rows[frame.body]
        if load.is_couple:
            power += n * (row.w + D * row.phi)
            continue
        vx, vy = 0.0, 0.0
        for i in range(frame.body):
            x, phi, w = motions[i], rows[i].phi, rows[i].w + D * rows[i].phi
            vx, vy = vx - w * (x.oy + phi * x.ox), vy + w * (x.ox - phi * x.oy)
        w = row.w + D * row.phi
        angle = motions[frame.body].angle + row.phi
        c, s = cos_sin(angle)
        px, py = load_place(system, frame, c, s)
        if load.is_follower:
            fx, fy = c * fx - s * fy, s * fx + c * fy
        power += fx * (vx - w * py) + fy * (vy + w * px)
    work.power[Power.LOAD] = power
