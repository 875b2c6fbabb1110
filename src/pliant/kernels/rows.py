"""The rows M vdot + row = tau of formulations that form a mass matrix, solved together; again: rows_response.py.

Numbers in brackets: docs/equations.md."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.dense import cholesky, cholesky_solve


@kernel
def put_entry(M, row, column, entry):
    """Both triangles."""
    M[row, column] = entry
    M[column, row] = entry


@kernel
def solve_rows(dofs, M, vdot):
    """vdot of all rows, in whose left sides prescribed accelerations are counted. Returns -1, or the row without pivot.

    Only the lower triangle of M is used, and overwritten."""
    n = len(vdot)
    for j in range(n):
        dof = dofs[j]
        vdot[j] = dof.motion_vdot if dof.is_prescribed else dof.tau - dof.row
        if dof.is_prescribed:
            # the row becomes vdot_j = given
            for k in range(j):
                M[j, k] = 0.0
            for k in range(j + 1, n):
                M[k, j] = 0.0
            M[j, j] = 1.0
    failed = cholesky(M, n)
    if failed < 0:
        cholesky_solve(M, n, vdot)
    return failed


@kernel
def put_constraint_forces(dofs, M, vdot):
    """(G10, L12): forces that enforce prescribed motions: what is left of their rows, from the upper triangle of M."""
    for j in range(len(dofs)):
        dof = dofs[j]
        if dof.is_prescribed:
            dof.constraint_force = dof.row + dof.armature * dof.motion_vdot - dof.tau
            for k in range(len(dofs)):
                if not dofs[k].is_prescribed:
                    dof.constraint_force += M[min(j, k), max(j, k)] * vdot[k]
