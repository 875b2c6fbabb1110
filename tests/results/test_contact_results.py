"""Contacts in whole runs: methods agree, files and terminal carry the log, symmetry of a falling chain."""

import contextlib
import json
import math

import numpy as np
import pytest

from pliant.command.cli import main
from pliant.io.toml import save_model
from pliant.methods import FORMULATIONS
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.contacts import Contact, Friction, NormalLaw, Plane
from pliant.model.joints import Joint
from pliant.model.model import Base, Model, Output
from pliant.simulation.prepared_run import prepare_run
from pliant.simulation.simulate import simulate
from zoo import adaptive_pairs


def chain(**more):
    """Three rods, bent like a roof, that fall on the ground: mirror-symmetric about x = 0."""
    half = math.radians(30)
    return Model(
        "roof",
        tuple(Body(f"link{i}", 1.0, shape=Rod(1.0, 0.01)) for i in (1, 2, 3)),
        (
            Joint("knee1", "revolute", "link2", Frame("link1", (1, 0, 0)), q0=-half),
            Joint("knee2", "revolute", "link3", Frame("link2", (1, 0, 0)), q0=-half),
        ),
        base=Base("planar", (-0.5 - math.cos(half), 0.4, 0), (0, 0, math.sin(half / 2), math.cos(half / 2))),
        gravity=(0, -9.81, 0),
        contacts=(
            Contact(
                "ground",
                NormalLaw("hu-guo", 1.4e8, restitution=0.8),
                Plane(normal=(0, 1, 0)),
                friction=Friction("ambrosio", 0.1, v0=1e-4, v1=1e-3),
            ),
        ),
        outputs=(Output("forces", "ground", "contact"), Output("end", "link3", "position")),
        **more,
    )


@pytest.fixture(scope="module")
def fall():
    return simulate(chain(), 0.5, rtol=1e-10, atol=1e-12)


def test_falling_chain_keeps_energy_and_symmetry(fall):
    assert fall.status == "done"
    assert fall.contacts[0].t_start == pytest.approx(math.sqrt(2 * 0.4 / 9.81), abs=1e-12)
    assert fall.contacts[0].v_in == pytest.approx(math.sqrt(2 * 9.81 * 0.4), rel=1e-12)
    assert set(fall.contacts.point) >= {"link1.start", "link3.end"}
    assert fall.audit["energy_residual"] < 1e-9
    left = fall.contacts[fall.contacts.point == "link1.start"]
    right = fall.contacts[fall.contacts.point == "link3.end"]
    np.testing.assert_allclose(left.t_start, right.t_start, atol=1e-9)
    np.testing.assert_allclose(left.peak_normal, right.peak_normal, rtol=1e-6)


def test_friction_of_the_falling_chain_is_a_tenth_of_the_normal_force(fall):
    forces = fall.outputs["forces"].reshape(len(fall.t), 4, 4)
    is_pressed = forces[:, 0, 0] > 1.0
    assert np.count_nonzero(is_pressed) > 20
    share = np.abs(forces[is_pressed, 0, 1]) / forces[is_pressed, 0, 0]
    assert np.median(share) == pytest.approx(0.1, rel=1e-9)
    assert np.max(share) < 0.1 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("integrator", "formulation"),
    adaptive_pairs([row.name for row in FORMULATIONS if "flexible bodies" in row.supports]),
)
def test_methods_agree_on_the_first_impacts(fall, integrator, formulation):
    other = simulate(chain(), 0.3, formulation=formulation, integrator=integrator, rtol=1e-9, atol=1e-11)
    count = len(other.contacts)
    assert count >= 2
    np.testing.assert_allclose(other.contacts.t_start, fall.contacts.t_start[:count], atol=1e-7)
    over = ~np.isnan(other.contacts.t_end)
    np.testing.assert_allclose(other.contacts.impulse[over], fall.contacts.impulse[:count][over], rtol=1e-5)


def test_prepared_runs_know_contact(fall):
    q, _ = prepare_run(chain(), 0.5, rtol=1e-10, atol=1e-12).end()
    np.testing.assert_allclose(q, fall.q[-1], atol=1e-9)


def test_without_dense_output_the_log_is_there(fall):
    plain = simulate(chain(), 0.5, rtol=1e-10, atol=1e-12, dense=False)
    assert len(plain.contacts) == len(fall.contacts)
    # from accepted steps only
    np.testing.assert_allclose(plain.contacts.peak_normal, fall.contacts.peak_normal, rtol=0.05)


def test_what_was_reached_is_kept(fall):
    short = simulate(chain(), 0.5, rtol=1e-10, atol=1e-12, max_steps=int(0.7 * fall.stats["steps"]))
    assert short.status == "failed"
    count = len(short.contacts)
    assert 0 < count <= len(fall.contacts)
    np.testing.assert_allclose(short.contacts.t_start, fall.contacts.t_start[:count], atol=1e-12)


def test_contact_forces_are_the_outputs_and_integrate_to_the_impulse(fall):
    forces = fall.contact_forces(fall.t)
    recorded = fall.outputs["forces"].reshape(len(fall.t), -1, 4)
    assert forces.names[0] == ("ground", "link1.start")
    np.testing.assert_allclose(forces.normal[..., 1], recorded[..., 0], atol=1e-9 * recorded.max())
    np.testing.assert_allclose(forces.friction, recorded[..., 1:], atol=1e-12 * recorded.max())
    # along the normal, and at the plane to within the depth that all the energy of the fall could press
    assert np.all(forces.normal[..., [0, 2]] == 0)
    touching = forces.normal[..., 1] > 0
    deepest = (2.5 * 3 * 9.81 * 0.65 / 1.4e8) ** 0.4  # K d^2.5 / 2.5 = m g h
    assert np.abs(forces.place[touching][:, 1]).max() < deepest
    # Simpson's rule within one contact, where the force is smooth but for its 3/2-power begin
    first = fall.contacts[0]
    t = np.linspace(first.t_start, first.t_end, 4001)
    k = forces.names.index(("ground", first.point))
    values = fall.contact_forces(t).normal[:, k, 1]
    values[-1] = 0.0  # of the phase before the end
    impulse = (t[1] - t[0]) / 3 * (values[0] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum() + values[-1])
    assert impulse == pytest.approx(first.impulse, rel=1e-6)


def test_mass_centre_is_that_of_the_bodies(fall):
    t = np.linspace(0.0, 0.5, 11)
    R, p = fall.placements(t)
    middles = p + np.einsum("tnij,j->tni", R, [0.5, 0.0, 0.0])  # of rods of equal mass
    np.testing.assert_allclose(fall.mass_centre(t), middles.mean(axis=1), atol=1e-13)
    np.testing.assert_allclose(fall.mass_centre(), fall.mass_centre(fall.t), atol=1e-12)


def test_files_report_and_terminal_carry_the_log(tmp_path, monkeypatch, capsys):
    import xarray

    save_model(chain(duration=0.4), tmp_path / "roof.toml")
    monkeypatch.setattr("sys.argv", ["pliant", "run", str(tmp_path / "roof.toml"), "--out", str(tmp_path / "out")])
    with contextlib.suppress(SystemExit):
        main()
    shown = capsys.readouterr().out
    assert "link1.start" in shown
    assert "peak_normal" in shown
    logged = json.loads((tmp_path / "out" / "summary.json").read_text())["contacts"]
    assert logged[0]["point"] == "link1.start"
    assert logged[0]["contact"] == "ground"
    assert logged[0]["restitution_requested"] == 0.8
    with xarray.open_dataset(tmp_path / "out" / "result.nc", engine="h5netcdf") as data:
        assert data["contact_point"].values[0] == "link1.start"
        assert float(data["contact_impulse"][0]) == pytest.approx(logged[0]["impulse"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Contacts" in page
    assert "link3.end" in page
