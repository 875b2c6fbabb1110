"""Steps by discrete-time transfer matrices: printed figures, the same integrators with another formulation, long
chains against a direct solution."""

import dataclasses
import warnings

import numpy as np
import pytest
from scipy.linalg import expm, solve_banded

import pliant
from chains import angular_chain, random_chain
from pliant import Controller, Crossing, Load
from pliant.errors import AccuracyWarning, ModelError
from pliant.methods.formulations import TransferMatrix

METHODS = ("fox_euler", "newmark", "wilson", "houbolt", "proposed")
TO_THE_END = TransferMatrix(iterations=30)
TIGHT = {"rtol": 1e-12, "atol": 1e-14}


@pytest.fixture(autouse=True)
def _coarse_steps_are_meant():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        yield


def tip_angle(result):
    return result.q[-1].sum()


# --- chains on one line ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "value"), [("fox_euler", 0.0604611884), ("newmark", 0.0628905458), ("houbolt", 0.0628767926)]
)
def test_two_segments_reach_the_printed_figures(method, value):
    found = pliant.simulate(
        angular_chain(2, 5.0, 20.0, 5.0), 1.0, formulation="transfer_matrix", integrator=method, step=0.1
    )
    assert abs(tip_angle(found) - value) < 1e-10  # as many digits as are printed


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 7])
def test_one_step_solves_a_linear_chain_as_the_general_integrator_does(method, n):
    model = angular_chain(n, 1.3, 20.0, 5.0)
    runs = [
        pliant.simulate(model, 0.5, formulation=name, integrator=method, step=0.02, **TIGHT)
        for name in ("transfer_matrix", "articulated")
    ]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-13  # Newton's method of the other stops at 1e-14 of an angle
    assert np.abs(runs[0].z - runs[1].z).max() < 1e-12 if hasattr(runs[0], "z") else True
    assert abs(runs[0].audit["energy_residual"] - runs[1].audit["energy_residual"]) < 1e-9


@pytest.mark.parametrize(("n", "inertia"), [(2, 5.0), (10, 1.0)])
@pytest.mark.parametrize(("method", "order"), [("newmark", 2), ("proposed", 3)])
def test_it_converges_to_the_matrix_exponential(n, inertia, method, order):
    model = angular_chain(n, inertia, 20.0, 5.0)
    A = np.zeros((2 * n, 2 * n))
    bonds = np.diag(np.r_[np.full(n - 1, 2.0), 1.0]) - np.eye(n, k=1) - np.eye(n, k=-1)
    A[:n, n:], A[n:, :n], A[n:, n:] = np.eye(n), -20.0 * bonds / inertia, -5.0 * bonds / inertia
    rest = np.arange(1, n + 1) / 20.0
    start = np.r_[-rest, np.zeros(n)]
    exact = rest[-1] + (expm(A) @ start)[n - 1]
    errors = [
        abs(tip_angle(pliant.simulate(model, 1.0, formulation="transfer_matrix", integrator=method, step=h)) - exact)
        for h in (0.01, 0.005)
    ]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.2


@pytest.mark.parametrize("damping", [0.0, 5.0])
@pytest.mark.parametrize("n", [1000, pytest.param(10_000, marks=pytest.mark.long)])
def test_long_chains_keep_their_digits(n, damping):
    """The first step of Newmark's method from rest against a banded direct solution: the plain product of transfer
    matrices would have lost everything after some ten segments."""
    h, inertia, k = 0.01, 1.0, 20.0
    model = angular_chain(n, inertia, k, damping)
    found = pliant.simulate(model, h, formulation="transfer_matrix", integrator="newmark", step=h, dense=False)
    # theta'' = A theta - theta''(0), theta' = D theta
    A, D, torque = 4.0 / h**2, 2.0 / h, np.r_[np.zeros(n - 1), 1.0]
    kappa = k + damping * D
    bands = np.vstack([np.full(n, -kappa), kappa * np.r_[np.full(n - 1, 2.0), 1.0] + inertia * A, np.full(n, -kappa)])
    angles = solve_banded((1, 1), bands, 2.0 * torque)
    assert np.abs(np.cumsum(found.q[-1]) - angles).max() <= 1e-13 * np.abs(angles).max()


# --- chains in the plane ---------------------------------------------------------------------------------------------

CHAINS = {
    "springs": {},
    "tilted axis": {"axis": (1.0, 2.0, -0.5)},
    "prescribed base": {"prescribed": (0, 1, 3)},
    "welded": {"welded": (0, 3)},
    "free": {"free": range(6), "armature": False},
}


@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.parametrize("method", METHODS)
def test_iterated_steps_are_those_of_the_general_integrator(kind, method):
    """Springs, dampers, armature, motors, forces and couples that follow or not, prescribed motion, any gravity."""
    model = random_chain(len(kind), **CHAINS[kind])
    runs = [
        pliant.simulate(model, 0.05, formulation=name, integrator=method, step=0.005, **TIGHT)
        for name in (TO_THE_END, "articulated")
    ]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12
    assert np.abs(runs[0].v - runs[1].v).max() < 1e-10
    # work of motors, dampers, loads and drives
    assert abs(runs[0].audit["energy_residual"] - runs[1].audit["energy_residual"]) < 1e-9


def test_one_linearisation_is_as_good_as_many():
    """Its own error is of a higher order than that of the method: halving the step makes it sixteen times smaller."""
    model = random_chain(11)
    errors = []
    for h in (0.004, 0.002, 0.001):
        once, often = (
            pliant.simulate(model, 0.2, formulation=name, integrator="newmark", step=h, **TIGHT)
            for name in ("transfer_matrix", TO_THE_END)
        )
        errors.append(np.abs(once.q[-1] - often.q[-1]).max())
    exact = pliant.simulate(model, 0.2, rtol=1e-12, atol=1e-13)
    assert errors[-1] < 1e-3 * np.abs(often.q[-1] - exact.q[-1]).max()
    assert np.all(np.log2(np.array(errors[:-1]) / errors[1:]) > 3.5)


def test_growing_beams_swing_as_the_limit_says():
    """A slew of a beam of ten segments with the springs of the thesis, T -> 0 by extrapolation."""
    motion = pliant.Cycloid(0.0, 1.0, after=1.5)
    model = pliant.segmented_beam(
        1.0,
        10,
        1.0,
        1.0,
        "midpoint",
        "thesis",
        hub={"motion": motion},
        outputs=[pliant.Output("tip", "beam_tip", "position")],
    )
    tips = [
        pliant.simulate(model, 1.0, formulation="transfer_matrix", integrator="newmark", step=h).outputs["tip"][-1, :2]
        for h in (1e-3, 5e-4)
    ]
    assert np.abs((4.0 * tips[1] - tips[0]) / 3.0 - (-0.260604, 0.958329)).max() < 2e-6


# --- what runs have besides -------------------------------------------------------------------------------------------


def servo(t, measured):
    q, v = measured["hub"]
    return [-30.0 * (q - 0.5) - 3.0 * v]


@pytest.mark.parametrize("law", ["python", "compiled"])
def test_sampled_controllers_are_held_between_samples(law):
    hub = {"inertia": 0.5}
    model = pliant.segmented_beam(1.0, 5, 20.0, 1.0, hub=hub, duration=0.3)
    given = {"function": servo} if law == "python" else {"law": pliant.PD(30.0, 3.0, pliant.Constant(0.5))}
    model = dataclasses.replace(model, controllers=(Controller("servo", 0.01, ("hub",), **given),))
    runs = [
        pliant.simulate(model, formulation=name, integrator="newmark", step=0.002, **TIGHT)
        for name in (TO_THE_END, "articulated")
    ]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-11
    assert np.abs(runs[0].inputs - runs[1].inputs).max() < 1e-8


def test_crossings_are_located():
    model = dataclasses.replace(
        pliant.segmented_beam(1.0, 5, 20.0, 1.0, hub={"inertia": 0.1}, gravity=(0.0, -9.81, 0.0)),
        crossings=(Crossing("down", "hub", -1.0, action="stop"),),
    )
    runs = [
        pliant.simulate(model, 2.0, formulation=name, integrator="newmark", step=0.001, **TIGHT)
        for name in (TO_THE_END, "articulated")
    ]
    assert runs[0].status == runs[1].status == "stopped"
    assert abs(runs[0].t[-1] - runs[1].t[-1]) < 1e-9


def test_other_integrators_take_its_accelerations():
    model = pliant.segmented_beam(1.0, 4, 20.0, 1.0, hub={"inertia": 0.1}, gravity=(0.0, -9.81, 0.0))
    runs = [
        pliant.simulate(model, 0.3, formulation=name, integrator=method, rtol=1e-10)
        for name, method in (("transfer_matrix", "dop853"), ("transfer_matrix", "radau"), ("articulated", "dop853"))
    ]
    for run in runs[1:]:
        assert np.abs(runs[0].q[-1] - run.q[-1]).max() < 1e-7


REFUSED = {
    "joint 'beam_hinge_2' has a compliant limit": {"limit": pliant.Limit(-1.0, 1.0, stiffness=1e3)},
    "joint 'beam_hinge_2' has friction": {"friction": pliant.Friction("tanh", 0.1, sharpness=10.0, load=1.0)},
    "joint 'beam_hinge_2' is flexible": {
        "transmission": pliant.Transmission(10.0),
        "armature": 0.1,
        "stiffness": 0.0,
        "damping": 0.0,
    },
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_its_steps_do_not_take_is_refused_with_what_does(words):
    model = pliant.segmented_beam(1.0, 3, 1.0, 1.0, "start")
    joints = (model.joints[0], dataclasses.replace(model.joints[1], **REFUSED[words]), model.joints[2])
    with pytest.raises(ModelError, match=f"{words}.*dop853 and radau do, and 'articulated' with any integrator"):
        pliant.simulate(
            dataclasses.replace(model, joints=joints),
            0.1,
            formulation="transfer_matrix",
            integrator="newmark",
            step=0.01,
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"integrator": pliant.Newmark(beta=0.0), "step": 0.01}, "beta = 0 leaves the new angles"),
        ({"integrator": "wilson"}, "give a fixed step"),
        ({"integrator": "newmark", "step": 0.0}, "step"),
        (
            {"integrator": "newmark", "step": 0.01, "formulation": {"kind": "transfer_matrix", "iterations": 0}},
            "iterations",
        ),
    ],
)
def test_bad_options_are_refused(options, words):
    model = pliant.segmented_beam(1.0, 3, 1.0, 1.0)
    with pytest.raises(ModelError, match=words):
        pliant.simulate(model, 0.1, **{"formulation": "transfer_matrix", **options})


def test_a_load_on_the_tip_bends_the_beam_as_the_elastica_says():
    """A damped swing comes to rest where the exact solution is, within the error of ten segments."""
    model = pliant.segmented_beam(
        1.0, 10, 1.0, 1.0, "midpoint", "thesis", eta=0.5, loads=[Load("beam_tip", y=1.0)],
        outputs=[pliant.Output("tip", "beam_tip", "position")],
    )  # fmt: skip
    found = pliant.simulate(model, 12.0, formulation="transfer_matrix", integrator="fox_euler", step=0.02)
    assert np.abs(found.outputs["tip"][-1, :2] - (0.943567, 0.301721)).max() < 1e-4
