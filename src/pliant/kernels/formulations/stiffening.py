"""Geometric stiffness of linear beams, to first order, by two solves (F21 in docs/equations.md).

The first solve finds the acceleration of every beam and the axial forces on its sections; the force -Kg d on its modes
that follows belongs to the second. It has no potential: its work is counted by itself."""

from pliant.kernels._jit import ACCELERATION, kernel, routine
from pliant.kernels.algebra.vec3 import mat, mul, vec
from pliant.kernels.flexible.pool import (
    mean_shortening,
    modal_coordinate,
    modal_rate,
    put_stiffening,
    shortening_at,
    stiffening,
)
from pliant.kernels.kinematics.tree import accelerate
from pliant.system.status import Status
from pliant.system.tables import Power

call_acceleration = ACCELERATION.call
OK = int(Status.OK)


@kernel
def put_tensions(system, work, reaction):
    """Force along the beam on every section: of loads and contacts, and of the bodies it carries."""
    for k in range(len(system.points)):
        work.points[k].tension = work.points[k].axial
    for i in range(len(system.bodies)):
        point = system.bodies[i].point
        if point >= 0:
            work.points[point].tension -= mul(mat(work.bodies[i].R), vec(reaction[i]))[0]


@kernel
def stiffness_times(system, work, f, j):
    """(F21): row j of Kg d."""
    x, shapes, total = work.bodies[f.body], system.shapes, 0.0
    square = x.w[1] ** 2 + x.w[2] ** 2
    for l in range(f.n_b):
        Hm, H1 = mean_shortening(f, shapes, j, l)
        K = square * H1 - x.a[0] * Hm
        for k in range(f.first_point, f.end_point):
            K += work.points[k].tension * shortening_at(f, system.points[k], shapes, j, l)
        total += K * modal_coordinate(f, work.flex, l)
    return total


@routine
def put_stiffening_forces(system, work):
    """-Kg d of every stiffened beam, and its power."""
    power = 0.0
    for i in range(len(system.flexes)):
        f = system.flexes[i]
        for j in range(f.n_b):
            force = -stiffness_times(system, work, f, j) if f.is_stiffened else 0.0
            put_stiffening(f, work.flex, j, force)
            power += force * modal_rate(f, work.flex, j)
    work.power[Power.STIFFENING] = power


@routine
def add_stiffening_forces(system, work, sign):
    for i in range(len(system.flexes)):
        f = system.flexes[i]
        first = system.bodies[f.body].v + system.bodies[f.body].n_v
        for j in range(f.n_b):
            work.dofs[first + j].tau += sign * stiffening(f, work.flex, j)


@kernel(ACCELERATION)
def solve_stiffened(system, work, q, v, vdot, reaction):
    """vdot, and reactions if it has rows, of a tree with stiffened beams; gathered forces stay."""
    formulation = work.calls[0].unstiffened
    status = call_acceleration(formulation, (system, work, q, v, vdot, work.reaction))
    if status != OK:
        return status
    accelerate(system, work, vdot)
    put_tensions(system, work, work.reaction)
    put_stiffening_forces(system, work)
    add_stiffening_forces(system, work, 1.0)
    status = call_acceleration(formulation, (system, work, q, v, vdot, reaction))
    add_stiffening_forces(system, work, -1.0)
    return status
