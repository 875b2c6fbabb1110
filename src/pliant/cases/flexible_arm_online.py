"""A flexible arm on a motor, under a sampled controller that feeds back the hub and the bending of the arm: how well it
settles, and whether the model is fast enough to run beside the arm."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting
from pliant.engine.prepared import Prepared
from pliant.model.control import Controller
from pliant.model.control_laws import StateFeedback
from pliant.model.model import Model, Output
from pliant.model.segmented_beams import HUB, SegmentedBeam, segmented_beam
from pliant.model.signals import Cycloid
from pliant.report_types import Figure, Finding, Lines, Panel
from pliant.result import Result
from pliant.results.figures import extreme, grid, last_entry

Array = NDArray[np.float64]
SOURCE = "thesis on transfer matrices for online control of flexible robot arms"
TIP = "beam_tip"
BAND = 0.01  # of the arc that the tip covers: nearer than this to its goal it counts as settled
MAX_TIMED_STEPS = 5000
SETTINGS = {
    "segments": Setting(20, "rigid segments of the arm, such as 100", low=1, high=100_000),
    "length": Setting(1.0, "of the arm", "m", low=1e-6),
    "EI": Setting(20.0, "bending stiffness", "N m^2", low=1e-12),
    "rhoA": Setting(0.6, "mass per length", "kg/m", low=1e-12),
    "eta": Setting(2e-4, "damping of the hinges over their stiffness", "s", low=0.0),
    "hub_inertia": Setting(0.1, "of hub and motor", "kg m^2", low=1e-12),
    "angle": Setting(1.0, "by which the arm turns", "rad"),
    "slew_time": Setting(0.5, "of the reference", "s", low=1e-6),
    "stiffness": Setting(60.0, "torque per angle of the hub behind its reference", "N m/rad", low=0.0),
    "damping": Setting(8.0, "torque per angular velocity of the hub behind its reference", "N m s/rad", low=0.0),
    "bend_damping": Setting(4.0, "torque per rate of the tip's deflection over the length", "N m s", low=0.0),
    "period": Setting(1e-3, "of the controller", "s", low=1e-7),
    "torque_limit": Setting(50.0, "largest torque of the motor", "N m", low=1e-9),
    "step": Setting(1e-3, "length of the steps", "s", low=1e-9),
    "duration": Setting(2.0, "of the motion", "s", low=1e-6),
}


def build(settings: dict[str, Any]) -> Model:
    n, length = settings["segments"], settings["length"]
    beam = SegmentedBeam(length, n, settings["EI"], settings["rhoA"])
    # deflection of the tip over the length, small angles: each hinge lifts what lies beyond it
    lever = [1.0 - (i + 0.5) * beam.element / length for i in range(n)]
    gain = [settings["stiffness"], *([0.0] * n), settings["damping"], *(settings["bend_damping"] * x for x in lever)]
    law = StateFeedback((tuple(gain),), reference=Cycloid(0.0, settings["slew_time"], after=settings["angle"]))
    servo = Controller("servo", settings["period"], (HUB,), law=law, limit=settings["torque_limit"])
    return segmented_beam(
        length,
        n,
        settings["EI"],
        settings["rhoA"],
        eta=settings["eta"],
        hub={"inertia": settings["hub_inertia"]},
        name="flexible-arm-online",
        controllers=(servo,),
        outputs=(Output("tip", TIP, "position"), Output("torque", HUB, "motor")),
        duration=settings["duration"],
    )


def options(settings: dict[str, Any]) -> dict[str, Any]:
    return {"formulation": "transfer_matrix", "integrator": "newmark", "step": settings["step"]}


# --- figures ------------------------------------------------------------------------------------------------------


def _goal(result: Result) -> Any:
    law = result.model.controllers[0].law
    assert law is not None
    return law.reference


def _length(result: Result) -> float:
    links = sum(abs(link.joint_frame.position[0]) for link in result.model.links)
    return float(links + result.model.frames[0].position[0])


def tip_error(result: Result, t: Array) -> Array:
    """How far the tip is from its goal, along its arc [m]; turns are those of the hub."""
    tip, hub = result.outputs_at(t)["tip"], result.at(t)[0][:, result.model.coordinates.index(HUB)]
    angle = np.arctan2(tip[:, 1], tip[:, 0])
    angle += 2.0 * np.pi * np.round((hub - angle) / (2.0 * np.pi))
    return np.asarray(_length(result) * (angle - _goal(result).after))


def figures(result: Result) -> dict[str, float]:
    found = {"torque_max": float(np.abs(result.outputs["torque"]).max())} | step_times(result)
    if result.dense is None:
        return found
    end = _goal(result).end
    band = BAND * _length(result) * abs(_goal(result).after)
    found["settling_time"] = last_entry(grid(result), lambda t: np.abs(tip_error(result, t)) <= band)
    if end < result.t[-1]:
        found["residual"], _ = extreme(result, lambda t: np.abs(tip_error(result, t)), (end, float(result.t[-1])))
    return found


def step_times(result: Result) -> dict[str, float]:
    """The same run once more, one step at a time, each by the clock: what a loop that runs beside the arm would see."""
    from pliant.simulation.options import check_options
    from pliant.simulation.run import Run

    settings = result.settings
    chosen = {key: settings[key] for key in ("formulation", "integrator", "step") if key in settings}
    run_options = check_options(result.model, **chosen, dense=False)
    handle = Prepared(result.model, run_options["formulation"])
    run = Run(handle, (result.model.q0, result.model.v0), run_options, wants_rows=False)
    stepping, spent, cpu = run.memory.stepping[0], [], time.process_time()
    stepping.budget = 1
    n_steps = min(MAX_TIMED_STEPS, int(np.ceil(run_options["duration"] / run_options["step"] - 1e-9)))
    for _ in range(n_steps):
        begun = time.perf_counter()
        run.enter()
        spent.append(time.perf_counter() - begun)
    cpu = time.process_time() - cpu
    return {
        "step_time_mean": float(np.mean(spent)),
        "step_time_99": float(np.quantile(spent, 0.99)),
        "step_time_worst": float(np.max(spent)),
        "real_time_factor": n_steps * float(run_options["step"]) / max(cpu, 1e-9),
    }


# --- report -------------------------------------------------------------------------------------------------------


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    return (
        Panel("Angle of the hub", "rad", (("hub", HUB),)),
        Panel("Tip", "m", (("x", "tip[0]"), ("y", "tip[1]"))),
        Panel("Torque of the motor", "N m", (("motor", "torque"),)),
    )


def summarise_run(result: Result) -> tuple[Finding, ...]:
    if result.dense is None:
        return ()
    t = np.linspace(0.0, result.t[-1], 2001)
    chart = Lines("Tip from its goal, along its arc", "m", "time", "s", (("tip", t, tip_error(result, t)),))
    n = sum(joint.name.startswith("beam_hinge") for joint in result.model.joints)
    text = (
        f"A model of {n} segments that takes one step per sample. Times are those of this machine: every step by the "
        "clock, the entry from Python and the controller included. The worst one is what a loop in real time has to "
        "allow for; on a machine that does other things it says more about these."
    )
    return (Finding("Beside the arm", text, charts=(chart,)),)


CASE = Case(
    name="flexible-arm-online",
    title="a flexible arm under feedback, fast enough to run beside it",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        "settling_time": Figure("since when the tip has been within 1 % of its arc of its goal", "s"),
        "residual": Figure("largest distance of the tip from its goal after the reference has arrived", "m"),
        "torque_max": Figure("largest torque of the motor", "N m"),
        "real_time_factor": Figure("simulated time over processor time, step by step; measured here"),
        "step_time_mean": Figure("time of a step by the clock", "s"),
        "step_time_99": Figure("that 99 of 100 steps keep", "s"),
        "step_time_worst": Figure("worst", "s"),
    },
    panels=panels,
    run={"formulation": "transfer_matrix", "integrator": "newmark", "step": 1e-3},
    options=options,
    summarise_run=summarise_run,
)
