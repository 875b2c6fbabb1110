"""stepper: a run advanced by its caller is that of simulate, and goes on from what was saved, to the last bit."""

import copy
import dataclasses
import pickle
import threading

import numpy as np
import pytest

import pliant
from controlled_models import slider, two_joints
from pliant import Body, Contact, Controller, Crossing, Frame, Joint, Limit, Model, ModelError, Rod, Table
from zoo import ZOO

PERIOD, STEPS = 0.004, 10
RK4 = {"integrator": "rk4", "step": PERIOD / 40}  # up to 28 000 rad/s, beams of the zoo have less
# where steps depend on more than the state: phases, friction, loops and what implicit methods remember
TOUGH = ("stopped_arm", "falling_chain", "flexible_four_bar", "spatial_linkage", "pressed_foot", "sliding_puck")
BARE = {name: dataclasses.replace(model, controllers=()) for name, model in ZOO.items()}


def torque(t, v):
    """Of a controller: depends on time and state, so that a wrong order of reading and acting shows."""
    return 0.3 * np.cos(40.0 * t + np.arange(len(v))) - 0.05 * v


def commanded_rates(stepper):
    return [stepper.model.velocities.index(name) for name in stepper.commanded]


def advance(stepper, steps, period=PERIOD):
    rows = commanded_rates(stepper)
    for _ in range(steps):
        assert stepper.step(torque(stepper.t, stepper.v[rows]), period), stepper
    return stepper


def simulated(stepper, **options):
    """The same motion by simulate, with a controller of the same period."""
    rows = commanded_rates(stepper)
    function = lambda t, measured: torque(t, measured.v[rows])  # noqa: E731
    servo = Controller("servo", PERIOD, stepper.joints, function) if stepper.joints else None
    model = dataclasses.replace(stepper.model, controllers=(*stepper.model.controllers, *([servo] if servo else ())))
    return pliant.simulate(model, STEPS * PERIOD, **options)


def same(one, other):
    return np.array_equal(one.q, other.q) and np.array_equal(one.v, other.v) and one.t == other.t


@pytest.mark.filterwarnings("ignore::pliant.AccuracyWarning")
@pytest.mark.parametrize(("name", "options"), [*((name, {}) for name in BARE), *((name, RK4) for name in TOUGH)])
def test_steps_are_a_run_of_simulate_with_a_controller_of_that_period_to_the_last_bit(name, options):
    stepper = pliant.stepper(BARE[name], duration=1.0, **options)
    result = simulated(stepper, **options)
    advance(stepper, STEPS)
    if stepper.commanded:
        assert np.array_equal(stepper.q, result.q[-1])
        assert np.array_equal(stepper.v, result.v[-1])
    else:  # nothing cuts the run of simulate at the ends of steps: another partition, within tolerances
        loosely = 1e-5 if options else 1e-7
        assert np.allclose(stepper.q, result.q[-1], rtol=loosely, atol=loosely)


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in BARE), *((name, each) for name in TOUGH for each in ({"integrator": "radau"}, RK4))],
)
def test_what_is_saved_goes_on_to_the_last_bit_here_in_a_copy_and_in_another_process(name, options):
    stepper = pliant.stepper(BARE[name], duration=1.0, **options)
    saved = advance(stepper, 3).save()
    sent = pickle.dumps(stepper)
    end = advance(stepper, 4).save()
    for other in (stepper, stepper.copy(), pickle.loads(sent), pliant.stepper(BARE[name], duration=1.0, **options)):
        other.restore(pickle.loads(pickle.dumps(saved)))
        assert same(saved, other)
        assert same(end, advance(other, 4))


@pytest.mark.parametrize("closure", ["multipliers", "reduced", "springs"])
def test_every_closure_steps_and_goes_on_as_simulate_does(closure):
    name = next(name for name, model in BARE.items() if model.loops)
    stepper = pliant.stepper(BARE[name], closure=closure)
    saved = advance(stepper, 4).save()
    advance(stepper, STEPS - 4)
    result = simulated(stepper, closure=closure)
    assert np.array_equal(stepper.q, result.q[-1])
    assert np.array_equal(stepper.v, result.v[-1])
    stepper.restore(saved)
    assert np.array_equal(advance(stepper, STEPS - 4).q, result.q[-1])


@pytest.mark.parametrize("name", ["double_pendulum", "stopped_arm", "flexible_arm"])
def test_reset_begins_as_a_new_stepper_does(name):
    model = BARE[name]
    stepper = pliant.stepper(model)
    first = advance(stepper, STEPS).save()
    stepper.reset()
    assert stepper.t == 0.0
    assert np.array_equal(stepper.q, model.q0)
    assert same(first, advance(stepper, STEPS))
    moved = model.q0 + 1e-3
    stepper.reset(moved)
    other = pliant.stepper(model)
    other.reset(q=moved)
    assert same(advance(stepper, STEPS), advance(other, STEPS))
    assert not same(first, stepper)


def falling(**options):
    """A ball-less point mass above the ground: touches after sqrt(2 h/g)."""
    ground = Contact("ground", pliant.KelvinVoigt(stiffness=1e5, damping=20.0), points=("mass",))
    body = Body("mass", 1.0, inertia=(1e-2, 1e-2, 1e-2))
    joints = (Joint("rail", "prismatic", "mass", q0=0.05),)
    return Model("falling", [body], joints, contacts=[ground], **options)


def test_contacts_begin_inside_a_step_and_are_seen():
    stepper = pliant.stepper(falling(), ())
    touch = np.sqrt(2 * 0.05 / 9.81)
    while stepper.t < touch - 0.03:
        assert stepper.step(None, 0.03)
        assert stepper.contacts == ()
        assert stepper.events == ()
    assert stepper.step(None, 0.005 + touch - stepper.t)
    assert stepper.contacts == (("ground", "mass"),)
    begin = stepper.events[0]
    assert begin.direction == "falling"
    assert abs(begin.t - touch) < 1e-9  # a parabola, which dop853 integrates exactly
    assert stepper.step(None, 0.1)
    assert stepper.contacts == ()
    result = pliant.simulate(falling(), stepper.t)
    # another partition into steps: within tolerances of 1e-8, which the stiff contact magnifies
    assert np.allclose(stepper.q, result.q[-1], rtol=1e-5)


def test_a_limit_that_holds_no_motion_stops_it_until_reset():
    hinge = Joint("hinge", "revolute", "rod", axis=(0, 1, 0), limit=Limit(upper=0.3))
    model = Model("stopped", [Body("rod", 1.0, shape=Rod(0.5))], [hinge])
    stepper = pliant.stepper(model)
    steps = 0
    while stepper.step(np.zeros(1), 0.01):
        steps += 1
        assert steps < 100
    assert stepper.status == "stopped"
    assert not stepper.is_ok
    assert "hinge" in stepper.reason
    assert abs(stepper.q[0] - 0.3) < 1e-9
    t = stepper.t
    assert not stepper.step(np.zeros(1), 0.01)
    assert stepper.t == t
    assert "stopped" in repr(stepper)
    saved = stepper.save()
    stepper.reset()
    assert stepper.is_ok
    assert stepper.reason == ""
    assert stepper.step(np.zeros(1), 0.01)
    stepper.restore(saved)
    assert stepper.status == "stopped"
    assert not stepper.step(np.zeros(1), 0.01)


def test_a_step_that_fails_is_a_value_with_its_reason():
    stepper = pliant.stepper(BARE["flexible_arm"])
    assert not stepper.step(np.full(len(stepper.commanded), 1e9), 0.1)
    assert stepper.status == "failed"
    assert stepper.reason.startswith("at t = ")
    assert np.all(np.isfinite(stepper.q))
    assert stepper.t < 0.1
    stepper.reset()
    assert stepper.step(np.zeros(len(stepper.commanded)), 0.001)


def test_too_many_steps_are_those_of_one_call():
    stepper = pliant.stepper(BARE["double_pendulum"], max_steps=500, **RK4)
    for _ in range(30):
        assert stepper.step(None, 10 * PERIOD)
    # a call looks at it after every entry into the integrator
    assert not stepper.step(None, 1e5 * PERIOD)
    assert stepper.status == "failed"
    assert "steps" in stepper.reason


def test_instants_do_not_drift():
    stepper = pliant.stepper(BARE["pendulum"], integrator="rk4", step=0.1)
    for k in range(1000):
        assert stepper.step(None, 0.1)
        assert stepper.t == (k + 1) * 0.1


def test_laws_and_functions_of_the_model_go_on_beside_tau():
    law = Controller("law", 0.003, ("elbow",), law=pliant.PD(5.0, 0.4, pliant.Sine(1.0, 3.0)), delay=0.002, noise=1e-3)
    plain = dataclasses.replace(two_joints(None, joints=("shoulder",), law=pliant.PD(1.0)), controllers=(law,))
    stepper = pliant.stepper(plain)
    assert stepper.commanded == ("shoulder",)
    result = simulated(stepper)
    advance(stepper, STEPS)
    assert np.array_equal(stepper.q, result.q[-1])
    assert np.array_equal(stepper.v, result.v[-1])

    function = Controller("function", 0.003, ("elbow",), lambda t, seen: -0.2 * seen["elbow"][0], noise=1e-3, seed=3)
    asked = dataclasses.replace(plain, controllers=(function,))
    stepper = pliant.stepper(asked)
    result = simulated(stepper)
    saved = advance(stepper, 4).save()
    advance(stepper, STEPS - 4)
    assert np.array_equal(stepper.q, result.q[-1])
    assert np.array_equal(stepper.v, result.v[-1])
    stepper.restore(saved)
    assert np.array_equal(advance(stepper, STEPS - 4).q, result.q[-1])  # the noise goes on where it was


def test_a_controller_that_fails_ends_it_with_its_reason():
    model = slider(lambda t, measured: 1.0 / (t < 0.15))
    stepper = pliant.stepper(model)
    assert stepper.commanded == ()
    assert stepper.step(None, 0.15)
    assert not stepper.step((), 0.1)
    assert stepper.status == "failed"
    assert "ZeroDivisionError" in stepper.reason


def test_a_controller_cannot_step_the_stepper_that_asks_it():
    found = []

    def meddle(t, measured):
        for call in (lambda: found[0].step(None, 0.1), found[0].save, found[0].reset):
            with pytest.raises(ModelError, match="middle of a step"):
                call()
        return 0.0

    found.append(pliant.stepper(slider(meddle)))
    assert found[0].step(None, 0.1)


def test_outputs_are_those_of_simulate_at_the_end():
    model = dataclasses.replace(two_joints(lambda t, measured: (1.0, 0.0)), duration=0.1)
    result = pliant.simulate(model)
    stepper = pliant.stepper(dataclasses.replace(model, controllers=()))
    for _ in range(10):
        assert stepper.step((1.0, 0.0), 0.01)
    found = stepper.outputs()
    assert set(found) == {"tip", "load"}
    for name, values in found.items():
        assert np.array_equal(values, result.outputs[name][-1])
    q, _ = stepper.state
    assert stepper.step((1.0, 0.0), 0.01)  # looking has changed nothing
    other = pliant.stepper(stepper.model)
    for _ in range(11):
        assert other.step((1.0, 0.0), 0.01)
    assert same(other, stepper)
    assert not np.array_equal(q, stepper.q)  # copies do not move


def test_copies_step_in_threads_as_one_does():
    stepper = pliant.stepper(BARE["double_pendulum"])
    copies = [stepper.copy() for _ in range(4)]
    threads = [threading.Thread(target=advance, args=(each, 50)) for each in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    advance(stepper, 50)
    assert all(same(each, stepper) for each in copies)
    assert same(copy.deepcopy(stepper), stepper)


WRONG = [
    (lambda s: s.step((0.0,), 0.01), "tau: shape (1,) found, (2,) expected: shoulder, elbow"),
    (lambda s: s.step(np.array([0.0, np.nan]), 0.01), "tau: 'elbow' is nan; give finite numbers"),
    (lambda s: s.step("no", 0.01), "tau: 'no' is no list of numbers"),
    (lambda s: s.step(None, 0.0), "dt: 0.0 found; give a number above 0"),
    (lambda s: s.step(None, -1.0), "dt: -1.0 found"),
    (lambda s: s.step(None, np.nan), "dt: nan found"),
    (lambda s: s.step(None, 2.0), "dt: a step of 2 s from t = 0 s goes beyond the duration of this stepper, 1 s"),
    (lambda s: s.reset((0.0,)), "q: shape (1,) found"),
    (lambda s: s.restore(3), "saved: 3 found; give what save() of a stepper returned"),
    (
        lambda s: s.restore(pliant.stepper(s.model, duration=1.0, rtol=1e-6).save()),
        "saved: it is of a stepper with another model, other joints or other options",
    ),
    (lambda s: pliant.stepper(s.model, "elbo"), "joints: 'elbo' found; did you mean 'elbow'?"),
    (lambda s: pliant.stepper(s.model, ["elbow", "elbow"]), "joints: elbow, elbow name one joint twice"),
    (lambda s: pliant.stepper(two_joints(print), "elbow"), "joints: 'elbow' is commanded by a controller"),
    (lambda s: pliant.stepper(s.model, integrator="rk4"), "integrator 'rk4' has no error control; give a fixed step"),
    (lambda s: pliant.stepper(s.model, speed=1.0), "simulate has no option 'speed'"),
    (lambda s: pliant.stepper("arm"), "'arm' is no Model"),
]


@pytest.mark.parametrize(("call", "words"), WRONG, ids=[words[:30] for _, words in WRONG])
def test_a_wrong_call_is_refused_and_changes_nothing(call, words):
    model = dataclasses.replace(two_joints(print), controllers=())
    stepper = pliant.stepper(model, duration=1.0)
    with pytest.raises(ModelError) as caught:
        call(stepper)
    assert words in str(caught.value)
    assert stepper.is_ok
    assert stepper.t == 0.0
    assert stepper.step((0.0, 0.0), 0.01)


def test_a_start_that_cannot_be_leaves_it_where_it_was():
    stepper = pliant.stepper(falling(), ())
    assert stepper.step(None, 0.01)
    before = stepper.save()
    with pytest.raises(ModelError, match="inside its plane"):
        stepper.reset((-0.01,))
    assert same(before, stepper)
    assert stepper.step(None, 0.01)
    other = pliant.stepper(falling(), ())
    assert other.step(None, 0.01)
    assert other.step(None, 0.01)
    assert same(other, stepper)


def test_a_table_that_ends_needs_a_duration():
    motion = Table((0.0, 0.5, 1.0), (0.0, 0.2, 0.1))
    model = Model("driven", [Body("rod", 1.0, shape=Rod(0.5))], [Joint("hinge", "revolute", "rod", motion=motion)])
    with pytest.raises(ModelError, match=r"the run goes from 0 s to inf s .* ends"):
        pliant.stepper(model)
    stepper = pliant.stepper(model, duration=1.0)
    assert stepper.commanded == ()
    for _ in range(10):
        assert stepper.step(None, 0.1)
    assert abs(stepper.q[0] - 0.1) < 1e-12


def test_a_crossing_that_stops_names_itself():
    crossing = Crossing("half", of="hinge", value=0.1, action="stop")
    hinge = Joint("hinge", "revolute", "rod", axis=(0, 1, 0))
    model = Model("crossing", [Body("rod", 1.0, shape=Rod(0.5))], [hinge], crossings=[crossing])
    stepper = pliant.stepper(model)
    while stepper.step(None, 0.05):
        pass
    assert stepper.status == "stopped"
    assert stepper.events[-1].name == "half"
    assert "half" in stepper.reason
    assert abs(stepper.q[0] - 0.1) < 1e-9


def test_frames_and_fixed_joints_are_no_motors():
    bodies = [Body("rod", 1.0, shape=Rod(0.5)), Body("tool", 0.1, shape=Rod(0.1))]
    joints = [Joint("hinge", "revolute", "rod"), Joint("weld", "fixed", "tool", Frame("rod", (0.5, 0, 0)))]
    assert pliant.stepper(Model("welded", bodies, joints)).joints == ("hinge",)
