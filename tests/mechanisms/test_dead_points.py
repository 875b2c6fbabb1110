"""Mechanisms that swing through their dead points go on as they came, with errors that tolerances and steps decide."""

from dataclasses import replace

import numpy as np
import pytest

import pliant
from four_bars import (
    errors,
    parallelogram,
    run_four_bars,
    slider_crank,
    swing_of_parallelogram,
    swing_of_slider_crank,
)
from pliant import Beam, Bending, Controller, Crossing, Material, Rectangle

SPEEDS = [1.0, *np.random.default_rng(10).uniform(0.3, 10.0, 7)]
SOLVED = [{"closure": "multipliers"}, {"closure": "reduced"}, {"closure": "multipliers", "baumgarte": 10.0}]


def tight(rtol, **more):
    return {"rtol": rtol, "atol": 0.01 * rtol, **more}


@pytest.mark.parametrize("how", SOLVED, ids=["multipliers", "reduced", "baumgarte"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_four_bars_move_as_the_one_equation_at_every_tolerance_and_start(n, how):
    for rtol in (1e-5, 1e-8, 1e-11):
        for speed in SPEEDS:
            found, error = run_four_bars(n, speed, 2.0, **tight(rtol, **how))
            assert found.is_ok, found.reason
            # errors of steps grow some hundredfold; speeds beside a dead point are rounding over what loops determine
            assert error < 300.0 * rtol + 3e-7, (rtol, speed)


@pytest.mark.parametrize("closure", ["multipliers", "implicit"])
@pytest.mark.parametrize("integrator", ["generalised_alpha", "hht", "newmark"])
def test_fixed_implicit_steps_go_through_dead_points_with_the_second_order(integrator, closure):
    for speed in SPEEDS[:4]:
        off = []
        for step in (8e-3, 2e-3):
            found, error = run_four_bars(2, speed, 1.5, integrator=integrator, closure=closure, step=step)
            assert found.is_ok, found.reason
            off.append(error)
        assert off[1] < off[0] / 8.0


@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
def test_fixed_explicit_steps_go_through_dead_points(closure):
    off = [run_four_bars(2, 3.3, 1.5, integrator="rk4", closure=closure, step=h) for h in (8e-3, 2e-3)]
    assert all(found.is_ok for found, _ in off)
    assert off[1][1] < off[0][1] / 50.0


def test_forty_four_bars_fall_through_their_dead_points_with_default_options():
    """The benchmark's own start."""
    found, error = run_four_bars(40, 1.0, 3.0)
    assert found.is_ok, found.reason
    assert error < 1e-5


@pytest.mark.parametrize("how", SOLVED, ids=["multipliers", "reduced", "baumgarte"])
def test_forty_four_bars_take_no_more_steps_for_the_rounding_beside_their_dead_points(how):
    """Rounding of many constraints that are solved together: steps that followed it were a hundred times as many."""
    for speed in (6.3634, 9.003):
        found, error = run_four_bars(40, speed, 0.5, **tight(1e-12, **how))
        assert found.is_ok, found.reason
        assert error < 1e-6
        assert found.stats["steps"] < 100


def test_virtual_springs_come_nearer_as_they_are_stiffer():
    how = {"closure": "springs", "integrator": "generalised_alpha", "step": 5e-4}
    off = [run_four_bars(2, 3.0, 1.0, closure_stiffness=K, **how)[1] for K in (1e6, 1e8)]
    assert off[1] < off[0] / 10.0


def test_the_last_bit_of_the_start_does_not_decide():
    for rtol in (1e-6, 1e-10):
        for speed in (4.406, 9.519):
            runs = [run_four_bars(1, speed * (1.0 + k * 2.3e-16), 1.5, **tight(rtol)) for k in range(-5, 6)]
            assert all(found.is_ok for found, _ in runs)
            assert max(error for _, error in runs) < 300.0 * rtol + 1e-7


@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_rods_that_would_part_at_the_dead_point_stay_together(rtol, closure):
    for speed in (-9.0, -1.8, 3.0, 6.1):
        found = pliant.simulate(parallelogram(speed), 2.0, **tight(rtol, closure=closure))
        assert found.is_ok, found.reason
        assert max(errors(found, [0, 2], swing_of_parallelogram(), [1.0, speed])) < 300.0 * rtol + 1e-7


@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_slider_goes_through_the_pivot_of_its_crank(rtol, closure):
    """A branch that is curved in the coordinates: stages of a step lie beside it."""
    for speed in (4.0, 7.3, 10.2):
        found = pliant.simulate(slider_crank(speed), 2.0, **tight(rtol, closure=closure))
        assert found.is_ok, found.reason
        assert max(errors(found, [0], swing_of_slider_crank(), [0.3, speed])) < 300.0 * rtol + 1e-7
        assert found.q[:, 2] == pytest.approx(np.cos(found.q[:, 0]), abs=300.0 * rtol + 1e-7)


def crossed(start):
    """Rows of crank and rocker on the branch where they rotate against each other: tan tan stays, or its like."""
    s, c = np.sin(0.5 * start), np.cos(0.5 * start)
    return s[:, 0] * s[:, 1], c[:, 0] * c[:, 1], s[:, 0] * c[:, 1], c[:, 0] * s[:, 1]


@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_crossed_parallelogram_stays_crossed(rtol, closure):
    arm, angle = 0.4, 1.0
    tip = arm * np.exp(1j * angle)
    # the rocker's tip is the mirror image of the ground pivot's, seen from the middle line of crank tip and pivot
    axis = (1.0 - tip) / abs(1.0 - tip)
    rocker = tip + axis**2 * np.conj(0.0 - tip)
    q0 = [angle, np.angle(rocker - tip) - angle, np.angle(rocker - 1.0)]
    for speed in (-11.0, 5.0, 9.1):
        model = parallelogram(speed, keep=("motor",))
        v0 = pliant.assemble(model, q0, [speed, 0.0, 0.0])[1]
        found = pliant.simulate(model, 2.0, q0=q0, v0=v0, **tight(rtol, closure=closure))
        assert found.is_ok, found.reason
        ss, cc, sc, cs = crossed(found.q[:, [0, 2]])
        aside = min(np.max(np.abs(ss * cc[0] - cc * ss[0])), np.max(np.abs(sc * cs[0] - cs * sc[0])))
        assert aside < 300.0 * rtol
        assert found.audit["energy_residual"] < 100.0 * rtol


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_steps_that_must_end_in_a_dead_point_end_there_and_go_on(rtol):
    speed, start = 6.0, [1.0, 6.0]
    flat = pliant.simulate(parallelogram(speed, crossings=(Crossing("flat", "motor", np.pi),)), 2.0, **tight(rtol))
    (event,) = flat.events
    held = Controller("nothing", event.t / 7.0, ("motor",), lambda t, x: [0.0])
    runs = [
        flat,
        pliant.simulate(parallelogram(speed), event.t, **tight(rtol)),
        pliant.simulate(parallelogram(speed), event.t, **tight(rtol, closure="reduced")),
        pliant.simulate(parallelogram(speed, controllers=(held,)), 2.0, **tight(rtol)),
        pliant.simulate(parallelogram(speed), 2.0, max_step=event.t / 50.0, **tight(rtol)),
    ]
    # the speeds after a step that ends there to rounding come from what is left of the loop's equations: eps^(1/3)
    for found in runs:
        assert found.is_ok, found.reason
        assert max(errors(found, [0, 2], swing_of_parallelogram(), start)) < 300.0 * rtol + 1e-5


# --- beams --------------------------------------------------------------------------------------------------------

ADAPTIVE = [
    {"closure": closure, "integrator": integrator}
    for closure, integrator in (("multipliers", "auto"), ("reduced", "dop853"), ("multipliers", "radau"))
]


def bent_parallelogram(name, speed=6.0, young=1e10):
    """One of its links, of 0.4 or 1 m, is a beam."""
    model = parallelogram(speed)
    length = 1.0 if name == "bar" else 0.4
    beam = Beam(
        name, length, Material(young, 2700.0, poisson=0.3), Rectangle(0.02, 0.02), bending_y=Bending(1, "ss")
    )  # fmt: skip
    return replace(model, bodies=tuple(beam if body.name == name else body for body in model.bodies))


@pytest.mark.parametrize("how", ADAPTIVE, ids=["multipliers", "reduced", "radau"])
@pytest.mark.parametrize("name", ["crank", "bar", "rocker"])
def test_where_a_beam_decides_the_branch_runs_end_in_the_flat_pose_at_every_tolerance(name, how):
    model, ends = bent_parallelogram(name), []
    for rtol in (1e-3, 1e-6, 1e-8, 1e-9, 1e-11):
        found = pliant.simulate(model, 1.0, max_steps=20_000, **tight(rtol, **how))
        assert found.status == "failed"
        assert "singular pose (loop 'pin')" in found.reason, found.reason
        # rounding of the loop's equations, over what is left of them
        assert found.audit["energy_residual"] < 10.0 * rtol + 1e-8
        ends.append(found.t[-1])
        # a third of a degree from it, where the beam's own deflection does not count
        assert abs(np.sin(found.q[-1][-1])) < 0.02
    # beside the pose they end at the same distance, which they find as a step finds a failure
    assert ends == pytest.approx([ends[-1]] * len(ends), abs=1e-4)


@pytest.mark.parametrize("closure", ["multipliers", "implicit"])
@pytest.mark.parametrize("integrator", ["newmark", "generalised_alpha"])
def test_fixed_steps_do_not_leap_over_the_dead_point_of_a_beam(integrator, closure):
    found = pliant.simulate(bent_parallelogram("crank"), 1.0, integrator=integrator, closure=closure, step=2e-3)
    assert "singular pose (loop 'pin')" in found.reason, found.reason
    # it is 0.34 s on, at 6 rad/s
    assert found.t[-1] == pytest.approx(0.3435, abs=0.01)


def test_beams_that_are_no_part_of_a_loop_do_not_decide_its_branch():
    tail = Beam("tail", 0.2, Material(1e10, 2700.0), Rectangle(0.01, 0.01), bending_y=Bending(1, "ss"))
    model = parallelogram(6.0)
    hung = pliant.Joint("tail", "fixed", "tail", parent=pliant.Frame("bar", (0.5, 0, 0)))
    model = replace(model, bodies=(*model.bodies, tail), joints=(*model.joints, hung))
    found = pliant.simulate(model, 1.0, **tight(1e-8))
    assert found.is_ok, found.reason
    assert found.audit["energy_residual"] < 1e-6
