"""Values and two derivatives of all signals at a time.

Which piece of a signal holds is decided by work.run.segment, a time inside the smooth interval being integrated: the
last stage of a step that ends on a kink still uses the piece before it."""

import math

from pliant.kernels._jit import STATE, kernel
from pliant.system.tables import SignalKind

TWO_PI = 2.0 * math.pi


@kernel
def rise(signal, t, segment):
    """Fraction of a ramp or cycloid done, and its two derivatives."""
    if segment < signal.c:
        return 0.0, 0.0, 0.0
    if segment >= signal.d:
        return 1.0, 0.0, 0.0
    span = signal.d - signal.c
    x = (t - signal.c) / span
    if signal.kind == SignalKind.RAMP:
        return x, 1.0 / span, 0.0
    angle = TWO_PI * x
    return x - math.sin(angle) / TWO_PI, (1.0 - math.cos(angle)) / span, TWO_PI * math.sin(angle) / span**2


@kernel
def speed_change(signal, t, segment):
    """Value, rate and its derivative; the rate is a cycloid."""
    rate, slope = rise(signal, t, segment)[:2]
    span, change, x = signal.d - signal.c, signal.b - signal.a, t - signal.c
    value = signal.e + signal.a * x
    if segment >= signal.d:
        value += change * (0.5 * span + t - signal.d)
    elif segment >= signal.c:
        angle = TWO_PI * x / span
        value += change * span * (0.5 * (x / span) ** 2 - (1.0 - math.cos(angle)) / TWO_PI**2)
    return value, signal.a + change * rate, change * slope


@kernel
def chirp_phase(signal, t, segment):
    """Phase and its two derivatives; zero at the start of the sweep."""
    start, end, first, last = signal.e, signal.f, signal.c, signal.d
    if segment < start:
        return first * (t - start), first, 0.0
    slope = (last - first) / (end - start)
    if segment < end:
        x = t - start
        return (first + 0.5 * slope * x) * x, first + slope * x, slope
    return 0.5 * (first + last) * (end - start) + last * (t - end), last, 0.0


@kernel
def table_value(signal, x, pool, t, segment):
    """Piece of the table; constant outside. Searched for only where neither the last piece nor a guess holds."""
    knots, pieces, last, gained = signal.first, signal.first + signal.count, signal.count - 1, 0.0
    # steps may pass the knots of a smooth table, but not its ends
    where = t if signal.c > 0.0 else segment
    if signal.d > 0.0:
        # rounding may leave it a little outside, where the outermost piece goes on
        periods = math.floor((where - pool[knots]) / signal.d)
        t, where, gained = t - periods * signal.d, where - periods * signal.d, periods * signal.e
    elif segment < pool[knots]:
        return signal.a, 0.0, 0.0
    elif segment >= pool[knots + last]:
        return signal.b, 0.0, 0.0
    if not pool[knots + x.piece] <= where < pool[knots + x.piece + 1]:
        # as if knots were even
        share = (where - pool[knots]) / (pool[knots + last] - pool[knots])
        x.piece = max(0, min(int(last * share), last - 1))
    if not pool[knots + x.piece] <= where < pool[knots + x.piece + 1]:
        low, high = 0, last
        while high - low > 1:
            middle = (low + high) // 2
            if where < pool[knots + middle]:
                high = middle
            else:
                low = middle
        x.piece = low
    # Horner's scheme, and its two derivatives
    degree = int(signal.f)
    since, k = t - pool[knots + x.piece], pieces + (degree + 1) * x.piece
    s, s1, s2 = pool[k], 0.0, 0.0
    for i in range(k + 1, k + degree + 1):
        s2 = s2 * since + 2.0 * s1
        s1 = s1 * since + s
        s = s * since + pool[i]
    return s + gained, s1, s2


@kernel
def elementary(signal, x, pool, t, segment):
    """(s, sdot, sddot) of a signal that is not made of others."""
    kind = signal.kind
    if kind == SignalKind.CONSTANT:
        return signal.a, 0.0, 0.0
    if kind == SignalKind.LINEAR:
        return signal.a + signal.b * t, signal.b, 0.0
    if kind == SignalKind.STEP:
        return (signal.a if segment < signal.c else signal.b), 0.0, 0.0
    if kind == SignalKind.RAMP or kind == SignalKind.CYCLOID:
        x, x1, x2 = rise(signal, t, segment)
        height = signal.b - signal.a
        return signal.a + height * x, height * x1, height * x2
    if kind == SignalKind.SPEED_CHANGE:
        return speed_change(signal, t, segment)
    if kind == SignalKind.TABLE:
        return table_value(signal, x, pool, t, segment)
    phase, rate, slope = signal.c * t + signal.d, signal.c, 0.0
    if kind == SignalKind.CHIRP:
        phase, rate, slope = chirp_phase(signal, t, segment)
    s, c = signal.b * math.sin(phase), signal.b * math.cos(phase)
    return signal.a + s, c * rate, c * slope - s * rate * rate


@kernel(STATE)
def signals(system, work, t, q, v):
    """Values of those that act."""
    evaluate_signals(system, work, t, system.world[0].n_acting)
    return 0


@kernel
def evaluate_signals(system, work, t, count):
    """Fill the first rows of work.signals; parts stand before the sums and products made of them."""
    segment = work.run[0].segment
    for i in range(count):
        signal, x = system.signals[i], work.signals[i]
        if signal.kind == SignalKind.SUM:
            s, s1, s2 = 0.0, 0.0, 0.0
            for k in range(signal.first, signal.first + signal.count):
                part = work.signals[system.links[k]]
                s, s1, s2 = s + part.s, s1 + part.sdot, s2 + part.sddot
        elif signal.kind == SignalKind.PRODUCT:
            s, s1, s2 = 1.0, 0.0, 0.0
            for k in range(signal.first, signal.first + signal.count):
                part = work.signals[system.links[k]]
                s2 = s2 * part.s + 2.0 * s1 * part.sdot + s * part.sddot
                s1 = s1 * part.s + s * part.sdot
                s = s * part.s
        else:
            s, s1, s2 = elementary(signal, x, system.pool, t, segment)
        x.s, x.sdot, x.sddot = s, s1, s2
