"""What implicit integrators know of the equations besides memory.y: which components are unknowns. numpy only.

Unknowns of Newton's method are velocities, friction states, and coordinates of quaternion-like joints, in this order.
Coordinates whose rates are velocities ('pairs') are eliminated; work terms and prescribed coordinates follow
by themselves.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.system.tables import rows

NEWTON = np.dtype(
    [
        # set by Python
        ("n_coordinates", np.int64),  # the last of the unknowns: coordinates without a pair
        ("alpha_m", np.float64),  # parameters of the generalised-alpha family
        ("alpha_f", np.float64),
        ("beta", np.float64),
        ("gamma", np.float64),
        # from step to step; private to the stepper
        ("t", np.float64),  # [s] where the last trial step began
        ("h", np.float64),  # [s] its length
        ("error", np.float64),  # its error norm
        ("has_failed", np.int64),  # 1: it was not good
        ("h_past", np.float64),  # [s] of the accepted step before it, 0: none
        ("error_past", np.float64),
        ("is_current", np.int64),  # 1: the Jacobian is that of this t and y
        (
            "needs_jacobian",
            np.int64,
        ),  # 1: Newton's method was slow or there is no Jacobian: form it anew at the next step
        ("h_factored", np.float64),  # [s] step for which the factors were made, 0: none
        ("rate", np.float64),  # of convergence, of the last iteration
        ("eta", np.float64),  # rate / (1 - rate), remembered for the first iteration
        ("tolerance_factor", np.float64),  # tolerances of the step over those asked for
        # counters of the whole run
        ("n_jacobians", np.int64),
        ("n_factors", np.int64),
        ("n_iterations", np.int64),
        ("n_failures", np.int64),  # trial steps in which Newton's method did not converge
    ],
    align=True,
)


class Unknowns(NamedTuple):
    """Indices in y."""

    solved: Sequence[int]  # velocities and states, then coordinates without a pair
    pairs: Sequence[tuple[int, int]]  # coordinate and its rate, one of `solved`
    n_coordinates: int = 0  # how many of the last of `solved` are coordinates


def find_unknowns(system: Any, n_states: int) -> Unknowns:
    """The unknowns of a model's equations; n_states: friction states, the last of z."""
    world = system.world[0]
    n_q, n_v, n_y = int(world.n_q), int(world.n_v), int(world.n_q + world.n_v + world.n_z)
    free = [j for j in range(n_v) if system.dofs[j].motion < 0]
    pairs = [(int(system.dofs[j].q), n_q + j) for j in free if system.dofs[j].q >= 0]
    coordinates = sorted(set(range(n_q)) - {int(dof.q) for dof in system.dofs})
    solved = [*(n_q + j for j in free), *range(n_y - n_states, n_y), *coordinates]
    return Unknowns(solved, pairs, len(coordinates))


def newton_tables(n_factors: int, unknowns: Unknowns) -> dict[str, NDArray[Any]]:
    """The fields of Memory that implicit integrators use; empty for explicit ones (n_factors = 0)."""
    solved = list(unknowns.solved) if n_factors else []
    pairs = unknowns.pairs if n_factors else ()
    m = len(solved)
    newton = rows(1, NEWTON)
    newton.n_coordinates, newton.needs_jacobian, newton.eta = unknowns.n_coordinates, 1, 1.0
    return {
        "newton": newton,
        "active": np.array([*solved, *(p for p, _ in pairs)], np.int64),
        "mates": np.array([solved.index(v) for _, v in pairs], np.int64),
        "jacobian": np.zeros((m, m + len(pairs))),
        "factor": np.zeros((n_factors, m, m)),
        "pivots": np.zeros((2, m), np.int64),
    }
