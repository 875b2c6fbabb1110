"""The damping matrix of a beam: air, Kelvin-Voigt, in proportion to stiffness, and by ratio of each mode."""

import numpy as np
from numpy.typing import NDArray

from pliant.beams.sampling import Samples, quadratic
from pliant.errors import ModelError
from pliant.model.flexible import Beam

Array = NDArray[np.float64]


def damping_matrix(beam: Beam, s: Samples, K: Array, mass: Array) -> Array:
    """The dissipated power is e^T D e. K and mass are the modal stiffness and mass of the undeformed beam."""
    damping = beam.damping
    D = damping.stiffness_time * K
    D = D + damping.air * _air(s, len(K)) + damping.kelvin_voigt * _viscous(beam, s)
    if damping.ratio:
        D = D + damping.ratio * _critical(beam, K, mass)
    return np.asarray(D)


def _air(s: Samples, m: int) -> Array:
    """Per unit of damping per length, on the bending velocity."""
    out = np.zeros((m, m))
    n = len(s.curvature)
    same = s.axis[:n, None] == s.axis[None, :n]
    out[:n, :n] = np.where(same, (s.phi[:n] * s.weights) @ s.phi[:n].T, 0.0)
    return out


def _viscous(beam: Beam, s: Samples) -> Array:
    """Per unit of viscosity. Bending acts by the curvature of the axis, whatever the theory (spec 1, misprint 6)."""
    section = s.values.section
    zero = np.zeros_like(s.x)
    shear = beam.material.shear / beam.material.young
    moduli = np.array([section.moment_z, zero, section.moment_y, zero, section.area, shear * section.torsion])
    rates = s.strain.copy()
    n = len(s.curvature)
    for row, axis in ((0, 1), (2, 2)):
        rates[row, :n] = np.where((s.axis[:n] == axis)[:, None], s.curvature, 0.0)
    return quadratic(moduli * s.weights, rates)


def _critical(beam: Beam, K: Array, mass: Array) -> Array:
    """Twice the frequency of every mode of the beam alone, in modal coordinates."""
    try:
        L = np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        raise ModelError(
            f"beam '{beam.name}': a damping ratio needs inertia in every mode, and torsion has none; "
            'give rotary = "section" and a polar inertia, or damping by stiffness_time'
        ) from None
    half = np.linalg.solve(L, np.linalg.solve(L, K).T)
    omega2, V = np.linalg.eigh(0.5 * (half + half.T))
    LV = L @ V
    return np.asarray((LV * (2 * np.sqrt(np.maximum(omega2, 0.0)))) @ LV.T)
