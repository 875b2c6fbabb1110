"""Files of earlier versions, kept in tests/data/old: they are read as on the day they were written.

servo.nc, swing.nc and study/ were written by commit a7f7fea (formats: result 1, study 1, without seals): a bouncing arm
with bristles and a noisy servo, a swinging rod, and a sweep over the case pendulum."""

import json
import shutil

import numpy as np
import pytest

import pliant
from paths import DATA
from pliant import ModelError
from pliant.study.store import VERSION, digest

OLD = DATA / "old"


def test_an_old_result_is_what_it_was_and_a_run_goes_on_from_its_end():
    rod = pliant.load_result(OLD / "swing.nc")
    assert (rod.status, rod.t[-1]) == ("done", 0.3)
    assert rod.audit["energy_residual"] < 1e-8  # of a run with rtol 1e-6
    np.testing.assert_array_equal(rod.at(rod.t[-1])[0], rod.q[-1])
    second = pliant.simulate(rod.model, 0.1, start=rod)
    # g = 9.81, I = 1/3: the energy of the seam, to the tolerance of both runs
    assert second["total"][0] == pytest.approx(rod["total"][-1], abs=1e-12)
    assert second["total"][-1] == pytest.approx(rod["total"][0], abs=1e-6)
    servo = pliant.load_result(OLD / "servo.nc")
    assert servo.model.controllers[0].delay == 0.013
    second = pliant.simulate(servo.model, 0.05, start=servo)
    assert second.status == "done"
    # the seam is a sample of the servo, whose command of 0.013 s before is still on its way
    np.testing.assert_array_equal(second.q[0], servo.q[-1])


def test_an_old_study_is_what_it_was(tmp_path):
    runs = pliant.load_study(OLD / "study")
    assert runs.is_complete
    assert runs.damaged == ()
    assert runs.column("hinge.start").tolist() == [0.0, 0.5, 1.0]
    # a start 0.5 rad further is another motion: pendula swing
    assert len(set(runs.column("hinge").tolist())) == 3
    assert runs.result(1).t[-1] == 0.1


def test_a_format_that_is_not_known_is_refused_with_the_version_that_wrote_it(tmp_path):
    for version, writer in ((VERSION + 1, "7.3.1"), (0, "0.0.1")):
        folder = tmp_path / writer
        shutil.copytree(OLD / "study", folder)
        found = json.loads((folder / "study.json").read_text())
        found["format_version"], found["study"]["pliant"] = version, writer
        found["digest"] = digest(found["study"])
        (folder / "study.json").write_text(json.dumps(found))
        with pytest.raises(ModelError, match=f"it has format {version}, written by pliant '{writer}'"):
            pliant.load_study(folder)
