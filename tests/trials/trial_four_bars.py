"""A long trial, which CI does not run: the N-four-bar of the IFToMM benchmark with many starts at every tolerance, by
every closure, against the one equation of its motion.

    python -m pytest tests/trials/trial_four_bars.py

FOUR_BAR_STARTS: how many (default 20; 100 after changes of closures).

A run passes with errors that fall with the tolerance (stiffness, step); every row it has is right."""

import os

import numpy as np
import pytest

from four_bars import run_four_bars

SPEEDS = [1.0, *np.random.default_rng(7).uniform(0.3, 10.0, 99)][: int(os.environ.get("FOUR_BAR_STARTS", "20"))]
# speeds of rows that lie beside a dead point are rounding over what the loops determine there
FLOOR = 1e-6
DURATION = 3.0


def trial(n, allowed, speeds=SPEEDS, **options):
    """All starts; how many have passed."""
    passed = 0
    for speed in speeds:
        found, error = run_four_bars(n, speed, DURATION, **options)
        assert found.is_ok or "closure" in found.reason, found.reason
        assert error < allowed, (speed, error, found.status)
        passed += found.is_ok
    return passed


@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize(
    "how",
    [{"closure": "multipliers"}, {"closure": "reduced"}, {"baumgarte": 10.0}],
    ids=["multipliers", "reduced", "baumgarte"],
)
def test_errors_fall_with_the_tolerance(how, n, rtol):
    speeds = SPEEDS if n < 40 else SPEEDS[:5]
    assert trial(n, 2e3 * rtol + FLOOR, speeds, rtol=rtol, atol=0.01 * rtol, **how) == len(speeds)


@pytest.mark.parametrize("step", [8e-3, 2e-3, 5e-4])
@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize("closure", ["multipliers", "implicit"])
@pytest.mark.parametrize("integrator", ["generalised_alpha", "hht", "newmark"])
def test_errors_fall_with_the_square_of_the_step(integrator, closure, n, step):
    speeds = SPEEDS if n < 40 else SPEEDS[:5]
    passed = trial(n, 100.0 * step**2, speeds, integrator=integrator, closure=closure, step=step)
    assert passed == len(speeds)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_errors_of_springs_fall_with_their_stiffness(n):
    # of 40 loops errors of longer steps are as large as those of stiff springs, and of the other sign
    how = {"closure": "springs", "integrator": "generalised_alpha", "step": 5e-4 if n < 40 else 2.5e-4}
    for speed in SPEEDS if n < 40 else SPEEDS[:5]:
        off = [run_four_bars(n, speed, 1.0, closure_stiffness=K, **how)[1] for K in (1e6, 1e7, 1e8)]
        assert off[0] > off[1] > off[2]
