"""Semi-implicit integrators: conditions of order, stages against dense algebra, order on modes and in contacts,
agreement with other methods, cost, refusals."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import pliant
from integrator_runs import slope
from order_conditions import elementary_weights
from pliant import Body, Contact, Frame, Joint, Limit, Model, NormalLaw, Plane, Rod, Spring, Transmission
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from pliant.kernels import dynamics
from pliant.kernels._jit import DERIVATIVE, EVENTS, STAGE, STATE, address, entry, kernel
from pliant.kernels.integrators import ark_table
from pliant.kernels.integrators.tableaus import TABLEAUS
from pliant.model.flexible import Beam, Bending, Damping, Material, Rectangle
from pliant.simulation.run import _install_stages
from pliant.simulation.simulate import simulate
from pliant_benchmarks.models import blades
from zoo import ZOO

call_derivative, call_stage, call_state = DERIVATIVE.call, STAGE.call, STATE.call
NAMES = ("ark4", "ark5")
both = pytest.mark.parametrize("name", NAMES)


# --- coefficients -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "count"), [("ark4", 14), ("ark5", 44)])
def test_tableaus_meet_every_condition_of_their_order_and_no_more(name, count):
    """Rounding of sums of numbers up to 15: 1e-14. The embedded weights are one order lower."""
    tableau = TABLEAUS[name]
    s, p = tableau.n_stages, tableau.order
    explicit, implicit = tableau.A[:s, :s], tableau.A[s:, :s]
    weights = {p: implicit[-1], p - 1: implicit[-1] - tableau.E[0, :s]}
    conditions = elementary_weights((explicit, implicit), p + 1)
    assert sum(n <= p for n, _, _ in conditions) == count
    for order, b in weights.items():
        defects = [(n, abs(b @ phi - 1.0 / gamma)) for n, phi, gamma in conditions]
        assert max(defect for n, defect in defects if n <= order) < 1e-14
        assert max(defect for n, defect in defects if n == order + 1) > 1e-3
    assert np.allclose(tableau.c[:s], explicit.sum(axis=1), rtol=0.0, atol=1e-14)


def test_quartic_of_the_dense_output_meets_the_conditions_of_order_4():
    """r4 is what the cubic of Hermite lacks of theta^4: sums of d Phi are 1/gamma for trees of order 4, 0 below.
    Rounding: the numbers are up to 15, 9 of them are added."""
    tableau = TABLEAUS["ark5"]
    s = tableau.n_stages
    tableaus = []
    for A in (tableau.A[:s, :s], tableau.A[s:, :s]):
        # the derivative at the end is one more stage
        tableaus.append(np.vstack([np.pad(A, ((0, 0), (0, 1))), np.append(tableau.A[-1, :s], 0.0)]))
    for n, phi, gamma in elementary_weights(tableaus, 4):
        assert tableau.D[0] @ phi == pytest.approx(1.0 / gamma if n == 4 else 0.0, abs=1e-13), n


def test_tables_are_the_fractions_of_the_paper():
    """Of each a few, by their denominators: what is divided is exactly representable."""
    assert ark_table.ARK4_E[5][4] == float(Fraction(4040, 17871))
    assert ark_table.ARK4_I[5] == {
        0: 82889 / 524892,
        2: 15625 / 83664,
        3: 69875 / 102672,
        4: -2260 / 8211,
        5: 0.25,
    }
    assert ark_table.ARK5_I[2][0] == 41 / 400
    assert np.isclose(sum(ark_table.ARK5_E[6].values()), 3 / 5, rtol=0, atol=1e-14)


# --- stages -------------------------------------------------------------------------------------------------------


@kernel(EVENTS)
def evaluated(system, work, t, y, y_hat, k, how):
    """k = H(y, y_hat + step k), how = (step, 1: in the phase of y); f(y) with step 0."""
    n_q, n_v = system.world[0].n_q, system.world[0].n_v
    if how[1] == 1.0:
        call_state(work.calls[0].set_phase, (system, work, t, y[:n_q], y[n_q : n_q + n_v]))
    if how[0] == 0.0:
        return call_derivative(work.calls[0].derivative, (system, work, t, y, k))
    return call_stage(work.calls[0].stage, (system, work, t, y, y_hat, how[0], k))


class Stages:
    """Right-hand side and stages of a model at will; is_pressed: contacts and stops act, whatever the state."""

    def __init__(self, model, closure=None, is_pressed=False):
        self.handle = Prepared(model, closure=closure)
        _install_stages(self.handle)
        self.handle.work.calls[0].derivative = address(dynamics.derivative)
        world = self.handle.system.world[0]
        self.n_q, self.n_v, self.n_z = int(world.n_q), int(world.n_v), int(world.n_z)
        self.is_free = 1.0
        if is_pressed:
            work, self.is_free = self.handle.work, 0.0
            work.phase.is_active, work.phase.is_pushing, work.phase.impact_speed = 1, 1, 1.0
            work.run[0].n_touching = len(self.handle.system.contacts)

    def state(self, q, v):
        return np.concatenate([q, v, np.zeros(self.n_z)])

    def __call__(self, y, y_hat=None, step=0.0):
        k = np.zeros(len(y))
        y_hat = y if y_hat is None else y_hat
        how = np.array([step, self.is_free])
        assert entry(evaluated)(*self.handle.refs, 0.0, y.copy(), y_hat.copy(), k, how) == 0
        return k[: self.n_q + self.n_v]

    def added_inertia(self, y, step):
        """G of the solve (M + G) k = ..: a change x of v_hat changes k by -(M + G)^-1 G x / step, so M = (M + G)
        (1 + step dk/dx)."""
        n_q, still = self.n_q, self(y, y, step)[self.n_q :]
        S = np.zeros((self.n_v, self.n_v))
        for j in range(self.n_v):
            y_hat = y.copy()
            y_hat[n_q + j] += 1.0
            S[:, j] = self(y, y_hat, step)[n_q:] - still
        M = self.handle.mass_matrix(y[:n_q])
        return M @ np.linalg.inv(np.eye(self.n_v) + step * S) - M

    def slopes(self, q):
        """K and D of the forces at rest in q, by central differences of M f along velocities; M is that of q."""
        M, still = self.handle.mass_matrix(q), np.zeros(self.n_v)
        K, D = np.zeros_like(M), np.zeros_like(M)
        for j in range(self.n_v):
            d = 1e-6 * np.eye(self.n_v)[j]
            there, back = (self(self.state(q + sign * d, still))[self.n_q :] for sign in (1.0, -1.0))
            K[:, j] = M @ (back - there) / 2e-6
            there, back = (self(self.state(q, sign * d))[self.n_q :] for sign in (1.0, -1.0))
            D[:, j] = M @ (back - there) / 2e-6
        return K, D


def beam(name, **more):
    return Beam(
        name,
        length=0.4,
        bending_y=Bending(2, "ss"),
        stretch=1,
        material=Material(2.1e11, 7850.0),
        section=Rectangle(0.004, 0.02),
        theory="euler-bernoulli",
        damping=Damping(stiffness_time=1e-4),
        **more,
    )


def rod(name):
    return Body(name, 1.0, shape=Rod(0.5))


def arm(first, second, **more):
    """Two links in the plane without gravity, springs and dampers in both joints."""
    joints = (
        Joint("one", "revolute", first.name, stiffness=50.0, damping=0.3),
        Joint("two", "revolute", second.name, Frame(first.name, (0.4, 0.0, 0.0)), stiffness=20.0, damping=0.1),
    )
    return Model(name="arm", gravity=(0.0, 0.0, 0.0), bodies=(first, second), joints=joints, **more)


FLOOR = Plane(normal=(0.0, 1.0, 0.0))
VISCO = NormalLaw("kelvin-voigt", 1e4, damping=30.0)
AT_REST = {  # no force acts: slopes of forces are those of the springs alone
    "hinges": arm(rod("a"), rod("b")),
    "beams": arm(beam("a"), beam("b")),
    "contact on a rigid link": arm(
        rod("a"), rod("b"), contacts=(Contact("c", VISCO, FLOOR, points=(Frame("b", (0.3, 0.0, 0.0)),)),)
    ),
    "contact on a beam": arm(
        beam("a"), beam("b"), contacts=(Contact("c", VISCO, FLOOR, points=(Frame("b", (0.4, 0.0, 0.0)),)),)
    ),
    "contact between two": arm(
        beam("a"),
        rod("b"),
        contacts=(
            Contact("c", VISCO, Plane(place=Frame("a", (0.2, 0.0, 0.0)), normal=(0.0, 1.0, 0.0)),
                    points=(Frame("b", (0.3, 0.0, 0.0)),)),
        ),
    ),
    "flexible joint": Model(
        name="elbow",
        gravity=(0.0, 0.0, 0.0),
        bodies=(beam("a"), rod("b")),
        joints=(
            Joint("one", "revolute", "a", transmission=Transmission(300.0, damping=0.4), armature=0.05, damping=0.2),
            Joint("two", "revolute", "b", Frame("a", (0.4, 0.0, 0.0)), transmission=Transmission(40.0), armature=0.02),
        ),
    ),
    "spring between places": arm(
        beam("a"), rod("b"),
        springs=(Spring("s", Frame("a", (0.3, 0.0, 0.0)), Frame("b", (0.2, 0.3, 0.0)), 3e3, damping=4.0),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_REST)
@pytest.mark.parametrize("step", [1e-4, 1e-2])
def test_stage_solves_m_plus_damping_and_stiffness_as_dense_algebra_does(name, step):
    """G = step D + step^2 K, K and D by differences: their truncation is 1e-12 of curvatures, rounding 1e-10."""
    stages = Stages(AT_REST[name], is_pressed=True)
    q = np.array(stages.handle.model.q0)
    K, D = stages.slopes(q)
    expected = step * D + step**2 * K
    found = stages.added_inertia(stages.state(q, np.zeros(stages.n_v)), step)
    assert np.abs(expected).max() > 1e-4 * step  # there is something to be found
    assert np.allclose(found, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("step", [1e-4, 0.03])
def test_stage_whose_two_points_meet_is_the_right_hand_side(name, step):
    """H(y, y) = f(y) however large K and D weigh: what they add must vanish, bias and gravity of masses in contact,
    responses of sticking points and loops among it. Rounding: that of M + G, whose condition is up to 1e4."""
    rng, stages = np.random.default_rng(3), Stages(ZOO[name])
    model = stages.handle.model
    small = np.array([1e-3 if ".mode" in each else 0.02 for each in model.coordinates])
    y = stages.state(np.array(model.q0) + small * rng.normal(size=stages.n_q), 0.3 * rng.normal(size=stages.n_v))
    f = stages(y)
    y_hat = y.copy()
    y_hat[: len(f)] -= step * f
    k = stages(y, y_hat, step)
    assert np.abs(k - f).max() < 1e-10 * np.abs(f).max()


@pytest.mark.parametrize("form", ["elongation", "squared", "polar", "loop-difference"])
def test_stage_with_virtual_springs_is_the_right_hand_side_where_its_points_meet(form):
    stages = Stages(ZOO["four_bar"], pliant.Springs(stiffness=1e5, damping=10.0, form=form))
    model, rng = stages.handle.model, np.random.default_rng(4)
    y = stages.state(np.array(model.q0) + 0.01 * rng.normal(size=stages.n_q), 0.3 * rng.normal(size=stages.n_v))
    f = stages(y)
    y_hat = y.copy()
    y_hat[: len(f)] -= 1e-3 * f
    assert int(stages.handle.work.compliant_jacobian.shape[0]) == 2
    assert np.abs(stages(y, y_hat, 1e-3) - f).max() < 1e-10 * np.abs(f).max()


# --- order --------------------------------------------------------------------------------------------------------


def ringing():
    """A hinged beam without damping that begins to fall: it rings."""
    bar = replace(beam("bar"), stretch=0, damping=Damping(), bending_y=Bending(1, "ss"))
    hinge = Joint("hinge", "revolute", "bar")
    return Model(name="ringing", gravity=(0.0, -9.81, 0.0), bodies=(bar,), joints=(hinge,))


def pressed(second):
    """A slider inside a contact carries a link that swings: bias accelerations at the contact."""
    slider = Body("slider", 1.0, com=(0.2, 0.1, 0.0), inertia=np.eye(3) * 0.02)
    floor = Contact("floor", NormalLaw("hunt-crossley", 1e6, damping=0.2), FLOOR, points=(Frame("slider"),), rests=True)
    joints = (
        Joint("slide", "prismatic", "slider", axis=(0.0, 1.0, 0.0), q0=-1e-3),
        Joint("swing", "revolute", second.name, Frame("slider", (0.1, 0.0, 0.0)), q0=0.4),
    )
    gravity = (0.0, -9.81, 0.0)
    return Model(name="pressed", gravity=gravity, bodies=(slider, second), joints=joints, contacts=(floor,))


def pressed_beam():
    """The tip of a swinging beam inside a contact: masses on its modes."""
    bar = replace(beam("bar"), stretch=0, damping=Damping(), bending_y=Bending(1, "ss"))
    law = NormalLaw("kelvin-voigt", 2e4, damping=5.0)
    floor = Contact("floor", law, FLOOR, points=(Frame("bar", (0.4, 0.0, 0.0)),), rests=True)
    hinge = Joint("hinge", "revolute", "bar", q0=-2e-3)
    return Model(name="tip", gravity=(0.0, -9.81, 0.0), bodies=(bar,), joints=(hinge,), contacts=(floor,))


@both
@pytest.mark.parametrize(
    ("build", "duration", "step"),
    [(ringing, 0.02, 1e-3), (lambda: pressed(rod("link")), 4e-3, 1e-3), (pressed_beam, 2e-3, 2.5e-4)],
    ids=["mode", "contact of a rigid body", "contact of a beam"],
)
def test_error_falls_with_the_order(name, build, duration, step):
    """Inside the contact a mass whose bias is not given back makes the method of first order."""
    model = build()
    exact = simulate(model, duration, integrator="dop853", rtol=1e-13, atol=1e-15)
    steps, errors = step * 2.0 ** -np.arange(3), []
    for h in steps:
        found = simulate(model, duration, integrator=name, step=float(h))
        errors.append(np.abs(found.q[-1] - exact.q[-1]).max())
    order = TABLEAUS[name].order
    assert order - 0.5 < slope(steps, errors) < order + 0.8


# --- whole runs ---------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("model", ZOO)
def test_every_model_moves_as_with_dop853(name, model):
    """Tolerance: rtol times the sensitivity of the motion, 1000 for the arm that meets its stop."""
    options = {"rtol": 1e-9, "atol": 1e-11}
    one = simulate(ZOO[model], 0.3, integrator="dop853", **options)
    two = simulate(ZOO[model], 0.3, integrator=name, **options)
    assert (one.status, two.status) == ("done", "done")
    for a, b in ((one.q, two.q), (one.v, two.v)):
        assert np.abs(a[-1] - b[-1]).max() < 1e-6 * (1.0 + np.abs(a[-1]).max())
    assert [event.name for event in one.events] == [event.name for event in two.events]
    assert np.allclose([event.t for event in one.events], [event.t for event in two.events], rtol=0, atol=1e-7)
    assert two.audit["energy_residual"] < 1e-7


@both
def test_stiff_blades_take_few_steps_and_a_constant_number_of_evaluations_each(name):
    """6 (8) evaluations a step, one less where it is rejected, whatever the number of links; each is O(n)."""
    s = TABLEAUS[name].n_stages
    for n in (3, 12):
        found = simulate(blades(n), 0.05, integrator=name, rtol=1e-4, atol=1e-4)
        steps, rejected = found.stats["steps"], found.stats["rejected"]
        # at the start the right-hand side twice: f, and once more for the first step
        assert found.stats["evaluations"] == s * steps + (s - 1) * rejected + 2
        assert steps < 60
        assert "jacobians" not in found.stats


def test_stiff_blades_are_right_at_a_tenth_of_the_steps_of_an_explicit_method():
    model, options = blades(3), {"rtol": 1e-5, "atol": 1e-6}
    stiff = simulate(model, 0.1, integrator="ark5", **options)
    explicit = simulate(model, 0.1, integrator="dop853", **options)
    implicit = simulate(model, 0.1, integrator="radau", rtol=1e-10, atol=1e-12)
    assert np.abs(stiff.q[-1] - implicit.q[-1]).max() < 1e-5
    assert stiff.stats["steps"] < 0.1 * explicit.stats["steps"]
    assert stiff.audit["energy_residual"] < 1e-5


@both
def test_motion_ends_where_a_stop_without_stiffness_is_met(name):
    model = Model(
        name="stop",
        gravity=(0.0, -9.81, 0.0),
        bodies=(rod("rod"),),
        joints=(Joint("hinge", "revolute", "rod", damping=0.1, limit=Limit(lower=-0.5)),),
    )
    one, two = (simulate(model, 2.0, integrator=each, rtol=1e-10, atol=1e-12) for each in ("dop853", name))
    assert (one.status, two.status) == ("stopped", "stopped")
    assert two.t[-1] == pytest.approx(one.t[-1], abs=1e-8)
    assert two.q[-1, 0] == pytest.approx(-0.5, abs=1e-12)


@both
def test_virtual_springs_of_loops_cost_no_short_steps(name):
    """1e8 N/m: an explicit method follows them to the end, a semi-implicit one until they have settled."""
    model, springs = ZOO["four_bar"], pliant.Springs(stiffness=1e8, damping=1e4)
    options = {"rtol": 1e-6, "atol": 1e-8}
    closed = simulate(model, 0.3, integrator="dop853", rtol=1e-10, atol=1e-12)
    found = simulate(model, 0.3, integrator=name, closure=springs, **options)
    explicit = simulate(model, 0.3, integrator="dop853", closure=springs, **options)
    # forces of 100 N stretch the springs by 1e-6 m
    assert np.abs(found.q[-1] - closed.q[-1]).max() < 1e-4
    assert found.stats["evaluations"] < 0.2 * explicit.stats["evaluations"]


def test_contacts_are_not_passed_over_at_loose_tolerances():
    """With contacts rtol is at most 1e-4, and atol as much tighter."""
    model = pressed_beam()
    loose = simulate(model, 0.05, integrator="ark4", rtol=1e-2, atol=1e-3)
    tight = simulate(model, 0.05, integrator="ark4", rtol=1e-4, atol=1e-5)
    assert np.array_equal(loose.q, tight.q)


# --- what is refused ----------------------------------------------------------------------------------------------


def test_what_does_not_go_with_stages_is_refused_with_what_does():
    with pytest.raises(ModelError, match=r"formulation 'gibbs_appell' does not take; take formulation articulated"):
        simulate(ZOO["pendulum"], 0.1, integrator="ark4", formulation="gibbs_appell")
    stiffened = arm(rod("a"), replace(beam("b"), stretch=0, coupling="stiffened"))
    with pytest.raises(ModelError, match=r"coupling = 'stiffened' find their stiffness .* or integrator radau"):
        simulate(stiffened, 0.1, integrator="ark5")
    with pytest.raises(ModelError, match=r"closure 'reduced' does not go with integrator 'ark4'"):
        simulate(ZOO["four_bar"], 0.1, integrator="ark4", closure="reduced")
