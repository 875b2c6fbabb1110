"""Before numpy is loaded: two workers whose BLAS threads spin against each other are slower than one thread each."""

import os
import sys

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def closed_figures():
    """matplotlib keeps, and counts, every figure that nobody closes."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
