"""The unstable pole of a sampled loop, from the commands that a run has recorded.

Once an unstable motion has outgrown all others, the changes of a held command from sample to sample obey
d[k] = a d[k-1] + b d[k-2], whose roots z are the pole and its conjugate (Prony); s = ln(z)/T. Commands that grow for
another reason do not obey it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.model.columns import command_columns
from pliant.model.control import Controller
from pliant.model.model import Model

Array = NDArray[np.float64]
WINDOWS = (12, 20, 32, 48)  # samples that a pole is fitted to
LAST = (0, 2, 4, 8, 12)  # samples at the end that are left out: there the motion may be beyond its theory
MAX_RESIDUAL = 0.05  # of a change, that a pole may leave unexplained
MIN_GROWTH = 3.0  # of the changes within the window: less may be a vibration that decays slowly, and rounding


class UnstablePole(NamedTuple):
    """Of the loop of one command."""

    controller: Controller
    command: str  # its column
    pole: complex  # s [1/s]


def unstable_pole(model: Model, commands: Array) -> UnstablePole | None:
    """The pole by which commands have grown, the fastest of all; commands: (rows, 1 + commands), time first."""
    found = []
    for controller, column, name in _commands(model):
        pole = fitted_pole(commands[:, 0], commands[:, 1 + column], controller.period)
        if pole is not None:
            found.append(UnstablePole(controller, name, pole))
    return max(found, key=lambda one: one.pole.real, default=None)


def _commands(model: Model) -> Iterator[tuple[Controller, int, str]]:
    """Controller, column and name of every command."""
    widths = {link.joint.name: len(link.joint.row.velocities) for link in model.links}
    names, column = [each.name for each in command_columns(model)], 0
    for controller in model.controllers:
        for _ in range(sum(widths.get(name, 1) for name in controller.joints)):  # springs have one
            yield controller, column, names[column]
            column += 1


def fitted_pole(t: Array, command: Array, period: float) -> complex | None:
    """s [1/s], above the real axis, of a held command that grows exponentially; None if it does not."""
    count = int((t[-1] - t[0]) / period * (1.0 + 1e-9)) if len(t) else 0
    if count < WINDOWS[0]:
        return None
    first = max(0, count - WINDOWS[-1] - LAST[-1] - 3)
    instants = t[0] + period * (np.arange(first, count + 1) + 0.5)
    held = command[np.searchsorted(t, np.minimum(instants, t[-1]), side="right") - 1]
    with np.errstate(all="ignore"):
        changes = np.diff(held)
    fits = [
        _fit(changes[len(changes) - left - window : len(changes) - left])
        for window in WINDOWS
        for left in LAST
        if len(changes) >= left + window
    ]
    residual, z = min((fit for fit in fits if fit is not None), key=lambda fit: fit[0], default=(np.inf, 0j))
    if residual > MAX_RESIDUAL:
        return None
    s = np.log(z) / period
    return complex(s.real, abs(s.imag))


def _fit(d: Array) -> tuple[float, complex] | None:
    """Unexplained part and largest root z of d[k] = a d[k-1] + b d[k-2]; None where d does not grow."""
    if not np.all(np.isfinite(d)):
        return None
    before = np.stack([d[1:-1], d[:-2]], axis=1)
    sizes = np.linalg.norm(before, axis=1)
    if not np.all(sizes > 0.0) or not np.max(sizes[-3:]) > MIN_GROWTH * np.max(sizes[:3]):
        return None
    matrix, wanted = before / sizes[:, None], d[2:] / sizes
    (a, b), *_ = np.linalg.lstsq(matrix, wanted, rcond=None)
    roots = np.roots([1.0, -a, -b])
    z = complex(roots[np.argmax(np.abs(roots))])
    if abs(z) <= 1.0:
        return None
    return float(np.sqrt(np.mean((matrix @ [a, b] - wanted) ** 2)) / np.sqrt(np.mean(wanted**2))), z
