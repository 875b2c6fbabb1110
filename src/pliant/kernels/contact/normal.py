"""Normal forces of contacts. d depth, d' its rate; laws by kind of a contact row.

Within a phase the laws are continued beyond their range (depth below 0, force below 0), so that trial steps across an
event stay smooth; events end the phase there, so no accepted force pulls."""

import math

from pliant.kernels._jit import kernel
from pliant.system.contact_tables import NormalKind


@kernel
def elastic_force(contact, d):
    """K d^n, odd in d."""
    if contact.n == 1.5:
        return contact.K * d * math.sqrt(abs(d))
    if contact.n == 1.0:
        return contact.K * d
    return contact.K * d * abs(d) ** (contact.n - 1.0)


@kernel
def damping(contact, phase):
    """c of 1 + c d'."""
    return contact.c if contact.kind == NormalKind.GIVEN else contact.X / phase.impact_speed


@kernel
def normal_force(contact, phase, d, rate):
    """Force along the normal while touching."""
    if not phase.is_pushing:
        return 0.0
    if contact.kind == NormalKind.VISCO:
        return contact.K * d + contact.c * rate
    return elastic_force(contact, d) * (1.0 + damping(contact, phase) * rate)


@kernel
def clamp_margin(contact, phase, d, rate, rate_dot):
    """What has the sign of the unclamped force while d > 0, and its rate."""
    if contact.kind == NormalKind.VISCO:
        return contact.K * d + contact.c * rate, contact.K * rate + contact.c * rate_dot
    c = damping(contact, phase)
    return 1.0 + c * rate, c * rate_dot


@kernel
def normal_tangents(contact, phase, d, rate):
    """(dN/dd, dN/dd') of the normal force, neither below 0."""
    if not phase.is_pushing:
        return 0.0, 0.0
    if contact.kind == NormalKind.VISCO:
        return contact.K, contact.c
    slope, c = contact.K * abs(d) ** (contact.n - 1.0), damping(contact, phase)
    return max(contact.n * slope * (1.0 + c * rate), 0.0), max(slope * d * c, 0.0)
