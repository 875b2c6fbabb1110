"""A long trial, which CI does not run: stated errors against true ones, over many random problems with known answers.

CERTIFY_TRIALS: how many problems (default 200); CERTIFY_FIRST: seed of the first (default 10000)."""

import os

import numpy as np

from certificates import verdicts
from known_problems import problems

COUNT = int(os.environ.get("CERTIFY_TRIALS", "200"))
FIRST = int(os.environ.get("CERTIFY_FIRST", "10000"))


def test_stated_errors_bound_the_true_ones():
    judged = [verdict for problem in problems(COUNT, FIRST) for verdict in verdicts(problem)]
    missed = [verdict for verdict in judged if not verdict.is_bounded]
    excess = float(np.median([verdict.excess for verdict in judged]))
    share = 1.0 - len(missed) / len(judged)
    print(f"\n{len(judged)} figures of {COUNT} problems: {share:.1%} bounded, median {excess:.1f} times too large")
    for verdict in missed:
        print(verdict)
    assert share >= 0.95
    assert excess <= 100.0
