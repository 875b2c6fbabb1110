"""Events of every two kinds at one instant: each acts once, and time goes on."""

import itertools
import os
import signal
import threading

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Controller, Crossing, Frame, Friction, Joint, Limit, Model, NormalLaw, Plane, Ramp

TWO = 2.0  # duration; everything happens at t = 1


def slider(name, **options):
    """A block of 1 kg on a rail along x."""
    return Body(name, 1.0, inertia=(1.0, 1.0, 1.0)), Joint(name, "prismatic", name, axis=(1, 0, 0), **options)


# each: what a model needs so that this happens at t = 1
def limit():
    return {"parts": [slider("limited", q0=-1.0, v0=1.0, limit=Limit(upper=0.0, stiffness=1e4))]}


def crossing():
    return {"parts": [slider("crossed", q0=-1.0, v0=1.0)], "crossings": [Crossing("passes", "crossed", value=0.0)]}


def contact():
    point = Frame("hits", (0, 0, 0))
    ground = Contact("wall", NormalLaw("hertz", stiffness=1e5), Plane(normal=(-1, 0, 0)), points=[point])
    return {"parts": [slider("hits", q0=-1.0, v0=1.0)], "contacts": [ground]}


def stick():
    return {"parts": [slider("stops", v0=0.5, friction=Friction("coulomb", 0.5, load=1.0))]}


def release():
    friction = Friction("stiction", mu_k=0.25, mu_s=0.5, load=1.0)
    return {"parts": [slider("starts", motor=Ramp(0.0, 2.0, 1.0), friction=friction)]}


def reversal():
    friction = Friction("coulomb", 0.25, load=1.0)
    return {"parts": [slider("turns", v0=1.25, motor=-1.0, friction=friction)]}


def kink():
    return {"parts": [slider("pushed", motor=Ramp(1.0, 1.5, 1.0))]}


def sample():
    law = Controller("law", 0.25, ["told"], lambda t, seen: [0.1])
    return {"parts": [slider("told")], "controllers": [law]}


def end():
    return {"duration": 1.0}


KINDS = (limit, crossing, contact, stick, release, reversal, kink, sample, end)


def model_of(*kinds):
    found = [kind() for kind in kinds]
    parts = [part for one in found for part in one.get("parts", [])] or [slider("idle")]
    lists = ("crossings", "contacts", "controllers")
    every = {key: [item for one in found for item in one.get(key, [])] for key in lists}
    duration = min(one.get("duration", TWO) for one in found)
    bodies, joints = zip(*parts, strict=True)
    return Model("carts", bodies, joints, gravity=(0, 0, 0), **every), duration


@pytest.mark.parametrize(
    "kinds", list(itertools.combinations(KINDS, 2)), ids=lambda pair: "-".join(k.__name__ for k in pair)
)
def test_two_kinds_of_events_at_one_instant(kinds):
    """The same motion as of each alone; an energy balance that closes."""
    model, duration = model_of(*kinds)
    for rtol in (1e-4, 1e-8):
        result = pliant.simulate(model, duration, rtol=rtol)
        assert result.status == "done", result.reason
        assert result.t[-1] == duration
        assert result.audit["energy_residual"] < 1e3 * rtol
        for kind in kinds:
            alone, _ = model_of(kind)
            names = [name for name in alone.coordinates if name in model.coordinates]
            one = pliant.simulate(alone, duration, rtol=rtol)
            for name in names:
                # two runs with other steps: their local errors, over some events
                assert result.column(name)[-1] == pytest.approx(one.column(name)[-1], abs=1e3 * rtol)
            assert len(result.events) >= len(one.events)
        if crossing in kinds and duration > 1.0:
            assert [event.t for event in result.events if event.name == "passes"] == [pytest.approx(1.0)]


def test_a_limit_and_a_crossing_of_the_same_joint_at_the_same_place():
    """Once a loop without end, at any tolerance."""
    body, joint = slider("cart", q0=-1.0, stiffness=1.0, limit=Limit(upper=0.9, stiffness=1e4))
    model = Model("cart", [body], [joint], gravity=(0, 0, 0), crossings=[Crossing("there", "cart", value=0.9)])
    for rtol in (1e-3, 1e-5, 1e-8):
        result = pliant.simulate(model, 12.0, rtol=rtol)
        assert result.status == "done", result.reason
        passed = [event for event in result.events if event.name == "there"]
        assert [event.direction for event in passed[:2]] == ["rising", "falling"]
        # T = 2 asin(0.9)-periods and half a bounce each: as many ups as downs
        assert len(passed) == 4


@pytest.mark.parametrize(("damping", "duration"), [(1e18, 3.0), (1e14, 1000.0)])
def test_a_stop_with_absurd_damping_ends_with_a_reason_or_done(damping, duration):
    stop = Limit(upper=0.0, stiffness=1e4, damping=damping)
    body, joint = slider("cart", q0=-1.0, v0=2.0 / duration, limit=stop)
    result = pliant.simulate(Model("cart", [body], [joint], gravity=(0, 0, 0)), duration, max_steps=100_000)
    assert result.status == "done" or result.reason


def test_a_ball_of_hardly_any_mass_ends_with_a_reason_or_done():
    body = Body("ball", 1e-30, inertia=(1e-30, 1e-30, 1e-30))
    ground = Contact("ground", NormalLaw("hertz", stiffness=1e5), points=[Frame("ball", (0, 0, 0))])
    joint = Joint("fall", "prismatic", "ball", axis=(0, 0, 1), q0=0.1)
    result = pliant.simulate(Model("ball", [body], [joint], contacts=[ground]), 1.0, max_steps=20_000)
    assert result.status == "done" or result.reason


def crowd(n):
    """A plate on n feet that bounces on the ground for ever, rattling and sliding."""
    rng = np.random.default_rng(0)
    feet = [Frame("plate", (float(x), 0.0, 0.0)) for x in (-1.0, 1.0, *rng.uniform(-1, 1, n - 2))]
    return Model(
        "crowd",
        [Body("plate", 10.0, inertia=(1.0, 1.0, 1.0))],
        [Joint("free", "planar", "plate", q0=(0, 0.01, 0.001), v0=(0.1, 0.0, 0.0))],
        gravity=(0, -9.81, 0),
        contacts=[
            Contact(
                "ground",
                NormalLaw("hooke", stiffness=1e4),
                Plane(normal=(0, 1, 0)),
                points=feet,
                friction=Friction("stiction", mu_k=0.3, mu_s=0.5),
            )
        ],
    )


@pytest.mark.parametrize("n", [2, 300])
def test_ctrl_c_ends_a_run_from_any_state_and_keeps_what_it_has(n):
    # shells ignore it for what they start in the background
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        # 1000 steps are more than 1e-9 of it, and it takes hours
        result = pliant.simulate(crowd(n), 1e6, dense=False)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert result.status == "interrupted", result.reason
    assert len(result.t) > 0


@pytest.mark.parametrize("powers", [(-1, 1), (2, 7)])
def test_impacts_straight_down_neither_slip_nor_repeat(powers):
    """Where a contact begins friction holds nothing yet, but sooner than t can say: breaking away and holding once
    repeated there for ever, in a third of the late runs."""
    rng = np.random.default_rng(1)
    for law in [Friction("coulomb", mu_k=0.3), Friction("stiction", mu_k=0.3, mu_s=0.5)] * 20:
        begin, speed, stiffness = 10 ** rng.uniform(*powers), 10 ** rng.uniform(-3, 0), 10 ** rng.uniform(3, 7)
        ground = Contact(
            "ground",
            NormalLaw("hooke", stiffness=stiffness),
            Plane(normal=(0, 1, 0)),
            points=[Frame("ball", (0.0, 0.0, 0.0))],
            friction=law,
        )
        fall = Joint("free", "planar", "ball", q0=(0.0, speed * begin, 0.0), v0=(0.0, -speed, 0.0))
        model = Model("late", [Body("ball", 1.0, inertia=(1, 1, 1))], [fall], gravity=(0, 0, 0), contacts=[ground])
        # half a swing of the ground, and away
        result = pliant.simulate(model, begin * (1.0 + 1e-6) + 10.0 / np.sqrt(stiffness), dense=False)
        assert result.status == "done", result.reason
        touches, slips = ([e.direction for e in result.events if ("slips" in e.name) == is_slip] for is_slip in (0, 1))
        assert touches == ["falling", "rising"]
        # late, a little of the ground's force is there already, and known no better than t
        assert len(slips) <= (powers[0] > 0)
        assert result.v[-1] == pytest.approx([0.0, speed, 0.0], rel=1e-6, abs=1e-12)
