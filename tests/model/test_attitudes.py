"""Attitudes in every form against scipy: all 24 sequences, at random and where two angles fall together."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant
from pliant import Body, EulerAngles, Frame, Joint, Model, ModelError, Pose, RotationVector
from pliant.model.rotations import SEQUENCES, euler_matrix, matrix_euler

# quaternion to matrix and back, a product of three: a few roundings of numbers below 1
ROUNDING = 1e-14
every_sequence = pytest.mark.parametrize(("sequence", "about"), list(product(SEQUENCES, ("body", "fixed"))))
TURNS = Rotation.from_quat(np.random.default_rng(3).normal(size=(300, 4)))


def scipy_name(sequence, about):
    return sequence.upper() if about == "body" else sequence


def form_of(sequence, about):
    return f"euler:{sequence}" if about == "body" else f"euler:{sequence}:fixed"


def test_there_are_twelve_sequences():
    assert len(SEQUENCES) == len(set(SEQUENCES)) == 12


@every_sequence
def test_angles_of_random_attitudes_are_those_of_scipy(sequence, about):
    """The first and last angle know two digits less where the middle one is near lock: here at least 0.01 from it."""
    wanted = TURNS.as_euler(scipy_name(sequence, about))
    lock = np.array([0.0, np.pi]) if sequence[0] == sequence[2] else np.array([-0.5, 0.5]) * np.pi
    is_clear = np.abs(wanted[:, 1:2] - lock).min(axis=1) > 0.01
    found = pliant.attitude(TURNS.as_matrix(), form_of(sequence, about))
    difference = found - wanted
    difference -= 2 * np.pi * np.round(difference / (2 * np.pi))
    assert is_clear.sum() > 250
    assert np.abs(difference[is_clear]).max() < 100 * ROUNDING
    back = pliant.attitude(found, "matrix", from_=form_of(sequence, about))
    assert np.abs(back - TURNS.as_matrix()).max() < ROUNDING


@every_sequence
@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-13, 1e-11, 1e-8, 1e-5, 1e-3])
def test_angles_at_and_near_gimbal_lock_give_the_same_attitude(sequence, about, off):
    """Within LOCKED the last angle is set to 0, which changes the attitude by no more than that: 2e-12."""
    locks = (0.0, np.pi) if sequence[0] == sequence[2] else (-0.5 * np.pi, 0.5 * np.pi)
    for lock, first, last, side in product(locks, (-2.0, 0.0, 0.7), (0.0, 1.1, 3.0), (-1, 1)):
        R = Rotation.from_euler(scipy_name(sequence, about), [first, lock + side * off, last]).as_matrix()
        angles = matrix_euler(sequence, R, about == "fixed")
        assert np.abs(euler_matrix(sequence, angles, about == "fixed") - R).max() < 2e-12
        # R keeps its middle angle only to the root of rounding in cosines, but to rounding in quaternions
        if off == 0.0:
            assert angles[2] == 0.0 or abs(angles[1] - lock) > 1e-13


@pytest.mark.parametrize("form", ["quaternion", "matrix", "rotation_vector"])
def test_other_forms_are_those_of_scipy(form):
    """Half revolutions included, whose axis has two signs."""
    half = Rotation.from_rotvec(np.pi * np.eye(3))
    turns = Rotation.concatenate([TURNS, Rotation.identity(), half, Rotation.from_rotvec([1e-9, 0, 0])])
    found = pliant.attitude(turns.as_quat() * 1.7, form)
    back = pliant.attitude(found, "matrix", from_=form)
    assert np.abs(back - turns.as_matrix()).max() < ROUNDING
    wanted = {"quaternion": turns.as_quat(canonical=True), "rotation_vector": turns.as_rotvec()}.get(form)
    if wanted is not None:
        is_half = np.abs(turns.magnitude() - np.pi) < 1e-8
        assert np.abs(found - wanted)[~is_half].max() < 10 * ROUNDING


def test_leading_dimensions_stay():
    many = pliant.attitude(TURNS.as_quat().reshape(20, 15, 4), "euler:zxz")
    assert many.shape == (20, 15, 3)
    assert np.array_equal(many[3, 4], pliant.attitude(TURNS.as_quat()[49], "euler:zxz"))


# --- in ---------------------------------------------------------------------------------------------------------


@every_sequence
def test_frames_take_every_sequence(sequence, about):
    wanted = Rotation.from_euler(scipy_name(sequence, about), [30, -40, 110], degrees=True).as_matrix()
    table = {"euler": sequence, "angles": ["30 deg", "-40 deg", np.radians(110)], "about": about}
    assert np.abs(Frame("b", attitude=table).matrix - wanted).max() < ROUNDING
    assert np.abs(pliant.attitude(table, "matrix") - wanted).max() < ROUNDING
    assert (
        np.abs(
            pliant.attitude(["30 deg", "-40 deg", "110 deg"], "matrix", from_=form_of(sequence, about)) - wanted
        ).max()
        < ROUNDING
    )


STARTS = [
    {"euler": "zyx", "angles": ["30 deg", 0.2, 0]},
    EulerAngles("xyz", (0.1, 0.2, 0.3), "fixed"),
    {"rotation_vector": [0.1, -0.4, "20 deg"]},
    RotationVector((0, 0, 1.0)),
    {"axis": [1, 2, 3], "angle": 0.4},
    {"roll": 0.3},
    Rotation.from_rotvec([0.3, 0.2, 0.1]).as_matrix(),
    (0.1, 0.2, 0.3, 0.9),
]


@pytest.mark.parametrize("start", STARTS, ids=str)
def test_joints_start_at_any_attitude(start):
    body = Body("b", 1.0, inertia=(1, 1, 1))
    wanted = Frame("world", attitude=start).matrix
    ball = Model("m", [body], [Joint("j", "spherical", "b", q0=start)])
    assert np.abs(pliant.frame_placement(ball, ball.q0, "b")[0] - wanted).max() < ROUNDING
    free = Model("m", [body], [Joint("j", "floating", "b", q0={"position": [1, 2, 3], "attitude": start})])
    R, p = pliant.frame_placement(free, free.q0, "b")
    assert np.abs(R - wanted).max() < ROUNDING
    assert np.array_equal(p, (1, 2, 3))
    if np.ndim(start) != 1:
        turned = Model("m", [body], [Joint("j", "floating", "b", q0=start)])
        assert np.array_equal(turned.q0[3:], free.q0[3:])
        assert not np.any(turned.q0[:3])


def test_a_pose_from_a_file_and_back(tmp_path):
    text = """
name = "free"
[[bodies]]
name = "b"
mass = 1.0
inertia = [1, 1, 1]
[[joints]]
name = "j"
kind = "floating"
child = "b"
q0 = { position = [0, 0, 1], attitude = { euler = "zyx", angles = ["30 deg", 0, "-5 deg"] } }
"""
    (tmp_path / "free.toml").write_text(text)
    model = pliant.load(tmp_path / "free.toml")
    wanted = Rotation.from_euler("ZYX", [30, 0, -5], degrees=True).as_quat()
    assert np.abs(model.q0 - [0, 0, 1, *wanted]).max() < ROUNDING
    pliant.save_model(model, tmp_path / "again.toml")
    assert pliant.load(tmp_path / "again.toml") == model


# --- out --------------------------------------------------------------------------------------------------------


def spinning(spin):
    """A sphere that rotates at a constant rate, from a rotated start."""
    body = Body("b", 1.0, inertia=(1, 1, 1))
    frames = [Frame("b", attitude={"axis": (1, 1, 0), "angle": 0.5}, name="f")]
    joint = Joint("j", "spherical", "b", v0=spin)
    return pliant.simulate(Model("top", [body], [joint], gravity=(0, 0, 0), frames=frames), 10.0, rtol=1e-12)


def test_attitudes_along_a_run_are_those_of_a_constant_spin():
    """1e-9: what rtol 1e-12 leaves of the quaternion after 10 s."""
    spin, t = np.array([0.0, 0.0, 2.0]), np.linspace(0, 10, 101)
    result = spinning(spin)
    phi = result.attitude("b", "rotation_vector", t, unwrap=True)
    assert np.abs(phi - np.outer(t, spin)).max() < 1e-9
    yaw = result.attitude("b", "euler:zyx", t, unwrap=True)
    assert np.abs(yaw - np.outer(t, [2.0, 0, 0])).max() < 1e-9
    wrapped = result.attitude("b", "euler:zyx", t)
    assert np.abs(wrapped).max() <= np.pi
    q = result.attitude("b", "quaternion", t, unwrap=True)
    assert np.abs(q - np.column_stack([0 * t, 0 * t, np.sin(t), np.cos(t)])).max() < 1e-9
    assert result.attitude("b", "matrix").shape == (len(result.t), 3, 3)


def test_unwrapped_angles_pass_beyond_the_range_of_the_middle_angle():
    """A rotation about y, in a sequence whose middle axis is y: it goes on through 90 degrees, the others stay 0."""
    result = spinning((0.0, 1.0, 0.0))
    t = np.linspace(0.05, 9.95, 100)
    pitch = result.attitude("b", "euler:zyx", t, unwrap=True)
    assert np.abs(pitch - np.outer(t, [0, 1.0, 0])).max() < 1e-8


def test_an_attitude_seen_from_another_frame():
    result = spinning((0.3, 0.4, 0.5))
    seen = result.attitude("f", "matrix", seen_from="b")
    assert np.abs(seen - result.model.frames[0].matrix).max() < ROUNDING


def test_mistakes_are_told():
    model = spinning((0, 0, 1.0))
    with pytest.raises(ModelError, match=r"no frame 'c'; there are b, world, f"):
        model.attitude("c")
    for form in ("eulr", "euler", "euler:xxz", "euler:zyx:space", 3):
        with pytest.raises(ModelError, match=r"as_: .*(sequences are|is no form of attitudes; give quaternion)"):
            model.attitude("b", form)
    with pytest.raises(
        ModelError, match=r"shape \(3,\) found; give \(\.\., 4\) or \(\.\., 3, 3\), or say what it is by from_"
    ):
        pliant.attitude([1, 2, 3])
    with pytest.raises(ModelError, match=r"'quaternion' takes \(\.\., 4\)"):
        pliant.attitude([1, 2, 3], from_="quaternion")
    with pytest.raises(ModelError, match="has no length"):
        pliant.attitude([0, 0, 0, 0])
    with pytest.raises(ModelError, match="no rotation"):
        pliant.attitude(np.ones((3, 3)))
    with pytest.raises(ModelError, match="not finite"):
        pliant.attitude([np.nan, 0, 0, 1])
    with pytest.raises(ModelError, match="no array of numbers"):
        pliant.attitude("north")
    with pytest.raises(ModelError, match='has the unit "grad"'):
        pliant.attitude(["1 grad", 0, 0], from_="euler:xyz")
    with pytest.raises(ModelError, match='attitude: euler: "zzz" is not known'):
        pliant.attitude({"euler": "zzz", "angles": [0, 0, 0]})
    body = Body("b", 1.0, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match="joint 'j': q0 is an attitude, which only spherical and floating joints have"):
        Joint("j", "revolute", "b", q0={"roll": 0.1})
    with pytest.raises(ModelError, match="joint 'j': q0 is a pose, but a spherical joint has no position"):
        Joint("j", "spherical", "b", q0=Pose())
    with pytest.raises(ModelError, match=r"joint 'j': q0.angles: \[0, 0\] has 2 values; give 3"):
        Model("m", [body], [Joint("j", "spherical", "b", q0={"euler": "zyx", "angles": [0, 0]})])
