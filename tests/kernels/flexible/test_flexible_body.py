"""A flexible body in plain numpy from the tables of pliant.beams, against stored vectors and against its definition.

tests/data/flexible-body-vectors.json is a copy of specs/0-flexible-body-vectors.json, the test data of
specs/0-flexible-body.md; the formulas below are those of its sections 4 and 5."""

import numpy as np
import pytest

from flexible_models import CASES, NAMES, close, stored_beam, stored_state
from pliant.beams.families import beam_shapes
from pliant.beams.integrals import body_tables, point_values
from pliant.beams.piece_basis import gauss
from pliant.beams.sampling import shortening
from pliant.model.flexible import Beam, Bending, GivenSection, Material, PointMass, Rectangle, TaperedSection
from pliant.model.sections import beam_values

EX, EY, EZ = np.eye(3)


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def components(tables, d, e):
    """D, D', B, b: amplitudes of all components."""
    n3, bent = tables.n_translating, tables.Q.shape[1]
    B = np.zeros((len(tables.axis), tables.n_modes))
    B[:n3, :n3] = np.eye(n3)
    B[n3:, :bent] = -tables.Q @ d[:bent]
    D = np.concatenate([d[:n3], -0.5 * np.einsum("rjl,j,l->r", tables.Q, d[:bent], d[:bent])])
    b = np.concatenate([np.zeros(n3), -np.einsum("rjl,j,l->r", tables.Q, e[:bent], e[:bent])])
    return D, B @ e, B, b


def body_matrices(tables, d, e, w):
    """Mass matrix, bias force and first moment: spec 0, section 4."""
    D, Dd, B, b = components(tables, d, e)
    f = np.eye(3)[tables.axis]
    c, cd = tables.c0 + (tables.C1 * D) @ f, (tables.C1 * Dd) @ f
    p = np.outer(tables.X1, EX) + (tables.P * D) @ f
    q = (tables.P * Dd) @ f
    Z = np.einsum("c,ci,cj->ij", D, f, p + np.outer(tables.X1, EX))
    G = 0.5 * (Z + Z.T)
    J = tables.J0 + np.trace(G) * np.eye(3) - G + tables.Jr
    Gd = np.einsum("c,ci,cj->ij", Dd, f, p)
    Ct, At = (tables.C1[:, None] * f).T, np.cross(p, f).T
    N = np.where(tables.axis[:, None] == tables.axis[None, :], tables.P, 0.0)
    M = np.block(
        [
            [tables.mass * np.eye(3), -cross(c), Ct @ B],
            [cross(c), J, At @ B + tables.Jr1],
            [(Ct @ B).T, (At @ B + tables.Jr1).T, B.T @ N @ B + tables.Jr2],
        ]
    )
    h_v = np.cross(w, np.cross(w, c) + 2 * cd) + Ct @ b
    h_w = np.cross(w, J @ w + tables.Jr1 @ e) + 2 * (np.trace(Gd) * w - Gd @ w) + At @ b
    F = np.sum(f * np.cross(w, np.cross(w, p) + 2 * q), axis=1) + N @ b
    return M, np.concatenate([h_v, h_w, B.T @ F]), c


def rotation(axis, angle):
    K = cross(np.eye(3)[axis])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def end_frame(point, axis, d, e, w):
    """Position, rotation, Lambda and bias acceleration of a point: spec 0, section 5."""
    n3, bent = len(point.phi), len(point.H)
    S = np.zeros((3, len(d)))
    S[:, :n3] = (point.phi[:, None] * np.eye(3)[axis[:n3]]).T
    s = point.position + S @ d - 0.5 * (d[:bent] @ point.H @ d[:bent]) * EX
    S[0, :bent] -= point.H @ d[:bent]
    bx, by, bz = point.theta @ d
    bxd, byd, bzd = point.theta @ e
    Rz, Ry, Rx = rotation(2, bz), rotation(1, by), rotation(0, bx)
    u, t = Rz @ EY, Rz @ Ry @ EX
    Om = np.outer(EZ, point.theta[2]) + np.outer(u, point.theta[1]) + np.outer(t, point.theta[0])
    g_v = np.cross(w, np.cross(w, s) + 2 * S @ e) - (e[:bent] @ point.H @ e[:bent]) * EX
    g_w = np.cross(w, Om @ e) + bzd * byd * np.cross(EZ, u) + np.cross(bzd * EZ + byd * u, t * bxd)
    return s, Rz @ Ry @ Rx, np.vstack([S, Om]), np.concatenate([g_v, g_w])


def direct_matrices(beam, d, e, w):
    """Mass matrix and bias force by their definition: sums over mass points, no tables."""
    shapes = beam_shapes(beam)
    stations = beam.section.stations if isinstance(beam.section, TaperedSection) else (0.0, 1.0)
    xi, weights = gauss(stations, 60)
    x = np.concatenate([beam.length * xi, [one.x for one in beam.point_masses]])
    values = beam_values(beam, x)
    weights = np.concatenate([beam.length * weights, np.zeros(len(beam.point_masses))])
    dm = weights * values.mass + np.concatenate([np.zeros(len(xi)), [one.mass for one in beam.point_masses]])
    H = shortening(beam, shapes, x) * (beam.coupling == "high-order")
    families = [[shape.at(x) for shape in family] for family in shapes[:4]]
    bent = len(families[0]) + len(families[1])
    m = shapes.n_modes
    M, h = np.zeros((6 + m, 6 + m)), np.zeros(6 + m)
    for i in range(len(x)):
        S, A, j = np.zeros((3, m)), np.zeros((3, m)), 0
        for family, (axis, turn) in zip(families, ((1, 2), (2, 1), (0, None), (None, 0)), strict=True):
            for shape in family:
                if axis is not None:
                    S[axis, j] = shape.y[i]
                if turn is not None:
                    A[turn, j] = {0: shape.y, 1: -shape.rotation, 2: shape.rotation}[turn][i]
                j += 1
        s = x[i] * EX + S @ d - 0.5 * (d[:bent] @ H[i] @ d[:bent]) * EX
        S[0, :bent] -= H[i] @ d[:bent]
        jacobian = np.hstack([np.eye(3), -cross(s), S])
        bias = np.cross(w, np.cross(w, s) + 2 * S @ e) - (e[:bent] @ H[i] @ e[:bent]) * EX
        M += dm[i] * jacobian.T @ jacobian
        h += dm[i] * jacobian.T @ bias
        if beam.rotary != "none":
            A *= beam.rotary == "section"
            inertia = np.diag(values.rotary[:, i]) * weights[i]
            turn = np.hstack([np.zeros((3, 3)), np.eye(3), A])
            M += turn.T @ inertia @ turn
            h[3:6] += np.cross(w, inertia @ (w + A @ e))
    return M, h


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_mass_matrix_and_bias_of_stored_vectors(case):
    M, h, c = body_matrices(body_tables(stored_beam(case["coupling"], case["rotary"])), *stored_state())
    close(M, np.array(case["M"]), 1e-13)
    close(h, np.array(case["h"]), 1e-13)
    close(c, np.array(case["c"]), 1e-13)


@pytest.mark.parametrize("case", [case for case in CASES if "end" in case], ids=["linear", "high-order"])
def test_end_frame_and_elastic_force_of_stored_vectors(case):
    tables = body_tables(stored_beam(case["coupling"], case["rotary"]))
    d, e, w = stored_state()
    found = end_frame(tables.tip, tables.axis, d, e, w)
    for value, key in zip(found, ("s", "RE", "Lambda", "gamma"), strict=True):
        close(value, np.array(case["end"][key]), 1e-13)
    close(-tables.K @ d - tables.D @ e, np.array(case["elastic_force"]), 1e-13)


@pytest.mark.parametrize("case", [case for case in CASES if "tables" in case], ids=["linear", "high-order"])
def test_tables_of_stored_vectors(case):
    tables, stored = body_tables(stored_beam(case["coupling"], case["rotary"])), case["tables"]
    n = tables.n_translating
    assert (n, len(tables.Q), tables.axis.tolist()) == (stored["n_linear"], stored["R"], stored["dirn"])
    for key in ("J0", "Jr", "Jr1", "Jr2", "K"):
        close(getattr(tables, key), np.array(stored[key]), 1e-13)
    close(tables.C1[:n], np.array(stored["C1"])[:n], 1e-13)
    close(tables.X1[:n], np.array(stored["X1"])[:n], 1e-13)
    close(tables.P[:n, :n], np.array(stored["P"])[:n, :n], 1e-13)
    if len(tables.Q):  # the sign of a shortening function is free
        close(np.abs(tables.C1[n:]), np.abs(stored["C1"])[n:], 1e-12)


def rich_beam(coupling, rotary, section):
    steel = Material(2e11, 7800.0)
    return Beam(
        "boom",
        1.3,
        steel,
        section,
        bending_y=Bending(3, "cs"),
        bending_z=Bending((1, 3)),
        stretch=2,
        torsion=1,
        coupling=coupling,
        rotary=rotary,
        point_masses=(PointMass(0.4, 0.7),),
    )


SECTIONS = {
    "uniform": Rectangle(0.02, 0.03),
    "tapered": TaperedSection((Rectangle(0.03, 0.04), Rectangle(0.02, 0.05), Rectangle(0.015, 0.02)), (0.0, 0.3, 1.0)),
}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("rotary", ["none", "frame", "section"])
@pytest.mark.parametrize("coupling", ["linear", "high-order"])
def test_tables_agree_with_direct_assembly(coupling, rotary, section):
    beam = rich_beam(coupling, rotary, SECTIONS[section])
    rng = np.random.default_rng(1)
    d, e, w = 0.02 * rng.standard_normal(8), rng.standard_normal(8), rng.standard_normal(3)
    M, h, _ = body_matrices(body_tables(beam), d, e, w)
    M_direct, h_direct = direct_matrices(beam, d, e, w)
    close(M, M_direct, 1e-13)
    close(h, h_direct, 1e-13)
    close(M, M.T, 1e-15)
    # a torsion mode without polar inertia is the only one that has no mass of its own
    assert np.linalg.eigvalsh(np.delete(np.delete(M, 13, 0), 13, 1) if rotary != "section" else M).min() > 0


def test_bias_is_that_of_the_kinetic_energy():
    """h = M' v - 1/2 d(v^T M v)/d(d) in the modal rows, by central differences."""
    tables = body_tables(rich_beam("high-order", "section", SECTIONS["tapered"]))
    rng = np.random.default_rng(2)
    d, e, w = 0.02 * rng.standard_normal(8), rng.standard_normal(8), rng.standard_normal(3)
    v = np.concatenate([np.zeros(3), w, e])

    def mass(d):
        return body_matrices(tables, d, e, w)[0]

    step = 1e-6
    M_d = [(mass(d + step * unit) - mass(d - step * unit)) / (2 * step) for unit in np.eye(8)]
    h = body_matrices(tables, d, e, w)[1]
    modal = sum(rate * part for rate, part in zip(e, M_d, strict=True)) @ v
    wanted = modal[6:] - 0.5 * np.array([v @ part @ v for part in M_d])
    np.testing.assert_allclose(h[6:], wanted, atol=1e-8 * np.abs(h).max())


def test_point_on_the_beam_is_where_the_shapes_are():
    beam = rich_beam("high-order", "section", SECTIONS["uniform"])
    shapes = beam_shapes(beam)
    point = point_values(beam, shapes, 0.4)
    assert point.phi[1] == shapes.y[1].at(np.array(0.4)).y
    assert point.theta[2, 1] == shapes.y[1].at(np.array(0.4)).rotation
    x, weights = gauss((0.0, 1.0), 40)
    slopes = [shape.at(0.4 * x).slope for shape in shapes.y]
    close(point.H[:3, :3], np.array([[0.4 * weights @ (a * b) for b in slopes] for a in slopes]), 1e-13)
    assert not point.H[:3, 3:].any()
    assert not point_values(rich_beam("linear", "none", SECTIONS["uniform"]), shapes, 0.4).H.any()


@pytest.mark.parametrize(("n", "of_modes", "of_polynomials"), [(1, 1, 1), (2, 3, 3), (3, 6, 5), (4, 10, 7)])
def test_number_of_shortening_functions(n, of_modes, of_polynomials):
    def count(family):
        plane = Bending(n, family=family)
        steel, section = Material(2e11, 7800.0), Rectangle(0.02, 0.03)
        beam = Beam("boom", 1.3, steel, section, bending_y=plane, bending_z=plane, theory="euler-bernoulli")
        return len(body_tables(beam).Q)

    assert count("polynomials") == of_polynomials
    assert count("modes") == of_modes


def test_frequencies_under_spin():
    """Spec 5, case A: lag frequencies of the boom at 6 rad/s with four bending modes, as printed."""
    aluminium, section = Material(7e10, 3000.0), GivenSection(4e-4, 2e-7, 2e-7)
    beam = Beam("boom", 10.0, aluminium, section, bending_y=4, theory="euler-bernoulli", rotary="none")
    tables = body_tables(beam)
    n = tables.n_translating
    stiffening = np.tensordot(tables.X1[n:], tables.Q, 1)
    P = tables.P[:n, :n]
    omega2 = np.linalg.eigvals(np.linalg.solve(P, tables.K + 36.0 * (stiffening - P)))
    np.testing.assert_allclose(np.sqrt(np.sort(omega2))[:2], [4.513917, 27.637719], atol=6e-7)
