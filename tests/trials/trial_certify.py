"""A long trial, which CI does not run: stated errors against true ones, over many random problems with known answers.

CERTIFY_TRIALS: how many of rigid robots, and how many of flexible ones (default 200); CERTIFY_FIRST: seed of the first
(default 10000)."""

import math
import os

import numpy as np

from certificates import verdicts
from flexible_problems import flexible_problems
from known_problems import problems
from pliant.trust.shadows import Cause

COUNT = int(os.environ.get("CERTIFY_TRIALS", "200"))
FIRST = int(os.environ.get("CERTIFY_FIRST", "10000"))


def _is_weak(verdict):
    """Maxima and reactions, which small differences of the motion change most."""
    return verdict.figure.startswith(("max", "min")) or "root" in verdict.figure


def _share(verdicts):
    return float(np.mean([verdict.is_bounded for verdict in verdicts])) if verdicts else 1.0


def _print(judged, what):
    excess = float(np.median([verdict.excess for verdict in judged]))
    print(
        f"\n{len(judged)} figures of {what} problems: {_share(judged):.1%} bounded, median {excess:.1f} times too large"
    )
    for verdict in judged:
        if not verdict.is_bounded:
            print(verdict)


def test_stated_errors_bound_the_true_ones():
    judged = [verdict for problem in problems(COUNT, FIRST) for verdict in verdicts(problem)]
    _print(judged, "rigid")
    assert _share(judged) >= 0.95
    assert np.median([verdict.excess for verdict in judged]) <= 100.0


def test_stated_errors_of_flexible_robots_count_their_truncation():
    """Beams of one to five shapes against the same beams with many, at default options of certify."""
    found = [verdicts(problem) for problem in flexible_problems(COUNT, FIRST)]
    judged = [verdict for each in found for verdict in each]
    _print(judged, "flexible")
    counted = [all(not math.isnan(one.errors.get(Cause.MODES, math.nan)) for one in each) for each in found]
    whole = [all(one.is_bounded for one in each) for each in found]
    ratios = [one.excess for one in judged if math.isfinite(one.stated) and one.errors[Cause.MODES] > 0.5 * one.stated]
    print(f"truncation counted in {np.mean(counted):.1%}; without a failing figure {np.mean(whole):.1%}")
    print(f"where truncation rules, the bound is {np.median(ratios):.1f} times the error")
    assert np.mean(counted) >= 0.95
    assert _share([verdict for verdict in judged if not _is_weak(verdict)]) >= 0.99
    assert _share([verdict for verdict in judged if _is_weak(verdict)]) >= 0.97
    assert np.mean(whole) >= 0.9
    assert np.median(ratios) <= 6.0
    assert all(verdict.digits is None for verdict in judged if any(map(math.isnan, verdict.errors.values())))
