"""Result: what a run gives back. A recording, and what is made of it: labelled dataset, files, pictures, pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from pliant.engine.arguments import NOT_NEGATIVE, as_choice, as_name, as_names, as_number, as_pair, as_time_list
from pliant.engine.callbacks import heard
from pliant.errors import ModelError
from pliant.files import as_path
from pliant.results.recording import Recording

if TYPE_CHECKING:
    import pandas
    import xarray


def load_result(path: str | Path) -> Result:
    """The Result in a file that save, or a run of the command (result.nc), has written: at(t), charts and pages as on
    the day it was made, and simulate(..., start=result) goes on from its end. Functions of Python controllers do not
    travel: their commands do."""
    from pliant.io.result_file import read_result

    return Result(**read_result(as_path(path)))


@dataclass(frozen=True, eq=False, repr=False)
class Result(Recording):
    """One run: t, q, v are rows at accepted steps (or on the grid asked for); at(t) is the state at any time."""

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything over time, events and contacts, labelled and with units (xarray)."""
        import xarray

        from pliant.io.labelled import variables

        made = {one.name: (one.axes, one.values, {"units": one.unit} if one.unit else {}) for one in variables(self)}
        labels = [one.name for one in variables(self) if one.is_label]
        dataset = xarray.Dataset(made, attrs={"model": self.model.name, "status": self.status})
        return dataset.set_coords(labels)

    def save(self, path: str | Path) -> None:
        """Write a NetCDF file, for load_result (readable by xarray.open_dataset(path, engine="h5netcdf"))."""
        from pliant.io.result_file import save_result

        save_result(self, as_path(path))

    def plot(
        self,
        what: str | Sequence[str] | None = None,
        *,
        ax: Any = None,
        window: tuple[float, float] | None = None,
        times: ArrayLike | None = None,
        magnify: float = 1.0,
    ) -> Any:
        """Draw with matplotlib: nothing said, an overview of the run.

        what: "robot" (at `times` [s], deformation times `magnify`), "coordinates", "speeds", "outputs", "commands",
        "energy", "works", "energy_error", "contacts" (forces, with a close look at impacts), "beams"; or the name of a
        column ("elbow", "elbow.rate", "tip.x", "kinetic") or an output, or a list of names (one chart per unit).
        ax: draw there. window: from when to when [s]. Returns the Axes, an array of them if there are several; their
        `figure` saves and shows: result.plot("energy").figure.savefig("energy.png")."""
        from pliant.view.figure import plot

        what = None if what is None else what if isinstance(what, str) else list(as_names(what, "plot"))
        window = None if window is None else as_pair(window, "plot: window", "(from, to) in seconds")
        at, magnify = None if times is None else as_time_list(times), as_number(magnify, "plot: magnify", NOT_NEGATIVE)
        return plot(self, what, ax=ax, window=window, times=at, magnify=magnify)

    def video(
        self,
        path: str | Path,
        *,
        fps: float | None = None,
        speed: float | None = None,
        magnify: float = 1.0,
        size: tuple[int, int] | None = None,
        progress: Callable[[float, float], None] | None = None,
    ) -> None:
        """Write the moving robot as .mp4 or .gif.

        fps: frames a second (30; gif 25). speed: seconds of the run per second of the video (1 for runs of 4 to 20 s,
        else such that the video lasts some seconds). magnify: factor on the deformation of beams. size: (width, height)
        in pixels. progress(frame, frames) is called after every frame."""
        from pliant.view.picture.video import write_video

        write_video(
            self,
            as_path(path),
            fps=None if fps is None else as_number(fps, "video: fps", 0.0),
            speed=None if speed is None else as_number(speed, "video: speed", 0.0),
            magnify=as_number(magnify, "video: magnify", NOT_NEGATIVE),
            size=None if size is None else as_pair(size, "video: size", "(width, height) in pixels"),
            progress=heard(progress),
        )

    def report(
        self,
        path: str | Path = "report.html",
        *,
        title: str = "",
        t: float | None = None,
        magnify: float = 1.0,
        plotly: str | Path | None = None,
    ) -> None:
        """Write the report page: the moving robot beside charts, contacts, events and checks, in one file that needs no
        network. t: where the film stands at first [s]; nothing said, it plays. magnify: factor on the deformation of
        beams at first; the page has a slider. plotly: a file as "plotly.min.js" for the script of the charts, which
        several pages can share (4.8 MB less each); written where it is missing, and to be moved with them."""
        from pliant.view.page.report import write_report

        as_name(title, "title", "give a text")
        moment = None if t is None else as_number(t, "t", unit="of seconds")
        if moment is not None and len(self.t) and not self.t[0] <= moment <= self.t[-1]:
            raise ModelError(
                f"t = {moment:g} s lies outside the run, {self.t[0]:g} ... {self.t[-1]:g} s; give a time in it"
            )
        enlarge = as_number(magnify, "magnify", NOT_NEGATIVE)
        shared = None if plotly is None else as_path(plotly)
        write_report(self, as_path(path), title=title, moment=moment, enlarge=enlarge, plotly=shared)

    def to_pandas(self, form: str = "wide") -> pandas.DataFrame:
        """Everything over time as a table. "wide": a column per quantity, time as index, units in attrs["units"];
        "long": columns time, kind, name, unit, value."""
        from pliant.io.table_file import to_pandas

        frame: pandas.DataFrame = to_pandas(self, as_choice(form, ("wide", "long"), "form"))
        return frame

    def to_csv(self, path: str | Path) -> None:
        """Write everything over time as a CSV table; the first line holds names and units ("elbow [rad]")."""
        from pliant.io.table_file import write_csv

        write_csv(self, as_path(path))

    def to_mat(self, path: str | Path) -> None:
        """Write a MATLAB file: t, q, v with names and units; energy, outputs, contacts, events, audit as structs."""
        from pliant.io.mat_file import write_mat

        write_mat(self, as_path(path))

    def _repr_html_(self) -> str:
        from pliant.view.notebook import result_html

        return result_html(self)

    def __repr__(self) -> str:
        end = f"t = {self.t[-1]:g} s" if len(self.t) else "no rows"
        residual = self.audit.get("energy_residual", float("nan"))
        return (
            f"<Result of {self.model.name!r}: {self.status} at {end}, {len(self.t)} rows, "
            f"energy residual {residual:.1e}{counted(self.warnings)}{'' if self.is_ok else ', ' + self.reason}>"
        )


def counted(warnings: Sequence[str]) -> str:
    """', 1 warning', or nothing."""
    return f", {len(warnings)} warning{'s' if len(warnings) > 1 else ''}" if warnings else ""
