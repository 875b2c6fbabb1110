"""Closed loops together with everything else: free flight, contact, friction, limits, drives, rest, singular poses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from cut_joints import Cut, beam, flat, solid, some_state, spatial
from pliant import (
    Base,
    Body,
    Contact,
    Crossing,
    Frame,
    Friction,
    Joint,
    Limit,
    Loop,
    Model,
    NormalLaw,
    Output,
    Plane,
    Rod,
    Table,
)
from pliant.cases.case import all_cases
from pliant.engine.prepared import prepare
from pliant.errors import ModelError
from pliant.mechanisms.assembly import assemble, mobility
from pliant.mechanisms.constraints import Loops

CASES = all_cases()
TIGHT = {"rtol": 1e-11, "atol": 1e-13}
SOLVED = ["multipliers", "reduced"]


def case(name, **settings):
    return CASES[name].build(CASES[name].resolve(settings))


def four_bar(ground="world", size=1.0, mass=2.0, upright=False, **more):
    """A crank of 0.3, a coupler of 0.9 and a rocker of 0.7 over a ground of 1, times size; mass per length 1."""
    lengths = {"crank": 0.3 * size, "coupler": 0.9 * size, "rocker": 0.7 * size}
    bodies = [
        Body(name, mass=mass * x / size, shape=Rod(x, radius=0.02 * size if ground != "world" else 0.0))
        for name, x in lengths.items()
    ]
    tilt = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)) if upright else np.eye(3).tolist()
    tilt = tuple(tuple(map(float, row)) for row in tilt)
    joints = [
        Joint("motor", "revolute", "crank", q0=1.0, parent=Frame(ground, (0, 0, 0), tilt)),
        Joint("knee", "revolute", "coupler", parent=Frame("crank", (0.3 * size, 0, 0)), q0=-0.5),
        Joint("pivot", "revolute", "rocker", parent=Frame(ground, (size, 0, 0), tilt), q0=1.5),
    ]
    first, second = Frame("rocker", (0.7 * size, 0, 0)), Frame("coupler", (0.9 * size, 0, 0))
    down = (0.0, 0.0, -9.81 * size) if upright else (0.0, -9.81 * size, 0.0)
    fields = {"gravity": down, "keep": ("motor",)} | more
    bodies = [*fields.pop("bodies", ()), *bodies]
    return Model("four-bar", tuple(bodies), tuple(joints), loops=(Loop("pin", "revolute", first, second),), **fields)


def flyer():
    """The four-bar on a hull in free flight: the pin's five constraints have rank two, in axes that rotate."""
    hull = Body("hull", mass=4.0, inertia=(0.3, 0.4, 0.5))
    model = four_bar(
        "hull", bodies=(hull,), base=Base("floating", angular_velocity=(0.3, 0.5, -0.2)), gravity=(0, 0, 0)
    )
    joints = [replace(joint, v0=6.0) if joint.name == "motor" else joint for joint in model.joints]
    return replace(model, joints=tuple(joints))


# --- constraints --------------------------------------------------------------------------------------------------


def every_kind():
    """A loop of every kind between the finger of an arm with bending links and the world, or its own arm."""
    tree = spatial("universal", "flexible")
    finger, here = Frame("finger", (0.2, 0.03, 0.01)), Frame("world", (0.3, 0.2, 0.4), (0.1, 0.2, 0.3, 0.9))
    on_beam = Frame("arm", (0.35, 0.02, -0.01), (0.3, -0.1, 0.2, 0.8))
    axis = {"revolute": (1, 2, 3), "prismatic": (0.5, -1, 2), "point-on-line": (1, 1, -1)}
    kinds = ["revolute", "prismatic", "spherical", "universal", "fixed", "distance", "point-on-line"]
    loops = []
    for first, name in ((here, "world"), (on_beam, "arm")):
        for kind in kinds:
            extra = {"axis": axis[kind]} if kind in axis else {"length": 0.4} if kind == "distance" else {}
            loops.append(Loop(f"{kind}-{name}", kind, first=first, second=finger, **extra))
    return replace(tree, loops=tuple(loops))


def test_rates_and_second_rates_of_every_condition_are_the_slopes_of_its_value():
    model = every_kind()
    loops = Loops(prepare(model))
    q, v = some_state(model, 4)
    vdot = np.random.default_rng(5).normal(size=len(v))
    h = 1e-4

    def along(s):
        # a motion with velocity v + s vdot in every velocity's own axes
        x, steps = q, 64
        for k in range(steps):
            x = loops.moved(x, (v + (k + 0.5) * s / steps * vdot) * s / steps)
        return x

    rate, A = loops.errors(q, v)[1], loops.jacobian(q)
    values = {k: loops.errors(along(k * h), v)[0] for k in (-2, -1, 1, 2)}
    slope = (8.0 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12.0 * h)
    # differences of the fourth order: rounding 1e-16 over h, and h^4
    assert slope == pytest.approx(rate, abs=1e-10)
    assert A @ v == pytest.approx(rate, abs=1e-13)
    rates = {k: loops.errors(along(k * h), v + k * h * vdot)[1] for k in (-2, -1, 1, 2)}
    second = (8.0 * (rates[1] - rates[-1]) - (rates[2] - rates[-2])) / (12.0 * h)
    # midpoint steps of the motion itself: (h/64)^2 of it
    assert second == pytest.approx(A @ vdot + loops.second_rates(q, v), abs=1e-8)


# --- closed forms -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", SOLVED)
def test_body_at_a_fixed_distance_is_a_spherical_pendulum(closure):
    length, p = 0.7, np.array([0.3, 0.2, -0.6])
    p *= length / np.linalg.norm(p)
    u = np.cross([0.5, 1.0, 2.0], p)
    model = Model(
        "ball on a string",
        (Body("ball", mass=2.0, inertia=(0.1, 0.2, 0.25)),),
        (Joint("free", "floating", "ball", q0=(*p, 0, 0, 0, 1), v0=(*u, 0.3, 0.2, 0.1)),),
        loops=(Loop("string", "distance", first="world", second="ball", length=length),),
    )
    found = pliant.simulate(model, 1.0, closure=closure, **TIGHT)
    g = np.array([0.0, 0.0, -9.81])

    def pendulum(t, y):
        return np.concatenate([y[3:], g - (y[3:] @ y[3:] + g @ y[:3]) / (y[:3] @ y[:3]) * y[:3]])

    exact = solve_ivp(pendulum, (0.0, 1.0), np.concatenate([p, u]), method="DOP853", rtol=1e-12, atol=1e-13).y[:3, -1]
    assert found.q[-1][:3] == pytest.approx(exact, abs=1e-11)
    assert found.audit["energy_residual"] < 1e-11


@pytest.mark.parametrize("closure", SOLVED)
@pytest.mark.parametrize("is_planar", [True, False])
def test_bead_on_a_turning_wire_flies_out_as_cosh_with_coriolis_force_on_the_wire(is_planar, closure):
    w, r = 3.0, 0.3
    if is_planar:
        free = Joint("free", "planar", "bead", q0=(r, 0, 0), v0=(0, w * r, 0))
    else:
        free = Joint("free", "floating", "bead", q0=(r, 0, 0, 0, 0, 0, 1), v0=(0, w * r, 0, 0, 0, 0))
    turn = Table((0.0, 100.0), (0.0, 100.0 * w), smooth=True)
    model = Model(
        "bead", (Body("wire", mass=1.0, shape=Rod(1.0)), Body("bead", mass=0.5, inertia=(0.01, 0.01, 0.01))),
        (Joint("spin", "revolute", "wire", motion=turn), free), gravity=(0, 0, 0),
        loops=(Loop("wire", "point-on-line", first="wire", second="bead", axis=(1, 0, 0)),),
    )  # fmt: skip
    found = pliant.simulate(model, 1.0, closure=closure, **TIGHT)
    x, y = found.q[-1][1:3]
    assert np.hypot(x, y) == pytest.approx(r * np.cosh(w), abs=1e-10)
    force = pliant.reactions(model, found.q[-1], found.v[-1], t=1.0)["wire"]
    assert np.hypot(*force[:2]) == pytest.approx(2.0 * 0.5 * w * r * w * np.sinh(w), abs=1e-9)


# --- redundant constraints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", SOLVED)
def test_free_flying_mechanism_keeps_momentum_and_energy(closure):
    model = flyer()
    found = pliant.simulate(model, 1.0, closure=closure, **TIGHT)
    moments = pliant.momentum(model, found.q, found.v)
    assert np.max(np.abs(moments.linear - moments.linear[0])) < 1e-11
    assert np.max(np.abs(moments.angular - moments.angular[0])) < 1e-11
    assert found.audit["energy_residual"] < 1e-11
    assert found.audit["constraint_drift"] < 1e-14


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_redundant_constraints_do_not_make_the_equations_jump(rtol):
    # a partition that changed within steps had half of the steps rejected, and doubled their number
    runs = [pliant.simulate(flyer(), 1.0, closure=name, rtol=rtol, integrator="dop853") for name in SOLVED]
    steps = [run.stats["steps"] + run.stats["rejected"] for run in runs]
    assert steps[0] < 1.25 * steps[1]
    ways = mobility(flyer())
    assert (ways.conditions, ways.rank) == (5, 2)


def test_index_3_steps_carry_redundant_constraints():
    exact = pliant.simulate(flyer(), 0.2, **TIGHT).q[-1]
    how = {"closure": "implicit", "integrator": "generalised_alpha"}
    off = [np.abs(pliant.simulate(flyer(), 0.2, step=h, **how).q[-1] - exact).max() for h in (2e-3, 1e-3)]
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize("upright", [False, True])
@pytest.mark.parametrize("closure", SOLVED)
def test_size_and_mass_of_a_mechanism_do_not_matter(closure, upright):
    # gravity grows with the size: the same motion in all
    ends = [
        pliant.simulate(four_bar(size=size, mass=mass, upright=upright), 1.0, closure=closure, rtol=1e-10, atol=1e-12)
        for size, mass in ((1e-3, 1e-3), (1.0, 1.0), (100.0, 1e-3), (1e-3, 1e3), (100.0, 1e3))
    ]
    for found in ends:
        assert found.q[-1] == pytest.approx(ends[0].q[-1], abs=1e-9)
        assert found.audit["constraint_drift"] < 1e-14


# --- with contact, friction, limits and events --------------------------------------------------------------------


@pytest.mark.parametrize("closure", SOLVED)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_closed_tree_hits_sticks_and_stops_as_the_tree_does(kind, closure):
    floor = Contact(
        "floor", NormalLaw("hunt-crossley", 1e5, damping=30.0), Plane(normal=(0, 1, 0), offset=-0.55),
        (Frame("finger", (0.3, 0, 0)), "finger"), friction=Friction("stiction", 0.2, mu_s=0.3),
    )  # fmt: skip
    base = flat(kind)
    stop, rub = Limit(-0.6, 0.8, stiffness=500.0, damping=2.0), Friction("coulomb", 0.2, load=1.0)
    hip, middle, wrist = base.joints
    tree = replace(
        base, contacts=(floor,), joints=(replace(hip, friction=rub), middle, replace(wrist, limit=stop)),
        outputs=(
            Output("pin", "cut", "reaction"), Output("hip", "hip", "reaction"), Output("floor", "floor", "contact"),
        ),
        crossings=(Crossing("passes", "wrist", 0.1),),
    )  # fmt: skip
    both = Cut(tree, "cut", is_planar=True)
    q, v = both.state(tree.q0, tree.v0)
    one = pliant.simulate(tree, 0.8, rtol=1e-10, atol=1e-12)
    other = pliant.simulate(both.closed, 0.8, q0=q, v0=v, rtol=1e-10, atol=1e-12, closure=closure)
    assert [event.name for event in other.events] == [event.name for event in one.events]
    assert any("floor" in event.name for event in one.events)
    assert [event.t for event in other.events] == pytest.approx([event.t for event in one.events], abs=1e-9)
    assert other.q[-1] == pytest.approx(both.state(one.q[-1], one.v[-1])[0], abs=1e-9)
    times = np.linspace(0.01, 0.79, 40)
    carried, exact = other.outputs_at(times), one.outputs_at(times)
    for name in ("pin", "hip", "floor"):
        part = slice(None) if name == "floor" else [0, 1, 5]
        size = np.max(np.abs(exact[name]))
        # dense output of the runs
        assert np.max(np.abs(carried[name][:, part] - exact[name][:, part])) < 1e-6 * size


@pytest.mark.parametrize("closure", SOLVED)
@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_closed_tree_in_space_hits_and_slides_as_the_tree_does(kind, closure):
    floor = Contact(
        "floor", NormalLaw("hunt-crossley", 1e5, damping=30.0), Plane(normal=(0, 0, 1), offset=-0.55),
        (Frame("finger", (0.3, 0, 0)),), friction=Friction("coulomb", 0.3),
    )  # fmt: skip
    start = {"axis": (0.3, 1, 0), "q0": 0.2} if kind == "revolute" else {"v0": (0.5, 1.0, -0.4)}
    tree = Model(
        "arm in space",
        (solid("upper", 0.5), solid("middle", 0.4), solid("finger", 0.3)),
        (
            Joint("hip", "universal", "upper", v0=(1.0, 0.5)),
            Joint("cut", kind, "middle", parent=Frame("upper", (0.5, 0, 0)), **start),
            Joint("wrist", "revolute", "finger", parent=Frame("middle", (0.4, 0, 0)), axis=(0, 1, 0.2), damping=0.01),
        ),
        gravity=(0.0, 0.0, -9.81), contacts=(floor,), outputs=(Output("force", "floor", "contact"),),
    )  # fmt: skip
    both = Cut(tree, "cut")
    q, v = both.state(tree.q0, tree.v0)
    one = pliant.simulate(tree, 0.6, rtol=1e-10, atol=1e-12)
    other = pliant.simulate(both.closed, 0.6, q0=q, v0=v, rtol=1e-10, atol=1e-12, closure=closure)
    assert len(one.contacts) > 0
    assert [event.name for event in other.events] == [event.name for event in one.events]
    assert [event.t for event in other.events] == pytest.approx([event.t for event in one.events], abs=1e-8)
    assert other.q[-1] == pytest.approx(both.state(one.q[-1], one.v[-1])[0], abs=1e-7)
    assert other.audit["energy_residual"] < 1e-9


def test_sticking_contact_leaves_the_whole_force_to_the_loop():
    """A block stuck on a slope holds a pin: the loop's force is what statics asks, however many columns stick needs."""
    tree = Model(
        "block and arm",
        (Body("block", mass=2.0, inertia=(0.1, 0.1, 0.1)), solid("arm", 0.3)),
        (Joint("guide", "planar", "block"), Joint("hinge", "revolute", "arm", parent=Frame("block", (0, 0.1, 0)))),
        gravity=(0.0, -9.81, 0.0),
        contacts=(
            Contact(
                "ground", NormalLaw("hunt-crossley", 1e5, damping=30.0), Plane(normal=(0, 1, 0)),
                (Frame("block", (-0.3, 0, 0)), Frame("block", (0.3, 0, 0))), rests=True,
                friction=Friction("stiction", 0.5, mu_s=0.6),
            ),
        ),
    )  # fmt: skip
    both = Cut(tree, "hinge", is_planar=True)
    q, v = np.array([0.0, -2e-4, 0.0, 0.4]), np.zeros(4)
    exact = pliant.reactions(tree, q, v)
    found = pliant.reactions(both.closed, *both.state(q, v))
    assert found["hinge"][[0, 1, 5]] == pytest.approx(exact["hinge"][[0, 1, 5]], abs=1e-9)


# --- at rest, and where loops are singular ------------------------------------------------------------------------


def test_four_bar_rests_where_its_weight_is_lowest():
    model = case("four-bar")
    q = pliant.equilibrium(model)
    values, _ = Loops(prepare(model)).errors(q, np.zeros(3))
    assert np.max(np.abs(values)) < 1e-15
    settings = CASES["four-bar"].resolve({})
    from pliant.cases.four_bar import poses

    def height(angle):
        coupler, rocker = poses(settings, angle)
        own = 0.3 * 0.15 * np.sin(angle) + 0.9 * (0.3 * np.sin(angle) + 0.45 * np.sin(coupler))
        return own + 0.7 * 0.35 * np.sin(rocker)

    angles = np.linspace(q[0] - 0.3, q[0] + 0.3, 601)
    assert angles[np.argmin(height(angles))] == pytest.approx(q[0], abs=1e-3)
    assert np.max(np.abs(pliant.forward_dynamics(model, q, np.zeros(3)))) < 1e-11


def test_chain_between_two_pins_rests_as_its_energy_is_least():
    links = [Body(f"b{k}", mass=1.0, shape=Rod(0.5)) for k in range(6)]
    joints = [Joint("j0", "revolute", "b0", q0=-0.9)]
    joints += [Joint(f"j{k}", "revolute", f"b{k}", parent=Frame(f"b{k - 1}", (0.5, 0, 0)), q0=0.3) for k in range(1, 6)]
    pin = Loop("pin", "revolute", first=Frame("world", (2.0, 0.3, 0)), second=Frame("b5", (0.5, 0, 0)))
    model = Model("chain", tuple(links), tuple(joints), gravity=(0, -9.81, 0), loops=(pin,))
    q = pliant.equilibrium(model)
    loops = Loops(prepare(model))
    assert np.max(np.abs(pliant.forward_dynamics(model, q, np.zeros(6)))) < 1e-9
    least, rng = pliant.energy(model, q, np.zeros(6)).gravity, np.random.default_rng(0)
    for _ in range(20):
        aside = loops.close(q + 0.05 * rng.normal(size=6), loops.is_free)
        assert pliant.energy(model, aside, np.zeros(6)).gravity > least


@pytest.mark.parametrize(
    "how",
    [
        {"closure": "multipliers"},
        {"closure": "reduced"},
        {"closure": "implicit", "integrator": "generalised_alpha", "step": 1e-3},
    ],
)
def test_crank_driven_to_where_coupler_and_rocker_stretch_ends_there_and_says_so(how):
    model = case("four-bar", ground=1.0, crank=0.9, coupler=0.5, rocker=0.5, angle=0.5, speed=2.0, drive="speed")
    found = pliant.simulate(model, 2.0, **how)
    # 1 + 0.81 - 1.8 cos(angle) = 1
    when = (np.arccos(0.81 / 1.8) - 0.5) / 2.0
    assert not found.is_ok
    assert "singular pose (loop 'pin')" in found.reason
    assert found.t[-1] == pytest.approx(when, abs=2e-3 if "step" in how else 1e-7)
    assert len(found.t) > 50


def test_weld_half_a_turn_off_is_refused():
    rods = (Body("a", mass=1.0, shape=Rod(1.0, radius=0.02)), Body("b", mass=1.0, shape=Rod(1.0, radius=0.02)))
    for kind in ("fixed", "prismatic"):
        for turn in ((0, 0, np.sin(1.5), np.cos(1.5)), (np.sin(1.5), 0, 0, np.cos(1.5))):
            free = Joint("free", "floating", "b", q0=(1.0, 0, 0, *turn))
            model = Model(
                "rods", rods, (Joint("hinge", "revolute", "a", axis=(0, 1, 0)), free),
                loops=(Loop("weld", kind, first=Frame("a", (1.0, 0, 0)), second="b"),),
            )  # fmt: skip
            with pytest.raises(
                ModelError, match=r"loop weld closes with its second frame rotated by 180 degrees from the first"
            ):
                assemble(model)


def test_slide_on_a_tilted_frame_of_a_planar_model_holds_what_it_holds_in_space():
    # a frame rolled about its own line by 45 degrees: both its sides lie half in the plane
    roll = (np.sin(np.pi / 8), 0.0, 0.0, np.cos(np.pi / 8))
    bead = Joint("free", "planar", "bead", q0=(0.3, 0.1, 0.0))
    bodies = (Body("wire", mass=1.0, shape=Rod(1.0)), Body("bead", mass=0.5, inertia=(0.01, 0.01, 0.01)))
    model = Model(
        "bead", bodies, (Joint("spin", "revolute", "wire"), bead), gravity=(0, -9.81, 0),
        loops=(Loop("wire", "point-on-line", first=Frame("wire", attitude=roll), second="bead", axis=(1, 0, 0)),),
    )  # fmt: skip
    ways = mobility(model)
    assert (ways.rank, ways.freedom) == (1, 3)


def test_loops_between_sections_of_two_beams_move_alike_with_every_closure():
    lower = Joint("left", "revolute", "arm", q0=1.0)
    upper = Joint("right", "revolute", "hand", parent=Frame("world", (0.8, 0, 0)), q0=2.0)
    model = Model(
        "two beams", (beam("arm", 0.8, bending_y=2), beam("hand", 0.8, bending_y=2)), (lower, upper),
        gravity=(0, -9.81, 0), keep=("left",),
        loops=(Loop("slot", "point-on-line", first=Frame("arm", (0.5, 0, 0)), second=Frame("hand", (0.7, 0, 0)),
                    axis=(1, 0, 0)),),
    )  # fmt: skip
    runs = [pliant.simulate(model, 0.3, closure=name, **TIGHT) for name in SOLVED]
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=1e-8)
    for found in runs:
        assert found.audit["energy_residual"] < 1e-10
        assert found.audit["constraint_drift"] < 1e-14


def test_assembly_turns_joints_and_leaves_beams_straight():
    model = case("parallel-3rrr", links="flexible")
    q, _ = assemble(model, model.q0 + 0.05 * np.sin(np.arange(len(model.q0))) * (np.abs(model.q0) > 0))
    modes = np.concatenate([q[link.q_modes] for link in model.links])
    assert len(modes) > 0
    # of links of 0.4 m: a thousandth of a step, squared
    assert np.max(np.abs(modes)) < 1e-5


def test_work_of_a_drive_alone_closes_the_energy():
    turn = Table((0.0, 1e4), (0.0, 1e5), smooth=True)
    model = Model("wheel", (Body("rod", mass=1.0, shape=Rod(1.0)),), (Joint("j", "revolute", "rod", motion=turn),),
                  gravity=(0, -9.81, 0))  # fmt: skip
    found = pliant.simulate(model, 2.0, rtol=1e-9, atol=1e-11)
    assert found.audit["energy_residual"] < 1e-8


@pytest.mark.parametrize("closure", SOLVED)
def test_robot_driven_out_of_reach_ends_where_a_leg_is_stretched_and_names_it(closure):
    model = case("parallel-3rrr")
    still = [Table((0.0, 2.0), (float(x), float(x)), smooth=True) for x in model.q0[-2:]]
    out = (Table((0.0, 2.0), (float(model.q0[-3]), 1.0), smooth=True), *still)
    joints = [replace(joint, motor=None, motion=out if joint.name == "pose" else None) for joint in model.joints]
    found = pliant.simulate(replace(model, joints=tuple(joints), keep=()), 2.0, closure=closure)
    assert "singular pose (loop 'leg1')" in found.reason
    # its elbow is straight: sine as the square root of what time resolves
    assert abs(np.sin(found.q[-1][1])) < 1e-3


@pytest.mark.parametrize("closure", SOLVED)
def test_sampled_controller_moves_the_closed_tree_as_the_tree(closure):
    def hold(t, measured):
        q, v = measured["wrist"]
        return [-3.0 * float(np.ravel(q)[0]) - 0.2 * float(np.ravel(v)[0])]

    tree = replace(flat("revolute"), controllers=(pliant.Controller("hold", 0.01, ("wrist",), hold),))
    both = Cut(tree, "cut", is_planar=True)
    q, v = both.state(tree.q0, tree.v0)
    one = pliant.simulate(tree, 0.4, **TIGHT)
    other = pliant.simulate(both.closed, 0.4, q0=q, v0=v, closure=closure, **TIGHT)
    assert other.q[-1] == pytest.approx(both.state(one.q[-1], one.v[-1])[0], abs=1e-9)
