"""Forces of loops that are known beforehand: virtual springs and dampers, -K value - D rate, or given multipliers."""

from pliant.kernels._jit import routine
from pliant.kernels.closures.conditions import measure_loops, push_multipliers
from pliant.system.tables import Power


@routine
def gather_loop_springs(system, work):
    """Push with every spring and damper; the dampers' power. Bodies are placed, wrenches cleared."""
    K, D, power = work.run[0].loop_stiffness, work.run[0].loop_damping, 0.0
    measure_loops(system, work)
    for k in range(len(system.closings)):
        x = work.closings[k]
        x.force = -K * x.value - D * x.rate
        power -= D * x.rate * x.rate
    push_multipliers(system, work)
    work.power[Power.LOOP] = power


@routine
def gather_given_multipliers(system, work):
    """Push with the multipliers as the integrator has put them."""
    measure_loops(system, work)
    work.power[Power.LOOP] = push_multipliers(system, work)


@routine
def loop_spring_energy(system, work):
    """Energy of the springs, after place."""
    total = 0.0
    measure_loops(system, work)
    for k in range(len(system.closings)):
        total += 0.5 * work.run[0].loop_stiffness * work.closings[k].value ** 2
    return total
