"""Signals of a model as rows: the part of pack that turns functions of time into tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.model.signals import Chirp, Constant, Cycloid, Product, Ramp, Sine, SpeedChange, Step, Sum, Table
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
        from scipy.interpolate import CubicSpline  # only models with tables pay for this import

        times = np.array(signal.times)
        spline = CubicSpline(times, signal.values, bc_type=signal.ends)
        if not signal.repeats:
            self.kinks.update((times[0], times[-1]) if signal.smooth else times.tolist())
        first = len(self.pool)
        self.pool.extend(times.tolist())
        self.pool.extend(spline.c.T.ravel().tolist())
        ends = {"a": signal.values[0], "b": signal.values[-1], "c": float(signal.smooth)}
        ends["d"] = float(times[-1] - times[0]) if signal.repeats else 0.0
        return {"kind": SignalKind.TABLE, "first": first, "count": len(times), **ends}
