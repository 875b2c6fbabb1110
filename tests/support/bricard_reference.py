"""Bricard's mechanism with one angle: the even hinges follow from the odd ones in closed form, positions from products
of rotations, and time from conservation of energy as an integral. Derivatives by complex steps."""

import numpy as np

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
AXES = "yzxyz"
GRAVITY = 9.81


def rotation(axis, angle):
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = np.eye(3, dtype=complex)
    R[j, j] = R[k, k] = np.cos(angle)
    R[k, j], R[j, k] = np.sin(angle), -np.sin(angle)
    return R


def even(odd):
    return -np.arcsin(np.sin(odd) / (1.0 + np.sin(odd)))


def chain(odd):
    """Corners, attitudes and mass centres of the five rods; the sixth corner must stay where it is."""
    places, attitudes, centres = [CORNERS[0].astype(complex)], [], []
    R = np.eye(3, dtype=complex)
    for k, axis in enumerate(AXES):
        R = R @ rotation(axis, odd if k % 2 == 0 else even(odd))
        along = R @ (CORNERS[k + 1] - CORNERS[k])
        attitudes.append(R)
        centres.append(places[-1] + 0.5 * along)
        places.append(places[-1] + along)
    return places, attitudes, centres


def energies(odd, width=0.1):
    """(inertia that belongs to the angle's rate, height of all mass centres)"""
    step = 1e-30
    _, attitudes, centres = chain(odd + 1j * step)
    inertia, height = 0.0, 0.0
    for k, (R, centre) in enumerate(zip(attitudes, centres, strict=True)):
        W = R.imag / step @ R.real.T
        turned = R.real.T @ np.array([W[2, 1], W[0, 2], W[1, 0]])
        edges = np.where(np.abs(CORNERS[k + 1] - CORNERS[k]) > 0, 1.0, width)
        box = (np.sum(edges**2) - edges**2) / 12.0
        inertia += np.sum((centre.imag / step) ** 2) + box @ turned**2
        height += centre.real[1]
    return inertia, height


def _slope(s):
    """dt/ds with the angle pi sin^2(s/2): it begins and ends at rest at 0 and pi, where the root is then smooth."""
    odd = np.pi * np.sin(0.5 * s) ** 2
    inertia, height = energies(odd)
    return np.sqrt(inertia / (2.0 * GRAVITY * (energies(0.0)[1] - height))) * 0.5 * np.pi * np.sin(s)


def time_until(s, n=60):
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return 0.5 * s * sum(w * _slope(0.5 * s * (x + 1.0)) for x, w in zip(nodes, weights, strict=True))


def period():
    return 2.0 * time_until(np.pi)


def third_hinge(t):
    """P3 at a time."""
    t = abs(t - period() * round(t / period()))  # it goes back as it came
    s = 2.0 * np.pi * t / period()
    for _ in range(8):
        s -= (time_until(s) - t) / _slope(s)
    return chain(np.pi * np.sin(0.5 * s) ** 2)[0][2].real
