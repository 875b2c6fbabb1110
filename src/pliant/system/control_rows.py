"""Controllers with a law as rows: the part of pack that writes what compiled code samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.model.control import Controller
from pliant.model.control_laws import ComputedTorque, StateFeedback
from pliant.model.model import Model
from pliant.model.tree import motor_links
from pliant.system.signal_rows import SignalRows

# of L'Ecuyer's generators: their states are 1 .. modulus - 1
MODULI = (2147483563, 2147483399)


class ControlRows:
    """Rows of all controllers with a law, and how much of work.control they take."""

    def __init__(self, model: Model, inputs: dict[int, int], signals: SignalRows) -> None:
        self._model, self._inputs, self._signals = model, inputs, signals
        self._links = {link.joint.name: link for link in model.links}
        self._motors = motor_links(model.links)
        self.controllers: list[dict[str, Any]] = []
        self.commands: list[dict[str, Any]] = []
        self.feedback: list[dict[str, Any]] = []
        self.size = 0
        for controller in model.controllers:
            if controller.law is not None:
                self.controllers.append(self._row(controller))
        self.encoders = _encoders(model) if self.controllers else []

    def _row(self, controller: Controller) -> dict[str, Any]:
        law = controller.law
        assert law is not None
        dofs = self._measured_dofs(controller)
        n_u, n_q, n_v = len(dofs), len(self._model.coordinates), len(self._model.velocities)
        row = _sensor_fields(controller) | {
            "period": controller.period,
            "delay": controller.delay,
            "command": len(self.commands),
            "n_commands": n_u,
            "command_step": controller.command_resolution or 0.0,
            "feedback": len(self.feedback),
        }
        matrices = law.matrices(n_u, controller.period)
        row |= {name: self._to_pool(values) for name, values in matrices._asdict().items()}
        self._add_commands(controller)
        self._add_feedback(law, dofs)
        is_computed = isinstance(law, ComputedTorque)
        row["is_computed_torque"] = is_computed
        row["n_e"], row["n_x"] = len(self.feedback) - row["feedback"], len(matrices.start)
        row["n_queue"] = math.ceil(controller.delay / controller.period) + 2
        for name, count in (
            ("x", row["n_x"]), ("x_new", row["n_x"]), ("e", row["n_e"]), ("q", n_q), ("v", n_v), ("q_before", n_q),
            ("queue", row["n_queue"] * (1 + n_u)), ("tau", n_v if is_computed else 0),
        ):  # fmt: skip
            row[name] = self.size
            self.size += count
        return row

    def _measured_dofs(self, controller: Controller) -> list[tuple[int, int]]:
        """(coordinate, velocity) that is measured, for every command."""
        by_name = self._motors if controller.encoders == "motor" else self._links
        links = [by_name[name] for name in controller.joints]
        return [(link.q + k, link.v + k) for link in links for k in range(len(link.joint.row.velocities))]

    def _to_pool(self, values: Any) -> int:
        first = len(self._signals.pool)
        self._signals.pool.extend(np.ravel(values).tolist())
        return first

    def _add_commands(self, controller: Controller) -> None:
        law = controller.law
        assert law is not None
        pairs = [
            (self._motors[name].v + k, self._links[name].v + k)
            for name in controller.joints
            for k in range(len(self._links[name].joint.row.velocities))
        ]
        limits = np.broadcast_to(np.inf if controller.limit is None else np.array(controller.limit), len(pairs))
        wanted = (law.each(name, len(pairs)) for name in ("feedforward", "reference"))
        for (j, link), limit, feedforward, reference in zip(pairs, limits, *wanted, strict=True):
            self.commands.append(
                {
                    "input": self._inputs[j],
                    "feedforward": self._signals.add_sampled(feedforward),
                    "limit": float(limit),
                    "v": j,
                    "link": -1 if link == j else link,
                    "reference": self._signals.add_sampled(reference),
                }
            )

    def _add_feedback(self, law: Any, dofs: list[tuple[int, int]]) -> None:
        """Coordinates, then rates: of the joints, or of the whole model."""
        references = [self._signals.add_sampled(signal) for signal in law.each("reference", len(dofs))]
        n_q, n_v = len(self._model.coordinates), len(self._model.velocities)
        of_q = {q: row for (q, _), row in zip(dofs, references, strict=True)}
        of_v = {v: row for (_, v), row in zip(dofs, references, strict=True)}
        offsets_q, offsets_v = np.zeros(n_q), np.zeros(n_v)
        chosen_q, chosen_v = list(of_q), list(of_v)
        if isinstance(law, StateFeedback):
            chosen_q, chosen_v = list(range(n_q)), list(range(n_v))
            offsets_q[:], offsets_v[:] = law.q or 0.0, law.v or 0.0
        for i in chosen_q:
            row = {"column": i, "reference": of_q.get(i, -1), "is_rate": 0, "offset": offsets_q[i]}
            self.feedback.append(row)
        for j in chosen_v:
            row = {"column": n_q + j, "reference": of_v.get(j, -1), "is_rate": 1, "offset": offsets_v[j]}
            self.feedback.append(row)


def _sensor_fields(controller: Controller) -> dict[str, Any]:
    states = np.random.SeedSequence(controller.seed).generate_state(2, np.uint64)
    seeds = [1 + int(state) % (modulus - 1) for state, modulus in zip(states, MODULI, strict=True)]
    return {
        "angle_step": controller.angle_step or 0.0,
        "length_step": controller.resolution or 0.0,
        "noise": controller.noise,
        "rate_step": controller.rate_resolution or 0.0,
        "rate_noise": controller.rate_noise,
        "takes_differences": controller.rates == "differences",
        "seed1": seeds[0],
        "seed2": seeds[1],
    }


def _encoders(model: Model) -> list[dict[str, Any]]:
    found = []
    for link in model.links:
        joint = link.joint.row
        for k, name in enumerate(joint.coordinates):
            if not name.startswith("q"):  # quaternions
                v = link.v + k if joint.has_plain_rates else -1
                found.append({"q": link.q + k, "v": v, "is_angle": joint.angles[k]})
    return found
