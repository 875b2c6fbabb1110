"""A trial of starts at rest or hardly above what carries a body: none may fail or take steps without end.

RESTING_TRIALS: how many (default 1000, 20 minutes); RESTING_FIRST: seed of the first."""

import os
import warnings
from collections import Counter

import numpy as np

import pliant
from pliant import AccuracyWarning
from resting_models import RESTING

COUNT = int(os.environ.get("RESTING_TRIALS", "1000"))
FIRST = int(os.environ.get("RESTING_FIRST", "0"))
INTEGRATORS = ("auto", "auto", "auto", "dop853", "radau", "ark4", "ark5", "bs5", "adams")
# slow slip, just above the stick speed, relaxes at up to 1e6 1/s, which explicit stages follow: 0.1 s takes no more
MAX_STEPS = 200_000


def test_all_come_to_their_end():
    failed, statuses = [], Counter()
    for seed in range(FIRST, FIRST + COUNT):
        rng = np.random.default_rng([seed, 31])
        model = RESTING[seed % len(RESTING)](rng)
        rtol, integrator = float(10 ** rng.uniform(-9, -3)), str(rng.choice(INTEGRATORS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            result = pliant.simulate(
                model, 0.1, rtol=rtol, atol=1e-2 * rtol, integrator=integrator, max_steps=MAX_STEPS, dense=False
            )
        statuses[result.status] += 1
        if not result.is_ok:
            failed.append(f"seed {seed} ({model.name}, {integrator}, rtol {rtol:.1e}): {result.reason}")
    print(f"\n{len(failed)} of {COUNT} fail: {dict(statuses)}")
    assert not failed, "\n".join(failed[:100])
