"""Couplings of bending and axial motion: fourth order against a Lagrangian by quadrature and the elastica, stiffened
beams against high order, and what is refused."""

import dataclasses

import numpy as np
import pytest
from numpy.polynomial import legendre
from scipy.integrate import solve_bvp

import pliant
from pliant import Beam, Bending, Body, Frame, GivenSection, Joint, Load, Loop, Material, Model, Output
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError

FORMULATIONS = ("articulated", "boltzmann_hamel", "denoc", "gibbs_appell", "lagrange")
MATERIAL = Material(young=7e10, density=2700.0)
SECTION = GivenSection(area=2e-4, second_moment_y=6e-10, second_moment_z=4e-10)
LENGTH, OFFSET, PAYLOAD, GRAVITY = 1.2, np.array([0.1, 0.05, -0.08]), 0.4, np.array([1.0, -9.81, 2.0])


def arm(coupling: str, stretch: int = 1, **hub: object) -> Model:
    """A boom on a hub with a point mass welded beside its tip."""
    shapes = Bending(2, family="polynomials")
    boom = Beam(
        "boom", LENGTH, MATERIAL, SECTION, bending_y=shapes, bending_z=shapes, stretch=stretch,
        theory="euler-bernoulli", rotary="none", coupling=coupling,
    )  # fmt: skip
    payload = Body("payload", mass=PAYLOAD, com=tuple(OFFSET), inertia=(0.0, 0.0, 0.0))
    return Model(
        name="arm",
        bodies=[boom, payload],
        joints=[
            Joint("hub", "revolute", "boom", **hub),
            Joint("weld", "fixed", "payload", parent=Frame("boom", (LENGTH, 0.0, 0.0))),
        ],
        gravity=tuple(GRAVITY),
    )


# --- a Lagrangian by quadrature -------------------------------------------------------------------------------------


class Quadrature:
    """Positions of all mass as functions of (angle, y1, y2, z1, z2, stretch); complex numbers pass through."""

    def __init__(self) -> None:
        nodes, weights = legendre.leggauss(40)
        self.x, self.w = 0.5 * LENGTH * (nodes + 1), 0.5 * LENGTH * weights
        series = np.linalg.inv(legendre.legvander(nodes, 39))
        self.cumulative = 0.5 * LENGTH * legendre.legvander(nodes, 40) @ legendre.legint(np.eye(40), lbnd=-1) @ series
        xi = np.polynomial.Polynomial([0.0, 1.0 / LENGTH])
        self.shapes = [xi**2, xi**2 * (2 * xi - 1)]

    def bending(self, d):
        """y, y', y'' at the nodes and at the tip (last)."""
        x = np.append(self.x, LENGTH)
        return [sum(d[j] * shape.deriv(n)(x) for j, shape in enumerate(self.shapes)) for n in (0, 1, 2)]

    def places(self, q):
        """(nodes, 3) of the boom, (3) of the payload."""
        (y, y1, _), (z, z1, _) = self.bending(q[1:3]), self.bending(q[3:5])
        square = y1**2 + z1**2
        short = 0.5 * square + 0.125 * square**2
        wave = np.pi / (2 * LENGTH)
        along = self.x - self.cumulative @ short[:-1] + q[5] * np.sin(wave * self.x)
        boom = np.stack([along, y[:-1], z[:-1]], axis=1)
        tip = np.array([LENGTH - self.w @ short[:-1] + q[5], y[-1], z[-1]])
        by, bz = -z1[-1] - z1[-1] ** 3 / 6, y1[-1] + y1[-1] ** 3 / 6 + 0.5 * y1[-1] * z1[-1] ** 2
        c, s = np.cos(by), np.sin(by)
        payload = tip + rotation_z(bz) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ OFFSET
        return boom @ rotation_z(q[0]).T, rotation_z(q[0]) @ payload

    def potential(self, q):
        (_, y1, y2), (_, z1, z2) = self.bending(q[1:3]), self.bending(q[3:5])
        y1, y2, z1, z2 = y1[:-1], y2[:-1], z1[:-1], z2[:-1]
        EIz, EIy = 7e10 * 4e-10, 7e10 * 6e-10
        fourth = (np.sqrt(EIz) * y1 * y2 + np.sqrt(EIy) * z1 * z2) ** 2
        wave = np.pi / (2 * LENGTH)
        stretch = 7e10 * 2e-4 * (q[5] * wave * np.cos(wave * self.x)) ** 2
        boom, payload = self.places(q)
        mass = 2700.0 * 2e-4 * self.w
        elastic = 0.5 * self.w @ (EIz * y2**2 + EIy * z2**2 + fourth + stretch)
        return elastic - mass @ (boom @ GRAVITY) - PAYLOAD * (payload @ GRAVITY)

    def mass_matrix(self, q):
        """From derivatives of the places by central differences in extended precision steps of a complex step."""
        columns = []
        for j in range(6):
            moved = q.astype(complex)
            moved[j] += 1e-30j
            boom, payload = self.places(moved)
            columns.append((boom.imag / 1e-30, payload.imag / 1e-30))
        mass = 2700.0 * 2e-4 * self.w
        return np.array(
            [[mass @ np.sum(a[0] * b[0], axis=1) + PAYLOAD * (a[1] @ b[1]) for b in columns] for a in columns]
        )

    def acceleration(self, q, v):
        """M vdot = -M' v + 1/2 d(v^T M v)/dq - dV/dq; derivatives of M by Richardson's differences."""
        n, h = len(q), 2e-3

        def slope(f, direction):
            def d(step):
                return (f(q + step * direction) - f(q - step * direction)) / (2 * step)

            return (64 * d(h / 4) - 20 * d(h / 2) + d(h)) / 45

        potential = [self.potential(q + 1e-30j * unit).imag / 1e-30 for unit in np.eye(n)]
        gyro = slope(self.mass_matrix, v) @ v
        centrifugal = np.array([0.5 * v @ slope(self.mass_matrix, unit) @ v for unit in np.eye(n)])
        return np.linalg.solve(self.mass_matrix(q), centrifugal - gyro - potential)


def rotation_z(a):
    c, s = np.cos(a), np.sin(a)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_fourth_order_accelerations_are_those_of_the_lagrangian(formulation):
    rng, quadrature = np.random.default_rng(3), Quadrature()
    handle = Prepared(arm("fourth-order"), formulation)
    for _ in range(3):
        q, v = rng.uniform(-0.12, 0.12, 6), rng.uniform(-1, 1, 6)
        wanted = quadrature.acceleration(q, v)
        np.testing.assert_allclose(handle.forward_dynamics(q, v), wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())
        M = quadrature.mass_matrix(q)
        np.testing.assert_allclose(handle.mass_matrix(q), M, rtol=0, atol=1e-12 * np.abs(M).max())


def test_energy_of_fourth_order_is_kept_to_the_tolerance():
    result = pliant.simulate(arm("fourth-order"), 0.4, rtol=1e-10, atol=1e-12)
    assert result.is_ok
    assert result.audit["energy_residual"] < 1e-9


def test_fourth_order_is_nearer_to_the_elastica():
    """Cantilever with a transverse tip load P = 0.8 EI / L^2: theta'' = -P/EI cos(theta)."""

    def bent(coupling: str) -> np.ndarray:
        beam = Beam(
            "beam", 1.0, MATERIAL, SECTION, bending_y=Bending(6, family="polynomials"), theory="euler-bernoulli",
            coupling=coupling,
        )  # fmt: skip
        model = Model(
            name="cantilever",
            bodies=[beam],
            joints=[Joint("clamp", "fixed", "beam")],
            frames=[Frame("beam", (1.0, 0.0, 0.0), name="tip")],
            loads=[Load("tip", y=0.8 * 7e10 * 4e-10)],
            outputs=[Output("tip", "tip", "position")],
            gravity=(0.0, 0.0, 0.0),
        )
        still = pliant.equilibrium(model)
        return pliant.frame_placement(model, still, "tip")[1][:2]

    exact = solve_bvp(
        lambda s, y: np.array([y[1], -0.8 * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
        np.linspace(0, 1, 50),
        np.zeros((4, 50)),
        tol=1e-10,
    ).y[2:, -1]
    error = {name: np.abs(bent(name) - exact).max() for name in ("linear", "high-order", "fourth-order")}
    assert error["fourth-order"] < 0.2 * error["high-order"] < 0.2 * error["linear"]
    assert error["fourth-order"] < 1.5e-3


# --- stiffened ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_stiffened_agrees_with_high_order_to_second_order(formulation):
    """Modal forces hold the modes still at zero deflection; then the difference falls with the square."""
    rng = np.random.default_rng(7)
    d, e, rate = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4), 3.0

    def accelerations(coupling: str, eps: float) -> np.ndarray:
        q, v, zero = np.array([0.3, 0, 0, 0, 0]), np.array([rate, 0, 0, 0, 0]), np.zeros(5)
        tau = Prepared(arm("high-order", stretch=0)).inverse_dynamics(q, v, zero)
        q[1:], v[1:] = eps * d, eps * e
        return Prepared(arm(coupling, stretch=0), formulation).forward_dynamics(q, v, tau)

    difference = {
        name: [np.abs(accelerations(name, eps) - accelerations("high-order", eps)).max() for eps in (2e-5, 1e-5)]
        for name in ("linear", "stiffened")
    }
    assert 1.8 < difference["linear"][0] / difference["linear"][1] < 2.3
    assert 3.6 < difference["stiffened"][0] / difference["stiffened"][1] < 4.4


def test_stiffened_beams_do_work_that_is_counted():
    result = pliant.simulate(arm("stiffened"), 0.3, rtol=1e-9, atol=1e-11)
    assert result.is_ok
    assert result.audit["energy_residual"] < 1e-8
    assert np.max(np.abs(result.energy["work_stiffening"])) > 1e-4


def test_what_stiffened_beams_cannot_have_is_refused():
    model = arm("stiffened")
    with pytest.raises(ModelError, match="no inverse dynamics"):
        pliant.inverse_dynamics(model, model.q0, model.v0, model.v0)
    with pytest.raises(ModelError, match="no inverse dynamics"):
        Prepared(model).inverse_dynamics(model.q0, model.v0, model.v0)
    with pytest.raises(ModelError, match=r"friction that sticks in joint 'hub'.*high-order"):
        arm("stiffened", friction=pliant.Coulomb(mu_k=0.3, load=1.0))
    with pytest.raises(ModelError, match=r"loop 'closed'.*high-order"):
        dataclasses.replace(model, loops=(Loop("closed", "spherical", "world", "payload"),))


# --- shapes ---------------------------------------------------------------------------------------------------------


def lowest(beam: Beam, family: int, count: int) -> np.ndarray:
    import scipy.linalg

    from pliant.beams.integrals import body_tables

    t = body_tables(beam)
    first, n = sum(t.families[:family]), t.families[family]
    own = slice(first, first + n)
    return np.sqrt(scipy.linalg.eigh(t.K[own, own], t.modal_mass[own, own], eigvals_only=True)[:count])


@pytest.mark.parametrize("rotary", ["none", "frame", "section"])
def test_a_lump_at_the_root_is_a_body_welded_to_the_frame(rotary):
    plain = Beam(
        "boom", LENGTH, MATERIAL, SECTION, bending_y=2, bending_z=2, stretch=1, rotary=rotary
    )  # fmt: skip
    moments, hub = (0.03, 0.02, 0.025), Joint("hub", "spherical", "boom")
    lumped = dataclasses.replace(plain, point_masses=(pliant.PointMass(0.7, 0.0, moments),))
    one = Model("lumped", [lumped], [hub], gravity=tuple(GRAVITY))
    weld = Joint("weld", "fixed", "lump", parent="boom")
    two = Model("welded", [plain, Body("lump", 0.7, inertia=moments)], [hub, weld], gravity=tuple(GRAVITY))
    rng, q = np.random.default_rng(1), one.q0.copy()
    q[4:], v = rng.uniform(-0.05, 0.05, len(q) - 4), rng.uniform(-1, 1, len(one.v0))
    np.testing.assert_allclose(pliant.mass_matrix(one, q), pliant.mass_matrix(two, q), rtol=0, atol=1e-14)
    found, wanted = (pliant.forward_dynamics(model, q, v) for model in (one, two))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


def test_polynomials_of_a_timoshenko_beam_converge_to_its_modes():
    stubby = Beam("beam", 1.0, MATERIAL, pliant.Rectangle(0.1, 0.2), bending_y=3)
    exact = lowest(stubby, 0, 2)
    found = lowest(dataclasses.replace(stubby, bending_y=Bending(9, family="polynomials")), 0, 2)
    np.testing.assert_allclose(found, exact, rtol=2e-5)
    bernoulli = lowest(dataclasses.replace(stubby, theory="euler-bernoulli"), 0, 2)
    assert np.all(bernoulli > 1.005 * exact)


@pytest.mark.parametrize(("name", "family", "speed2"), [("stretch", 2, 7e10 / 2700.0), ("torsion", 3, None)])
def test_axial_polynomials_have_the_frequencies_of_a_rod(name, family, speed2):
    rod = Beam(
        "rod", 1.3, MATERIAL, pliant.Circle(0.02), **{name: pliant.AxialShapes(6, family="polynomials")}
    )  # fmt: skip
    speed = np.sqrt(MATERIAL.shear / 2700.0 if speed2 is None else speed2)
    np.testing.assert_allclose(lowest(rod, family, 2), 0.5 * np.pi * np.array([1, 3]) * speed / 1.3, rtol=2e-5)


def test_sampled_shapes_are_what_they_sample():
    at = np.linspace(0.0, 1.0, 41)
    square, cube = at**2, at**2 * (2 * at - 1)
    given = pliant.SampledShapes(tuple(at), (tuple(square), tuple(cube)))
    beam = Beam("beam", 1.5, MATERIAL, SECTION, bending_y=Bending(2, family="polynomials"), theory="euler-bernoulli")
    same = dataclasses.replace(beam, bending_y=Bending(2, family="samples", samples=given))
    np.testing.assert_allclose(lowest(same, 0, 2), lowest(beam, 0, 2), rtol=1e-6)
    line = pliant.SampledShapes((0.0, 0.3, 0.6, 1.0), ((0.0, 0.3, 0.6, 1.0),))
    rod = dataclasses.replace(beam, bending_y=None, stretch=pliant.AxialShapes(1, family="samples", samples=line))
    assert lowest(rod, 2, 1)[0] == pytest.approx(np.sqrt(3 * 7e10 / 2700.0) / 1.5, rel=1e-10)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pliant.SampledShapes((0.0, 0.5, 0.4, 1.0), ((0.0, 1.0, 2.0, 3.0),)), "must rise from 0"),
        (lambda: pliant.SampledShapes((0.0, 0.3, 0.6, 1.0), ((0.1, 1.0, 2.0, 3.0),)), "held at its start"),
        (lambda: pliant.SampledShapes((0.0, 0.3, 0.6, 1.0), ((0.0, 1.0, 2.0),)), "3 numbers for 4 places"),
        (
            lambda: pliant.SampledShapes((0.0, 0.3, 0.6, 1.0), ((0.0, 1.0, 2.0, 3.0), (0.0, 2.0, 4.0, 6.0))),
            "only 1 of 2 shapes are independent",
        ),
        (lambda: pliant.AxialShapes(1, family="samples"), "samples together with family"),
        (lambda: Beam("b", 1.0, MATERIAL, SECTION, stretch="two"), "stretch"),
        (lambda: pliant.PointMass(1.0, 0.5, (0.1, -0.1, 0.0)), "negative moment"),
        (
            lambda: Beam("b", 1.0, MATERIAL, SECTION, point_masses=(pliant.PointMass(1.0, 0.5, (0.1, 0.1, 0.0)),)),
            "give a Body there",
        ),
        (lambda: Bending(41, family="polynomials"), "lose their digits beyond number 40"),
        (lambda: pliant.AxialShapes((3, 50), family="polynomials"), "lose their digits beyond number 40"),
        (
            lambda: Beam("b", 1.0, MATERIAL, SECTION, bending_y=9, bending_z=8, coupling="fourth-order"),
            "at most 16 bending modes of both planes, and these are 17",
        ),
    ],
)
def test_wrong_shapes_are_refused(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_a_run_says_when_bending_leaves_the_range_of_its_coupling():
    for coupling, deflection, hint in (
        ("high-order", 0.15, 'take coupling = "fourth-order"'),
        ("high-order", 0.45, "divide the beam"),  # beyond the range of the fourth order, too
        ("fourth-order", 0.45, "divide the beam"),
    ):
        beam = Beam("beam", 1.0, MATERIAL, SECTION, bending_y=2, coupling=coupling)
        bent = dataclasses.replace(beam, q0=(deflection, 0.0))
        model = Model(name="m", bodies=[bent], joints=[Joint("clamp", "fixed", "beam")], gravity=(0.0, 0.0, 0.0))
        with pytest.warns(pliant.AccuracyWarning, match=hint):
            pliant.simulate(model, 0.01)
