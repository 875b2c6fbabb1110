"""From names of quantities ("elbow", "elbow.rate", "tip[0]", "kinetic") to curves, and charts for any model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from pliant.errors import ModelError
from pliant.model.columns import Column, command_columns, coordinate_columns, output_columns, velocity_columns
from pliant.model.flexible import Beam
from pliant.model.joints import Limit
from pliant.model.model import Model, Output
from pliant.model.rotations import matrix_euler, quaternion_matrix
from pliant.queries.attitude import follow
from pliant.report_types import Panel
from pliant.results.recording import Recording, energy_error
from pliant.view.svg import Array

FINE = 4000  # instants, about, on which curves are drawn; the rows alone where there are more
PER_STEP = 24  # of them in one step, whose dense output may turn several times
MAX_CURVES = 6  # in one chart made here
MAX_CHARTS = 4  # of one kind of quantity
EULER = "zyx"  # about the body's own axes
MAX_PLACEMENTS = 400_000  # bodies times instants worked out between the steps
TITLES = {  # of charts of outputs whose columns have several units
    ("reaction", "N"): "force",
    ("reaction", "N m"): "moment",
    ("section", "N"): "forces",
    ("section", "N m"): "moments",
    ("strain", "1/m"): "curvature and twist",
}


# --- values -----------------------------------------------------------------------------------------------------


def has_dense(result: Recording) -> bool:
    return result.dense is not None and len(result.dense.starts) > 0


def dense_range(result: Recording) -> tuple[float, float]:
    """From when to when at(t) can be asked."""
    assert result.dense is not None
    return float(result.dense.starts[0]), float(result.dense.starts[-1] + result.dense.steps[-1])


class Quantities:
    """Curves of one run by name, over all of it or a window of time; smooth between steps if there is dense output."""

    def __init__(self, result: Recording, window: tuple[float, float] | None = None) -> None:
        self.result = result
        self.window = window

    def curve(self, quantity: str) -> tuple[Array, Array]:
        """(t, values) of a quantity; a message lists what there is."""
        result, model = self.result, self.result.model
        if quantity in model.coordinates:
            return self.times, self.state[0][:, model.coordinates.index(quantity)]
        if quantity.endswith(".rate") and quantity.removesuffix(".rate") in model.velocities:
            return self.times, self.state[1][:, model.velocities.index(quantity.removesuffix(".rate"))]
        if quantity == "total" or quantity in result.energy:
            return self._energy(quantity)
        if quantity == "contacts" or quantity.startswith("contacts."):
            return self._contact_count(quantity.partition(".")[2])
        commands = [column.name for column in command_columns(model)]
        if quantity in commands:
            return self._command(commands.index(quantity))
        name, _, angle = quantity.rpartition(".euler_")
        if name in self.attitudes:
            t, angles = self._euler(name)
            return t, angles[:, EULER.index(angle)]
        name, column = _component(quantity)
        if name in result.outputs and column < result.outputs[name].shape[1]:
            return self._output(name, column)
        raise ModelError(f"no quantity {quantity!r}; there are {', '.join(self.names())}")

    def names(self) -> Iterator[str]:
        """All that curve() knows."""
        yield from self.result.model.coordinates
        yield from (f"{name}.rate" for name in self.result.model.velocities)
        for name, values in self.result.outputs.items():
            yield from (f"{name}[{k}]" for k in range(values.shape[1]))
        yield from (column.name for column in command_columns(self.result.model))
        yield from (f"{name}.euler_{axis}" for name in self.attitudes for axis in EULER)
        yield from ("total", *self.result.energy)
        if len(self.result.contacts):
            yield from ("contacts", *(f"contacts.{point}" for point in dict.fromkeys(self.result.contacts["point"])))

    @cached_property
    def times(self) -> Array:
        """Accepted steps and, from the dense output, as many places within each as its turns need; the rows alone
        without dense output."""
        rows = self.result.t
        low, high = self.window or (-np.inf, np.inf)
        dense = self.result.dense
        if dense is None or len(dense.starts) == 0:
            return rows[(rows >= low) & (rows <= high)]
        first, last = dense_range(self.result)
        low, high = max(low, first), min(high, last)
        steps = (dense.starts + dense.steps >= low) & (dense.starts <= high)
        count = int(np.clip(FINE // max(int(steps.sum()), 1), 1, PER_STEP))
        within = dense.starts[steps, None] + dense.steps[steps, None] * np.arange(count) / count
        even = np.linspace(low, high, FINE // 5)
        return np.unique(np.clip(np.concatenate([rows, within.ravel(), even]), low, high))

    @cached_property
    def state(self) -> tuple[Array, Array]:
        """q and v at times."""
        if has_dense(self.result):
            return self.result.at(self.times)
        chosen = np.isin(self.result.t, self.times)
        return self.result.q[chosen], self.result.v[chosen]

    @cached_property
    def outputs(self) -> dict[str, Array] | None:
        """All outputs at times; None where that would take too long."""
        n_bodies = len(self.result.model.links)
        is_cheap = has_dense(self.result) and len(self.times) * n_bodies <= MAX_PLACEMENTS
        return self.result.outputs_at(self.times) if is_cheap else None

    @cached_property
    def energy(self) -> tuple[Array, dict[str, Array]]:
        """Times, and energies and work terms there; "total" is what is stored."""
        n_bodies = len(self.result.model.links)
        is_cheap = has_dense(self.result) and len(self.times) * n_bodies <= MAX_PLACEMENTS
        if is_cheap:
            t, found = self.times, self.result.energies_at(self.times)
        else:
            t = self.rows(self.result.t)[0]
            found = {name: self.rows(values)[1] for name, values in self.result.energy.items()}
        return t, found | {"total": found["kinetic"] + found["gravity"] + found["elastic"]}

    @cached_property
    def attitudes(self) -> dict[str, tuple[str, ...]]:
        """Joints and outputs with an attitude, and the four quantities of its quaternion."""
        model = self.result.model
        joints = [name.removesuffix(".qx") for name in model.coordinates if name.endswith(".qx")]
        outputs = [output.name for output in model.outputs if output.quantity == "attitude"]
        return {name: tuple(f"{name}[{k}]" for k in range(4)) for name in outputs} | {
            name: tuple(f"{name}.{part}" for part in ("qx", "qy", "qz", "qw")) for name in joints
        }

    @cached_property
    def energy_error(self) -> Array:
        """|E - E0 - work terms| over the energy that moved, per row; its maximum is the audit's energy_residual."""
        return energy_error(self.result.energy, self.result.audit.get("energy_scale", 1.0))

    def rows(self, values: Array) -> tuple[Array, Array]:
        """What is known at the rows only."""
        t = self.result.t
        low, high = self.window or (-np.inf, np.inf)
        chosen = (t >= low) & (t <= high)
        return t[chosen], values[chosen]

    def size(self, unit: str) -> float:
        """The largest value of this unit in all of the run, with which others are compared."""
        model, result = self.result.model, self.result
        sizes = [0.0]
        for columns, values in ((coordinate_columns(model), result.q), (velocity_columns(model), result.v)):
            own = [k for k, column in enumerate(columns) if column.unit == unit]
            sizes.append(_largest(values[:, own]))
        for output in (output for output in model.outputs if output.name in result.outputs):
            own = [k for k, column in enumerate(output_columns(model, output)) if column.unit == unit]
            sizes.append(_largest(result.outputs[output.name][:, own]))
        return max(sizes)

    def limits(self, quantity: str) -> tuple[tuple[str, float], ...]:
        """Ends of the range of a coordinate that has a limit: (what, value)."""
        return self._limits.get(quantity, ())

    @cached_property
    def _limits(self) -> dict[str, tuple[tuple[str, float], ...]]:
        model, found = self.result.model, {}
        for link in (link for link in model.links if link.joint.row.has_plain_rates):
            for k, limit in enumerate(link.joint.each("limit")):
                if isinstance(limit, Limit):
                    name = model.coordinates[link.q + k]
                    ends = (("upper", limit.upper), ("lower", limit.lower))
                    found[name] = tuple((f"{name}: {side} limit", end) for side, end in ends if end is not None)
        return found

    def body(self, quantity: str) -> int:
        """Which link a quantity is about; -1: none, or several."""
        model = self.result.model
        name = quantity.removesuffix(".rate").removesuffix(".command").partition(".euler_")[0]
        asked = {output.name: output.of for output in model.outputs}
        frames = {frame.name: frame.body for frame in model.frames}
        of = asked.get(_component(quantity)[0], "")
        meant = {name, name.rpartition(".")[0], frames.get(of, of)} - {""}
        return next((i for i, link in enumerate(model.links) if meant & {link.body.name, link.joint.name}), -1)

    def _energy(self, name: str) -> tuple[Array, Array]:
        t, found = self.energy
        return t, found[name]

    def _euler(self, name: str) -> tuple[Array, Array]:
        """Times, and the angles (times, 3) of an attitude there, without jumps [rad]."""
        if name not in self._eulers:
            curves = [self.curve(part) for part in self.attitudes[name]]
            R = quaternion_matrix(np.stack([values for _, values in curves], axis=1))
            self._eulers[name] = curves[0][0], follow(matrix_euler(EULER, R, False), f"euler:{EULER}")
        return self._eulers[name]

    @cached_property
    def _eulers(self) -> dict[str, tuple[Array, Array]]:
        return {}

    def _output(self, name: str, column: int) -> tuple[Array, Array]:
        if self.outputs is None:
            return self.rows(self.result.outputs[name][:, column])
        return self.times, self.outputs[name][:, column]

    def _command(self, column: int) -> tuple[Array, Array]:
        """The command of a motor: held from one instant to the next, a staircase."""
        assert self.result.commands is not None
        t, values = self.result.commands[:, 0], self.result.commands[:, 1 + column]
        low, high = self.window or (float(t[0]), float(t[-1]))
        changes = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1])
        first = max(int(np.searchsorted(t[changes], low, side="right")) - 1, 0)
        changes = changes[first : int(np.searchsorted(t[changes], high))]
        starts = np.maximum(t[changes], low)
        return np.repeat(np.append(starts, high), 2)[1:-1], np.repeat(values[changes], 2)

    def _contact_count(self, point: str) -> tuple[Array, Array]:
        """How many contacts have begun, of one point or of all: a staircase."""
        log = self.result.contacts
        begun = np.sort(log["t_start"][log["point"] == point] if point else log["t_start"])
        low, high = self.window or (float(self.result.t[0]), float(self.result.t[-1]))
        inside = begun[(begun > low) & (begun < high)]
        before = float(np.sum(begun <= low))
        t = np.concatenate([[low], np.repeat(inside, 2), [high]])
        return t, before + np.repeat(np.arange(len(inside) + 1.0), 2)


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))


def _component(quantity: str) -> tuple[str, int]:
    """ "tip[1]" is column 1 of tip; "tip" alone is its column 0."""
    found = re.fullmatch(r"(.+)\[(\d+)\]", quantity)
    return (found[1], int(found[2])) if found else (quantity, 0)


# --- charts of a model that brings none of its own --------------------------------------------------------------


COORDINATES = {"angle": "Angles", "length": "Positions"}
RATES = {"angle": "Angular rates", "length": "Speeds"}
MODES = {  # of beams: title and unit of amplitudes, and of their rates
    "y": ("Bending in the x-y plane of the beam", "m", "m/s"),
    "z": ("Bending in the x-z plane of the beam", "m", "m/s"),
    "x": ("Stretch", "m", "m/s"),
    "t": ("Torsion", "rad", "rad/s"),
}


def coordinate_panels(result: Recording) -> tuple[Panel, ...]:
    """Coordinates, one kind in a chart; every attitude has its own."""
    return (
        *_by_kind(coordinate_columns(result.model), COORDINATES),
        *_attitude_panels(result.model),
        *_mode_panels(result.model, is_rate=False),
    )


def rate_panels(result: Recording) -> tuple[Panel, ...]:
    """Velocities, one kind in a chart."""
    return (*_by_kind(velocity_columns(result.model), RATES), *_mode_panels(result.model, is_rate=True))


def _attitude_panels(model: Model) -> Iterator[Panel]:
    """Quaternions of joints, one in a chart; of very many an even choice, and the titles say so."""
    joints = [name.removesuffix(".qx") for name in model.coordinates if name.endswith(".qx")]
    some = ""
    if len(joints) > MAX_CURVES:
        some = f" ({MAX_CURVES} of {len(joints)} are shown)"
        joints = [joints[k] for k in np.linspace(0, len(joints) - 1, MAX_CURVES).astype(int)]
    for joint in joints:
        curves = tuple((part, f"{joint}.{part}") for part in ("qx", "qy", "qz", "qw"))
        yield Panel(f"{joint}: attitude{some}", "", curves)


def angles_panel(quantities: Quantities, panel: Panel) -> Panel | None:
    """The Euler angles of the attitude that a panel shows as a quaternion; None if it shows something else."""
    shown = tuple(name for _, name in panel.curves)
    for name, parts in quantities.attitudes.items():
        if parts == shown:
            return Panel(panel.title, "rad", tuple((f"about {axis}", f"{name}.euler_{axis}") for axis in EULER))
    return None


def output_panels(result: Recording) -> tuple[Panel, ...]:
    """Every output."""
    asked = [output for output in result.model.outputs if output.name in result.outputs]
    return tuple(chart for output in asked for chart in output_charts(result, output))


def _by_kind(columns: Sequence[Column], kinds: Mapping[str, str]) -> tuple[Panel, ...]:
    charts: list[Panel] = []
    for kind, title in kinds.items():
        own = [column for column in columns if column.kind == kind]
        names = [(column.name.removesuffix(".rate"), column.name) for column in own]
        charts += _split(title, own[0].unit, names) if own else []
    return tuple(charts)


def _mode_panels(model: Model, is_rate: bool) -> Iterator[Panel]:
    """Modal coordinates, one family in a chart: "arm.mode3 (z1)" is the first mode of bending along z."""
    for letter, (title, unit, rate_unit) in MODES.items():
        names = [pair for beam in model.beams for pair in _mode_names(beam, letter, is_rate)]
        heading = f"{title}: rates" if is_rate else title
        yield from _split(heading, rate_unit if is_rate else unit, names) if names else ()


def _mode_names(beam: Beam, letter: str, is_rate: bool) -> Iterator[tuple[str, str]]:
    k = 0
    for own, family in zip("yzxt", (beam.bending_y, beam.bending_z, beam.stretch, beam.torsion), strict=True):
        for number in family.numbers if family is not None else ():
            k += 1
            if own == letter:
                name = f"{beam.name}.mode{k}"
                yield f"{name} ({letter}{number})", f"{name}.rate" if is_rate else name


def _split(title: str, unit: str, names: Sequence[tuple[str, str]]) -> list[Panel]:
    """Charts of a few curves each; of very many quantities an even choice, and the title says so."""
    most = MAX_CURVES * MAX_CHARTS
    if len(names) > most:
        title = f"{title} ({most} of {len(names)})"
        names = [names[k] for k in np.linspace(0, len(names) - 1, most).astype(int)]
    count = -(-len(names) // MAX_CURVES)
    pieces = [names[k * len(names) // count : (k + 1) * len(names) // count] for k in range(count)]
    marks = [f", {k + 1}/{count}" if count > 1 else "" for k in range(count)]
    return [Panel(title + mark, unit, tuple(piece)) for mark, piece in zip(marks, pieces, strict=True)]


def output_charts(result: Recording, output: Output) -> list[Panel]:
    """One chart per unit of an output's columns."""
    columns = output_columns(result.model, output)
    charts: list[Panel] = []
    for unit in dict.fromkeys(column.unit for column in columns):
        title = TITLES.get((output.quantity, unit), output.quantity)
        curves = [(column.part, f"{output.name}[{k}]") for k, column in enumerate(columns) if column.unit == unit]
        charts += _split(f"{output.name}: {title}", unit, curves)
    return charts
