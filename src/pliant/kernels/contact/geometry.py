"""Where contacts are: gap, normal, and velocity of the point against the plane, with their rates. All in world axes."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.finite import ULP
from pliant.kernels.algebra.vec3 import add, cross, dot, scale, sub
from pliant.kernels.kinematics.tree import frame_acceleration, frame_placement, frame_state, frame_velocity

ROUNDING_ULPS = 8.0  # of the lengths and speeds that enter: a gap and its rate are sums of a few of them


@kernel
def measure(system, work, k):
    """(gap, u, n, location) of contact k, after place: u velocity at the location of the point's body against the
    plane's, n normal; gap' = n.u."""
    contact = system.contacts[k]
    R, _ = frame_placement(system, work, contact.plane)
    p0, v0, w0 = frame_state(system, work, contact.plane)
    p, v, w = frame_state(system, work, contact.frame)
    n = (R[2], R[5], R[8])
    arm = scale(-contact.radius, n)
    location = add(p, arm)
    u = sub(add(v, cross(w, arm)), add(v0, cross(w0, sub(location, p0))))
    return dot(n, sub(p, p0)) - contact.radius, u, n, location


@kernel
def measure_rates(system, work, k):
    """(u', n') of contact k, after accelerate."""
    contact = system.contacts[k]
    R, _ = frame_placement(system, work, contact.plane)
    p0, v0, w0 = frame_state(system, work, contact.plane)
    a0, al0 = frame_acceleration(system, work, contact.plane)
    p, v, w = frame_state(system, work, contact.frame)
    a, al = frame_acceleration(system, work, contact.frame)
    n = (R[2], R[5], R[8])
    ndot = cross(w0, n)
    arm, arm_dot = scale(-contact.radius, n), scale(-contact.radius, ndot)
    of_point = add(a, add(cross(al, arm), cross(w, arm_dot)))
    arm0, arm0_dot = sub(add(p, arm), p0), sub(add(v, arm_dot), v0)
    of_plane = add(a0, add(cross(al0, arm0), cross(w0, arm0_dot)))
    return sub(of_point, of_plane), ndot


@kernel
def total_size(x):
    return abs(x[0]) + abs(x[1]) + abs(x[2])


@kernel
def gap_rounding(contact, gap, location):
    """How much of the gap of this point may be rounding [m]."""
    return ROUNDING_ULPS * ULP * (contact.size + contact.radius + total_size(location) + abs(gap))


@kernel
def rests_on_plane(system, work, contact, gap, u, n, location):
    """Whether gap and rate of this point vanish within rounding."""
    if abs(gap) > gap_rounding(contact, gap, location):
        return False
    _, v, w = frame_state(system, work, contact.frame)
    _, v0, w0 = frame_state(system, work, contact.plane)
    reach = contact.size + contact.radius
    speeds = total_size(v) + total_size(v0) + reach * (total_size(w) + total_size(w0))
    return abs(dot(n, u)) <= ROUNDING_ULPS * ULP * speeds


@kernel
def tangent(u, n):
    """Part of u along the plane."""
    return sub(u, scale(dot(n, u), n))


@kernel
def plane_axes(system, work, k):
    """x and y axes of the plane of contact k, and their rates."""
    R, _ = frame_placement(system, work, system.contacts[k].plane)
    _, w = frame_velocity(system, work, system.contacts[k].plane)
    x, y = (R[0], R[3], R[6]), (R[1], R[4], R[7])
    return x, y, cross(w, x), cross(w, y)
