"""Loops in which something switches move alike with every closure, and the audit sees events that cannot have been."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import pliant
from pliant import (
    AccuracyWarning,
    Contact,
    Coulomb,
    Frame,
    Friction,
    HuntCrossley,
    KelvinVoigt,
    LankaraniNikravesh,
    Limit,
    Plane,
    Spring,
    Transmission,
)
from pliant.diagnostics import WRONG, diagnose
from pliant.simulation.audit import false_events, one_sided_events
from switching_loops import four_bar

LENGTHS = (0.3, 0.9, 0.7, 1.0)
TIGHT = {"rtol": 1e-9, "atol": 1e-11}
FLOOR = Plane(Frame("world", (0.0, -0.05, 0.0)), normal=(0.0, 1.0, 0.0))
TIP = (Frame("crank", (0.3, 0.0, 0.0)),)


def touching(law, friction, **more):
    floor = Contact("floor", law, FLOOR, TIP, friction=friction)
    return four_bar(LENGTHS, 1.0, 4.0, contacts=(floor,), **more)


def with_joint(model, name, **more):
    joints = tuple(replace(joint, **more) if joint.name == name else joint for joint in model.joints)
    return replace(model, joints=joints)


def moved_alike(model, duration):
    """Both closures end in one state with the same events, none of which is impossible."""
    plain, reduced = (pliant.simulate(model, duration, closure=name, **TIGHT) for name in ("multipliers", "reduced"))
    for found in (plain, reduced):
        assert found.status == "done", found.reason
        assert found.audit.get("false_events", 0.0) == 0.0
    assert [event.name for event in reduced.events] == [event.name for event in plain.events]
    assert [event.t for event in reduced.events] == pytest.approx([event.t for event in plain.events], abs=1e-6)
    # errors of steps grow some hundredfold, impacts add as much
    assert reduced.q[-1] == pytest.approx(plain.q[-1], abs=1e-6)
    return plain


@pytest.mark.parametrize("keep", [("ja",), ("jb",), ("jc",), ()])
@pytest.mark.parametrize("friction", [None, Coulomb(0.3)])
@pytest.mark.parametrize(
    "law", [LankaraniNikravesh(1e5, 0.6), HuntCrossley(1e5, restitution=0.6), KelvinVoigt(1e4, 30.0)]
)
def test_contact_of_a_four_bar_is_the_same_impact_with_minimal_coordinates(law, friction, keep):
    found = moved_alike(touching(law, friction, keep=keep), 0.6)
    assert len(found.contacts) > 0


@pytest.mark.parametrize("keep", ["ja", "jb", "jc"])
def test_stops_backlash_and_one_way_springs_of_a_four_bar_act_alike_with_minimal_coordinates(keep):
    model = four_bar(LENGTHS, 1.0, 4.0, keep=(keep,))
    start = float(model.joints[2].q0)
    stop = Limit(start - 0.1, start + 0.1, stiffness=300.0, damping=0.5)
    play = Transmission(300.0, damping=0.2, backlash=0.05)
    rope = Spring("rope", "world", Frame("coupler", (0.9, 0, 0)), stiffness=500.0, length=0.9, only="tension")
    assert len(moved_alike(with_joint(model, "jc", limit=stop), 0.6).events) > 1
    loose = with_joint(model, "ja", transmission=play, armature=0.1, motor=pliant.Sine(amplitude=5.0, omega=9.0))
    assert len(moved_alike(loose, 0.6).events) > 2
    assert len(moved_alike(replace(model, springs=(rope,)), 0.6).events) > 0


def test_impact_is_not_begun_anew_by_an_event_elsewhere():
    """A crossing in the middle of an impact says nothing to the contact."""
    plain = pliant.simulate(touching(LankaraniNikravesh(1e5, 0.6), None), 0.6, **TIGHT)
    first = plain.contacts[0]
    q, _ = plain.at(0.5 * (first.t_start + first.t_end))
    model = touching(LankaraniNikravesh(1e5, 0.6), None, crossings=(pliant.Crossing("mark", "jc", float(q[2])),))
    for closure in ("multipliers", "reduced"):
        found = pliant.simulate(model, 0.6, closure=closure, **TIGHT)
        assert "mark" in [event.name for event in found.events if first.t_start < event.t < first.t_end]
        assert len(found.contacts) == len(plain.contacts)
        # the log has the speed at the recorded row, which is that of the event
        assert found.contacts[0].v_in == pytest.approx(first.v_in, rel=1e-6)


# --- the audit sees it --------------------------------------------------------------------------------------------


def test_a_contact_that_begins_twice_or_while_it_opens_is_said_to_be_wrong():
    found = pliant.simulate(touching(KelvinVoigt(1e4, 30.0), None), 0.6, **TIGHT)
    assert found.audit.get("false_events", 0.0) == 0.0
    assert not any(finding.key == "false_events" for finding in found.diagnostics)
    handle = pliant.engine.prepared.prepare(found.model)
    ((k, (_, sign)),) = one_sided_events(handle).items()
    begin, finish = (k, sign, 0.1), (k, -sign, 0.2)
    none = np.recarray(0, [("v_in", float), ("t_start", float)])
    count = [
        false_events(handle, found.v, found.phases, log, none, found.settings)
        for log in ([begin, finish, begin], [begin, begin, finish], [finish, begin], [begin, finish, finish])
    ]
    assert count == [0, 1, 1, 1]
    opening = SimpleNamespace(v_in=np.array([1.0, -1e-6, -1.0]), t_start=np.array([0.1, 0.2, 0.3]))
    assert false_events(handle, found.v, found.phases, [], opening, found.settings) == 1
    assert [each.level for each in diagnose({"false_events": 1.0}, found.settings)] == [WRONG]


def test_contacts_that_begin_at_rest_graze_or_meet_a_moving_plane_are_no_false_alarm():
    law, friction = KelvinVoigt(1e4, 20.0), Friction("coulomb", 0.3)
    ball = pliant.Body("ball", 1.0, inertia=(0.01, 0.01, 0.01))
    lift = pliant.Body("lift", 5.0, inertia=(0.1, 0.1, 0.1))
    up = pliant.Joint("rail", "prismatic", "lift", axis=(0, 1, 0), motion=pliant.Sine(amplitude=0.05, omega=20.0))
    for height, speed in ((0.0, 0.0), (1e-9, 0.0), (0.02, 1.0)):
        free = pliant.Joint("free", "planar", "ball", q0=(0.0, height, 0.0), v0=(speed, 0.0, 0.0))
        table = Contact("table", law, Plane(Frame("lift"), normal=(0, 1, 0)), (Frame("ball"),), friction=friction)
        model = pliant.Model("ball on a lift", (lift, ball), (up, free), gravity=(0, -9.81, 0), contacts=(table,))
        for rtol in (1e-4, 1e-8):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = pliant.simulate(model, 1.0, rtol=rtol)
            assert found.audit["false_events"] == 0.0
            # the plane's motion puts the state on its signal anew, by rounding: no contact begins by that
            senses = [event.direction for event in found.events if event.name == "table: ball.point1"]
            assert senses == ["falling", "rising"] * (len(senses) // 2) + ["falling"] * (len(senses) % 2)


# --- starts near singular poses -----------------------------------------------------------------------------------


def beside_dead_point(aside):
    """Crank and coupler nearly in line, and the rocker, which they hold back, kept."""
    rocker, ground, far = 0.7, 1.0, 1.2
    # where the rocker's tip is as far from the motor as crank and coupler reach, but for the square of aside
    out = far - aside**2 * 0.3 * 0.9 / (2.0 * far)
    pivot = np.pi - np.arccos((rocker**2 + ground**2 - out**2) / (2.0 * rocker * ground))
    model = four_bar(LENGTHS, 1.0, 0.0, keep=("jc",))
    tip = ground + rocker * np.exp(1j * pivot)
    q0 = [float(np.angle(tip)) - 0.75 * aside, aside, float(pivot)]
    return model, q0, [0.0, 0.0, 3.9]


def test_a_start_that_closing_makes_absurdly_fast_is_heard():
    model, q0, v0 = beside_dead_point(1e-3)
    with pytest.warns(AccuracyWarning, match="near a singular pose"):
        _, v = pliant.assemble(model, q0, v0)
    assert np.max(np.abs(v)) > 1e3
    with pytest.warns(AccuracyWarning, match="near a singular pose"):
        found = pliant.simulate(model, 1e-4, q0=q0, v0=v0)
    assert found.audit["start_speed_gain"] == pytest.approx(np.max(np.abs(v)) / 3.9)
    with pytest.warns(AccuracyWarning, match="near a singular pose"):
        pliant.prepare_run(model, 1e-4).attempt(np.array(q0), np.array(v0))


def test_a_start_with_speeds_that_fit_each_other_is_not_talked_about():
    model, q0, v0 = beside_dead_point(1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        q, v = pliant.assemble(model, q0, v0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pliant.assemble(model, q, v)
        pliant.assemble(*beside_dead_point(0.1))
