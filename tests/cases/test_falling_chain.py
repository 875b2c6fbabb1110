"""The case falling-chain against bench/falling_reference.py, which shares no code with the kernels."""

import json
from functools import cache

import numpy as np
import pytest

from paths import DATA
from pliant.cases.falling_chain import CASE, FIGURES, SETS
from pliant.command.cli import main
from pliant.simulation.simulate import simulate
from pliant_benchmarks.falling_reference import FallingChain

STARTS = json.loads((DATA / "falling_chain.json").read_text())["starts"]


@cache
def fall(modes="ss-ss-ss", duration=1.5, formulation="auto", integrator="auto", **settings):
    model = CASE.build(CASE.resolve({"modes": modes, **settings}))
    found = simulate(model, duration, rtol=1e-11, atol=1e-13, formulation=formulation, integrator=integrator)
    assert found.status == "done", found.reason
    return found


def starts(result):
    """{end: times of its contacts}."""
    contacts = result.contacts
    return {k: contacts.t_start[contacts.point == f"O{k}"] for k in (1, 2, 3, 4)}


def accuracy(modes, t):
    """Every impact multiplies errors: 1e-8 s before the third touchdown, 1e-6 and 1e-5 s later; sc-cc-cs is 80 times
    more sensitive than the others."""
    late = 1e-4 if modes == "sc-cc-cs" else 1e-5
    return np.where(t < 0.53, 1e-8, np.where(t < 1.06, 1e-6, late))


def check_instants(found, wanted, modes):
    for k, times in starts(found).items():
        expected = np.array([t for end, t in wanted if end == k])
        assert len(times) == len(expected), f"O{k}"
        assert np.all(np.abs(times - expected) < accuracy(modes, expected)), f"O{k}: {times - expected}"


# --- contact instants -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("modes", SETS)
def test_instants_of_all_contacts(modes):
    check_instants(fall(modes), STARTS[modes], modes)


@pytest.mark.parametrize("modes", SETS)
def test_other_formulation_and_integrator_find_the_same_instants(modes):
    check_instants(fall(modes, formulation="gibbs_appell"), STARTS[modes], modes)
    check_instants(fall(modes, integrator="dopri5"), STARTS[modes], modes)


def test_implicit_integrator_finds_the_same_instants():
    check_instants(fall("ss-ss-ss", integrator="radau"), STARTS["ss-ss-ss"], "ss-ss-ss")


@pytest.mark.parametrize("modes", SETS)
def test_stored_instants_are_those_of_the_reference(modes):
    """Anew until the second touchdown is over; the tolerance is that of its own integration."""
    found = FallingChain(modes).contact_starts(0.56, 1e-12, 1e-14)
    wanted = [(k, t) for k, t in STARTS[modes] if t < 0.56]
    assert [k for k, _ in found] == [k for k, _ in wanted]
    np.testing.assert_allclose([t for _, t in found], [t for _, t in wanted], rtol=0, atol=1e-11)


# --- energies, forces, symmetry ---------------------------------------------------------------------------------


def test_figures_of_the_case():
    """Energy, works, peaks of forces and deflections, instants: by an independent derivation in long double."""
    found = CASE.figures(fall())
    assert set(found) == set(FIGURES)
    for name, figure in FIGURES.items():
        assert found[name] == pytest.approx(figure.expected, rel=0, abs=figure.tolerance), name


@pytest.mark.parametrize("modes", SETS)
def test_energy_and_mirror_symmetry_are_kept(modes):
    found = fall(modes)
    assert found.audit["energy_residual"] < 1e-8
    # rounding breaks the symmetry, impacts multiply it
    assert CASE.figures(found)["symmetry_error"] < 1e-6


def test_friction_is_a_tenth_of_the_normal_force_where_ends_slide():
    forces = fall().outputs["ground_force"].reshape(-1, 4, 4)
    for k in (0, 3):
        pressed = forces[:, k, 0] > 1.0
        share = np.abs(forces[pressed, k, 1]) / forces[pressed, k, 0]
        assert np.max(share) == pytest.approx(0.1, rel=1e-5)
        assert np.median(share) == pytest.approx(0.1, rel=1e-9)


def test_elastic_links_touch_three_times_where_rigid_ones_touch_once():
    touched = {modes: starts(fall(modes, 0.5))[1] for modes in ("ss-ss-ss", "rigid")}
    assert len(touched["ss-ss-ss"]) == 3
    assert len(touched["rigid"]) == 1
    assert touched["rigid"][0] == pytest.approx(np.sqrt(1.8 / 9.81), abs=1e-12)


def test_section_inertia_that_turns_with_the_bending_changes_the_count():
    assert len(fall().contacts) == 22
    assert len(fall(rotary="section").contacts) == 26


# --- mistakes ---------------------------------------------------------------------------------------------------

MISTAKES = [
    ("modes=xx-ss-ss", ["modes", "'xx'", "ss, cc"]),
    ("modes=ss-fs-ss", ["link2", "fs", "q2"]),
    ("restitution=0", ["restitution", "found 0"]),
    ("restitution=1.2", ["restitution", "found 1.2"]),
    ("stiffness=-1", ["stiffness", "found -1"]),
    ("v1=1e-4", ["v1", "v0", "give v1 > v0"]),
    ("height=-0.1", ["O1", "ground", "0.1 m inside"]),
    ("modes_per_link=0", ["modes_per_link", "at least 1"]),
]


@pytest.mark.parametrize(("setting", "expected"), MISTAKES)
def test_mistakes_are_named(setting, expected, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["pliant", "run", "falling-chain", "--set", setting, "--out", str(out)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    message = capsys.readouterr().err
    for word in expected:
        assert word in message
    assert not list(tmp_path.rglob("*.*")), "something was written"


def test_first_link_may_be_free_at_its_start():
    """It flies: its planar base leaves the rigid motion to the joint."""
    assert fall("fs-ss-ss", 0.01).status == "done"
