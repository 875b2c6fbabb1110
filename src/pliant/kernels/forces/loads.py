"""Forces and couples on frames."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, vec
from pliant.kernels.flexible.sections import apply_section_wrench, section_offset
from pliant.system.tables import Power


@kernel
def component(work, row):
    return work.signals[row].s if row >= 0 else 0.0


@kernel
def load_value(system, work, load):
    """A force or couple in axes of the body it acts on."""
    frame = system.frames[load.frame]
    given = (
        component(work, load.signal[0]),
        component(work, load.signal[1]),
        component(work, load.signal[2]),
    )
    if not load.is_follower:
        return mul_t(mat(work.bodies[frame.body].R_WB), given)
    value = mul(mat(frame.R_BF), given)
    return value if frame.point < 0 else section_offset(work, frame.point, value)


@kernel
def load_section(system, work, frame, value, is_couple):
    """A force or couple (body axes) at a frame on a section; its power."""
    section = work.points[frame.point]
    if is_couple:
        apply_section_wrench(system, work, frame.point, (0.0, 0.0, 0.0), value)
        return dot(value, vec(section.w))
    moment = cross(section_offset(work, frame.point, vec(frame.p_BF)), value)
    apply_section_wrench(system, work, frame.point, value, moment)
    return dot(value, vec(section.v)) + dot(moment, vec(section.w))


@kernel
def gather_loads(system, work):
    """Add every load to the external wrench of its body; the power of all."""
    power = 0.0
    for k in range(len(system.loads)):
        load = system.loads[k]
        frame = system.frames[load.frame]
        if frame.body < 0:
            continue
        x = work.bodies[frame.body]
        value = load_value(system, work, load)
        if frame.point >= 0:
            power += load_section(system, work, frame, value, load.is_couple)
        elif load.is_couple:
            put(x.n, add(vec(x.n), value))
            power += dot(value, vec(x.w))
        else:
            moment = cross(vec(frame.p_BF), value)
            put(x.f, add(vec(x.f), value))
            put(x.n, add(vec(x.n), moment))
            power += dot(value, vec(x.v)) + dot(moment, vec(x.w))
    work.power[Power.LOAD] = power
