"""A slider-crank with a rod that bends and stretches, by equations of its own: positions of material points of the rod
differentiated, sums over Gauss points, one multiplier for the guide; integrated by SciPy.

z = (angle of the rod, first and second sine, stretch at the middle, stretch at the end)"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

CRANK, ROD, SLIDER, YOUNG, DENSITY, SIDE, SPEED = 0.15, 0.30, 0.075552, 0.2e12, 7870.0, 0.008, 150.0
START = np.array([0.0, 0.0, 0.0, 1.03339863e-5, 1.69327969e-5])
RATES = np.array([-74.99576703969453, 0.4448961125815990, 4.634339319238670e-3, -1.78591076e-6, -2.68938672e-6])
AREA, SECOND_MOMENT = SIDE**2, SIDE**4 / 12.0
TEST_SET = 14.0  # times the mass of the stretch, which its mass matrix has too much


class FlexibleCrank:
    def __init__(self, extra: float = 0.0) -> None:
        x, w = np.polynomial.legendre.leggauss(12)
        self.x, self.w = 0.5 * (x + 1.0), 0.5 * w * ROD * DENSITY * AREA
        zero = np.zeros_like(self.x)
        xi = self.x
        self.along = np.stack([zero, zero, 4.0 * xi * (1.0 - xi), xi * (2.0 * xi - 1.0)])
        self.across = np.stack([np.sin(np.pi * xi), np.sin(2.0 * np.pi * xi), zero, zero])
        self.K = np.zeros((4, 4))
        self.K[0, 0] = YOUNG * SECOND_MOMENT * np.pi**4 / (2.0 * ROD**3)
        self.K[1, 1] = 16.0 * self.K[0, 0]
        self.K[2:, 2:] = YOUNG * AREA / (3.0 * ROD) * np.array([[16.0, -8.0], [-8.0, 7.0]])
        self.extra = np.zeros((4, 4))
        self.extra[2:, 2:] = extra * DENSITY * AREA * ROD / 15.0 * np.array([[8.0, 1.0], [1.0, 2.0]])

    def accelerations(self, t, z, rates):
        turn, q, spin, qdot = z[0], z[1:], rates[0], rates[1:]
        e = np.array([np.cos(turn), np.sin(turn)])
        n = np.array([-e[1], e[0]])
        u, v, udot, vdot = ROD * self.x + q @ self.along, q @ self.across, qdot @ self.along, qdot @ self.across
        # r = crank + u e + v n; J = dr/dz, and what is left of its acceleration
        J = np.empty((5, 2, len(self.x)))
        J[0] = np.outer(n, u) - np.outer(e, v)
        J[1:] = e[None, :, None] * self.along[:, None, :] + n[None, :, None] * self.across[:, None, :]
        knee = -CRANK * SPEED**2 * np.array([np.cos(SPEED * t), np.sin(SPEED * t)])
        rest = knee[:, None] - spin**2 * (np.outer(e, u) + np.outer(n, v))
        rest += 2.0 * spin * (np.outer(n, udot) - np.outer(e, vdot))
        flat = J.reshape(5, -1)
        weighed = (J * self.w).reshape(5, -1)
        M, f = weighed @ flat.T, -weighed @ rest.ravel()
        M[0, 0] += DENSITY * SECOND_MOMENT * ROD + q @ self.extra @ q
        M[1:, 1:] += self.extra
        f[0] -= 2.0 * spin * (qdot @ self.extra @ q)
        f[1:] += spin**2 * (self.extra @ q) - self.K @ q
        # the slider goes along x
        length = ROD + q[3]
        end = np.outer([-length * e[1], length * e[0]], [1, 0, 0, 0, 0]) + np.outer(e, [0, 0, 0, 0, 1])
        left = knee - spin**2 * length * e + 2.0 * spin * qdot[3] * n
        M += SLIDER * np.outer(end[0], end[0])
        f -= SLIDER * end[0] * left[0]
        saddle = np.zeros((6, 6))
        saddle[:5, :5], saddle[:5, 5], saddle[5, :5] = M, end[1], end[1]
        return np.linalg.solve(saddle, np.append(f, -left[1]))[:5]

    def end(self, duration, rtol=1e-10):
        def rates(t, y):
            return np.concatenate([y[5:], self.accelerations(t, y[:5], y[5:])])

        y0 = np.concatenate([START, RATES])
        return solve_ivp(rates, (0.0, duration), y0, "DOP853", rtol=rtol, atol=1e-3 * rtol).y[:5, -1]
