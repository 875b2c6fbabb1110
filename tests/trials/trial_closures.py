"""A long trial: random loops with contacts, stops, backlash and one-way springs, every closure against the others.

    python -m pytest tests/trials/trial_closures.py

CLOSURE_TRIALS: how many loops (default 200; 1000 after changes of closures or events); CLOSURE_FIRST: first seed.

Closures end within their own tolerances of each other, with the same events, but where neighbouring starts of one
closure part, too; and no contact, stop or flank begins where it acts already."""

import os
from collections import Counter

from switching_loops import switching_loop, violations

COUNT = int(os.environ.get("CLOSURE_TRIALS", "200"))
FIRST = int(os.environ.get("CLOSURE_FIRST", "0"))


def test_all_closures_move_alike():
    ends, found = Counter(), []
    for seed in range(FIRST, FIRST + COUNT):
        model = switching_loop(seed)
        how, words = violations(model)
        ends[how] += 1
        found += [f"seed {seed} ({model.name}): {each}" for each in words]
    print(f"\n{len(found)} violations in {COUNT} loops: {dict(ends)}")
    assert not found, "\n".join(found[:100])
