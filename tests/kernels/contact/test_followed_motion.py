"""Forces at rest begin from those of the evaluation before (contact/follow_steps.py). The motion must not know which
other evaluations were made: dense output, outputs, and looks at single instants change nothing, to the last bit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Controller, Frame, Joint, Model, NormalLaw, Output
from pliant_benchmarks.contacts import STICTION

G, DEPTH, MASS = 9.81, 1e-3, 10.0


def plate(rate: float) -> Model:
    """On four feet that stick and slip while an arm swings on it: eight unknown forces, of seven velocities."""
    feet = [Frame("plate", (x, y, 0.0)) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    law = NormalLaw("kelvin-voigt", (MASS + 1.0) * G / DEPTH / len(feet), damping=300.0)
    arm = Body("arm", 1.0, com=(0.4, 0, 0), inertia=(0.02, 0.02, 0.02))
    hinge = Frame("plate", (0.1, 0, 0.5))
    return Model(
        "plate",
        (Body("plate", MASS, inertia=(1.0, 1.0, 1.5)), arm),
        (
            Joint("free", "floating", "plate", q0=(0, 0, -DEPTH, 0, 0, 0, 1)),
            Joint("hinge", "revolute", "arm", parent=hinge, axis=(0, 1, 0), q0=0.3, v0=rate),
        ),
        gravity=(0.5, 0.2, -G),
        contacts=(Contact("feet", law, points=feet, friction=STICTION, rests=True),),
        outputs=(Output("push", "feet", "contact"),),
    )


@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "adams", "ark5", "radau", "auto"])
@pytest.mark.parametrize("rate", [3.0, 7.0, 9.0])
def test_dense_output_changes_no_bit_of_the_motion(rate, integrator):
    model = plate(rate)
    dense, bare = (pliant.simulate(model, 0.7, integrator=integrator, dense=dense) for dense in (True, False))
    assert dense.status == bare.status == "done"
    assert len(dense.events) > 2  # feet break away, and stick again
    np.testing.assert_array_equal(dense.t, bare.t)
    np.testing.assert_array_equal(dense.q, bare.q)
    end = pliant.prepare_run(model, 0.7, integrator=integrator).end
    np.testing.assert_array_equal(end()[0], bare.q[-1])
    np.testing.assert_array_equal(end()[0], bare.q[-1])


def test_a_stepper_goes_where_simulate_goes():
    """To the last bit, with dense output in simulate."""
    model = plate(7.0)
    stepper = pliant.stepper(model, ["hinge"], integrator="dop853")
    for k in range(50):
        stepper.step(np.array([np.sin(0.3 * k)]), 0.01)
    law = Controller("wave", period=0.01, joints=["hinge"], function=lambda t, _: np.sin(0.3 * round(t / 0.01)))
    found = pliant.simulate(dataclasses.replace(model, controllers=(law,)), 0.5, integrator="dop853")
    np.testing.assert_array_equal(stepper.q, found.q[-1])
    np.testing.assert_array_equal(stepper.v, found.v[-1])


def test_outputs_at_an_instant_do_not_depend_on_other_instants():
    found = pliant.simulate(plate(7.0), 0.7)
    times = np.linspace(0.05, 0.65, 20)
    together = found.outputs_at(times)["push"]
    alone = [found.outputs_at(np.array([t]))["push"][0] for t in times]
    np.testing.assert_array_equal(together, alone)
