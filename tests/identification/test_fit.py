"""fit: known parameters are found again, intervals mean what they say, and what cannot be told is said."""

import math

import numpy as np
import pytest

import pliant
from pliant import Body, Contact, Flores, Frame, Joint, Model, Output, Parameter, Plane, Rod
from pliant.errors import AccuracyWarning, ModelError, SimulationError

TIMES = np.linspace(0.02, 2.0, 100)
quiet = pytest.mark.filterwarnings("ignore::pliant.errors.AccuracyWarning")


def oscillator(**fields):
    """A mass on a spring: x'' + (c/m) x' + (k/m) x = 0."""
    v = {"k": 40.0, "c": 0.4, "m": 1.0, "x0": 0.1, "v0": 0.0} | fields
    mass = Body("mass", v["m"], inertia=(1.0, 1.0, 1.0))
    slide = Joint("slide", "prismatic", "mass", stiffness=v["k"], damping=v["c"], q0=v["x0"], v0=v["v0"])
    return Model("oscillator", [mass], [slide], gravity=(0, 0, 0))


def arm(**values):
    """Two links on springs with viscous friction."""
    links = [Body("upper", 1.0, shape=Rod(0.5)), Body("lower", 0.6, shape=Rod(0.4))]
    joints = [
        Joint("shoulder", "revolute", "upper", stiffness=values["k1"], damping=values["c1"], q0=0.5),
        Joint("elbow", "revolute", "lower", parent=Frame("upper", (0.5, 0, 0)), stiffness=values["k2"], q0=-0.8),
    ]
    tip = Frame("lower", (0.4, 0, 0), name="tip")
    outputs = [Output("tip", "tip", "position"), Output("hold", "shoulder", "reaction")]
    return Model("arm", links, joints, gravity=(0, -9.81, 0), frames=[tip], outputs=outputs)


def measured(model, *names, times=TIMES, noise=None, seed=0):
    """Columns of a run, with white noise."""
    rows = pliant.simulate(model, float(times[-1]), rtol=1e-11).resampled(times)
    rng = np.random.default_rng(seed)
    noise = noise or dict.fromkeys(names, 0.0)
    return {"time": times, **{name: rows[name] + noise[name] * rng.normal(size=len(times)) for name in names}}


# --- values -----------------------------------------------------------------------------------------------------------


def test_linear_parameters_are_those_of_the_normal_equations_and_so_are_their_errors():
    """x(t) = x0 a(t) + v0 b(t) with the closed form of a and b: linear least squares by hand."""
    data = measured(oscillator(x0=0.1, v0=0.3), "slide", noise={"slide": 0.01})
    decay, w = 0.2, math.sqrt(40.0 - 0.04)
    fall = np.exp(-decay * TIMES)
    A = np.stack([fall * (np.cos(w * TIMES) + decay / w * np.sin(w * TIMES)), fall * np.sin(w * TIMES) / w], axis=1)
    value, rest, *_ = np.linalg.lstsq(A, data["slide"], rcond=None)
    C = rest[0] / (len(TIMES) - 2) * np.linalg.inv(A.T @ A)
    found = pliant.fit(oscillator(), data, {"joints.slide.q0": (-1.0, 1.0), "joints.slide.v0": (-2.0, 2.0)})
    # least_squares ends where the cost falls by less than 1e-10 of itself: 1e-5 of a standard error
    assert np.allclose(list(found.values.values()), value, rtol=0.0, atol=1e-4 * np.sqrt(C.diagonal()))
    assert np.allclose(found.covariance, C, rtol=1e-6)  # derivatives to 1e-7: runs at rtol 1e-10 over steps of 1e-3
    assert np.allclose(found.correlation[0, 1], C[0, 1] / math.sqrt(C[0, 0] * C[1, 1]), atol=1e-6)
    # in a linear problem the sum of squares rises as promised, as far as the minimum is known (1e-4 of the intervals)
    assert np.allclose([one.rises for one in found.estimates.each.values()], 1.0, atol=4e-4)
    assert found.warnings == ()


def test_what_made_exact_data_is_found_again():
    true = {"k1": 20.0, "c1": 0.2, "k2": 8.0}
    parameters = {"k1": (15.0, 25.0), "c1": (0.0, 1.0), "k2": Parameter(0.5, 100.0, log=True)}
    found = pliant.fit(arm, measured(arm(**true), "shoulder", "tip.y"), parameters)
    # runs of rtol 1e-10 and 1e-11 differ by about 1e-9 of the motion, and no parameter has less effect than a tenth
    assert np.allclose([found.values[name] for name in true], list(true.values()), rtol=1e-7)


def test_forces_can_be_measured_too():
    true = {"k1": 20.0, "c1": 0.2, "k2": 8.0}
    columns = [name for name in pliant.simulate(arm(**true), 0.01).to_pandas().columns if name.startswith("hold")]
    found = pliant.fit(arm, measured(arm(**true), columns[0], columns[1]), {"k1": 15.0, "c1": 0.1, "k2": 10.0})
    assert np.allclose([found.values[name] for name in true], list(true.values()), rtol=1e-6)


def test_natural_frequencies_give_the_stiffness_of_the_closed_form():
    """w = sqrt(k/m)."""
    w = 9.0
    data = {"frequencies": [w], "hertz": [w / (2 * np.pi)]}
    found = pliant.fit(oscillator(c=0.0), data, {"joints.slide.stiffness": 50.0})
    assert found.values["joints.slide.stiffness"] == pytest.approx(w**2, rel=1e-7)


def test_frequencies_and_payload_of_a_case_are_those_of_modes():
    """The settings of a case, and what pliant.modes says of it."""
    hertz = pliant.modes(pliant.load("slew", payload=0.3, young=6.5e10)).hertz[:3]
    found = pliant.fit("slew", {"hertz": hertz}, {"payload": (0.05, 1.0), "young": (5e10, 9e10)})
    assert found.values["payload"] == pytest.approx(0.3, rel=1e-6)  # derivatives of frequencies are good to 1e-8
    assert found.values["young"] == pytest.approx(6.5e10, rel=1e-6)
    assert pliant.modes(found.model).hertz[:3] == pytest.approx(hertz, rel=1e-8)


def test_keys_of_a_model_of_a_file_and_a_function_are_the_same_problem(tmp_path):
    model = oscillator()
    pliant.save_model(model, tmp_path / "oscillator.toml")
    data = measured(oscillator(k=45.0), "slide", noise={"slide": 0.002})
    key = "joints.slide.stiffness"
    by_model = pliant.fit(model, data, {key: (20.0, 80.0)})
    by_file = pliant.fit(tmp_path / "oscillator.toml", data, {key: (20.0, 80.0)})
    by_function = pliant.fit(lambda k: oscillator(k=k), data, {"k": (20.0, 80.0)})
    assert by_model.intervals[key] == by_file.intervals[key] == by_function.intervals["k"]


def test_tables_and_files_are_measurements_too(tmp_path):
    data = measured(oscillator(k=45.0), "slide", noise={"slide": 0.002})
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(data)
    text = frame.rename(columns={"time": "time [s]", "slide": "slide [m]"})
    text.to_csv(tmp_path / "slide.csv", index=False)
    parameters = {"joints.slide.stiffness": (20.0, 80.0)}
    found = [pliant.fit(oscillator(), each, parameters) for each in (data, frame, tmp_path / "slide.csv")]
    assert found[0].values == found[1].values == found[2].values


def test_missing_numbers_do_not_count():
    data = measured(oscillator(k=45.0), "slide", noise={"slide": 0.002})
    holes = {**data, "slide": np.where(np.arange(100) % 2, np.nan, data["slide"])}
    half = {"time": TIMES[::2], "slide": data["slide"][::2]}
    parameters = {"joints.slide.stiffness": (20.0, 80.0)}
    one, other = (pliant.fit(oscillator(), each, parameters) for each in (holes, half))
    # the longest run ends a sample later, and its steps differ by that
    key = "joints.slide.stiffness"
    assert one[key].value == pytest.approx(other[key].value, abs=1e-3 * other[key].standard_error)
    assert one.estimates.degrees_of_freedom == other.estimates.degrees_of_freedom == 49


def test_columns_are_weighted_by_their_noise_whoever_says_it():
    noise = {"shoulder": 0.02, "tip.y": 0.001}
    data = measured(arm(**{"k1": 20.0, "c1": 0.2, "k2": 8.0}), *noise, noise=noise, seed=3)
    parameters = {"k1": (15.0, 30.0), "c1": (0.0, 0.5), "k2": (5.0, 12.0)}
    given, found = pliant.fit(arm, data, parameters, noise=noise), pliant.fit(arm, data, parameters)
    for name, value in noise.items():
        # a standard deviation of 100 numbers is known to 7 %; four times that
        assert found.noise[name] == pytest.approx(value, rel=0.28)
    for name, one in given.estimates.each.items():
        assert abs(one.value - found[name].value) < 0.3 * one.standard_error
        assert found[name].standard_error == pytest.approx(one.standard_error, rel=0.28)


# --- intervals --------------------------------------------------------------------------------------------------------

SEEDS = 200
COVERED = (179, 198)  # of 200 intervals of 95 %: beyond, by chance, less than once in 1000 on either side (binomial)


@quiet
@pytest.mark.parametrize("is_given", [False, True])
def test_95_percent_intervals_hold_the_truth_in_95_percent_of_all_noises(is_given):
    """A decaying vibration in closed form: amplitude, frequency and decay of 60 numbers."""
    from scipy.stats import binom

    assert binom.cdf(COVERED[0] - 1, SEEDS, 0.95) < 1e-3
    assert binom.sf(COVERED[1], SEEDS, 0.95) < 1e-3
    t = np.linspace(0.0, 2.0, 60)
    true = {"amplitude": 1.0, "omega": 7.0, "decay": 0.4}

    def vibration(amplitude, omega, decay):
        return {"x": amplitude * np.exp(-decay * t) * np.cos(omega * t)}

    inside = dict.fromkeys(true, 0)
    for seed in range(SEEDS):
        data = {"x": vibration(**true)["x"] + 0.05 * np.random.default_rng(seed).normal(size=len(t))}
        parameters = {"amplitude": 0.8, "omega": (5.0, 9.0), "decay": (-1.0, 2.0)}
        found = pliant.fit(vibration, data, parameters, noise=0.05 if is_given else None)
        for name, value in true.items():
            low, high = found.intervals[name]
            inside[name] += low <= value <= high
    assert all(COVERED[0] <= count <= COVERED[1] for count in inside.values()), inside


@pytest.mark.long
@quiet
def test_intervals_of_simulated_runs_hold_the_truth_too():
    inside = 0
    for seed in range(SEEDS):
        data = measured(oscillator(k=45.0), "slide", noise={"slide": 0.01}, seed=seed, times=TIMES[::3])
        found = pliant.fit(oscillator(), data, {"joints.slide.stiffness": (20.0, 80.0), "joints.slide.damping": 0.3})
        low, high = found.intervals["joints.slide.stiffness"]
        inside += low <= 45.0 <= high
    assert COVERED[0] <= inside <= COVERED[1]


def test_interval_of_a_strongly_nonlinear_problem_is_said_to_be_off():
    """A decay seen at four instants, with much noise: the sum of squares is far from a parabola."""
    t = np.linspace(0.2, 1.0, 4)
    data = {"x": np.exp(-6.0 * t) + np.array([0.2, -0.1, 0.1, -0.1])}
    with pytest.warns(AccuracyWarning, match="interval of decay is too (wide|narrow): .* rises"):
        pliant.fit(lambda decay: {"x": np.exp(-decay * t)}, data, {"decay": (1.0, 20.0)})


def test_noise_that_is_not_the_stated_one_and_a_model_that_lacks_something_are_said():
    data = measured(oscillator(), "slide", noise={"slide": 0.01})
    with pytest.warns(AccuracyWarning, match="residuals are .* times the noise that was given"):
        pliant.fit(oscillator(), data, {"joints.slide.stiffness": (20.0, 80.0)}, noise=0.001)
    with pytest.warns(AccuracyWarning, match="residuals of slide follow each other"):
        pliant.fit(oscillator(c=0.0), data, {"joints.slide.stiffness": (20.0, 80.0)})


def test_parameters_that_only_act_together_are_named():
    """Of a free vibration k and m only tell their ratio."""
    data = measured(oscillator(), "slide", noise={"slide": 0.001})
    parameters = {"joints.slide.stiffness": (20.0, 80.0), "bodies.mass.mass": (0.5, 2.0), "joints.slide.damping": 0.3}
    with pytest.warns(AccuracyWarning, match="not identifiable") as caught:
        found = pliant.fit(oscillator(), data, parameters)
    words = str(caught[0].message)
    assert "joints.slide.stiffness by +1 % together with bodies.mass.mass by +1 % together with joints.slide.d" in words
    assert not found.is_ok
    assert all(math.isinf(one.standard_error) for one in found.estimates.each.values())
    # what can be told is right: the frequency
    assert found.values["joints.slide.stiffness"] / found.values["bodies.mass.mass"] == pytest.approx(40.0, rel=1e-3)


def test_parameter_without_effect_is_named_and_the_others_are_known():
    data = measured(oscillator(), "slide", noise={"slide": 0.001})
    with pytest.warns(AccuracyWarning, match="bodies.mass.inertia.0.0 changes nothing that was measured"):
        found = pliant.fit(
            oscillator(), data, {"joints.slide.stiffness": (20.0, 80.0), "bodies.mass.inertia.0.0": (1.0, 1.9)}
        )
    assert found["joints.slide.stiffness"].is_known
    assert not found["bodies.mass.inertia.0.0"].is_known


def test_value_at_its_bound_is_said_to_be_there():
    data = measured(oscillator(), "slide", noise={"slide": 0.001})
    with pytest.warns(AccuracyWarning, match="joints.slide.stiffness at a bound"):
        found = pliant.fit(oscillator(), data, {"joints.slide.stiffness": (41.0, 80.0)})
    assert found["joints.slide.stiffness"].is_at_bound


# --- several minima, contact ------------------------------------------------------------------------------------------


@quiet
def test_several_starts_find_the_lowest_of_two_minima():
    """(p^2 - 1)^2 with a tilt: minima near -1 (lower) and 1; from the start 0.8 the near one is found."""

    def tilted(p):
        return {"y": [10.0 * (p**2 - 1.0), p]}

    data = {"y": [0.0, -1.0]}
    one = pliant.fit(tilted, data, {"p": Parameter(-2.0, 2.0, start=0.8)})
    many = pliant.fit(tilted, data, {"p": Parameter(-2.0, 2.0, start=0.8)}, starts=6)
    world = pliant.fit(tilted, data, {"p": (-2.0, 2.0)}, method="global")
    assert one.values["p"] > 0.9
    assert many.values["p"] == pytest.approx(-1.0, abs=1e-6)
    assert world.values["p"] == pytest.approx(-1.0, abs=1e-6)
    assert len(many.minima) == 6
    assert {round(each.values["p"]) for each in many.minima} == {-1, 1}


def ball(**values):
    """Dropped on a floor."""
    body = Body("ball", 1.0, inertia=(0.01, 0.01, 0.01))
    law = Flores(stiffness=1e5, restitution=values["restitution"])
    floor = Contact("floor", law, Plane(normal=(0, 1, 0)), points=("ball",))
    drop = Joint("drop", "prismatic", "ball", axis=(0, 1, 0), q0=values.get("height", 0.5))
    return Model("ball", [body], [drop], gravity=(0, -9.81, 0), contacts=[floor])


def test_through_contact_whose_events_stay_the_same_derivatives_serve():
    times = np.linspace(0.01, 0.9, 90)  # one bounce
    data = measured(ball(**{"restitution": 0.7}), "drop", times=times, noise={"drop": 0.002})
    found = pliant.fit(ball, data, {"restitution": (0.5, 0.9), "height": (0.45, 0.55)})
    assert found.is_ok
    low, high = found.intervals["restitution"]
    assert low < 0.7 < high
    assert high - low < 0.02


def grazing(**values):
    """A mass on a spring that swings to a wall at -0.1 m, and just does not reach it, or does."""
    wall = Contact(
        "wall", Flores(stiffness=1e5, restitution=0.7), Plane(normal=(1, 0, 0), offset=-0.1), points=("mass",)
    )
    slide = Joint("slide", "prismatic", "mass", axis=(1, 0, 0), stiffness=40.0, q0=values["x0"])
    body = Body("mass", 1.0, inertia=(1.0, 1.0, 1.0))
    return Model("grazing", [body], [slide], gravity=(0, 0, 0), contacts=[wall])


def test_where_events_change_between_neighbours_intervals_are_withheld_and_the_other_way_is_offered():
    data = measured(grazing(**{"x0": 0.09999}), "slide", times=TIMES[::4])
    with pytest.warns(AccuracyWarning) as caught:
        found = pliant.fit(grazing, data, {"x0": Parameter(0.05, 0.2, start=0.1)})
    words = str(caught[0].message)
    assert "no confidence intervals: a change of x0 by" in words
    assert "changes what happens: 'wall" in words
    assert 'method="global"' in words
    assert math.isinf(found["x0"].standard_error)
    assert not found.is_ok


@quiet
def test_without_derivatives_the_value_is_found_there_too():
    data = measured(grazing(**{"x0": 0.1001}), "slide", times=TIMES[:40:4])
    assert len(pliant.simulate(grazing(**{"x0": 0.1001}), 0.8).contacts) == 1
    found = pliant.fit(grazing, data, {"x0": (0.08, 0.14)}, method="global")
    # the simplex ends at 1e-8 of the span
    assert found.values["x0"] == pytest.approx(0.1001, abs=1e-6)


# --- words, pictures, mistakes ----------------------------------------------------------------------------------------


def test_fit_says_itself_in_tables_pictures_and_citations():
    data = measured(oscillator(k=45.0), "slide", noise={"slide": 0.002})
    found = pliant.fit(oscillator(), data, {"joints.slide.stiffness": Parameter(20.0, 80.0, unit="N/m")})
    text = repr(found)
    assert "95 % intervals" in text
    assert "joints.slide.stiffness" in text
    assert "rms residual" in text
    assert found.table()[0][5] == "N/m"
    assert found.model.joints[0].stiffness == found.values["joints.slide.stiffness"]
    axes = found.plot()
    assert axes.shape == (1, 2)
    left, right = axes[0]
    assert np.array_equal(left.lines[-1].get_ydata(), data["slide"])
    assert np.allclose(right.lines[0].get_ydata(), data["slide"] - found.predicted["slide"])
    references = [row["reference"] for row in found.citations]
    assert references[:2] == ["branch1999", "bates1988"]
    assert "featherstone2008" in references
    assert found.summary["parameters"]["joints.slide.stiffness"]["unit"] == "N/m"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda d: pliant.fit(oscillator(), d, {"joints.slid.stiffness": 1.0}), "no 'slid'; did you mean 'slide'"),
        (lambda d: pliant.fit(oscillator(), d, {"joints.slide.stifness": 1.0}), "did you mean 'stiffness'"),
        (lambda d: pliant.fit(oscillator(), d, {"joints.slide.kind": 1.0}), "kind: 1.0 is not known; allowed: fixed"),
        (lambda d: pliant.fit(oscillator(), d, {}), "parameters: {} found; give a mapping"),
        (lambda d: pliant.fit(oscillator(), d, {"joints.slide.stiffness": (2.0, 1.0)}), "low 2 is not below high 1"),
        (lambda d: pliant.fit(oscillator(), d, {"joints.slide.stiffness": "x"}), "'x' found; give a number"),
        (lambda d: pliant.fit(oscillator(), d, {"joints.slide.stiffness": (1, 2, 3)}), "give (low, high), a start"),
        (lambda d: pliant.fit(oscillator(), {"time": TIMES, "slid": TIMES}, K), "no column 'slid'; did you mean"),
        (lambda d: pliant.fit(oscillator(), {"slide": TIMES}, K), "slide without 'time'; give the times"),
        (lambda d: pliant.fit(oscillator(), {"time": TIMES}, K), "only times"),
        (lambda d: pliant.fit(oscillator(), {"time": TIMES[::-1], "slide": TIMES}, K), "'time' does not rise"),
        (lambda d: pliant.fit(oscillator(), {"time": TIMES, "slide": TIMES[:5]}, K), "5 numbers, 'time' has 100"),
        (lambda d: pliant.fit(oscillator(), {"hertz": [1.0, 2.0]}, K), "has 1 motions that vibrate; give fewer"),
        (lambda d: pliant.fit(oscillator(), {"hertz": [1.0]}, K), "1 numbers for 1 parameters; measure more"),
        (lambda d: pliant.fit(oscillator(), d, K, noise={"slid": 1.0}), "noise: 'slid' was not measured"),
        (lambda d: pliant.fit(oscillator(), d, K, starts=4), "has no bounds on both sides, which starts=4 needs"),
        (lambda d: pliant.fit(oscillator(), d, K, method="newton"), "method: 'newton' found"),
        (lambda d: pliant.fit(oscillator(), d, K, rtoll=1.0), "simulate has no option 'rtoll'"),
        (lambda d: pliant.fit(3.0, d, K), "model: 3.0 found; give a pliant.Model"),
        (lambda d: pliant.fit(lambda **p: 1.0, d, K), "returned 1.0; let it return a pliant.Model"),
        (lambda d: pliant.fit(lambda **p: {"x": [1.0]}, d, K), "predicts no 'slide', which was measured"),
        (lambda d: pliant.fit("no-such.toml", d, K), "no-such.toml"),
        (lambda d: pliant.fit(oscillator(), "no-such.csv", K), "no-such.csv cannot be read"),
    ],
)  # fmt: skip
def test_mistake_gets_a_sentence(call, words):
    data = {"time": TIMES, "slide": np.sin(TIMES)}
    with pytest.raises((ModelError, SimulationError)) as caught:
        call(data)
    assert words in str(caught.value)


K = {"joints.slide.stiffness": 40.0}
