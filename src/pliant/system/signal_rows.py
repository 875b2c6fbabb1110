"""Signals of a model as rows: the part of pack that turns functions of time into tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model.signals import Chirp, Constant, Cycloid, Linear, Product, Ramp, Sine, SpeedChange, Step, Sum, Table
from pliant.system.splines import table_pieces
from pliant.system.tables import SignalKind


@dataclass
class SignalRows:
    """Signals collected on the way, parts before wholes, equal ones once."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    pool: list[float] = field(default_factory=list)
    kinks: set[float] = field(default_factory=set)
    known: dict[Any, int] = field(default_factory=dict)

    def add(self, signal: Any) -> int:
        """Row of a signal, -1 for none and for constant zero."""
        if signal is None or signal == "free" or (isinstance(signal, Constant) and signal.value == 0.0):
            return -1
        if signal not in self.known:
            row = self._row(signal)
            self.rows.append(row)
            self.known[signal] = len(self.rows) - 1
        return self.known[signal]

    def _row(self, signal: Any) -> dict[str, Any]:
        if isinstance(signal, Constant):
            return {"kind": SignalKind.CONSTANT, "a": signal.value}
        if isinstance(signal, Linear):
            return {"kind": SignalKind.LINEAR, "a": signal.offset, "b": signal.rate}
        if isinstance(signal, Step):
            self.kinks.add(signal.time)
            return {"kind": SignalKind.STEP, "a": signal.before, "b": signal.after, "c": signal.time}
        if isinstance(signal, (Ramp, Cycloid)):
            self.kinks.update((signal.start, signal.end))
            kind = SignalKind.RAMP if isinstance(signal, Ramp) else SignalKind.CYCLOID
            return {"kind": kind, "a": signal.before, "b": signal.after, "c": signal.start, "d": signal.end}
        if isinstance(signal, SpeedChange):
            self.kinks.update((signal.start, signal.end))
            values = {"a": signal.before, "b": signal.after, "c": signal.start, "d": signal.end, "e": signal.offset}
            return {"kind": SignalKind.SPEED_CHANGE, **values}
        if isinstance(signal, Sine):
            return {
                "kind": SignalKind.SINE,
                "a": signal.offset,
                "b": signal.amplitude,
                "c": signal.omega,
                "d": signal.phase,
            }
        if isinstance(signal, Chirp):
            self.kinks.update((signal.start, signal.end))
            sweep = {"c": signal.omega0, "d": signal.omega1, "e": signal.start, "f": signal.end}
            return {"kind": SignalKind.CHIRP, "a": signal.offset, "b": signal.amplitude, **sweep}
        if isinstance(signal, Table):
            return self._table_row(signal)
        assert isinstance(signal, (Sum, Product))
        parts = signal.terms if isinstance(signal, Sum) else signal.factors
        members = [self.add_always(part) for part in parts]
        first = len(self.links)
        self.links.extend(members)
        kind = SignalKind.SUM if isinstance(signal, Sum) else SignalKind.PRODUCT
        return {"kind": kind, "first": first, "count": len(members)}

    def add_always(self, signal: Any) -> int:
        """Like add, but a constant zero is a row too: a product with it is zero."""
        if isinstance(signal, Constant) and signal.value == 0.0:
            self.rows.append(self._row(signal))
            return len(self.rows) - 1
        return self.add(signal)

    def add_sampled(self, signal: Any) -> int:
        """Like add, of a signal that is looked at only at sampling instants: steps need not end at its kinks. To be
        called after all signals that act at any time."""
        kinks = set(self.kinks)
        row = self.add(signal)
        self.kinks = kinks
        return row

    def _table_row(self, signal: Table) -> dict[str, Any]:
        """A row; of a table with kinks the sum of its pieces, each of which begins with what it is above the end of the
        one before."""
        pieces = table_pieces(signal)
        members, reached = [], 0.0
        for k, ((times, coefficients), (_, values)) in enumerate(zip(pieces, signal.pieces, strict=True)):
            coefficients[:, -1] -= reached
            before = values[0] if k == 0 else 0.0
            members.append(self._piece_row(signal, times, coefficients, before, values[-1] - reached))
            reached = values[-1]
        if len(members) == 1:
            return members[0]
        self.links.extend(range(len(self.rows), len(self.rows) + len(members)))
        self.rows.extend(members)
        return {"kind": SignalKind.SUM, "first": len(self.links) - len(members), "count": len(members)}

    def _piece_row(
        self, signal: Table, times: NDArray[np.float64], coefficients: NDArray[np.float64], before: float, after: float
    ) -> dict[str, Any]:
        if not signal.repeats:
            self.kinks.update((times[0], times[-1]) if signal.smooth else times.tolist())
        first = len(self.pool)
        self.pool.extend(times.tolist())
        self.pool.extend(coefficients.ravel().tolist())
        facts = {"a": before, "b": after, "c": float(signal.smooth), "f": float(signal.degree)}
        if signal.repeats:
            facts |= {"d": float(times[-1] - times[0]), "e": signal.advance}
        return {"kind": SignalKind.TABLE, "first": first, "count": len(times), **facts}
