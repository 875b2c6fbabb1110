"""Closed loops: every closure moves the same mechanism, as absolute coordinates and closed forms do."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from absolute_coordinates import Planar
from pliant import Body, Frame, Joint, Loop, Model, Rod
from pliant.cases.case import all_cases
from pliant.cases.rose_path import Robot, exact_motion
from pliant.engine.prepared import Prepared, prepare
from pliant.errors import ModelError
from pliant.mechanisms.assembly import assemble, mobility
from pliant.mechanisms.constraints import Loops
from pliant.methods.closures import Multipliers, Springs
from pliant_benchmarks.springs import NumpyRobot

CASES = all_cases()
ROBOT = Robot()
MOTORS = ["motor1", "motor2", "motor3"]
FORMULATIONS = ["articulated", "boltzmann_hamel", "gibbs_appell", "denoc", "lagrange"]
# rounding of solves with a condition of about 1e3
ROUNDING = 1e-11


def rose_robot(**settings):
    case = CASES["parallel-3rrr"]
    return case.build(case.resolve(settings))


def on_path(model, t, r0=0.05):
    from pliant.cases.rose_path import rose

    p, v, a = (np.column_stack([x, np.zeros(len(t))]) for x in rose(t, r0, "uniform"))
    return pliant.closed_motion(model, {"pose": (p, v, a)}, t=t)


TIMES = np.linspace(0.0, 2.0, 9)


# --- one instant ------------------------------------------------------------------------------------------------


def test_motor_forces_and_multipliers_are_those_of_the_closed_form_legs():
    model = rose_robot()
    q, v, vdot = on_path(model, TIMES)
    exact = exact_motion(ROBOT, TIMES, 0.05, "uniform")
    for k in range(len(TIMES)):
        # the model has the motors' torques as signals: what is left to be given is nothing
        beyond = pliant.motor_forces(model, q[k], v[k], vdot[k], motors=MOTORS, t=TIMES[k])
        assert np.max(np.abs(beyond.tau)) < 1e-9  # spline of the torques
        assert beyond.multipliers == pytest.approx(exact.multipliers[k], abs=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_forward_dynamics_inverts_inverse_dynamics_over_every_formulation(formulation):
    model = rose_robot()
    q, v, vdot = on_path(model, TIMES)
    tau = pliant.inverse_dynamics(model, q, v, vdot, motors=MOTORS, t=TIMES)
    found = pliant.forward_dynamics(model, q, v, tau, t=TIMES, formulation=formulation)
    assert np.max(np.abs(found - vdot)) < ROUNDING * np.max(np.abs(vdot))


def test_3rrr_accelerates_as_its_absolute_coordinates_with_a_multiplier_for_every_joint():
    model = rose_robot()
    l1, l2 = ROBOT.l1, ROBOT.l2
    pins = []
    for j in range(3):
        upper, lower = 2 * j, 2 * j + 1
        pins += [
            (upper, (-l1 / 2, 0), -1, ROBOT.pivots[j]),
            (lower, (-l2 / 2, 0), upper, (l1 / 2, 0)),
            (lower, (l2 / 2, 0), 6, ROBOT.vertices[j]),
        ]
    free = Planar([(3.0, 0.04), (4.0, 0.12)] * 3 + [(8.0, 0.0817)], pins)
    q, v, _ = on_path(model, np.array([0.37]))
    q, v = q[0], v[0]
    x, xd = np.empty(21), np.empty(21)
    for j in range(3):
        a, b, w1, w2 = q[2 * j], q[2 * j] + q[2 * j + 1], v[2 * j], v[2 * j] + v[2 * j + 1]
        ea, eb = np.array([np.cos(a), np.sin(a)]), np.array([np.cos(b), np.sin(b)])
        na, nb = np.array([-ea[1], ea[0]]), np.array([-eb[1], eb[0]])
        x[6 * j : 6 * j + 6] = (*(ROBOT.pivots[j] + l1 / 2 * ea), a, *(ROBOT.pivots[j] + l1 * ea + l2 / 2 * eb), b)
        xd[6 * j : 6 * j + 6] = (*(l1 / 2 * w1 * na), w1, *(l1 * w1 * na + l2 / 2 * w2 * nb), w2)
    x[18:], xd[18:] = q[6:], v[6:]
    forces = np.zeros(21)
    forces[[2, 8, 14]] = torque = [1.0, -2.0, 0.5]
    xdd, multipliers = free.accelerations(x, xd, forces)
    open_model = Model(
        "same without motors", model.bodies, tuple(_bare(joint) for joint in model.joints), gravity=(0, 0, 0),
        loops=model.loops, keep=model.keep,
    )  # fmt: skip
    tau = np.zeros(9)
    tau[[0, 2, 4]] = torque
    vdot = pliant.forward_dynamics(open_model, q, v, tau)
    assert vdot[6:] == pytest.approx(xdd[18:], abs=1e-10)
    assert vdot[[0, 2, 4]] == pytest.approx(xdd[[2, 8, 14]], abs=1e-10)
    # force on the leg tip, and of the ground on the first link, rotated into world axes
    found = pliant.reactions(open_model, q, v, tau)
    for j in range(3):
        turn = q[2 * j] + q[2 * j + 1]
        f = found[f"leg{j + 1}"][:2]
        world = np.array([np.cos(turn) * f[0] - np.sin(turn) * f[1], np.sin(turn) * f[0] + np.cos(turn) * f[1]])
        assert world == pytest.approx(multipliers[6 * j + 4 : 6 * j + 6], abs=1e-10)
        f, turn = found[f"motor{j + 1}"][:2], q[2 * j]
        world = np.array([np.cos(turn) * f[0] - np.sin(turn) * f[1], np.sin(turn) * f[0] + np.cos(turn) * f[1]])
        assert world == pytest.approx(multipliers[6 * j : 6 * j + 2], abs=1e-10)


def _bare(joint):
    return Joint(joint.name, joint.kind, joint.child, parent=joint.parent, q0=joint.q0, v0=joint.v0)


# --- motion -----------------------------------------------------------------------------------------------------


def run_robot(closure, duration=1.0, **options):
    case = CASES["parallel-3rrr"]
    settings = case.resolve({})
    return pliant.simulate(
        case.build(settings), duration, **{"rtol": 1e-9, "atol": 1e-11, "closure": closure} | options
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
def test_closures_keep_the_loops_closed_and_the_robot_on_its_path(closure, formulation):
    found = run_robot(closure, formulation=formulation)
    values, rates = Loops(prepare(found.model)).errors(found.q, found.v)
    assert np.max(np.abs(values)) < 1e-13
    assert np.max(np.abs(rates)) < 1e-13
    assert found.audit["energy_residual"] < 1e-10
    # open loop errors of the tolerances grow a thousandfold within a second
    assert CASES["parallel-3rrr"].figures(found)["e_p_max"] < -6.0


def test_tight_virtual_springs_reach_the_printed_pose():
    found = run_robot(
        "springs", 1.0, closure_stiffness=1e4, integrator="dop853", rtol=1e-11, atol=1e-13
    )  # fmt: skip
    # spec 2: tight, K_s = 1e4 at t = 1
    assert found.q[-1, 6:] == pytest.approx([-0.0502377186, -0.0001139901, 0.0058643175], abs=1e-7)
    assert found.audit["energy_residual"] < 1e-10


def test_stiff_springs_come_to_the_closed_robot_as_one_over_their_stiffness():
    q = run_robot("reduced", 0.3).q[-1]
    how = {"closure_prestretch": True, "integrator": "radau"}
    off = [np.abs(run_robot("springs", 0.3, closure_stiffness=K, **how).q[-1] - q).max() for K in (1e5, 1e6)]
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.2)


@pytest.mark.parametrize("form", ["elongation", "loop-difference", "polar", "squared"])
def test_energy_closes_with_springs_of_every_form(form):
    found = run_robot("springs", 0.3, closure_stiffness=1e5, closure_form=form, integrator="dop853")
    assert found.audit["energy_residual"] < 1e-9


def test_index_3_steps_close_the_loops_and_converge_with_the_second_order():
    exact = run_robot("multipliers", 0.5).q[-1]
    off = []
    for h in (1e-2, 5e-3):
        found = run_robot("implicit", 0.5, integrator="generalised_alpha", step=h)
        values, _ = Loops(prepare(found.model)).errors(found.q, found.v)
        assert np.max(np.abs(values)) < 1e-12
        off.append(np.abs(found.q[-1] - exact).max())
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.2)


def test_baumgarte_closes_what_is_open_as_a_critically_damped_oscillator():
    model, rate = rose_robot(), 7.0
    handle = Prepared(model, closure=Multipliers(baumgarte=rate))
    q, v = model.q0 + 1e-3 * np.sin(np.arange(9.0)), model.v0 + 1e-2 * np.cos(np.arange(9.0))
    loops = Loops(handle)
    values, rates = loops.errors(q, v)
    assert np.max(np.abs(values)) > 1e-4
    second = loops.jacobian(q) @ handle.forward_dynamics(q, v) + loops.second_rates(q, v)
    assert second == pytest.approx(-2.0 * rate * rates - rate**2 * values, abs=1e-11)


def test_flexible_legs_move_alike_with_every_closure():
    case = CASES["parallel-3rrr"]
    model = case.build(case.resolve({"links": "flexible", "bending_stiffness": 500.0}))
    runs = {
        name: pliant.simulate(model, 0.1, closure=name, rtol=1e-9, atol=1e-11) for name in ("multipliers", "reduced")
    }
    assert np.max(np.abs(runs["multipliers"].q[-1] - runs["reduced"].q[-1])) < 1e-7
    for found in runs.values():
        assert found.audit["constraint_drift"] < 1e-13
        assert found.audit["energy_residual"] < 1e-9


# --- mechanisms with closed forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("four-bar", {}),
        ("four-bar", {"drive": "speed"}),
        ("slider-crank", {}),
        ("slider-crank", {"drive": "speed", "gravity": 9.81}),
        ("five-bar", {}),
        ("stewart", {}),
    ],
)
def test_mechanisms_stay_on_their_closed_forms(name, given, closure):
    case = CASES[name]
    found = pliant.simulate(case.build(case.resolve(given)), 0.5, closure=closure, rtol=1e-9, atol=1e-11)
    assert found.is_ok, found.reason
    assert case.figures(found)["pose_error"] < 1e-12
    # the tolerance of a step, several hundred of them
    assert found.audit["energy_residual"] < 1e-8
    assert found.audit["constraint_drift"] < 1e-13


def test_four_bar_in_space_has_redundant_constraints_and_swings_as_in_its_plane():
    flat = CASES["four-bar"].build(CASES["four-bar"].resolve({}))
    # a frame rotated about x takes the whole linkage out of x-y: all five constraints of its pin count
    tilt = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    joints = [
        Joint(joint.name, "revolute", joint.child, q0=joint.q0, v0=joint.v0,
              parent=Frame("world", _upright(joint), tilt) if joint.name != "knee" else joint.parent)
        for joint in flat.joints
    ]  # fmt: skip
    space = Model("upright", flat.bodies, tuple(joints), gravity=(0, 0, -9.81), loops=flat.loops, keep=flat.keep)
    ways = mobility(space)
    assert (ways.conditions, ways.rank, ways.freedom) == (5, 2, 1)
    for closure in ("multipliers", "reduced"):
        one = pliant.simulate(flat, 1.0, rtol=1e-10, atol=1e-12, closure=closure)
        other = pliant.simulate(space, 1.0, rtol=1e-10, atol=1e-12, closure=closure)
        assert other.q[-1] == pytest.approx(one.q[-1], abs=1e-8)


def _upright(joint):
    place = joint.parent.position if isinstance(joint.parent, Frame) else (0.0, 0.0, 0.0)
    return (place[0], 0.0, place[1])


def test_bricard_linkage_moves_though_counting_says_it_cannot():
    # orthogonal Bricard: six unit links, axes at right angles in turn; Kutzbach counts 0, it has one freedom
    frames = []
    for k in range(6):
        a = np.pi / 2 if k % 2 == 0 else -np.pi / 2
        R = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
        frames.append(tuple(map(tuple, R.tolist())))
    guess = [np.deg2rad(x) for x in (80, -100, 80, -100, 80, -100)]
    bodies = [Body(f"b{k}", mass=1.0, shape=Rod(1.0, radius=0.05)) for k in range(6)]
    joints = [Joint("j0", "revolute", "b0", q0=guess[0])]
    joints += [
        Joint(f"j{k}", "revolute", f"b{k}", parent=Frame(f"b{k - 1}", (1.0, 0.0, 0.0), frames[k - 1]), q0=guess[k])
        for k in range(1, 6)
    ]
    model = Model(
        "bricard", tuple(bodies), tuple(joints), gravity=(0, 0, -9.81),
        loops=(Loop("last", "fixed", first="world", second=Frame("b5", (1.0, 0.0, 0.0), frames[5])),), duration=0.3,
    )  # fmt: skip
    try:
        q, _ = assemble(model)
    except ModelError as error:
        pytest.fail(str(error))
    ways = mobility(model, q)
    assert ways.rank == 5
    assert ways.freedom == 1
    found = pliant.simulate(model, 0.2, rtol=1e-9, atol=1e-11)
    assert found.is_ok, found.reason
    assert found.audit["constraint_drift"] < 1e-12
    assert found.audit["energy_residual"] < 1e-8
    # it has moved
    assert np.max(np.abs(found.q[-1] - found.q[0])) > 1e-3


def test_forward_and_inverse_kinematics_of_the_platform_are_each_other():
    model = rose_robot()
    q, _ = assemble(model, keep={"pose": (0.03, -0.02, 0.1)})
    assert q[6:] == pytest.approx([0.03, -0.02, 0.1])
    back, _ = assemble(model, q=q + np.array([0, 0.05, 0, -0.04, 0, 0.03, 0.02, 0.01, -0.05]), keep=MOTORS)
    motors = [0, 2, 4]
    assert back[motors] == pytest.approx(q[motors])
    assert back == pytest.approx(q, abs=1e-12)


def test_assembly_from_a_rough_guess_closes_to_rounding():
    model = rose_robot()
    rough = model.q0 + 0.1 * np.random.default_rng(3).normal(size=9)
    q, v = assemble(model, rough, np.ones(9), keep=())
    values, rates = Loops(prepare(model)).errors(q, v)
    assert np.max(np.abs(values)) < 1e-14
    assert np.max(np.abs(rates)) < 1e-14


# --- what is refused --------------------------------------------------------------------------------------------


def triangle(length=1.0, **more):
    """Two links that meet over a base of 1 m: no freedom left."""
    return Model(
        "truss",
        (Body("a", mass=1.0, shape=Rod(length)), Body("b", mass=1.0, shape=Rod(length))),
        (
            Joint("left", "revolute", "a", q0=0.8),
            Joint("right", "revolute", "b", parent=Frame("world", (1.0, 0, 0)), q0=2.3),
        ),
        gravity=(0, -9.81, 0),
        loops=(Loop("top", "revolute", first=Frame("a", (length, 0, 0)), second=Frame("b", (length, 0, 0))),),
        duration=1.0,
        **more,
    )  # fmt: skip


def test_a_truss_is_refused_as_over_closed():
    with pytest.raises(ModelError, match=r"model 'truss': its loops leave no motion \(2 velocities, 2 independent"):
        pliant.simulate(triangle())


def test_a_loop_that_cannot_close_is_named_with_what_is_missing():
    with pytest.raises(ModelError, match=r"the loops cannot be closed from this start: loop 'top' stays 0\.2"):
        pliant.simulate(triangle(length=0.4))


def test_a_singular_start_is_refused():
    case = CASES["four-bar"]
    settings = case.resolve({"ground": 1.0, "crank": 0.3, "coupler": 1.0, "rocker": 0.3, "angle": 0.5})
    model = case.build(settings)
    flat = np.zeros(3)  # all links of the parallelogram in one line
    with pytest.raises(ModelError, match=r"the start is a singular pose"):
        pliant.simulate(model, q0=flat, v0=flat)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"closure": "spring"}, r"closure 'spring' is not known; did you mean 'springs'\?"),
        ({"closure": "reduced", "integrator": "radau"}, r"closure 'reduced' does not go with integrator 'radau'"),
        ({"closure": "implicit"}, r"closure 'implicit' does not go with integrator .*generalised_alpha"),
        (
            {"closure_stiffness": 1e3},
            r"closure_stiffness has no effect with closure 'multipliers'; it belongs to springs",
        ),
        ({"closure": "springs", "closure_stiffness": -1.0}, r"closure_stiffness: -1\.0 found"),
    ],
)
def test_closures_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ModelError, match=message):
        pliant.simulate(CASES["four-bar"].build(CASES["four-bar"].resolve({})), 0.1, **options)


def test_closure_of_a_model_without_loops_is_refused():
    model = CASES["two-link-arm"].build(CASES["two-link-arm"].resolve({}))
    with pytest.raises(ModelError, match=r"closure has no effect: model 'two-link-arm' has no loops"):
        pliant.simulate(model, 0.1, closure="springs")


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        (dict(first="nowhere", second="a"), r"loop 'x': first 'nowhere' does not exist"),
        (dict(first="a", second=Frame("a", (1, 0, 0))), r"loop 'x': both frames are on 'a'"),
        (dict(first="a", second="b", kind="distance"), r"a distance loop needs its length"),
        (dict(first="a", second="b", kind="spherical", axis=(1, 0, 0)), r"axis has no effect in a spherical loop"),
        (dict(first="a", second="b", length=1.0), r"length has no effect in a revolute loop"),
    ],
)
def test_loops_that_make_no_sense_are_refused(loop, message):
    model = triangle()
    with pytest.raises(ModelError, match=message):
        Model("m", model.bodies, model.joints, loops=(Loop("x", **({"kind": "revolute"} | loop)),))


def test_a_path_out_of_reach_says_from_when_on_and_which_leg():
    with pytest.raises(ModelError, match=r"r0: the path of size 0\.9 m is out of reach from t = .* s on: leg \d"):
        rose_robot(r0=0.9)
    model = rose_robot()
    t = np.linspace(0.0, 1.0, 11)
    x = np.column_stack([t, np.zeros(11), np.zeros(11)])
    with pytest.raises(ModelError, match=r"leaves what the mechanism reaches from t = 0\.\d+ s on: .*loop 'leg"):
        pliant.closed_motion(model, {"pose": (x, x * 0, x * 0)}, t=t)


def test_motors_that_cannot_move_it_are_refused():
    model = rose_robot()
    q, v, vdot = on_path(model, np.array([0.1]))
    with pytest.raises(ModelError, match=r"motors at motor1 cannot make this motion"):
        pliant.motor_forces(model, q[0], v[0], vdot[0], motors=["motor1"])


@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_a_parallelogram_goes_through_its_dead_points_as_the_pendulum_it_is(gravity, closure):
    """Crank and rocker stay parallel, the coupler only shifts: one equation, though at every half revolution the loop
    alone would let it fold."""
    case, a, density = CASES["four-bar"], 0.3, 2.0
    lengths = {"ground": 1.0, "crank": a, "coupler": 1.0, "rocker": a, "density": density}
    settings = case.resolve({**lengths, "angle": 0.5, "speed": 10.0, "gravity": gravity})
    found = pliant.simulate(case.build(settings), 2.0, rtol=1e-10, atol=1e-12, closure=closure)
    rods, coupler = 2.0 * density * a, density * 1.0
    inertia = (rods / 3.0 + coupler) * a**2

    def swing(t, y):
        return [y[1], -gravity * np.cos(y[0]) * a * (0.5 * rods + coupler) / inertia]

    exact = solve_ivp(swing, (0.0, 2.0), [0.5, 10.0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    motor, _, pivot = found.q.T
    assert found.is_ok
    assert motor[-1] > 0.5 + 6.0 * np.pi  # six dead points
    assert np.max(np.abs(motor - pivot)) < 1e-11
    # a step that ends beside a dead point sees the loop almost not
    assert [motor[-1], found.v[-1, 0]] == pytest.approx(exact, abs=1e-6)


def test_reactions_at_other_times_are_those_of_the_run_itself():
    found = run_robot("springs", 0.02, closure_stiffness=1e6, integrator="dop853")
    rows = found.outputs_at(found.t)["reaction_leg1"]
    # dense output of order 7, steps of 1e-4 s, times the stiffness
    assert np.max(np.abs(rows - found.outputs["reaction_leg1"])) < 1e-5
    # springs that start without stretch do not push yet, where the closed robot needs 4 N
    assert np.max(np.abs(rows[0])) < 1e-6
    assert np.hypot(*exact_motion(ROBOT, np.zeros(1), 0.05, "uniform").multipliers[0, :2]) > 4.0


def test_robot_on_virtual_springs_accelerates_as_the_equations_written_by_hand():
    by_hand = NumpyRobot()
    y = by_hand.start() + 1e-3 * np.sin(np.arange(18.0))
    handle = Prepared(rose_robot(), "denoc", closure=Springs(1e6))
    rates = by_hand.rates(0.1, y)[9:]
    # two splines of the torques, of 1 ms and 0.5 ms
    assert np.max(np.abs(handle.forward_dynamics(y[:9], y[9:], t=0.1) - rates)) < 1e-8 * np.max(np.abs(rates))


# --- minimal coordinates ------------------------------------------------------------------------------------------


def imposed(model, far, seed=0):
    """(state, the same after one evaluation of a start whose dependent hinges were off by `far` rad, legs) of a run."""
    from pliant.kernels import _jit, repeat

    run = pliant.prepare_run(model, 1e-6, closure="reduced", integrator="dopri5")
    run.end()
    handle, y = run.handle, run.memory.y.copy()
    work, n_q = handle.work, len(model.coordinates)
    dependent = work.column_order[: work.closure[0].n_active]
    moved, ydot = y.copy(), np.empty_like(y)
    rng = np.random.default_rng(seed)
    moved[dependent] += far * rng.choice([-1.0, 1.0], len(dependent))
    moved[n_q + dependent] += far
    enter = _jit.entry(repeat.repeat_derivative)
    assert enter(int(work.calls[0].derivative), 1, *handle.refs, 0.0, moved, ydot) == 0
    legs = [tuple(row)[:2] for row in work.legs if row.inner >= 0]
    return y[: n_q + len(model.velocities)], moved[: n_q + len(model.velocities)], legs


@pytest.mark.parametrize(
    ("name", "given", "legs"),
    [
        ("parallel-3rrr", {}, [(0, 1), (2, 3), (4, 5)]),
        ("four-bar", {}, [(1, 2)]),
        ("five-bar", {}, [(1, 3)]),
        ("slider-crank", {}, []),
    ],
)
def test_dependent_hinges_follow_in_closed_form_from_far_away(name, given, legs):
    case = CASES[name]
    model = case.build(case.resolve(given))
    far = 0.3 if legs else 1e-3
    wanted, found, closed = imposed(model, far)
    assert closed == legs
    assert found == pytest.approx(wanted, abs=1e-13)


def test_joints_that_the_model_keeps_are_the_independent_ones():
    model = rose_robot()
    handle = pliant.prepare_run(model, 1e-6, closure="reduced").handle
    free = handle.work.column_order[handle.work.closure[0].n_active :]
    assert sorted(model.velocities[j] for j in free) == ["pose.angle", "pose.x", "pose.y"]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_more_conditions_than_lanes_accelerate_alike_over_every_formulation(formulation):
    case = CASES["stewart"]
    model = case.build(case.resolve({}))
    assert len(Loops(prepare(model)).scales) > 8
    q, v = assemble(model)
    wanted = pliant.forward_dynamics(model, q, v)
    # every leg moves beside its loop
    found = pliant.forward_dynamics(model, q, v, formulation=formulation)
    assert found == pytest.approx(wanted, abs=1e-10 * np.max(np.abs(wanted)))
    loops = Loops(prepare(model))
    assert np.max(np.abs(loops.jacobian(q) @ found + loops.second_rates(q, v))) < 1e-10 * np.max(np.abs(wanted))


@pytest.mark.parametrize("form", ["elongation", "loop-difference", "polar", "squared"])
def test_prestretched_springs_of_every_form_begin_with_the_reactions_of_the_closed_robot(form):
    """spec 2: lambda(0); the polar form also pulls at its place, by c/p."""
    stretched = {"closure_stiffness": 1e7, "closure_form": form, "closure_prestretch": True}
    found = run_robot("springs", 1e-3, integrator="dop853", **stretched)
    exact = exact_motion(ROBOT, np.zeros(1), 0.05, "uniform").multipliers[0].reshape(3, 2)
    for leg in range(3):
        # in axes of the lower link
        turn = found.q[0, 2 * leg] + found.q[0, 2 * leg + 1]
        c, s = np.cos(turn), np.sin(turn)
        x, y = found.outputs[f"reaction_leg{leg + 1}"][0, :2]
        near = {"polar": 1e-4, "squared": 0.05}.get(form, 1e-6)
        assert [c * x - s * y, s * x + c * y] == pytest.approx(exact[leg], abs=near * np.max(np.abs(exact)))


def test_motors_go_on_lap_after_lap():
    model = rose_robot(r0=0.02)
    found = pliant.simulate(model, 9.0, rtol=1e-9, atol=1e-11, closure="multipliers")
    end = on_path(model, np.array([9.0]), r0=0.02)[0][0]
    assert found.q[-1] == pytest.approx(end, abs=1e-7)


def test_motors_of_stiff_beams_are_those_of_rods():
    """A beam has the inertia m l^2 / 12, whatever I1 and I2 say: the robot that is almost rigid stays on its path."""
    case = CASES["parallel-3rrr"]
    settings = {"links": "flexible", "m1": 6.0, "m2": 8.0, "I1": 0.3, "bending_stiffness": 2e5}
    found = pliant.simulate(case.build(case.resolve(settings)), 0.1, rtol=1e-7, atol=1e-9)
    assert case.figures(found)["e_p_max"] < -6.5
    assert found.outputs["torque1"][0, 0] == pytest.approx(case.figures(found)["tau0_1"], abs=1e-9)


def test_runs_of_the_study_differ_only_in_what_their_names_say():
    case = CASES["parallel-3rrr"]
    given = {"method": "all", "damping": "1000", "prestretch": "true", "constraint_form": "polar", "stiffness": "123"}
    plain, asked = (case.variants(case.resolve(settings)) for settings in ({"method": "all"}, given))
    assert {label: one.options for label, one in asked.items()} == {label: one.options for label, one in plain.items()}
    assert set(case.unused(case.resolve(given))) >= set(given) - {"method"}


def test_page_of_one_run_shows_its_errors_over_time_and_forces_beside_the_exact_ones(tmp_path):
    from pliant.command.job import prepare_job, run_job

    asked = {"method": "springs", "damping": "1000", "duration": "0.5", "rtol": "1e-6"}
    outcome = run_job(prepare_job("parallel-3rrr", asked, tmp_path))
    errors, forces = outcome.findings[0].charts
    for name, key in (("e_p", "e_p_max"), ("e_c", "e_c_max")):
        y = next(y for label, _, y in errors.curves if label.startswith(name))
        assert np.max(y) <= outcome.figures[key]
        assert np.max(y) > outcome.figures[key] - 0.5
    exact = {label: y for label, _, y in forces.curves}
    late = slice(len(exact["leg 1"]) // 2, None)
    for leg in ("leg 1", "leg 2", "leg 3"):
        assert exact[leg][late] == pytest.approx(exact[f"{leg}, exact"][late], rel=0.05)
    assert "Errors over time" in (tmp_path / "report.html").read_text()


def test_every_way_of_closing_is_compared_in_one_job(tmp_path):
    from pliant.command.job import prepare_job, run_job

    outcome = run_job(prepare_job("parallel-3rrr", {"method": "all", "duration": "0.4"}, tmp_path))
    ways, said = outcome.findings
    kinds = [row[0].split()[0] for row in ways.rows]
    assert set(kinds) >= {"reduced", "multipliers", "implicit", "springs", "damped", "stretched", "polar", "squared"}
    words = {statement: held.split()[0].rstrip(":") for statement, held in said.rows}
    assert len(words) == 9
    assert words["minimal coordinates are cheaper"] == "holds"
    assert words["cost grows as the root of the stiffness"] == "holds"
    # spec 2: loop differences and polar products converge as one over the stiffness, |c|^2 does not
    assert words["conditions must be elongations of springs"] == "fails"
    assert "loop-difference and polar close" in dict(said.rows)["conditions must be elongations of springs"]
    # a closed robot, and springs that open as one over their stiffness
    figures = outcome.figures
    assert figures["reduced_e_c_max"] < -13.0
    assert figures["springs_1e07_e_c_max"] == pytest.approx(figures["springs_1e06_e_c_max"] - 1.0, abs=0.1)
    assert (tmp_path / "report.html").stat().st_size < 12_000_000
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [finding["title"] for finding in summary["findings"]] == [ways.title, said.title]


# --- what callers may get wrong ---------------------------------------------------------------------------------------


def bar(**settings):
    case = CASES["four-bar"]
    return case.build(case.resolve(settings))


NAN = float("nan")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"motor": 1.0}, "give .value, rate, acceleration."),
        ({"motor": (1.0, 1.0)}, "found; give .value, rate, acceleration."),
        ({"motor": ("x", 1.0, 0.0)}, "give .value, rate, acceleration."),
        ({"motor": (NAN, 1.0, 0.0)}, "value is not finite"),
        ({"motor": ([1.0, 1.1, 1.2], [1.0, 1.0], [0.0, 0.0, 0.0])}, "paths of 2, 3 rows"),
        ({}, "no joint does not determine the whole motion: 1 freedom"),
        ({"motor": (1.0, 0.0, 1.0), "pivot": (None, 0.0, 0.0)}, "accelerations given tear loop 'pin' apart"),
    ],
)
def test_motions_that_cannot_be_completed_are_refused(given, message):
    model = bar()
    q = assemble(model)[0]
    given = {
        name: three if not isinstance(three, tuple) else tuple(q[2] if x is None else x for x in three)
        for name, three in given.items()
    }
    with pytest.raises(ModelError, match=message):
        pliant.closed_motion(model, given)


def test_motor_forces_of_what_is_no_motion_are_refused():
    model = bar()
    q, _ = assemble(model)
    still = np.zeros(3)
    with pytest.raises(ModelError, match=r"q is no pose of the mechanism: loop 'pin'"):
        pliant.motor_forces(model, still, still, still, motors="motor")
    with pytest.raises(ModelError, match=r"v is no motion of it: loop 'pin'"):
        pliant.motor_forces(model, q, np.ones(3), still, motors="motor")
    with pytest.raises(ModelError, match=r"accelerations given tear loop 'pin'"):
        pliant.motor_forces(model, q, still, np.array([1.0, 0.0, 0.0]), motors=["motor"])
    with pytest.raises(ModelError, match=r"motors: no joint 'moter'"):
        pliant.motor_forces(model, q, still, still, motors="moter")
    assert np.isfinite(pliant.motor_forces(model, q, still, still, motors="motor").tau).all()


@pytest.mark.parametrize("value", [NAN, (1.0, 2.0), "thirty", None])
def test_values_to_be_kept_are_numbers(value):
    with pytest.raises(ModelError, match=r"keep: 'motor': .*motor"):
        assemble(bar(), keep={"motor": value})


def test_values_to_be_kept_may_be_degrees_and_one_joint_a_word():
    model = bar()
    assert assemble(model, keep={"motor": "50 deg"})[0][0] == pytest.approx(np.deg2rad(50.0), abs=1e-15)
    assert assemble(model, keep="motor")[0][0] == model.q0[0]


def test_a_crank_that_turns_round_is_assembled_from_any_guess():
    """Grashof: crank .3, others .9, .7, ground 1: every crank angle closes, beside stretched poses, too."""
    model, rng = bar(), np.random.default_rng(1)
    loops = Loops(prepare(model))
    for _ in range(200):
        guess = rng.uniform(-np.pi, np.pi, 3)
        q, _ = assemble(model, guess)
        assert q[0] == guess[0]
        assert np.max(np.abs(loops.errors(q, np.zeros(3))[0])) < 1e-12
    stretched, _ = assemble(model, np.zeros(3), keep=())
    assert np.max(np.abs(loops.errors(stretched, np.zeros(3))[0])) < 1e-12


@pytest.mark.parametrize("closure", ["multipliers", "reduced"])
def test_a_mechanism_driven_into_its_dead_point_says_so_at_once(closure):
    """crank .8 rotates until coupler and rocker are stretched: 1 + .64 - 1.6 cos = 1.6^2."""
    found = pliant.simulate(bar(crank=0.8, drive="speed"), 1.0, closure=closure)
    when = (np.arccos((1.64 - 1.6**2) / 1.6) - 1.0) / (2.0 * np.pi)
    assert "singular pose (loop 'pin')" in found.reason
    assert found.t[-1] == pytest.approx(when, abs=1e-6)
    assert found.stats["steps"] < 20_000


def scissor(stages, length=0.6, start=0.6):
    """Pairs of bars pinned in their middles, pair upon pair; the foot of the first slides on x."""
    bodies, joints, loops, half = [], [], [], 0.5 * length
    for k in range(stages):
        turning = (0.001, 0.5 * length**2 / 12.0, 0.5 * length**2 / 12.0)
        bodies += [Body(f"a{k}", mass=0.5, shape=Rod(length)), Body(f"b{k}", mass=0.5, inertia=turning)]
        below = Frame(f"b{k - 1}", (-half, 0, 0)) if k else "world"
        joints.append(Joint(f"a{k}", "revolute", f"a{k}", parent=below, q0=2.0 * start if k else start))
        joints.append(Joint(f"b{k}", "revolute", f"b{k}", parent=Frame(f"a{k}", (half, 0, 0)), q0=-2.0 * start))
        foot = Frame(f"b{k}", (half, 0, 0))
        if k == 0:
            loops.append(Loop("slide", "point-on-line", first="world", second=foot, axis=(1, 0, 0)))
        else:
            loops.append(Loop(f"pin{k}", "revolute", first=Frame(f"a{k - 1}", (length, 0, 0)), second=foot))
    return Model("scissor", tuple(bodies), tuple(joints), loops=tuple(loops), gravity=(0, -9.81, 0))


def test_bars_that_all_lie_on_each_other_go_through():
    """A scissor lift falls flat, and out on the other side; all pairs stay alike."""
    steps = {"closure": "implicit", "integrator": "generalised_alpha", "step": 1e-3}
    for options in ({}, {"rtol": 1e-5}, {"rtol": 1e-11}, {"formulation": "denoc"}, {"closure": "reduced"}, steps):
        found = pliant.simulate(scissor(3), 1.0, **options)
        assert found.is_ok, found.reason
        assert found.q[-1, 0] < -1.0
        assert np.max(np.abs(found.q[:, 1::2] + 2.0 * found.q[:, :1])) < 1e-9
        assert found.audit["energy_residual"] < 1e-3


@pytest.mark.parametrize("dense", [True, False])
def test_a_step_whose_projection_is_refused_is_not_accepted(monkeypatch, dense):
    from pliant.simulation import run as run_module

    monkeypatch.setattr(run_module, "PROJECTION_TOLERANCES", 0.0)
    monkeypatch.setattr(run_module, "MAX_PROJECTION", -1.0)
    found = pliant.simulate(bar(), 0.5, closure="multipliers", dense=dense)
    assert not found.is_ok
    assert found.t[-1] == 0.0


def test_prestretch_of_a_loop_that_is_there_twice_leaves_the_start_where_it_is():
    model = bar()
    loop = model.loops[0]
    twice = replace(model, keep=(), loops=(loop, replace(loop, name="again")))
    wanted, _ = assemble(twice)
    found = pliant.simulate(twice, 1e-4, closure="springs", closure_prestretch=True, integrator="radau")
    assert np.max(np.abs(found.q[0] - wanted)) < 1e-4


def test_motor_forces_of_a_state_that_springs_have_held():
    model = bar()
    held = pliant.simulate(model, 0.1, closure="springs", closure_damping=1e3, integrator="radau")
    q, v = held.q[-1], held.v[-1]
    assert np.isfinite(pliant.motor_forces(model, q, v, pliant.forward_dynamics(model, q, v), motors="motor").tau).all()


def test_one_condition_that_no_longer_tells_is_named():
    """A cart is pulled by a rod from a pin that drives away across its rail: the rod comes to stand at right angles."""
    away = pliant.Table((0.0, 1.0), (0.6, 1.6), smooth=True)
    model = Model(
        "rod", (Body("cart", mass=1.0), Body("pin", mass=1.0)),
        (Joint("rail", "prismatic", "cart", axis=(1, 0, 0), q0=0.8),
         Joint("drive", "prismatic", "pin", axis=(0, 1, 0), motion=away)),
        loops=(Loop("rod", "distance", first="cart", second="pin", length=1.0),), gravity=(0, 0, 0),
    )  # fmt: skip
    found = pliant.simulate(model, 0.9)
    assert "singular pose (loop 'rod')" in found.reason
    assert found.t[-1] == pytest.approx(0.4, abs=1e-5)
