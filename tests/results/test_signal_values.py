"""Signals over time as a run sees them, against their closed forms."""

import numpy as np

from pliant import Chirp, Constant, Cycloid, Ramp, Sine, Step, Table
from pliant.results.signal_values import signal_values

T = np.linspace(0.0, 3.0, 61)
CLOSED = [
    (Constant(2.0), lambda t: 2.0 + 0.0 * t),
    (Sine(1.5, 2.0, phase=0.3, offset=-1.0), lambda t: -1.0 + 1.5 * np.sin(2.0 * t + 0.3)),
    (Step(1.0), lambda t: 1.0 * (t >= 1.0)),
    (Ramp(0.5, 2.0), lambda t: np.clip((t - 0.5) / 1.5, 0.0, 1.0)),
    (Cycloid(0.0, 2.0), lambda t: np.where(t < 2.0, t / 2.0 - np.sin(np.pi * t) / (2.0 * np.pi), 1.0)),
    (Sine(1.0, 3.0) * Constant(2.0) + Constant(0.5), lambda t: 2.0 * np.sin(3.0 * t) + 0.5),
]


def test_signals_have_the_values_of_their_closed_forms():
    found = signal_values([signal for signal, _ in CLOSED], T)
    for values, (signal, closed) in zip(found, CLOSED, strict=True):
        assert np.allclose(values, closed(T), atol=1e-14), signal  # rounding of values of size 1


def test_tables_go_through_their_points_and_no_signal_disturbs_another():
    table = Table((0.0, 1.0, 2.0, 3.0), (0.0, 1.0, -0.5, 0.2))
    alone = signal_values([table], T)[0]
    assert np.allclose(alone[::20], table.values, atol=1e-14)
    together = signal_values([Chirp(end=2.0, omega1=9.0), table, Sine(1.0, 2.0)], T)
    assert np.array_equal(together[1], alone)
