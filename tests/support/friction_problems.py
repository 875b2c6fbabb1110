"""Random problems of forces within bounds, and kernels that solve them: min 1/2 f W f + a0 f, |f_i| <= bound_i."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.kernels import _jit
from pliant.kernels._jit import INTEGER, SYSTEM, WORK, Contract, kernel, routine
from pliant.kernels.contact.barrier_steps import BARRIER_FACTOR, descend
from pliant.kernels.contact.bounded_forces import (
    BOLD,
    FIRST_BARRIER,
    MAX_BOLD_STEPS,
    MAX_FINAL_STEPS,
    MAX_SAFE_STEPS,
    begin,
    find_bounded_forces,
    put_weights,
)
from pliant.kernels.contact.cone_steps import MIN_BARRIER, approach_bounds
from pliant.kernels.tables import Pinned
from pliant.system.tables import empty_system
from pliant.system.work import (
    BOUND,
    FORCE,
    FREE,
    MARGIN,
    N_PLACE_ROWS,
    N_STICK_ROWS,
    REACH,
    SCALE,
    SHARE,
    SHARE_BEFORE,
    SLACK,
    SLACK_BEFORE,
    WEIGHT,
    new_work,
)

Array = NDArray[np.float64]
KINDS = ("regular", "plate", "bodies", "line", "light")
SOLVE = Contract(INTEGER(SYSTEM, WORK, INTEGER), is_entered=True)


class Problem(NamedTuple):
    W: Array
    a0: Array
    bound: Array  # by unknown
    width: int  # unknowns of a friction pair


class Solution(NamedTuple):
    status: int
    force: Array
    share: Array
    slack: Array
    margin: Array
    weight: Array
    n_newton: int


@kernel(SOLVE)
def solve(system, work, n):
    """As a run does."""
    return find_bounded_forces(work, n)


@routine
def start(work, n):
    """The unit of the weights; no force."""
    unit = put_weights(work, 0, n)
    begin(work, 0, n, FIRST_BARRIER)
    for i in range(n):
        work.stick_force[REACH, i] = work.stick_force[BOUND, i] / math.sqrt(unit)
    return unit


@routine
def end(work, n, is_found):
    for i in range(n):
        work.stick_force[FORCE, i] = work.stick_force[BOUND, i] * work.stick_force[SHARE, i]
    return 0 if is_found else 1


@kernel(SOLVE)
def solve_by_cones(system, work, n):
    """Without a try from within."""
    unit = start(work, n)
    is_found = approach_bounds(work, 0, n, 0, unit, MIN_BARRIER, BOLD, MAX_BOLD_STEPS)
    return end(work, n, is_found and descend(work, 0, n, 0, unit, MIN_BARRIER, MIN_BARRIER, MAX_FINAL_STEPS, 0.0))


@kernel(SOLVE)
def solve_by_barriers(system, work, n):
    """By what is there for problems that cones do not solve."""
    unit = start(work, n)
    return end(work, n, descend(work, 0, n, 0, unit, BARRIER_FACTOR * FIRST_BARRIER, MIN_BARRIER, MAX_SAFE_STEPS, 0.0))


def solution(problem: Problem, function: Any = solve, before: Solution | None = None) -> Solution:
    """before: the solution of an evaluation before, which is followed."""
    n = len(problem.a0)
    system, work = empty_system(), new_work(empty_system())
    diagonal = np.diag(problem.W)
    rows = np.zeros((N_STICK_ROWS, n))
    rows[FREE], rows[BOUND] = problem.a0, problem.bound
    if before is not None:
        rows[SHARE_BEFORE], rows[SLACK_BEFORE] = before.share, np.repeat(before.slack, problem.width)
    rows[SCALE] = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)), 0.0)
    first = np.arange(n) // problem.width * problem.width
    stick = np.vstack([problem.W, np.zeros((2 * n, n))])
    places = np.full((N_PLACE_ROWS, n), n)  # one range
    work = work._replace(stick=stick, stick_force=rows, stick_first=first, stick_places=places)
    status = _jit.entry(function)(Pinned(system).ref, Pinned(work).ref, n)
    pairs = slice(None, None, problem.width)
    return Solution(
        int(status), rows[FORCE], rows[SHARE], rows[SLACK, pairs], rows[MARGIN, pairs], rows[WEIGHT, pairs],
        int(work.run[0].n_newton),
    )  # fmt: skip


def in_pairs(x: Array, width: int) -> Array:
    """Sizes, by friction pair."""
    return np.linalg.norm(x.reshape(-1, width), axis=1)


def random_problem(rng: np.random.Generator, kind: str, n_pairs: int, width: int) -> Problem:
    """regular: all independent; plate, bodies: points of one rigid body, of several; line: points of a chain that lies
    in a line, whose mobilities fall by many powers of ten; light: bodies of very different mass. Some bounds are zero,
    some tiny."""
    n = n_pairs * width
    if kind in ("plate", "bodies"):
        J = np.zeros((n, 3 if kind == "plate" else 3 * max(1, n_pairs // 4)))
        for i in range(n):
            body = i // width % (J.shape[1] // 3)
            J[i, 3 * body : 3 * body + 3] = rng.normal(size=3)
        W = J @ J.T
    else:
        basis, _ = np.linalg.qr(rng.normal(size=(n, n)))
        values = 10.0 ** -np.linspace(0.0, 16.0, n) if kind == "line" else rng.uniform(0.1, 1.0, n)
        if kind == "line":
            basis[:, 0] = 1.0 / np.sqrt(n)
        scales = 10.0 ** np.repeat(rng.uniform(-4.0, 0.0, n_pairs), width) if kind == "light" else np.ones(n)
        W = (basis * values) @ basis.T * np.outer(scales, scales)
    bound = np.repeat(np.exp(rng.normal(size=n_pairs)), width)
    bound[np.repeat(rng.random(n_pairs) < 0.05, width)] = 0.0
    bound[np.repeat(rng.random(n_pairs) < 0.05, width)] *= 1e-6
    # accelerations that forces within their bounds stop, but for a part of any size that they may not
    held = rng.uniform(-1.0, 1.0, n) * bound * rng.uniform(0.1, 1.5)
    a0 = -W @ held + 10.0 ** rng.uniform(-10.0, 0.0) * np.sqrt(np.diag(W)) * rng.normal(size=n) * rng.integers(2)
    return Problem(W, a0, bound, width)


def random_problems(seeds: range) -> list[Problem]:
    """All kinds and sizes in turn, more small ones than large."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n_pairs = int(np.ceil(2.0 ** rng.uniform(0.0, 6.0)))
        found.append(random_problem(rng, KINDS[seed % len(KINDS)], n_pairs, 1 + int(rng.integers(2))))
    return found


def critical_problem(seed: int) -> Problem:
    """A body on three feet, two of them about to lift, that is pulled by just what all of them together hold."""
    rng = np.random.default_rng(seed)
    J = np.zeros((6, 5))
    for k, (x, y) in enumerate(0.1 * rng.normal(size=(3, 2))):
        J[2 * k], J[2 * k + 1] = (1.0, 0.0, 0.0, -0.1, -y), (0.0, 1.0, 0.1, 0.0, x)
    mobility = J @ np.diag([1.0, 1.0, 300.0, 300.0, 200.0])
    W, bound = mobility @ J.T, 10 ** rng.uniform(-8.0, 0.0, 3)
    bound[0] = 1.0
    u = (mobility @ (rng.normal(size=5) * (1.0, 1.0, 0.03, 0.03, 0.03))).reshape(3, 2)
    held = -bound[:, None] * u / np.linalg.norm(u, axis=1)[:, None]
    return Problem(W, -W @ held.ravel() * (1.0 + 1e-9 * rng.normal()), np.repeat(bound, 2), 2)
