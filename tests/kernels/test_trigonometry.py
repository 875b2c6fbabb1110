"""cos and sin are right to the last place, whatever the angle; those of compiled kernels too."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import pliant
from pliant.kernels.algebra import trigonometry
from pliant.kernels.algebra.lanes import WIDTH
from pliant.kernels.algebra.trigonometry import LARGEST, cos_sin

RNG = np.random.default_rng(17)
QUARTERS = RNG.integers(-83_000, 83_000, 500) * (math.pi / 2)
ANGLES = {
    "within a quarter": RNG.uniform(-0.8, 0.8, 1000),
    "a few turns": RNG.uniform(-10.0, 10.0, 1000),
    "many turns": RNG.uniform(-LARGEST, LARGEST, 1000),
    "doubles nearest to quarters": QUARTERS,
    "near quarters": QUARTERS * (1.0 + 1e-13 * RNG.normal(size=500)),
    "tiny": 10.0 ** RNG.uniform(-300.0, 0.0, 500),
    "beyond the reduction": RNG.choice([-1.0, 1.0], 200) * LARGEST * 10.0 ** RNG.uniform(0.0, 25.0, 200),
    "on the borders": np.array([0.0, math.pi / 4, np.nextafter(math.pi / 4, 1.0), LARGEST, np.nextafter(LARGEST, 0.0)]),
}


def places(found, exact):
    """Error in units in the last place."""
    return float(abs(mpmath.mpf(float(found)) - exact) / mpmath.mpf(np.spacing(abs(float(exact)))))


def worst(angles, cosines, sines):
    with mpmath.workprec(1200):
        exact = [(mpmath.cos(mpmath.mpf(x)), mpmath.sin(mpmath.mpf(x))) for x in angles.tolist()]
        return max(max(places(c, e[0]), places(s, e[1])) for c, s, e in zip(cosines, sines, exact, strict=True))


@pytest.mark.parametrize("which", ANGLES)
def test_cos_and_sin_are_within_one_unit_in_the_last_place(which):
    cosines, sines = np.transpose([cos_sin(x) for x in ANGLES[which].tolist()])
    assert worst(ANGLES[which], cosines, sines) < 1.0


@pytest.mark.parametrize("which", ANGLES)
def test_a_compiled_joint_turns_by_them(which):
    """With another mistake: products and sums are one operation there."""
    angles = ANGLES[which]
    arm = pliant.Model(
        name="arm",
        bodies=(pliant.Body(name="arm", mass=1.0, com=(1.0, 0.0, 0.0), inertia=(1.0, 1.0, 1.0)),),
        joints=(pliant.Joint(name="hinge", kind="revolute", child="arm", axis=(0.0, 0.0, 1.0)),),
    )
    R = np.array([pliant.frame_placement(arm, [x], "arm").R for x in angles])
    assert worst(angles, R[:, 0, 0], R[:, 1, 0]) < 1.0


def test_eight_at_once_are_those_of_each():
    angles = np.concatenate([ANGLES["a few turns"], ANGLES["near quarters"]])[: 100 * WIDTH].reshape(-1, WIDTH)
    for row in angles:
        at_once = np.transpose(cos_sin(row))
        assert np.array_equal(at_once, [cos_sin(x) for x in row.tolist()])


def test_what_is_no_number_stays_none():
    assert all(math.isnan(x) for x in cos_sin(math.nan))


def test_the_parts_of_half_pi_are_half_pi_and_their_multiples_exact():
    parts = trigonometry.HALF_PI_1, trigonometry.HALF_PI_2, trigonometry.HALF_PI_3
    with mpmath.workprec(300):
        assert abs(sum(map(mpmath.mpf, parts)) - mpmath.pi / 2) < mpmath.mpf(2) ** -121
        for part in parts[:2]:
            assert mpmath.mpf(part * (2.0**20 - 1.0)) == mpmath.mpf(part) * (2**20 - 1)
