"""Forces and couples in world axes, added to the external wrench of a body."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import add, cross, mat, mul_t, put, sub, vec
from pliant.kernels.flexible.sections import apply_section_wrench, section_offset


@kernel
def clear_wrenches(system, work):
    for i in range(len(system.bodies)):
        put(work.bodies[i].f, (0.0, 0.0, 0.0))
        put(work.bodies[i].n, (0.0, 0.0, 0.0))
    for k in range(len(system.points)):
        work.points[k].axial = 0.0


@kernel
def apply_couple(system, work, frame, couple):
    """Add a couple (world axes) on the body (the section) of a frame; bodies are placed."""
    body, point = system.frames[frame].body, system.frames[frame].point
    if body < 0:
        return
    x = work.bodies[body]
    n = mul_t(mat(x.R_WB), couple)
    if point >= 0:
        apply_section_wrench(system, work, point, (0.0, 0.0, 0.0), n)
        return
    put(x.n, add(vec(x.n), n))


@kernel
def apply_force_at_origin(system, work, frame, force):
    """Add a force (world axes) at the origin of a frame; bodies are placed."""
    body, point, p = system.frames[frame].body, system.frames[frame].point, vec(system.frames[frame].p_BF)
    if body < 0:
        return
    x = work.bodies[body]
    if system.world[0].is_planar:
        c, s = x.R_WB[0], x.R_WB[3]
        f = (c * force[0] + s * force[1], c * force[1] - s * force[0], force[2])
    else:
        f = mul_t(mat(x.R_WB), force)
    if point >= 0:
        apply_section_wrench(system, work, point, f, cross(section_offset(work, point, p), f))
        return
    put(x.f, add(vec(x.f), f))
    put(x.n, add(vec(x.n), cross(p, f)))


@kernel
def apply_force(system, work, frame, force, location):
    """Add a force (world axes) at a location (world) on the body (the section) of a frame; bodies are placed."""
    body, point = system.frames[frame].body, system.frames[frame].point
    if body < 0:
        return
    x = work.bodies[body]
    R = mat(x.R_WB)
    f = mul_t(R, force)
    arm = mul_t(R, sub(location, vec(x.p_WB)))
    if point >= 0:
        apply_section_wrench(system, work, point, f, cross(sub(arm, vec(work.points[point].s)), f))
        return
    put(x.f, add(vec(x.f), f))
    put(x.n, add(vec(x.n), cross(arm, f)))
