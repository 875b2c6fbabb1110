"""pliant.certify: stated errors bound true ones, causes are told apart, chaos is named, the budget holds."""

import dataclasses
import json
import math

import numpy as np
import pytest

import four_bars
import pliant
from certificates import verdicts
from known_problems import KINDS, problems
from pliant import (
    Beam,
    Bending,
    Body,
    Contact,
    Frame,
    Hooke,
    Joint,
    Material,
    Model,
    ModelError,
    Output,
    Rectangle,
    Rod,
)
from pliant.cases.case import all_cases
from pliant.model.more_shapes import with_more_shapes
from pliant.simulation.options import check_options
from pliant.trust import shadows
from pliant.trust.certify import USUAL_BUDGET
from pliant.trust.estimate import CertifiedFigure, window
from pliant.trust.predictability import growth_of
from pliant.trust.shadows import Cause, make_plan, make_runs

pytestmark = pytest.mark.filterwarnings("ignore::pliant.AccuracyWarning")


def triple(duration=None):
    """A triple pendulum: chaotic within seconds."""
    bodies = [Body(name, mass=1.0, shape=Rod(0.5)) for name in "abc"]
    joints = [
        Joint("first", "revolute", "a", q0="40 deg"),
        Joint("second", "revolute", "b", parent=Frame("a", (0.5, 0, 0)), q0="30 deg"),
        Joint("third", "revolute", "c", parent=Frame("b", (0.5, 0, 0)), q0="-50 deg"),
    ]
    tip = Frame("c", (0.5, 0, 0), name="tip")
    return Model(
        "triple", bodies, joints, gravity=(0, -9.81, 0), frames=[tip], outputs=[Output("tip", "tip", "position")],
        duration=duration,
    )  # fmt: skip


def blade(modes, duration=0.5):
    """A beam that falls from level about its hinge."""
    beam = Beam("blade", 1.0, Material(2e11, 7800.0), Rectangle(0.005, 0.02), bending_y=Bending(modes, ends="sf"))
    tip = Frame("blade", (1.0, 0, 0), name="tip")
    return Model(
        "blade", [beam], [Joint("hinge", "revolute", "blade")], gravity=(0, -9.81, 0), frames=[tip],
        outputs=[Output("tip", "tip", "position")], duration=duration,
    )  # fmt: skip


def test_stated_errors_bound_the_true_ones_and_are_near_to_them():
    """Over every kind of problem with a known answer; trials/trial_certify.py has many more."""
    judged = [verdict for problem in problems(2 * len(KINDS)) for verdict in verdicts(problem)]
    missed = [verdict for verdict in judged if not verdict.is_bounded]
    assert len(missed) <= 0.05 * len(judged), missed
    assert np.median([verdict.excess for verdict in judged]) <= 100.0


def test_the_error_of_a_run_falls_with_its_tolerance_and_so_does_the_stated_one():
    errors = [
        pliant.certify(triple(), 1.0, rtol=rtol, atol=1e-2 * rtol).figures["tip.x"].error for rtol in (1e-5, 1e-9)
    ]
    assert errors[1] < 1e-3 * errors[0]


def test_chaos_is_named_with_its_rate_and_its_horizon():
    """The rate against that of two runs from starts that differ by a billionth."""
    found = pliant.certify(triple(), 10.0)
    growth = found.growth
    assert growth.is_exponential
    assert 3.0 < found.horizon < 8.0
    runs = [
        pliant.simulate(triple(), 4.0, rtol=1e-13, atol=1e-15, q0=(0.698131700797 + d, 0.5, -0.9)) for d in (0, 1e-9)
    ]
    t = np.linspace(0.5, 4.0, 100)
    apart = np.max(np.abs(runs[0].at(t)[0] - runs[1].at(t)[0]), axis=1)
    # growth is uneven: the same order is what both can say
    assert growth.rate == pytest.approx(np.polyfit(t, np.log(apart), 1)[0], rel=1.0)
    assert found.figures["tip.x"].digits == 0
    assert found.figures["tip.x"].text == "not predictable"
    assert found.result.trusted("tip.x", 1.0).digits >= 5
    assert any("not predictable" in note for note in found.notes)


def test_what_is_conserved_stays_known_beyond_the_horizon():
    found = pliant.certify(triple(), 10.0, figures=["total", "tip.x", "tip.z"])
    assert found.figures["total"].digits >= 6
    assert found.figures["tip.z"].error == 0.0
    assert math.isinf(found.figures["tip.x"].error)


def test_growth_of_a_power_of_time_is_no_chaos():
    t = np.linspace(0.0, 10.0, 200)
    steady = growth_of(t, 1e-6 * (1 + t**4), 1e-6, np.zeros(200))
    wild = growth_of(t, 1e-6 * np.exp(2.0 * t) * (1e-6 * np.exp(2.0 * t) < 1) + 1.0 * (t > 6.9), 1e-6, np.zeros(200))
    assert not steady.is_exponential
    assert wild.rate == pytest.approx(2.0, rel=1e-2)
    assert math.isinf(steady.horizon)


def test_too_few_shapes_are_told_as_modal_truncation():
    """With one shape the truncation rules; the stated error bounds the difference from a beam of many."""
    best = pliant.simulate(blade(8))["tip.y"][-1]
    for modes in (1, 2):
        figure = pliant.certify(blade(modes), figures=["tip.y"]).figures["tip.y"]
        assert figure.errors[Cause.MODES] > 10 * figure.errors[Cause.TIME]
        assert abs(figure.value - best) <= figure.error
        assert figure.model_error < figure.error


def test_more_shapes_leave_the_first_ones_and_their_start_as_they_are():
    beam = Beam(
        "b",
        1.0,
        Material(2e11, 7800.0),
        Rectangle(0.005, 0.02),
        bending_y=2,
        stretch=1,
        q0=(0.1, 0.2, 0.3),
        v0=(1, 2, 3),
    )
    grown = with_more_shapes(Model("m", [beam], [Joint("j", "revolute", "b")]), 2)
    assert grown.bodies[0].families == (4, 0, 3, 0)
    assert grown.bodies[0].q0 == (0.1, 0.2, 0, 0, 0.3, 0, 0)
    assert grown.bodies[0].v0 == (1, 2, 0, 0, 3, 0, 0)
    assert with_more_shapes(triple(), 2) is None


def test_rest_by_friction_is_known_to_what_its_stick_speed_makes():
    """A slider that stops: x = m v^2 / 2 F with ideal friction."""
    law = pliant.Coulomb(mu_k=1.0, load=2.0, stick_speed=1e-4)
    joint = Joint("x", "prismatic", "block", axis=(1, 0, 0), v0=2.0, friction=law)
    block = Model("block", [Body("block", 1.0, inertia=(1, 1, 1))], [joint], gravity=(0, 0, 0))
    figure = pliant.certify(block, 2.0, figures=["x"]).figures["x"]
    true = abs(figure.value - 1.0)
    assert true > 1e-8  # more than integration makes
    assert true <= figure.error <= 10 * true
    assert figure.errors[Cause.STICK] > 0.5 * figure.error


def test_what_virtual_springs_give_way_is_an_error_of_the_formulation():
    model = four_bars.four_bars(1, 2.0)
    figure = pliant.certify(model, 0.5, closure="springs", figures=["foot0"]).figures["foot0"]
    true = abs(figure.value - pliant.simulate(model, 0.5, rtol=1e-11, atol=1e-13)["foot0"][-1])
    assert true > 1e-6
    assert true <= figure.error <= 10 * true
    assert figure.errors[Cause.FORMULATION] > 0.9 * figure.error


def test_the_budget_holds_and_what_does_not_fit_is_named(monkeypatch):
    """As of a run that takes more than a second; without the runs that tell a cause figures have no digits."""
    monkeypatch.setattr(shadows, "plain_runs_allowed", lambda budget, seconds: budget)
    said = []
    found = pliant.certify(blade(1), budget=4, announce=said.append)
    assert found.plan.cost <= 4.0
    assert found.plan.left_out
    assert all(words in said[0] for words in found.plan.left_out)
    assert any("does not fit" in note for note in found.notes)
    assert all(figure.digits is None for figure in found.figures.values())


def test_a_budget_counts_seconds_where_a_run_takes_less_than_one():
    """By default at most 40 plain runs or one second, whichever is more."""
    for seconds in (1e-3, 1e-2, 0.1, 0.3, 0.7, 1.0, 30.0):
        allowed = shadows.plain_runs_allowed(USUAL_BUDGET, seconds)
        assert USUAL_BUDGET * (1.0 - 1e-12) <= allowed <= max(40.0, 1.0 / seconds) * (1.0 + 1e-12)
        assert allowed * seconds >= 1.0 - 1e-12


def test_a_figure_has_no_digits_while_a_cause_is_not_counted():
    """In Python, in the table, in the JSON and in words alike."""
    errors = {Cause.TIME: 1e-12, Cause.FORMULATION: 1e-13, Cause.MODES: math.nan}
    figure = CertifiedFigure("tip.x", 1.0, "m", errors, "not counted: modal truncation")
    assert figure.digits is None
    assert math.isinf(figure.error)
    assert figure.text == "not known"
    known = CertifiedFigure("tip.y", 1.0, "m", errors | {Cause.MODES: 2e-4})
    assert known.digits == 3
    found = pliant.certify(triple(), 0.2, figures=["tip.x", "tip.y"])
    found = dataclasses.replace(found, figures={"tip.x": figure, "tip.y": known})
    row, other = found.table()
    assert row[1:5] == ("not known", "m", "-", "not counted")
    assert other[3] == "3"
    summary = json.loads(json.dumps(found.summary, allow_nan=False))["figures"]
    assert summary["tip.x"]["digits"] is summary["tip.x"]["error"] is None
    assert summary["tip.x"]["causes"]["modal_truncation"] is None
    assert summary["tip.y"]["digits"] == 3
    assert "3 to 3" in repr(found)


def test_shapes_given_as_samples_have_no_digits_and_say_why():
    at = tuple(np.linspace(0.0, 1.0, 9))
    samples = pliant.SampledShapes(at, (tuple(x**2 for x in at),))
    shapes = Bending(1, family="samples", samples=samples)
    beam = Beam("b", 1.0, Material(2e11, 7800.0), Rectangle(0.005, 0.02), shapes, theory="euler-bernoulli")
    model = Model("m", [beam], [Joint("hinge", "revolute", "b")], gravity=(0, -9.81, 0), duration=0.05)
    found = pliant.certify(model, figures=["hinge"])
    assert found.figures["hinge"].digits is None
    assert found.figures["hinge"].note == "not counted: modal truncation"
    assert any("samples" in note for note in found.notes)


@pytest.mark.parametrize(("ends", "modes"), [("ss", 1), ("cc", 1), ("cf", 2), ("sf", 1), ("ss", (1, 3))])
def test_shapes_that_symmetry_hides_are_counted(ends, modes):
    """A beam whose shapes are chosen by number, or by symmetry, against the same beam with many; at default options."""

    def model(shapes):
        beam = Beam(
            "b", 1.0, Material(2e11, 7800.0), Rectangle(0.005, 0.02), bending_y=Bending(shapes, ends=ends), damping=0.01
        )
        return Model(
            "m", [beam], [Joint("hinge", "revolute", "b", q0=0.3)], gravity=(0, -9.81, 0), duration=0.3,
            outputs=[Output("root", "hinge", "reaction")],
        )  # fmt: skip

    found = pliant.certify(model(modes), figures=["root.fx", "root.fy", "hinge"])
    many = pliant.simulate(model(16))
    for name, figure in found.figures.items():
        assert Cause.MODES in figure.errors
        assert figure.digits is not None, figure.note
        assert abs(figure.value - many[name][-1]) <= figure.error, name


def test_contacts_are_figures_and_counts_that_change_are_said():
    ball = Model(
        "ball",
        [Body("ball", 1.0, inertia=(1, 1, 1))],
        [Joint("z", "prismatic", "ball", q0=0.5)],
        contacts=[Contact("ground", Hooke(stiffness=1e5), points=[Frame("ball", (0, 0, 0), name="foot")])],
    )
    found = pliant.certify(ball, 2.0)
    assert found.figures["contacts"].digits == 15
    assert found.figures["contacts"].error == 0.0, "a count is not rounded"
    first = found.figures["contact 1 (foot) t_start"]
    assert first.value == pytest.approx(math.sqrt(2 * 0.5 / 9.81), abs=max(first.error, 1e-14))
    assert found.figures["contact 2 (foot) peak_normal"].unit == "N"
    assert not any("number of contacts" in note for note in found.notes)


def test_windows_end_at_events():
    """Differences about an instant do not see the impact beside it."""
    model = next(iter(problems(1, 1))).model
    run = pliant.simulate(model, 1.0)
    start = float(run.contacts["t_start"][0])
    times = window(run, start - 1e-3)
    assert times.max() < start


def test_fixed_steps_are_held_against_shorter_ones_and_error_control():
    found = pliant.certify(triple(), 1.0, integrator="generalised_alpha", step=2e-3, figures=["tip.x"])
    best = pliant.simulate(triple(), 1.0, rtol=1e-12, atol=1e-14)["tip.x"][-1]
    figure = found.figures["tip.x"]
    true = abs(figure.value - best)
    assert true <= figure.error <= 100 * true


def test_figures_before_the_horizon_keep_their_digits():
    """The chain that strikes the ground, whose energy closes and whose end is millimetres off: it says so, and of the
    first touchdown it is sure."""
    chain = all_cases()["falling-chain"]
    model = chain.build(chain.resolve({"modes": "sc-cc-cs"}))
    options = {"integrator": "radau", "rtol": 1e-9, "atol": 1e-11}
    found = pliant.certify(model, 1.7, figures=["link1.y", "link1.y@0.4", "contacts"], **options)
    best = pliant.simulate(model, 1.7, rtol=1e-13, atol=1e-15)
    assert found.result.audit["energy_residual"] < 1e-8
    end = found.figures["link1.y"]
    true = abs(end.value - best["link1.y"][-1])
    assert true > 1e-3  # [m]
    assert math.isfinite(found.horizon)
    # rounding decides whether runs are already a twentieth of the motion apart at its end
    if end.note.startswith("not predictable from"):
        assert found.horizon < 1.7
        assert 100 * true > 0.05 * np.ptp(found.result["link1.y"])
    else:
        assert true <= end.model_error <= 100 * true
    assert found.figures["link1.y@0.4"].digits >= 10
    assert found.figures["contacts"].errors[Cause.ROUNDING] == 0.0


def test_longer_steps_tell_where_shorter_ones_are_too_many(monkeypatch):
    """A block that slides on a stiff contact; its tighter run is given fewer steps than it needs."""
    capped = shadows._capped

    def few(plain, shadow, share):
        found = capped(plain, shadow, share)
        return dataclasses.replace(found, max_steps=plain.stats["steps"]) if shadow.label == "rtol 1e-11" else found

    monkeypatch.setattr(shadows, "_capped", few)
    block = all_cases()["sliding-block"]
    settings = block.resolve({})
    options = block.usual_options(settings) | {"formulation": "denoc"}
    found = pliant.certify(block.build(settings), figures=["along"], **options)
    figure = found.figures["along"]
    assert math.isfinite(figure.error)
    best = pliant.simulate(block.build(settings), rtol=1e-12, atol=1e-14)["along"][-1]
    assert abs(figure.value - best) <= figure.error
    assert [run.shadow.label for run in found.runs if run.instead_of] == ["rtol 1e-08"]
    assert any("rtol 1e-11: rtol 1e-08 in its place" in note for note in found.notes)


def test_without_a_run_that_tells_of_the_integration_nothing_is_known():
    steps = int(pliant.simulate(triple(), 1.0).stats["steps"])
    # those of other formulations differ by a few
    options = {"rtol": 1e-8, "atol": 1e-10, "max_steps": steps + 5}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pliant.trust.shadows.LOOSER", 0.1)  # else longer steps would tell
        figure = pliant.certify(triple(), 1.0, figures=["tip.x"], **options).figures["tip.x"]
    assert math.isinf(figure.error)
    assert figure.digits is None
    assert figure.text == "not known"
    assert figure.note == "not counted: time integration"


def test_figures_that_other_runs_do_not_have_are_not_certain():
    """Functions that give nan, or fail, for every run but the plain one."""
    steps = int(pliant.simulate(triple(), 1.0).stats["steps"])

    def of_plain_alone(run):
        return 1.0 if run.stats["steps"] == steps else math.nan

    def fails_elsewhere(run):
        return [1.0][int(run.stats["steps"] != steps)]

    found = pliant.certify(triple(), 1.0, figures=[of_plain_alone, fails_elsewhere])
    for figure in found.figures.values():
        assert figure.text == "not predictable"
        assert "there is none with rtol 1e-10" in figure.note


def test_a_written_interval_holds_the_value():
    for value, error in ((1.23456, 5e-3), (5.2, 3.0), (-0.0616, 1.7e-3), (9.999, 0.0011), (1e-9, 3e-8)):
        text = CertifiedFigure("x", value, "m", {Cause.TIME: error}).text
        middle, width = map(float, text.split(" +- "))
        assert abs(middle - value) <= 0.1 * error, text  # rounding of the text
        assert error <= width <= 2.001 * error, text


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_plain_runs_and_ctrl_c_ends_shadow_runs(threads):
    done = []

    def interrupted(part, whole):
        done.append((part, whole))
        if part > 1.0:
            raise KeyboardInterrupt

    whole = []
    found = pliant.certify(triple(), 0.2, progress=lambda part, all_: whole.append((part, all_)), threads=threads)
    assert whole[-1] == pytest.approx((found.plan.cost, found.plan.cost))
    with pytest.raises(KeyboardInterrupt):
        pliant.certify(triple(), 1.0, progress=interrupted, threads=threads)
    assert done[-1][0] > 1.0


def test_a_run_to_an_accuracy_is_certified_at_the_tolerances_that_it_chose():
    found = pliant.certify(triple(), 1.0, accuracy=1e-5, figures=["tip.x"])
    tighter = next(run for run in found.runs if run.shadow.label.startswith("rtol"))
    assert tighter.result.settings["rtol"] < found.result.settings["rtol"]
    assert found.figures["tip.x"].error <= 1e-5


def test_functions_reductions_and_times_are_figures():
    found = pliant.certify(
        triple(), 1.0, figures={"reach": "max(tip.x)", "early": "tip.x@0.25", "own": lambda result: result.q[-1, 0]}
    )
    run = found.result
    assert found.figures["early"].value == pytest.approx(run.resampled([0.25])["tip.x"][0], abs=1e-15)
    assert found.figures["reach"].value >= np.max(run["tip.x"])
    assert found.figures["own"].value == run["first"][-1]
    assert found.figures["early"].unit == "m"


def test_a_run_that_fails_certifies_nothing():
    found = pliant.certify(triple(), 10.0, max_steps=10)
    assert not found.is_ok
    assert all(figure.digits is None for figure in found.figures.values())
    assert "failed" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"figures": "tip.w"}, "did you mean 'tip."),
        ({"figures": "maximum(tip.x)"}, "did you mean 'max'"),
        ({"figures": "tip.x@7"}, "from 0 to 1 s"),
        ({"figures": "tip.x@x"}, "from 0 to 1 s"),
        ({"figures": []}, "none asked for"),
        ({"figures": 3}, "give names"),
        ({"figures": ["tip.x", "tip.x"]}, "asked for twice"),
        ({"figures": lambda result: "a"}, "give a number"),
        ({"figures": lambda result: 1 / 0}, "ZeroDivisionError"),
        ({"budget": 1}, "budget: 1 found; give at least 3"),
        ({"threads": 0}, "threads"),
        ({"budget": "many"}, "budget"),
        ({"dense": False}, "dense=True"),
        ({"speed": 1}, "no option 'speed'"),
    ],
)
def test_wrong_calls(options, words):
    with pytest.raises(ModelError) as error:
        pliant.certify(triple(), 1.0, **options)
    assert words in str(error.value)


def test_only_certified_runs_answer_for_their_digits():
    with pytest.raises(ModelError, match=r"pliant\.certify"):
        pliant.simulate(triple(), 0.1).trusted("tip.x", 0.05)


def test_the_same_certificate_in_any_number_of_threads():
    one, two = (pliant.certify(triple(), 0.5, threads=n) for n in (1, 2))
    assert one.summary["figures"] == two.summary["figures"]


def test_shadow_runs_with_error_control_have_it_whatever_the_model_says_of_its_runs():
    """The integrator beside a fixed step has tolerances: with the step of the model it would repeat its error."""
    rod = Body("rod", 1.0, shape=Rod(1.0))
    coarse = Model(
        "coarse", [rod], [Joint("hinge", "revolute", "rod", q0=1.0)], gravity=(0, -9.81, 0), duration=0.5,
        run={"integrator": "rk4", "step": 0.05},
    )  # fmt: skip
    plain = pliant.simulate(coarse)
    plan = make_plan(plain, check_options(coarse), 40.0)
    found = [made for made in make_runs(plan.shadows) if made.shadow.options["step"] is None]
    assert found
    assert all(made.result is not None and made.result.settings["step"] is None for made in found)
