"""The report's charts and pictures in matplotlib: result.plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import ModelError
from pliant.model.messages import quoted
from pliant.report_types import Lines
from pliant.results.recording import Recording
from pliant.view.charts.chart import N_COLOURS, Curve, Drawing, decimate, value_range
from pliant.view.charts.chart_data import lines_drawing
from pliant.view.charts.contact_charts import Window
from pliant.view.charts.topics import TOPICS, checked_window, named_drawings, overview_drawings, topic_drawings
from pliant.view.marks import Layer, Mark, Words
from pliant.view.palette import Colour, colours, looks, mixed
from pliant.view.picture.projection import Canvas
from pliant.view.picture.robot import ghost_layers
from pliant.view.picture.scene import make_scene

WIDE, HIGH = 5.6, 2.9  # of a chart [in]
PICTURE_WIDTH = 11.2  # of a robot [in]
MAX_POINTS = 20_000  # per curve
DASHES = ("-", (0, (5, 3)), (0, (1.5, 2.5)))


def plot(
    result: Recording,
    what: str | Sequence[str] | None,
    *,
    ax: Any,
    window: Window,
    times: ArrayLike | None,
    magnify: float,
) -> Any:
    """See Recording.plot."""
    if len(result.t) == 0:
        raise ModelError("plot: this run has no rows, so there is nothing to draw; its reason says why")
    window = checked_window(result, window)
    if ax is not None:
        from matplotlib.axes import Axes

        if not isinstance(ax, Axes):
            raise ModelError(f"plot: ax {quoted(ax)} is no matplotlib Axes; give one, or leave it out")
    if what == "robot":
        return _robot(result, ax, times, magnify)
    if times is not None or magnify != 1:
        raise ModelError('plot: times and magnify are for the picture of the robot; leave them out, or plot("robot")')
    if what is None:
        if ax is not None:
            raise ModelError("plot: the overview needs a figure of its own; leave ax out, or say what to plot")
        return _overview(result, window)
    if isinstance(what, str) and what in TOPICS:
        drawings = topic_drawings(result, what, window)
    else:
        drawings = named_drawings(result, [what] if isinstance(what, str) else list(what), window)
    if ax is not None:
        if len(drawings) > 1:
            titles = ", ".join(drawing.title for drawing in drawings)
            raise ModelError(
                f"plot: {quoted(what)} makes {len(drawings)} charts ({titles}); one ax takes one: name less, or leave "
                "ax out"
            )
        draw_chart(ax, drawings[0])
        return ax
    axes = _charts(drawings)
    return axes[0] if len(axes) == 1 else axes


def _overview(result: Recording, window: Window) -> Any:
    import matplotlib.pyplot as plt

    drawings = overview_drawings(result, window)
    canvas, layers = ghost_layers(make_scene(result))
    height = PICTURE_WIDTH * canvas.height / canvas.width
    rows = -(-len(drawings) // 2)
    figure = plt.figure(figsize=(PICTURE_WIDTH, height + rows * HIGH + 0.4), layout="constrained")
    grid = figure.add_gridspec(rows + 1, 2, height_ratios=[height, *[HIGH] * rows])
    axes = [figure.add_subplot(grid[0, :])]
    draw_picture(axes[0], canvas, layers)
    wide = [drawing.is_wide and len(drawings) % 2 == 1 for drawing in drawings]
    if len(drawings) % 2 and not any(wide):
        wide[-1] = True
    places = _places(wide)
    for (row, column), drawing in zip(places, drawings, strict=True):
        axes.append(figure.add_subplot(grid[row + 1, column]))
        draw_chart(axes[-1], drawing)
    figure.suptitle(f"{result.model.name}: {result.status} at {result.t[-1]:.6g} s")
    return _array(axes)


def _charts(drawings: Sequence[Drawing]) -> Any:
    import matplotlib.pyplot as plt

    n_columns = 1 if len(drawings) == 1 else 2
    places = _places([drawing.is_wide for drawing in drawings]) if n_columns == 2 else [(0, 0)]
    n_rows = 1 + max(row for row, _ in places)
    figure = plt.figure(
        figsize=(WIDE * n_columns if n_columns > 1 else 1.2 * WIDE, HIGH * n_rows + 0.3), layout="constrained"
    )
    grid = figure.add_gridspec(n_rows, n_columns)
    axes = []
    for (row, column), drawing in zip(places, drawings, strict=True):
        axes.append(figure.add_subplot(grid[row, column]))
        draw_chart(axes[-1], drawing)
    return _array(axes)


def plot_lines(rows: Sequence[Sequence[Lines]]) -> Any:
    """Charts of curves that are no columns of a run, in rows and columns; the Axes as an array of that shape."""
    import matplotlib.pyplot as plt

    n_rows, n_columns = len(rows), len(rows[0])
    figure = plt.figure(figsize=(max(1.2, n_columns) * WIDE, HIGH * n_rows + 0.3), layout="constrained")
    axes = np.empty((n_rows, n_columns), dtype=object)
    for (row, column), _ in np.ndenumerate(axes):
        axes[row, column] = figure.add_subplot(n_rows, n_columns, row * n_columns + column + 1)
        draw_chart(axes[row, column], lines_drawing(rows[row][column]))
    return axes


def _array(axes: list[Any]) -> Any:
    found = np.empty(len(axes), dtype=object)
    found[:] = axes
    return found


def _places(are_wide: Sequence[bool]) -> list[tuple[int, Any]]:
    """Row and column of charts in two columns, row by row."""
    places: list[tuple[int, Any]] = []
    row = column = 0
    for is_wide in are_wide:
        if is_wide and column:
            row, column = row + 1, 0
        places.append((row, slice(None) if is_wide else column))
        row, column = (row + 1, 0) if is_wide or column else (row, 1)
    return places


# --- charts -------------------------------------------------------------------------------------------------------


def draw_chart(ax: Any, drawing: Drawing) -> None:
    """One chart, in the colours of the report."""
    for k, curve in enumerate(drawing.curves):
        _draw_curve(ax, curve, k)
    ax.set_title(drawing.title, fontsize="medium", loc="left")
    ax.set_xlabel(f"{drawing.across} [{drawing.across_unit}]" if drawing.across_unit else drawing.across)
    ax.set_ylabel(drawing.unit)
    ax.grid(True, color=_rgb(colours()["grid"]))
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(_rgb(colours()["ground"]))
    if drawing.is_log_across:
        ax.set_xscale("log")
    if drawing.is_log:
        ax.set_yscale("log")
    elif drawing.curves:
        # changes within rounding are not blown up
        ax.set_ylim(*value_range(drawing.curves, False, drawing.floor))
        _draw_levels(ax, drawing)
        ax.ticklabel_format(axis="y", scilimits=(-3, 5), useOffset=False)
    ax.margins(x=0.01)
    if len(drawing.curves) > 1:
        n_columns = 1 + (len(drawing.curves) > 5)
        ax.legend(fontsize="small", frameon=True, framealpha=0.75, edgecolor="none", ncols=n_columns)
    elif drawing.curves and drawing.curves[0].label not in drawing.title:
        ax.legend(fontsize="small", frameon=True, framealpha=0.75, edgecolor="none")


def _draw_levels(ax: Any, drawing: Drawing) -> None:
    """Lines across where the values come near them."""
    low, high = ax.get_ylim()
    near = [value for _, value in drawing.levels if low - (high - low) < value < high + (high - low)]
    for value in near:
        ax.axhline(value, color=_rgb(colours()["muted"]), linestyle=DASHES[1], linewidth=1.0)
    if near:
        air = 0.06 * (high - low)
        ax.set_ylim(min(low, *(value - air for value in near)), max(high, *(value + air for value in near)))


def _draw_curve(ax: Any, curve: Curve, k: int) -> None:
    k = curve.beside if curve.beside >= 0 else k
    name = f"curve{k % N_COLOURS}"
    colour = colours().get(name, colours()["ink"])
    style = DASHES[(k // N_COLOURS + curve.is_dashed) % len(DASHES)]
    is_long = len(curve.t) > MAX_POINTS
    t, values = decimate(curve.t, curve.values, MAX_POINTS) if is_long else (curve.t, curve.values)
    ax.plot(t, values, color=_rgb(colour), linestyle=style, linewidth=1.4, label=curve.label)


def _rgb(colour: Colour) -> tuple[float, float, float]:
    red, green, blue = colour
    return red / 255, green / 255, blue / 255


# --- the robot ----------------------------------------------------------------------------------------------------


def _robot(result: Recording, ax: Any, times: ArrayLike | None, magnify: float) -> Any:
    import matplotlib.pyplot as plt

    canvas, layers = ghost_layers(make_scene(result, t=times, enlarge=magnify))
    if ax is None:
        size = (PICTURE_WIDTH, PICTURE_WIDTH * canvas.height / canvas.width)
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    draw_picture(ax, canvas, layers)
    return ax


def draw_picture(ax: Any, canvas: Canvas, layers: Sequence[Layer]) -> None:
    """Marks in pixels of the canvas on axes without ticks; lines are as thick as the picture is large."""
    ax.set_xlim(0, canvas.width)
    ax.set_ylim(canvas.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    box = ax.get_window_extent()
    points = 72 / ax.figure.dpi * min(box.width / canvas.width, box.height / canvas.height)
    order = 1.0
    for layer in layers:
        for mark in layer.marks:
            order += 1e-4
            if isinstance(mark, Words):
                _draw_words(ax, mark, points, order)
            else:
                _draw_mark(ax, mark, layer.opacity, points, order)


def _draw_words(ax: Any, words: Words, points: float, order: float) -> None:
    from matplotlib.patheffects import withStroke

    look = looks()[words.look]
    assert look.fill is not None
    halo = [withStroke(linewidth=3 * points, foreground=_rgb(colours()["card"]))] if words.look == "halo" else []
    anchor = {"start": "left", "middle": "center", "end": "right"}[words.anchor]
    colour, size = _rgb(look.fill), max(12 * points, 6)
    ax.text(
        words.x,
        words.y,
        words.text,
        ha=anchor,
        va="baseline",
        color=colour,
        fontsize=size,
        path_effects=halo,
        zorder=order,
    )


def _draw_mark(ax: Any, mark: Mark, strength: float, points: float, order: float) -> None:
    from matplotlib.patches import Circle, Polygon

    look, card = looks()[mark.look], colours()["card"]
    share = strength * mark.opacity * look.opacity
    stroke = None if look.stroke is None else _rgb(mixed(look.stroke, share, card))
    fill = None if look.fill is None else _rgb(mixed(look.fill, share, card))
    width = mark.width * points
    if mark.shape == "line":
        style = (0, (5, 4)) if look.is_dashed else "-"
        cap = "butt" if look.is_dashed else "round"
        ends = {"dash_capstyle": cap, "solid_capstyle": cap, "solid_joinstyle": "round"}
        ax.plot(*mark.points.T, color=stroke, linewidth=width, linestyle=style, zorder=order, **ends)
        return
    looks_of = {"facecolor": fill or "none", "edgecolor": stroke or "none", "linewidth": width, "zorder": order}
    if mark.shape == "circle":
        ax.add_patch(Circle(mark.points[0], mark.radius, **looks_of))
    else:
        ax.add_patch(Polygon(mark.points, closed=True, joinstyle="round", **looks_of))
