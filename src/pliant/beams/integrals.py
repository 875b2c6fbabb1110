"""The constant tables of a flexible body: every integral over its shapes that its motion needs.

Order of the modal coordinates: y bending, z bending, stretch, torsion. Components c: the modes that translate, then the
shortening functions psi_r, each along one axis. Shortening by bending is x_f = -1/2 d^T H(x) d, H = sum_r psi_r Q_r,
with psi_r orthonormal over the mass."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.beams.damping import damping_matrix
from pliant.beams.families import BeamShapes, beam_shapes
from pliant.beams.fourth_order import Stations, section_shares, slope_products, stations
from pliant.beams.sampling import Samples, quadratic, sample, shortening
from pliant.beams.shapes import values_of
from pliant.model.flexible import Beam

Array = NDArray[np.float64]

SMALLEST = 1e-14  # singular values kept, relative to the largest
MIXED = 3, 40  # mixtures of products of slopes that span them all: so many for every mode, and so many more
N_CHECKED = 61  # mixtures that are held against them
MAX_BESIDE = 1e-13  # of the largest entry: what is beside them is rounding


class PointValues(NamedTuple):
    """Of the shapes at one place on the axis."""

    position: Array  # undeformed (3) [m]
    phi: Array  # of the translating modes
    theta: Array  # section angles (bx, by, bz) per coordinate, (3, m)
    H: Array  # shortening, (bending, bending); zero when linear
    share: Array  # of every station in the fourth order of the shortening; none at lower orders


class BodyTables(NamedTuple):
    """Constants of a flexible body. m coordinates, M components, R shortening functions."""

    families: tuple[int, int, int, int]  # y, z, stretch, torsion modes
    mass: float  # [kg]
    c0: Array  # int r dm, (3)
    J0: Array  # int (r.r 1 - r r^T) dm about the origin, (3, 3)
    axis: NDArray[np.int64]  # direction of each component, 0 x, 1 y, 2 z, (M)
    C1: Array  # int phi dm, (M)
    X1: Array  # int x phi dm, (M)
    P: Array  # int phi phi dm, (M, M); the psi-psi block is the unit matrix
    Q: Array  # shortening, (R, bending, bending)
    Jr: Array  # inertia of the sections, with the frame, (3, 3)
    Jr1: Array  # .. of frame and modes, (3, m)
    Jr2: Array  # .. of the modes, (m, m)
    K: Array  # stiffness, (m, m)
    D: Array  # damping, (m, m)
    stations: Stations  # where slopes are taken to the fourth order; none at lower orders
    is_stiffened: bool  # geometric stiffness by two solves
    Hm: Array  # int H dm and int x H dm, (bending, bending); zero unless stiffened
    H1: Array
    tip: PointValues

    @property
    def n_modes(self) -> int:
        return sum(self.families)

    @property
    def n_translating(self) -> int:
        return sum(self.families[:3])

    @property
    def modal_mass(self) -> Array:
        """M_dd of the undeformed body, (m, m)."""
        return modal_mass(self.axis[: self.n_translating], self.P, self.Jr2)


@lru_cache(maxsize=64)
def body_tables(beam: Beam) -> BodyTables:
    """All tables of a beam; the last ones are kept."""
    shapes = beam_shapes(beam)
    s = sample(beam, shapes)
    H_all = _shortening(beam, shapes, np.append(s.x, beam.length))
    H = H_all[:-1]
    Q, psi = _shortening_functions(beam, shapes, s, H)
    phi = np.vstack([s.phi, psi])
    axis = np.concatenate([s.axis, np.zeros(len(psi), dtype=np.int64)])
    Jr, Jr1, Jr2 = _rotary(beam, s)
    K = quadratic(s.rigidity * s.weights, s.strain)  # elastic energy 1/2 d^T K d
    P = (phi * s.dm) @ phi.T
    n3 = len(s.phi)
    P[n3:, n3:] = np.eye(len(psi))
    x2 = float(s.dm @ s.x**2)
    return BodyTables(
        families=(len(shapes.y), len(shapes.z), len(shapes.stretch), len(shapes.torsion)),
        mass=float(s.dm.sum()),
        c0=np.array([s.dm @ s.x, 0.0, 0.0]),
        J0=np.diag([0.0, x2, x2]),
        axis=axis,
        C1=phi @ s.dm,
        X1=phi @ (s.dm * s.x),
        P=P,
        Q=Q,
        Jr=Jr,
        Jr1=Jr1,
        Jr2=Jr2,
        K=K,
        D=damping_matrix(beam, s, K, modal_mass(s.axis, P, Jr2)),
        stations=stations(beam, shapes, s, psi),
        is_stiffened=beam.is_stiffened,
        Hm=np.einsum("q,qij->ij", s.dm, H),
        H1=np.einsum("q,qij->ij", s.dm * s.x, H),
        tip=_values_at(beam, shapes, np.array([beam.length]), H_all[-1:])[0],
    )


def modal_mass(axis: NDArray[np.int64], P: Array, Jr2: Array) -> Array:
    n3 = len(axis)
    out = Jr2.copy()
    out[:n3, :n3] += np.where(axis[:, None] == axis[None, :], P[:n3, :n3], 0.0)
    return out


def point_values(beam: Beam, shapes: BeamShapes, x: float) -> PointValues:
    """At material coordinate x of the axis."""
    return values_at(beam, shapes, np.array([x]))[0]


def values_at(beam: Beam, shapes: BeamShapes, x: Array) -> list[PointValues]:
    """At many places, together: much faster than one by one."""
    return _values_at(beam, shapes, x, _shortening(beam, shapes, x))


def _values_at(beam: Beam, shapes: BeamShapes, x: Array, H: Array) -> list[PointValues]:
    """H: the shortening at x."""
    y, z, stretch, torsion = (values_of(family, x) for family in shapes[:4])
    ny, nz, nx = len(y), len(z), len(stretch)
    theta = np.zeros((len(x), 3, shapes.n_modes))
    for k, value in enumerate(torsion):
        theta[:, 0, ny + nz + nx + k] = value.y
    for k, value in enumerate(z):
        theta[:, 1, ny + k] = -value.rotation
    for k, value in enumerate(y):
        theta[:, 2, k] = value.rotation
    phi = np.array([value.y for value in (*y, *z, *stretch)]).reshape(ny + nz + nx, len(x)).T
    positions = np.column_stack([x, np.zeros((len(x), 2))])
    shares = section_shares(beam, shapes, x)
    return [PointValues(*values) for values in zip(positions, phi, theta, H, shares, strict=True)]


def _shortening(beam: Beam, shapes: BeamShapes, x: Array) -> Array:
    """H(x), (places, bending, bending); zero where there is none."""
    n = len(shapes.y) + len(shapes.z)
    return np.zeros((len(x), n, n)) if beam.coupling == "linear" or not n else shortening(beam, shapes, x)


def _shortening_functions(beam: Beam, shapes: BeamShapes, s: Samples, H: Array) -> tuple[Array, Array]:
    """Q (R, bending, bending) and psi (R, places): the singular vectors of H over the mass."""
    n = H.shape[1]
    if beam.coupling in ("linear", "stiffened") or not n:
        return np.zeros((0, n, n)), np.zeros((0, len(s.x)))
    root = np.sqrt(s.dm)
    rows, columns = np.tril_indices(n)
    second = root[:, None] * H[:, rows, columns]
    fourth = root[:, None] * slope_products(beam, shapes, s.x)
    U = _left_vectors(np.hstack([second, fourth]) if fourth.shape[1] else second, n)
    Q = np.zeros((U.shape[1], n, n))
    Q[:, rows, columns] = Q[:, columns, rows] = U.T @ second
    return Q, U.T / root


def _left_vectors(functions: Array, n: int) -> Array:
    """Orthonormal columns that span the functions (places, products of n slopes), without those of rounding."""
    places, count = functions.shape
    n_mixed = MIXED[0] * n + MIXED[1]
    if n_mixed < min(places, count) // 2:
        # many products of few independent functions, which as many mixtures span, too (Halko, Martinsson, Tropp, SIAM
        # Rev. 53, 2011); others say whether they do
        rng = np.random.default_rng(0)
        U, sigma, _ = np.linalg.svd(_mixtures(functions, n_mixed, rng), full_matrices=False)
        kept, others = U[:, sigma > SMALLEST * sigma[0]], _mixtures(functions, N_CHECKED, rng)
        beside = others - kept @ (kept.T @ others)
        if len(kept.T) < n_mixed and np.abs(beside).max() < MAX_BESIDE * np.abs(others).max():
            return kept
    if count > places:  # the same left singular vectors, of a smaller matrix
        functions = np.asarray(np.linalg.qr(functions.T, mode="r")).T
    U, sigma, _ = np.linalg.svd(functions, full_matrices=False)
    return np.asarray(U[:, sigma > SMALLEST * sigma[0]])


def _mixtures(functions: Array, n: int, rng: np.random.Generator) -> Array:
    """Sums of columns with random signs: each column in one of n, (places, n)."""
    count = functions.shape[1]
    signs: Array = 1.0 - 2.0 * rng.integers(0, 2, count).astype(float)
    whole = count - count % n
    out = np.einsum("pgk,gk->pk", functions[:, :whole].reshape(len(functions), -1, n), signs[:whole].reshape(-1, n))
    out[:, : count - whole] += functions[:, whole:] * signs[whole:]
    return np.asarray(out)


def _rotary(beam: Beam, s: Samples) -> tuple[Array, Array, Array]:
    """Inertia of the rotating sections, and of lumps at the start, which rotate with the frame: Jr, Jr1, Jr2."""
    m = s.angle.shape[1]
    lumps = sum((np.diag(one.inertia) for one in beam.point_masses), np.zeros((3, 3)))
    if beam.rotary == "none":
        return lumps, np.zeros((3, m)), np.zeros((m, m))
    inertia = s.values.rotary * s.weights
    Jr = lumps + np.diag(inertia.sum(axis=1))
    if beam.rotary == "frame":
        return Jr, np.zeros((3, m)), np.zeros((m, m))
    Jr1 = np.einsum("iq,imq->im", inertia, s.angle)
    return Jr, Jr1, quadratic(inertia, s.angle)
