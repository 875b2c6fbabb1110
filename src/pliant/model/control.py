"""Controllers of a robot: laws or Python functions with the imperfections of a real loop around them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from pliant.model.control_laws import AnyControlLaw, Bounds
from pliant.model.messages import refuse, shown
from pliant.model.quantities import Many, Name, NonNegative, Positive, described


def _is_function(value: Any) -> Any:
    if callable(value) or (isinstance(value, str) and re.fullmatch(r"[^:]+\.py:[A-Za-z_]\w*", value)):
        return value
    raise ValueError(f'{shown(value)} is no function; give a Python function or text like "control.py:law"')


ControlFunction = Annotated[
    Annotated[Callable[[float, Any], Any] | str, BeforeValidator(_is_function)],
    WithJsonSchema({"type": "string", "pattern": r"^[^:]+\.py:[A-Za-z_]\w*$"}),
]


MAX_DELAY = 10_000  # periods that a command of a law may be on its way


@described
class Controller:
    """Commands motors every `period` seconds; a command is held until the next (zero-order hold).

    By a law, which is compiled: law=PD(200.0, 8.0, reference=Cycloid(0.0, 1.0)). Or by Python code:
    function(t, measured) -> one motor torque per velocity of `joints`, in their order, or a dictionary by joint.
    measured.q, measured.v are the state; measured["elbow"] is (q, v) of one joint. In files: "file.py:function".
    What is measured: noise first, then rounding to the steps of the sensor. What is said: rounding, then limits."""

    name: Name  # of the controller
    period: Positive  # between calls [s]
    joints: Annotated[Many[str], Field(min_length=1)]  # whose motors it commands; a function: springs, too
    function: ControlFunction | None = None  # in a file: "file.py:function", looked up beside the model file
    law: AnyControlLaw | None = None  # in place of a function
    delay: NonNegative = 0.0  # from the measurement until the command acts [s]
    encoders: Literal["motor", "link"] = "motor"  # side of flexible joints that a law measures
    counts: Positive | None = None  # of an encoder per revolution: steps of measured angles
    resolution: Positive | None = None  # steps of measured lengths [m]
    noise: NonNegative = 0.0  # standard deviation of measured coordinates [m, rad]
    rates: Literal["exact", "differences"] = "exact"  # where rates come from: measured, or from two measurements
    rate_resolution: Positive | None = None  # steps of measured rates [m/s, rad/s]
    rate_noise: NonNegative = 0.0  # standard deviation of measured rates [m/s, rad/s]
    seed: Annotated[int, Field(strict=True, ge=0)] = 0  # of the noise
    command_resolution: Positive | None = None  # steps of commands [N, N m]
    limit: Bounds | None = None  # largest command, either way [N, N m]; one, or one per velocity

    def __post_init__(self) -> None:
        refuse(_problems(self))

    @property
    def angle_step(self) -> float | None:
        """Step of measured angles [rad]."""
        return None if self.counts is None else 2.0 * math.pi / self.counts


def _problems(controller: Controller) -> Iterator[str]:
    if controller.law is not None and controller.delay > MAX_DELAY * controller.period:
        yield f"delay {controller.delay:g} s is more than {MAX_DELAY} periods; give a shorter one, or a longer period"
    if controller.function is None and controller.law is None:
        yield "neither a function nor a law; give one of them"
    if controller.function is not None and controller.law is not None:
        yield "both a function and a law; give one of them"
    if controller.function is not None and controller.encoders != "motor":
        yield (
            f'encoders = "{controller.encoders}" has no effect on a function, which is given both sides of flexible '
            'joints: measured["elbow"] and measured["elbow.motor"]; leave it out'
        )
    if controller.rates == "differences" and (controller.rate_noise or controller.rate_resolution):
        yield (
            'rate_noise and rate_resolution have no effect with rates = "differences", which takes rates from measured '
            "coordinates; leave them out"
        )
