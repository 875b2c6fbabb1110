"""The moving robot as data for the page's script: placements, bending, contact forces at up to 2000 moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.model.flexible import Beam
from pliant.model.springs import free_lengths
from pliant.model.tree import find_frame
from pliant.results.recording import STATIONS, Recording
from pliant.view.arrays import Arrays
from pliant.view.charts.quantities import has_dense
from pliant.view.page.beam_film import beam_data
from pliant.view.page.events import event_words, own_events
from pliant.view.page.film_times import MAX_FRAMES, MIN_FRAMES, FilmTimes, film_times
from pliant.view.picture.projection import AZIMUTH, ELEVATION, choose_view
from pliant.view.picture.scene import keeps_joint_frames
from pliant.view.picture.skeleton import (
    FREE_KINDS,
    Part,
    ends,
    extreme_points,
    held_loops,
    loop_frames,
    places,
    skeleton,
)
from pliant.view.picture.solids import joint_size, solids, usual_thickness
from pliant.view.picture.springs import spring_kind
from pliant.view.svg import Array

SLIDES = ("prismatic", "cylindrical")
MAX_TRAILS = 40  # to choose from
MAX_POINTS = 24  # of contact whose forces are shown
MAX_EVENTS = 300  # marked on the line of time
N_DIRECTIONS = 120  # in which the size of the picture is looked for
MAX_PLACES = 20_000  # that are looked at for it
LOOKED_AT = 40  # instants, for the size of the picture


def film(result: Recording, arrays: Arrays, room: int) -> dict[str, Any] | None:
    """All that is drawn of one run, in about `room` bytes; None where nothing was reached."""
    model = result.model
    if len(result.t) == 0:
        return None
    times = film_times(result, _most_frames(result, room))
    t = times.t
    if len(t) == 0:
        return None
    posed = replace(result, t=t, q=result.at(t)[0] if has_dense(result) else _rows(result, t))
    R, p = posed.placements()
    beams = posed.stations()
    looked = _looked_at(model, R, p, beams)
    every = p.reshape(-1, 3)
    points = np.concatenate([every[:: 1 + len(every) // MAX_PLACES], *looked])
    low, high = points.min(axis=0), points.max(axis=0)
    origin = 0.5 * (low + high)
    planes = _planes(model, origin)
    hull = _with_ground(_extreme(points - origin), planes)
    low, high = hull.min(axis=0), hull.max(axis=0)
    moving = [(R, p), *((R_s.reshape(-1, 1, 3, 3), p_s.reshape(-1, 1, 3)) for R_s, p_s in beams.values())]
    view = choose_view(moving, points)
    thick = usual_thickness(model)
    shapes: dict[str, int] = {}
    shape_list: list[dict[str, Any]] = []
    bodies = []
    parts, reached = skeleton(model), places(model)
    for i, (link, own) in enumerate(zip(model.links, solids(model), strict=True)):
        chosen = []
        for solid in own:
            data = solid.data
            key = repr(data)
            if key not in shapes:
                shapes[key] = len(shape_list)
                shape_list.append(data)
            chosen.append(shapes[key])
        bodies.append(
            {
                "name": link.body.name,
                "joint": link.joint.name,
                "middle": _middle(link.body, parts[i]),
                "parent": link.parent,
                "joint_frame": [float(value) for value in link.joint_frame.position],
                "slides": link.joint.kind in (*SLIDES, "planar") and link.parent >= 0,
                "solids": chosen,
                "arms": [place.tolist() for place in reached[i] if np.any(place[1:])]
                if isinstance(link.body, Beam)
                else [],
            }
        )
    return {
        "t": arrays.add(t, "f8"),
        "n": len(t),
        "note": _note(times),
        "origin": origin.tolist(),
        "p": arrays.add(p - origin),
        "q": arrays.add(_quaternions(R)),
        "bodies": bodies,
        "shapes": shape_list,
        "beams": beam_data(result, t, R, p, beams, arrays),
        "local": keeps_joint_frames(posed),  # every beam is enlarged by itself
        "trails": _trails(posed, p, origin, arrays),
        "contact": _contact(result, t, origin, arrays),
        "events": [{"t": event.t, "words": event_words(event)} for event in own_events(result)[:MAX_EVENTS]],
        "planes": planes,
        "rods": _rods(model, origin),
        "springs": _springs(model, origin),
        "feet": _feet(model, origin, thick),
        "rails": _rails(model, p - origin),
        "flat": view.is_flat,
        "starts_flat": _turns_flat(model, R[0], view.toward),
        "right": view.right.tolist(),
        "up": view.up.tolist(),
        "toward": view.toward.tolist(),
        "azimuth": AZIMUTH,
        "elevation": ELEVATION,
        "hull": arrays.add(hull),
        "low": low.tolist(),
        "high": high.tolist(),
        "box": max(float(np.max(np.ptp(each, axis=0))) for each in looked) or 1.0,
        "thick": thick,
        "floor": bool(any(model.gravity)) or any(_support(link) for link in model.links),
        "down": [float(value) for value in model.gravity],
    }


def _rows(result: Recording, t: Array) -> Array:
    """q of rows at their own times."""
    return result.q[np.searchsorted(result.t, t)]


def _most_frames(result: Recording, room: int) -> int:
    """How many instants fit: attitudes and places of the bodies, forces of the contacts, sections of the beams."""
    model = result.model
    n_points = min(len({(row["contact"], row["point"]) for row in result.contacts}), MAX_POINTS)
    per_frame = 8 + 4 * (7 * len(model.links) + 9 * n_points + 3) + len(model.beams) * (STATIONS + 16)
    return int(np.clip(room / per_frame, MIN_FRAMES, MAX_FRAMES))


def _note(times: FilmTimes) -> str:
    """What of the run the film shows, in words; nothing where all is there."""
    if len(times.t) == 1:
        return "One moment only."
    if times.n_kept == times.n_events:
        return ""
    return f"Of {times.n_events} contacts and events the film stops at {times.n_kept} exactly, and passes the others."


def _middle(body: Any, parts: Sequence[Part]) -> list[float]:
    """Where the name of a body stands, in its axes."""
    if isinstance(body, Beam):
        return [0.5 * body.length, 0.0, 0.0]
    points = np.concatenate([extreme_points(part) for part in parts] or [np.zeros((1, 3))])
    return [float(value) for value in 0.5 * (points.min(axis=0) + points.max(axis=0))]


def _support(link: Any) -> bool:
    """Whether the world holds this root at one place."""
    return link.parent < 0 and link.joint.kind not in (*FREE_KINDS, *SLIDES)


def _rods(model: Any, origin: Array) -> list[list[dict[str, Any]]]:
    """Two ends, each on a body (-1: world), of loops that keep a distance."""
    return [_two_ends(model, loop, origin) for loop in model.loops if loop.kind == "distance"]


def _springs(model: Any, origin: Array) -> list[dict[str, Any]]:
    """Springs between two places, each with its free length [m] and how it is drawn."""
    pairs = zip(model.springs, free_lengths(model), strict=True)
    return [
        {
            "name": spring.name,
            "ends": _two_ends(model, spring, origin),
            "length": length,
            "kind": spring_kind(spring),
            "only": spring.only,
        }
        for spring, length in pairs
    ]


def _two_ends(model: Any, connection: Any, origin: Array) -> list[dict[str, Any]]:
    """Of a loop or a spring, each on a body (-1: world)."""
    rows = {link.body.name: i for i, link in enumerate(model.links)}
    ends = [(rows.get(frame.body, -1), np.array(frame.position)) for frame in loop_frames(model, connection)]
    return [{"body": i, "at": (at if i >= 0 else at - origin).tolist()} for i, at in ends]


def _feet(model: Any, origin: Array, thick: float) -> list[dict[str, Any]]:
    """Where the world holds bodies, and how large that is drawn."""
    held = [(i, link.joint_frame.position) for i, link in enumerate(model.links) if _support(link)]
    places = [(np.array(joint_frame), joint_size(model, i, thick)) for i, joint_frame in held]
    places += [(joint_frame, 1.7 * thick) for joint_frame in held_loops(model)]
    return [{"at": (joint_frame - origin).tolist(), "size": size} for joint_frame, size in places]


def _turns_flat(model: Any, R: Array, normal: Array) -> bool:
    """Whether all hinges rotate about one direction: no robot that could leave the plane and just does not."""
    hinges = [(i, link.joint.axis or (0, 0, 1)) for i, link in enumerate(model.links) if link.joint.kind == "revolute"]
    return all(np.linalg.norm(np.cross(R[i] @ axis, normal)) < 1e-6 * np.linalg.norm(axis) for i, axis in hinges)


def _rails(model: Any, p: Array) -> list[list[float]]:
    """Lines along which roots slide, a little longer than they do; none where there is a ground to slide on."""
    found = []
    for i, link in enumerate(model.links):
        if link.parent < 0 and link.joint.kind in SLIDES and not model.contacts:
            axis = link.joint_frame.matrix @ np.array(link.joint.axis or (0.0, 0.0, 1.0))
            axis /= np.linalg.norm(axis)
            ways = (p[:, i] - p[0, i]) @ axis
            more = 0.2 * np.ptp(ways) + 20 * usual_thickness(model)
            ends = p[0, i] + np.outer([ways.min() - more, ways.max() + more], axis)
            found.append(ends.ravel().tolist())
    return found


def _looked_at(model: Any, R: Array, p: Array, beams: dict[str, tuple[Array, Array]]) -> list[Array]:
    """World points that hold the robot, (n, 3) at each of some instants."""
    ends = [(i, extreme_points(part)) for i, parts in enumerate(skeleton(model)) for part in parts]
    own = np.concatenate([np.zeros((0, 3)), *(points for _, points in ends)])
    body = np.repeat([i for i, _ in ends], [len(points) for _, points in ends]).astype(int)
    hung = [frame.position for spring in model.springs for frame in loop_frames(model, spring) if frame.body == "world"]
    still, found = np.array(hung, dtype=float).reshape(-1, 3), []
    for k in np.unique(np.linspace(0, len(p) - 1, LOOKED_AT).astype(int)).tolist():
        points = p[k, body] + np.einsum("nij,nj->ni", R[k, body], own)
        every = np.concatenate([p[k], points, still, *(line[k] for _, line in beams.values())])
        found.append(every if len(every) < MAX_PLACES else _extreme(every))
    return found


def _quaternions(R: Array) -> Array:
    """x y z w of attitudes (times, n, 3, 3), without jumps of sign in time."""
    trace = np.trace(R, axis1=2, axis2=3)
    diagonal = np.diagonal(R, axis1=2, axis2=3)
    squares = np.concatenate([1 + 2 * diagonal - trace[..., None], 1 + trace[..., None]], axis=-1)
    best = np.argmax(squares, axis=-1)
    q = np.empty((*R.shape[:2], 4))
    skew = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    for k in range(4):
        own = best == k
        if k == 3:
            q[own] = np.concatenate([skew[own], squares[own][:, 3:]], axis=-1)
        else:
            row = R[own][:, k, :] + R[own][:, :, k]
            row[:, k] = squares[own][:, k]
            q[own] = np.concatenate([row, skew[own][:, k : k + 1]], axis=-1)
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    flips = np.sign(np.sum(q[1:] * q[:-1], axis=-1))
    q[1:] *= np.cumprod(np.where(flips < 0, -1.0, 1.0), axis=0)[..., None]
    return np.asarray(q)


def _trails(posed: Recording, p: Array, origin: Array, arrays: Arrays) -> list[dict[str, Any]]:
    """Points whose paths may be drawn: ends, named frames, the mass centre, bodies. The ends are chosen at first."""
    model = posed.model
    rows = {link.body.name: i for i, link in enumerate(model.links)}
    found: dict[tuple[int, tuple[float, ...]], dict[str, Any]] = {}

    def put(body: int, point: Any, name: str, is_chosen: bool) -> None:
        place = tuple(float(value) for value in point)
        if (body, place) not in found and len(found) < MAX_TRAILS:
            found[body, place] = {"name": name, "body": body, "point": place, "chosen": is_chosen}

    for end in ends(model):
        put(end.body, end.point, end.name, True)
    for frame in model.frames:
        if frame.name and frame.body in rows:
            put(rows[frame.body], frame.position, frame.name, False)
    for name, i in rows.items():
        put(i, (0.0, 0.0, 0.0), f"{name} (origin)", False)
    if any(link.body.total_mass > 0 for link in model.links):
        centre = posed.mass_centre() - origin
        found[-1, ()] = {"name": "mass centre", "body": -1, "path": arrays.add(centre), "chosen": False}
    return list(found.values())


def _contact(result: Recording, t: Array, origin: Array, arrays: Arrays) -> dict[str, Any] | None:
    """Forces on the points that touched, and when they did; of very many points those with the largest forces."""
    log = result.contacts
    if len(log) == 0 or not has_dense(result):
        return None
    forces = result.contact_forces(t)
    touched = {(str(row["contact"]), str(row["point"])) for row in log}
    peaks = np.linalg.norm(forces.normal, axis=2).max(axis=0, initial=0.0)
    order = [k for k in np.argsort(-peaks, kind="stable").tolist() if forces.names[k] in touched]
    chosen = sorted(order[:MAX_POINTS])
    names = [forces.names[k] for k in chosen]
    touches: list[list[list[float]]] = [[] for _ in chosen]
    last = float(t[-1])
    for row in log:
        key = (str(row["contact"]), str(row["point"]))
        if key in names:
            end = float(row["t_end"])
            touches[names.index(key)].append([float(row["t_start"]), last if np.isnan(end) else end])
    return {
        "names": [f"{point} touches {contact}" for contact, point in names],
        "normal": arrays.add(forces.normal[:, chosen]),
        "friction": arrays.add(forces.friction[:, chosen]),
        "place": arrays.add(forces.place[:, chosen] - origin),
        "touches": touches,
        "largest": float(peaks.max(initial=0.0)),
    }


def _extreme(points: Array) -> Array:
    """The farthest points in many directions: all that decides the size of a picture."""
    k = np.arange(N_DIRECTIONS)
    height, angle = 1 - (2 * k + 1) / N_DIRECTIONS, np.pi * (1 + 5**0.5) * k
    around = np.sqrt(1 - height**2)
    directions = np.stack([around * np.cos(angle), around * np.sin(angle), height])
    directions = np.concatenate([directions, np.eye(3), -np.eye(3)], axis=1)
    return np.asarray(points[np.unique(np.argmax(directions.T @ points.T, axis=1))])


def _with_ground(points: Array, planes: list[dict[str, Any]]) -> Array:
    """And their feet on every plane of contact that stands still, if they are near."""
    size = float(np.max(np.ptp(points, axis=0))) or 1.0
    found = [points]
    for plane in (plane for plane in planes if plane["body"] < 0):
        n = np.array(plane["normal"])
        feet = points - np.outer((points - np.array(plane["point"])) @ n, n)
        found.append(feet[np.linalg.norm(feet - points, axis=1) < 2 * size])
    return np.concatenate(found)


def _planes(model: Any, origin: Array) -> list[dict[str, Any]]:
    """Planes of contact: body that carries them (-1: world), a point and the normal in its axes."""
    rows = {link.body.name: i for i, link in enumerate(model.links)}
    found = []
    for contact in model.contacts:
        frame = find_frame(model, contact.plane.place)
        normal = frame.matrix @ np.array(contact.plane.normal) / np.linalg.norm(contact.plane.normal)
        point = np.array(frame.position) + contact.plane.offset * normal
        body = rows.get(frame.body, -1)
        found.append(
            {
                "name": contact.name,
                "body": body,
                "point": (point - origin if body < 0 else point).tolist(),
                "normal": normal.tolist(),
            }
        )
    return [one for k, one in enumerate(found) if one not in found[:k]]
