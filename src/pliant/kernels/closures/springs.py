"""Forces of loops that are known beforehand: virtual springs and dampers, or prescribed multipliers.

V = K/2 |g(c)|^2 of all loops, g by SpringForm, and forces -D rate along the constraints themselves."""

from pliant.kernels._jit import QUERY, STATE, kernel, routine
from pliant.kernels.algebra.vec3 import dot, scale
from pliant.kernels.closures.constraints import apply_multipliers, measure_loops, multipliers_power
from pliant.kernels.closures.independent import is_jacobian_current, put_constraint_jacobian
from pliant.kernels.forces.apply import apply_force
from pliant.kernels.kinematics.tree import frame_placement, place_at
from pliant.kernels.tangents import end_row, new_row
from pliant.system.loop_tables import SpringForm
from pliant.system.tables import Power


@routine
def square(work, loop):
    """|c|^2 of a loop."""
    total = 0.0
    for k in range(loop.row, loop.row + loop.n_rows):
        total += work.constraints[k].value ** 2
    return total


@routine
def spring_gradient(system, work, i, k):
    """dV/dc over K of constraint k of loop i, at a constant position of its second frame."""
    form, c, loop = work.closure[0].spring_form, work.constraints[k].value, system.loops[i]
    if form == SpringForm.SQUARED:
        return 2.0 * square(work, loop) * c
    if form == SpringForm.POLAR:
        _, p = frame_placement(system, work, loop.second)
        return dot(p, p) / system.constraints[k].scale ** 2 * c
    if form == SpringForm.DIFFERENCE:
        at, total = k - loop.row, c
        if i > 0 and at < system.loops[i - 1].n_rows:
            total -= work.constraints[system.loops[i - 1].row + at].value
        if i + 1 < len(system.loops) and at < system.loops[i + 1].n_rows:
            total += c - work.constraints[system.loops[i + 1].row + at].value
        return total
    return c


@routine
def spring_slope(system, work, i, k):
    """d^2V/dc^2 over K of constraint k of loop i, the others as they are; of the polar form without its pull."""
    form, c, loop = work.closure[0].spring_form, work.constraints[k].value, system.loops[i]
    if form == SpringForm.SQUARED:
        return 2.0 * square(work, loop) + 4.0 * c * c
    if form == SpringForm.POLAR:
        _, p = frame_placement(system, work, loop.second)
        return dot(p, p) / system.constraints[k].scale ** 2
    if form == SpringForm.DIFFERENCE:
        is_followed = i + 1 < len(system.loops) and k - loop.row < system.loops[i + 1].n_rows
        return 2.0 if is_followed else 1.0
    return 1.0


@routine
def apply_polar_pull(system, work, i):
    """Of the polar form: the second frame is pulled to the origin as well; the power of that is in the energy."""
    loop = system.loops[i]
    _, p = frame_placement(system, work, loop.second)
    factor = -work.closure[0].spring_stiffness * square(work, loop) / system.constraints[loop.row].scale ** 2
    apply_force(system, work, loop.second, scale(factor, p), p)


@kernel(STATE)
def gather_loop_springs(system, work, t, q, v):
    """Apply every spring and damper; the dampers' power. Bodies are placed, wrenches cleared."""
    K, D, power = work.closure[0].spring_stiffness, work.closure[0].spring_damping, 0.0
    measure_loops(system, work)
    for i in range(len(system.loops)):
        loop = system.loops[i]
        for k in range(loop.row, loop.row + loop.n_rows):
            x = work.constraints[k]
            x.force = -K * spring_gradient(system, work, i, k) - D * x.rate
            power -= D * x.rate * x.rate
        if work.closure[0].spring_form == SpringForm.POLAR:
            apply_polar_pull(system, work, i)
    apply_multipliers(system, work, 1.0)
    work.power[Power.LOOP] = power
    return 0


@kernel(STATE)
def put_loop_tangents(system, work, t, q, v):
    """The springs as rows of a semi-implicit stage (kernels/tangents.py); loops are measured."""
    closure = work.closure[0]
    if not is_jacobian_current(work, q):
        put_constraint_jacobian(system, work, q)
    for i in range(len(system.loops)):
        for k in range(system.loops[i].row, system.loops[i].row + system.loops[i].n_rows):
            row = new_row(work)
            if row >= 0:
                for j in range(len(work.dofs)):
                    work.compliant_jacobian[row, j] = work.constraint_jacobian[k, j]
                slope = closure.spring_stiffness * spring_slope(system, work, i, k)
                end_row(work, row, slope, closure.spring_damping, work.run[0].implicit_step)
    return 0


@kernel(STATE)
def gather_prescribed_multipliers(system, work, t, q, v):
    """Apply the multipliers as the integrator has prescribed them."""
    measure_loops(system, work)
    apply_multipliers(system, work, 1.0)
    power = multipliers_power(work)
    if work.closure[0].spring_compliance > 0.0:
        # of springs only what their dampers take
        power = 0.0
        for k in range(len(system.constraints)):
            power -= work.closure[0].spring_damping * work.constraints[k].rate ** 2
    work.power[Power.LOOP] = power
    return 0


@routine
def loop_spring_energy(system, work):
    """Energy of the springs, after place."""
    total, form = 0.0, work.closure[0].spring_form
    measure_loops(system, work)
    for i in range(len(system.loops)):
        loop = system.loops[i]
        part = square(work, loop)
        if form == SpringForm.SQUARED:
            part = part**2
        elif form == SpringForm.POLAR:
            _, p = frame_placement(system, work, loop.second)
            part *= dot(p, p) / system.constraints[loop.row].scale ** 2
        elif form == SpringForm.DIFFERENCE and i > 0:
            part = 0.0
            for k in range(loop.row, loop.row + loop.n_rows):
                before = 0.0
                if k - loop.row < system.loops[i - 1].n_rows:
                    before = work.constraints[system.loops[i - 1].row + k - loop.row].value
                part += (work.constraints[k].value - before) ** 2
        total += 0.5 * work.closure[0].spring_stiffness * part
    return total


@kernel(QUERY)
def spring_energies(system, work, q, v, out):
    """out[row] = energy of all virtual springs [J]."""
    for row in range(len(q)):
        place_at(system, work, q[row], v[row])
        out[row, 0] = loop_spring_energy(system, work)
    return 0
