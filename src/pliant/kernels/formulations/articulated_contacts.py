"""Contacts of a semi-implicit stage in the articulated recursion: a mass along the normal at every point (A16).

Only contacts between one moving body and the world; those between two are rows of kernels/compliance.py. The point is
where the contact touches, in axes of its body, r from the body origin; n the normal, mu the mass.
Numbers in brackets: docs/equations.md, section Articulated bodies."""

from pliant.kernels._jit import STATE, kernel
from pliant.kernels.algebra.sym3 import add_sym, minus_outer, minus_square, put_sym, sym
from pliant.kernels.algebra.vec3 import add_mat, cross, mat, mul_t, put_mat, sub, vec
from pliant.kernels.contact.geometry import measure
from pliant.kernels.formulations.articulated_joints import ZERO_MAT, ZERO_SYM
from pliant.kernels.formulations.articulated_modes import add_to_modes
from pliant.kernels.kinematics.joints import ZERO

call_state = STATE.call


@kernel
def moving_frame(system, contact):
    """The frame of a contact that is not in the world."""
    return contact.frame if system.frames[contact.frame].body >= 0 else contact.plane


@kernel
def point_inertia(mass, n, r):
    """mu (n, r x n) (n, r x n)^T"""
    moment = cross(r, n)
    A, B = minus_square(ZERO_SYM, n, -mass), minus_outer(ZERO_MAT, n, moment, -mass)
    return A, B, minus_square(ZERO_SYM, moment, -mass)


@kernel(STATE)
def contact_masses(system, work, t, q, v):
    """(A16): the masses of every body into work.contact_inertia, their part of modes into those; after
    put_flexible_inertia. Returns how many there are."""
    rows, count = work.contact_inertia, 0
    for k in range(len(system.contacts)):
        mass = work.contacts[k].mass
        if mass == 0.0:
            continue
        if count == 0:
            for i in range(rows.shape[0]):
                for j in range(rows.shape[1]):
                    rows[i, j] = 0.0
        count += 1
        frame = system.frames[moving_frame(system, system.contacts[k])]
        x = work.bodies[frame.body]
        _, _, normal, location = measure(system, work, k)
        R = mat(x.R_WB)
        n, r = mul_t(R, normal), mul_t(R, sub(location, vec(x.p_WB)))
        if frame.point >= 0:
            A, B, C = point_inertia(mass, n, sub(r, vec(work.points[frame.point].s)))
            add_to_modes(system, work, frame.point, A, B, C, ZERO, ZERO)
        A, B, C = point_inertia(mass, n, r)
        A, B, C = with_contact_masses(rows[frame.body], A, B, C)
        put_sym(rows[frame.body], A)
        put_mat(rows[frame.body, 6:], B)
        put_sym(rows[frame.body, 15:], C)
    return count


@kernel
def put_contact_masses(system, work):
    """Whether there are any. Only semi-implicit stages have them: by a call, so that others need not compile them."""
    if work.run[0].implicit_step > 0.0 and work.run[0].n_touching > 0:
        return call_state(work.calls[0].contact_masses, (system, work, 0.0, work.qdot, work.vdot)) > 0
    return False


@kernel
def with_contact_masses(row, A, B, C):
    return add_sym(A, sym(row)), add_mat(B, mat(row[6:])), add_sym(C, sym(row[15:]))
