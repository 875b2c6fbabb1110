"""Wrong calls: every callable of the public API, found by looking, with hostile arguments in every place.

The outcome is a ModelError or a SimulationError with a sentence, or an answer without nonsense: never another
exception, never a crash. A name that is added to pliant.__all__, or a method or parameter of what it makes, is covered
without a line here; `VALID` only says how a call looks that works, so that one argument at a time can be wrong."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import ModelError, PliantError
from pliant.methods import FRICTION_LAWS, NORMAL_LAWS, Method
from pliant.model.control_laws import SampledLaw
from pliant.model.laws import Law
from pliant.results.checkpoint import Checkpoint


class Rude:
    """An object at which nobody may look."""

    def _fail(self, *_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("rude")

    __repr__ = __str__ = __array__ = __float__ = __len__ = __iter__ = __getitem__ = __bool__ = __eq__ = _fail
    __call__ = __fspath__ = __int__ = __index__ = _fail
    __hash__ = object.__hash__


LOOP: list[Any] = []
LOOP.append(LOOP)
HOSTILE: dict[str, Any] = {
    "None": None,
    "text": "x",
    "empty text": "",
    "300 characters": "a" * 300,
    "zero byte": "a\0b",
    "bytes": b"x",
    "true": True,
    "zero": 0,
    "minus one": -1,
    "1.5": 1.5,
    "large": 10**400,
    "5000 digits": 10**5000,
    "nan": float("nan"),
    "inf": float("inf"),
    "complex": 1j,
    "fraction": Fraction(1, 3),
    "empty list": [],
    "nested": [[[]]],
    "ragged": [[1.0], [1.0, 2.0]],
    "itself": LOOP,
    "texts": ["1.0", "2.0"],
    "numbers": [1.0, 2.0],
    "Nones": [None, None],
    "dict": {"a": 1},
    "set": {1.0, 2.0},
    "object": object(),
    "class": int,
    "function": lambda *_, **__: 1 / 0,
    "rude": Rude(),
    "0-d": np.array(1.0),
    "ints": np.array([1, 2]),
    "float32": np.zeros(2, np.float32),
    "short": np.zeros(1),
    "long": np.zeros(100),
    "rows": np.zeros((3, 2)),
    "no rows": np.zeros((0, 2)),
    "30 dimensions": np.zeros((1,) * 30),
    "strided": np.zeros((4, 4))[::2, ::2],
    "backwards": np.arange(2.0)[::-1],
    "unaligned": np.frombuffer(bytes(17), np.float64, 2, 1),
    "big-endian": np.zeros(2, ">f8"),
    "masked": np.ma.array([1.0, 2.0], mask=[False, True]),
    "matrix": np.ones((2, 2)).view(np.matrix),
    "objects": np.array([object(), None]),
    "times": np.zeros(2, "m8[s]"),
    "records": np.zeros(2, "f8,f8"),
    "complexes": np.zeros(2, complex),
    "nans": np.full(2, np.nan),
    "huge": np.full(2, 1e300),
}
# handles do not look at the numbers in arrays that fit
NOT_LOOKED_AT = {"nans", "huge"}

# --- how calls look that work -----------------------------------------------------------------------------------------


def arm() -> pliant.Model:
    """Two hinges; as many numbers as most of the hostile arrays have."""
    bodies = [pliant.Body(name, shape=pliant.Rod(1.0, 0.05), mass=1.0) for name in ("upper", "lower")]
    joints = [
        pliant.Joint("shoulder", "revolute", "upper", q0=0.3),
        pliant.Joint("elbow", "revolute", "lower", parent=pliant.Frame("upper", (1.0, 0, 0)), damping=0.1),
    ]
    return pliant.Model("arm", bodies, joints, gravity=(0, -9.81, 0), duration=0.02)


def whip() -> pliant.Model:
    """A beam under a controller that falls on a floor, with an output of every room."""
    blade = pliant.Beam(
        "blade", 1.0, pliant.Material(7e10, 2700.0), pliant.Rectangle(0.004, 0.03), bending_y=pliant.Bending(1)
    )
    floor = pliant.Contact(
        "floor", pliant.NormalLaw("hertz", 1e5), pliant.Plane(normal=(0, 1, 0), offset=-0.001), points=("tip",)
    )
    return pliant.Model(
        "whip",
        [blade],
        [pliant.Joint("hinge", "revolute", "blade")],
        gravity=(0, -9.81, 0),
        frames=[pliant.Frame("blade", (1.0, 0, 0), name="tip")],
        contacts=[floor],
        outputs=[
            pliant.Output("tip_motion", "tip", "position"),
            pliant.Output("push", "floor", "contact"),
            pliant.Output("root", "tip", "stress"),
        ],
        controllers=[pliant.Controller("servo", 0.01, ("hinge",), lambda t, measured: [0.0])],
        duration=0.03,
    )


def on_rails() -> pliant.Model:
    """Two masses that nothing moves."""
    bodies = [pliant.Body(name, 1.0, inertia=(1, 1, 1)) for name in ("one", "two")]
    joints = [pliant.Joint("first", "prismatic", "one"), pliant.Joint("second", "prismatic", "two")]
    return pliant.Model("rails", bodies, joints, gravity=(0, 0, 0))


def one_link() -> pliant.Model:
    """A beam that turns freely."""
    blade = pliant.Beam("blade", 1.0, MATERIAL, SECTION, bending_y=pliant.Bending(1))
    tip = pliant.Frame("blade", (1.0, 0, 0), name="tip")
    hub = pliant.Joint("hub", "revolute", "blade", armature=0.1)
    outputs = [pliant.Output("tip", "tip", "position")]
    return pliant.Model("link", [blade], [hub], gravity=(0, 0, 0), frames=[tip], outputs=outputs)


def space_robot() -> pliant.Model:
    hull = pliant.Body("hull", 10.0, inertia=(1.0, 1.0, 1.0))
    arm = [pliant.Body(name, shape=pliant.Rod(1.0, 0.05), mass=1.0) for name in ("upper", "lower")]
    joints = [
        pliant.Joint("shoulder", "revolute", "upper", parent="hull"),
        pliant.Joint("elbow", "revolute", "lower", parent=pliant.Frame("upper", (1.0, 0, 0)), q0=0.5),
    ]
    return pliant.Model("robot", [hull, *arm], joints, base="floating", gravity=(0, 0, 0))


def held_beam() -> pliant.Model:
    """A flexible link on a spring."""
    boom = pliant.Beam("boom", 1.0, MATERIAL, SECTION, bending_y=1)
    return pliant.Model("held", [boom], [pliant.Joint("hinge", "revolute", "boom", stiffness=5.0)], gravity=(0, 0, 0))


class Ready:
    """What the calls take and are made on; once for all."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.arm, self.whip, self.four_bar = folder, arm(), whip(), pliant.load("four-bar")
        self.result, self.runs = pliant.simulate(self.whip), pliant.simulate_many(self.arm, q0=np.zeros((2, 2)))
        self.prepared, self.run = pliant.prepare(self.arm), pliant.prepare_run(self.arm)
        self.stepper = pliant.stepper(self.arm)
        self.result.save(folder / "whip.nc")
        self.state = self.result.state_at(self.result.t)
        pliant.save_model(self.arm, folder / "arm.toml")
        self.linear, self.modes = pliant.linearise(self.arm), pliant.modes(self.arm, np.zeros(2))
        self.held = held_beam()
        self.transfer = pliant.transfer(self.held, count=2)
        self.response = self.transfer.response([1.0, 2.0])
        self.on_loops = pliant.assemble(self.four_bar)
        self.study = pliant.Study(self.arm, {"duration": [0.001, 0.002]}, "elbow")
        self.study_runs = self.study.run(folder / "study")

    @property
    def path(self) -> Path:
        return self.folder / "made"


MATERIAL, SECTION, ROD = pliant.Material(7e10, 2700.0), pliant.Rectangle(0.004, 0.03), pliant.Rod(1.0)
# by the name of the parameter, for all calls
USUAL: dict[str, Callable[[Ready], Any]] = {
    "model": lambda ready: ready.arm,
    "models": lambda ready: ready.arm,
    "q": lambda ready: np.array([0.1, 0.2]),
    "v": lambda ready: np.array([0.3, 0.4]),
    "vdot": lambda ready: np.array([0.3, 0.4]),
    "tau": lambda ready: np.array([0.3, 0.4]),
    "t": lambda ready: 0.01,
    "frame": lambda ready: "lower",
    "name": lambda ready: "some",
    "material": lambda ready: MATERIAL,
    "section": lambda ready: SECTION,
    "length": lambda ready: 1.0,
    "radius": lambda ready: 0.1,
    "width": lambda ready: 0.1,
    "height": lambda ready: 0.1,
    "outer_radius": lambda ready: 0.1,
    "mass": lambda ready: 1.0,
    "beam": lambda ready: "blade",
}
# of one call: its other arguments, and where the usual ones do not do
SPECIAL: dict[str, Callable[[Ready], dict[str, Any]]] = {
    "load": lambda ready: {"case_or_file": ready.folder / "arm.toml"},
    "load_grid": lambda ready: {"case_or_file": "two-link-arm"},
    "load_study": lambda ready: {"folder": ready.folder / "study"},
    "Study": lambda ready: {"parameters": {"duration": [0.001, 0.002]}},
    "Study.check": lambda ready: {"out": None, "resume": False, "on": "threads", "workers": 1, "scheduler": None},
    "Study.row": lambda ready: {"i": 0},
    "Study.result": lambda ready: {"i": 0},
    "Study.command": lambda ready: {"i": 0},
    "StudyRuns.column": lambda ready: {"name": "elbow"},
    "StudyRuns.values": lambda ready: {"row": 0},
    "StudyRuns.result": lambda ready: {"row": 0},
    "StudyRuns.command": lambda ready: {"row": 0},
    "StudyRuns.sensitivity": lambda ready: {"figure": "elbow"},
    "load_result": lambda ready: {"path": ready.folder / "whip.nc"},
    "load_model": lambda ready: {"path": ready.folder / "arm.toml"},
    "save_model": lambda ready: {"described": ready.arm, "path": ready.folder / "saved.toml"},
    "free_velocity": lambda ready: free(ready) | {"rates": [0.1, 0.2]},
    "rate_names": lambda ready: {"model": space_robot()},
    "generalised_jacobian": lambda ready: free(ready),
    "reaction_null_basis": lambda ready: free(ready),
    "reaction_null_projector": lambda ready: free(ready),
    "reaction_null_velocity": lambda ready: free(ready) | {"wish": [0.1, 0.2]},
    "assemble": lambda ready: {"model": ready.four_bar, "q": ready.on_loops[0], "v": ready.on_loops[1]},
    "mobility": lambda ready: {"model": ready.four_bar, "q": ready.on_loops[0]},
    "closed_motion": lambda ready: {
        "model": ready.four_bar,
        "given": {ready.four_bar.links[0].joint.name: (float(ready.on_loops[0][0]), 0.1, 0.0)},
        "q": ready.on_loops[0],
        "t": None,
    },
    "motor_forces": lambda ready: {
        "model": ready.four_bar,
        "q": ready.on_loops[0],
        "v": 0.0 * ready.on_loops[1],
        "vdot": 0.0 * ready.on_loops[1],
        "motors": [ready.four_bar.links[0].joint.name],
    },
    "equilibrium": lambda ready: {"q": [-1.5, 0.0]},
    "make_flexible": lambda ready: {
        "model": ready.arm,
        "link": "upper",
        "section": pliant.Circle(0.005),
        "material": MATERIAL,
    },
    "attitude": lambda ready: {"value": [0, 0, 0, 1]},
    "Model": lambda ready: {"bodies": [pliant.Body("some", 1.0, inertia=(1, 1, 1))]},
    "Body": lambda ready: {"inertia": (1.0, 1.0, 1.0)},
    "Box": lambda ready: {"size": (1.0, 1.0, 1.0)},
    "AxisAngle": lambda ready: {"axis": (0, 0, 1), "angle": 0.1},
    "EulerAngles": lambda ready: {"euler": "zyx", "angles": (0.1, 0, 0)},
    "RotationVector": lambda ready: {"rotation_vector": (0.1, 0, 0)},
    "Crossing": lambda ready: {"of": "elbow"},
    "Output": lambda ready: {"of": "lower", "quantity": "position"},
    "Controller": lambda ready: {"period": 0.1, "joints": ("elbow",), "function": print},
    "PD": lambda ready: {"stiffness": 1.0},
    "PID": lambda ready: {"stiffness": 1.0, "damping": 1.0, "integral": 1.0},
    "ComputedTorque": lambda ready: {"stiffness": 1.0, "damping": 1.0},
    "LinearController": lambda ready: {"A": [[0.5]], "B": [[1.0, 1.0]], "C": [[1.0]], "D": [[1.0, 1.0]]},
    "StateFeedback": lambda ready: {"gain": [[1.0, 1.0]]},
    "delayed": lambda ready: {"signal": 1.0, "delay": 0.1},
    "input_shaper": lambda ready: {"kind": "zv", "frequency": 5.0},
    "InputShaper.shaped": lambda ready: {"signal": 1.0},
    "InputShaper.residual": lambda ready: {"frequency": 5.0},
    "drive_torques": lambda ready: {"motion": {"elbow": 0.1}, "duration": 0.01},
    "lqr": lambda ready: {"model": on_rails(), "joints": ["first", "second"], "period": 0.01, "q": [0.0, 0.0]},
    "stable_inversion": lambda ready: {
        "model": one_link(),
        "joint": "hub",
        "output": "tip.y",
        "motion": pliant.Cycloid(0.0, 0.1, 0.01),
        "duration": 0.1,
    },
    "Surface": lambda ready: {"points": [(0, 0, 0), (1, 0, 0), (0, 1, 0)], "faces": [(0, 1, 2)]},
    "Frame": lambda ready: {"body": "lower"},
    "PointMass": lambda ready: {"x": 0.5},
    "Material": lambda ready: {"young": 7e10, "density": 2700.0},
    "RoundTube": lambda ready: {"inner_radius": 0.05},
    "BoxTube": lambda ready: {"wall": 0.01},
    "GivenSection": lambda ready: {"area": 1e-4, "second_moment_y": 1e-9, "second_moment_z": 1e-9},
    "TaperedSection": lambda ready: {"sections": (SECTION, SECTION)},
    "FlexibleLink": lambda ready: {"link": "upper"},
    "Joint": lambda ready: {"kind": "revolute", "child": "lower"},
    "Transmission": lambda ready: {"stiffness": 100.0},
    "Spring": lambda ready: {"name": "rope", "first": "world", "second": "lower", "stiffness": 100.0},
    "ForceTable": lambda ready: {"elongation": (0.0, 0.1), "force": (0.0, 5.0)},
    "fit": lambda ready: {"measured": elbow_motion(), "parameters": {"joints.elbow.damping": (0.05, 0.2)}},
    "optimise": lambda ready: {"parameters": {"joints.elbow.damping": (0.05, 0.2)}, "figure": "elbow", "max_runs": 5},
    "sensitivity": lambda ready: {"columns": "elbow", "times": [0.01], "parameters": {"joints.elbow.damping": 0.1}},
    "Parameter": lambda ready: {"low": 0.0, "high": 1.0},
    "compare": lambda ready: {"model": ready.arm, "formulations": ["articulated"], "integrators": ["rk4"]},
    "Comparison.family": lambda ready: {"name": "closure"},  # rows of others have nan where a model has no forces
    "Prepared.failed_name": lambda ready: {"status": 0},
    "DHRow": lambda ready: {"a": 0.4},
    "DenavitHartenberg": lambda ready: {"rows": (pliant.DHRow("first", a=0.4),), "convention": "classic"},
    "SegmentedBeam": lambda ready: {"segments": 3, "EI": 1.0, "rhoA": 1.0},
    "segmented_beam": lambda ready: {"segments": 3, "EI": 1.0, "rhoA": 1.0},
    "TorqueTable": lambda ready: {"twist": (0.0, 0.1), "torque": (0.0, 5.0)},
    "Contact": lambda ready: {"normal": pliant.NormalLaw("hertz", 1e5), "points": ("lower",)},
    "NormalLaw": lambda ready: {"law": "hertz", "stiffness": 1e5},
    "Hertz": lambda ready: {"young": 7e10},
    "Friction": lambda ready: {"law": "coulomb", "mu_k": 0.3},
    **{law.__name__: lambda ready, law=law: law_numbers(law) for law in (*NORMAL_LAWS, *FRICTION_LAWS)},
    "Loop": lambda ready: {"kind": "revolute", "first": "lower", "second": "world"},
    "Constant": lambda ready: {"value": 1.0},
    "Linear": lambda ready: {"rate": 1.0},
    "sampled": lambda ready: {"function": math.sin, "start": 0.0, "end": 1.0},
    "Step": lambda ready: {"time": 1.0},
    "Ramp": lambda ready: {"start": 0.0, "end": 1.0},
    "Cycloid": lambda ready: {"start": 0.0, "end": 1.0},
    "SampledShapes": lambda ready: {"at": (0.0, 0.3, 0.6, 1.0), "values": ((0.0, 0.1, 0.4, 1.0),)},
    "SpeedChange": lambda ready: {"start": 0.0, "end": 1.0},
    "Chirp": lambda ready: {"end": 1.0, "omega1": 1.0},
    "Table": lambda ready: {"times": (0.0, 1.0), "values": (0.0, 1.0)},
    "Sum": lambda ready: {"terms": (1.0, 2.0)},
    "Product": lambda ready: {"factors": (1.0, 2.0)},
    "Result.along": lambda ready: {"quantity": "strain"},
    "Result.attitude": lambda ready: {"of": "blade"},
    "Result.column": lambda ready: {"name": "hinge"},
    "StateSpace.frequency_response": lambda ready: {"omega": 1.0},
    "StateSpace.sampled": lambda ready: {"period": 0.01},
    "Modes.motion": lambda ready: {"k": 0, "phase": [0.0, 1.0]},
    "Modes.film": lambda ready: {"k": 0},
    "Modes.mostly": lambda ready: {"k": 0},
    "Modes.report": lambda ready: {"path": ready.path},
    "transfer": lambda ready: {"model": ready.held, "q": np.zeros(2)},
    "Transfer.joint_shape": lambda ready: {"k": 0},
    "Transfer.beam_shape": lambda ready: {"beam": "boom", "k": 0},
    "Transfer.frame_shape": lambda ready: {"frame": "boom", "k": 0},
    "Transfer.mostly": lambda ready: {"k": 0},
    "Transfer.count_below": lambda ready: {"omega": 1.0},
    "Transfer.response": lambda ready: {"omega": 1.0},
    "Transfer.bode": lambda ready: {"omega": [1.0, 2.0]},
    "Transfer.report": lambda ready: {"path": ready.path, "response": ready.response},
    "FrequencyResponse.between": lambda ready: {"input": "hinge", "output": "hinge"},
    "FrequencyResponse.unit": lambda ready: {"input": "hinge", "output": "hinge"},
    "Result.save": lambda ready: {"path": ready.path},
    "Result.report": lambda ready: {"path": ready.path},
    "Result.to_csv": lambda ready: {"path": ready.path},
    "Result.to_mat": lambda ready: {"path": ready.path},
    "Result.video": lambda ready: {"path": ready.folder / "made.gif", "fps": 2.0, "speed": 0.03, "size": (64, 64)},
    "Result.plot": lambda ready: {"what": "hinge"},
    "Runs.model": lambda ready: {"i": 0},
    "Runs.result": lambda ready: {"i": 0},
    "Prepared.per_thread": lambda ready: {"count": 2},
    "Prepared.failure": lambda ready: {"status": 1},
    "Prepared.frame_row": lambda ready: {"name": "lower"},
    "Prepared.energies": lambda ready: {"q": np.zeros((2, 2)), "v": np.zeros((2, 2))},
    "Prepared.momentum_drift": lambda ready: {"q": np.zeros((2, 2)), "v": np.zeros((2, 2))},
    "Prepared.mass_centres": lambda ready: {"q": np.zeros((2, 2))},
    "Prepared.placements": lambda ready: {"q": np.zeros((2, 2))},
    "Prepared.frame_placements": lambda ready: {"q": np.zeros((2, 2)), "frames": [0]},
    "Prepared.start_phase": lambda ready: {"y": ready.run.memory.y.copy()},
    "Prepared.outputs": lambda ready: recorded(ready),
    "Prepared.check_friction": lambda ready: recorded(ready),
    "Prepared.normal_forces": lambda ready: recorded(ready),
    "Prepared.record": lambda ready: recorded(ready) | {"rows": ready.prepared.packed.outputs},
    "Joint.each": lambda ready: {"field": "damping"},
    "Limit.holds": lambda ready: {"value": 0.5},
    "Friction.value": lambda ready: {"key": "mu_k"},
    "PreparedRun.check_start": lambda ready: {"q0": np.zeros(2), "v0": np.zeros(2)},
    "Stepper.step": lambda ready: {"dt": 0.01},
    "Stepper.restore": lambda ready: {"saved": ready.stepper.save()},
    "PreparedRun.sweep": lambda ready: {
        "q0": np.zeros((2, 2)),
        "v0": np.zeros((2, 2)),
        "stop": np.zeros(1, np.int64),
    },
}
# **settings: what may stand there, and the function that has it in its signature
OPEN: dict[str, Any] = {
    "load": (),
    "simulate": ("rho_inf", "alpha", "beta", "gamma", "closure_stiffness", "closure_form", "baumgarte"),
    "load_grid": ("duration",),
    "simulate_many": pliant.simulate,
    "prepare_run": pliant.simulate,
    "stepper": pliant.simulate,
    "Stepper": pliant.simulate,
    "certify": ("rtol",),
    "fit": ("rtol",),
    "optimise": ("rtol",),
    "sensitivity": ("rtol",),
    "drive_torques": pliant.simulate,
    "PreparedRun": pliant.simulate,
    "make_flexible": pliant.FlexibleLink,
    "segmented_beam": pliant.Model,
}
# made by pliant, not by its users: they hold what they are given
HOLDERS = {
    "Result",
    "Runs",
    "StudyRuns",
    "StateSpace",
    "Modes",
    "Transfer",
    "FrequencyResponse",
    "InputShaper",
    "TipTorque",
    "SavedState",
    "Certificate",
    "CertifiedFigure",
    "Comparison",
    "Fit",
    "Estimate",
    "Optimum",
    "Sensitivity",
}


def elbow_motion() -> dict[str, Any]:
    return {"time": [0.005, 0.01, 0.02], "elbow": [-1e-4, -4e-4, -1e-3]}


def law_numbers(law: type[Law]) -> dict[str, Any]:
    taken = {each.name for each in law.parameters()}
    needed = {each.name: 0.5 for each in law.parameters() if each.is_needed}
    return needed | ({"v1": 0.8} if "v1" in taken else {}) | ({"damping": 0.8} if "damping" in taken else {})


def free(ready: Ready) -> dict[str, Any]:
    model = space_robot()
    return {"model": model, "q": model.q0}


def recorded(ready: Ready) -> dict[str, Any]:
    y = ready.run.memory.y[None, :].copy()
    phases = pliant.simulate(ready.arm, 0.001).phases
    return {"t": np.zeros(1), "y": y, "inputs": np.zeros((1, 0)), "phases": phases}


# --- every call, by looking -------------------------------------------------------------------------------------------


def public_calls() -> Iterator[str]:
    """Names in pliant, and methods of its classes that are no plain data."""
    for name in pliant.__all__:
        thing = getattr(pliant, name)
        if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
            continue
        if name not in HOLDERS:
            yield name
        # what methods do with kernels is between them and the engine; laws have what their family has
        is_law = inspect.isclass(thing) and issubclass(thing, Law) and thing.name
        if inspect.isclass(thing) and not issubclass(thing, (Method, SampledLaw)) and not is_law:
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_") and len(inspect.signature(function).parameters) > 1:
                    yield f"{name}.{method}"


def find_call(name: str, ready: Ready) -> Callable[..., Any]:
    owners = {
        "Result": ready.result,
        "Runs": ready.runs,
        "Study": ready.study,
        "StudyRuns": ready.study_runs,
        "StateSpace": ready.linear,
        "Modes": ready.modes,
        "Transfer": ready.transfer,
        "FrequencyResponse": ready.response,
        # new ones: after numbers that they do not look at they need not answer as before
        "Prepared": pliant.Prepared(ready.arm),
        "PreparedRun": pliant.prepare_run(ready.arm),
        "Stepper": ready.stepper,
        "Joint": ready.arm.joints[0],
        "Limit": pliant.Limit(-1.0, 1.0),
        "Friction": pliant.Friction("coulomb", 0.3),
        "InputShaper": pliant.input_shaper("zv", 5.0),
    }
    if name == "Result.report":
        return pliant.simulate(ready.arm).report  # a page with beams takes a second
    if name == "Certificate.report":
        return pliant.certify(ready.arm).report
    if name == "Comparison.family":
        return pliant.compare(ready.arm, formulations="articulated", integrators="rk4").family
    owner, _, method = name.rpartition(".")
    if not owner:
        return getattr(pliant, method)
    assert owner in owners, f"say which {owner} the method {name} is tried on"
    return getattr(owners[owner], method)


def parameters(name: str, call: Callable[..., Any]) -> list[str]:
    found = inspect.signature(call).parameters.values()
    names = [each.name for each in found if each.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(names) < len(found):
        assert name in OPEN, f"say which settings {name} takes"
        more = OPEN[name]
        names += [key for key in (inspect.signature(more).parameters if callable(more) else more) if key not in names]
        names.append("no_such_setting")
    return names


def valid(name: str, call: Callable[..., Any], ready: Ready) -> dict[str, Any]:
    """Arguments with which the call works."""
    found = inspect.signature(call).parameters.values()
    special = SPECIAL[name](ready) if name in SPECIAL else {}
    usual = {each.name: USUAL[each.name](ready) for each in found if each.name in USUAL and each.name not in special}
    missing = [
        each.name
        for each in found
        if each.default is each.empty and each.name not in special | usual and each.kind is not each.VAR_KEYWORD
    ]
    assert not missing, f"say how a call of {name} looks that works: {missing}"
    return usual | special


def is_sane(answer: Any, depth: int = 0) -> bool:
    """Whether an answer holds only finite numbers, as far as it holds numbers."""
    if isinstance(answer, np.ndarray) and answer.dtype.kind == "f":
        return bool(np.all(np.isfinite(answer)))
    if isinstance(answer, (float, complex)):
        return bool(np.isfinite(answer))
    if depth < 3 and isinstance(answer, (tuple, list)):
        return all(is_sane(each, depth + 1) for each in answer)
    if depth < 3 and isinstance(answer, dict):
        return all(is_sane(each, depth + 1) for each in answer.values())
    # a checkpoint says inf where nothing is due, certificates, comparisons and fits where nothing can be told
    if (
        depth < 3
        and dataclasses.is_dataclass(answer)
        and not isinstance(
            answer, pliant.Model | pliant.Runs | pliant.Certificate | pliant.Comparison | pliant.Fit | Checkpoint
        )
    ):
        return all(is_sane(getattr(answer, field.name), depth + 1) for field in dataclasses.fields(answer))
    return True


def outcome(call: Callable[..., Any], given: dict[str, Any], may_be_infinite: bool) -> str:
    """What is wrong with the outcome, or nothing."""
    try:
        answer = call(**given)
    except PliantError as error:
        words = str(error)
        return "" if len(words) > 15 and " " in words and len(words) < 6000 else f"no sentence: {words[:200]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:150]!r}"
    return "" if may_be_infinite or is_sane(answer) else "an answer that is not finite"


def owner_is_handle(name: str) -> bool:
    return name.partition(".")[0] in ("Prepared", "PreparedRun")


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    return Ready(tmp_path_factory.mktemp("calls"))


@pytest.mark.parametrize("name", list(public_calls()))
def test_hostile_arguments_are_answered_or_refused_with_a_sentence(
    name: str, ready: Ready, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ready.folder)  # names of files among the hostile ones
    monkeypatch.setattr("pliant.view.page.report.plotly_script", str)  # 5 MB a page
    call = find_call(name, ready)
    works = valid(name, call, ready)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert outcome(call, works, may_be_infinite=False) == "", works
        wrong = {
            f"{place}={what}": found
            for place in parameters(name, call)
            for what, value in HOSTILE.items()
            if (found := outcome(call, works | {place: value}, what in NOT_LOOKED_AT and owner_is_handle(name)))
        }
    assert not wrong, "\n" + "\n".join(f"{name}({where}): {found}" for where, found in wrong.items())


# --- by place and by name ---------------------------------------------------------------------------------------------

MADE_BY_USERS = [name for name in public_calls() if inspect.isclass(getattr(pliant, name, None))]


@pytest.mark.parametrize("name", MADE_BY_USERS)
def test_arguments_by_place_are_those_by_name_in_the_order_of_the_signature(name: str, ready: Ready) -> None:
    """An argument at the k-th place, and by the k-th name of the signature, is given twice; what it has by name only
    has no place. And a call makes the same, or is refused with the same words, its first arguments by place."""
    cls = getattr(pliant, name)
    found = inspect.signature(cls).parameters.values()
    places = [each.name for each in found if each.kind is each.POSITIONAL_OR_KEYWORD]
    for k, place in enumerate(places, 1):
        with pytest.raises((ModelError, TypeError), match=rf"'{place}' is given twice|multiple values .* '{place}'"):
            cls(*[None] * k, **{place: None})
    if not any(each.kind is each.VAR_POSITIONAL for each in found):
        with pytest.raises((ModelError, TypeError), match=r"values given|positional arguments?"):
            cls(*[None] * (len(places) + 1))
    works = valid(name, cls, ready)
    by_place = [works[place] for place in itertools.takewhile(works.__contains__, places)]
    by_name = {key: value for key, value in works.items() if key not in places[: len(by_place)]}
    made, same = made_or_refused(cls, *by_place, **by_name), made_or_refused(cls, **works)
    assert type(made) is type(same)
    assert made == same or not dataclasses.is_dataclass(cls)


def made_or_refused(cls: type, *args: Any, **fields: Any) -> Any:
    """Return what is made, or the words with which it is refused."""
    try:
        return cls(*args, **fields)
    except ModelError as error:
        return str(error)


def test_families_take_arguments_by_place_in_the_order_of_their_signature() -> None:
    """NormalLaw and Friction, called with the name of a law."""
    for family, laws in ((pliant.NormalLaw, NORMAL_LAWS), (pliant.Friction, FRICTION_LAWS)):
        places = list(inspect.signature(family).parameters)
        for law in laws:
            given = {"law": law.name} | law_numbers(law)
            last = max(places.index(key) for key in given)
            assert family(*(given.get(key) for key in places[: last + 1])) == family(**given)


def test_the_load_of_friction_is_given_by_name_only() -> None:
    assert pliant.LuGre(0.2, 0.35, 0.7, 1e4, 30.0) == pliant.LuGre(
        mu_k=0.2, mu_s=0.35, v_s=0.7, sigma0=1e4, sigma1=30.0
    )
    assert pliant.Coulomb(0.3, 1e-5).stick_speed == 1e-5
    with pytest.raises(ModelError, match=r"4 values given by place; it takes at most 3: .*give load by name"):
        pliant.Coulomb(0.3, 1e-6, "coulomb", 2.0)
