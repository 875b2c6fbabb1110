"""A kernel that calls another one by its address."""

from pliant.kernels import _jit
from pliant.kernels._jit import DERIVATIVE, INTEGER, SYSTEM, WORK, Contract, kernel

call_derivative = DERIVATIVE.call
THROUGH = Contract(INTEGER(SYSTEM, WORK, INTEGER, _jit.REAL, _jit.VECTOR, _jit.VECTOR), is_entered=True)


@kernel(THROUGH)
def through(system, work, function, t, y, ydot):
    return call_derivative(function, (system, work, t, y, ydot))
