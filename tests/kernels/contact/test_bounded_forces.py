"""Forces within bounds: optimal by their duality gap, the same by two methods, and heard of where none are found."""

import numpy as np
import pytest

from friction_problems import (
    KINDS,
    Problem,
    critical_problem,
    in_pairs,
    random_problem,
    random_problems,
    solution,
    solve_by_barriers,
    solve_by_cones,
)
from pliant.kernels.contact.cone_steps import MIN_BARRIER
from pliant.system.status import Status


def gap(problem, force):
    """How far 1/2 f W f + a0 f is above its minimum, at most: sum of a f + bound |a|, a = W f + a0, which is what the
    objective can still fall along a to first order, and it is convex. Over the unit of the weights."""
    a = problem.W @ force + problem.a0
    weight = problem.bound * (np.abs(problem.a0) + np.abs(problem.W) @ problem.bound)
    unit = np.max(weight, initial=0.0)
    bound = problem.bound[:: problem.width]
    return (a @ force + bound @ in_pairs(a, problem.width)) / unit if unit > 0.0 else 0.0


def check(problem, found):
    """Within the bounds, and optimal."""
    pairs, bound = in_pairs(found.force, problem.width), problem.bound[:: problem.width]
    assert found.status == Status.OK
    assert np.all(pairs <= bound * (1.0 + 1e-15))
    # at the minimum with the barrier: 2 mu w each, w <= 1; and n eps of rounding in each of n entries of a
    n = len(problem.a0)
    assert gap(problem, found.force) <= 2.0 * MIN_BARRIER * len(bound) + 4.0 * n * n * np.finfo(float).eps


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, 5))])
def test_forces_are_optimal_by_their_duality_gap(first):
    """With a try from within, and by cones alone; accelerations are unique, so they are the same both ways."""
    for problem in random_problems(range(400 * first, 400 * first + 400)):
        if not np.all(problem.bound > 0.0):
            check(problem, solution(problem))
            continue
        one, other = solution(problem), solution(problem, solve_by_cones)
        check(problem, one)
        check(problem, other)
        difference = one.force - other.force
        # 1/2 d W d <= the sum of both gaps
        n, unit = len(problem.a0), np.max(problem.bound * (np.abs(problem.a0) + np.abs(problem.W) @ problem.bound))
        assert difference @ problem.W @ difference <= 8.0 * unit * n * (MIN_BARRIER + n * np.finfo(float).eps)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_pairs_take_no_more_steps_of_newtons_method_than_one(kind):
    """25 to 30 at most over 10 000 problems of 1 to 64 pairs."""
    for seed, width in ((1, 1), (2, 2), (3, 1), (4, 2)):
        problem = random_problem(np.random.default_rng(seed), kind, 100, width)
        found = solution(problem)
        check(problem, found)
        assert found.n_newton <= 40


def test_forces_that_nothing_determines_are_the_same_by_cones_and_by_barriers():
    """Shares of redundant forces in intervals: the weighted analytic centre. Gradients have rounding of some eps w, the
    barrier resists it with MIN_BARRIER w / slack: 2e-3 of a slack for each eps. In discs barriers alone are slow."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, "bodies", int(rng.integers(4, 12)), 1)
        problem = problem._replace(bound=np.maximum(problem.bound, 0.1))
        by_cones, by_barriers = solution(problem), solution(problem, solve_by_barriers)
        check(problem, by_cones)
        check(problem, by_barriers)
        slack = np.repeat(by_cones.slack, problem.width)
        assert np.all(np.abs(by_cones.share - by_barriers.share) <= 1e-2 * np.sqrt(slack) + 1e-9), seed


def test_forces_that_move_along_the_border_of_their_discs_are_found():
    """Two points almost in one place, turned against each other by almost nothing: multipliers alone need hundreds of
    steps, and sixty for each barrier were not enough."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        J = np.repeat(rng.normal(size=(3, 6)) @ np.diag([1, 1, 1, 1e-4, 1e-4, 1e-5]), 2, axis=0)
        J += 1e-5 * rng.normal(size=J.shape)
        problem = Problem(J @ J.T, rng.normal(size=6) @ (J @ J.T) * 1.2, np.ones(6), 2)
        found = solution(problem)
        check(problem, found)
        assert found.n_newton <= 40


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_not_found_is_heard_of(wrong):
    problem = random_problem(np.random.default_rng(0), "regular", 6, 1)
    for field in ("W", "a0"):
        broken = problem._replace(**{field: getattr(problem, field).copy()})
        getattr(broken, field).flat[0] = wrong
        assert solution(broken).status == Status.FRICTION_UNDECIDED


def test_bodies_on_their_own_do_not_see_each_other():
    """Forces of two plates at once are, bit for bit, those of each alone, however different their masses are."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        one, other = (random_problem(rng, "plate", 5 + seed % 9, 2) for _ in range(2))
        n, m = len(one.a0), len(other.a0)
        W = np.block([[one.W, np.zeros((n, m))], [np.zeros((m, n)), 1e6 * other.W]])
        both = Problem(W, np.r_[one.a0, 1e6 * other.a0], np.r_[one.bound, other.bound], 2)
        alone = solution(other._replace(W=1e6 * other.W, a0=1e6 * other.a0))
        assert np.array_equal(solution(both).force, np.r_[solution(one).force, alone.force])


def test_nothing_to_hold_needs_no_steps():
    """Bounds of zero: no force, and nothing is held."""
    found = solution(Problem(np.eye(3), np.ones(3), np.zeros(3), 1))
    assert found.status == Status.OK
    assert np.array_equal(found.force, np.zeros(3))
    assert np.all(found.margin < 0.0)
    assert found.n_newton == 0


def moved(problem, rng, change):
    """The same pairs a moment later: what moves them has changed by this part of their bounds, and so have these, but
    by no more than e, so that they do not become as different as no contacts are."""
    n_pairs = len(problem.a0) // problem.width
    bound = problem.bound * np.repeat(np.exp(min(change, 1.0) * rng.uniform(-1.0, 1.0, n_pairs)), problem.width)
    a0 = problem.a0 + change * problem.W @ (problem.bound * rng.uniform(-1.0, 1.0, len(problem.a0)))
    return problem._replace(a0=a0, bound=bound)


@pytest.mark.parametrize("change", [1e-6, 1e-3, 0.1, 10.0])
def test_forces_that_follow_those_before_are_those_found_from_nothing(change):
    """Along motions of all sizes, on which pairs reach their bounds and come back: optimal, and the same accelerations.
    Near by in fewer steps of Newton's method."""
    steps = []
    for seed, problem in enumerate(random_problems(range(300))):
        rng, here = np.random.default_rng(seed), problem
        found = solution(here)
        for _ in range(4):
            here = moved(here, rng, change)
            alone, found = solution(here), solution(here, before=found)
            check(here, found)
            steps.append((found.n_newton, alone.n_newton))
            difference = found.force - alone.force
            # 1/2 d W d <= the sum of both gaps
            n, unit = len(here.a0), np.max(here.bound * (np.abs(here.a0) + np.abs(here.W) @ here.bound))
            assert difference @ here.W @ difference <= 8.0 * unit * n * (MIN_BARRIER + n * np.finfo(float).eps)
    following, from_nothing = np.mean(steps, axis=0)
    # 1 to 5 in place of 13; where all pairs change their state, the way from nothing comes after ten steps in vain
    assert following < 0.5 * from_nothing if change < 1.0 else following < from_nothing + 10.0


def test_what_cannot_be_followed_is_found_from_nothing():
    """Shares before of quite another problem, or none that are any."""
    for seed, problem in enumerate(random_problems(range(60))):
        other = random_problem(np.random.default_rng(seed + 1000), "regular", len(problem.a0) // problem.width, 1)
        before = solution(other)
        shares = np.repeat(before.share, problem.width) / np.sqrt(problem.width)
        check(problem, solution(problem, before=before._replace(share=shares)))
        check(problem, solution(problem, before=before._replace(share=shares, slack=0.0 * before.slack)))


def test_feet_that_are_all_about_to_slip_are_decided():
    """Where a body is pulled by just what its feet hold, and most are about to lift, rounding hides the minimum. Forces
    are then found to the coarsest barrier, 1e-6 of the largest product of force and acceleration."""
    for seed in range(60):
        problem = critical_problem(seed)
        found = solution(problem)
        assert found.status == Status.OK, seed
        assert np.all(in_pairs(found.force, 2) <= problem.bound[::2] * (1.0 + 1e-12)), seed
        assert gap(problem, found.force) <= 2.0 * 1e-6 * 3, seed
