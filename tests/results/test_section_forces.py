"""Forces, strains and stress in beams against closed forms and against the reactions of joints."""

import dataclasses

import numpy as np
import pytest

import pliant
from pliant import Body, Constant, Frame, Joint, Load, Model, ModelError, Output, Rod
from pliant.model.flexible import (
    Beam,
    Bending,
    BoxTube,
    Circle,
    GivenSection,
    Material,
    PointMass,
    Rectangle,
    TaperedSection,
)

STEEL = Material(2e11, 8000.0)
AREA = 0.02 * 0.03


def rest_run(model):
    """A run that starts at rest and stays there, and (x, values) of every quantity along its one beam."""
    return pliant.simulate(model, 1e-4, q0=pliant.equilibrium(model), v0=np.zeros(len(model.velocities)))


def clamped(beam, loads=(), **options):
    tip = Frame("beam", (beam.length, 0, 0), name="tip")
    return Model("clamped", (beam,), frames=(tip,), loads=loads, **({"gravity": (0, 0, 0)} | options))


@pytest.mark.parametrize(("plane", "load", "columns", "sign"), [("y", "y", (1, 5), 1), ("z", "z", (2, 4), -1)])
def test_tip_load_on_cubic_shapes(plane, load, columns, sign):
    """V = F and M = F (L - x) exactly; stress M c / I at the outer fibre."""
    force, length = 30.0, 2.0
    shapes = {f"bending_{plane}": Bending(2, family="polynomials")}
    beam = Beam("beam", length, STEEL, Rectangle(0.02, 0.03), theory="euler-bernoulli", coupling="linear", **shapes)
    result = rest_run(clamped(beam, (Load("tip", **{load: Constant(force)}),)))
    x, values = result.along("beam", "section", [0.0])
    np.testing.assert_allclose(values[0, :, columns[1]], sign * force * (length - x), rtol=1e-11, atol=1e-9)
    # the bent beam rotates the load a little towards its axis: second order
    np.testing.assert_allclose(values[0, :, columns[0]], force, rtol=1e-3)
    edge = 0.02 if plane == "y" else 0.03
    moment_of_area = AREA * edge**2 / 12
    _, stress = result.along("beam", "stress", [0.0])
    bending = force * (length - x) * (edge / 2) / moment_of_area
    np.testing.assert_allclose(stress[0, :, 0] - np.abs(values[0, :, 0]) / AREA, bending, rtol=1e-9, atol=1e-3)
    _, strain = result.along("beam", "strain", [0.0])
    np.testing.assert_allclose(strain[0, :, 4], stress[0, :, 0] / STEEL.young, rtol=1e-13)
    curvature = strain[0, :, 2 if plane == "y" else 1]
    np.testing.assert_allclose(curvature * STEEL.young * moment_of_area, values[0, :, columns[1]], rtol=1e-13)


def test_shear_law_of_timoshenko_converges_to_the_load():
    """kGA (y' - Theta) of many modes, away from the end where every mode is free of shear."""
    beam = Beam("beam", 0.3, STEEL, Rectangle(0.02, 0.1), bending_z=40, coupling="linear")
    result = rest_run(clamped(beam, (Load("tip", z=Constant(500.0)),)))
    x, values = result.along("beam", "section", [0.0])
    inner = slice(2, 18)
    np.testing.assert_allclose(values[0, inner, 2], 500.0, rtol=0.1)
    np.testing.assert_allclose(values[0, inner, 4], -500.0 * (0.3 - x[inner]), rtol=0.02)


@pytest.mark.parametrize("stretch", [0, 20])
def test_hanging_beam(stretch):
    """N = rho A g (L - x) + M g, by equilibrium where there are no stretch modes, else by the law."""
    length, lump = 3.0, 0.5
    beam = Beam(
        "beam", length, STEEL, Rectangle(0.02, 0.03), bending_y=1, stretch=stretch, point_masses=(PointMass(lump, 2.0),)
    )
    result = rest_run(clamped(beam, gravity=(9.81, 0, 0)))
    x, values = result.along("beam", "section", [0.0])
    wanted = 9.81 * (8000 * AREA * (length - x) + np.where(x <= 2.0, lump, 0.0))
    error = 1e-9 if stretch == 0 else 3.0
    np.testing.assert_allclose(values[0, :, 0], wanted, atol=error)
    if stretch == 0:
        np.testing.assert_allclose(values[0, :, 1:], 0, atol=1e-9)


def test_rotating_beam():
    """N = rho A w^2 (L^2 - x^2) / 2 about a hinge at its start; also of a beam without any modes."""
    length, rate = 1.5, 20.0
    for modes in (0, 2):
        beam = Beam("beam", length, STEEL, Rectangle(0.02, 0.03), bending_z=modes)
        hinge = Joint("hinge", "revolute", "beam", axis=(0, 0, 1), v0=rate)
        result = pliant.simulate(Model("rotor", (beam,), joints=(hinge,), gravity=(0, 0, 0)), 0.3)
        x, values = result.along("beam", "section", [0.0, 0.3])
        wanted = 8000 * AREA * rate**2 * (length**2 - x**2) / 2
        np.testing.assert_allclose(values[:, :, 0], [wanted, wanted], rtol=1e-11, atol=1e-8)
        np.testing.assert_allclose(values[:, :, 1:], 0, atol=1e-8)


def test_twisted_shaft():
    """A couple M at the tip: T = M all along, twist M / (GJ); by the law of torsion modes, and without them."""
    for modes in (0, 60):
        shaft = Beam("beam", 1.0, STEEL, Circle(0.02), torsion=modes)
        model = clamped(shaft, (Load("tip", kind="couple", x=Constant(100.0)),))
        x, values = rest_run(model).along("beam", "section", [0.0])
        inner = x < 0.7
        np.testing.assert_allclose(values[0, inner, 3], 100.0, rtol=0.05 if modes else 1e-12)
        _, strain = rest_run(model).along("beam", "strain", [0.0])
        twist = 100.0 / (STEEL.shear * np.pi * 0.02**4 / 2)
        np.testing.assert_allclose(strain[0, inner, 3], twist, rtol=0.05 if modes else 1e-12)


def moving_arm(**shapes):
    """Spatial motion; loads, an offset child and a tapered section."""
    beam = Beam(
        "boom",
        1.5,
        STEEL,
        TaperedSection((BoxTube(0.08, 0.06, 0.004), BoxTube(0.05, 0.04, 0.004))),
        point_masses=(PointMass(0.3, 0.7),),
        **shapes,
    )
    return Model(
        "arm",
        (beam, Body("tool", mass=2.0, shape=Rod(0.4, 0.02))),
        joints=(
            Joint("shoulder", "universal", "boom", v0=(2.0, 1.0), motor=(Constant(30.0), Constant(-20.0))),
            Joint("wrist", "revolute", "tool", parent=Frame("boom", (1.5, 0.0, 0.1)), v0=5.0, stiffness=10.0, q0=0.7),
        ),
        frames=(Frame("boom", (0.0, 0, 0), name="root"), Frame("boom", (0.9, 0.1, 0.0), name="side")),
        loads=(
            Load("side", x=Constant(20.0), z=Constant(-50.0)),
            Load("side", kind="couple", y=Constant(7.0), axes="body"),
        ),
        outputs=(
            Output("held", "shoulder", "reaction"),
            Output("root", "root", "section"),
            Output("side", "side", "section"),
        ),
    )


def test_wrench_at_the_root_is_the_reaction_of_the_joint():
    """Equilibrium of all that lies outboard, summed over places, against the recursion over bodies."""
    result = pliant.simulate(moving_arm(), 0.2)
    outputs = result.outputs
    scale = np.abs(outputs["held"]).max(axis=0)
    np.testing.assert_allclose(-outputs["root"], outputs["held"], atol=1e-11 * scale.max())
    # with bending the axial force and the torque still come from there
    for rotary, error in (("none", 1e-9), ("section", 1e-3)):  # the inertia of sections is linear in their rotations
        result = pliant.simulate(moving_arm(bending_y=1, bending_z=1, rotary=rotary), 0.2, rtol=1e-7)
        held = result.outputs["held"][:, [0, 3]]
        np.testing.assert_allclose(-result.outputs["root"][:, [0, 3]], held, atol=error * np.abs(held).max())


def test_outputs_and_along_agree():
    result = pliant.simulate(moving_arm(bending_y=2, bending_z=2, torsion=1, stretch=1), 0.02, rtol=1e-6)
    x, values = result.along("boom", "section")
    np.testing.assert_allclose(values[:, 0], result.outputs["root"], rtol=1e-12, atol=1e-9)
    near = np.argmin(np.abs(x - 0.9))
    assert x[near] == pytest.approx(0.9, abs=0.04)
    np.testing.assert_allclose(values[:, near, 0], result.outputs["side"][:, 0], rtol=0.1, atol=10)
    _, position = result.along("boom", "position", [0.02])
    np.testing.assert_array_equal(position, result.stations([0.02])["boom"][1])
    # with modes in both planes the law of the material gives both bending moments
    places, bending = result.bending_moment("boom")
    np.testing.assert_array_equal(places, x)
    np.testing.assert_allclose(bending, values[..., 4:], rtol=1e-12, atol=1e-9)
    with pytest.raises(ModelError, match="'bom' is no beam of the model; there are boom"):
        result.bending_moment("bom", 0.0)


def test_what_cannot_be_asked_for_is_refused():
    plain = Beam("boom", 1.0, STEEL, GivenSection(1e-4, 1e-9, 1e-9), bending_y=1)
    bodies = (plain, Body("tool", mass=1.0))
    weld = Joint("weld", "fixed", "tool", parent=Frame("boom", (1.0, 0, 0)))

    def asking(of, quantity, body=plain):
        return Model("arm", (body, bodies[1]), joints=(weld,), outputs=(Output("it", of, quantity),))

    with pytest.raises(ModelError, match=r"output 'it': section is of a section of a beam, and 'tool' is none"):
        asking("tool", "section")
    with pytest.raises(ModelError, match=r"output 'it': beam 'boom': strain and stress need .* outer_y and outer_z"):
        asking("boom", "stress")
    known = dataclasses.replace(plain, section=GivenSection(1e-4, 1e-9, 1e-9, outer_y=0.01, outer_z=0.02))
    result = pliant.simulate(asking("boom", "stress", known), 1e-3)
    assert result.outputs["it"].shape == (len(result.t), 1)
    with pytest.raises(ModelError, match="'tool' is no beam of the model; there are boom"):
        result.along("tool", "section")
    with pytest.raises(ModelError, match="quantity: 'force' found; give one of position, section"):
        result.along("boom", "force")
    given = GivenSection(1e-4, 1e-9, 1e-9)
    with pytest.raises(ModelError, match="outer_y is given for some sections only"):
        TaperedSection((given, dataclasses.replace(given, outer_y=0.1)))
    with pytest.raises(ModelError, match="need the distance of the outer fibres"):
        pliant.simulate(asking("boom", "section"), 1e-3).along("boom", "stress")
