"""Marks on a raster image: matplotlib's Agg, without its figures, so that hundreds of frames are drawn quickly."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.view.marks import Layer, Mark, Words
from pliant.view.palette import Colour, colours, looks

SIZE = 12.0  # of words [px]
DASHES = (6.0, 5.0)


class Raster:
    """A picture being drawn; one pixel of marks is `zoom` pixels of the picture."""

    def __init__(self, width: int, height: int, zoom: float = 1.0) -> None:
        from matplotlib.backends.backend_agg import RendererAgg
        from matplotlib.transforms import Affine2D, Bbox

        self.zoom, self.size = zoom, (width, height)
        # with 72 dots an inch a point is a pixel
        self._renderer: Any = RendererAgg(width, height, 72.0)  # type: ignore[no-untyped-call]
        self._place = Affine2D().scale(zoom, -zoom).translate(0, height)
        self._all = Bbox.from_bounds(0, 0, width, height)
        self._kept: Any = None
        self.clear()

    def clear(self) -> None:
        """Back to what was kept, or to an empty card."""
        if self._kept is not None:
            self._renderer.restore_region(self._kept)
            return
        np.asarray(self._renderer.buffer_rgba())[...] = (*colours()["card"], 255)

    def keep(self) -> None:
        """Remember the picture as it is, for clear()."""
        self._kept = self._renderer.copy_from_bbox(self._all)

    def pixels(self) -> NDArray[np.uint8]:
        """The picture, (height, width, 4): red, green, blue and full opacity."""
        return np.array(self._renderer.buffer_rgba())

    def draw(self, layers: Iterable[Layer]) -> None:
        for layer in layers:
            for mark in layer.marks:
                if isinstance(mark, Words):
                    self._words(mark)
                else:
                    self._mark(mark, layer.opacity)

    def _mark(self, mark: Mark, strength: float) -> None:
        from matplotlib.path import Path

        look, gc = looks()[mark.look], self._renderer.new_gc()
        fill = None if look.fill is None else _rgb(look.fill)
        gc.set_linewidth(0.0 if look.stroke is None else mark.width * self.zoom)
        gc.set_foreground(_rgb(look.stroke or colours()["ink"]), isRGBA=True)
        gc.set_joinstyle("round")
        gc.set_capstyle("butt" if look.is_dashed or mark.look == "trail" else "round")
        if look.is_dashed:
            gc.set_dashes(0.0, [self.zoom * length for length in DASHES])
        gc.set_alpha(strength * mark.opacity * look.opacity)
        if mark.shape == "circle":
            path = Path.circle(tuple(mark.points[0]), mark.radius)
        elif mark.shape == "polygon":
            path = Path(np.vstack([mark.points, mark.points[:1]]), closed=True)
        else:
            path, fill = Path(mark.points), None
        self._renderer.draw_path(gc, path, self._place, fill)
        gc.restore()

    def _words(self, words: Words) -> None:
        from matplotlib.transforms import Affine2D

        look = looks()[words.look]
        assert look.fill is not None
        path, width = _letters(words.text, SIZE * words.size)
        shift = {"start": 0.0, "middle": -0.5, "end": -1.0}[words.anchor] * width
        place = Affine2D().scale(1, -1).translate(words.x + shift, words.y) + self._place
        gc = self._renderer.new_gc()
        gc.set_joinstyle("round")
        if words.look == "halo":
            gc.set_linewidth(3 * self.zoom)
            gc.set_foreground(_rgb(colours()["card"]), isRGBA=True)
            self._renderer.draw_path(gc, path, place, _rgb(colours()["card"]))
        gc.set_linewidth(0.0)
        self._renderer.draw_path(gc, path, place, _rgb(look.fill))
        gc.restore()


@lru_cache(maxsize=256)
def _letters(text: str, size: float) -> tuple[Any, float]:
    """The outlines of a text from its base line on, and its width."""
    from matplotlib.textpath import TextPath

    path = TextPath((0, 0), text.replace("$", r"\$"), size=size)
    return path, float(path.vertices[:, 0].max(initial=0.0))


def _rgb(colour: Colour) -> tuple[float, float, float, float]:
    red, green, blue = colour
    return red / 255, green / 255, blue / 255, 1.0
