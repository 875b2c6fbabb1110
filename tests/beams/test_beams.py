"""Sections, modes and polynomials of beams against closed forms, mpmath, shooting and the printed modes of spec 1."""

import itertools

import mpmath
import numpy as np
import pytest
from mpmath import mp
from pydantic import TypeAdapter
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from pliant.beams import shapes as shape_functions
from pliant.beams import uniform_modes, varying_modes
from pliant.beams.families import beam_shapes, bending_modes
from pliant.beams.integrals import body_tables
from pliant.beams.piece_basis import gauss
from pliant.beams.shapes import normalised
from pliant.beams.uniform_modes import EndLoads, UniformBeam
from pliant.beams.varying_modes import VaryingBeam
from pliant.beams.waves import wave_numbers
from pliant.errors import ModelError
from pliant.model.flexible import (
    PAIRS,
    Beam,
    Bending,
    BoxTube,
    Circle,
    Damping,
    GivenSection,
    Material,
    PointMass,
    Rectangle,
    RoundTube,
    ShapeSource,
    TaperedSection,
)
from pliant.model.sections import section_values

STEEL = Material(2e11, 7850.0)
SLENDER = (1.3e-5, 4e-5)  # r2, s2
STOCKY = (0.005, 0.016)  # the second spectrum starts at the sixth mode
THEORIES = {"euler-bernoulli": (0.0, 0.0), "slender": SLENDER, "stocky": STOCKY}
X, WEIGHTS = gauss((0.0, 1.0), 500)


def one(xi):
    return np.ones_like(xi)


def as_varying(beam, breaks=(0.0, 1.0)):
    """The same uniform beam for Galerkin's method."""
    shear, rotary = (lambda xi: one(xi) / beam.s2, lambda xi: beam.r2 * one(xi)) if beam.s2 else (None, None)
    return VaryingBeam(beam.ends, breaks, one, one, shear, rotary, beam.loads)


# ---- spec 1: printed modes, section 12.5 x 30 mm, k = 5/6, G = E/2.6


def printed(ends, x):
    """W, Theta of the first mode as printed."""
    if ends == "ss":
        return np.sin(np.pi * x), 3.140333690109594 * np.cos(np.pi * x)
    if ends == "cs":
        W, Th = printed("sc", 1 - x)
        return W, -Th
    if ends == "sc":
        a, b = 3.926181400745614, 3.924559038288969
        W = 0.02617115567137916 * np.sinh(b * x) + 0.937356072626805 * np.sin(a * x)
        return W, 0.1027745658114473 * np.cosh(b * x) + 3.677927210568842 * np.cos(a * x)
    a, b = 4.728894916196515, 4.72606095063675
    W = 0.6292076184824934 * (np.cosh(b * x) - np.cos(a * x)) - 0.6181543604098716 * np.sinh(b * x)
    Th = 2.924089234018893 * (np.cos(a * x) - np.cosh(b * x)) + 2.976375062609595 * np.sinh(b * x)
    return W + 0.6189067368941716 * np.sin(a * x), Th + 2.97275682019588 * np.sin(a * x)


LINK_CONSTANTS = {  # a0, a1, a2, Ke, De
    "ss": (0.636619772367578, 0.318309886183789, 0.5, 47545.8138569467, 0.0125297280369699),
    "cc": (0.523349236253474, 0.261674618126737, 0.396615784339161, 193497.302322082, 0.0100362083123932),
    "sc": (0.569914122127659, 0.251875692185431, 0.439092002868818, 101826.352698836, 0.0110409306412399),
    "cs": (0.569914122127659, 0.318038429942228, 0.439092002868818, 101826.352698835, 0.0110409306412399),
}


def printed_link(ends):
    """Shapes from the rectangle, energies from the data of Table 3."""
    return Beam(
        "link",
        1.0,
        Material(2e11, 7850.0, shear_modulus=7.7e10),
        GivenSection(3.75e-4, 4.883e-9, 4.883e-9),
        bending_y=Bending(1, ends),
        rotary="frame",
        damping=Damping(air=0.025, kelvin_voigt=125.0),
        mass_per_length=1.0,
        rotary_inertia=(0.0, 0.0, 2.9473e-5),
        shapes_from=ShapeSource(STEEL, Rectangle(0.0125, 0.03)),
    )


@pytest.mark.parametrize("ends", LINK_CONSTANTS)
def test_printed_modes(ends):
    (shape,) = beam_shapes(printed_link(ends)).y
    x = np.linspace(0, 1, 301)
    W, Th = printed(ends, x)
    np.testing.assert_allclose(shape.at(x).y, W, atol=1e-14)  # cosh of the printed form cancels
    np.testing.assert_allclose(shape.at(x).rotation, Th, atol=2e-14)


def test_printed_wave_numbers():
    r2, s2 = 0.0125**2 / 12, 0.0125**2 / 12 * 2.6 * 1.2
    for ends, wanted in (("cc", (4.728894916196515, 4.72606095063675)), ("sc", (3.926181400745614, 3.924559038288969))):
        a, b2 = wave_numbers(uniform_modes.frequency(UniformBeam(ends, r2, s2), 1) ** 2, r2, s2)
        np.testing.assert_allclose((a, np.sqrt(b2)), wanted, rtol=3e-15)


@pytest.mark.parametrize("ends", LINK_CONSTANTS)
def test_printed_link_constants(ends):
    tables = body_tables(printed_link(ends))
    found = (tables.C1[0], tables.X1[0], tables.P[0, 0], tables.K[0, 0], tables.D[0, 0])
    np.testing.assert_allclose(found, LINK_CONSTANTS[ends], rtol=2e-14)
    assert tables.Jr[2, 2] == pytest.approx(2.9473e-5, rel=1e-14)
    assert not tables.Jr1.any()


# ---- uniform beams

EULER_BERNOULLI = {  # what vanishes at lambda
    "cf": lambda z: mpmath.cos(z) + mpmath.sech(z),
    "cc": lambda z: mpmath.cos(z) - mpmath.sech(z),
    "sc": lambda z: mpmath.tan(z) - mpmath.tanh(z),
    "ss": mpmath.sin,
}
SAME_ROOTS = {"fc": "cf", "ff": "cc", "cs": "sc", "sf": "sc", "fs": "sc"}


@pytest.mark.parametrize("ends", PAIRS)
def test_euler_bernoulli_roots(ends):
    equation = EULER_BERNOULLI[SAME_ROOTS.get(ends, ends)]
    offset = {"cf": -0.5, "fc": -0.5, "ss": 0.0}.get(ends, 0.25 if ends in ("sc", "cs", "sf", "fs") else 0.5)
    with mp.workdps(30):
        for number in range(1, 61):
            start = mpmath.mpf(1.8751) if offset < 0 and number == 1 else (number + offset) * mpmath.pi
            wanted = mpmath.findroot(equation, start) ** 2
            assert abs(uniform_modes.frequency(UniformBeam(ends), number) / wanted - 1) < 1e-14


def timoshenko_ss(r2, s2, count):
    """sin(n pi x) in both spectra: Om^4 r2 s2 - Om^2 (1 + k^2 (r2 + s2)) + k^4 = 0."""
    k2 = (np.arange(1, count + 1) * np.pi) ** 2
    middle = 1 + k2 * (r2 + s2)
    high = (middle + np.sqrt(middle**2 - 4 * r2 * s2 * k2**2)) / (2 * r2 * s2)
    return np.sort(np.sqrt(np.concatenate([high, k2**2 / (r2 * s2 * high)])))[:count]


def test_both_spectra_of_a_supported_timoshenko_beam():
    found = [uniform_modes.frequency(UniformBeam("ss", *STOCKY), number) for number in range(1, 61)]
    np.testing.assert_allclose(found, timoshenko_ss(*STOCKY, 60), rtol=1e-13)
    assert found[5] ** 2 * STOCKY[0] * STOCKY[1] > 1


def test_modes_that_coincide_are_both_found():
    # sin(pi x) of the second and sin(6 pi x) of the first spectrum: one frequency for a certain s2
    def gap(s2):
        k2 = (np.array([1, 6]) * np.pi) ** 2
        middle = 1 + k2 * (0.005 + s2)
        root = np.sqrt(middle**2 - 0.02 * s2 * k2**2)
        return (middle + root)[0] - (middle - root)[1]

    beam = UniformBeam("ss", 0.005, brentq(gap, 0.004, 0.016, xtol=1e-17, rtol=1e-15))
    wanted = timoshenko_ss(beam.r2, beam.s2, 8)
    twin = int(np.argmin(np.diff(wanted)))
    assert np.diff(wanted)[twin] < 1e-12 * wanted[twin]
    found = [uniform_modes.mode(beam, number) for number in range(1, 9)]
    np.testing.assert_allclose([Om for Om, _ in found], wanted, rtol=1e-13)
    first, second = (found[i][1].at(X) for i in (twin, twin + 1))
    both = np.array([first.y, first.rotation]), np.array([second.y, second.rotation])
    cosine = np.sum(both[0] * both[1]) / np.sqrt(np.sum(both[0] ** 2) * np.sum(both[1] ** 2))
    assert abs(cosine) < 0.99


@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize("ends", PAIRS)
def test_modes_satisfy_equations_and_ends(ends, theory):
    """Each derivative integrates to its function, and the moment to its balance, to the last digits."""
    r2, s2 = THEORIES[theory]
    for number in (1, 2, 7, 20, 50):
        Om, raw = uniform_modes.mode(UniformBeam(ends, r2, s2), number)
        shape = normalised(raw, 1.0, number, "max")
        start, all_over, end = (shape.at(x) for x in (np.zeros(1), X, np.ones(1)))
        size = [np.abs(part).max() for part in all_over]
        for k, derivative in ((0, 1), (1, 2), (3, 4)):
            gain = WEIGHTS @ all_over[derivative]
            assert abs(end[k][0] - start[k][0] - gain) < 1e-13 * (size[k] + size[derivative])
        force = -(Om**2) * (WEIGHTS @ (r2 * all_over.rotation))
        shear = (all_over.slope - all_over.rotation) / s2 if s2 else None
        if shear is not None:
            gain = force - WEIGHTS @ shear
            scale = size[4] + np.abs(shear).max() + Om**2 * r2 * size[3]
            assert abs(end.bend[0] - start.bend[0] - gain) < 1e-12 * scale
            assert np.abs(all_over.curvature - all_over.bend + s2 * Om**2 * all_over.y).max() < 1e-13 * Om**2
        for place, kind in ((start, ends[0]), (end, ends[1])):
            assert kind == "f" or abs(place.y[0]) < 1e-13
            assert kind != "c" or abs(place.rotation[0]) < 1e-13 * size[3]
            assert kind == "c" or abs(place.bend[0]) < 2e-13 * size[4]
            assert kind != "f" or abs(place.slope[0] - place.rotation[0]) < 1e-13 * size[1]


@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize("ends", PAIRS)
def test_modes_are_orthogonal_and_rayleigh_gives_their_frequency(ends, theory):
    r2, s2 = THEORIES[theory]
    found = [uniform_modes.mode(UniformBeam(ends, r2, s2), number) for number in (1, 2, 3, 6, 7, 12, 30)]
    at = [shape.at(X) for _, shape in found]
    y, th, bend = (np.array([getattr(one, name) for one in at]) for name in ("y", "rotation", "bend"))
    shear = np.array([one.slope - one.rotation for one in at])
    mass = (y * WEIGHTS) @ y.T + r2 * (th * WEIGHTS) @ th.T
    stiffness = (bend * WEIGHTS) @ bend.T + (shear * WEIGHTS) @ shear.T / (s2 or 1.0)
    unit = np.sqrt(np.outer(np.diag(mass), np.diag(mass)))
    Om = np.array([Om for Om, _ in found])
    np.testing.assert_allclose(mass / unit, np.eye(7), atol=2e-13)
    np.testing.assert_allclose(stiffness / unit / np.outer(Om, Om), np.eye(7), atol=2e-12)


@pytest.mark.parametrize("is_loaded", [False, True], ids=["bare", "loaded"])
@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize("ends", PAIRS)
def test_galerkin_finds_the_same_modes(ends, theory, is_loaded):
    """No mode is missed: both ways number the modes alike, also in the second spectrum."""
    start, end = ends
    loads = EndLoads(0.7 * (end == "f"), 0.02 * (end != "c"), 0.1 * (start == "s"))
    beam = UniformBeam(ends, *THEORIES[theory], loads if is_loaded else EndLoads())
    x = np.linspace(0, 1, 101)
    galerkin = varying_modes.modes(as_varying(beam, (0.0, 0.3, 1.0)), 12)
    for number, (Om, shape) in enumerate(galerkin, start=1):
        wanted, exact = uniform_modes.mode(beam, number)
        assert pytest.approx(wanted, rel=3e-13) == Om
        found, right = shape.at(x), exact.at(x)
        factor = (found.rotation @ right.rotation) / (found.rotation @ found.rotation)
        np.testing.assert_allclose(factor * found.rotation, right.rotation, atol=1e-12 * np.abs(right.rotation).max())
        np.testing.assert_allclose(factor * found.y, right.y, atol=1e-12 * np.abs(right.rotation).max())


def test_short_clamped_elements_have_no_mode():
    """What the count of modes rests on: the first mode of a clamped beam has a >= pi, however stocky it is."""
    for s2 in 10.0 ** np.arange(-6, 5, 2):
        for r2 in s2 * 10.0 ** np.arange(-4, 5, 2):
            ((Om, _),) = varying_modes.modes(as_varying(UniformBeam("cc", r2, s2)), 1)
            assert wave_numbers(Om**2, r2, s2).a > np.pi * (1 - 1e-9)


def test_high_modes_are_finite_and_normalised():
    for ends in PAIRS:
        beam = Beam("b", 2.0, STEEL, Circle(0.01), bending_y=Bending((50, 200), ends, normalise="max"))
        for shape in beam_shapes(beam).y:
            values = np.abs(shape.at(np.linspace(0, 2.0, 20001)).y)
            assert 0.9999 < values.max() <= 1 + 1e-13


def test_sign_and_size_of_shapes():
    beam = Beam("b", 2.0, STEEL, Circle(0.01), bending_y=3, bending_z=Bending(3, normalise="max"))
    tip, largest = ([float(s.at(np.array(2.0)).y) for s in family] for family in beam_shapes(beam)[:2])
    np.testing.assert_allclose(tip, 1.0, rtol=1e-14)
    np.testing.assert_allclose(largest, [1.0, -1.0, 1.0], rtol=1e-13)


# ---- loads at the ends


def loaded_determinant(z, ends, tip_mass, tip_inertia, hub_inertia):
    """Euler-Bernoulli end conditions on sin, cos, sinh, cosh of lambda x, at any precision."""
    s, c, sh, ch = mpmath.sin(z), mpmath.cos(z), mpmath.sinh(z), mpmath.cosh(z)
    om2 = z**4
    rows = [[0, 1, 0, 1]]
    rows += [[z, 0, z, 0]] if ends[0] == "c" else [[om2 * hub_inertia * z, -(z**2), om2 * hub_inertia * z, z**2]]
    y, slope = [s, c, sh, ch], [z * c, -z * s, z * ch, z * sh]
    moment, force = (
        [-(z**2) * s, -(z**2) * c, z**2 * sh, z**2 * ch],
        [z**3 * c, -(z**3) * s, -(z**3) * ch, -(z**3) * sh],
    )
    rows += [[f - om2 * tip_mass * w for f, w in zip(force, y, strict=True)]]
    rows += [[m - om2 * tip_inertia * t for m, t in zip(moment, slope, strict=True)]]
    return mpmath.det(mpmath.matrix(rows)) / (ch * z**6)


@pytest.mark.parametrize("ends", ["cf", "sf"])
@pytest.mark.parametrize("tip", [(0.5, 0.0), (3.0, 0.2), (100.0, 5.0)])
def test_loaded_ends_against_mpmath(ends, tip):
    hub = 0.3 if ends == "sf" else 0.0
    for number in range(1, 9):
        Om = uniform_modes.frequency(UniformBeam(ends, loads=EndLoads(*tip, hub)), number)
        with mp.workdps(40):
            z = mpmath.findroot(lambda z: loaded_determinant(z, ends, *tip, hub), mpmath.sqrt(Om))
            assert abs(Om / z**2 - 1) < 1e-13


def hub_beam(hub, section=None, **fields):
    return Beam("b", 2.0, STEEL, section or Circle(0.01), bending_y=Bending(3, "cf", hub_inertia=hub, **fields))


@pytest.mark.parametrize(
    "section", [Circle(0.01), TaperedSection((Circle(0.01), Circle(0.006)))], ids=["uniform", "taper"]
)
def test_shapes_on_a_hub_are_clamped_to_it(section):
    for mode in bending_modes(hub_beam(0.5, section, tip_mass=0.4), "y"):
        start = mode.shape.at(np.zeros(1))
        assert abs(start.y[0]) < 1e-13
        assert abs(start.rotation[0]) < 1e-12
    clamped = Beam("b", 2.0, STEEL, section, bending_y=3)
    heavy = bending_modes(hub_beam(1e9, section), "y")
    for free, held in zip(heavy, bending_modes(clamped, "y"), strict=True):
        assert free.omega == pytest.approx(held.omega, rel=1e-8)


# ---- sections that vary along x


def wedge_determinant(k, thin):
    """Height 1 - (1 - thin) x, clamped at the thick end: (z^3 y'')'' = k^4 z y, y = z^-1/2 C_1(2 k sqrt z)."""

    def derivatives(z, order):
        """d/dz of z^(-n/2) C_n(2 k sqrt z) is +-k z^(-(n+1)/2) C_(n+1)."""
        kinds = ((mpmath.besselj, -k), (mpmath.bessely, -k), (mpmath.besseli, k), (mpmath.besselk, -k))
        root = mpmath.sqrt(z)
        return [rate**order * bessel(1 + order, 2 * k * root) / root ** (1 + order) for bessel, rate in kinds]

    one = mpmath.mpf(1)
    rows = [derivatives(one, 0), derivatives(one, 1), derivatives(thin, 2), derivatives(thin, 3)]
    return mpmath.det(mpmath.matrix(rows))


def test_wedge_against_bessel_functions():
    section = TaperedSection((Rectangle(0.04, 0.05), Rectangle(0.01, 0.05)))
    beam = Beam("wedge", 1.0, STEEL, section, bending_y=4, theory="euler-bernoulli")
    thin = 0.25
    unit = np.sqrt(2e11 * 0.04**2 / 12 / 7850.0) * (1 - thin) ** 2  # omega = k^2 unit
    for mode in bending_modes(beam, "y"):
        with mp.workdps(30):
            k = mpmath.findroot(lambda k: wedge_determinant(k, mpmath.mpf(thin)), mpmath.sqrt(mode.omega / unit))
            assert abs(mode.omega / (k**2 * unit) - 1) < 1e-12


def shot(Om, breaks, values):
    """What is left of moment and force at a free tip, for a start clamped, by integration over x."""

    def rates(xi, state):
        y, th, moment, force = state.reshape(4, 2)
        bend, mass, shear, rotary = (float(f(np.array([xi]))[0]) for f in values)
        return np.concatenate([th + force / shear, moment / bend, -force - Om**2 * rotary * th, -(Om**2) * mass * y])

    state = np.array([0.0, 0, 0, 0, 1, 0, 0, 1])
    for a, b in itertools.pairwise(breaks):
        state = solve_ivp(rates, (a, b), state, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return np.linalg.det(state.reshape(4, 2)[2:])


def test_stepwise_tapered_timoshenko_beam_against_shooting():
    breaks = (0.0, 0.4, 1.0)

    def height(xi):
        return np.interp(xi, breaks, (1.0, 0.8, 0.3))

    values = (
        lambda xi: height(xi) ** 3,
        height,
        lambda xi: 200 * height(xi),
        lambda xi: 0.002 * height(xi) ** 3,
    )
    bend, mass, shear, rotary = values
    found = varying_modes.modes(VaryingBeam("cf", breaks, bend, mass, shear, rotary), 3)
    for Om, _ in found:
        wanted = brentq(shot, Om * (1 - 1e-4), Om * (1 + 1e-4), args=(breaks, values), xtol=1e-14, rtol=1e-14)
        assert pytest.approx(wanted, rel=2e-12) == Om


def test_taper_without_taper_is_uniform():
    fields = {"bending_y": Bending(4, "sc"), "bending_z": Bending(4, "cf", tip_mass=2.0, tip_inertia=0.3)}
    plain, box = Beam("b", 1.5, STEEL, BoxTube(0.05, 0.08, 0.004), **fields), BoxTube(0.05, 0.08, 0.004)
    taper = Beam("b", 1.5, STEEL, TaperedSection((box, box, box)), **fields)
    for plane in ("y", "z"):
        for one_mode, other in zip(bending_modes(plain, plane), bending_modes(taper, plane), strict=True):
            assert one_mode.omega == pytest.approx(other.omega, rel=1e-12)
    np.testing.assert_allclose(body_tables(plain).K, body_tables(taper).K, atol=1e-10 * body_tables(plain).K.max())


def test_modes_of_a_taper_are_orthogonal_in_its_tables():
    section = TaperedSection((RoundTube(0.05, 0.04), RoundTube(0.02, 0.017)))
    tables = body_tables(Beam("boom", 3.0, STEEL, section, bending_y=4))
    modes = bending_modes(Beam("boom", 3.0, STEEL, section, bending_y=4), "y")
    M, K = tables.modal_mass, tables.K
    unit = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    omega = np.array([mode.omega for mode in modes])
    np.testing.assert_allclose(M / unit, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(K / unit / np.outer(omega, omega), np.eye(4), atol=1e-11)


# ---- polynomials, stretch, torsion, damping


def test_polynomial_shapes():
    beam = Beam("b", 2.0, STEEL, Circle(0.01), bending_y=Bending(3, family="polynomials"), theory="euler-bernoulli")
    x = np.linspace(0, 2, 21)
    xi, t = x / 2, x - 1
    for shape, P in zip(beam_shapes(beam).y, (1 + 0 * t, t, 1.5 * t**2 - 0.5), strict=True):
        np.testing.assert_allclose(shape.at(x).y, xi**2 * P, atol=1e-15)
    last = beam_shapes(beam).y[2].at(x)
    np.testing.assert_allclose(last.slope, xi * (1.5 * t**2 - 0.5) + xi**2 * 3 * t, atol=1e-14)
    np.testing.assert_allclose(last.bend, 0.5 * (1.5 * t**2 - 0.5) + xi * 6 * t + xi**2 * 3, atol=1e-14)
    np.testing.assert_array_equal(last.slope, last.rotation)


def test_stretch_and_torsion_are_modes_of_a_uniform_bar():
    tables = body_tables(Beam("b", 2.0, STEEL, Circle(0.01), stretch=(1, 3), torsion=2))
    wave = np.array([1, 5, 1, 3]) * np.pi / 4
    speed2 = np.array([2e11, 2e11, STEEL.shear, STEEL.shear]) / 7850.0
    np.testing.assert_allclose(tables.K, np.diag(wave**2 * speed2) @ tables.modal_mass, atol=1e-10 * tables.K.max())
    np.testing.assert_allclose(tables.tip.theta[0], [0, 0, 1, -1], atol=1e-15)


def test_beam_without_shapes_is_rigid():
    tables = body_tables(Beam("b", 2.0, STEEL, Circle(0.01), damping=Damping(ratio=0.1)))
    mass = 7850 * np.pi * 1e-4 * 2
    assert tables.n_modes == 0
    assert tables.mass == pytest.approx(mass, rel=1e-14)
    inertia = mass * np.array([0.5e-4, 4 / 3 + 0.25e-4, 4 / 3 + 0.25e-4])
    np.testing.assert_allclose(tables.J0 + tables.Jr, np.diag(inertia), rtol=1e-13)


def test_damping_adds_up():
    fields = {"bending_y": Bending(2, family="polynomials"), "bending_z": 1, "stretch": 1, "torsion": 1}

    def tables(**damping):
        section, slim = Rectangle(0.01, 0.02), "euler-bernoulli"
        return body_tables(Beam("b", 2.0, STEEL, section, **fields, theory=slim, damping=Damping(**damping)))

    plain = tables()
    assert not plain.D.any()
    K, M = plain.K, plain.modal_mass
    np.testing.assert_allclose(tables(stiffness_time=0.01).D, 0.01 * K, rtol=1e-14)
    np.testing.assert_allclose(tables(kelvin_voigt=2e9).D, 0.01 * K, atol=1e-14 * K.max())
    air = tables(air=3.0).D
    np.testing.assert_allclose(air[:3, :3], 3 / (7850 * 2e-4) * (M - plain.Jr2)[:3, :3], atol=1e-13)
    assert not air[3:].any()
    ratio = tables(ratio=0.02).D
    omega2 = np.linalg.eigvals(np.linalg.solve(M, K))
    rates = np.linalg.eigvals(np.linalg.solve(M, ratio))
    np.testing.assert_allclose(np.sort(rates), np.sort(0.04 * np.sqrt(omega2)), rtol=1e-10)
    total = tables(stiffness_time=0.01, air=3.0, ratio=0.02)
    np.testing.assert_allclose(total.D, 0.01 * K + air + ratio, rtol=1e-13, atol=1e-12)


def test_ratio_without_inertia_is_refused():
    beam = Beam("b", 2.0, STEEL, Circle(0.01), torsion=1, rotary="none", damping=Damping(ratio=0.1))
    with pytest.raises(ModelError, match="beam 'b': a damping ratio needs inertia"):
        body_tables(beam)


# ---- sections


def values_of(section):
    values = section_values(section, np.zeros(1))._asdict()
    return {name: float(part[0]) for name, part in values.items() if isinstance(part, np.ndarray)}


def test_round_sections():
    solid, tube = values_of(Circle(0.03)), values_of(RoundTube(0.03, 0.02))
    inner = values_of(Circle(0.02))
    for name in ("area", "moment_y", "moment_z", "torsion"):
        assert tube[name] == pytest.approx(solid[name] - inner[name], rel=1e-14)
    assert solid["torsion"] == pytest.approx(np.pi * 0.03**4 / 2, rel=1e-14)
    assert solid["shear_y"] == pytest.approx(6 / 7)
    assert values_of(RoundTube(1.0, 0.9999999))["shear_y"] == pytest.approx(0.5)


def test_rectangles_by_integration():
    width, height = 0.02, 0.05
    t, w = np.polynomial.legendre.leggauss(4)
    found = values_of(Rectangle(width, height))
    assert found["moment_z"] == pytest.approx(height * w @ (0.5 * width * t) ** 2 * width / 2, rel=1e-14)
    assert found["moment_y"] == pytest.approx(width * w @ (0.5 * height * t) ** 2 * height / 2, rel=1e-14)
    box, hollow = values_of(BoxTube(width, height, 0.002)), values_of(Rectangle(width - 0.004, height - 0.004))
    for name in ("area", "moment_y", "moment_z"):
        assert box[name] == pytest.approx(found[name] - hollow[name], rel=1e-13)
    thin = values_of(BoxTube(1.0, 1.0, 1e-9))
    assert thin["torsion"] == pytest.approx(1e-9, rel=1e-8)
    assert thin["shear_y"] == pytest.approx(20 / 48)


@pytest.mark.parametrize(("edge", "wanted"), [(1.0, 0.140577014955), (2.0, 0.457364), (1e6, 1e6 / 3)])
def test_torsion_of_rectangles(edge, wanted):
    """Timoshenko and Goodier, Theory of elasticity, art. 109."""
    assert values_of(Rectangle(edge, 1.0))["torsion"] == pytest.approx(wanted, rel=2e-6)
    assert values_of(Rectangle(1.0, edge))["torsion"] == values_of(Rectangle(edge, 1.0))["torsion"]


def test_torsion_of_a_rectangle_against_its_series():
    with mp.workdps(25):
        total = mpmath.nsum(lambda n: mpmath.tanh((2 * n + 1) * mpmath.pi * 0.65) / (2 * n + 1) ** 5, [0, mpmath.inf])
        wanted = mpmath.mpf(1.3) / 3 * (1 - 192 / mpmath.pi**5 / mpmath.mpf(1.3) * total)
    assert values_of(Rectangle(1.3, 1.0))["torsion"] == pytest.approx(float(wanted), rel=1e-14)


def test_dimensions_of_a_taper_are_straight_lines():
    taper = TaperedSection((Circle(0.01), Circle(0.03), Circle(0.02)), (0.0, 0.25, 1.0))
    area = section_values(taper, np.array([0.0, 0.125, 0.625, 1.0])).area
    np.testing.assert_allclose(area, np.pi * np.array([0.01, 0.02, 0.025, 0.02]) ** 2, rtol=1e-14)
    given = GivenSection(1.0, 2.0, 3.0), GivenSection(2.0, 4.0, 6.0)
    assert section_values(TaperedSection(given), np.array([0.5])).torsion[0] == pytest.approx(7.5)


# ---- what a user writes


def test_beam_from_a_file():
    text = {
        "name": "boom",
        "length": 2.0,
        "material": {"young": 2e11, "density": 7850.0, "poisson": 0.28},
        "section": {
            "kind": "tapered",
            "sections": [{"kind": "circle", "radius": 0.02}, {"kind": "circle", "radius": 0.01}],
        },
        "bending_y": {"modes": [1, 3], "ends": "cf", "tip_mass": 0.5},
        "bending_z": 2,
        "torsion": [2],
    }
    beam = TypeAdapter(Beam).validate_python(text)
    assert beam.bending_y.numbers == (1, 3)
    assert beam.bending_z == Bending(2)
    assert beam.material.shear == pytest.approx(2e11 / 2.56)
    assert body_tables(beam).families == (2, 2, 0, 1)
    assert not beam.is_free_at_start


def test_schema_of_a_beam():
    schema = TypeAdapter(Beam).json_schema(mode="validation")
    assert {"name", "length", "material", "section"} <= set(schema["required"])


@pytest.mark.parametrize("ends", PAIRS)
def test_pairs_free_at_the_start_are_flagged(ends):
    beam = Beam("b", 1.0, STEEL, Circle(0.01), bending_y=1, bending_z=Bending(1, ends))
    assert beam.is_free_at_start == (ends in ("fc", "ff", "fs"))


def plain(**fields):
    return Beam("b", 1.0, STEEL, Circle(0.01), **fields)


REFUSED = {
    "mode zero": (lambda: Bending((0, 1)), ["modes: [0, 1]: give how many modes", "from 1"]),
    "negative count": (lambda: Bending(-1), ["modes: -1: give how many modes (0 or more, at most 200)"]),
    "part of a mode": (lambda: Bending(1.5), ["modes: 1.5: give how many"]),
    "mode twice": (lambda: Bending((1, 1)), ["modes: [1, 1]", "each once"]),
    "torsion twice": (lambda: plain(torsion=(2, 2)), ["torsion: [2, 2]", "each once"]),
    "no bending": (lambda: plain(bending_y="two"), ["bending_y", "give a Bending"]),
    "no such pair": (lambda: Bending(1, "cx"), ["ends", "c clamped, s supported, f free", "ss, cc"]),
    "tip held": (lambda: Bending(1, "cc", normalise="tip"), ["hold the tip", 'normalise = "max"']),
    "tip mass held": (lambda: Bending(1, "cs", tip_mass=1.0), ["tip_mass does nothing"]),
    "tip inertia clamped": (lambda: Bending(1, "cc", tip_inertia=1.0), ["tip_inertia does nothing"]),
    "hub off": (lambda: Bending(1, "sf", hub_inertia=1.0), ["hub_inertia needs a start clamped"]),
    "polynomials with ends": (lambda: Bending(1, "ss", family="polynomials"), ["polynomials know no ends"]),
    "tube inside out": (lambda: RoundTube(0.1, 0.1), ["inner_radius 0.1 m is not below"]),
    "box without hollow": (lambda: BoxTube(0.1, 0.2, 0.05), ["wall 0.05 m leaves no hollow in 0.1 m"]),
    "two shear moduli": (lambda: Material(1.0, 1.0, 1.0, 0.3), ["both given"]),
    "taper of one": (lambda: TaperedSection((Circle(1.0),)), ["sections", "at least 2"]),
    "taper of two kinds": (lambda: TaperedSection((Circle(1.0), Rectangle(1.0, 1.0))), ["several kinds"]),
    "taper out of order": (lambda: TaperedSection((Circle(1.0), Circle(2.0)), (1.0, 0.0)), ["must rise from 0"]),
    "taper places": (lambda: TaperedSection((Circle(1.0), Circle(2.0)), (0.0, 0.5, 1.0)), ["one place per section"]),
    "taper torsion": (
        lambda: TaperedSection((GivenSection(1.0, 1.0, 1.0), GivenSection(1.0, 1.0, 1.0, 1.0))),
        ["for all or for none"],
    ),
    "no section": (lambda: Beam("b", 1.0, STEEL, 3.0), ["3.0 is no section", "rectangle, circle"]),
    "mass beyond": (lambda: plain(point_masses=(PointMass(1.0, 1.1),)), ["beyond the length 1.0 m"]),
    "negative rotary": (lambda: plain(rotary_inertia=(0, -1, 0)), ["negative moment"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, words = REFUSED[case]
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_modes_that_do_not_converge_are_refused(monkeypatch):
    monkeypatch.setattr(varying_modes, "MAX_TERMS", 12)
    beam = Beam("b", 1.0, STEEL, TaperedSection((Circle(0.01), Circle(0.02))), bending_y=5)
    with pytest.raises(ModelError, match="more than 12 terms"):
        beam_shapes(beam)


def test_shapes_together_are_what_each_is_alone():
    section = TaperedSection((Rectangle(0.02, 0.02), Rectangle(0.01, 0.02)))
    beam = Beam("b", 1.5, STEEL, section, bending_y=9)
    shapes, x = beam_shapes(beam).y, np.array([[0.0, 0.4], [1.1, 1.5]])
    for shape, together in zip(shapes, shape_functions.values_of(shapes, x), strict=True):
        for one, other in zip(shape.at(x), together, strict=True):
            # sums of terms in another order
            assert np.allclose(one, other, rtol=0, atol=1e-12 * max(1.0, np.abs(one).max()))
