"""Planar mechanisms in absolute coordinates (x, y, angle of every mass centre) with a multiplier for every joint.

Nothing of pliant: M = diag(m, m, I), pins as differences of points, one linear system. For comparison."""

import numpy as np


class Planar:
    """Bodies (mass, inertia) and pins (body, place, body, place); body -1: the ground; places from the mass centre."""

    def __init__(self, bodies, pins):
        self.M = np.diag(np.repeat([1.0], 3 * len(bodies)) * np.array([x for m, I in bodies for x in (m, m, I)]))
        self.pins = pins

    def conditions(self, x, v):
        """(c, A, A' v) of all pins: point of the first minus point of the second."""
        n = len(x)
        values, rows, biases = [], [], []
        for first, a, second, b in self.pins:
            value, bias, A = np.zeros(2), np.zeros(2), np.zeros((2, n))
            for sign, body, at in ((1.0, first, a), (-1.0, second, b)):
                at = np.asarray(at, float)
                if body < 0:
                    value += sign * at
                    continue
                i = 3 * body
                c, s = np.cos(x[i + 2]), np.sin(x[i + 2])
                arm = np.array([c * at[0] - s * at[1], s * at[0] + c * at[1]])
                value += sign * (x[i : i + 2] + arm)
                A[:, i : i + 2] += sign * np.eye(2)
                A[:, i + 2] += sign * np.array([-arm[1], arm[0]])
                bias -= sign * arm * v[i + 2] ** 2
            values.append(value)
            rows.append(A)
            biases.append(bias)
        return np.concatenate(values), np.vstack(rows), np.concatenate(biases)

    def accelerations(self, x, v, forces):
        """(xdd, multipliers): M xdd = forces + A^T lambda, A xdd = -A' v."""
        _, A, bias = self.conditions(x, v)
        m = len(bias)
        whole = np.block([[self.M, -A.T], [A, np.zeros((m, m))]])
        found = np.linalg.solve(whole, np.concatenate([forces, -bias]))
        return found[: len(x)], found[len(x) :]
