"""The scalar constraints of closed loops: values, rates, second rates, and the wrenches of their multipliers.

Symbols: c(q) = 0, A = dc/dv (rate = A v); frames 1 and 2, d = p2 - p1;
    rate = e.(v2 - v1) + n1.w1 + n2.w2, second rate = the same of the accelerations + bias.
A multiplier acts on frame 2 with the force along e and the couple along n2, on frame 1 with -e and n1."""

import math

from pliant.kernels._jit import routine
from pliant.kernels.algebra.vec3 import add, cross, dot, mul, put, scale, sub, vec
from pliant.kernels.forces.apply import apply_couple, apply_force_at_origin
from pliant.kernels.kinematics.joints import ZERO
from pliant.kernels.kinematics.tree import (
    accelerate,
    frame_acceleration,
    frame_motion,
    frame_placement,
    frame_velocity,
)
from pliant.system.loop_tables import ConstraintKind


@routine
def measure_loops(system, work):
    """Value, rate, bias and directions of every constraint, after place."""
    for i in range(len(system.loops)):
        loop = system.loops[i]
        p1, v1 = frame_motion(system, work, loop.first)
        p2, v2 = frame_motion(system, work, loop.second)
        d, u = sub(p2, p1), sub(v2, v1)
        if loop.has_attitude:
            measure_with_attitude(system, work, loop, d, u)
            continue
        for k in range(loop.row, loop.row + loop.n_rows):
            row, x = system.constraints[k], work.constraints[k]
            if row.kind == ConstraintKind.POINT:
                # the rest of it is constant
                e = vec(row.e)
                x.value, x.rate = dot(e, d), dot(e, u)
            else:
                length = math.sqrt(dot(d, d))
                e = scale(1.0 / length, d) if length > 0.0 else vec(row.e)
                x.value, x.rate = length - row.length, dot(e, u)
                x.bias = (dot(u, u) - x.rate**2) / length if length > 0.0 else 0.0
                put(x.e, e)


@routine
def measure_with_attitude(system, work, loop, d, u):
    """The same of a loop whose constraints depend on attitudes."""
    R1, _ = frame_placement(system, work, loop.first)
    R2, _ = frame_placement(system, work, loop.second)
    _, w1 = frame_velocity(system, work, loop.first)
    _, w2 = frame_velocity(system, work, loop.second)
    for k in range(loop.row, loop.row + loop.n_rows):
        row, x = system.constraints[k], work.constraints[k]
        e, n1, n2, value, bias = vec(row.e), ZERO, ZERO, 0.0, 0.0
        if row.kind == ConstraintKind.POINT:
            value = dot(e, d)
        elif row.kind == ConstraintKind.SLIDE:
            e = mul(R1, e)
            value, n1 = dot(e, d), cross(e, d)
            # rate = e.r, r = u - w1 x d
            r = sub(u, cross(w1, d))
            bias = dot(cross(w1, e), r) - dot(e, cross(w1, u))
        else:
            e1, f2 = mul(R1, e), mul(R2, vec(row.f))
            value, n2, e = dot(e1, f2), cross(f2, e1), ZERO
            n1 = scale(-1.0, n2)
            ndot = add(cross(cross(w2, f2), e1), cross(f2, cross(w1, e1)))
            bias = dot(ndot, sub(w2, w1))
        x.value, x.bias = value, bias
        x.rate = dot(e, u) + dot(n1, w1) + dot(n2, w2)
        put(x.e, e)
        put(x.n1, n1)
        put(x.n2, n2)


@routine
def put_second_rates(system, work, vdot, out):
    """out[k] = second rate of every constraint for this vdot."""
    accelerate(system, work, vdot)
    for i in range(len(system.loops)):
        loop = system.loops[i]
        a1, al1 = frame_acceleration(system, work, loop.first)
        a2, al2 = frame_acceleration(system, work, loop.second)
        a = sub(a2, a1)
        for k in range(loop.row, loop.row + loop.n_rows):
            x = work.constraints[k]
            out[k] = dot(vec(x.e), a) + x.bias
            if loop.has_attitude:
                out[k] += dot(vec(x.n1), al1) + dot(vec(x.n2), al2)


@routine
def apply_loop_wrench(system, work, i, force, n1, n2):
    """A force on the second frame of loop i and against the first, and couples on both."""
    loop = system.loops[i]
    apply_force_at_origin(system, work, loop.second, force)
    apply_force_at_origin(system, work, loop.first, scale(-1.0, force))
    if loop.has_attitude:
        apply_couple(system, work, loop.second, n2)
        apply_couple(system, work, loop.first, n1)


@routine
def loop_wrench(work, loop):
    """(force, couple on the second, couple on the first) of all multipliers of a loop, world axes."""
    force, n2, n1 = ZERO, ZERO, ZERO
    for k in range(loop.row, loop.row + loop.n_rows):
        x = work.constraints[k]
        force = add(force, scale(x.force, vec(x.e)))
        if not loop.has_attitude:
            continue
        n2 = add(n2, scale(x.force, vec(x.n2)))
        n1 = add(n1, scale(x.force, vec(x.n1)))
    return force, n2, n1


@routine
def apply_multipliers(system, work, sign):
    """The wrenches of all multipliers as they are, or, with sign -1, taken back."""
    for i in range(len(system.loops)):
        force, n2, n1 = loop_wrench(work, system.loops[i])
        apply_loop_wrench(system, work, i, scale(sign, force), scale(sign, n1), scale(sign, n2))


@routine
def multipliers_power(work):
    power = 0.0
    for k in range(len(work.constraints)):
        power += work.constraints[k].force * work.constraints[k].rate
    return power
