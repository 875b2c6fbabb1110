"""A thousand runs of any kind: what must always hold, holds. trials/trial_wild.py has a hundred thousand."""

import pytest

from wild_models import checked

RUNS, PARTS = 1000, 20


@pytest.mark.parametrize("part", range(PARTS))
def test_what_must_hold_holds_for_any_model_and_method(part):
    """Energy, momentum, drift, friction, finite numbers, an end, a failure with advice."""
    found = [words for seed in range(part, RUNS, PARTS) for words in checked(seed)[1]]
    assert not found, "\n".join(found)
