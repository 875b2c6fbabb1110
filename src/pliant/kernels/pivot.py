"""The pivot of one velocity in recursions that eliminate velocities one after the other."""

from pliant.kernels._jit import kernel


@kernel
def invert_pivot(dof, pivot):
    """(is_ok, 1 / pivot). A prescribed velocity is no unknown: it needs no inertia, and 0 eliminates nothing."""
    if dof.is_prescribed:
        return True, 0.0
    return pivot > 0.0, 1.0 / pivot
