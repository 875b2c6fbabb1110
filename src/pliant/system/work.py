"""Work: scratch that several kernels share, one per thread, grouped by the stage that fills it."""

from typing import Any, NamedTuple

import numpy as np

from pliant.system.contact_tables import CONTACT_WORK, PHASE, SITE_WORK
from pliant.system.formulation_work import (
    ARTICULATED_WORK,
    BOLTZMANN_HAMEL_WORK,
    DENOC_WORK,
    GIBBS_APPELL_WORK,
    LAGRANGE_WORK,
)
from pliant.system.loop_tables import CLOSING_WORK, LEG
from pliant.system.tables import Power, System, rows

WIDTH = 8  # numbers that are computed with as one: kernels/algebra/lanes.py

BODY_WORK = np.dtype(
    [
        # filled by kinematics/tree.py: move
        ("R", np.float64, (9,)),  # R_PB
        ("o", np.float64, (3,)),  # from the parent's origin to this body's [m] P
        ("o_E", np.float64, (3,)),  # from the section that carries the joint; only where the parent is flexible [m] P
        ("v", np.float64, (3,)),  # velocity of the body origin [m/s] B
        ("w", np.float64, (3,)),  # angular velocity [rad/s] B
        ("v_J", np.float64, (3,)),  # velocity across the joint [m/s] B
        ("w_J", np.float64, (3,)),  # angular velocity across the joint [rad/s] B
        ("zv", np.float64, (3,)),  # acceleration left when all vdot and the parent's acceleration vanish [m/s^2] B
        ("zw", np.float64, (3,)),  # [rad/s^2] B
        # filled by gather.py; gravity is not among them
        ("f", np.float64, (3,)),  # external force [N] B
        ("n", np.float64, (3,)),  # external moment about the body origin [N m] B
        # filled by kinematics/tree.py: accelerate, or on its way out by formulations/articulated.py
        ("a", np.float64, (3,)),  # acceleration of the body origin minus gravity [m/s^2] B
        ("al", np.float64, (3,)),  # angular acceleration [rad/s^2] B
        # filled by kinematics/tree.py: place (only where world.needs_placement)
        ("R_WB", np.float64, (9,)),
        ("p_WB", np.float64, (3,)),  # [m] W
        # filled by kinematics/joints.py; last, because joints with one velocity do without
        ("Sv", np.float64, (18,)),  # joint subspace, six columns of three; used where n_v > 1
        ("Sw", np.float64, (18,)),
    ],
    align=True,
)

DOF_WORK = np.dtype(
    [
        ("is_prescribed", np.int64),  # copies from the dofs table, so that formulations read one row
        ("armature", np.float64),
        ("tau", np.float64),  # gathered joint force [N, N m]; filled by gather.py
        ("tau_extra", np.float64),  # the caller's own tau (forward_dynamics), zero in simulate
        ("motion_vdot", np.float64),  # prescribed acceleration; filled by gather.py
        ("constraint_force", np.float64),  # enforces the prescribed motion [N, N m]; filled by the formulation
        ("row", np.float64),  # private to formulations that form a mass matrix: left side of its equation (B4, G7, L9)
    ],
    align=True,
)

# a section of a flexible body; all in B
POINT_WORK = np.dtype(
    [
        # filled by kernels/flexible/sections.py: move_section
        ("s", np.float64, (3,)),  # place [m]
        ("R", np.float64, (9,)),  # section axes to B
        ("v", np.float64, (3,)),  # velocity [m/s]
        ("w", np.float64, (3,)),  # angular velocity [rad/s]
        ("gv", np.float64, (3,)),  # acceleration left when those of the body and of its modes vanish [m/s^2]
        ("gw", np.float64, (3,)),  # [rad/s^2]
        # filled by accelerate_section
        ("a", np.float64, (3,)),  # acceleration minus gravity [m/s^2]
        ("al", np.float64, (3,)),  # angular acceleration [rad/s^2]
    ],
    align=True,
)

# piece: of a table, where the last value was found; filled by forces/signals.py like the rest
SIGNAL_WORK = np.dtype(
    [("s", np.float64), ("sdot", np.float64), ("sddot", np.float64), ("piece", np.int64)], align=True
)

RUN = np.dtype(
    [
        ("formulation", np.int64),  # address of the ACCELERATION kernel
        ("open_formulation", np.int64),  # the same without closed loops
        (
            "closed_formulation",
            np.int64,
        ),  # ACCELERATION kernel that finds multipliers where the integrator does, 0: is it
        ("respond", np.int64),  # address of the RESPONSE kernel of open_formulation
        ("loop_forces", np.int64),  # address of the STATE kernel of forces of loops known beforehand, 0: none
        ("impose", np.int64),  # address of the STATE kernel that puts q and v on the loops before anything, 0: none
        ("settle", np.int64),  # address of the DERIVATIVE kernel that treats the end of a good step, 0: none
        (
            "conditions",
            np.int64,
        ),  # address of the DERIVATIVE kernel of A and M^-1 A^T, where multipliers are given, 0: none
        ("n_evaluations", np.int64),  # of the derivative by settle
        ("n_dependent", np.int64),  # independent conditions, as many as dependent velocities; with the orders below
        ("least_pivot", np.float64),  # of the choice when it was made
        # dead points; filled by closures/dead_points.py, but for noise and what its softness is made of
        ("pivot", np.float64),  # least pivot of W, over its diagonal, at the last evaluation
        ("best_pivot", np.float64),  # the best that it has been at the ends of steps
        ("is_weak", np.int64),  # whether W was so weak that it does not tell all
        ("is_beside", np.int64),  # whether the next step may meet a dead point
        ("dead_x", np.float64),  # square root of the pivot at the last end of a step, -1: none yet
        ("dead_t", np.float64),  # [s]
        ("t_dead", np.float64),  # when a dead point is due, as it seems [s]; steps do not end beside it
        ("softness", np.float64),  # e^2 of the equations of motion
        ("least_softness", np.float64),
        ("step_softness", np.float64),  # times the square of what x changes by in a step, where that is more
        ("noise", np.float64),  # rounding over rtol
        ("slack", np.float64),  # tolerances that errors of the next step may exceed their own by
        ("projection_softness", np.float64),  # e^2 where positions and speeds are put back on the loops
        ("holds_choice", np.int64),  # whether they stay chosen until a step ends, else every evaluation chooses
        ("loop_form", np.int64),  # of virtual springs: SpringForm
        ("loop_stiffness", np.float64),  # of virtual springs [N/m, N m/rad]
        ("loop_damping", np.float64),  # and their dampers [N s/m, N m s/rad]
        ("compliance", np.float64),  # 1 / loop_stiffness where given multipliers are those of springs, else 0 [m/N]
        ("projection", np.float64),  # part of the speeds that putting them back on the loops may change
        ("projection_floor", np.float64),  # and what it may change at rest [1/s]
        ("baumgarte", np.float64),  # rate at which what is open closes, 0: not at all [1/s]
        ("prepare", np.int64),  # address of the STATE kernel of kinematics and forces
        ("set_phase", np.int64),  # address of the STATE kernel of the phase that a state alone tells
        ("solve", np.int64),  # address of the ACCELERATION kernel that adds the stick forces
        ("derivative", np.int64),  # address of the DERIVATIVE kernel
        ("events", np.int64),  # address of the EVENTS kernel
        ("switch", np.int64),  # address of the SWITCH kernel
        ("settle_friction", np.int64),  # address of the SWITCH kernel that decides what sticks, 0: nothing can
        ("step", np.float64),  # being tried [s]; filled by integrators/loop.py
        ("shift", np.int64),  # address of the SHIFT kernel, where the integrator asks for it
        ("body", np.int64),  # where a kernel failed
        ("n_touching", np.int64),  # active contacts; with n_sticking filled by contact/phase.py: count_contacts
        ("n_sticking", np.int64),  # unknown stick forces
        ("n_broken", np.int64),  # sites at rest that have broken away; with them
        ("turning", np.float64),  # largest angular velocity where events look at places [rad/s]; filled by events.py
        ("segment", np.float64),  # a time inside the smooth piece of the signals being integrated
    ],
    align=True,
)


# rows of work.stick_force, by unknown: stick forces, accelerations without them, a right side, 1 / sqrt(W_ii), bounds;
# of contact/bounded_forces.py: shares of the bounds, their steps, gradient, multipliers, slacks and weights;
# what sites have left to their bounds
FORCE, FREE, RIGHT, SCALE, BOUND, SHARE, STEP, GRADIENT, MULTIPLIER, SLACK, WEIGHT, MARGIN = range(12)
N_STICK_ROWS = 12


class Work(NamedTuple):
    """Scratch of one thread."""

    run: Any  # one row
    bodies: Any
    points: Any
    flex: Any  # float64: modal blocks of the flexible bodies, laid out by FLEX and POINT
    dofs: Any
    signals: Any
    phase: Any  # discrete phase: one row per limit, contact, site
    contacts: Any
    sites: Any
    # stick forces, n unknowns; filled by contact/stick.py and, while it decides what sticks, contact/stick_or_slip.py
    stick: Any  # (3 n, n) W, its factor, and its factor of low rank
    stick_force: Any  # (N_STICK_ROWS, n) rows named below
    stick_first: Any  # int64 (n) first unknown of the same site; filled by contact/phase.py
    stick_jacobian: Any  # (n, n_v) J
    stick_lift: Any  # (n, n_v) rows of M^-1 J^T
    probe: Any  # (n_y) a state a moment later, for rates of event functions; kernels/events.py
    # closed loops, m conditions
    closings: Any  # one row per condition
    legs: Any  # one row per loop: those closed in closed form
    gram: Any  # (m, m) factor of W = A M^-1 A^T; this and the next three filled by closures/multipliers.py
    lift: Any  # (m, n_v) rows of M^-1 A^T
    lanes: Any  # (n_v + 1, WIDTH) columns that a RESPONSE kernel turns into M^-1 of them, and one row of W
    body_lanes: Any  # (6 n_bodies, WIDTH) scratch of RESPONSE kernels
    closing_vectors: Any  # (6, m) rows of closures/dead_points.py
    held_vdot: Any  # (n_v) accelerations at the end of the last step; filled by closures/dead_points.py
    conditions: Any  # (m, n_v) A; this and the next two and the orders filled by closures/independent.py
    conditions_q: Any  # (n_q) where it is A
    elimination: Any  # (m, n_v) scratch
    response: Any  # (m, n_y) what each multiplier does in an implicit step; filled by integrators/multiplier_newton.py
    dependent: Any  # (m, m) factors of independent conditions and dependent velocities; closures/reduced.py
    dependent_pivots: Any  # int64 (m)
    condition_order: Any  # int64 (m) independent conditions first
    column_order: Any  # int64 (n_v) dependent velocities first
    choice_pivots: Any  # int64 (m) and (m + n_v): scratch of independent.py
    kept_orders: Any
    inputs: Any  # held commands of the controllers [N, N m]
    power: Any  # one per Power member [W]; filled by gather.py, DRIVE (of prescribed motion) by dynamics.py
    qdot: Any  # (n_q) and (n_v): for event functions and outputs
    vdot: Any
    still: Any  # (n_v) zeros
    reaction: Any  # (n_bodies, 6) wrench by the parent on the child, child axes; for outputs
    no_reaction: Any  # (0, 6): says that reactions are not wanted
    matrix: Any  # (n_v, n_v), private to the running formulation
    # private to one formulation each, one row per body
    articulated: Any
    boltzmann_hamel: Any
    gibbs_appell: Any
    denoc: Any
    lagrange: Any


def room_for_lanes(n: int) -> Any:
    """(n, WIDTH) zeros, aligned to cache lines."""
    room = np.zeros(n * WIDTH + 8)
    first = (-room.ctypes.data // 8) % 8
    return room[first : first + n * WIDTH].reshape(n, WIDTH)


def flex_size(system: System) -> int:
    """Entries of work.flex: what the last row of FLEX and POINT ends with."""
    ends = [int(row.y + row.m) for row in system.flexes]
    ends += [int(row.Lambda + 6 * system.flexes[row.flex].m) for row in system.points]
    return max(ends, default=0)


def _most_sticking(system: System) -> int:
    """Unknown stick forces when everything sticks that can."""
    width = 1 if system.world[0].is_planar else 2
    can = [bool(system.frictions[row.friction].sticks) for row in system.contacts if row.friction >= 0]
    return width * sum(can) + sum(bool(system.frictions[row.friction].sticks) for row in system.sites)


def new_work(system: System, n_inputs: int = 0) -> Work:
    n_bodies, n_v = len(system.bodies), len(system.dofs)
    n_phases = len(system.limits) + len(system.contacts) + len(system.sites)
    n_stick = _most_sticking(system)
    m = len(system.closings)
    dofs = rows(n_v, DOF_WORK)
    dofs.is_prescribed = system.dofs.motion >= 0
    dofs.armature = system.dofs.armature
    closings = rows(m, CLOSING_WORK)
    closings.e = system.closings.e  # stays there where points meet
    legs = rows(len(system.loops), LEG)
    legs.inner = -1
    bodies = rows(n_bodies, BODY_WORK)
    # kinematics/planar.py relies on these
    bodies.R, bodies.o = system.bodies.R_PJ, system.bodies.p_PJ
    bodies.R_WB[:, 8] = 1.0
    for x, body in zip(bodies, system.bodies, strict=True):
        x.p_WB[2] = body.p_PJ[2] + (bodies[body.parent].p_WB[2] if body.parent >= 0 else 0.0)
    return Work(
        run=rows(1, RUN),
        bodies=bodies,
        points=rows(len(system.points), POINT_WORK),
        flex=np.zeros(flex_size(system)),
        dofs=dofs,
        signals=rows(len(system.signals), SIGNAL_WORK),
        phase=rows(n_phases, PHASE),
        contacts=rows(len(system.contacts), CONTACT_WORK),
        sites=rows(len(system.sites), SITE_WORK),
        stick=np.zeros((3 * n_stick, n_stick)),
        stick_force=np.zeros((N_STICK_ROWS, n_stick)),
        stick_first=np.zeros(n_stick, np.int64),
        stick_jacobian=np.zeros((n_stick, n_v)),
        stick_lift=np.zeros((n_stick, n_v)),
        probe=np.zeros(int(system.world[0].n_q + n_v + system.world[0].n_z)),
        closings=closings,
        legs=legs,
        gram=np.zeros((m, m)),
        lift=np.zeros((m, n_v)),
        lanes=room_for_lanes(n_v + 1),
        body_lanes=room_for_lanes(6 * n_bodies if m + n_stick > 0 else 0),
        closing_vectors=np.zeros((6, m)),
        held_vdot=np.zeros(n_v if m > 0 else 0),
        conditions=np.zeros((m, n_v)),
        conditions_q=np.full(int(system.world[0].n_q), np.nan),
        elimination=np.zeros((m, n_v)),
        response=np.zeros((m, int(system.world[0].n_q + n_v + system.world[0].n_z))),
        dependent=np.zeros((m, m)),
        dependent_pivots=np.zeros(m, np.int64),
        condition_order=np.zeros(m, np.int64),
        column_order=np.zeros(n_v, np.int64),
        choice_pivots=np.zeros(m, np.int64),
        kept_orders=np.zeros(m + n_v, np.int64),
        inputs=np.zeros(n_inputs),
        power=np.zeros(len(Power)),
        qdot=np.zeros(int(system.world[0].n_q)),
        vdot=np.zeros(n_v),
        still=np.zeros(n_v),
        reaction=np.zeros((n_bodies, 6)),
        no_reaction=np.zeros((0, 6)),
        matrix=np.zeros((n_v, n_v)),
        articulated=rows(n_bodies, ARTICULATED_WORK),
        boltzmann_hamel=rows(n_bodies, BOLTZMANN_HAMEL_WORK),
        gibbs_appell=rows(n_bodies, GIBBS_APPELL_WORK),
        denoc=rows(n_bodies, DENOC_WORK),
        lagrange=rows(n_bodies, LAGRANGE_WORK),
    )
