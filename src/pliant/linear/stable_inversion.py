"""stable_inversion: the torque that makes the tip of a flexible link, not only its hub, follow a motion.

The tip answers a torque at the other end late and at first the wrong way: the transfer function has zeros in the right
half plane, and its causal inverse grows without bound. The bounded inverse begins before the motion does; it is found
over the whole time axis at once, frequency by frequency (bayo1987)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_model, as_name, as_number
from pliant.errors import ModelError
from pliant.linear.linearise import linear_model
from pliant.linear.state_space import StateSpace
from pliant.model.bodies import Body
from pliant.model.joints import Joint
from pliant.model.model import Model
from pliant.model.signals import Table, checked_signal
from pliant.queries.dynamics import forward_dynamics

Array = NDArray[np.float64]
DECAY = 20.0  # time constants of the slowest zero before and after the motion: e^-20 = 2e-9 is left
MIN_DECAY = 1e-3  # of a zero's size: nearer to the imaginary axis its vibration hardly dies out
MAX_TIMES = 2**20
INFINITE = 1e8  # zeros beyond this times the fastest pole are at infinity


@dataclass(frozen=True)
class TipTorque:
    """A torque from t = 0 on, and by how much later the tip then does its motion."""

    torque: Table  # [N m, N]
    delay: float  # [s]


def stable_inversion(
    model: Model, joint: str, output: str, motion: Any, duration: float, *, period: float = 0.001
) -> TipTorque:
    """The motor torque of one joint under which an output does a motion, by the linear model about the start.

    output: as in linearise, such as "tip.y", which for a link that turns freely about z and lies along x is the way of
    its tip along the arc, however far it turns. motion: a signal with two derivatives, at rest before t = 0 and after
    duration. The torque begins earlier than the motion, hence the delay; feed it to Joint(motor=...)."""
    end, h = as_number(duration, "duration", 0.0, np.inf, "[s]"), as_number(period, "period", 0.0, np.inf, "[s]")
    signal = checked_signal(motion)
    linear = linear_model(as_model(model), inputs=[as_name(joint, "joint")], outputs=[as_name(output, "output")])
    if linear.B.shape[1] != 1 or linear.C.shape[0] != 1:
        raise ModelError(f"output: {output!r} has {linear.C.shape[0]} components; name one, such as 'tip.y'")
    around = DECAY / _slowest_decay(linear)
    count = 2 ** int(np.ceil(np.log2(max(16.0, (end + 2.0 * around) / h))))
    if count > MAX_TIMES:
        raise ModelError(
            f"period: {h:g} s found; the zeros of the link need {2.0 * around:.3g} s besides the motion: give a "
            f"period of at least {(end + 2.0 * around) / MAX_TIMES:.2g} s"
        )
    times = h * np.arange(count) - around
    force = _inverse(linear, _acceleration(signal, times, end), h)
    gear = next(one for one in model.joints if one.name == joint).each("gear")[0]
    chosen = times <= end + around
    return TipTorque(
        Table((times[chosen] + around).tolist(), (force[chosen] / gear).tolist(), smooth=True), float(around)
    )


def _inverse(linear: StateSpace, acceleration: Array, period: float) -> Array:
    """Force whose response has this acceleration: division of the Fourier transforms."""
    omega = 2.0 * np.pi * np.fft.rfftfreq(len(acceleration), period)
    omega[0] = 1e-3 * omega[1]  # its limit: acceleration per force of the link as a rigid body
    response = linear.frequency_response(omega)[:, 0, 0] * -(omega**2)
    if abs(response[0]) < 1e-6 * np.max(np.abs(response)):
        raise ModelError("joint: a spring or another joint holds the link, so that it cannot turn freely; leave it out")
    return np.asarray(np.fft.irfft(np.fft.rfft(acceleration) / response, len(acceleration)))


def _slowest_decay(linear: StateSpace) -> float:
    """Least distance of a finite zero from the imaginary axis [1/s]."""
    from scipy.linalg import eigvals

    n = len(linear.A)
    pencil = np.block([[linear.A, linear.B], [linear.C, linear.D]])
    mass = np.zeros_like(pencil)
    mass[:n, :n] = np.eye(n)
    zeros = eigvals(pencil, mass)
    fastest = float(np.max(np.abs(linear.eigenvalues), initial=1.0))
    zeros = zeros[np.isfinite(zeros)]
    zeros = zeros[np.abs(zeros) < INFINITE * fastest]
    slow = zeros[np.abs(zeros.real) < MIN_DECAY * np.abs(zeros)]
    if len(slow):
        raise ModelError(
            f"output: {linear.outputs[0]!r} can rest while the link vibrates at {abs(slow[0]):.4g} rad/s, hardly "
            "damped: no bounded torque is found; take an output at the tip, or damp the link"
        )
    return float(np.min(np.abs(zeros.real), initial=fastest))


def _acceleration(signal: Any, times: Array, end: float) -> Array:
    """Second derivative of a signal: that of a joint which follows it."""
    slide = Model("motion", (Body("b", 1.0),), (Joint("j", "prismatic", "b", motion=signal),))
    still = np.zeros((len(times), 1))
    found = forward_dynamics(slide, still, still, t=times)[:, 0]
    return np.where((times >= 0.0) & (times <= end), found, 0.0)
