"""Elastic and damping forces of flexible bodies on their modes, -K d - D e (F17); their damping power."""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.flexible.body import bends_at, slopes_at
from pliant.kernels.flexible.pool import (
    damping,
    modal_coordinate,
    modal_rate,
    station_bend,
    station_slope,
    stiffness,
)
from pliant.system.status import Status
from pliant.system.tables import Power

OK, DEFLECTED = int(Status.OK), int(Status.DEFLECTED)


@kernel
def add_fourth_order_forces(f, shapes, flex, dofs, first):
    """(F19): minus the gradient of 1/2 (y' y'' + z' z'')^2, sqrt(EI w) in the curvatures, summed over the stations."""
    for k in range(f.n_k):
        slope_y, slope_z, _, _ = slopes_at(f, shapes, flex, k)
        bend_y, bend_z = bends_at(f, shapes, flex, k)
        product = slope_y * bend_y + slope_z * bend_z
        for j in range(f.n_b):
            slope, bend = (slope_y, bend_y) if j < f.n_y else (slope_z, bend_z)
            by_mode = station_slope(f, shapes, k, j) * bend + slope * station_bend(f, shapes, k, j)
            dofs[first + j].tau -= product * by_mode


@routine
def gather_beam_forces(system, work):
    """Add to tau of the modes; after move. DEFLECTED if some bending exceeds twice the length."""
    flex, shapes = work.flex, system.shapes
    power = 0.0
    for i in range(len(system.flexes)):
        f = system.flexes[i]
        body = system.bodies[f.body]
        first = body.v + body.n_v
        bent = 0.0
        for j in range(f.n_b):
            bent += modal_coordinate(f, flex, j) ** 2
        if bent > 4.0 * f.length**2:
            work.run[0].body = f.body
            return DEFLECTED
        for j in range(f.m):
            elastic, damped = 0.0, 0.0
            for l in range(f.m):
                elastic += stiffness(f, shapes, j, l) * modal_coordinate(f, flex, l)
                damped += damping(f, shapes, j, l) * modal_rate(f, flex, l)
            work.dofs[first + j].tau -= elastic + damped
            power -= damped * modal_rate(f, flex, j)
        if f.n_k > 0:
            add_fourth_order_forces(f, shapes, flex, work.dofs, first)
    work.power[Power.DAMPER] += power
    return OK
