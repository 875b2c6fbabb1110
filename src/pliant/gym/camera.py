"""The robot as an image, from a place that does not move: all that its joints can reach is in the picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.model.columns import coordinate_columns
from pliant.model.model import Model
from pliant.results.recording import Recording
from pliant.view.marks import Layer, circle
from pliant.view.picture.pose import pose
from pliant.view.picture.raster import Raster
from pliant.view.picture.robot import backdrop, stage
from pliant.view.picture.scene import Scene, make_scene

Array = NDArray[np.float64]
POSES = 24  # that say what is in sight
INNER = 640.0  # [px] a picture this wide has marks of their own size
MARGIN = 30.0  # [px]


class Camera:
    """Pictures of one model."""

    def __init__(self, model: Model, size: tuple[int, int]) -> None:
        self.model, self.size = model, size
        # hinges all around, everything else where it starts
        is_angle = np.array([column.kind == "angle" for column in coordinate_columns(model)], bool)
        turns = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSES, len(is_angle)))
        self._around = np.where(is_angle, turns, model.q0)
        scene = self._scene(np.asarray(model.q0, float))
        points = [scene.points(k) for k in range(len(scene.times))]
        height = INNER * size[1] / size[0]
        self.canvas, everything, floor = stage(scene, points, INNER, (height, height), MARGIN)
        self.raster = Raster(*size, size[0] / INNER)
        self.raster.draw([Layer(backdrop(scene, self.canvas, everything, np.concatenate(points), floor))])
        self.raster.keep()

    def _scene(self, q: Array) -> Scene:
        """The poses that are always in it, so that it is seen from one side, and this one."""
        rows = np.vstack([self._around, q])
        t, still = np.arange(float(len(rows))), np.zeros((len(rows), len(self.model.velocities)))
        seen = Recording(self.model, t, rows, still, {}, {}, (), "done", "", {}, {}, {}, np.zeros((len(rows), 0)))
        return make_scene(seen, len(rows))

    def picture(self, q: Array, goal: Array) -> NDArray[np.uint8]:
        """(height, width, 3); a goal of two or three numbers is a place, and is marked."""
        scene = self._scene(q)
        marks = list(pose(scene, self.canvas, len(scene.times) - 1))
        if len(goal) in (2, 3):
            place = self.canvas.pixels(np.concatenate([goal, np.zeros(3 - len(goal))]))
            marks.append(circle("spot", place, 7.0))
        self.raster.clear()
        self.raster.draw([Layer(marks)])
        return np.ascontiguousarray(self.raster.pixels()[:, :, :3])
