"""A long trial: runs of any kind under what must always hold. WILD_TRIALS: how many (default 4000, ten
minutes; 100 000 after changes of kernels); WILD_FIRST: seed of the first (default 1000000)."""

import os
from collections import Counter

from wild_models import checked

COUNT = int(os.environ.get("WILD_TRIALS", "4000"))
FIRST = int(os.environ.get("WILD_FIRST", "1000000"))


def test_no_violation():
    ends, found = Counter(), []
    for seed in range(FIRST, FIRST + COUNT):
        status, words = checked(seed)
        ends[status] += 1
        found += words
    print(f"\n{len(found)} violations in {COUNT} runs, which end {dict(ends)}")
    assert not found, "\n".join(found[:100])
