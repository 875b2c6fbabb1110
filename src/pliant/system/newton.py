"""What implicit integrators know of the equations besides memory.y: which components are unknowns. numpy only.

Unknowns of Newton's method are velocities, friction states, and coordinates of quaternion-like joints, in this order.
Coordinates whose rates are velocities ('pairs') are eliminated; work terms and prescribed coordinates follow
by themselves. Where all motion is prescribed, error control is left with the work terms: for methods that have it, they
are the unknowns, as if they were friction states.
"""

import itertools
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.system.tables import rows

N_SECOND_ORDER_ROWS = 11  # of memory.stages: kernels/integrators/second_order_rows.py


class Rule(IntEnum):
    """How a second-order method uses its past (kernels/integrators/second_order_rows.py)."""

    NEWMARK = 0
    WILSON = 1
    HOUBOLT = 2
    PROPOSED = 3


NEWTON = np.dtype(
    [
        # set by Python
        ("n_coordinates", np.int64),  # the last of the unknowns: coordinates without a pair
        ("n_states", np.int64),  # friction states, the unknowns before them
        # 1: Newton's matrix of a second-order method has entries outside memory.blocks; filled by second_order.py
        ("is_coupled", np.int64),
        ("first_rate", np.int64),  # in y: what is integrated twice stands before it
        ("first_power", np.int64),  # in y: work terms stand from there on, before friction states
        # parameters of second-order methods
        ("rule", np.int64),  # a Rule
        ("alpha_m", np.float64),  # of the generalised-alpha family
        ("alpha_f", np.float64),
        ("start_beta", np.float64),  # of Newmark's rule, with which the others begin
        ("start_gamma", np.float64),
        ("theta", np.float64),  # of Wilson's, 1 elsewhere
        ("g1", np.float64),  # of Proposed
        ("g2", np.float64),
        ("is_printed", np.int64),  # 1: with its misprint
        ("max_linearisations", np.int64),  # in a step by transfer matrices (kernels/transfer_matrix/step.py)
        # the step of a second-order method; filled by second_order_rows.py
        ("beta", np.float64),  # weight of the new acceleration in the coordinates
        ("gamma", np.float64),  # and in the velocities
        ("gamma_of_states", np.float64),  # and in friction states
        ("n_past", np.int64),  # accepted steps before it that count: of the same length, but with Houbolt
        ("h_before", np.float64),  # [s] of the step before that of length h_past, if n_past is above 1
        ("has_new_input", np.int64),  # 1: forces have changed since the step before it
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

CARRIED = NEWTON.names[NEWTON.names.index("t") :]  # type: ignore[index, union-attr]  # from step to step, and counters


NO_POWER = 2**31  # beyond any y: there are no work terms


class Unknowns(NamedTuple):
    """Indices in y."""

    solved: Sequence[int]  # velocities and states, then coordinates without a pair
    pairs: Sequence[tuple[int, int]]  # coordinate and its rate, one of `solved`
    n_coordinates: int = 0  # how many of the last of `solved` are coordinates
    n_states: int = 0  # how many before them are friction states, the last of y; or all of z
    first_rate: int = 0  # before it only coordinates
    first_power: int = NO_POWER  # from there on work terms
    of_velocities: Sequence[int] = ()  # which of `solved` each velocity is, -1: prescribed
    blocks: Sequence[tuple[int, int]] = ()  # of `solved`: first, and end, of each row of system.branches


def find_unknowns(system: Any, n_states: int, *, controls_works: bool) -> Unknowns:
    """The unknowns of a model's equations; n_states: friction states, the last of z. controls_works: whether error
    control is left with the work terms."""
    world = system.world[0]
    if controls_works:
        n_states = int(world.n_z)
    n_q, n_v, n_y = int(world.n_q), int(world.n_v), int(world.n_q + world.n_v + world.n_z)
    branch = system.bodies.branch[system.dofs.body]
    free = [j for j in range(n_v) if system.dofs[j].motion < 0]
    if len(system.loops):
        # branch by branch, so that each is a block of Newton's matrix
        free.sort(key=lambda j: int(branch[j]))
    pairs = [(int(system.dofs[j].q), n_q + j) for j in free if system.dofs[j].q >= 0]
    coordinates = sorted(set(range(n_q)) - {int(dof.q) for dof in system.dofs})
    solved = [*(n_q + j for j in free), *range(n_y - n_states, n_y), *coordinates]
    of_velocities = np.full(n_v, -1)
    of_velocities[free] = range(len(free))
    blocks = [(0, len(free) + n_states)]
    if len(system.loops):
        ends = np.searchsorted(branch[free], range(1, len(system.branches) + 1))
        blocks += itertools.pairwise(map(int, ends))
    return Unknowns(solved, pairs, len(coordinates), n_states, n_q, n_q + n_v, of_velocities.tolist(), blocks)


def newton_tables(n_factors: int, unknowns: Unknowns) -> dict[str, NDArray[Any]]:
    """The fields of Memory that implicit integrators use; empty for explicit ones (n_factors = 0)."""
    solved = list(unknowns.solved) if n_factors else []
    pairs = unknowns.pairs if n_factors else ()
    m = len(solved)
    newton = rows(1, NEWTON)
    newton.n_coordinates, newton.n_states = unknowns.n_coordinates, unknowns.n_states
    newton.first_rate, newton.first_power = unknowns.first_rate, unknowns.first_power
    newton.needs_jacobian, newton.eta = 1, 1.0
    return {
        "newton": newton,
        "active": np.array([*solved, *(p for p, _ in pairs)], np.int64),
        "mates": np.array([solved.index(v) for _, v in pairs], np.int64),
        "jacobian": np.zeros((m, m + len(pairs))),
        "factor": np.zeros((n_factors, m, m)),
        "pivots": np.zeros((2, m), np.int64),
        "unknown_of": np.array(unknowns.of_velocities if n_factors else (), np.int64),
        "blocks": np.array(unknowns.blocks if n_factors else (), np.int64).reshape(-1, 2),
    }


def put_rule(newton: Any, rule: Any) -> None:
    """A second-order method into its row: a named tuple with the names of the row."""
    for name, value in rule._asdict().items():
        newton[name] = value
