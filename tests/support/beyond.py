"""A kernel that reads where it is told to."""

from pliant.kernels._jit import INTEGER, VECTOR, Contract, kernel


@kernel(Contract(INTEGER(VECTOR, INTEGER), is_entered=True))
def beyond(values, i):
    return 1 if values[i] > 0.0 else 0
