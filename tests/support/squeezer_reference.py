"""Andrews' squeezer by itself: seven angles, six constraints, multipliers; every point is a sum of turned rods,
z(q) = z0 + sum l exp(i a.q), so that its Jacobian and acceleration follow term by term."""

from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

# q = beta, Theta, gamma, Phi, delta, Omega, epsilon
UNIT = np.eye(7)
BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPSILON = UNIT
A, B, C = -0.06934 - 0.00227j, -0.03635 + 0.03273j, 0.014 + 0.072j
K2_END = [(0.007, BETA), (-0.028, BETA + THETA)]
# mass, inertia, angle, fixed point and (l, a) of the mass centre
BODIES = [
    (0.04325, 2.194e-6, BETA, 0, [(0.00092, BETA)]),
    (0.00365, 4.410e-7, BETA + THETA, 0, [(0.007, BETA), (-0.0115, BETA + THETA)]),
    (0.02373, 5.255e-6, GAMMA, B, [(0.01043 - 0.01874j, GAMMA)]),
    (0.00706, 5.667e-7, PHI + DELTA, A, [(0.04, DELTA), (-1j * (0.02 - 0.01421), PHI + DELTA)]),
    (0.07050, 1.169e-5, DELTA, A, [(0.02308 + 0.00916j, DELTA)]),
    (0.00706, 5.667e-7, OMEGA + EPSILON, A, [(-0.04j, EPSILON), (0.02 - 0.01421, OMEGA + EPSILON)]),
    (0.05498, 1.912e-5, EPSILON, A, [(-0.01228 - 0.00449j, EPSILON)]),
]
LOOPS = [
    (-B, [*K2_END, (0.035j, GAMMA)]),
    (-A, [*K2_END, (-0.04, DELTA), (0.02j, PHI + DELTA)]),
    (-A, [*K2_END, (0.04j, EPSILON), (-0.02, OMEGA + EPSILON)]),
]
SPRING_END = (B, [(0.02 - 0.018j, GAMMA)])
START = np.array([
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
    -0.222668390165885885, 1.23054744454982119,
])  # fmt: skip


def place(point, q, v):
    """A point, its Jacobian and the part of its acceleration that is left without qdd."""
    z, terms = point
    jacobian, bias = np.zeros(7, complex), 0j
    for rod, a in terms:
        turned = rod * np.exp(1j * (a @ q))
        z = z + turned
        jacobian = jacobian + 1j * turned * a
        bias = bias - turned * (a @ v) ** 2
    return z, jacobian, bias


def rates(t, y, torque=0.033, stiffness=4530.0, rest=0.07785):
    """q' and v', with the multipliers of the loops at acceleration level."""
    q, v = y[:7], y[7:]
    matrix, right = np.zeros((13, 13)), np.zeros(13)
    right[0] = torque
    for mass, inertia, a, fixed, terms in BODIES:
        _, jacobian, bias = place((fixed, terms), q, v)
        matrix[:7, :7] += mass * np.real(np.outer(jacobian.conj(), jacobian)) + inertia * np.outer(a, a)
        right[:7] -= mass * np.real(jacobian.conj() * bias)
    end, jacobian, _ = place(SPRING_END, q, v)
    pull = stiffness * (abs(C - end) - rest) * (C - end) / abs(C - end)
    right[:7] += np.real(jacobian.conj() * pull)
    for k, loop in enumerate(LOOPS):
        _, jacobian, bias = place(loop, q, v)
        for row, part in ((7 + 2 * k, np.real), (8 + 2 * k, np.imag)):
            matrix[row, :7] = matrix[:7, row] = part(jacobian)
            right[row] = -part(bias)
    solved = np.linalg.solve(matrix, right)
    return np.concatenate([v, solved[:7]]), solved[7:]


@cache
def squeeze(end=0.03, **forces):
    """q, v and the multipliers at the end; loops drift by rounding alone in so short a time."""
    y0 = np.concatenate([START, np.zeros(7)])
    found = solve_ivp(
        lambda t, y: rates(t, y, **forces)[0], (0.0, end), y0, method="DOP853", rtol=2.3e-14, atol=1e-15
    ).y[:, -1]
    return found[:7], found[7:], rates(end, found, **forces)[1]
