"""modes(model): natural frequencies, dampings and shapes of the small motions of an assembled robot.

About rest (default), about a state given, or about steady motion of prescribed joints (spin). Where nothing damps and
nothing spins the symmetric problem K x = w^2 M x is solved; else the eigenvalues of the linear model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_array, as_flag, as_model, as_name, as_number, as_numbers, as_time, as_whole
from pliant.errors import AccuracyWarning, ModelError, SimulationError
from pliant.files import as_path, write_whole
from pliant.linear.closed_loop import close_loops, rest_under_control, settle
from pliant.linear.feedback import Controllers
from pliant.linear.holding import hold_still
from pliant.linear.operating_point import OperatingPoint
from pliant.linear.state_space import StateSpace
from pliant.linear.truncation import excess, extended, percent, with_many_shapes
from pliant.model.messages import listed
from pliant.model.model import Model
from pliant.model.scales import tolerances
from pliant.queries.dynamics import mass_matrix
from pliant.queries.equilibrium import equilibrium
from pliant.report_types import Finding
from pliant.results.model_warnings import warn_about_model
from pliant.results.recording import Recording

Array = NDArray[np.float64]

MAX_CONDITION = 1e12  # of the mass matrix, its diagonal 1
UNKNOWN = 0.03  # of the slowest frequency: one that is known no better is said not to be
UNDAMPED = 1e-9  # of the largest stiffness and mass: damping and gyroscopic forces below this are rounding
AT_REST = 1e-7  # of the largest acceleration that a unit deviation causes: what a state of rest may have left
MAX_STEPS = 50  # of Newton's method for steady motion
MAX_FILMS = 12  # modes on the page that move
MAX_NOTEBOOK_FILMS, FRAME_HEIGHT = 4, 760  # in a notebook, [pixels]
MAX_HALVINGS = 20  # of an amplitude at which loops do not close
COLUMNS = ("mode", "frequency [rad/s]", "[Hz]", "damping ratio")
EPS = float(np.finfo(float).eps)


class Asked(NamedTuple):
    """The arguments of a call of modes()."""

    q: Array | None
    v: Array | None
    controllers: bool
    hold: bool


@dataclass(frozen=True, eq=False)
class Modes:
    """Small free motions: x_k exp(lambda_k t) about (q, v), by rising frequency; one for a conjugate pair.

    shapes: columns, one row per model.velocities, the largest entry is 1 rad or the model's size."""

    model: Model
    q: Array
    v: Array
    t: float
    eigenvalues: NDArray[np.complex128]  # [1/s]
    shapes: NDArray[np.complex128]
    shares: Array  # of the kinetic energy, per velocity (rows) and mode
    linear: StateSpace
    n_lost: int = 0  # motions under controllers that die out within a period to less than rounding, not listed
    asked: Asked = field(default=Asked(None, None, True, False), repr=False)

    @property
    def frequencies(self) -> Array:
        """Undamped natural frequencies |lambda| [rad/s]; 0: a motion that nothing holds."""
        return np.abs(self.eigenvalues)

    @property
    def hertz(self) -> Array:
        """The same [Hz]."""
        return self.frequencies / (2.0 * np.pi)

    @property
    def damping_ratios(self) -> Array:
        """-Re lambda / |lambda|: 0 undamped, 1 or more decays without vibration, negative grows."""
        size = np.abs(self.eigenvalues)
        return np.asarray(np.where(size > 0.0, -self.eigenvalues.real / np.where(size > 0.0, size, 1.0), 0.0) + 0.0)

    @cached_property
    def truncation(self) -> Array:
        """How far every frequency is above that of beams with all their shapes, as a share of itself: 0.08 is 8 %.

        From the robot with eight more shapes per family; 0 without beams, nan where they cannot have more."""
        if not self.model.has_modes:
            return np.zeros(len(self.eigenvalues))
        more = with_many_shapes(self.model)
        if more is None:
            return np.full(len(self.eigenvalues), np.nan)
        q, v = (extended(self.model, more, values, name) for values, name in ((self.asked.q, "q"), (self.asked.v, "v")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the robot itself were given
            try:
                found = modes(more, q, v, t=self.t, controllers=self.asked.controllers, hold=self.asked.hold)
            except (ModelError, SimulationError):
                return np.full(len(self.eigenvalues), np.nan)
        return excess(self.frequencies, found.frequencies, self.model, more)

    @property
    def columns(self) -> tuple[str, ...]:
        """Heads of the table."""
        return (*COLUMNS, *(("from converged",) if self.model.has_modes else ()), "what moves")

    @property
    def is_stable(self) -> bool:
        """Whether no small motion grows."""
        return bool(np.all(self.eigenvalues.real <= 1e-9 * np.abs(self.eigenvalues)))

    def mostly(self, k: int) -> str:
        """The coordinates that have most of the kinetic energy of mode k, in words."""
        k = self._number(k)
        share = self.shares[:, k]
        order = np.argsort(-share, kind="stable")[:3]
        return ", ".join(f"{self.model.velocities[j]} {100.0 * share[j]:.0f} %" for j in order if share[j] >= 0.05)

    def table(self) -> list[tuple[str, ...]]:
        """Number, angular frequency, frequency, damping ratio and what moves, of every mode; with beams also how far
        the frequency is from converged."""
        rows = zip(self.frequencies, self.hertz, self.damping_ratios, strict=True)
        shares = [(percent(share),) for share in self.truncation] if self.model.has_modes else [()] * len(self.hertz)
        return [
            (str(k + 1), f"{w:.10g}", f"{f:.8g}", f"{zeta:.4g}", *shares[k], self.mostly(k))
            for k, (w, f, zeta) in enumerate(rows)
        ]

    @property
    def summary(self) -> dict[str, Any]:
        """Plain numbers, for files: of every mode its frequency, damping ratio, eigenvalue and shape."""
        rows = []
        for k, value in enumerate(self.eigenvalues):
            shape = {
                name: [float(entry.real), float(entry.imag)]
                for name, entry in zip(self.model.velocities, self.shapes[:, k], strict=True)
            }
            facts = (self.frequencies[k], self.hertz[k], self.damping_ratios[k], value.real, value.imag)
            names = ("frequency", "hertz", "damping_ratio", "growth_rate", "damped_frequency")
            share = float(self.truncation[k])
            known = {"truncation": None if np.isnan(share) else share} if self.model.has_modes else {}
            rows.append({**dict(zip(names, map(float, facts), strict=True)), **known, "shape": shape})
        state = {"q": self.q.tolist(), "v": self.v.tolist(), "t": self.t}
        loop = {"controllers": self.linear.period is not None, "period": self.linear.period}
        return {"model": self.model.name, "state": state, **loop, "modes": rows}

    def motion(self, k: int, phase: ArrayLike, amplitude: float = 0.1) -> Array:
        """q of mode k at phases [rad] of its vibration, (phases, n_q); amplitude: of its largest entry.

        Loops stay closed; where they cannot with this amplitude, it is halved until they can."""
        k = self._number(k)
        angles = np.atleast_1d(as_numbers(phase, "phase"))
        size = as_number(amplitude, "amplitude")
        if angles.ndim != 1 or not np.all(np.isfinite(angles)):
            raise ModelError(f"phase: shape {angles.shape} found; give a list of finite angles [rad]")
        point = OperatingPoint(self.model, self.q, self.v, self.t)
        steps = np.outer(np.exp(1j * angles), self.shapes[:, k]).real
        for _ in range(MAX_HALVINGS):
            found = np.array([point.along(size * step) for step in steps])
            if point.loops is None or not any(point.loops.open_loops(q) for q in found):
                break
            size *= 0.5
        return found

    def _number(self, k: Any) -> int:
        """The number of a mode, from 0, or a message."""
        k = as_whole(k, "k", 0)
        if k >= len(self.eigenvalues):
            raise ModelError(f"k: {k} found; there are {len(self.eigenvalues)} modes, numbered from 0")
        return int(k)

    def film(self, k: int, amplitude: float = 0.1) -> Recording:
        """Mode k as a motion to look at: three vibrations of two seconds each, whatever its frequency."""
        t = np.linspace(0.0, 6.0, 181)
        q = self.motion(k, np.pi * t, amplitude)
        still = np.zeros((len(t), len(self.v)))
        return Recording(self.model, t, q, still, {}, {}, (), "done", "", {}, {}, {}, np.zeros((len(t), 0)))

    def report(self, path: str | Path = "modes.html", *, title: str = "") -> None:
        """Write a page: the lowest modes that vibrate, moving, and the table of all."""
        as_name(title, "title", "give a text")
        write_whole(as_path(path), self._page(title, MAX_FILMS))

    def _repr_html_(self) -> str:
        # a page within the notebook's, with a script of its own
        page = escape(self._page("", MAX_NOTEBOOK_FILMS), quote=True)
        return f'<iframe style="width:100%;height:{FRAME_HEIGHT}px;border:none" srcdoc="{page}"></iframe>'

    def _page(self, title: str, max_films: int) -> str:
        from pliant.view.page.report import findings_page

        shown = np.flatnonzero(self.frequencies > 0.0)[:max_films]
        films = {f"mode {k + 1}, {self.hertz[k]:.5g} Hz": self.film(int(k)) for k in shown}
        text = (
            "Small free motions, by rising frequency; the pictures show each at half a vibration per second, enlarged. "
            + self._about_controllers()
        )
        table = Finding("Natural frequencies", text, self.columns, tuple(self.table()))
        name = title or f"{self.model.name}: modes"
        count = len(self.frequencies)
        around = "rest" if not self.v.any() else "motion"
        about = f"{count} mode{'' if count == 1 else 's'} of {self.model.name} about {around}"
        return findings_page((table,), title=name, description=about, settings={}, setting_table={}, films=films)

    def _about_controllers(self) -> str:
        """What the page says of them."""
        if self.linear.period is None:
            return "Controllers are off." if self.model.controllers else ""
        fastest = min(controller.period for controller in self.model.controllers)
        words = (
            f"Controllers close the loop: {listed(controller.name for controller in self.model.controllers)}. Steps of "
            f"sensors and commands, noise and limits are left out. From {0.5 / fastest:.5g} Hz on, half the frequency "
            "of its samples, a controller takes a vibration for a slower one; the frequencies here are the true ones."
        )
        if self.n_lost:
            words += f" {self.n_lost} more die out within a period to less than rounding."
        return words

    def __repr__(self) -> str:
        rows = [self.columns, *self.table()]
        widths = [max(len(row[c]) for row in rows) for c in range(len(self.columns))]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)


def modes(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    t: float = 0.0,
    controllers: bool = True,
    hold: bool = False,
) -> Modes:
    """Natural frequencies, dampings and mode shapes of the small motions about a state.

    q left out: about rest, found from the model's start; where joints are prescribed, about the steady motion that they
    have at time t (spin). q given: about that state, whether it rests or not (a warning says so). Loops, contacts that
    are pressed and what sticks are as at that state. With beams, Modes.truncation and the table say how far every
    frequency is from that with all shapes.

    controllers: they close the loop (default), with their references of time t, periods and delays; q left out: rest is
    that under them. False: they are off. hold: the joints stay at q by constant forces, as of motors; beams, and the
    links of flexible joints, are where they then rest."""
    is_at_rest = q is None
    t, is_closed = as_time(t), as_flag(controllers, "controllers") and bool(as_model(model).controllers)
    warn_about_model(model)
    if as_flag(hold, "hold") and q is None:
        raise ModelError("hold: no state to hold; give q, or leave hold out for modes about rest")
    if q is None:
        q = rest_under_control(model, t) if is_closed else _steady(model, t)
    point = hold_still(OperatingPoint(model, q, v, t)) if hold else OperatingPoint(model, q, v, t)
    loops = None
    if is_closed:
        loops = close_loops(point, (), (), *((Controllers(point), None) if hold else settle(point)))
    linear = point.linear_model((), ()) if loops is None else loops.model
    n, n_lost = len(point.independent), 0
    _warn_if_moving(point, linear.A[n : 2 * n, :n] if loops is None else loops.slow_rates[n : 2 * n, :n])
    M = point.Z.T @ mass_matrix(model, point.q) @ point.Z
    _warn_if_dependent(M)
    if loops is None:
        values, shapes = _solve(M, *_stiffness(point, linear, M), linear.A)
    else:
        values, shapes, n_lost = loops.modes(M)
    full = point.Z @ shapes
    lengths = tolerances(model, 0, 1.0)[len(point.q) :]
    momentum = mass_matrix(model, point.q) @ full
    # coordinates that move against each other have negative parts, too: their sizes count
    shares = np.abs(np.real(np.conj(full) * momentum))
    shares = shares / np.maximum(np.sum(shares, axis=0), 1e-300)
    largest = np.argmax(np.abs(full / lengths[:, None]), axis=0) if n else np.zeros(0, int)
    for k, j in enumerate(largest):
        full[:, k] *= lengths[j] / full[j, k] if full[j, k] else 0.0
    asked = Asked(None if is_at_rest else point.q.copy(), None if v is None else point.v.copy(), is_closed, hold)
    return Modes(model, point.q.copy(), point.v.copy(), t, values, full, shares, linear, n_lost, asked)


def frequencies(
    model: Model,
    q: ArrayLike,
    count: int | None = None,
    *,
    t: float = 0.0,
    controllers: bool = True,
    hold: bool = True,
) -> Array:
    """Natural frequencies [rad/s] in many poses: (.., count), the lowest first; count left out: as many as all have.

    hold: in each pose constant forces hold the joints against gravity and springs, and beams are where they then rest
    (default); False: the equations as they are in the pose, at rest there or not. controllers: as in modes."""
    poses = as_array(q, as_model(model).coordinates, "q")
    flat = poses.reshape(-1, poses.shape[-1])
    most = len(model.velocities) if count is None else as_whole(count, "count")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "modes: the state is not one of rest")  # poses of a map need not be
        found = [modes(model, pose, t=t, controllers=controllers, hold=hold).frequencies for pose in flat]
    width = min([most, *map(len, found)])
    return np.array([row[:width] for row in found]).reshape(*poses.shape[:-1], width)


def _stiffness(point: OperatingPoint, linear: StateSpace, M: Array) -> tuple[Array, Array]:
    """K of M x'' + K x = 0, and its error. By forces where the robot rests and nothing closes or touches it:
    accelerations divide them by M, which costs the slow modes of stiff beams their digits."""
    n, model = len(M), point.model
    K, error = -M @ linear.A[n : 2 * n, :n], M @ linear.error[n : 2 * n, :n]
    is_plain = not (model.loops or model.contacts or model.is_stiffened or np.any(point.v) or len(linear.A) > 2 * n)
    if not is_plain or not n or not _is_at_rest(point, linear.A[n : 2 * n, :n]):
        return K, error
    still = np.zeros(len(point.v))

    def forces(x: Array) -> Array:
        q, v, _ = point.state(x)
        return np.asarray(point.Z.T @ point.handle.inverse_dynamics(q, v, still, point.t))

    found, error = point.derivatives(forces)
    return found[:, :n], error[:, :n]


def _solve(M: Array, K: Array, error: Array, A: Array) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Eigenvalues, one of a conjugate pair, by rising size, and the coordinates' part of their vectors; error: of K."""
    n = len(M)
    C = -M @ A[n : 2 * n, n : 2 * n]
    scale = np.sqrt(np.max(np.abs(K), initial=0.0) * np.max(np.abs(M), initial=0.0))
    is_plain = len(A) == 2 * n and np.max(np.abs(C), initial=0.0) <= UNDAMPED * scale
    is_plain = is_plain and not np.any(A[:n, :n])
    if is_plain and np.max(np.abs(K - K.T), initial=0.0) <= 1e-6 * np.max(np.abs(K), initial=0.0):
        return _undamped(M, 0.5 * (K + K.T), error)
    return _damped(A, n)


def _undamped(M: Array, K: Array, error: Array) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    from scipy.linalg import eigh

    if not len(M):
        return np.zeros(0, complex), np.zeros((0, 0), complex)
    squares, X = eigh(K, M)
    squares = np.einsum("ik,ij,jk->k", X, K, X)  # Rayleigh's quotient; X^T M X = 1
    rounding = np.abs(X).T @ (np.abs(error) + len(M) * EPS * np.abs(K)) @ np.abs(X)
    known = 10.0 * np.diagonal(rounding)
    _warn_if_unknown(squares, known)
    squares = np.where(np.abs(squares) <= known, 0.0, squares)
    order = np.argsort(np.abs(squares), kind="stable")
    # lambda^2 = -w^2: a negative square is a motion that falls over, with rate +w
    return np.sqrt(-squares[order] + 0j), X[:, order].astype(complex)


def _warn_if_dependent(M: Array) -> None:
    sizes = np.sqrt(np.maximum(np.diagonal(M), np.finfo(float).tiny))
    condition = float(np.linalg.cond(M / np.outer(sizes, sizes))) if len(M) else 1.0
    if condition > MAX_CONDITION:
        warnings.warn(
            f"modes: some coordinates hardly differ in the motion they mean (condition {condition:.1g} of the mass "
            "matrix), so that frequencies have few digits or none; give fewer shapes",
            AccuracyWarning,
            stacklevel=3,
        )


def _warn_if_unknown(squares: Array, known: Array) -> None:
    """Say where a frequency that is given as zero may be one of the robot's; known: how well squares are."""
    is_zero = np.abs(squares) <= known
    slowest = np.min(np.abs(squares[~is_zero]), initial=np.inf)
    lost = np.sqrt(known[is_zero & (known > UNKNOWN**2 * slowest)])
    if len(lost):
        warnings.warn(
            f"modes: {len(lost)} frequencies below {np.max(lost):.3g} rad/s are given as zero, because rounding of the "
            "stiffest motions hides them; give fewer shapes, or exact modes in place of polynomials",
            AccuracyWarning,
            stacklevel=5,
        )


def _damped(A: Array, n: int) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    from scipy.linalg import eig

    values, vectors = eig(A)
    keep = np.flatnonzero(values.imag >= 0.0)
    keep = keep[np.argsort(np.abs(values[keep]), kind="stable")]
    floor = 1e3 * EPS * np.max(np.abs(values), initial=0.0)
    values = np.where(np.abs(values) <= floor, 0.0, values)
    return values[keep].astype(complex), vectors[:n, keep].astype(complex)


def _steady(model: Model, t: float) -> Array:
    """q at rest, or in steady motion of what is prescribed at time t."""
    start = OperatingPoint(model, None, None, t, refuses_kinks=False)
    if t == 0.0 and not np.any(start.v):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what nothing holds shows as frequency 0
            return equilibrium(model, start.q)
    point = start
    for _ in range(MAX_STEPS):
        linear = point.linear_model((), ())
        n = len(point.independent)
        slope = linear.A[n : 2 * n, :n]
        step = np.linalg.lstsq(slope, -point.residual, rcond=1e-12)[0] if n else np.zeros(0)
        lengths = point.scales[:n]
        step *= min(1.0, 0.5 / max(float(np.max(np.abs(step / lengths), initial=0.0)), 1e-300))
        point = OperatingPoint(model, point.moved(point.Z @ step), None, t, refuses_kinks=False)
        if np.max(np.abs(step / lengths), initial=0.0) < 1e-13:
            return np.asarray(point.q)
    if not _is_at_rest(point, slope):
        raise SimulationError(
            f"modes: no steady motion was found near the start at t = {t:g} s; give the state q that is meant"
        )
    return np.asarray(point.q)


def _is_at_rest(point: OperatingPoint, slope: Array) -> bool:
    """slope: accelerations by deviations."""
    unit = np.max(np.abs(slope) * point.scales[: len(slope)], axis=1, initial=0.0)
    gravity = float(np.linalg.norm(point.model.gravity))
    return bool(np.all(np.abs(point.residual) <= AT_REST * np.maximum(unit, gravity)))


def _warn_if_moving(point: OperatingPoint, slope: Array) -> None:
    if _is_at_rest(point, slope):
        return
    for name, rate in _moving(point):
        warnings.warn(
            f"modes: the state is not one of rest: {name!r} has an acceleration of {rate:.3g}; the frequencies are "
            "those of the equations frozen there (leave q out for those about rest)",
            stacklevel=4,
        )
        return


def _moving(point: OperatingPoint) -> Iterator[tuple[str, float]]:
    order = np.argsort(-np.abs(point.residual) / point.scales[: len(point.independent)])
    for k in order:
        yield point.model.velocities[point.independent[k]], float(point.residual[k])
