"""Damped modes by transfer matrices where two are one or many crowd, and responses at natural frequencies."""

import numpy as np
import pytest

import pliant
from pliant import Beam, Body, Damping, Frame, Joint, Material, Model, Rectangle

STEEL = Material(young=2e11, density=7850)


def wheels(parents, inertia, stiffness, damping):
    """Wheels on one axis, in a tree."""
    bodies = [Body(f"wheel{i}", mass=1.0, inertia=(0.6, 0.6, one)) for i, one in enumerate(inertia)]
    joints = [
        Joint(
            f"joint{i}", "revolute", f"wheel{i}",
            parent="world" if parents[i] < 0 else f"wheel{parents[i]}", stiffness=stiffness[i], damping=damping[i],
        )
        for i in range(len(parents))
    ]  # fmt: skip
    return Model("wheels", gravity=(0, 0, 0), bodies=bodies, joints=joints)


def cantilevers(n, time):
    beams = [
        Beam(f"beam{i}", 1.0, STEEL, Rectangle(0.02, 0.01), bending_y=1, damping=Damping(stiffness_time=time))
        for i in range(n)
    ]
    joints = [Joint(f"weld{i}", "fixed", f"beam{i}") for i in range(n)]
    return Model("cantilevers", gravity=(0, 0, 0), bodies=beams, joints=joints)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_critically_damped_wheels_have_two_equal_real_modes_each(n):
    # s^2 + 4 s + 4 = (s + 2)^2; a double root has half the digits
    found = pliant.transfer(wheels([-1] * n, [1.0] * n, [4.0] * n, [4.0] * n), count=2 * n).eigenvalues
    assert len(found) == 2 * n
    np.testing.assert_array_equal(found.imag, 0.0)
    np.testing.assert_allclose(found.real, -2.0, rtol=1e-6)


@pytest.mark.parametrize("parents", [[-1, 0, 1, 2, 0, 0, 3], [-1, 0, -1, 1, 0, 2, 5, 0]])
def test_equal_branches_with_critical_parts_lose_no_mode(parents):
    n = len(parents)
    damping = [4.0, 4.0, 0.0, 4.0, 4.0, 4.0, 4.0, 4.0][:n]
    K, C = np.zeros((2, n, n))
    for i, parent in enumerate(parents):
        e = np.eye(n)[i] - (np.eye(n)[parent] if parent >= 0 else 0.0)
        K += 4.0 * np.outer(e, e)
        C += damping[i] * np.outer(e, e)
    expected = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]]))
    found = pliant.transfer(wheels(parents, [1.0] * n, [4.0] * n, damping), count=2 * n).eigenvalues
    assert np.all(found.imag >= 0.0)
    assert np.sum(np.where(found.imag > 0.0, 2, 1)) == 2 * n
    # the sum of all eigenvalues is the trace, whatever is double
    np.testing.assert_allclose(np.sum(np.where(found.imag > 0.0, 2, 1) * found.real), -np.trace(C), rtol=1e-7)
    for value in found:
        assert np.min(np.abs(expected - value)) < 1e-6 * abs(value)


@pytest.mark.parametrize("n", [1, 2])
def test_modes_are_listed_below_the_rate_at_which_infinitely_many_crowd(n):
    # of a mode with frequency w: s^2 + time w^2 s + w^2 = 0, so that s tends to -1/time for all fast ones
    first = pliant.transfer(cantilevers(1, 0.0), count=1).frequencies[0]
    time = 0.4 / first
    found = pliant.transfer(cantilevers(n, time), count=4 * n)
    np.testing.assert_allclose(found.eigenvalues, first * complex(-0.2, np.sqrt(0.96)), rtol=1e-12)
    assert len(found.eigenvalues) == n
    assert any("infinitely many" in note for note in found.notes)
    assert not pliant.transfer(cantilevers(n, time), count=n).notes
    assert any("infinitely many" in note for note in pliant.transfer(cantilevers(n, time), below=4.0 * first).notes)
    assert not pliant.transfer(cantilevers(n, time), below=2.0 * first).notes


def test_a_beam_of_which_no_mode_is_below_that_rate_is_refused_with_the_reason():
    first = pliant.transfer(cantilevers(1, 0.0), count=1).frequencies[0]
    with pytest.raises(pliant.ModelError, match=r"^count: .* infinitely many .* is_damped=False"):
        print(pliant.transfer(cantilevers(1, 1.5 / first)).eigenvalues)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_response_at_an_undamped_natural_frequency_is_refused(n):
    found = pliant.transfer(wheels([*range(-1, n - 1)], [0.7] * n, [3.0] * n, [0.0] * n), count=n)
    for w in found.frequencies:
        with pytest.raises(pliant.ModelError, match="natural frequency without damping"):
            found.response([0.1, w], "joint0", "joint0")
        beside = found.response([w * (1.0 + 1e-9)], "joint0", "joint0").magnitude[0, 0, 0]
        assert 1e5 < beside < 1e12


def test_a_response_is_given_where_only_another_plane_resonates():
    arm = Model(
        "arm",
        gravity=(0, 0, 0),
        bodies=[Beam("boom", 1.0, STEEL, Rectangle(0.02, 0.01), bending_y=1, bending_z=1)],
        joints=[Joint("weld", "fixed", "boom")],
        frames=[Frame("boom", (1.0, 0, 0), name="tip")],
    )
    found = pliant.transfer(arm, count=2)
    slow = found.frequencies[0]
    shape = np.abs(found.frame_shape("tip", 0))
    resonates, rests = ("y", "z") if shape[1] > shape[2] else ("z", "y")
    with pytest.raises(pliant.ModelError, match="natural frequency without damping"):
        found.response([slow], f"tip.f{resonates}", f"tip.{resonates}")
    at, beside = (found.response([w], f"tip.f{rests}", f"tip.{rests}").values for w in (slow, slow * (1.0 + 1e-9)))
    np.testing.assert_allclose(at, beside, rtol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_a_continuous_beam_has_no_response_at_its_own_frequencies(seed):
    rng = np.random.default_rng(seed)
    length, *sides = rng.uniform((0.2, 0.003, 0.003), (3.0, 0.05, 0.05))
    beam = Model(
        "beam",
        gravity=(0, 0, 0),
        bodies=[Beam("boom", length, STEEL, Rectangle(*sides), bending_y=1, bending_z=1)],
        joints=[Joint("weld", "fixed", "boom")],
        frames=[Frame("boom", (length, 0, 0), name="tip")],
    )
    found = pliant.transfer(beam, count=4)
    for number, w in enumerate(found.frequencies):
        shape = np.abs(found.frame_shape("tip", number))
        axis = "y" if shape[1] > shape[2] else "z"
        with pytest.raises(pliant.ModelError, match="natural frequency without damping"):
            found.response([w], f"tip.f{axis}", f"tip.{axis}")
        found.response([w * (1.0 + 1e-11)], f"tip.f{axis}", f"tip.{axis}")
