"""What transfer matrices found, for readers: table, plain numbers, findings for the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant.linear.transfer_matrix.free_motions import FreeMotions
from pliant.linear.transfer_matrix.response import FrequencyResponse
from pliant.report_types import Finding, Lines

COLUMNS = ("mode", "frequency [rad/s]", "[Hz]", "damping ratio", "count", "what moves")
MAX_SHOWN = 4  # inputs and outputs of a page, unless they are named
MAX_SHAPES, MAX_JOINTS = 7, 40  # modes and joints on the page
SHOWN = 1e-3  # of the largest displacement: less cannot be seen
ROUNDING = 1e-13  # damping ratios below this are 0
IN_PHASE = 0.02  # share of imaginary parts that are left out
ABOUT = (
    "Small free motions by Riccati transfer matrices, beams as continua. Count: how many natural frequencies without "
    "dampers lie below a hair more than this one, by the signs of the pivots; none is missed."
)


def table(found: FreeMotions) -> list[tuple[str, ...]]:
    """Of every mode: number, frequency, damping ratio, count, what moves."""
    return [
        (str(k + 1), f"{w:.10g}", f"{hertz:.8g}", f"{zeta:.4g}", str(n), found.mostly(k))
        for k, (w, hertz, zeta, n) in enumerate(_facts(found))
    ]


def _facts(found: FreeMotions) -> Iterator[tuple[float, float, float, int]]:
    """Frequency [rad/s, Hz], damping ratio and count of every mode."""
    for k in range(len(found.eigenvalues)):
        zeta = float(found.damping_ratios[k])
        yield found.frequencies[k], found.hertz[k], zeta if abs(zeta) > ROUNDING else 0.0, int(found.counts[k])


def summary(found: FreeMotions) -> dict[str, Any]:
    """Plain numbers, for files."""
    rows = []
    names = ("frequency", "hertz", "damping_ratio", "growth_rate", "damped_frequency")
    for k, value in enumerate(found.eigenvalues):
        facts = (found.frequencies[k], found.hertz[k], found.damping_ratios[k], value.real, value.imag)
        joints = {name: [x.real, x.imag] for name, x in found.joint_shape(k).items()}
        rows.append(
            {**dict(zip(names, map(float, facts), strict=True)), "count": int(found.counts[k]), "joints": joints}
        )
    return {"model": found.model.name, "state": {"q": found.q.tolist()}, "modes": rows, "notes": list(found.notes)}


def response_summary(response: FrequencyResponse) -> dict[str, Any]:
    """The same of a response: magnitude and phase of every pair."""
    pairs = [
        {
            "input": name,
            "output": output,
            "unit": response.unit(name, output),
            "magnitude": response.magnitude[:, o, i].tolist(),
            "phase": response.phase[:, o, i].tolist(),
        }
        for i, name in enumerate(response.inputs)
        for o, output in enumerate(response.outputs)
    ]
    return {"omega": response.omega.tolist(), "transfer_functions": pairs}


def findings(found: FreeMotions, response: FrequencyResponse | None) -> tuple[Finding, ...]:
    """The table, shapes along the beams, Bode plots."""
    words = " ".join([ABOUT, *(f"Note: {note}." for note in found.notes)])
    rows = tuple(
        (str(k + 1), f"{w:.7g}", f"{hertz:.5g}", f"{zeta:.3g}", str(n), found.mostly(k))
        for k, (w, hertz, zeta, n) in enumerate(_facts(found))
    )
    columns = ("mode", "rad/s", "Hz", "damping", "count", "what moves")
    parts = [Finding("Natural frequencies", words, columns, rows, numbers=tuple(range(5)))]
    shown = [int(k) for k in np.flatnonzero(found.frequencies > 0.0)[:MAX_SHAPES]]
    joints = {k: found.joint_shape(k) for k in shown}
    if shown and joints[shown[0]]:
        text = "Coordinates of the joints [rad, m]; the largest displacement of a mode is 1 rad or the model's size."
        names = ("joint", *(f"mode {k + 1}" for k in shown))
        cells = tuple((name, *(_phasor(joints[k][name]) for k in shown)) for name in [*joints[shown[0]]][:MAX_JOINTS])
        parts.append(Finding("Shapes of the joints", text, names, cells, numbers=tuple(range(1, len(names)))))
    charts = tuple(_shape_charts(found, shown))
    if charts:
        text = "Displacements along the axis of every beam, in its axes at rest; the largest of all is 1, per mode."
        parts.append(Finding("Shapes of the beams", text, charts=charts))
    if response is not None:
        text = "Output per unit of input, about rest: magnitude and phase, exact at every frequency."
        parts.append(Finding("Frequency response", text, charts=response.charts()))
    return tuple(parts)


def _phasor(value: complex) -> str:
    """A real number, or size and phase."""
    if abs(value) < SHOWN:
        return "0"
    if abs(value.imag) <= IN_PHASE * abs(value):
        return f"{value.real:.3g}"
    return f"{abs(value):.3g} at {np.degrees(np.angle(value)):.0f} deg"


def _shape_charts(found: FreeMotions, shown: list[int]) -> Iterator[Lines]:
    if not found.flexible_beams:
        return
    shapes = {(beam, k): found.beam_shape(beam, k) for beam in found.flexible_beams for k in shown}
    wholes = {key: np.hstack([one.displacement, one.rotation]) for key, one in shapes.items()}
    # translations and rotations are compared with the largest of their own kind
    sizes = {
        (k, kind): max(np.abs(wholes[beam, k][:, 3 * kind : 3 * kind + 3]).max() for beam in found.flexible_beams)
        for k in shown
        for kind in (0, 1)
    }
    for beam in found.flexible_beams:
        for part, label in enumerate(("along x", "along y", "along z", "rotation about x")):
            curves = []
            for k in shown:
                y, size = wholes[beam, k][:, part], sizes[k, part // 3]
                if np.abs(y).max() > SHOWN * size:
                    curves.append((f"mode {k + 1}", shapes[beam, k].x, y.real / size))
            if curves:
                yield Lines(f"{beam}: {label}", "", "x", "m", tuple(curves))
