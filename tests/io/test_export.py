"""Results in other programs: what is read back from a file is what the result holds, with names and units."""

import csv
import json
import re
import sys

import numpy as np
import pytest
import scipy.io
import xarray

import pliant
from pliant import (
    Beam,
    Bending,
    Body,
    Contact,
    Controller,
    Frame,
    Joint,
    Material,
    Model,
    ModelError,
    NormalLaw,
    Output,
    Plane,
    Rectangle,
)
from pliant.io.mat_file import legal
from pliant.results.named_columns import columns


@pytest.fixture(scope="module")
def result():
    """Angles, lengths, modes, attitudes, forces, commands, contacts; an output named as a coordinate."""
    model = Model(
        "mixed-up robot",
        gravity=(0, 0, -9.81),
        bodies=(
            Body("cart", 2.0, inertia=(1, 1, 1)),
            Beam(
                "blade",
                length=1.0,
                material=Material(young=7e10, density=2700.0),
                section=Rectangle(width=0.03, height=0.01),
                bending_z=Bending(modes=2, ends="cf"),
            ),
        ),
        joints=(
            Joint("rail", "prismatic", "cart", axis=(1, 0, 0)),
            Joint("hinge", "revolute", "blade", parent="cart", axis=(0, -1, 0)),
        ),
        frames=(Frame("blade", (1.0, 0, 0), name="tip"), Frame("blade", (0.0, 0, 0), name="root")),
        contacts=(Contact("floor", NormalLaw("exact", stiffness=1e6, restitution=0.5), Plane(offset=-0.3), ("tip",)),),
        outputs=(
            Output("hinge", "hinge", "motor"),
            Output("tip", "tip", "position"),
            Output("load", "hinge", "reaction"),
            Output("root", "root", "strain"),
            Output("floor", "floor", "contact"),
            Output("gap", "floor", "gap"),
            Output("turn", "tip", "attitude"),
        ),
        controllers=(Controller("servo", 0.01, ("rail", "hinge"), lambda t, measured: [1.0, 0.5]),),
    )
    return pliant.simulate(model, 0.5)


UNITS = {
    "rail": "m", "hinge": "rad", "blade.mode1": "m", "rail.rate": "m/s", "hinge.rate": "rad/s", "output.hinge": "N m",
    "tip.x": "m", "load.fx": "N", "load.mz": "N m", "root.axial": "", "root.curvature_y": "1/m",
    "floor.tip.normal": "N", "gap": "m", "turn.qw": "", "rail.command": "N", "hinge.command": "N m", "kinetic": "J",
    "elastic": "J",
}  # fmt: skip


def test_every_column_has_one_name_and_its_unit(result):
    table = {name: unit for _, name, unit, _ in columns(result)}
    assert len(table) == len([*columns(result)])
    assert {name: table[name] for name in UNITS} == UNITS
    width = sum(values.shape[1] for values in result.outputs.values())
    assert len(table) == result.q.shape[1] + result.v.shape[1] + width + 2 + len(result.energy)


def test_csv_holds_every_bit(result, tmp_path):
    result.to_csv(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as file:
        head, *rows = list(csv.reader(file))
    assert head[:3] == ["time [s]", "rail [m]", "hinge [rad]"]
    assert "turn.qw" in head
    read = np.array(rows, dtype=float)
    assert np.array_equal(read[:, 0], result.t)
    expected = np.column_stack([values for *_, values in columns(result)])
    assert np.array_equal(read[:, 1:], expected, equal_nan=True)


def test_wide_and_long_tables_hold_the_same(result):
    wide, long = result.to_pandas(), result.to_pandas("long")
    assert wide.index.name == "time"
    assert np.array_equal(wide["hinge"], result.column("hinge"))
    assert wide.attrs["units"]["hinge"] == "rad"
    back = long.pivot(index="time", columns="name", values="value")
    assert np.array_equal(back[wide.columns].to_numpy(), wide[~wide.index.duplicated()].to_numpy(), equal_nan=True)
    assert set(long.kind) == {"coordinate", "velocity", "output", "command", "energy"}
    assert set(long[long.name == "load.fx"].unit) == {"N"}
    with pytest.raises(ModelError, match="give one of wide, long"):
        result.to_pandas("tall")


def test_without_pandas_a_message_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModelError, match=r'pip install "pliant\[pandas\]"'):
        result.to_pandas()


def test_matlab_file_holds_arrays_names_and_structs(result, tmp_path):
    result.to_mat(tmp_path / "a.mat")
    read = scipy.io.loadmat(tmp_path / "a.mat", simplify_cells=True)
    assert np.array_equal(read["t"], result.t)
    assert np.array_equal(read["q"], result.q)
    assert list(read["q_names"]) == list(result.model.coordinates)
    assert list(read["q_units"]) == ["m", "rad", "m", "m"]
    assert np.array_equal(read["energy"]["kinetic"], result.energy["kinetic"])
    assert np.array_equal(read["contacts"]["peak_normal"], np.squeeze(result.contacts.peak_normal))
    assert np.array_equal(read["outputs"]["load"]["values"], result.outputs["load"], equal_nan=True)
    assert list(read["outputs"]["load"]["units"]) == ["N"] * 3 + ["N m"] * 3
    assert read["audit"]["energy_residual"] == result.audit["energy_residual"]
    assert read["model"] == "mixed-up robot"


def test_matlab_names_are_legal_and_different():
    found = legal({"a-b": 1, "a.b": 2, "9": 3, "_x": 4, "x" * 80: 5, "x" * 81: 6})
    assert list(found.values()) == [1, 2, 3, 4, 5, 6]
    assert all(re.fullmatch(r"[A-Za-z]\w{0,62}", name) for name in found)


def test_netcdf_file_and_dataset_tell_components_and_units(result, tmp_path):
    result.save(tmp_path / "a.nc")
    with xarray.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as read:
        for data in (read, result.dataset):
            assert data.time.attrs["units"] == "s"
            assert dict(zip(data.coordinate.values, data.coordinate_unit.values, strict=True))["hinge"] == "rad"
            assert data.output_tip.attrs["units"] == "m"
            assert np.array_equal(data.output_tip.sel(tip_component="z"), result.outputs["tip"][:, 2])
            assert "units" not in data.output_load.attrs
            assert data.load_component_unit.sel(load_component="mz").item() == "N m"
            assert list(data.command.values) == ["rail", "hinge"]
            assert data.contact_peak_normal.attrs["units"] == "N"
            assert data.contact_point.values[0] == "tip"
        assert json.loads(read.attrs["audit"])["energy_residual"] == result.audit["energy_residual"]


@pytest.mark.parametrize("write", ["to_csv", "to_mat", "save"])
def test_file_that_cannot_be_written_is_refused_in_words(result, write, tmp_path):
    with pytest.raises(ModelError, match="there is no such folder"):
        getattr(result, write)(tmp_path / "no" / "file")
    with pytest.raises(ModelError, match="this is a folder"):
        getattr(result, write)(tmp_path)
    assert [*tmp_path.iterdir()] == []
