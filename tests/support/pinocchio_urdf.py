"""A URDF in Pinocchio, read by Pinocchio itself, and its state in the order and the conventions of a pliant model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from pliant.engine.prepared import Prepared
from pliant.io.robot_tables import plain_name
from pliant.model.model import Model
from random_models import largest, pinocchio, random_state, refined_solve


def bare(model: Model) -> Model:
    """Without what Pinocchio does not know: damping and friction of joints."""
    return replace(
        model,
        joints=tuple(
            replace(joint, damping=0.0, friction=None) if joint.kind != "fixed" else joint for joint in model.joints
        ),
    )


class UrdfTwin:
    """Joints are matched by name; v_pin = A(q) v, where only planar joints differ (pliant measures in parent axes)."""

    def __init__(self, path: Path, base: str = "fixed", **settings: Any) -> None:
        self.pin = pinocchio()
        self.model = bare(pliant.load(path, base=base, limits="ignore", **settings))
        root = [self.pin.JointModelFreeFlyer()] if base == "floating" else []
        self.robot = self.pin.buildModelFromUrdf(str(path), *root)
        self.data = self.robot.createData()
        named = {plain_name(self.robot.names[k]): k for k in range(1, self.robot.njoints)}
        moving = [link for link in self.model.links if link.joint.row.velocities]
        self.rows = [(link, named.get(link.joint.name, named.get("root_joint"))) for link in moving]
        assert len(self.rows) == self.robot.njoints - 1

    def q(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.robot.nq)
        for link, row in self.rows:
            part, k = q[link.q_slice], self.robot.idx_qs[row]
            if self.robot.nqs[row] > len(part):  # an angle as its cosine and sine
                part = np.array([*part[:-1], np.cos(part[-1]), np.sin(part[-1])])
            out[k : k + len(part)] = part
        return out

    def map(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A and Adot v."""
        A, bias = np.zeros((self.robot.nv, len(v))), np.zeros(self.robot.nv)
        for link, row in self.rows:
            k, n = self.robot.idx_vs[row], len(link.joint.row.velocities)
            A[k : k + n, link.v_slice] = np.eye(n)
            if link.joint.kind == "planar":
                angle, rate = q[link.q_slice][2], v[link.v_slice][2]
                c, s = np.cos(angle), np.sin(angle)
                A[k : k + 2, link.v : link.v + 2] = [[c, s], [-s, c]]
                bias[k : k + 2] = rate * np.array([[-s, c], [-c, -s]]) @ v[link.v : link.v + 2]
        return A, bias

    def inverse(self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
        A, bias = self.map(q, v)
        return A.T @ self.pin.rnea(self.robot, self.data, self.q(q), A @ v, A @ vdot + bias)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        A, _ = self.map(q, np.zeros(len(self.model.velocities)))
        M = np.triu(self.pin.crba(self.robot, self.data, self.q(q)))
        return A.T @ (M + np.triu(M, 1).T) @ A

    def differences(self, rng: np.random.Generator) -> dict[str, float]:
        """At a random state, relative to the largest entry: mass matrix, bias, inverse and forward dynamics, and what
        forward dynamics leaves in the equations."""
        q, v, vdot, tau = random_state(self.model, rng)
        ours = Prepared(self.model)
        M, h, wanted = self.mass_matrix(q), self.inverse(q, v, 0 * v), self.inverse(q, v, vdot)
        found = ours.forward_dynamics(q, v, tau)
        solved = refined_solve(M, tau - h)
        size = largest(np.abs(M) @ np.abs(found)) + largest(h) + largest(tau)
        return {
            "mass matrix": largest(ours.mass_matrix(q) - M) / largest(M),
            "bias": largest(ours.inverse_dynamics(q, v, 0 * v) - h) / largest(h),
            "inverse": largest(ours.inverse_dynamics(q, v, vdot) - wanted) / largest(wanted),
            "forward": largest(found - solved) / largest(solved),
            "residual": largest(self.inverse(q, v, found) - tau) / size,
            "condition": float(np.linalg.cond(M)),
        }
