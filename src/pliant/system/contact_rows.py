"""Contacts and friction of a model as rows: the part of pack that knows the laws by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.model.bodies import Frame
from pliant.model.contact_points import ContactPoint, contact_points
from pliant.model.contacts import Contact, Friction, NormalLaw, Plane
from pliant.model.model import Model
from pliant.model.tree import find_frame, model_size
from pliant.system.contact_tables import ContactEvent, FrictionKind, NormalKind

# of an event function: in which table it has a row
NO_ROWS = {"limit": -1, "transmission": -1, "spring": -1, "contact": -1, "joint_friction": -1, "ball_spring": -1}
COPIED = ("mu_k", "v0", "v1", "c_v", "v_s", "p", "xi", "sharpness", "sigma0", "sigma1", "sigma2", "least_normal")


@dataclass
class ContactRows:
    """All contacts and frictions collected on the way; equal friction laws once."""

    first_phase: int  # phases before are those of limits, flanks, ball springs and one-way springs
    first_quadrature: int  # in z
    contacts: list[dict[str, Any]] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)  # contact and point of every row
    restitutions: list[float] = field(default_factory=list)  # asked for, per row
    frictions: list[dict[str, Any]] = field(default_factory=list)
    joint_frictions: list[dict[str, Any]] = field(default_factory=list)
    joint_friction_names: list[str] = field(default_factory=list)
    state_scales: list[float] = field(default_factory=list)  # per friction state: deflection that is not small [m]
    known: dict[Friction, int] = field(default_factory=dict)

    @property
    def n_z(self) -> int:
        """Work and impulses of the contacts, then friction states."""
        return 2 * len(self.contacts) + len(self.state_scales)

    def add_contacts(self, model: Model, frames: list[Frame]) -> None:
        """A row per point; frames of points and planes are added to the list of frames."""
        size = model_size(model)
        for contact in model.contacts:
            plane = len(frames)
            frames.append(plane_frame(model, contact.plane))
            for point in contact_points(model, contact):
                self._add(contact, point, len(frames), plane, size)
                frames.append(point.frame)

    def _add(self, contact: Contact, point: ContactPoint, frame: int, plane: int, size: float) -> None:
        k = len(self.contacts)
        self.names.append((contact.name, point.name))
        self.restitutions.append(np.nan if contact.normal.restitution is None else contact.normal.restitution)
        row = {
            "frame": frame,
            "plane": plane,
            "radius": point.radius,
            "size": size,
            "rests": contact.rests,
            "friction": -1 if contact.friction is None else self._friction(contact.friction),
            "phase": self.first_phase + k,
            "quadrature": self.first_quadrature + 2 * k,
            "state": -1,
        }
        self.contacts.append(row | _normal(contact.normal))

    def add_joint_frictions(self, model: Model) -> None:
        """Friction in joints, a row per velocity; then the friction states of contacts and joints get their places."""
        for link in model.links:
            for k, friction in enumerate(link.joint.each("friction")):
                if friction is None or friction == "none":
                    continue
                phase = self.first_phase + len(self.contacts) + len(self.joint_frictions)
                row = {"dof": link.v + k, "friction": self._friction(friction), "phase": phase, "state": -1}
                self.joint_frictions.append(row | {"load": friction.load})
                self.joint_friction_names.append(model.velocities[link.v + k])
        for row in (*self.contacts, *self.joint_frictions):
            law = self.frictions[row["friction"]] if row["friction"] >= 0 else None
            if law is not None and law["sigma0"] > 0.0:
                row["state"] = self.first_quadrature + self.n_z
                scale = law["mu_s"] * row.get("load", law["least_normal"]) / law["sigma0"]
                self.state_scales += [scale] * (1 if "dof" in row else 2)

    def _friction(self, friction: Friction) -> int:
        if friction not in self.known:
            kind = FrictionKind[friction.law.upper().replace("-", "_")]
            row = {key: friction.value(key) for key in COPIED}
            row["mu_s"] = friction.mu_k if friction.mu_s is None else friction.mu_s
            kinks = [friction.value(key) for key in (("stick_speed",) if friction.sticks() else friction.kinks)]
            facts = {"kind": kind, "sticks": friction.sticks(), "n_kinks": len(kinks)}
            self.known[friction] = len(self.frictions)
            self.frictions.append(row | facts | {"kink": (*kinks, 0.0, 0.0)[:2]})
        return self.known[friction]

    def events(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Event functions of contacts and joint frictions, and the names that users see ("": not at all)."""
        contents, names = [], []
        for k, (contact, point) in enumerate(self.names):
            for kind in self._kinds(self.contacts[k]):
                event = _event("contact", k, kind, self._sticks(self.contacts[k]))
                # a point that may be pressed at the start is on the side where it is
                event["is_firm"] = event["is_firm"] and not (kind == ContactEvent.GAP and self.contacts[k]["rests"])
                is_power = self.contacts[k]["kind"] != NormalKind.VISCO
                event["is_fractional"] = kind == ContactEvent.GAP and is_power and self.contacts[k]["n"] % 1.0 != 0.0
                contents.append(event)
                shown = {ContactEvent.GAP: f"{contact}: {point}", ContactEvent.RELEASE: f"{contact}: {point} slips"}
                names.append(shown.get(kind, ""))
        for k, name in enumerate(self.joint_friction_names):
            for kind in self._kinds(self.joint_frictions[k]):
                contents.append(_event("joint_friction", k, kind, self._sticks(self.joint_frictions[k])))
                names.append(f"{name} slips" if kind == ContactEvent.RELEASE else "")
        return contents, names

    def _sticks(self, row: dict[str, Any]) -> bool:
        return row["friction"] >= 0 and bool(self.frictions[row["friction"]]["sticks"])

    def _kinds(self, row: dict[str, Any]) -> list[ContactEvent]:
        kinds = [] if "dof" in row else [ContactEvent.GAP]
        if row.get("has_clamp"):
            kinds.append(ContactEvent.CLAMP)
        if row["friction"] >= 0:
            law = self.frictions[row["friction"]]
            kinds += [ContactEvent.KINK1, ContactEvent.KINK2][: 2 if law["sticks"] else law["n_kinks"]]
            kinds += [ContactEvent.RELEASE] if law["sticks"] else []
        return kinds


def put_spans(contacts: Any, joint_frictions: Any, bodies: Any, dofs: Any, frames: Any, has_loops: bool) -> None:
    """Velocities of the trees on which forces act, as one span each; all of them where loops connect trees."""
    root = np.arange(len(bodies))
    for k, body in enumerate(bodies):
        if body.parent >= 0:
            root[k] = root[body.parent]
    of_velocities = root[dofs.body] if len(dofs) else np.zeros(0, np.int64)
    acting = [(row, [frames[row.frame].body, frames[row.plane].body]) for row in contacts]
    acting += [(row, [dofs[row.dof].body]) for row in joint_frictions]
    for row, on in acting:
        roots = [root[body] for body in on if body >= 0]
        moved = np.flatnonzero(np.isin(of_velocities, roots) | has_loops)
        row.span_first, row.span_end = (moved[0], moved[-1] + 1) if len(moved) else (0, 0)


def _event(table: str, k: int, kind: ContactEvent, sticks: bool) -> dict[str, Any]:
    others = {**NO_ROWS, table: k}
    # of a law that sticks all but the gap are positive as long as the branch holds
    holds = sticks and kind in (ContactEvent.KINK1, ContactEvent.KINK2, ContactEvent.RELEASE)
    firm = holds or kind == ContactEvent.GAP
    return {
        **others,
        "measure": kind,
        "direction": -1 if holds else 0,
        "start_side": 1 if firm or kind == ContactEvent.CLAMP else 0,
        "is_gap": kind == ContactEvent.GAP,
        "is_firm": firm,
        "is_kink": kind not in (ContactEvent.GAP, ContactEvent.RELEASE),
    }


def _normal(normal: NormalLaw) -> dict[str, Any]:
    """Kind and numbers of a normal law."""
    damping, kind = normal.damping or 0.0, NormalKind[normal.form.upper()]
    has_clamp = damping > 0.0 or normal.X > 0.0
    return {"kind": kind, "K": normal.K, "n": normal.n, "X": normal.X, "c": damping, "has_clamp": has_clamp}


def plane_frame(model: Model, plane: Plane) -> Frame:
    """A frame in the plane, z along its normal; in planar models x lies in the x-y plane."""
    place = find_frame(model, plane.place)
    R = place.matrix
    n = R @ np.array(plane.normal)
    n = n / np.linalg.norm(n)
    x = np.cross(n, (0.0, 0.0, 1.0))
    # a normal along z up to rounding has no such direction
    x = x / np.linalg.norm(x) if np.linalg.norm(x) > 1e-9 else np.array([1.0, 0.0, 0.0])
    x = x - (x @ n) * n
    x /= np.linalg.norm(x)
    first, second, third = np.column_stack([x, np.cross(n, x), n]).tolist()
    position = np.array(place.position) + plane.offset * n
    return Frame(place.body, tuple(position.tolist()), (tuple(first), tuple(second), tuple(third)))
