"""Columns, contacts, runs and folders by their names."""

import json

import numpy as np
import pytest

import pliant
from command_line import pliant_command
from pliant import (
    PD,
    Body,
    Contact,
    Controller,
    Frame,
    Joint,
    Model,
    ModelError,
    NormalLaw,
    Output,
    Plane,
    Rod,
)
from pliant.results.named_columns import columns


def arm():
    return Model(
        "arm",
        [Body("upper", 1.0, shape=Rod(0.8)), Body("lower", 0.5, shape=Rod(0.5))],
        [
            Joint("hinge", "revolute", "upper", q0=0.4),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", (0.8, 0, 0))),
        ],
        gravity=(0, -9.81, 0),
        frames=[Frame("lower", (0.5, 0, 0), name="tip")],
        contacts=[Contact("floor", NormalLaw("flores", 1e5, restitution=0.6), Plane(normal="y", offset=-0.3))],
        outputs=[Output("tip", "tip", "position"), Output("hinge", "hinge", "reaction")],
        controllers=[Controller("servo", 0.01, ("hinge",), law=PD(30.0, 2.0, reference=0.5))],
    )


@pytest.fixture(scope="module")
def result():
    return pliant.simulate(arm(), 0.6)


def test_a_result_knows_every_name_that_tables_and_charts_know(result):
    for _, name, _, values in columns(result):
        np.testing.assert_array_equal(result[name], values)
        np.testing.assert_array_equal(result[name], result.to_pandas()[name])
    np.testing.assert_array_equal(result["tip.x"], result.outputs["tip"][:, 0])
    np.testing.assert_array_equal(result["tip"], result.outputs["tip"])
    np.testing.assert_array_equal(result["hinge"], result.q[:, 0])
    np.testing.assert_array_equal(result["hinge.fx"], result.outputs["hinge"][:, 0])
    np.testing.assert_array_equal(result["hinge.command"], result.inputs[:, 0])
    energy = result.energy["kinetic"] + result.energy["gravity"] + result.energy["elastic"]
    np.testing.assert_array_equal(result["total"], energy)
    np.testing.assert_array_equal(result["time"], result.t)
    np.testing.assert_array_equal(result.column("elbow.rate"), result.v[:, 1])
    for name in ("elbow", "elbow.rate", "tip", "tip.y", "hinge.command", "kinetic", "total", "work_motor"):
        result.plot(name)
        assert len(result[name]) == len(result.t)


def test_a_name_that_is_none_is_told(result):
    with pytest.raises(ModelError, match=r"no column 'tipp.x'; did you mean 'tip.x'\? there are time, hinge, elbow"):
        result["tipp.x"]
    with pytest.raises(ModelError, match=r"no column 't'; did you mean 'time'\?"):
        result["t"]
    top = Model("top", [Body("top", 1.0, inertia=(1, 1, 1))], base="floating")
    with pytest.raises(ModelError, match=r"no column 'top.wz'; did you mean 'top.wz.rate'\?"):
        pliant.simulate(top, 0.1)["top.wz"]
    with pytest.raises(ModelError, match="name"):
        result[3]


def test_contacts_are_records_and_a_table(result):
    first = result.contacts[0]
    assert first.contact == "floor"
    assert first.t_start < first.t_end
    assert (first.point, first.peak_normal) == (result.contacts.point[0], result.contacts.peak_normal[0])
    lines = repr(result.contacts).splitlines()
    assert lines[0].startswith(f"{len(result.contacts)} contact")
    assert lines[1].split()[:4] == ["contact", "point", "t_start", "[s]"]
    assert lines[1].endswith("impulse [N s]  work [J]")
    assert len(lines) == 2 + len(result.contacts)
    frame = result.contacts.to_pandas()
    np.testing.assert_array_equal(frame["impulse"], result.contacts.impulse)
    assert frame.attrs["units"]["impulse"] == "N s"
    assert "<th>peak_normal [N]</th>" in result.contacts._repr_html_()
    hard = result.contacts[result.contacts.v_in > 0.0]
    assert repr(hard).startswith(f"{len(hard)} contact")
    assert repr(result.contacts[:0]) == "0 contacts"
    assert repr(result.contacts.t_start).startswith("array(")


def test_runs_are_a_table_too():
    runs = pliant.simulate_many(arm(), 0.05, q0=[[0.4, 0.0], [0.5, 0.1]])
    frame = runs.to_pandas()
    assert list(frame["status"]) == ["done", "done"]
    np.testing.assert_array_equal(frame["elbow.start"], [0.0, 0.1])
    np.testing.assert_array_equal(frame["hinge.rate"], runs.v[:, 0])
    assert frame.attrs["units"]["hinge.rate"] == "rad/s"
    html = runs._repr_html_()
    assert "hinge.start [rad]" in html
    assert ">t [s]<" not in html, "the same in all runs"
    kept = pliant.simulate_many(arm(), 0.05, q0=[[0.4, 0.0], [0.5, 0.1]], keep_results=True)
    np.testing.assert_array_equal(kept.table["energy_residual"], kept.audit["energy_residual"])


def test_a_notebook_can_show_the_robot_moving(result):
    moving = result.animation(speed=0.6, size=(160, 90))
    assert moving.gif.startswith(b"GIF89a")
    assert moving._repr_html_().startswith('<img alt="arm, moving"')


def test_two_files_of_one_name_keep_their_folders_apart(tmp_path):
    for folder, mass in (("one", 1.0), ("two", 2.0)):
        (tmp_path / folder).mkdir()
        model = Model(
            "arm", [Body("rod", mass, shape=Rod(1.0))], [Joint("hinge", "revolute", "rod", v0=1.0)], duration=0.01
        )
        pliant.save_model(model, tmp_path / folder / "arm.toml")
    written = [
        pliant_command("run", f"{folder}/arm.toml", cwd=tmp_path).stdout.splitlines()[-1]
        for folder in ("one", "two", "one", "two")
    ]
    places = ["pliant-out/arm/", "pliant-out/arm-2/", "pliant-out/arm/", "pliant-out/arm-2/"]
    assert [line.removeprefix("written: ").partition("report.html")[0] for line in written] == places
    summary = json.loads((tmp_path / "pliant-out" / "arm-2" / "summary.json").read_text())
    assert summary["source"] == str((tmp_path / "two" / "arm.toml").resolve())


def test_an_unknown_output_or_energy_is_answered_as_an_unknown_column_is():
    result = pliant.simulate(arm(), 0.1)
    for values, name, words in (
        (result.outputs, "Tip", r"no 'Tip'; did you mean 'tip'\? there are tip"),
        (result.energy, "kinetc", r"no 'kinetc'; did you mean 'kinetic'\? there are kinetic, gravity"),
        (result.audit, "energy", r"no 'energy'.* there are energy_residual"),
        (result.resampled([0.05]).outputs, "x", r"no 'x'; there are tip"),
    ):
        with pytest.raises(ModelError, match=words) as caught:
            values[name]
        assert isinstance(caught.value, KeyError)
        assert name not in values
        assert values.get(name) is None
    assert dict(result.outputs).keys() == {"tip", "hinge"}
