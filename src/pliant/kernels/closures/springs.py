"""Forces of loops that are known beforehand: virtual springs and dampers, or given multipliers.

V = K/2 |g(c)|^2 of all loops, g by SpringForm, and forces -D rate along the conditions themselves."""

from pliant.kernels._jit import REFEREE, STATE, kernel, routine
from pliant.kernels.algebra.vec3 import dot, scale
from pliant.kernels.closures.conditions import measure_loops, multipliers_power, push_multipliers
from pliant.kernels.forces.push import push
from pliant.kernels.kinematics.tree import frame_placement, move, place
from pliant.system.loop_tables import SpringForm
from pliant.system.tables import Power


@routine
def square(work, loop):
    """|c|^2 of a loop."""
    total = 0.0
    for k in range(loop.row, loop.row + loop.n_rows):
        total += work.closings[k].value ** 2
    return total


@routine
def spring_gradient(system, work, i, k):
    """dV/dc over K of condition k of loop i, but for what its place does."""
    form, c, loop = work.run[0].loop_form, work.closings[k].value, system.loops[i]
    if form == SpringForm.SQUARED:
        return 2.0 * square(work, loop) * c
    if form == SpringForm.POLAR:
        _, p = frame_placement(system, work, loop.second)
        return dot(p, p) / system.closings[k].scale ** 2 * c
    if form == SpringForm.DIFFERENCE:
        at, total = k - loop.row, c
        if i > 0 and at < system.loops[i - 1].n_rows:
            total -= work.closings[system.loops[i - 1].row + at].value
        if i + 1 < len(system.loops) and at < system.loops[i + 1].n_rows:
            total += c - work.closings[system.loops[i + 1].row + at].value
        return total
    return c


@routine
def pull_of_place(system, work, i):
    """Of the polar form: the second frame is pulled to the origin as well; the power of that is in the energy."""
    loop = system.loops[i]
    _, p = frame_placement(system, work, loop.second)
    factor = -work.run[0].loop_stiffness * square(work, loop) / system.closings[loop.row].scale ** 2
    push(system, work, loop.second, scale(factor, p), p)


@kernel(STATE)
def gather_loop_springs(system, work, t, q, v):
    """Push with every spring and damper; the dampers' power. Bodies are placed, wrenches cleared."""
    K, D, power = work.run[0].loop_stiffness, work.run[0].loop_damping, 0.0
    measure_loops(system, work)
    for i in range(len(system.loops)):
        loop = system.loops[i]
        for k in range(loop.row, loop.row + loop.n_rows):
            x = work.closings[k]
            x.force = -K * spring_gradient(system, work, i, k) - D * x.rate
            power -= D * x.rate * x.rate
        if work.run[0].loop_form == SpringForm.POLAR:
            pull_of_place(system, work, i)
    push_multipliers(system, work, 1.0)
    work.power[Power.LOOP] = power
    return 0


@kernel(STATE)
def gather_given_multipliers(system, work, t, q, v):
    """Push with the multipliers as the integrator has put them."""
    measure_loops(system, work)
    push_multipliers(system, work, 1.0)
    power = multipliers_power(work)
    if work.run[0].compliance > 0.0:
        # of springs only what their dampers take
        power = 0.0
        for k in range(len(system.closings)):
            power -= work.run[0].loop_damping * work.closings[k].rate ** 2
    work.power[Power.LOOP] = power
    return 0


@routine
def loop_spring_energy(system, work):
    """Energy of the springs, after place."""
    total, form = 0.0, work.run[0].loop_form
    measure_loops(system, work)
    for i in range(len(system.loops)):
        loop = system.loops[i]
        part = square(work, loop)
        if form == SpringForm.SQUARED:
            part = part**2
        elif form == SpringForm.POLAR:
            _, p = frame_placement(system, work, loop.second)
            part *= dot(p, p) / system.closings[loop.row].scale ** 2
        elif form == SpringForm.DIFFERENCE and i > 0:
            part = 0.0
            for k in range(loop.row, loop.row + loop.n_rows):
                before = 0.0
                if k - loop.row < system.loops[i - 1].n_rows:
                    before = work.closings[system.loops[i - 1].row + k - loop.row].value
                part += (work.closings[k].value - before) ** 2
        total += 0.5 * work.run[0].loop_stiffness * part
    return total


@kernel(REFEREE)
def spring_energies(system, work, q, v, out):
    """out[row] = energy of all virtual springs [J]."""
    for row in range(len(q)):
        move(system, work, q[row], v[row])
        place(system, work)
        out[row, 0] = loop_spring_energy(system, work)
    return 0
