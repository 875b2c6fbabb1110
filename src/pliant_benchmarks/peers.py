"""The other engines: the same models built for each, and runs of them at a given setting."""

from __future__ import annotations

import contextlib
import importlib
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from pliant.errors import PliantError, SimulationError
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks.models import BALL, DIRECTIONS, Array, Serial, pliant_model

DURATION = 1.0  # [s] of all runs
PACKAGES = {"pinocchio": "pin", "mujoco": "mujoco", "exudyn": "exudyn", "CyRK": "CyRK"}


class MissingPeerError(PliantError):
    """A peer that is not installed: its line goes on without it."""


def peer(name: str) -> ModuleType:
    """The module, or a MissingPeerError that says how to get it."""
    if name == "exudyn":
        sys.exudynFast = True  # type: ignore[attr-defined]  # its module without range checks, a third faster
    try:
        with contextlib.redirect_stdout(sys.stderr):  # some greet
            return importlib.import_module(name)
    except ImportError:
        raise MissingPeerError(f"not installed: pip install {PACKAGES.get(name, name)}") from None


# --- models -----------------------------------------------------------------------------------------------------


def pinocchio_model(serial: Serial) -> Any:
    pin = peer("pinocchio")
    model = pin.Model()
    model.gravity.linear = np.array(serial.gravity)
    hinges = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ, BALL: pin.JointModelSpherical}
    inertia = pin.Inertia(serial.mass, np.array(serial.com), np.diag(serial.inertia))
    parent = 0
    for i, axis in enumerate(serial.joints):
        joint_frame = pin.SE3(np.eye(3), np.array(serial.joint_frame(i)))
        parent = model.addJoint(parent, hinges[axis](), joint_frame, f"joint{i}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def mujoco_text(serial: Serial) -> str:
    """MJCF of a chain of hinges, with everything off that it does not need."""
    opening = "".join(
        f'<body pos="{_words(serial.joint_frame(i))}"><joint type="hinge" axis="{_words(DIRECTIONS[axis])}"/>'
        f'<inertial pos="{_words(serial.com)}" mass="{serial.mass!r}" diaginertia="{_words(serial.inertia)}"/>'
        for i, axis in enumerate(serial.joints)
    )
    idle = ("constraint", "contact", "actuation", "sensor", "spring", "damper")
    flags = " ".join(f'{name}="disable"' for name in idle)
    return (
        f'<mujoco><option integrator="RK4" gravity="{_words(serial.gravity)}"><flag {flags}/></option>'
        f"<worldbody>{opening}{'</body>' * serial.count}</worldbody></mujoco>"
    )


def _words(numbers: tuple[float, ...]) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def mujoco_model(serial: Serial) -> Any:
    return peer("mujoco").MjModel.from_xml_string(mujoco_text(serial))


def exudyn_system(serial: Serial) -> tuple[Any, Any]:
    """Minimal coordinates: one kinematic tree. The container must be kept as long as its system."""
    exu, items = peer("exudyn"), importlib.import_module("exudyn.itemInterface")
    n = serial.count
    types = {"x": exu.JointType.RevoluteX, "y": exu.JointType.RevoluteY, "z": exu.JointType.RevoluteZ}
    container = exu.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * n,
            initialCoordinates=list(serial.q0),
            initialCoordinates_t=[0.0] * n,
            numberOfODE2Coordinates=n,
        )
    )
    system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[types[axis] for axis in serial.joints],
            linkParents=list(range(-1, n - 1)),
            jointTransformations=_exudyn_list(exu.Matrix3DList(), [np.eye(3)] * n),
            jointOffsets=_exudyn_list(exu.Vector3DList(), [serial.joint_frame(i) for i in range(n)]),
            linkInertiasCOM=_exudyn_list(exu.Matrix3DList(), [np.diag(serial.inertia)] * n),
            linkCOMs=_exudyn_list(exu.Vector3DList(), [serial.com] * n),
            linkMasses=[serial.mass] * n,
            gravity=list(serial.gravity),
        )
    )
    system.Assemble()
    return container, system


def _exudyn_list(found: Any, entries: list[Any]) -> Any:
    for entry in entries:
        found.Append(np.array(entry))
    return found


def numpy_chain(serial: Serial) -> Callable[[float, Array], Array]:
    """Right-hand side of planar rods in absolute angles: M_ij = c_ij cos(a_i - a_j), solved by numpy.linalg."""
    n, m, length, s = serial.count, serial.mass, serial.way[0], serial.com[0]
    beyond = n - 1 - np.arange(n)  # links after each
    c = m * length * (s + length * np.minimum.outer(beyond, beyond))
    c[np.diag_indices(n)] = serial.inertia[2] + m * (s**2 + length**2 * beyond)
    weight = -serial.gravity[1] * m * (s + length * beyond)
    solve, cos, sin = np.linalg.solve, np.cos, np.sin

    def rates(t: float, y: Array) -> Array:
        a, w = y[:n], y[n:]
        difference = a[:, None] - a
        out = np.empty(2 * n)
        out[:n] = w
        out[n:] = solve(c * cos(difference), -(c * sin(difference)) @ (w * w) - weight * cos(a))
        return out

    return rates


# --- runs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """An integrator of an engine with its tolerances, or with its number of equal steps."""

    scheme: str
    rtol: float = 0.0
    atol: float = 0.0
    steps: int = 0

    def __str__(self) -> str:
        how = f"{self.steps} steps" if self.steps else f"rtol {self.rtol:.1e}, atol {self.atol:.1e}"
        return f"{self.scheme}, {how}"


Sweep = tuple[Setting, ...]


def adaptive(*schemes: str) -> tuple[Sweep, ...]:
    """Quarter decades of rtol, with atol equal and with atol a hundredth."""
    tolerances = [10.0 ** (-k / 4) for k in range(12, 49)]
    pairs = [(name, share) for name in schemes for share in (1.0, 0.01)]
    return tuple(tuple(Setting(name, rtol, share * rtol) for rtol in tolerances) for name, share in pairs)


def fixed(*schemes: str, first: int = 8) -> tuple[Sweep, ...]:
    """Step counts growing by 2^(1/4), up to 5000."""
    counts = [round(first * 2 ** (k / 4)) for k in range(60) if first * 2 ** (k / 4) < 5000]
    return tuple(tuple(Setting(name, steps=steps) for steps in counts) for name in schemes)


Run = Callable[[], Array]  # what is compared: of chains joint angles at the end


@dataclass(frozen=True)
class Engine:
    """Something that can run a problem (most often a chain) from its start; building it is not timed, a run is."""

    name: str
    modules: tuple[str, ...]  # peers it needs
    sweeps: tuple[Sweep, ...]
    prepare: Callable[[Any], Callable[[Setting], Run]]
    # of a setting what is compared, where the timed run does not say it
    answer: Callable[[Any, Setting], Array] | None = None


def _pliant(serial: Serial) -> Callable[[Setting], Run]:
    model = pliant_model(serial)

    def ready(setting: Setting) -> Run:
        how: dict[str, Any] = (
            {"step": DURATION / setting.steps} if setting.steps else {"rtol": setting.rtol, "atol": setting.atol}
        )
        end = prepare_run(model, DURATION, integrator=setting.scheme, **how).end
        return lambda: end()[0]

    return ready


def _exudyn(serial: Serial) -> Callable[[Setting], Run]:
    exu, (container, system) = peer("exudyn"), exudyn_system(serial)

    def ready(setting: Setting) -> Run:
        settings, kind = exudyn_settings(exu, setting), getattr(exu.DynamicSolverType, setting.scheme)

        def run(owner: Any = container) -> Array:
            system.SolveDynamic(settings, solverType=kind, updateInitialValues=False, storeSolver=False)
            return np.asarray(system.systemData.GetODE2Coordinates())

        return run

    return ready


def exudyn_settings(exu: Any, setting: Setting) -> Any:
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.parallel.numberOfThreads = 1
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    integration = settings.timeIntegration
    integration.verboseMode = 0
    integration.endTime = DURATION
    integration.explicit.computeEndOfStepAccelerations = False  # one evaluation less per step
    integration.automaticStepSize = not setting.steps
    integration.numberOfSteps = setting.steps or 1
    if not setting.steps:
        integration.relativeTolerance, integration.absoluteTolerance = setting.rtol, setting.atol
        integration.initialStepSize = 1e-2
    return settings


def _mujoco(serial: Serial) -> Callable[[Setting], Run]:
    mujoco, model = peer("mujoco"), mujoco_model(serial)
    data, start = mujoco.MjData(model), np.array(serial.q0)

    def ready(setting: Setting) -> Run:
        def run() -> Array:
            model.opt.timestep = DURATION / setting.steps
            data.time = 0.0
            data.qpos[:], data.qvel[:] = start, 0.0
            mujoco.mj_step(model, data, setting.steps)
            return np.array(data.qpos)

        return run

    return ready


def _solve_ivp(rates: Callable[[float, Array], Array], y0: Array, setting: Setting) -> Callable[[], Array]:
    solve = importlib.import_module("scipy.integrate").solve_ivp

    def run() -> Array:
        found = solve(rates, (0.0, DURATION), y0, method=setting.scheme, rtol=setting.rtol, atol=setting.atol)
        return np.asarray(found.y[:, -1])

    return run


def _pinocchio(serial: Serial) -> Callable[[Setting], Run]:
    pin, model = peer("pinocchio"), pinocchio_model(serial)
    data, n, aba = model.createData(), serial.count, pin.aba
    no_torque, y0 = np.zeros(n), np.concatenate([serial.q0, np.zeros(n)])

    def rates(t: float, y: Array) -> Array:
        out = np.empty(2 * n)
        out[:n] = y[n:]
        out[n:] = aba(model, data, y[:n], y[n:], no_torque)
        return out

    def ready(setting: Setting) -> Run:
        run = _solve_ivp(rates, y0, setting)
        return lambda: run()[:n]

    return ready


def _numpy(serial: Serial) -> Callable[[Setting], Run]:
    n, rates = serial.count, numpy_chain(serial)
    y0 = np.concatenate([np.cumsum(serial.q0), np.zeros(n)])

    def ready(setting: Setting) -> Run:
        run = _solve_ivp(rates, y0, setting)
        return lambda: np.diff(run()[:n], prepend=0.0)

    return ready


PLIANT = Engine(
    "pliant", (), (*adaptive("dop853", "bs5", "dopri5", "rkf45"), *fixed("dop853", "dopri5", "rk4")), _pliant
)
# Exudyn's generalised-alpha is of second order: 40 times slower here than its RK67, and left out
EXUDYN = Engine("Exudyn", ("exudyn",), (*adaptive("DOPRI5"), *fixed("RK44", "RK67")), _exudyn)
MUJOCO = Engine("MuJoCo RK4", ("mujoco",), fixed("RK4", first=40), _mujoco)
PINOCCHIO = Engine("pinocchio + SciPy DOP853", ("pinocchio", "scipy"), adaptive("DOP853"), _pinocchio)
NUMPY = Engine("SciPy RK45 + numpy", ("scipy",), adaptive("RK45"), _numpy)


@dataclass(frozen=True)
class Chosen:
    """The best an engine can do within an error: its setting, its error, and the run to be timed."""

    setting: Setting
    error: float
    run: Run


def largest(differences: Array) -> float:
    return float(np.max(differences))


def within(
    engine: Engine,
    problem: Any,
    reference: Array,
    limit: float,
    cost: Callable[[Run], float],
    norm: Callable[[Array], float] = largest,
) -> Chosen | None:
    """Of every integrator the first setting whose error, the norm of its differences, meets the limit; of these the one
    of least cost."""
    for name in engine.modules:
        peer(name)
    ready = engine.prepare(problem)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # coarse settings overflow
        for sweep in engine.sweeps:
            for setting in sweep:
                error = error_of(engine, problem, ready, setting, reference, norm)
                if error <= limit:
                    run = ready(setting)
                    found.append((cost(run), Chosen(setting, error, run)))
                    break
    return min(found, key=lambda pair: pair[0])[1] if found else None


def error_of(
    engine: Engine,
    problem: Any,
    ready: Callable[[Setting], Run],
    setting: Setting,
    reference: Array,
    norm: Callable[[Array], float] = largest,
) -> float:
    """Norm of the differences from the reference; inf where the run failed or found another number of contacts."""
    try:
        found = ready(setting)() if engine.answer is None else engine.answer(problem, setting)
    except (SimulationError, RuntimeError, ValueError):  # engines give up where a step is hopelessly long
        return np.inf
    error = norm(np.abs(found - reference)) if found.shape == reference.shape else np.inf
    return error if np.isfinite(error) else np.inf
