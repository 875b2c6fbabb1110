"""The force of a spring over its elongation, linear or by a table, and its energy."""

from pliant.kernels._jit import kernel


@kernel
def table_values(row, pool, s):
    """Force, energy and slope by the table; beyond its ends the force goes on with the slope that it has there."""
    knots, last = row.first, row.count - 1
    x = min(max(s, pool[knots]), pool[knots + last])
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if x < pool[knots + middle]:
            high = middle
        else:
            low = middle
    k = knots + row.count + 5 * low
    c3, c2, c1, c0, energy = pool[k], pool[k + 1], pool[k + 2], pool[k + 3], pool[k + 4]
    u, beyond = x - pool[knots + low], s - x
    force = ((c3 * u + c2) * u + c1) * u + c0
    slope = (3.0 * c3 * u + 2.0 * c2) * u + c1
    energy += (((c3 * u / 4.0 + c2 / 3.0) * u + c1 / 2.0) * u + c0) * u
    return force + slope * beyond, energy + (force + 0.5 * slope * beyond) * beyond, slope


@kernel
def elastic_force(row, pool, s):
    """f(s) and its energy; row: of a transmission or a spring."""
    if row.count > 0:
        force, energy, _ = table_values(row, pool, s)
        return force, energy
    return row.stiffness * s, 0.5 * row.stiffness * s * s


@kernel
def elastic_slope(row, pool, s):
    """f'(s), not below 0."""
    if row.count > 0:
        _, _, slope = table_values(row, pool, s)
        return max(slope, 0.0)
    return row.stiffness
