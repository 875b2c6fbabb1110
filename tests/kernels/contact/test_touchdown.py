"""Friction where a contact begins: it carries nothing yet, and what sticks there is what sticks a moment later.

A rod falls without rotating and strikes the ground with its end, which has no speed along it. Held there, it needs
friction over normal force 3 sin a cos a / (1 + 3 sin^2 a) at inclination a (Routh), however the force goes."""

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Frame, Friction, Joint, Model, NormalLaw, Output, Plane, Rod

INTEGRATORS = ["dop853", "bs5", "dopri5", "rkf45", "adams", "radau", "ark4", "ark5"]


def needed(a: float) -> float:
    return 3.0 * np.sin(a) * np.cos(a) / (1.0 + 3.0 * np.sin(a) ** 2)


def falling_rod(a, mu_k, mu_s, speed, law):
    """With its end 0.01 m above the ground."""
    end = Frame("rod", (0.0, 0.0, 0.0), name="end")
    ground = Contact(
        "ground", law, Plane(normal=(0, 1, 0)), points=["end"], friction=Friction("stiction", mu_k=mu_k, mu_s=mu_s)
    )
    fall = Joint("free", "planar", "rod", q0=(0.0, 0.01, a), v0=(0.0, -speed, 0.0))
    outputs = [Output("end", "end", "velocity")]
    return Model(
        "rod",
        [Body("rod", 1.0, shape=Rod(1.0))],
        [fall],
        frames=[end],
        contacts=[ground],
        outputs=outputs,
        gravity=(0, 0, 0),
    )


def sliding_speed(model, speed, integrator, rtol):
    """Of the end, halfway through the impact, over the speed of the fall; whether it slipped before."""
    result = pliant.simulate(model, 0.01 / speed + 0.05, integrator=integrator, rtol=rtol, atol=rtol / 100)
    assert result.status == "done", result.reason
    assert result.audit["stick_load"] < 1.0 + 1e-6
    (contact,) = result.contacts
    t = 0.5 * (contact.t_start + contact.t_end)
    slipped = any("slips" in event.name and event.t < t for event in result.events)
    return abs(float(result.outputs_at(np.array([t]))["end"][0, 0])) / speed, slipped


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("form", ["hooke", "hertz", "kelvin-voigt"])
def test_a_rod_that_lands_at_rest_sticks_if_the_larger_coefficient_holds_it(form, integrator):
    rng = np.random.default_rng(3)
    damping = {"damping": 30.0} if form == "kelvin-voigt" else {}
    law = NormalLaw(form, stiffness=1e6, **damping)
    for _ in range(4):
        a, speed, rtol = rng.uniform(0.3, 1.3), rng.uniform(0.05, 1.0), 10 ** rng.uniform(-10, -7)
        held = falling_rod(a, 0.7 * needed(a), 1.2 * needed(a), speed, law)
        slide, slipped = sliding_speed(held, speed, integrator, rtol)
        assert not slipped
        assert slide * speed < 1e-6  # the stick speed
        sliding = falling_rod(a, 0.7 * needed(a), 0.8 * needed(a), speed, law)
        slide, _ = sliding_speed(sliding, speed, integrator, rtol)
        assert slide > 0.01
