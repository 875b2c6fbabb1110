"""Long trials of friction: thousands of random models, no violation; motions that do not hang on the tolerance.

FRICTION_TRIALS: how many chains, a tenth of rods and boxes (default 4000; 20 000 after changes of friction)."""

import os
import warnings

import numpy as np
import pytest

import friction_models
import pliant
from pliant import AccuracyWarning

COUNT = int(os.environ.get("FRICTION_TRIALS", "4000"))
CREEP = 1e-5  # [m, m/s]
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)


def run(model, duration, dense=False, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return pliant.simulate(model, duration, dense=dense, **options)


def end(result):
    return np.concatenate([result.q[-1], result.v[-1]])


@pytest.mark.parametrize(("kind", "share"), [("chain", 1.0), ("rod", 0.1), ("box", 0.1)])
def test_no_violation(kind, share):
    wrong = []
    for seed in range(int(COUNT * share)):
        model, duration = getattr(friction_models, kind)(np.random.default_rng(seed)), 1.0 if kind == "chain" else 0.6
        result = run(model, duration, dense=seed % 2 == 0)
        audit = result.audit
        if result.status != "done" or audit["friction_drive"] > 1e-9 or audit["stick_load"] > 1 + 1e-6:
            wrong.append((seed, result.status, result.reason, audit["friction_drive"], audit["stick_load"]))
        elif result.warnings:
            wrong.append((seed, result.warnings))
    print(f"\n{kind}: {len(wrong)} wrong of {int(COUNT * share)}: {wrong[:10]}")
    assert not wrong


@pytest.mark.parametrize(("kind", "share"), [("chain", 0.05), ("rod", 0.05), ("box", 0.01)])
def test_the_same_motion_at_every_tolerance(kind, share):
    """For all whose end state moves by less than 1e-6 when the start is moved by 1e-10; the others are counted."""
    wrong, sensitive, count = [], 0, int(COUNT * share)
    for seed in range(10**6, 10**6 + count):
        model = getattr(friction_models, kind)(np.random.default_rng(seed))
        duration = 1.0 if kind == "chain" else 0.6
        results = [run(model, duration, rtol=rtol) for rtol in TOLERANCES]
        ends = [end(result) for result in results]
        errors = [float(np.max(np.abs(one - ends[-1]))) for one in ends[:-1]]
        # a site that rests creeps by up to its stick speed
        if any(error > max(3e4 * rtol, CREEP) for error, rtol in zip(errors, TOLERANCES, strict=False)):
            moved = end(run(model, duration, rtol=1e-12, q0=np.asarray(model.q0) + 1e-10))
            if np.max(np.abs(moved - ends[-1])) >= 1e-6:
                sensitive += 1
            else:
                wrong.append((seed, errors, [result.status for result in results]))
    print(f"\n{kind}: {len(wrong)} of {count} differ, {sensitive} more separate from their neighbours: {wrong[:10]}")
    assert not wrong
