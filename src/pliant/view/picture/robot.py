"""Still pictures of a robot as SVG: several instants over each other with the paths of its ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.files import write_whole
from pliant.results.recording import Recording
from pliant.view.marks import Layer, Mark, svg_layers
from pliant.view.picture.pose import pose, undeformed
from pliant.view.picture.projection import Canvas, fit
from pliant.view.picture.scene import Scene, make_scene
from pliant.view.picture.surroundings import (
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


def ghost_picture(scene: Scene, *, style: str = "") -> str:
    """All poses over each other, early ones faint, with trails, times, axes and a scale."""
    canvas, layers = ghost_layers(scene)
    first, last = scene.times[0], scene.times[-1]
    instants = f"{len(scene.times)} instants from {first:g} s to {last:g} s" if len(scene.times) > 1 else f"{first:g} s"
    return document(canvas.width, canvas.height, svg_layers(layers), f"{scene.model.name} at {instants}", style=style)


def ghost_layers(scene: Scene) -> tuple[Canvas, list[Layer]]:
    """What the superimposed picture shows."""
    points = [scene.points(k) for k in range(len(scene.times))]
    canvas, everything, floor = stage(scene, points, WIDTH, HEIGHTS, MARGIN)
    layers = [Layer(backdrop(scene, canvas, everything, np.concatenate(points), floor))]
    if floor is not None:
        layers.append(Layer(shadow(scene, canvas, floor)))
    strengths = np.linspace(0.16, 0.5, max(len(scene.times) - 1, 1)).tolist()
    layers += [Layer(pose(scene, canvas, k), strengths[k]) for k in range(len(scene.times) - 1)]
    layers.append(Layer([*pose(scene, canvas, -1), *undeformed(scene, canvas, -1), *trails(scene, canvas)]))
    corner = free_corner(canvas, np.concatenate(points))
    signs = [*time_words(scene, canvas), *triad(canvas, corner), *scale_bar(canvas), *deformation_words(scene, canvas)]
    return canvas, [*layers, Layer(signs)]


def stage(
    scene: Scene, points: list[Array], width: float, heights: tuple[float, float], margin: float
) -> tuple[Canvas, Array, float | None]:
    """A canvas that shows all poses, the world points it shows, and the height of the ground grid if there is one."""
    floor = floor_height(scene, np.concatenate(points))
    shadows = [] if floor is None else [np.column_stack([part[:, :2], np.full(len(part), floor)]) for part in points]
    everything = np.concatenate([*points, *shadows, scene.trails.reshape(-1, 3)])
    everything = np.concatenate([everything, feet(scene, everything)])
    return fit(scene.view, everything, width, heights, margin), everything, floor


def backdrop(scene: Scene, canvas: Canvas, everything: Array, points: Array, floor: float | None) -> list[Mark]:
    """What stands still: ground grid, supports, planes of contact."""
    grid = [] if floor is None else ground_grid(canvas, points, floor)
    return [*grid, *world(scene, canvas), *grounds(scene, canvas, everything)]


def write_picture(
    result: Recording, target: str | Path, *, n_poses: int = 6, t: float | None = None, enlarge: float = 1.0
) -> None:
    """Write the superimposed picture as an SVG file of its own, for a README or a paper.

    t: at this time alone. enlarge: factor on the deformation of beams, shown beside the undeformed ones."""
    background = "svg { background: var(--card); }"
    svg = ghost_picture(make_scene(result, n_poses, t=t, enlarge=enlarge), style=stylesheet("colours.css") + background)
    write_whole(Path(target), svg)
