"""The falling chain written out by hand in numpy and run by SciPy with its own events: an independent opponent.

One mode per link, linear coupling, section inertia with the frame. Link i has its origin O_i, angle phi_i, axis e_i and
normal n_i; a point of it is O_i + eta e_i + d_i W_i(eta) n_i, and W_i vanishes at both ends. Coordinates z: x and y of
O_1, phi_1, d_1, q_2, d_2, q_3, d_3. The link ends touch y = 0: F = K d^(3/2) (1 + X d'/v_in), friction by Ambrosio."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
GRAVITY, LENGTH, MASS = 9.81, 1.0, 1.0  # of each link
TURNING = 2.9473e-5  # inertia of the sections of one link [kg m^2]
STIFFNESS, RESTITUTION, FRICTION = 1.4e8, 0.8, 0.1
X = 1.5 * (1 - RESTITUTION) / RESTITUTION  # Hu and Guo
V0, V1 = 1e-4, 1e-3  # speeds of the friction law [m/s]
START = np.array([-0.5 - math.sin(math.pi / 3), 0.9, math.pi / 6, 0.0, -math.pi / 6, 0.0, -math.pi / 6, 0.0])
ON_GROUND = 1e-12  # [m], or 1 ns of its way: what an event leaves between an end and the ground

# per pair of ends: mu int W, mu int eta W, mu int W^2, stiffness and damping of the mode, section angle at the end
PAIRS = {
    "ss": (0.636619772367578, 0.318309886183789, 0.5, 47545.8138569467, 0.0125297280369699, -3.140333690109594),
    "cc": (0.523349236253474, 0.261674618126737, 0.396615784339161, 193497.302322082, 0.0100362083123932, 0.0),
    "sc": (0.569914122127659, 0.251875692185431, 0.439092002868818, 101826.352698836, 0.0110409306412399, 0.0),
    "cs": (0.569914122127659, 0.318038429942228, 0.439092002868818, 101826.352698835, 0.0110409306412399,
           -(0.1027745658114473 + 3.677927210568842)),
}  # fmt: skip


class FallingChain:
    """Three links with modes such as "ss-ss-ss", on their way; `rates` is the right-hand side y' of y = (z, z')."""

    def __init__(self, modes: str) -> None:
        self.a0, self.a1, self.a2, self.stiffness, self.damping, tilt = np.array([PAIRS[p] for p in modes.split("-")]).T
        n = self.n = len(tilt)
        m = self.m = 2 + 2 * n
        # phi = angles @ z: joint angles so far, and the section angles at the ends of the links before
        self.angles = np.zeros((n, m))
        for i in range(n):
            self.angles[i, 2 : 3 + 2 * i : 2] = 1.0
            self.angles[i, 3 : 2 + 2 * i : 2] = tilt[:i]
        self.base = np.eye(2, m)  # Jacobian of O_1
        # velocity of a link: along e, along n, angular, modal; the last two rows do not change
        self.local = np.zeros((n, 4, m))
        self.local[:, 2] = self.angles
        self.local[np.arange(n), 3, 3 + 2 * np.arange(n)] = 1.0
        h1 = MASS * LENGTH / 2
        self.inertia = np.zeros((n, 4, 4))
        self.inertia[:, 0, 0] = self.inertia[:, 1, 1] = MASS
        self.inertia[:, 1, 2] = self.inertia[:, 2, 1] = h1
        self.inertia[:, 1, 3] = self.inertia[:, 3, 1] = self.a0
        self.inertia[:, 2, 3] = self.inertia[:, 3, 2] = self.a1
        self.inertia[:, 3, 3] = self.a2
        self.h1, self.turning = h1, MASS * LENGTH**2 / 3 + TURNING
        self.speed_in: dict[int, float] = {}  # of the ends that touch
        self.n_evaluations = 0

    def rates(self, t: float, y: Array) -> Array:
        self.n_evaluations += 1
        n, m = self.n, self.m
        z, u = y[:m], y[m:]
        phi, w, d, rate = self.angles @ z, self.angles @ u, z[3::2], u[3::2]
        c, s, w2 = np.cos(phi), np.sin(phi), w * w
        normal = np.array([-s, c]).T
        # Jacobians of O_1 .. O_(n+1), and their accelerations without z'', gravity taken as one upwards
        J = np.empty((n + 1, 2, m))
        J[0] = self.base
        J[1:] = self.base + np.cumsum(LENGTH * normal[:, :, None] * self.angles[:, None, :], axis=0)
        lift = np.zeros((n, 2))
        lift[1:] = -np.cumsum((LENGTH * w2 * np.array([c, s])).T, axis=0)[:-1]
        lift[:, 1] += GRAVITY
        local, inertia = self.local, self.inertia
        local[:, 0] = c[:, None] * J[:n, 0] + s[:, None] * J[:n, 1]
        local[:, 1] = c[:, None] * J[:n, 1] - s[:, None] * J[:n, 0]
        inertia[:, 0, 2] = inertia[:, 2, 0] = -self.a0 * d
        inertia[:, 2, 2] = self.turning + self.a2 * d * d
        forces = np.array(
            [
                -self.h1 * w2 - 2 * self.a0 * rate * w,
                -self.a0 * d * w2,
                2 * self.a2 * d * rate * w,
                -self.a2 * d * w2 + self.stiffness * d + self.damping * rate,
            ]
        ).T
        lifted = np.zeros((n, 4, 1))
        lifted[:, 0, 0] = c * lift[:, 0] + s * lift[:, 1]
        lifted[:, 1, 0] = c * lift[:, 1] - s * lift[:, 0]
        across = local.reshape(4 * n, m).T
        right = -across @ ((inertia @ lifted)[:, :, 0] + forces).ravel()
        for k, speed_in in self.speed_in.items():
            right += J[k].T @ self._contact_force(z[1] + LENGTH * float(np.sum(s[:k])), J[k] @ u, speed_in)
        out = np.empty(2 * m)
        out[:m] = u
        out[m:] = np.linalg.solve(across @ (inertia @ local).reshape(4 * n, m), right)
        return out

    def _contact_force(self, height: float, velocity: Array, speed_in: float) -> Array:
        vx, vy = float(velocity[0]), float(velocity[1])
        normal = max(STIFFNESS * max(-height, 0.0) ** 1.5 * (1.0 - X * vy / speed_in), 0.0)
        share = min(max((abs(vx) - V0) / (V1 - V0), 0.0), 1.0)
        return np.array([-math.copysign(FRICTION * share * normal, vx), normal])

    # --- events -------------------------------------------------------------------------------------------------

    def height(self, k: int, y: Array) -> float:
        return float(y[1] + LENGTH * np.sum(np.sin(self.angles[:k] @ y[: self.m])))

    def velocity(self, k: int, y: Array) -> tuple[float, float]:
        z, u = y[: self.m], y[self.m :]
        phi, w = self.angles[:k] @ z, self.angles[:k] @ u
        return float(u[0] - LENGTH * np.sin(phi) @ w), float(u[1] + LENGTH * np.cos(phi) @ w)

    def _gap(self, k: int) -> Callable[[float, Array], float]:
        return _terminal(lambda t, y: self.height(k, y), 1.0 if k in self.speed_in else -1.0)

    def _kink(self, k: int, speed: float, t: float, y: Array) -> Callable[[float, Array], float]:
        """Where the sliding speed leaves the side of `speed` on which it is, or to which it is about to go."""

        def beyond(t: float, y: Array) -> float:
            return abs(self.velocity(k, y)[0]) - speed

        now = beyond(t, y)
        side = now if abs(now) > 1e-9 else beyond(t, y + 1e-9 * self.rates(t, y)) - now
        return _terminal(beyond, -math.copysign(1.0, side))

    def contact_starts(
        self, duration: float, rtol: float, atol: float, method: str = "DOP853"
    ) -> list[tuple[int, float]]:
        """(end from 1 on, time) of every contact from the start of the case on."""
        solve_ivp = importlib.import_module("scipy.integrate").solve_ivp
        y, t, found = np.concatenate([START, np.zeros(self.m)]), 0.0, []
        self.speed_in.clear()
        while t < duration:
            events = [self._gap(k) for k in range(self.n + 1)]
            events += [self._kink(k, speed, t, y) for k in self.speed_in for speed in (V0, V1)]
            run = solve_ivp(self.rates, (t, duration), y, method, rtol=rtol, atol=atol, events=events)
            y, t = run.y[:, -1], float(run.t[-1])
            if run.status != 1:
                break
            for k in range(self.n + 1):
                _, speed = self.velocity(k, y)
                if abs(self.height(k, y)) > max(ON_GROUND, 1e3 * ON_GROUND * abs(speed)):
                    continue
                if speed < 0 and k not in self.speed_in:
                    self.speed_in[k] = -speed
                    found.append((k + 1, t))
                elif speed > 0:
                    self.speed_in.pop(k, None)
        return found


def _terminal(event: Any, direction: float) -> Callable[[float, Array], float]:
    event.terminal, event.direction = True, direction
    return event  # type: ignore[no-any-return]
