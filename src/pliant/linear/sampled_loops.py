"""Controllers in the loop of a linear model: a sampled system, exact at its instants.

Between two instants the robot is x' = A x + B u with u held, so that x goes on by exp(A h). At an instant controllers
measure, and commands that have arrived begin to act. All of this repeats after the least common multiple of the
periods: x[k+1] = Phi x[k] + Gamma w (kalman1959). Steps of sensors and commands, noise and limits are left out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.linear.feedback import Feedback
from pliant.linear.state_space import StateSpace
from pliant.system.control_tables import SAME_INSTANT

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

MAX_SAMPLES = 2000  # of all controllers within the common period
MAX_STATES = 1000  # of robot, laws and commands on their way
MAX_RATIO = 1000  # numerator and denominator of the ratio of two periods
ROUNDING = 1e-9  # of such a ratio
LOOKS = 16  # at the motion within a piece, to tell its frequency from those that samples take for the same
EIGENVALUE_ROUNDING = 80.0 * float(np.finfo(float).eps)  # times norm and condition of an eigenvalue


def common_period(loops: list[Feedback]) -> float:
    """The time after which all controllers sample together again, or a message."""
    first = loops[0].period
    ratios = [Fraction(one.period / first).limit_denominator(MAX_RATIO) for one in loops]
    for one, ratio in zip(loops, ratios, strict=True):
        if ratio == 0 or abs(float(ratio) * first / one.period - 1.0) > ROUNDING:
            raise ModelError(_no_common_period(loops[0], one))
    multiple = Fraction(math.lcm(*(ratio.numerator for ratio in ratios)), math.gcd(*(r.denominator for r in ratios)))
    if sum(multiple / ratio for ratio in ratios) > MAX_SAMPLES:
        worst = max(zip(ratios, loops, strict=True), key=lambda pair: max(pair[0].numerator, pair[0].denominator))[1]
        raise ModelError(_no_common_period(loops[0], worst))
    return float(multiple) * first


def _no_common_period(first: Feedback, second: Feedback) -> str:
    return (
        f"controllers {first.name!r} and {second.name!r}: their periods {first.period:g} s and {second.period:g} s "
        "have no short common multiple, after which all repeats; give periods in a ratio of small whole numbers, or "
        "controllers=False"
    )


@dataclass(frozen=True)
class Piece:
    """What happens between two instants: x and u at its start as matrices on the states of the whole (and inputs)."""

    h: float  # [s]
    x: Array
    u: Array


class SampledLoops:
    """Robot and controllers from one common period to the next."""

    def __init__(self, plant: StateSpace, n_inputs: int, loops: list[Feedback]) -> None:
        """plant: its last inputs are the held commands, those before them (n_inputs) act from outside."""
        self.plant, self.loops, self.n_inputs = plant, loops, n_inputs
        self.period = common_period(loops)
        self.n = len(plant.A)
        self._steps: dict[float, Array] = {}
        self._waiting = [_waiting_at_start(one) for one in loops]
        self._has_held = [not _acts_at_samples(one) for one in loops]
        counts = zip(loops, self._waiting, self._has_held, strict=True)
        size = self.n + sum(len(one.A) + len(one.inputs) * (len(times) + held) for one, times, held in counts)
        if size > MAX_STATES:
            raise ModelError(
                f"controllers: {size} states of robot, laws and commands on their way; at most {MAX_STATES} are "
                "taken: give shorter delays, or controllers=False"
            )
        self.size = size
        self.pieces: list[Piece] = []
        self._go_round()

    def _go_round(self) -> None:
        """Follow every state and input through one common period."""
        rows = iter(np.split(np.eye(self.size, self.size + self.n_inputs), np.arange(1, self.size)))

        def take(count: int) -> Array:
            return np.concatenate([next(rows) for _ in range(count)]) if count else np.zeros((0, self._width))

        x = take(self.n)
        law, queues, held = [], [], []
        for one, times, has_held in zip(self.loops, self._waiting, self._has_held, strict=True):
            law.append(take(len(one.A)))
            queues.append([(time, take(len(one.inputs))) for time in times])
            held.append(take(len(one.inputs)) if has_held else np.zeros((len(one.inputs), self._width)))
        t, samples = 0.0, [0] * len(self.loops)
        while t < self.period:
            for k, one in enumerate(self.loops):
                if samples[k] * one.period <= t + SAME_INSTANT:
                    samples[k] += 1
                    queues[k].append((t + one.delay, one.C @ law[k] + one.D @ x))
                    law[k] = one.A @ law[k] + one.B @ x
                while queues[k] and queues[k][0][0] <= t + SAME_INSTANT:
                    held[k] = queues[k].pop(0)[1]
            due = [count * one.period for count, one in zip(samples, self.loops, strict=True)]
            due += [queue[0][0] for queue in queues if queue]
            end = min(*due, self.period)
            end = self.period if end >= self.period - SAME_INSTANT else end
            self.pieces.append(Piece(end - t, x, self._commands(held)))
            x, t = self._advance(self.pieces[-1]), end
        parts = [x]
        for k in range(len(self.loops)):
            parts += [law[k], *(command for _, command in queues[k]), *([held[k]] if self._has_held[k] else [])]
        whole = np.concatenate(parts)
        self.Phi, self.Gamma = whole[:, : self.size], whole[:, self.size :]

    @property
    def _width(self) -> int:
        return self.size + self.n_inputs

    def _commands(self, held: list[Array]) -> Array:
        u = np.zeros((self.plant.B.shape[1] - self.n_inputs, self._width))
        for one, command in zip(self.loops, held, strict=True):
            u[one.inputs] = command
        return u

    def _step(self, h: float) -> Array:
        """(x, inputs, commands) after h seconds: the exponential of the robot with what is held."""
        from scipy.linalg import expm

        if h not in self._steps:
            n, m = self.plant.B.shape
            both = np.zeros((n + m, n + m))
            both[:n, :n], both[:n, n:] = self.plant.A, self.plant.B
            self._steps[h] = expm(both * h)
        return self._steps[h]

    def _advance(self, piece: Piece) -> Array:
        step, n = self._step(piece.h), self.n
        from_outside = np.eye(self._width)[self.size :]
        return np.asarray(step[:n, :n] @ piece.x + step[:n, n:] @ np.concatenate([from_outside, piece.u]))

    # --- as a linear model ---

    @cached_property
    def model(self) -> StateSpace:
        """Sampled: inputs are held for a common period, outputs are those at its start, when controllers have acted."""
        first, plant = self.pieces[0], self.plant
        y = plant.C @ first.x + plant.D[:, self.n_inputs :] @ first.u
        y[:, self.size :] += plant.D[:, : self.n_inputs]
        names, units = self._names()
        error = np.zeros_like(self.Phi)
        error[: self.n, : self.n] = self.period * plant.error
        return replace(
            plant,
            A=self.Phi,
            B=self.Gamma,
            C=y[:, : self.size],
            D=y[:, self.size :],
            states=(*plant.states, *names),
            state_units=(*plant.state_units, *units),
            inputs=plant.inputs[: self.n_inputs],
            input_units=plant.input_units[: self.n_inputs],
            error=error,
            period=self.period,
        )

    def _names(self) -> tuple[list[str], list[str]]:
        """Of laws and commands, with units."""
        names: list[str] = []
        units: list[str] = []
        for one, times, has_held in zip(self.loops, self._waiting, self._has_held, strict=True):
            names += one.states
            units += [""] * len(one.states)
            commands = [self.plant.inputs[self.n_inputs + k] for k in one.inputs]
            for count in range(len(times), 0, -1):
                names += [f"{one.name}.{command}.waiting{count}" for command in commands]
            names += [f"{one.name}.{command}.held" for command in commands] if has_held else []
            units += [self.plant.input_units[self.n_inputs + k] for k in one.inputs] * (len(times) + has_held)
        return names, units

    @property
    def slow_rates(self) -> Array:
        """x' by deviations of the robot that stay, controllers answering at once."""
        rates = self.plant.A.copy()
        for one in self.loops:
            steady = np.linalg.pinv(np.eye(len(one.A)) - one.A)
            gain = one.C @ steady @ one.B + one.D
            rates += self.plant.B[:, self.n_inputs :][:, one.inputs] @ gain
        return rates

    # --- its free motions ---

    def modes(self, M: Array) -> tuple[Complex, Complex, int]:
        """Eigenvalues s = ln(z)/T, one of a pair, by rising size; the coordinates' part of their vectors at the start
        of a period; how many motions die out within a period to less than rounding. M: mass matrix.

        s and s + 2 pi i/T look alike to samples: the one is taken whose frequency the motion between them has."""
        from scipy.linalg import eig, matrix_balance

        n = len(M)
        balanced, scaling = matrix_balance(self.Phi)
        z, left, right = eig(balanced, left=True, right=True)
        overlap = np.abs(np.sum(np.conj(left) * right, axis=0))
        rounding = EIGENVALUE_ROUNDING * np.linalg.norm(balanced, 2) / np.maximum(overlap, 1e-300)
        vectors = scaling @ right
        stays = np.abs(z) > rounding
        found = []
        for k in np.flatnonzero(stays & (z.imag >= 0.0)):
            vector = vectors[:, k]
            if abs(z[k] - 1.0) <= rounding[k]:
                found.append((0.0 + 0.0j, vector[:n]))
                continue
            s = np.log(z[k]) / self.period
            turns = (self._angular_speed(s.real, vector, M) - s.imag) * self.period / (2.0 * np.pi)
            s += 2j * np.pi * round(turns) / self.period
            found.append((np.conj(s), np.conj(vector[:n])) if s.imag < 0.0 else (s, vector[:n]))
        found.sort(key=lambda pair: abs(pair[0]))
        values = np.array([value for value, _ in found], complex)
        shapes = np.array([shape for _, shape in found], complex).reshape(len(found), n).T
        return values, shapes, int(np.sum(~stays))

    def _angular_speed(self, growth: float, vector: Complex, M: Array) -> float:
        """Mean of Im(q^H M q') over that of q^H M q along a free motion, its growth taken out [rad/s]."""
        n, above, below, t = len(M), 0.0, 0.0, 0.0
        for piece in self.pieces:
            outside = np.zeros(self.n_inputs)
            y = np.concatenate([piece.x[:, : self.size] @ vector, outside, piece.u[:, : self.size] @ vector])
            half = self._step(piece.h / (2 * LOOKS))
            for k in range(2 * LOOKS):
                y = half @ y
                t += piece.h / (2 * LOOKS)
                if k % 2 == 0:
                    q, rate = y[:n], self.plant.A[:n] @ y[: self.n]
                    weight = piece.h * math.exp(-2.0 * growth * t)
                    above += weight * float(np.vdot(q, M @ rate).imag)
                    below += weight * float(np.vdot(q, M @ q).real)
        return above / below if below > 0.0 else 0.0


def _waiting_at_start(loop: Feedback) -> list[float]:
    """When the commands on their way at t = 0 will arrive, the oldest first."""
    count = math.floor((loop.delay + SAME_INSTANT) / loop.period)
    return [loop.delay - k * loop.period for k in range(count, 0, -1)]


def _acts_at_samples(loop: Feedback) -> bool:
    """Whether commands arrive when the controller samples, so that none outlives such an instant."""
    left = math.fmod(loop.delay, loop.period)
    return min(left, loop.period - left) <= SAME_INSTANT
