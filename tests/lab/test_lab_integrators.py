"""pliant lab integrators: what it measures against closed forms and scipy, its page, its refusals."""

import json
import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.special import ellipk

import pliant
from command_line import pliant_command
from pliant.errors import ModelError
from pliant.lab import convergence, oscillator, thesis_claims, work_precision
from pliant.lab.integrator_methods import ADVICE, all_methods
from pliant.lab.integrators import SETTINGS, integrator_lab, resolve, write_integrator_lab
from pliant.methods import INTEGRATORS, stability

pytestmark = pytest.mark.xdist_group("lab-integrators")  # one worker makes the fixture
FEW = "rk4,dopri5,radau,generalised_alpha,newmark,newmark 1/8,wilson,houbolt,proposed,proposed 1/2"
ORDERS = {"rk4": 4, "dopri5": 5, "radau": 5, "generalised_alpha": 2, "newmark": 2, "newmark 1/8": 2, "wilson": 2,
          "houbolt": 2, "proposed": 3, "proposed 1/2": 3}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return integrator_lab(resolve({"methods": FEW, "points": 5, "periods": 10, "models": "stiff"}))


def test_every_integrator_is_measured_and_has_its_advice():
    methods = all_methods(resolve({}))
    assert {row.name for row in INTEGRATORS} == {method.name for method in methods.values()}
    assert set(methods) == set(ADVICE)


def test_measured_roots_are_those_of_the_closed_form(found):
    for row in found.numbers["spectra"][0]:
        assert row["largest_difference"] < 1e-9, row["method"]
        for key in ("damping", "period_error"):
            assert row["shown"][key] == pytest.approx(row["shown_by_formula"][key], rel=1e-6, abs=1e-10)


def test_measured_limits_are_those_of_the_closed_form(found):
    limits = {row["method"]: row["limit"] for row in found.numbers["spectra"][0]}
    assert limits["rk4"] == pytest.approx(math.sqrt(8.0), rel=1e-3)
    assert limits["newmark 1/8"] == pytest.approx(math.sqrt(8.0), rel=1e-3)
    assert limits["proposed"] == pytest.approx(math.sqrt(6.0), rel=1e-3)
    assert limits["proposed 1/2"] == 0.0
    assert all(limits[name] == math.inf for name in ("radau", "generalised_alpha", "newmark", "wilson", "houbolt"))


def test_measured_orders_are_those_of_the_methods(found):
    """Slope of the last three before rounding; high orders have few points there."""
    for row in found.numbers["orders"][0]:
        slack = 0.4 if row["method"] in ("dopri5", "radau") else 0.1
        assert row["order"] == pytest.approx(ORDERS[row["method"]], abs=slack), row["method"]


def test_energy_is_lost_as_the_spectral_radius_says(found):
    """Of a swing whose period is that of the elliptic integral: damped methods lose, the trapezoidal rule keeps."""
    assert convergence.pendulum_period() == pytest.approx(4.0 * ellipk(0.5) * math.sqrt(2.0 / 3.0 / 9.81), rel=1e-14)
    left = {row["method"]: row["energy_left"] for row in found.numbers["energies"][0]}
    assert left["newmark"] == pytest.approx(1.0, abs=1e-4)
    assert left["proposed"] == pytest.approx(1.0, abs=1e-4)
    assert left["houbolt"] < left["wilson"] < left["generalised_alpha"] < 1.0
    assert left["proposed 1/2"] > 1.001


def test_fitted_recurrence_has_the_roots_of_a_sum_of_powers():
    roots = np.array([0.9, 0.8 + 0.3j, 0.8 - 0.3j])
    x = (roots[None, :] ** np.arange(30)[:, None]).sum(axis=1).real
    v = (roots[None, :] ** np.arange(30)[:, None] @ np.array([1.0, 2j, -2j])).real
    fitted = oscillator.fitted_roots(np.column_stack([x, v]))
    assert np.allclose(np.sort_complex(fitted), np.sort_complex(roots), rtol=0, atol=1e-9)


def test_radau_wins_on_the_stiff_chain(found):
    methods = {row["method"]: row["runs"] for row in found.numbers["work_precision"][0]["methods"]}
    cost = {name: work_precision.cost_of(6, runs, "evaluations") for name, runs in methods.items()}
    assert cost["radau"] < 0.1 * cost["dopri5"]
    assert cost["radau"] < 0.1 * cost["newmark"]


def test_cost_of_digits_is_that_from_which_on_all_finer_runs_have_them():
    runs = [{"error": error, "evaluations": 10.0 ** (k + 1)} for k, error in enumerate((1e-4, 1e-2, 1e-4, 1e-6))]
    assert work_precision.cost_of(3, runs, "evaluations") == pytest.approx(10**2.5)
    assert work_precision.cost_of(1, runs, "evaluations") == pytest.approx(10.0)
    assert math.isnan(work_precision.cost_of(7, runs, "evaluations"))


@pytest.mark.parametrize("chain", [*thesis_claims.CHAINS.values(), thesis_claims.LONG])
def test_modal_sum_is_the_exponential_of_the_chain(chain):
    n, inertia, stiffness, damping = chain
    D = np.eye(n) - np.eye(n, k=-1)
    L = D.T @ D / inertia
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-stiffness * L, -damping * L]])
    rest = np.linalg.solve(stiffness * D.T @ D, np.eye(n)[-1])
    for t in (0.7, 5.0):
        expected = (expm(A * t) @ np.concatenate([-rest, np.zeros(n)]))[n - 1] + rest[-1]
        assert thesis_claims.exact_end_angle(chain, np.array([t]))[0] == pytest.approx(expected, abs=1e-11)


def test_claims_of_the_thesis_are_put_right(found):
    settling, betas, _ = found.numbers["claims"]
    times = {(row["chain"], row["method"]): row["settling_time"] for row in settling}
    assert times["2 discs", "exact"] == pytest.approx(18.74, abs=0.02)
    assert times["2 discs", "newmark, 0.01 s"] == pytest.approx(18.74, abs=0.03)
    # the misprint comes to rest as its step says
    printed = [times["2 discs", f"as printed, {step:g} s"] for step in thesis_claims.STEPS]
    assert printed == sorted(printed, reverse=True)
    assert printed[0] < 5.0
    assert max(row["peak"] for row in settling if "printed" not in row["method"]) == pytest.approx(0.8296, abs=1e-3)
    errors = {(row["beta"], row["step"]): row["error"] for row in betas}
    assert errors["1/12", 0.1] < 0.1 * errors["1/8", 0.1] < errors["1/6", 0.1] < errors["1/4", 0.1]
    assert errors["1/8", 0.4] is None  # grows
    assert errors["1/4", 0.4] < 0.2


def test_period_error_of_newmark_is_the_quoted_formula():
    for beta in (0.25, 1 / 6, 1 / 8):
        found = stability.oscillation(pliant.Newmark(beta), 0.05)
        assert found.period_error == pytest.approx((beta - 1 / 12) * 0.05**2 / 2, rel=0.01)


def test_page_and_numbers_are_written(found, tmp_path):
    write_integrator_lab(found, tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for words in ("The integrators", "What to take", "Work and precision: stiff", "rest in 3 s", ADVICE["houbolt"]):
        assert words in page
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [row["method"] for row in summary["spectra"][0]] == FEW.split(",")
    assert (tmp_path / "spectra.svg").read_text().startswith("<svg")


def test_parameters_reach_the_methods():
    methods = all_methods(resolve({"theta": "1.2", "beta": 0.3, "max_order": 3}))
    assert methods["wilson"] == pliant.Wilson(1.2)
    assert methods["newmark"] == pliant.Newmark(0.3)
    assert methods["adams"] == pliant.Adams(3)


@pytest.mark.parametrize("name", ["two-link-arm", "flexible", "contact", "chain"])
def test_models_are_found_with_their_duration(name):
    model, duration, words = work_precision.find_model(name)
    assert duration > 0.0
    assert len(words) > 3
    assert model.coordinates


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"methods": "newmark,euler"}, ["methods", "euler", "fox_euler"]),
        ({"methods": ","}, ["methods", "nothing found"]),
        ({"models": "chian"}, ["models", "chian", "chain"]),
        ({"theta": 0.5}, ["theta", "0.5", "at least 1"]),
        ({"points": 1}, ["points", "at least 3"]),
        ({"step": 1}, ["step", "pliant lab integrators"]),
    ],
)
def test_wrong_settings_are_named(given, words):
    with pytest.raises(ModelError) as error:
        resolve(given)
    for word in words:
        assert word in str(error.value)


def test_command_refuses_with_exit_code_2():
    code, _, err = pliant_command("lab", "integrators", "--set", "models=nothing")
    assert code == 2
    assert "models" in err


def test_keys_are_described():
    assert all(setting.help for setting in SETTINGS.values())
