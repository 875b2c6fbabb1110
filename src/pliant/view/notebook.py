"""Results and models as notebooks show them: a picture, tables, and their accuracy.

Colours of text and lines are the notebook's own; the picture brings its card with it. So light and dark both work."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from pliant.model.contact_points import contact_points
from pliant.model.model import Model
from pliant.results.recording import Recording
from pliant.view.marks import Layer, svg_layers
from pliant.view.picture.pose import pose
from pliant.view.picture.robot import HEIGHTS, MARGIN, WIDTH, backdrop, ghost_picture, stage
from pliant.view.picture.scene import Scene, make_scene
from pliant.view.picture.surroundings import free_corner, scale_bar, shadow, triad
from pliant.view.svg import document, readable, stylesheet

MAX_ROWS = 12  # of a table
NUDGE = 0.1  # [rad, m] another configuration shows in which plane a robot moves
CELL = "padding:2px 12px 2px 0;white-space:nowrap;text-align:left;vertical-align:top;border:none"
STATUS = {"done": "#2e9e63", "stopped": "#2e9e63", "interrupted": "#c77d0a", "failed": "#d9483b"}  # on light and dark


def result_html(result: Recording) -> str:
    """How it ended, the robot, contacts, and its accuracy."""
    end = f"t = {result.t[-1]:.6g} s" if len(result.t) else "once"
    colour = STATUS.get(result.status, "inherit")
    head = f'<b>{escape(result.model.name)}</b>: <b style="color:{colour}">{escape(result.status)}</b> at {end}'
    reasons = [result.reason] * bool(result.reason) + [f"warning: {words}" for words in result.warnings]
    lines = "".join(f"<div>{escape(words)}</div>" for words in reasons)
    picture = ""
    if len(result.t) and np.isfinite(result.q).any(axis=1).any():
        picture = _image(ghost_picture(make_scene(result), style=_style()), f"{result.model.name}, superimposed poses")
    audit = [(name, f"{value:.2g}") for name, value in result.audit.items()]
    stats = [(name, readable(float(value), 4)) for name, value in result.stats.items()]
    settings = [(name, str(value)) for name, value in result.settings.items() if value is not None]
    parts = [
        f"<div>{head}</div>{lines}",
        picture,
        _contacts(result),
        _block("Accuracy", _table(("audit", ""), audit), is_open=True),
        _block("What it took, how it was run", _table(("", ""), [*stats, *settings])),
        _block(f"{len(result.t)} rows over time", _table(("array", "shape", "columns"), _arrays(result))),
    ]
    return _page(parts)


def table_html(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table under a title; numbers with six digits."""
    shown = [[readable(cell) if isinstance(cell, float) else cell for cell in row] for row in rows[:MAX_ROWS]]
    return _page([f"<div>{escape(title)}</div>", _table(head, shown, len(rows))])


def model_html(model: Model) -> str:
    """The robot at its start, and tables of what it is made of."""
    links = [
        (
            link.body.name,
            "beam" if hasattr(link.body, "section") else "rigid",
            f"{link.body.total_mass:.6g}",
            link.joint.name if link.joint.kind != "fixed" or link.joint in model.joints else "",
            link.joint.kind,
            link.joint_frame.name or link.joint_frame.body,
        )
        for link in model.links
    ]
    contacts = [
        (
            contact.name,
            contact.normal.law,
            contact.friction.law if contact.friction else "none",
            ", ".join(point.name for point in contact_points(model, contact)[:6]),
        )
        for contact in model.contacts
    ]
    controllers = [
        (
            each.name,
            each.law.kind if each.law else "Python",
            f"{each.period:g}",
            f"{each.delay:g}",
            ", ".join(each.joints),
        )
        for each in model.controllers
    ]
    heads = ("controller", "law", "period [s]", "delay [s]", "joints")
    outputs = [(output.name, output.quantity, output.of) for output in model.outputs]
    n_v = len(model.velocities)
    gravity = ", ".join(f"{value:g}" for value in model.gravity)
    counts = f"{len(model.bodies)} bodies, {n_v} velocities"
    head = f"<b>{escape(model.name)}</b>: {counts}, gravity ({gravity}) m/s<sup>2</sup>"
    parts = [
        f"<div>{head}</div>",
        _image(start_picture(model), f"{model.name} at its start"),
        _block("Bodies and joints", _table(("body", "kind", "mass [kg]", "joint", "", "on"), links), is_open=True),
        _block("Contacts", _table(("contact", "normal law", "friction", "points"), contacts), is_open=True),
        _block("Controllers", _table(heads, controllers), is_open=True),
        _block("Outputs", _table(("output", "quantity", "of"), outputs)),
    ]
    return _page(parts)


def start_picture(model: Model) -> str:
    """The robot at its start, as SVG."""
    # the start comes last, as the pose that counts in a scene
    q = np.stack([model.q0 + NUDGE, model.q0])
    still = Recording(
        model, np.array([0.0, 1.0]), q, np.stack([model.v0] * 2), {}, {}, (), "start", "", {}, {}, {}, np.zeros((2, 0))
    )
    scene = make_scene(still, 2)
    scene = replace(scene, trails=scene.trails[-1:], trail_times=scene.trail_times[-1:])
    return document(*_start(scene), f"{model.name} at its start", style=_style())


def _start(scene: Scene) -> tuple[float, float, str]:
    points = scene.points(-1)
    canvas, everything, floor = stage(scene, [points], WIDTH, HEIGHTS, MARGIN)
    shade = [] if floor is None else shadow(scene, canvas, floor)
    signs = [*triad(canvas, free_corner(canvas, everything)), *scale_bar(canvas)]
    still = backdrop(scene, canvas, everything, points, floor)
    layers = [Layer(still), Layer(shade), Layer(pose(scene, canvas, -1)), Layer(signs)]
    return canvas.width, canvas.height, svg_layers(layers)


def _contacts(result: Recording) -> str:
    log = result.contacts
    return _block(f"{len(log)} contacts", _table(log.head(), log.rows(MAX_ROWS), len(log)), is_open=True)


def _arrays(result: Recording) -> list[tuple[str, ...]]:
    rows = [("q", result.q, result.model.coordinates), ("v", result.v, result.model.velocities)]
    rows += [(f"outputs[{name!r}]", values, ()) for name, values in result.outputs.items()]
    found = [
        (name, str(values.shape), ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else ""))
        for name, values, columns in rows
    ]
    return [*found, ("energy", f"({len(result.t)},) each", ", ".join(result.energy))]


# --- small parts --------------------------------------------------------------------------------------------------


def _page(parts: Iterable[str]) -> str:
    return f'<div style="color:inherit;background:transparent;font-size:90%">{"".join(parts)}</div>'


def _style() -> str:
    return stylesheet("colours.css") + "svg { background: var(--card); }"


def _image(svg: str, label: str) -> str:
    data = b64encode(svg.encode()).decode()
    style = "max-width:100%;width:720px;border-radius:6px;margin:6px 0"
    return f'<div><img alt="{escape(label)}" style="{style}" src="data:image/svg+xml;base64,{data}"></div>'


def _block(title: str, table: str, *, is_open: bool = False) -> str:
    if not table:
        return ""
    opened = " open" if is_open else ""
    return f'<details{opened}><summary style="cursor:pointer">{escape(title)}</summary>{table}</details>'


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]], count: int = 0) -> str:
    """Cells are escaped here; of many rows the first."""
    if not rows:
        return ""
    count = max(count, len(rows))
    heads = "".join(f'<th style="{CELL}">{escape(name)}</th>' for name in head) if any(head) else ""
    lines = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(str(cell))}</td>' for cell in row) + "</tr>"
        for row in rows[:MAX_ROWS]
    )
    more = f"<div>the first {MAX_ROWS} of {count}</div>" if count > MAX_ROWS else ""
    body = f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody>"
    return f'<table style="border-collapse:collapse;margin:4px 0;font-size:inherit;color:inherit">{body}</table>{more}'
