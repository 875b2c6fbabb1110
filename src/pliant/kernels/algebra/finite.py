"""Numbers that may not be finite, in norms that must not lose them."""

from pliant.kernels._jit import kernel

UNDERFLOW = 1e-150
ULP = 2.0**-52  # distance from 1 to the next number


@kernel
def larger_or_nan(norm, x):
    """max(norm, x), but NaN if x is: every comparison with NaN is false."""
    return norm if x <= norm else x


@kernel
def zero_or_nan(x):
    """0 if x is finite, else NaN: to be added to a norm that x does not enter by itself."""
    return 0.0 * x


@kernel
def is_finite(x):
    """Whether all components are finite."""
    total = 0.0
    for i in range(x.shape[0]):
        total += zero_or_nan(x[i])
    return total == 0.0


@kernel
def without_underflow(x):
    """x, or 0 where it is so small that products of it would lose digits, and machines slow down a hundred times: what
    waves leave far away in long chains."""
    return 0.0 if abs(x) < UNDERFLOW else x
