"""The fastest motion of a model at its start, against closed forms and eigenvalues."""

import numpy as np
import pytest

from pliant import Body, Contact, Frame, Joint, Model, NormalLaw, Plane, simulate
from pliant.simulation.fast_motion import FastMotion, fast_motion
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks.models import blades
from pliant_benchmarks.stiff import DAMPER, SPRING, stiff12, stiff_model

WITHIN_A_THIRD = 1 / 3  # what eight power iterations promise


def motion_of(model):
    return fast_motion(prepare_run(model, 1.0)._run.run)


def hinge(stiffness, damping):
    """A rod of 1 kg and 1 m without weight: I = 1/3 kg m^2 about its end."""
    return Model(
        name="hinge",
        gravity=(0.0, 0.0, 0.0),
        bodies=(Body("rod", 1.0, com=(0.5, 0.0, 0.0), inertia=np.eye(3) / 12),),
        joints=(Joint("hinge", "revolute", "rod", stiffness=stiffness, damping=damping),),
    )


def test_one_hinge_decays_and_swings_as_the_closed_form():
    """d / I and sqrt(k / I); differences leave 1e-6 of them."""
    found = motion_of(hinge(stiffness=2e5, damping=30.0))
    assert found.decay == pytest.approx(90.0, rel=1e-6)
    assert found.swing == pytest.approx(np.sqrt(6e5), rel=1e-6)
    assert found.swing_decay == pytest.approx(90.0, rel=1e-6)
    assert found.rate == found.swing
    assert not found.is_damped


@pytest.mark.parametrize(("damping", "is_damped"), [(160.0, False), (200.0, True), (3000.0, True)])
def test_what_is_gone_after_a_swing_or_so_is_damped(damping, is_damped):
    """d / I against 0.7 sqrt(k / I) = 542 1/s."""
    assert motion_of(hinge(stiffness=2e5, damping=damping)).is_damped is is_damped


def test_rates_of_a_chain_are_eigenvalues_of_its_mass_and_damping():
    model = stiff_model(stiff12())
    run = prepare_run(model, 1.0)
    rates = np.linalg.eigvals(np.linalg.inv(run.handle.mass_matrix(np.array(model.q0)))).real
    found = fast_motion(run._run.run)
    assert found.decay == pytest.approx(DAMPER * rates.max(), rel=WITHIN_A_THIRD)
    assert found.swing == pytest.approx(np.sqrt(SPRING * rates.max()), rel=WITHIN_A_THIRD)
    assert found.is_damped


def test_stretch_of_blades_is_what_is_fastest_and_damped():
    """Damping is 2e-5 s times the stiffness, so that the fastest mode has decay = 2e-5 swing^2."""
    found = motion_of(blades(3))
    assert found.decay == pytest.approx(2e-5 * found.swing**2, rel=WITHIN_A_THIRD)
    assert found.is_damped


def test_gyroscopic_forces_are_no_damping():
    """A top that spins at 2000 rad/s nutates about as fast, but nothing decays."""
    top = Body("top", 1.0, com=(0.0, 0.0, 0.1), inertia=np.diag([0.01, 0.01, 0.02]))
    joint = Joint("point", "spherical", "top", parent=Frame("world"), v0=(0.0, 0.0, 2000.0))
    found = motion_of(Model("top", (top,), (joint,)))
    assert found.decay < 1.0
    assert not found.is_damped


def test_looking_for_fast_motion_leaves_no_trace():
    run = prepare_run(stiff_model(stiff12()), 0.1, rtol=1e-6)
    before = run.end()
    run._run.begin(None, None)
    fast_motion(run._run.run)
    assert np.array_equal(np.concatenate(run.end()), np.concatenate(before))


def test_nothing_is_fast_where_nothing_can_be_evaluated(monkeypatch):
    from pliant.kernels import _jit

    run = prepare_run(hinge(1.0, 1.0), 1.0)._run.run
    monkeypatch.setattr(_jit, "entry", lambda kernel: lambda *given: 1)
    assert fast_motion(run) == FastMotion(0.0, 0.0, 0.0)


def test_nothing_is_fast_where_nothing_can_move():
    """A body that is welded to the world, above a floor."""
    law = NormalLaw("kelvin-voigt", 1e4, damping=10.0)
    welded = Model(
        "welded",
        (Body("ball", 1.0, inertia=(0.01, 0.01, 0.01)),),
        (Joint("weld", "fixed", "ball", parent=Frame("world", position=(0.0, 1.0, 0.0))),),
        contacts=(Contact("floor", law, Plane(normal="y"), points=[Frame("ball")]),),
    )
    assert motion_of(welded) == FastMotion(0.0, 0.0, 0.0)
    assert simulate(welded, 0.1).status == "done"


def test_contacts_that_press_at_the_start_are_part_of_the_motion():
    """d / m of a body that rests on a damper; the phase of the start is known when auto chooses."""
    law = NormalLaw("kelvin-voigt", 1e4, damping=2e3)
    resting = Model(
        "resting",
        (Body("block", 1.0, inertia=(0.01, 0.01, 0.01)),),
        (Joint("lift", "prismatic", "block", axis=(0, 0, 1), q0=-1e-3),),
        contacts=(Contact("floor", law, points=[Frame("block")], rests=True),),
    )
    run = prepare_run(resting, 1.0)._run.run
    assert run.choice._motion.decay == pytest.approx(2e3, rel=WITHIN_A_THIRD)
