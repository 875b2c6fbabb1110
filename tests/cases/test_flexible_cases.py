"""Built-in cases of flexible arms: their figures, at their defaults and at other data."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import pliant
from pliant.cases.case import all_cases
from pliant.cases.elliptic import elastica


def run(name: str, **settings: object) -> tuple[pliant.Result, dict[str, float]]:
    case = all_cases()[name]
    result = pliant.simulate(pliant.load(name, **settings), **case.run)
    return result, case.figures(result)


def assert_as_expected(name: str, found: dict[str, float]) -> None:
    for key, row in all_cases()[name].figure_table.items():
        if row.expected is not None and key in found:
            assert found[key] == pytest.approx(row.expected, abs=row.tolerance), key


def test_spin_up_with_shortening():
    result, found = run("spin-up")
    assert result.is_ok
    assert result.audit["energy_residual"] < 1e-9
    assert_as_expected("spin-up", found)
    assert found["tip_stretch_end"] == pytest.approx(3000.0 * 36.0 * 1e3 / 3 / 7e10, rel=1e-2)


@pytest.mark.parametrize(
    ("settings", "lowest", "when"),
    [
        # both by two solves and by Gauss points of an inextensible beam (scripts of the issue)
        ({"coupling": "stiffened", "stretch_modes": 0}, -0.574336, 6.76175),
        ({"coupling": "fourth-order", "family": "polynomials", "bending_modes": 5}, -0.573785, 6.7618),
        ({"coupling": "high-order", "stretch_modes": 0}, -0.575812, 6.76906),
    ],
)
def test_spin_up_with_other_couplings(settings, lowest, when):
    result, found = run("spin-up", duration=8.0, **settings)
    assert result.is_ok
    assert found["tip_deflection_min"] == pytest.approx(lowest, abs=1e-6)
    assert found["tip_deflection_min_time"] == pytest.approx(when, abs=1e-4)


def test_spin_up_without_coupling_diverges():
    with pytest.warns(pliant.AccuracyWarning):
        result, found = run("spin-up", coupling="linear", bending_modes=3, stretch_modes=0)
    assert not result.is_ok
    assert "beyond twice its length" in result.reason
    assert found["divergence_time"] == pytest.approx(9.16366, abs=1e-5)
    assert "lag_frequency_1" not in found


def test_lag_frequencies_follow_the_speed():
    """Southwell: w^2 = w0^2 + (number - 1) speed^2, the number between those of the beam at rest and under tension."""
    speeds = np.array([1.0, 3.0, 6.0])
    found = [run("spin-up", speed=speed, duration=0.1)[1]["lag_frequency_1"] for speed in speeds]
    w0 = 1.87510407**2 * np.sqrt(7e10 * 2e-7 / (3000.0 * 4e-4 * 1e4))
    numbers = (np.array(found) ** 2 - w0**2) / speeds**2
    assert np.all((numbers > 0.15) & (numbers < 0.2))


def test_tip_of_the_flexible_double_pendulum():
    result, found = run("flexible-double-pendulum")
    assert result.is_ok
    assert result.audit["energy_residual"] < 1e-9
    assert_as_expected("flexible-double-pendulum", found)


def test_stiffened_links_of_the_double_pendulum():
    _, found = run("flexible-double-pendulum", modes=2, family="modes", coupling="stiffened", duration=0.5)
    assert (found["tip_x_at_500ms"], found["tip_y_at_500ms"]) == pytest.approx((1.298325, -1.404079), abs=1e-6)


def test_fixed_steps_of_the_paper_lose_the_energy_that_error_control_keeps():
    """Steps of 1 ms do not even resolve the stretch of the booms: 1247 rad/s."""
    case = all_cases()["canadarm"]
    settings = case.resolve({"study": "scheme"})
    results = {
        label: pliant.simulate(case.build(variant.settings), **(dict(case.run) | dict(variant.options)))
        for label, variant in case.variants(settings).items()
    }
    (finding,) = case.compare_variants(settings, results)
    dop853, adams, fixed = finding.rows
    assert "1 ms in flight" in finding.text
    assert "breaks down" in finding.text
    assert int(adams[2]) < int(dop853[2]) < int(fixed[2])
    assert float(fixed[-1]) > 1e-4 > 1e-9 > float(adams[-1])
    assert float(fixed[-2]) == pytest.approx(float(dop853[-2]), rel=1e-3)


# --- elastica -----------------------------------------------------------------------------------------------------


def test_bent_cantilever_rests_in_the_elastica():
    """Exact by quadrature, checked against the differential equation of the curve; the run stays where it began."""
    found = run("elastica")[1]
    for key, row in all_cases()["elastica"].figure_table.items():
        assert row.expected is not None
        assert abs(found[key] - row.expected) <= row.tolerance, key

    def slope_at_end(theta):  # theta'' = -P cos theta: the moment at the tip, from the angle there
        back = solve_ivp(lambda s, y: [y[1], -10.0 * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])], (1.0, 0.0),
                         [theta, 0.0, 0.0, 0.0], rtol=1e-12, atol=1e-13).y[:, -1]  # fmt: skip
        return back

    tip = brentq(lambda theta: slope_at_end(theta)[0], 0.5, 1.57, xtol=1e-13)
    assert -slope_at_end(tip)[2:] == pytest.approx(elastica(10.0), abs=1e-9)


def test_error_of_the_elastica_falls_with_the_number_of_pieces():
    """Of fourth order in the slopes of a piece, which are one over their number."""
    errors = [run("elastica", load=1.0, pieces=n, duration=1e-3)[1]["tip_error"] for n in (2, 4, 8)]
    assert errors[0] > 5.0 * errors[1] > 25.0 * errors[2]
    assert errors[2] < 1e-5
