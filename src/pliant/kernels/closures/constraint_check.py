"""Constraints of loops at rows of states: values, rates, second rates, wrenches, however loops are closed."""

from pliant.kernels._jit import QUERY, kernel
from pliant.kernels.algebra.vec3 import mul_t, put
from pliant.kernels.closures.constraints import loop_wrench, measure_loops, put_second_rates
from pliant.kernels.kinematics.tree import frame_placement, place_at


@kernel(QUERY)
def loop_wrenches(system, work, q, v, out):
    """out[0] = wrench on the second frame of every loop, in its axes, as work has it; q and v are unused."""
    for i in range(len(system.loops)):
        R, _ = frame_placement(system, work, system.loops[i].second)
        force, couple, _ = loop_wrench(work, system.loops[i])
        put(out[0, 6 * i :], mul_t(R, force))
        put(out[0, 6 * i + 3 :], mul_t(R, couple))
    return 0


@kernel(QUERY)
def second_rates(system, work, q, v, out):
    """out[row] = second rates of all constraints where vdot vanishes: A' v."""
    for row in range(len(q)):
        place_at(system, work, q[row], v[row])
        measure_loops(system, work)
        put_second_rates(system, work, work.zero_vdot, out[row])
    return 0


@kernel(QUERY)
def loop_errors(system, work, q, v, out):
    """out[row] = values, then rates, of all constraints."""
    n = len(system.constraints)
    for row in range(len(q)):
        place_at(system, work, q[row], v[row])
        measure_loops(system, work)
        for k in range(n):
            out[row, k] = work.constraints[k].value
            out[row, n + k] = work.constraints[k].rate
    return 0
