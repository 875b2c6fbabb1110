"""Forces and couples on frames."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, vec
from pliant.system.tables import Power


@kernel
def component(work, row):
    return work.signals[row].s if row >= 0 else 0.0


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
        given = (
            component(work, load.signal[0]),
            component(work, load.signal[1]),
            component(work, load.signal[2]),
        )
        value = mul(mat(frame.R_BF), given) if load.is_follower else mul_t(mat(x.R_WB), given)
        if load.is_couple:
            put(x.n, add(vec(x.n), value))
            power += dot(value, vec(x.w))
        else:
            moment = cross(vec(frame.p_BF), value)
            put(x.f, add(vec(x.f), value))
            put(x.n, add(vec(x.n), moment))
            power += dot(value, vec(x.v)) + dot(moment, vec(x.w))
    work.power[Power.LOAD] = power
