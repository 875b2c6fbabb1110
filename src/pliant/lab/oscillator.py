"""One mass on one spring under every integrator with fixed steps: what a step makes of an oscillation, measured.

Positions and velocities of a linear model satisfy a recurrence with constant coefficients, x_n + c_1 x_(n-1) + .. = 0.
It is fitted to what the kernels return; its roots are those of the method: the largest is the spectral radius, the pair
nearest to exp(+-i omega h) the oscillation itself, whose size and angle are numerical damping and period."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.lab.experiment import Outcome
from pliant.lab.integrator_methods import TIGHT, chosen_methods, made
from pliant.methods.integrators import Integrator
from pliant.methods.stability import Oscillation, of_roots, oscillation, stability_limit
from pliant.model.bodies import Body
from pliant.model.joints import Joint
from pliant.model.model import Model
from pliant.report_types import Finding, Lines

Array = NDArray[np.float64]

N_STEPS = 40
SKIPPED = 3  # rows of starting steps
MAX_TERMS = 4  # of a recurrence
FIT = 1e-8  # of its largest term, that it may leave
GROWTH = 1e-5  # of a step, from which on motion grows
SLOW, SLOWEST, SLOW_GROWTH = 0.3, 0.03, 1e-9  # omega h at both of which a method grows that grows at every step
SHOWN = 0.5  # omega h of the table
RESOLVED = 2.5  # omega h up to which damping and period are drawn
MAX_DRAWN_RADIUS, MAX_DRAWN = 1.5, 0.4  # of what is drawn: radius, damping and period error
ROUNDING = 1e-12  # of damping and period error


def spring(omega: float = 1.0) -> Model:
    """A mass that swings along x without loss, from rest at 1 m."""
    joint = Joint("slide", "prismatic", "mass", axis=(1, 0, 0), q0=1.0, stiffness=omega**2)
    return Model("oscillator", (Body("mass", 1.0),), (joint,), gravity=(0, 0, 0))


def rows_of(method: Integrator, wh: float, n_steps: int = N_STEPS) -> Array:
    """(x, v) at every step of length wh of an oscillator of frequency 1, after the starting steps."""
    skipped = SKIPPED + (method.highest_order or 0)
    run = made(spring(), (n_steps + skipped) * wh, method, step=wh, dense=False, **TIGHT)
    rows = np.column_stack([run.q[:, 0], run.v[:, 0]])
    return rows[min(skipped, max(0, len(rows) - 2 * MAX_TERMS)) :]


def fitted_roots(rows: Array) -> NDArray[np.complex128]:
    """Of the shortest recurrence that x and v satisfy, each equation in proportion to its largest term."""
    n = len(rows)
    for terms in range(1, MAX_TERMS + 1):
        if n <= terms:
            break
        past = np.concatenate([[column[k : n - terms + k] for k in range(terms)] for column in rows.T], axis=1).T
        ends = np.concatenate([column[terms:] for column in rows.T])
        sizes = np.maximum(np.abs(past).max(axis=1), np.abs(ends))
        is_used = sizes > 1e-250
        past, ends = past[is_used] / sizes[is_used, None], ends[is_used] / sizes[is_used]
        if len(ends) < terms:
            break
        found = np.linalg.lstsq(past, ends, rcond=None)[0]
        if np.abs(past @ found - ends).max() <= FIT or terms == MAX_TERMS:
            return np.roots(np.concatenate([[1.0], -found[::-1]])).astype(np.complex128)
    return np.array([math.nan + 0j])


def measured(method: Integrator, wh: float) -> Oscillation:
    """What the kernels make of an undamped oscillation."""
    return of_roots(fitted_roots(rows_of(method, wh)), wh)


def measured_limit(method: Integrator, spectrum: Mapping[float, Oscillation]) -> float:
    """Largest omega h up to which nothing grows, by halving between two of those measured; inf: not found."""
    slow, slowest = measured(method, SLOW).radius, measured(method, SLOWEST).radius
    if slow > 1.0 + GROWTH and slowest > 1.0 + SLOW_GROWTH:
        return 0.0
    below, above = SLOWEST, math.inf
    for wh, found in sorted(spectrum.items()):
        if found.radius > 1.0 + GROWTH:
            above = wh
            break
        below = wh
    while above < math.inf and above - below > 2e-4 * above:
        middle = 0.5 * (below + above)
        grows = measured(method, middle).radius > 1.0 + GROWTH
        below, above = (below, middle) if grows else (middle, above)
    return above


def spectra(settings: Mapping[str, Any]) -> tuple[Outcome, ...]:
    wide, resolved = np.geomspace(SLOWEST, settings["largest"], settings["points"]), np.linspace(0.25, RESOLVED, 10)
    grid = np.unique(np.concatenate([wide[wide <= settings["largest"]], resolved, [SHOWN]]))
    numbers = [_spectrum(label, method, grid) for label, method in chosen_methods(settings).items()]
    text = (
        "A mass on a spring, without loss, moved by the kernels with fixed steps. The recurrence that its motion "
        "satisfies is fitted; its largest root is the spectral radius: above 1 motion grows without bound, below 1 it "
        "is damped by the method. The root nearest to exp(i omega h) is the oscillation itself. By formula: roots of "
        f"the amplification matrix. Damping and period error are those at omega h = {SHOWN:g}, about 12.6 steps per "
        f"period; growth of less than {GROWTH:g} per step is not counted."
    )
    columns = (
        "method", "stable up to omega h", "by formula", "damping [%]", "by formula", "period error [%]", "by formula",
        "radii differ by (rel.)",
    )  # fmt: skip
    rows = tuple(_row(found, settings["largest"]) for found in numbers)
    table = Finding("One oscillation: stability, damping, period", text, columns, rows, (), tuple(range(1, 8)))
    return (Outcome(table, numbers), *_charts(settings, numbers))


def _spectrum(label: str, method: Integrator, grid: Array) -> dict[str, Any]:
    found = {float(wh): measured(method, float(wh)) for wh in grid}
    # the misprint of Proposed depends on the step itself, which is omega h here
    theory = {wh: oscillation(method, wh, wh) for wh in found}
    gaps = [abs(found[wh].radius / each.radius - 1.0) for wh, each in theory.items() if each is not None]
    known = theory[SHOWN]
    return {
        "method": label,
        "omega_h": list(found),
        "radius": [each.radius for each in found.values()],
        "damping": [each.damping for each in found.values()],
        "period_error": [each.period_error for each in found.values()],
        "limit": measured_limit(method, found),
        "limit_by_formula": stability_limit(method),
        "largest_difference": max(gaps, default=math.nan),
        "shown": found[SHOWN]._asdict(),
        "shown_by_formula": None if known is None else known._asdict(),
    }


def _row(found: Mapping[str, Any], largest: float) -> tuple[str, ...]:
    at, known, closed = found["shown"], found["shown_by_formula"], found["limit_by_formula"]
    return (
        found["method"],
        limit_words(found["limit"], largest),
        "" if math.isnan(closed) else limit_words(closed, math.inf),
        percent(at["damping"]),
        percent(known["damping"]) if known else "",
        percent(at["period_error"]),
        percent(known["period_error"]) if known else "",
        f"{found['largest_difference']:.0e}" if known else "",
    )


def _charts(settings: Mapping[str, Any], numbers: list[dict[str, Any]]) -> Iterator[Outcome]:
    """One picture for explicit methods, those stable at every step, and those with a limit."""
    methods = chosen_methods(settings)
    groups: dict[str, list[dict[str, Any]]] = {
        "Explicit methods, radau and ark": [],
        "Second-order methods that are stable at every step": [],
        "Second-order methods with a limit": [],
    }
    explicit, stable, limited = groups.values()
    for found in numbers:
        is_second = methods[found["method"]].kind == "second-order"
        (explicit if not is_second else stable if found["limit"] == math.inf else limited).append(found)
    for title, members in groups.items():
        charts = (
            Lines("Spectral radius", "", "log10 omega h", "-", _curves(members, "radius")),
            Lines("Numerical damping", "% of critical", "omega h", "-", _curves(members, "damping")),
            Lines("Period error", "%", "omega h", "-", _curves(members, "period_error")),
        )
        if members:
            yield Outcome(Finding(title, WORDS[title], charts=charts), None)


WORDS = {
    "Explicit methods, radau and ark": "Explicit methods end where their spectral radius leaves 1; radau and ark let "
    "nothing grow and damp what they do not resolve. High orders have next to no error in what they do.",
    "Second-order methods that are stable at every step": "newmark damps nothing and hht, generalised_alpha what is "
    "fast; wilson, houbolt and fox_euler damp slow motion, too. All make periods longer.",
    "Second-order methods with a limit": "Nearer to beta = 1/12 the period error falls, and so does the limit. "
    "proposed has the roots of newmark 1/12 where nothing is damped; with damping it keeps its third order, and "
    "newmark 1/12 is of second. With g2 = 1/2 the radius is above 1 at every step.",
}


def _curves(members: list[dict[str, Any]], key: str) -> tuple[Any, ...]:
    curves = []
    for found in members:
        wh, radius, values = (np.array(found[name]) for name in ("omega_h", "radius", key))
        if key == "radius":
            curves.append((found["method"], np.log10(wh), np.where(values < MAX_DRAWN_RADIUS, values, np.nan)))
        else:
            seen = (wh <= RESOLVED) & (radius < MAX_DRAWN_RADIUS) & (np.abs(values) < MAX_DRAWN)
            curves.append((found["method"], wh[seen], 100.0 * values[seen]))
    return tuple(curves)


def percent(part: float) -> str:
    return "0" if abs(part) < ROUNDING else f"{100.0 * part:.3g}"


def limit_words(limit: float, largest: float) -> str:
    if limit == 0.0:
        return "never"
    if limit == math.inf:
        return "always" if largest == math.inf else f"over {largest:g}"
    return f"{limit:.3f}"
