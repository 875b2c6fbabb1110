"""What one step makes of an oscillator, in closed form: spectral radius, damping, period, limit of stability.

The oscillator is x'' + 2 zeta w x' + w^2 x = 0, in units in which the step is 1: only wh, frequency times step, counts
(and h itself for the misprint of Proposed). numpy only."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.methods.integrators import AdditiveRungeKutta, Integrator, Radau, RungeKutta, StepRule
from pliant.system.newton import Rule

Array = NDArray[np.float64]

X, V, A, BEFORE, MOVE, MOVE_BEFORE = np.eye(6)  # the past of a second-order method: x, v, a, a before, increments
LARGEST = 1e4  # wh up to which a method is looked at
ROUNDING = 1e-5  # of a spectral radius 1 of double roots
SLOW, SLOW_GROWTH = 0.3, 1e-5  # growth of a resolved oscillation: at every step, however short


class Oscillation(NamedTuple):
    """What a method makes of an undamped oscillation."""

    radius: float  # what is left of it after a step, of all roots the largest
    damping: float  # ratio to critical that it seems to have
    period_error: float  # relative; NaN where it does not oscillate


def amplification(integrator: Integrator, wh: float, zeta: float = 0.0, h: float = 1.0) -> Array | None:
    """The matrix of one step after the start; None: there is no closed form (variable order)."""
    if integrator.step_rule is not None:
        return _second_order(integrator.step_rule, wh, zeta, h)
    rates = np.array([[0.0, 1.0], [-(wh**2), -2.0 * zeta * wh]])
    if isinstance(integrator, RungeKutta):
        return _polynomial(_runge_kutta(integrator.first.name), rates)
    if isinstance(integrator, Radau):
        below = _polynomial([1.0, -3.0 / 5.0, 3.0 / 20.0, -1.0 / 60.0], rates)
        return np.asarray(np.linalg.solve(below, _polynomial([1.0, 2.0 / 5.0, 1.0 / 20.0], rates)), np.float64)
    if isinstance(integrator, AdditiveRungeKutta):
        return _stiffly_accurate(integrator.name, rates)
    return None


def _stiffly_accurate(name: str, rates: Array) -> Array:
    """1 + b (1 - A z)^-1 z of the implicit tableau: spring and damper of an oscillator are implicit altogether."""
    from pliant.kernels.integrators.tableaus import TABLEAUS

    tableau = TABLEAUS[name]
    s, n = tableau.n_stages, len(rates)
    A = tableau.A[s : 2 * s, :s]
    stages = np.linalg.solve(np.eye(s * n) - np.kron(A, rates), np.tile(rates, (s, 1)))
    return np.asarray(np.eye(n) + np.kron(A[-1], np.eye(n)) @ stages, np.float64)


def _polynomial(coefficients: list[float], matrix: Array) -> Array:
    total, power = np.zeros_like(matrix), np.eye(len(matrix))
    for each in coefficients:
        total, power = total + each * power, power @ matrix
    return total


def _runge_kutta(name: str) -> list[float]:
    """Coefficients of the stability function: 1, b 1, b A 1, b A^2 1, .."""
    from pliant.kernels.integrators.tableaus import TABLEAUS

    tableau = TABLEAUS[name]
    n = tableau.n_stages
    found, x = [1.0], np.ones(n)
    for _ in range(n):
        found.append(float(tableau.A[n, :n] @ x))
        x = tableau.A[:n, :n] @ x
    return found


def _rows(rule: StepRule, h: float) -> tuple[Array, Array, float, float]:
    """P, R, beta, gamma of a step of length 1: kernels/integrators/second_order_rows.py."""
    if rule.rule == Rule.HOUBOLT:
        return 1.5 * MOVE - 0.5 * MOVE_BEFORE, (9.5 * MOVE - 3.5 * MOVE_BEFORE) / 6.0, 0.5, 11.0 / 12.0
    if rule.rule == Rule.PROPOSED:
        g1, g2 = rule.g1, rule.g2
        P = V + (2.0 + g2) / 6.0 * A - g2 / 12.0 * BEFORE
        R = V + 0.5 * (1.0 + g1) * A - 0.25 * g1 * BEFORE
        return P, R, (2.0 - g2) / 12.0, 0.25 * (2.0 - g1) / (h if rule.is_printed else 1.0)
    beta, gamma, q = rule.start_beta, rule.start_gamma, rule.theta
    return q * V + q**2 * (0.5 - beta) * A, V + q * (1.0 - gamma) * A, beta * q**2, gamma * q


def _second_order(rule: StepRule, wh: float, zeta: float, h: float) -> Array:
    P, R, of_x, of_v = _rows(rule, h)
    stiffness, damping = wh**2, 2.0 * zeta * wh
    new, old = 1.0 - rule.alpha_f, rule.alpha_f
    right = -new * (stiffness * (X + P) + damping * R) - old * (stiffness * X + damping * V) - rule.alpha_m * A
    a = right / (1.0 - rule.alpha_m + new * (stiffness * of_x + damping * of_v))
    if rule.rule == Rule.WILSON:
        a = A + (a - A) / rule.theta
        P, R, of_x, of_v = V + A / 3.0, V + 0.5 * A, 1.0 / 6.0, 0.5
    move = P + of_x * a
    return np.array([X + move, R + of_v * a, a, A, move, MOVE])


def oscillation(integrator: Integrator, wh: float, h: float = 1.0) -> Oscillation | None:
    """Of an undamped oscillation: the pair of roots nearest to exp(+-i wh) is its own, others come with the method."""
    matrix = amplification(integrator, wh, h=h)
    if matrix is None:
        return None
    return of_roots(np.linalg.eigvals(matrix), wh)


def of_roots(roots: NDArray[Any], wh: float) -> Oscillation:
    """What the roots of a step say of an undamped oscillation."""
    turning = roots[roots.imag > 0.0]
    candidates = turning if len(turning) else roots
    own = candidates[np.argmin(np.abs(candidates - np.exp(1j * wh)))]
    return Oscillation(float(np.max(np.abs(roots))), *apparent(complex(own), wh))


def apparent(root: complex, wh: float) -> tuple[float, float]:
    """(damping ratio, relative period error) of a root of an undamped oscillation."""
    size, angle = abs(root), abs(math.atan2(root.imag, root.real))
    if size == 0.0 or angle == 0.0:
        return (math.inf if size < 1.0 else 0.0), math.nan
    rate = math.log(size)
    # x = exp((-zeta w' + i w' sqrt(1 - zeta^2)) t)
    damping = -rate / math.hypot(rate, angle)
    return damping, wh / angle - 1.0


def spectral_radius(integrator: Integrator, wh: float, h: float = 1.0) -> float:
    """NaN: there is no closed form."""
    found = oscillation(integrator, wh, h)
    return math.nan if found is None else found.radius


def stability_limit(integrator: Integrator, h: float = 1.0) -> float:
    """Largest wh up to which no undamped oscillation grows; inf: at every step; NaN: there is no closed form."""

    def grows(wh: float) -> bool:
        return spectral_radius(integrator, wh, h) > 1.0 + ROUNDING

    if math.isnan(spectral_radius(integrator, 1.0, h)):
        return math.nan
    if spectral_radius(integrator, SLOW, h) > 1.0 + SLOW_GROWTH:
        return 0.0
    below, above = SLOW, math.inf
    for wh in np.geomspace(SLOW, LARGEST, 400):
        if grows(wh):
            above = wh
            break
        below = wh
    while above < math.inf and above - below > 1e-9 * above:
        middle = 0.5 * (below + above)
        below, above = (below, middle) if grows(middle) else (middle, above)
    return above
