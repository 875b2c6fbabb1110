"""Beams of rigid segments: mass, length and stiffness of the beam they stand for, and what is refused."""

import numpy as np
import pytest

import pliant
from pliant import SegmentedBeam
from pliant.errors import ModelError

SETS = [("midpoint", "thesis"), ("midpoint", "best"), ("start", "best")]


@pytest.mark.parametrize(("layout", "springs"), SETS)
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_mass_and_length_are_those_of_the_beam(layout, springs, n):
    beam = SegmentedBeam(2.0, n, 3.0, 0.7, layout, springs)
    assert sum(body.mass for body in beam.bodies) == pytest.approx(1.4)
    assert len([joint for joint in beam.joints if joint.kind == "revolute"]) == n
    reach = sum(joint.parent.position[0] for joint in beam.joints) + beam.frames[0].position[0]
    assert reach == pytest.approx(2.0)


@pytest.mark.parametrize("layout", ["midpoint", "start"])
@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_a_small_force_on_the_tip_bends_as_the_beam_does(layout, n):
    """P L^3 / 3 EI, exact for the springs of least error: every hinge turns by its moment over its stiffness."""
    length, EI = 2.0, 3.0
    beam = SegmentedBeam(length, n, EI, 0.7, layout)
    x = (np.arange(n) + (0.5 if layout == "midpoint" else 0.0)) * beam.element
    assert np.sum((length - x) ** 2 / beam.stiffnesses) == pytest.approx(length**3 / (3.0 * EI), rel=1e-12)


def test_three_frequencies_of_ten_segments():
    """Printed: the springs of the thesis in the middle of the elements."""
    model = pliant.segmented_beam(1.0, 10, 1.0, 1.0, "midpoint", "thesis")
    assert pliant.modes(model).frequencies[:3] == pytest.approx([3.511929, 21.946144, 61.934723], rel=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: SegmentedBeam(1.0, 0, 1.0, 1.0), "segments"),
        (lambda: SegmentedBeam(1.0, 4, 1.0, 1.0, "start", "thesis"), 'springs = "thesis" are right only'),
        (lambda: SegmentedBeam(1.0, 4, 1.0, 1.0, "end"), "layout"),
        (lambda: SegmentedBeam(1.0, 4, -1.0, 1.0), "EI"),
        (lambda: pliant.segmented_beam(1.0, 4, 1.0, 1.0, hub=3), "hub: 3 found"),
        (lambda: pliant.segmented_beam(1.0, 4, 1.0, 1.0, frames=3), "frames: 3 found"),
    ],
)
def test_bad_beams_are_refused(call, words):
    with pytest.raises(ModelError, match=words):
        call()


def test_a_file_makes_the_same_beam(tmp_path):
    path = tmp_path / "whip.toml"
    path.write_text(
        'name = "beam"\ngravity = [0, 0, 0]\n[segmented_beam]\nlength = 1.0\nsegments = 4\nEI = 2.0\nrhoA = 0.3\n'
    )
    model, wanted = pliant.load(path), pliant.segmented_beam(1.0, 4, 2.0, 0.3)
    assert model.bodies == wanted.bodies
    assert model.joints == wanted.joints
    path.write_text('name = "beam"\n[segmented_beam]\nlength = 1.0\nsegments = 0\nEI = 2.0\nrhoA = 0.3\n')
    with pytest.raises(ModelError, match=r"whip.toml: segmented_beam.*segments"):
        pliant.load(path)
