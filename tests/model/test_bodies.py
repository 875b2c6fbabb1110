"""Mass, mass centre and inertia of shapes against integration; attitudes against scipy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.model.attitudes import AxisAngle, RollPitchYaw, attitude_matrix
from pliant.model.bodies import Body, Box, Frame, Rod, Sphere, Tube
from pliant.model.rotations import matrix_quaternion, quaternion_matrix, rotation_matrix

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def gauss(lower, upper):
    """Points and weights on an interval; exact for polynomials of degree 15."""
    half = 0.5 * (upper - lower)
    return lower + half * (NODES + 1), half * WEIGHTS


def grid(*rules):
    points = np.stack([mesh.ravel() for mesh in np.meshgrid(*(rule[0] for rule in rules), indexing="ij")])
    weights = np.prod([mesh.ravel() for mesh in np.meshgrid(*(rule[1] for rule in rules), indexing="ij")], axis=0)
    return points, weights


def around(count=16):
    """Equal angles integrate circular harmonics exactly."""
    return np.arange(count) * 2 * np.pi / count, np.full(count, 2 * np.pi / count)


def cylinder(length, inner, outer, axis):
    (r, angle, along), weights = grid(gauss(inner, outer), around(), gauss(0.0, length))
    points = np.array([along, r * np.cos(angle), r * np.sin(angle)])
    return np.roll(points, "xyz".index(axis), axis=0), weights * r


def box(size, at):
    points, weights = grid(*(gauss(-0.5 * edge, 0.5 * edge) for edge in size))
    return points + np.array(at)[:, None], weights


def ball(radius, at):
    (r, height, angle), weights = grid(gauss(0.0, radius), gauss(-1.0, 1.0), around())
    level = r * np.sqrt(1 - height**2)
    points = np.array([level * np.cos(angle), level * np.sin(angle), r * height])
    return points + np.array(at)[:, None], weights * r**2


SHAPES = [
    *((Rod(1.3, 0.2, axis), cylinder(1.3, 0.0, 0.2, axis)) for axis in "xyz"),
    *((Tube(0.7, 0.3, 0.1, axis), cylinder(0.7, 0.1, 0.3, axis)) for axis in "xyz"),
    (Box((1.0, 2.0, 0.3), (0.1, -0.2, 0.5)), box((1.0, 2.0, 0.3), (0.1, -0.2, 0.5))),
    (Sphere(0.4, (0.3, 0.0, -1.0)), ball(0.4, (0.3, 0.0, -1.0))),
]


@pytest.mark.parametrize(("shape", "cloud"), SHAPES, ids=[f"{shape.kind}{i}" for i, (shape, _) in enumerate(SHAPES)])
def test_shape_against_integration(shape, cloud):
    points, weights = cloud
    density = 3.0
    body = Body("b", shape=shape, density=density)
    mass = density * weights.sum()
    centre = points @ weights / weights.sum()
    about_origin = density * (np.eye(3) * ((points**2).sum(axis=0) @ weights) - (points * weights) @ points.T)
    about_centre = about_origin - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    assert body.total_mass == pytest.approx(mass, rel=1e-13)
    np.testing.assert_allclose(body.centre, centre, atol=1e-13)
    np.testing.assert_allclose(body.inertia_about_centre, about_centre, atol=1e-12 * mass)
    np.testing.assert_allclose(body.inertia_about_origin, about_origin, atol=1e-12 * mass)


def test_thin_rod():
    body = Body("b", 2.0, shape=Rod(3.0))
    np.testing.assert_allclose(body.inertia_about_origin, np.diag([0.0, 6.0, 6.0]), atol=1e-14)


def test_what_is_given_wins_over_the_shape():
    body = Body("b", 2.0, com=(0.1, 0, 0), inertia=(1, 2, 2.5), shape=Rod(3.0))
    assert body.total_mass == 2.0
    np.testing.assert_array_equal(body.centre, [0.1, 0, 0])
    np.testing.assert_array_equal(body.inertia_about_centre, np.diag([1, 2, 2.5]))


@pytest.mark.parametrize(
    "form",
    [
        [1, 2, 2.5, 0.1, 0.2, 0.3],
        [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]],
        [1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 2.5],
    ],
    ids=["six", "three by three", "nine"],
)
def test_forms_of_inertia(form):
    expected = [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]]
    np.testing.assert_array_equal(Body("b", 1.0, inertia=form).inertia_about_centre, expected)
    np.testing.assert_array_equal(Body("b", 1.0, inertia=np.array(form)).inertia_about_centre, expected)


TURNS = Rotation.from_quat(np.random.default_rng(1).normal(size=(20, 4)))


@pytest.mark.parametrize("turn", [*TURNS, Rotation.identity(), Rotation.from_rotvec([np.pi, 0, 0])])
def test_attitudes_agree_with_scipy(turn):
    expected = turn.as_matrix()
    rotvec = turn.as_rotvec()
    angle = float(np.linalg.norm(rotvec))
    axis = rotvec * 3.0 if angle else [1.0, 0, 0]
    roll, pitch, yaw = turn.as_euler("xyz")
    forms = [
        tuple(turn.as_quat()),
        tuple(2.5 * turn.as_quat()),
        expected,
        AxisAngle(axis, angle),
        {"axis": axis, "angle": f"{float(np.degrees(angle))!r} deg"},
        RollPitchYaw(roll, pitch, yaw),
        {"roll": roll, "pitch": pitch, "yaw": yaw},
    ]
    for form in forms:
        np.testing.assert_allclose(Frame("b", attitude=form).matrix, expected, atol=2e-15)


@pytest.mark.parametrize("turn", list(TURNS))
def test_matrix_to_quaternion_and_back(turn):
    R = turn.as_matrix()
    quaternion = np.array(matrix_quaternion(R))
    assert quaternion[3] >= 0
    np.testing.assert_allclose(np.abs(quaternion @ turn.as_quat()), 1.0, atol=1e-15)
    np.testing.assert_allclose(quaternion_matrix(quaternion), R, atol=1e-15)


def test_rotation_matrix_turns_right_handed():
    np.testing.assert_allclose(rotation_matrix((0, 0, 1), np.pi / 2) @ [1, 0, 0], [0, 1, 0], atol=2e-16)


def test_a_matrix_with_few_digits_becomes_a_rotation():
    c, s = np.round([np.cos(0.5), np.sin(0.5)], 7)
    R = attitude_matrix(Frame("b", attitude=[[c, -s, 0], [s, c, 0], [0, 0, 1]]).attitude)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=4e-16)
    np.testing.assert_allclose(R, Rotation.from_rotvec([0, 0, 0.5]).as_matrix(), atol=1e-7)
