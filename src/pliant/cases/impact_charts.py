"""What a contact point does before, during and after an impact: figures, curves in axes of the plane, comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.report_types import Figure, Finding, Lines
from pliant.result import Result

Array = NDArray[np.float64]
POINTS = 1201  # of a curve
AROUND = 0.6  # of the contact's length, shown before and after it


@dataclass(frozen=True)
class Impact:
    """The first contact of a run: of a point whose velocity, acceleration and force are outputs of these names."""

    result: Result
    velocity: str
    acceleration: str
    force: str

    @property
    def start(self) -> float:
        return float(self.result.contacts["t_start"][0])

    @property
    def end(self) -> float:
        """Of the contact, or of the run if it lasts."""
        return float(np.nan_to_num(self.result.contacts["t_end"][0], nan=self.result.t[-1]))

    @property
    def normal(self) -> Array:
        """Of the plane, which is fixed in the world."""
        normal = np.array(self.result.model.contacts[0].plane.normal)
        return np.asarray(normal / np.linalg.norm(normal))

    def times(self) -> Array:
        """About the contact."""
        margin = AROUND * (self.end - self.start)
        first, last = max(self.start - margin, self.result.t[0]), min(self.end + margin, self.result.t[-1])
        return np.linspace(first, last, POINTS)

    def axes(self) -> Array:
        """Rows: normal, direction of sliding at the start of the contact, and across."""
        n = self.normal
        slide = self._sliding()
        speed = np.linalg.norm(slide)
        # no sliding: any direction in the plane
        along = slide / speed if speed > 1e-12 else np.linalg.svd(n[None, :])[2][1]
        return np.stack([n, along, np.cross(n, along)])

    def _sliding(self) -> Array:
        u = self.result.outputs_at(np.array([self.start]))[self.velocity][0]
        return np.asarray(u - self.normal * (self.normal @ u))

    @property
    def tangential_speed(self) -> float:
        """Of sliding at the start of the contact [m/s]."""
        return float(np.linalg.norm(self._sliding()))

    def motion(self, t: Array, output: str) -> Array:
        """(times, 3): a vector of the point in axes()."""
        return np.asarray(self.result.outputs_at(t)[output] @ self.axes().T)

    def forces(self, t: Array) -> Array:
        """(times, 3): normal force, friction along the sliding and across [N]."""
        values = self.result.outputs_at(t)[self.force]
        return np.column_stack([values[:, 0], values[:, 1:4] @ self.axes()[1:].T])

    def peaks(self) -> int:
        """How many maxima the normal force has, over all contacts of the run."""
        return sum(self._peaks(float(one["t_start"]), float(one["t_end"])) for one in self.result.contacts)

    def _peaks(self, start: float, end: float) -> int:
        t = np.linspace(start, end if end == end else self.result.t[-1], 4 * POINTS)
        force = self.result.outputs_at(t)[self.force][:, 0]
        return int(np.sum((force[1:-1] > force[:-2]) & (force[1:-1] >= force[2:])))

    def figures(self) -> dict[str, float]:
        """Those of IMPACT_FIGURES."""
        first = self.result.contacts[0]
        return {
            "impact_time": self.start,
            "normal_speed": float(first["v_in"]),
            "tangential_speed": self.tangential_speed,
            "peak_normal": float(first["peak_normal"]),
            "contact_time": self.end - self.start,
            "impulse": float(first["impulse"]),
            "restitution": float(first["restitution_delivered"]),
            "contacts": float(len(self.result.contacts)),
            "force_peaks": float(self.peaks()),
            "total_impulse": float(np.sum(self.result.contacts["impulse"])),
        }

    def charts(self) -> tuple[Lines, ...]:
        """Force, velocity and acceleration of the point, in axes of the plane."""
        t = self.times()
        force, u, udot = self.forces(t), self.motion(t, self.velocity), self.motion(t, self.acceleration)
        after = 1e3 * (t - self.start)
        across = ("time after the first touch", "ms")
        words = ("normal", "along the sliding", "across")

        def chart(title: str, unit: str, values: Array) -> Lines:
            return Lines(title, unit, *across, tuple((words[k], after, values[:, k]) for k in range(3)))

        return (
            chart("Impact: force", "kN", 1e-3 * force),
            chart("Impact: velocity", "m/s", u),
            chart("Impact: acceleration", "m/s^2", udot),
        )


IMPACT_FIGURES = {
    "impact_time": Figure("start of the first contact", "s"),
    "normal_speed": Figure("speed into it, along the normal", "m/s"),
    "tangential_speed": Figure("and along the plane", "m/s"),
    "peak_normal": Figure("its largest normal force", "N"),
    "contact_time": Figure("its length", "s"),
    "impulse": Figure("of its normal force", "N s"),
    "restitution": Figure("speed out of it over speed into it"),
    "contacts": Figure("until the end"),
    "force_peaks": Figure("maxima of the normal force, in all of them"),
    "total_impulse": Figure("of the normal force, in all of them", "N s"),
}


# --- several impacts ----------------------------------------------------------------------------------------------

Figures = Mapping[str, float]
COLUMNS = (
    "start [s]",
    "length [ms]",
    "largest force [kN]",
    "impulse [N s]",
    "restitution",
    "contacts",
    "maxima",
)
NUMBERS = (1, 2, 3, 4, 5, 6, 7)  # columns of numbers behind a label


def impact_row(label: str, found: Figures) -> tuple[str, ...]:
    """A label, and COLUMNS."""
    return (
        label,
        f"{found['impact_time']:.6g}",
        f"{1e3 * found['contact_time']:.5g}",
        f"{1e-3 * found['peak_normal']:.5g}",
        f"{found['impulse']:.5g}",
        f"{found['restitution']:.4f}",
        f"{found['contacts']:.0f}",
        f"{found['force_peaks']:.0f}",
    )


def force_chart(impacts: Mapping[str, Impact]) -> Lines:
    """Normal forces over each other."""
    curves = []
    for label, impact in impacts.items():
        t = impact.times()
        curves.append((label, 1e3 * (t - impact.start), 1e-3 * impact.forces(t)[:, 0]))
    return Lines("Impact: normal force", "kN", "time after the first touch", "ms", tuple(curves))


def words_for_modes(count: int) -> str:
    return f"{count} mode" if count == 1 else f"{count} modes"


def compare_modes(impacts: Mapping[str, Impact], found: Mapping[str, Figures]) -> Finding:
    """What depends on how many modes there are; labels are words_for_modes."""
    counts = {label: int(label.split()[0]) for label in found}
    ordered = sorted(found, key=lambda label: counts[label])
    bending = [found[label] for label in ordered if counts[label] >= 2] or [found[label] for label in ordered]

    def spread(key: str) -> float:
        values = [one[key] for one in bending]
        return 100 * (max(values) / min(values) - 1)

    def relative(key: str) -> tuple[Array, Array]:
        last = found[ordered[-1]][key]
        return np.array([counts[label] for label in ordered], float), np.array(
            [found[label][key] / last for label in ordered]
        )

    maxima = sorted({int(one["force_peaks"]) for one in bending})
    number = f"{maxima[0]} to {maxima[-1]} maxima" if len(maxima) > 1 else f"{words_for_maxima(maxima[0])} in all runs"
    text = (
        f"The same impact with more and more bending modes. From two modes on the normal force has {number}; the "
        f"largest force differs by {spread('peak_normal'):.1f} %, the impulse of all contacts by "
        f"{spread('total_impulse'):.1f} %. What depends on the number of modes, as the number of maxima may, is an "
        "artefact of leaving modes out, no property of the robot."
    )
    keys = {"largest force": "peak_normal", "impulse": "total_impulse"}
    curves = tuple((words, *relative(key)) for words, key in keys.items())
    charts = (
        force_chart({label: impacts[label] for label in ordered}),
        Lines("Relative to most modes", "", "bending modes", "", curves),
        Lines(
            "Maxima of the force",
            "",
            "bending modes",
            "",
            (("maxima", relative("force_peaks")[0], _counted(found, ordered)),),
        ),
    )
    rows = tuple(impact_row(label, found[label]) for label in ordered)
    spreads = {f"{key}_spread": spread(key) / 100 for key in keys.values()}
    return Finding("What more modes change", text, ("bending modes", *COLUMNS), rows, charts, NUMBERS, spreads)


def _counted(found: Mapping[str, Figures], ordered: list[str]) -> Array:
    return np.array([found[label]["force_peaks"] for label in ordered])


def words_for_maxima(count: float) -> str:
    return "1 maximum" if count == 1 else f"{count:.0f} maxima"


def missing_impacts(results: Mapping[str, Result]) -> tuple[Finding, ...]:
    """What to say where some run has no impact; nothing if all have."""
    missing = [label for label, result in results.items() if not len(result.contacts)]
    text = f"Without an impact: {', '.join(missing)}; let it move longer, or move the plane."
    return (Finding("No answer", text),) if missing else ()
