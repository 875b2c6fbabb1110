"""Still pictures of a robot as SVG: several instants over each other with the paths of its ends, and snapshots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from pliant.files import write_whole
from pliant.result import Result
from pliant.view.pose import MANY_BODIES, pose, undeformed
from pliant.view.projection import Canvas, View, fit
from pliant.view.scene import Scene, extent, make_scene
from pliant.view.surroundings import (
    deformation_words,
    feet,
    floor_height,
    free_corner,
    ground_grid,
    grounds,
    scale_bar,
    shadow,
    time_words,
    trails,
    triad,
    world,
)
from pliant.view.svg import Array, document, stylesheet

WIDTH, HEIGHTS, MARGIN = 960.0, (300.0, 600.0), 56.0
SMALL_WIDTH, SMALL_MARGIN = 300.0, 22.0


def ghost_picture(scene: Scene, *, style: str = "") -> str:
    """All poses over each other, early ones faint, with trails, times, axes and a scale."""
    points = [scene.points(k) for k in range(len(scene.times))]
    floor = floor_height(scene, np.concatenate(points))
    shadows = [] if floor is None else [np.column_stack([part[:, :2], np.full(len(part), floor)]) for part in points]
    everything = np.concatenate([*points, *shadows, scene.trails.reshape(-1, 3)])
    everything = np.concatenate([everything, feet(scene, everything)])
    canvas = fit(scene.view, everything, WIDTH, HEIGHTS, MARGIN)
    content = [ground_grid(canvas, np.concatenate(points), floor) if floor is not None else ""]
    content += [shadow(scene, canvas, floor) if floor is not None else "", world(scene, canvas)]
    content.append(grounds(scene, canvas, everything))
    strengths = np.linspace(0.16, 0.5, max(len(scene.times) - 1, 1)).tolist()
    for k in range(len(scene.times) - 1):
        content.append(f'<g opacity="{strengths[k]:.2f}">{pose(scene, canvas, k)}</g>')
    content += [
        pose(scene, canvas, -1),
        undeformed(scene, canvas, -1),
        trails(scene, canvas),
        time_words(scene, canvas),
    ]
    content += [triad(canvas, free_corner(canvas, np.concatenate(points))), scale_bar(canvas)]
    content.append(deformation_words(scene, canvas))
    first, last = scene.times[0], scene.times[-1]
    instants = f"{len(scene.times)} instants from {first:g} s to {last:g} s" if len(scene.times) > 1 else f"{first:g} s"
    label = f"{scene.model.name} at {instants}"
    return document(canvas.width, canvas.height, "".join(content), label, style=style)


def snapshots(scene: Scene) -> list[tuple[float, str]]:
    """(t, svg) of every pose alone, all at the same scale; a robot that travels far is followed."""
    if len(scene.parts) > 4 * MANY_BODIES:
        return []
    points = [scene.points(k) for k in range(len(scene.times))]
    everything = np.concatenate([*points, feet(scene, np.concatenate(points))])
    follows = extent(everything) > 3 * max(map(extent, points))
    pictures = []
    for k, t in enumerate(scene.times.tolist()):
        canvas = _small_canvas(scene.view, points, k) if follows else _square(scene.view, everything)
        content = (
            grounds(scene, canvas, everything)
            + world(scene, canvas, is_small=True)
            + pose(scene, canvas, k, is_small=True)
        )
        content += undeformed(scene, canvas, k)
        pictures.append((t, document(canvas.width, canvas.height, content, f"{scene.model.name} at {t:g} s")))
    return pictures


def write_picture(
    result: Result, target: str | Path, *, n_poses: int = 6, t: float | None = None, enlarge: float = 1.0
) -> None:
    """Write the superimposed picture as an SVG file of its own, for a README or a paper.

    t: at this time alone. enlarge: factor on the deformation of beams, shown beside the undeformed ones."""
    background = "svg { background: var(--card); }"
    svg = ghost_picture(make_scene(result, n_poses, t=t, enlarge=enlarge), style=stylesheet("colours.css") + background)
    write_whole(Path(target), svg)


def _square(view: View, points: Array) -> Canvas:
    return fit(view, points, SMALL_WIDTH, (0.75 * SMALL_WIDTH, 0.75 * SMALL_WIDTH), SMALL_MARGIN)


def _small_canvas(view: View, points: list[Array], k: int) -> Canvas:
    """Centred on pose k, at the scale at which the largest pose fits."""
    scale = min(_square(view, part).scale for part in points)
    return replace(_square(view, points[k]), scale=scale)
