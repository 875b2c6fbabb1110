"""What integrator="auto" chooses, that trials in vain leave no trace, and that a run goes on through its choices."""

import numpy as np
import pytest

import pliant
from pliant import (
    PD,
    Body,
    Contact,
    Controller,
    Frame,
    Joint,
    Model,
    NormalLaw,
    Plane,
    Rod,
    Sphere,
)
from pliant.cases.case import all_cases
from pliant.methods.integrators import ARK5, Dop853, Radau
from pliant.simulation import auto_integrator
from pliant.simulation import run as run_module
from pliant.simulation.prepared_run import prepare_run
from pliant.simulation.simulate import simulate
from pliant.simulation.trial_steps import Measured, guessed
from pliant.system.status import Status
from pliant_benchmarks.models import blades
from pliant_benchmarks.stiff import stiff12, stiff_model


def names(result):
    return [name for _, name in result.integrators]


def names_of(run):
    return [scheme.name for _, scheme in run._run.run.integrators]


def resting_ball():
    """Starts on the plane it rests on, far more damped than a bounce."""
    floor = Contact(
        "floor", NormalLaw("kelvin-voigt", 1e6, damping=5e3), Plane(normal=(0.0, 1.0, 0.0)), points=("ball",)
    )
    return Model(
        name="stiff",
        gravity=(0.0, -9.81, 0.0),
        bodies=(Body("ball", 1.0, shape=Sphere(0.1)),),
        joints=(Joint("base", "planar", "ball"),),
        contacts=(floor,),
    )


def damped_hinge():
    return Model(
        name="stiff",
        gravity=(0.0, -9.81, 0.0),
        bodies=(Body("rod", 1.0, com=(0.5, 0.0, 0.0), inertia=np.eye(3) / 12),),
        joints=(Joint("hinge", "revolute", "rod", damping=3e3),),
    )


def held_blades(period=1 / 128):
    """Two steel blades with stretch, the first hinge held by a sampled controller; a floor that the tip meets."""
    model = blades(2)
    law = Controller("hold", law=PD(0.05, 0.002, reference=0.0), joints=("joint0",), period=period)
    floor = Contact(
        "floor",
        NormalLaw("kelvin-voigt", 1e4, damping=1.0),
        Plane(normal=(0.0, 1.0, 0.0), offset=-0.05),
        points=(Frame("link1", (0.2, 0.0, 0.0)),),
    )
    return pliant.Model(
        name="held", gravity=model.gravity, bodies=model.bodies, joints=model.joints, controllers=(law,),
        contacts=(floor,),
    )  # fmt: skip


@pytest.fixture
def trials(monkeypatch):
    """What was tried, as it is noted by the run."""
    tried, real = [], run_module.try_steps

    def noted(run, scheme, measured):
        tried.append(scheme.name)
        return real(run, scheme, measured)

    monkeypatch.setattr(run_module, "try_steps", noted)
    return tried


@pytest.fixture
def eager(monkeypatch):
    """Changes for small gains."""
    monkeypatch.setattr(auto_integrator, "GAIN", 0.6)


# --- the choice ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [lambda: stiff_model(stiff12()), damped_hinge, resting_ball])
@pytest.mark.parametrize(("formulation", "choices"), [("articulated", ("ark5", "radau")), ("denoc", ("radau",))])
def test_auto_goes_on_with_another_method_where_it_is_stiff(build, formulation, choices):
    """denoc has no mass matrix that holds stiff forces."""
    found = simulate(build(), 2.0, formulation=formulation)
    explicit = simulate(build(), 2.0, formulation=formulation, integrator="dop853")
    assert set(names(found)) & set(choices)
    assert found.stats["evaluations"] < 0.4 * explicit.stats["evaluations"]
    assert np.abs(found.q[-1] - explicit.q[-1]).max() < 1e-7
    for t, _ in found.integrators[1:]:
        # the pieces of both join
        assert np.allclose(found.at(np.nextafter(t, 0.0))[0], found.at(t)[0], rtol=0, atol=1e-12)


def test_auto_begins_with_ark5_on_blades_whose_stretch_decays_at_once():
    """Error: a few times the tolerance."""
    model, options = blades(10), {"rtol": 1e-4, "atol": 1e-6}
    found, exact = simulate(model, 0.1, **options), simulate(model, 0.1, integrator="radau", rtol=1e-9)
    assert found.integrators == ((0.0, "ark5"),)
    assert np.abs(found.q[-1] - exact.q[-1]).max() < 1e-4
    explicit = simulate(model, 0.1, integrator="dop853", **options)
    assert found.stats["evaluations"] < 0.1 * explicit.stats["evaluations"]


@pytest.mark.parametrize(("rtol", "first"), [(1e-3, "ark5"), (1e-4, "ark5"), (1e-5, "radau"), (1e-8, "radau")])
def test_damped_motion_begins_with_ark5_for_few_digits_and_with_radau_for_many(rtol, first):
    """And no trial is needed: what is taken stays."""
    found = simulate(stiff_model(stiff12()), 0.2, rtol=rtol, atol=1e-2 * rtol)
    assert found.integrators[0] == (0.0, first)
    assert found.settings["why_changed"].startswith(f"{first} from 0 s: what decays at 1.2e+04 1/s")


def test_many_unknowns_begin_with_ark5_however_many_digits():
    """Factors of radau would take longer than they save: 40 velocities."""
    assert names_of(prepare_run(blades(10), 0.1, rtol=1e-8)) == ["ark5"]
    assert names_of(prepare_run(blades(3), 0.1, rtol=1e-8)) == ["radau"]


def test_fast_motion_that_swings_and_must_be_followed_is_soon_left_to_dop853():
    """ark5 is on probation for twelve steps, far shorter than those of dop853 at its bound."""
    case = all_cases()["flexible-double-pendulum"]
    found = simulate(case.build(case.resolve({})), 0.05, rtol=1e-6)
    assert names(found)[:2] == ["ark5", "dop853"]
    assert np.sum(found.t <= found.integrators[1][0]) == auto_integrator.PROBATION + 1
    assert "; dop853 from " in found.settings["why_changed"]
    assert "ark5 has cost" in found.settings["why_changed"]


def test_fine_tolerances_leave_what_swings_to_dop853_at_first():
    """A beam that has hardly begun to move, 1e-11 J: ark5 keeps five digits of its energy balance, dop853 eight."""
    case = all_cases()["spin-up"]
    found = simulate(case.build(case.resolve({"speed": 1.0})), 0.1, rtol=1e-9)
    assert names(found)[0] == "dop853"
    assert found.audit["energy_residual"] < 1e-6
    assert not found.warnings


@pytest.mark.parametrize("rtol", [1e-2, 1e-3, 1e-4, 1e-6])
def test_a_beam_in_equilibrium_stays_at_rest_at_loose_tolerances(rtol):
    """At rest nothing but stability bounds the first steps of dop853, which sees that only when rounding has grown to
    the tolerance: velocities up to nine times atol. ark5, with which auto begins, lets nothing grow."""
    case = all_cases()["elastica"]
    model = case.build(case.resolve({}))
    found, explicit = (simulate(model, rtol=rtol, atol=rtol, integrator=name) for name in ("auto", "dop853"))
    assert names(found)[0] == "ark5"
    assert np.abs(found.v).max() < 1e-3 * rtol
    assert np.abs(explicit.v).max() > 0.1 * rtol


def test_dop853_is_not_tried_where_stability_holds_it_to_more(trials):
    """20 s of stiff rods: dop853 must make 2000 steps a second, radau makes a few."""
    found = simulate(stiff_model(stiff12()), 20.0, rtol=1e-6)
    assert found.is_ok
    assert "dop853" not in trials


def test_nothing_is_compared_across_an_event():
    """A trial that could not be made is no trial in vain, and comes sooner."""
    run = prepare_run(stiff_model(stiff12()), 0.3, rtol=1e-6)._run.run
    choice, memory = run.choice, run.memory
    before, due = choice.so_far(memory), choice._due(ARK5(), 1.0)
    memory.stepping[0].n_steps = 10000
    n_evaluations = choice._evaluations(memory)
    candidates, _ = choice.review(memory, b"")
    assert ARK5() in candidates
    choice.postpone(memory, candidates)
    assert choice.so_far(memory)["vain"] == before["vain"]
    assert n_evaluations < choice._due(ARK5(), 1.0) < n_evaluations + due


def test_result_says_why_the_integrator_was_changed(tmp_path):
    found = simulate(resting_ball(), 0.5, rtol=1e-4)
    t, name = found.integrators[1]
    assert found.settings["why_changed"].startswith(f"{name} from {t:.4g} s: ")
    assert found.settings["why_changed"].endswith(" of the cost of dop853")
    begun = simulate(stiff_model(stiff12()), 0.5, rtol=1e-4)
    assert begun.integrators == ((0.0, "ark5"),)
    assert begun.settings["integrator"] == "ark5"
    assert begun.settings["why_changed"] == "ark5 from 0 s: what decays at 1.2e+04 1/s holds dop853 to short steps"
    found.save(tmp_path / "result.nc")
    assert pliant.load_result(tmp_path / "result.nc").settings["why_changed"] == found.settings["why_changed"]
    found.report(tmp_path / "page.html")
    assert "why it was changed" in (tmp_path / "page.html").read_text()
    assert "why_changed" not in simulate(damped_hinge(), 0.01, integrator="radau").settings


@pytest.mark.parametrize(
    "name", ["falling-chain", "bouncing-ball", "canadarm", "two-link-arm", "space-robot", "ground-space"]
)
def test_auto_stays_with_dop853_on_ordinary_cases(name):
    case = all_cases()[name]
    found = simulate(case.build(case.resolve({})), **dict(case.run))
    assert found.integrators == ((0.0, "dop853"),)
    assert found.settings["integrator"] == "dop853"
    assert "why_changed" not in found.settings


@pytest.mark.parametrize("rtol", [1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("name", ["falling-chain", "bouncing-ball"])
def test_a_change_keeps_the_energy_balance_of_dop853(name, rtol):
    """The elastic chain flies, where ark5 gains, and hits the ground, where at equal tolerances its balance is a
    thousand times worse. A few times that of dop853 is scatter from run to run."""
    case = all_cases()[name]
    model, options = case.build(case.resolve({})), dict(case.run) | {"rtol": rtol}
    found, explicit = simulate(model, **options), simulate(model, **options | {"integrator": "dop853"})
    assert found.audit["energy_residual"] < 5.0 * explicit.audit["energy_residual"]


def test_costs_are_compared_along_the_same_motion():
    """2 a second, then 6: by hand. What lies beyond the end of one of them is not known, and not counted."""
    measured = Measured([0.0, 1.0, 2.0], [5.0, 7.0, 13.0])
    assert measured.ratio(Measured([0.0, 1.0], [0.0, 4.0]), 0.0) == pytest.approx(2.0, rel=1e-15)
    assert measured.ratio(Measured([0.5, 1.5], [1.0, 3.0]), 0.5) == pytest.approx(0.5, rel=1e-15)
    assert measured.ratio(Measured([0.0, 1.0, 2.0], [0.0, 9.0, 12.0]), 1.0) == pytest.approx(0.5, rel=1e-15)
    # a step far beyond the end: only its share
    assert measured.ratio(Measured([0.0, 1.0, 9.0], [0.0, 9.0, 33.0]), 1.0) == pytest.approx(0.5, rel=1e-15)
    assert guessed(3.0, 100.0).ratio(Measured([4.0, 4.5], [7.0, 32.0]), 4.0) == pytest.approx(0.5, rel=1e-12)


def test_tolerances_of_ark5_and_radau_are_tighter_than_those_of_dop853():
    """rtol^1.25 and rtol^1.2; of a run that goes back to dop853: those that were asked for."""
    run = prepare_run(stiff_model(stiff12()), 0.3, rtol=1e-4, atol=1e-6)
    run.end()
    stepping, atol = run.memory.stepping[0], run.memory.atol.copy()
    assert names_of(run) == ["ark5"]
    assert stepping.rtol == pytest.approx(1e-5, rel=1e-14)
    run._run.run.change_integrator(Radau())
    assert stepping.rtol == pytest.approx(1e-4**1.2, rel=1e-14)
    run._run.run.change_integrator(Dop853())
    assert stepping.rtol == 1e-4
    assert np.allclose(run.memory.atol, 10.0 * atol, rtol=1e-14)


@pytest.mark.parametrize(("name", "least"), [("flexible-double-pendulum", 2), ("falling-chain", 0), ("canadarm", 0)])
def test_trials_in_vain_are_a_small_part_of_a_run(name, least, monkeypatch):
    """By evaluations: at most a share of 0.05 for each of two other methods, once, and less afterwards; the first ones
    at the start on top. With contacts there are none unless fast motion decides the steps."""
    spent, real = [], run_module.try_steps

    def counted(run, scheme, measured):
        before = int(run.memory.stepping[0].n_evaluations)
        found = real(run, scheme, measured)
        spent.append(int(run.memory.stepping[0].n_evaluations) - before)
        return found

    monkeypatch.setattr(run_module, "try_steps", counted)
    case = all_cases()[name]
    found = simulate(case.build(case.resolve({})), **dict(case.run))
    assert least <= len(spent) <= 20 * least
    assert sum(spent) <= 0.1 * found.stats["evaluations"]


def test_fixed_steps_are_never_changed():
    found = simulate(damped_hinge(), 0.01, step=1e-4)
    assert found.settings["integrator"] == "dop853"


def test_result_says_which_integrator_ran():
    assert pliant.simulate(damped_hinge(), 0.1, integrator="radau").integrators == ((0.0, "radau"),)
    assert Status.REVIEW < Status.STOPPED  # the loop can be entered again


def test_a_method_that_fails_gives_way_to_dop853(monkeypatch):
    """radau is told to have failed once: the run goes on from there."""
    real, failed = run_module.Run.enter, []

    def failing(run):
        if run.choice is not None and run.choice.method == Radau() and run.memory.stepping[0].t > 0.1 and not failed:
            failed.append(float(run.memory.stepping[0].t))
            return Status.NOT_CONVERGED
        return real(run)

    monkeypatch.setattr(run_module.Run, "enter", failing)
    monkeypatch.setattr(run_module, "FIRST_WORK", 6)  # a pause after ten steps
    monkeypatch.setattr(run_module, "PAUSE_SECONDS", 0.0)
    found = simulate(stiff_model(stiff12()), 0.5, rtol=1e-6)
    assert found.is_ok
    assert (failed[0], "dop853") in found.integrators
    assert "radau failed" in found.settings["why_changed"]


# --- trials in vain -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["falling-chain", "canadarm"])
def test_a_trial_in_vain_changes_no_bit(name, monkeypatch, trials):
    """Through impacts, their log and phases, and rows recorded: watched so that everything is tried early."""
    case = all_cases()[name]
    model, options = case.build(case.resolve({})), dict(case.run) | {"duration": 0.8}
    monkeypatch.setattr(auto_integrator, "FAST_STEPS", 5)
    monkeypatch.setattr(auto_integrator, "FAST", 0.5)
    monkeypatch.setattr(auto_integrator, "STIFF_STEPS", 5)
    monkeypatch.setattr(auto_integrator, "STABILITY_BOUND", 0.6)
    for gain in ("GAIN", "SWING_GAIN", "CONTACT_GAIN"):
        monkeypatch.setattr(auto_integrator, gain, 0.0)
    found, plain = simulate(model, **options), simulate(model, **options | {"integrator": "dop853"})
    assert {"ark5", "radau"} == set(trials)
    assert found.integrators == ((0.0, "dop853"),)
    for one in ("t", "q", "v", "inputs"):
        assert np.array_equal(getattr(found, one), getattr(plain, one)), one
    assert found.events == plain.events
    assert found.stats["evaluations"] == plain.stats["evaluations"]
    for key, values in plain.energy.items():
        assert np.array_equal(found.energy[key], values), key
    times = np.linspace(0.0, 0.8, 1001)
    assert np.array_equal(found.at(times)[0], plain.at(times)[0])


def test_controllers_in_python_are_not_asked_twice(eager, trials):
    """A trial that comes to a sample ends there; taken back or not, every sample is answered once."""
    asked = []

    def hold(t, measured):
        asked.append(t)
        angle, rate = measured["joint0"]
        return {"joint0": -0.05 * angle - 0.002 * rate}

    model = held_blades()
    python = Controller("hold", function=hold, joints=("joint0",), period=0.01)
    model = pliant.Model(
        name="held", gravity=model.gravity, bodies=model.bodies, joints=model.joints, controllers=(python,)
    )
    found = simulate(model, 0.1, rtol=1e-5)
    assert found.is_ok
    assert trials
    assert np.allclose(asked, 0.01 * np.arange(10), rtol=0, atol=1e-12)


# --- going on -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("through_file", [False, True], ids=["in memory", "through a file"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_one_run_is_two_runs_whatever_auto_has_chosen(rtol, through_file, tmp_path, eager):
    """A sample of the controller ends a step at 1/8 s in both: to the last bit."""
    model, options = held_blades(), {"rtol": rtol, "atol": 1e-2 * rtol}
    whole, first = simulate(model, 0.25, **options), simulate(model, 0.125, **options)
    assert names(first) != ["dop853"]
    if through_file:
        first.save(tmp_path / "first.nc")
        first = pliant.load_result(tmp_path / "first.nc")
    second = pliant.simulate(model, 0.125, start=first, **options)
    assert names(second)[0] == names(first)[-1]
    rows = whole.t >= 0.125
    assert first.stats["steps"] + second.stats["steps"] == whole.stats["steps"]
    for name in ("t", "q", "v", "inputs"):
        np.testing.assert_array_equal(getattr(second, name), getattr(whole, name)[rows], name)
    assert (*first.integrators, *second.integrators[1:]) == whole.integrators


def test_an_implicit_run_goes_on_with_its_jacobian():
    """radau, asked for: to the last bit, too."""
    model, options = held_blades(), {"rtol": 1e-5, "integrator": "radau"}
    whole, first = simulate(model, 0.25, **options), simulate(model, 0.125, **options)
    second = simulate(model, 0.125, start=first, **options)
    np.testing.assert_array_equal(second.q, whole.q[whole.t >= 0.125])
    assert first.stats["jacobians"] + second.stats["jacobians"] == whole.stats["jacobians"]


def test_a_run_goes_on_with_other_methods_than_auto_had_taken():
    """ark5 was at work, which denoc does not take: the other run chooses for itself."""
    model = stiff_model(stiff12())
    first = simulate(model, 0.2, rtol=1e-4)
    assert names(first)[-1] == "ark5"
    second = simulate(model, 0.2, rtol=1e-4, start=first, formulation="denoc")
    assert names(second) == ["radau"]


def test_a_saved_stepper_goes_on_through_a_change_to_the_bit():
    model = stiff_model(stiff12())
    one = pliant.stepper(model, rtol=1e-6)
    one.step(None, 1e-3)
    before = one.save()
    for _ in range(40):
        one.step(None, 5e-3)
    assert one._run.run.integrators[-1][1] != Dop853()
    end = one.q, one.v
    after = one.save()
    for saved, count in ((before, 40), (after, 0)):
        one.restore(saved)
        other = one.copy()
        for stepper in (one, other):
            for _ in range(count):
                stepper.step(None, 5e-3)
            assert np.array_equal(stepper.q, end[0])
            assert np.array_equal(stepper.v, end[1])
            assert stepper._run.run.integrators[-1][1] != Dop853()


def test_sweeps_end_as_single_runs_do():
    run = prepare_run(stiff_model(stiff12()), 0.3, rtol=1e-5)
    q0 = np.array([[-0.3, 0, 0, 0, 0, 0], [0.2, 0, 0, 0, 0, 0]])
    ends = run.sweep(q0, np.zeros((2, 6)), np.zeros(1, np.int64))
    for i in range(2):
        assert np.array_equal(run.end(q0[i], np.zeros(6))[0], ends.q[i])


def test_sweeps_of_many_starts_begin_with_the_same_method():
    """So many go eight at once, with dop853; not these, which begin with another one."""
    run = prepare_run(stiff_model(stiff12()), 0.3, rtol=1e-5)
    assert names_of(run) == ["radau"]
    assert not run.goes_in_lanes
    q0 = np.zeros((9, 6))
    q0[:, 0] = np.linspace(-0.3, 0.3, 9)
    ends = run.sweep(q0, np.zeros((9, 6)), np.zeros(1, np.int64))
    for i in range(9):
        assert np.array_equal(run.end(q0[i], np.zeros(6))[0], ends.q[i])


def test_interruptions_change_no_bit(monkeypatch):
    whole = simulate(stiff_model(stiff12()), 0.5)
    monkeypatch.setattr(run_module, "FIRST_WORK", 6)  # a pause after ten steps
    monkeypatch.setattr(run_module, "PAUSE_SECONDS", 0.0)
    parts = simulate(stiff_model(stiff12()), 0.5)
    assert np.array_equal(whole.t, parts.t)
    assert np.array_equal(whole.q, parts.q)
    assert whole.integrators == parts.integrators


def test_a_stiff_spring_with_a_rod_is_the_closed_form():
    """Rest of a rod on a spring, q = -m g l / (2 k): reached through the change of methods, to the tolerance."""
    spring = Joint("hinge", "revolute", "rod", stiffness=1e5, damping=1e3)
    model = Model("rest", [Body("rod", 1.0, shape=Rod(0.5))], [spring], gravity=(0, -9.81, 0))
    found = simulate(model, 5.0)
    assert names(found) == ["radau"]
    assert found.q[-1, 0] == pytest.approx(-9.81 * 0.25 / 1e5, rel=1e-6)
