"""A long trial: runs of any kind under what must always hold. WILD_TRIALS: how many (default 4000, ten
minutes; 100 000 after changes of kernels)."""

import os
from collections import Counter

from wild_models import checked

COUNT = int(os.environ.get("WILD_TRIALS", "4000"))


def test_no_violation():
    ends, found = Counter(), []
    for seed in range(10**6, 10**6 + COUNT):
        status, words = checked(seed)
        ends[status] += 1
        found += words
    print(f"\n{len(found)} violations in {COUNT} runs, which end {dict(ends)}")
    assert not found, "\n".join(found[:100])
