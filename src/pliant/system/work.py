"""Work: scratch that several kernels share, one per thread, grouped by the stage that fills it."""

from typing import Any, NamedTuple

import numpy as np

from pliant.system.contact_tables import CONTACT_WORK, JOINT_FRICTION_WORK, PHASE
from pliant.system.control_tables import CONTROLLER_WORK
from pliant.system.formulation_work import with_scratch
from pliant.system.loop_tables import CONSTRAINT_WORK, LEG, N_CONSTRAINT_VECTORS, N_MULTIPLIER_PLACES
from pliant.system.segment_tables import SEGMENT_MOTION, SEGMENT_WORK
from pliant.system.tables import Power, System, rows

WIDTH = 8  # numbers that are computed with as one: kernels/algebra/lanes.py

BODY_MOTION = np.dtype(
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

# the motion of a body, then the scratch of every formulation, in the same place: only one runs at a time, and what a
# recursion reads of a body stays in one row (tables apart cost long chains some 3 %)
BODY_WORK = with_scratch(BODY_MOTION)

DOF_WORK = np.dtype(
    [
        ("is_prescribed", np.int64),  # copies from the dofs table, so that formulations read one row
        ("armature", np.float64),
        ("tau", np.float64),  # gathered joint force [N, N m]; filled by gather.py
        ("tau_extra", np.float64),  # the caller's own tau (forward_dynamics), zero in simulate
        ("motion_vdot", np.float64),  # prescribed acceleration; filled by gather.py
        ("constraint_force", np.float64),  # enforces the prescribed motion [N, N m]; filled by the formulation
        ("row", np.float64),  # private to formulations with a mass matrix: left side of its equation (B4, B19, G7, L9)
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
        ("axial", np.float64),  # external force along the beam [N]; filled by gather.py
        ("tension", np.float64),  # the same with what it carries; filled by kernels/formulations/stiffening.py
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

# Addresses of the kernels in use, 0: none. Filled by Python: what every call needs by engine/prepared.py, what closes
# loops by methods/closures.py, what a run needs besides by simulation/run.py.
CALLS = np.dtype(
    [
        # engine/prepared.py
        ("formulation", np.int64),  # ACCELERATION, of the closed mechanism where multipliers close it
        ("open_formulation", np.int64),  # ACCELERATION of the tree without loops
        ("unstiffened", np.int64),  # the same without geometric stiffness, where a beam is stiffened
        ("respond", np.int64),  # RESPONSE of open_formulation
        ("solve", np.int64),  # ACCELERATION that adds the stick forces
        ("rest_forces", np.int64),  # REST_FORCES, 0: nothing can stick
        ("signals", np.int64),  # STATE: values of the signals that act, 0: none do
        ("place", np.int64),  # STATE: kinematics
        ("prepare", np.int64),  # STATE: kinematics and forces
        ("set_phase", np.int64),  # STATE: the phase as the state alone determines it
        # methods/closures.py
        ("closed_formulation", np.int64),  # ACCELERATION with multipliers, where the integrator solves for them itself
        ("loop_forces", np.int64),  # STATE: forces of loops known beforehand (virtual springs, prescribed multipliers)
        ("loop_tangents", np.int64),  # STATE: rows of a semi-implicit stage for these forces
        ("solve_dependent", np.int64),  # STATE: dependent q and v from the independent ones, before every evaluation
        ("end_step", np.int64),  # DERIVATIVE: what the closure does at the end of a good step (projection)
        ("constraint_matrices", np.int64),  # DERIVATIVE: A and M^-1 A^T for integrators that solve for the multipliers
        # simulation/run.py
        ("derivative", np.int64),  # DERIVATIVE
        ("stage", np.int64),  # STAGE of semi-implicit steps; 0: nothing is implicit
        ("contact_masses", np.int64),  # STATE: contacts of such a stage in the articulated recursion
        ("recursion", np.int64),  # what kernels/compliance.py has replaced: open_formulation, and the next: respond
        ("recursion_response", np.int64),
        ("nearby", np.int64),  # NEARBY, where the integrator asks for it; 0: the model does not allow it
        ("events", np.int64),  # EVENTS
        ("switch", np.int64),  # SWITCH
        ("decide_friction", np.int64),  # SWITCH: which friction pairs stick, 0: none can
        ("shift", np.int64),  # SHIFT, where the integrator asks for it
        ("control", np.int64),  # CONTROL: the controllers with a law, 0: none
        ("energy", np.int64),  # STATE: energies into run, for integrators/growth.py; 0: growth is not looked for
        # engine/prepared.py
        ("rigid_forces", np.int64),  # FORWARD: of a model with rigid links, 0: no law asks for them
    ],
    align=True,
)

# How the loops are closed.
CLOSURE = np.dtype(
    [
        # parameters; filled by methods/closures.py
        ("baumgarte_rate", np.float64),  # rate at which open loops close, 0: not at all [1/s]
        ("spring_form", np.int64),  # SpringForm
        ("spring_stiffness", np.float64),  # of virtual springs [N/m, N m/rad]
        ("spring_damping", np.float64),  # [N s/m, N m s/rad]
        ("spring_compliance", np.float64),  # 1 / spring_stiffness where the integrator solves for their forces [m/N]
        # filled by simulation/run.py
        ("max_projection", np.float64),  # part of the velocities that projecting them may change
        ("projection_floor", np.float64),  # and what it may change at rest [1/s]
        # partition into dependent and independent; filled by closures/independent.py with the orders in Work
        ("n_active", np.int64),  # constraint rows in use: the independent ones, as many as dependent velocities
        ("min_pivot", np.float64),  # of the partition when it was made
        ("is_partition_held", np.int64),  # 1: until the end of a step, 0: every evaluation makes it anew
        ("n_evaluations", np.int64),  # of the derivative, by projections
    ],
    align=True,
)

# Distance from dead points, x^2 = least pivot of W over its diagonal; see closures/dead_points.py, which fills it.
DEAD_POINT = np.dtype(
    [
        # filled by simulation/run.py
        ("rounding", np.float64),  # of velocities that the constraints determine, over rtol
        ("max_allowance", np.float64),  # largest error_allowance
        ("min_regularisation", np.float64),
        ("step_regularisation", np.float64),  # times the square of the change of x in a step, where that is more
        ("projection_regularisation", np.float64),  # e^2 of projections of q and v
        ("least_pivot", np.float64),  # x^2 over its largest below which the equations have no solution, 0: none
        # at the last evaluation
        ("pivot", np.float64),  # x^2
        ("is_rank_deficient", np.int64),  # 1: W does not determine all accelerations
        # at the end of the last step
        ("max_pivot", np.float64),  # largest x^2 at the ends of steps so far
        ("x_before", np.float64),  # x at the last end of a step, -1: none yet
        ("t_before", np.float64),  # [s]
        ("t_expected", np.float64),  # when the next dead point is due, extrapolated [s]; steps do not end near it
        ("is_near", np.int64),  # 1: the next step may meet a dead point
        ("regularisation", np.float64),  # e^2 of the equations of motion
        ("error_allowance", np.float64),  # tolerances by which errors of the next step may exceed theirs
    ],
    align=True,
)

AT_END, ABOUT_AT_END = 1, 2  # run.is_at_end
# The instant being evaluated.
RUN = np.dtype(
    [
        ("segment", np.float64),  # a time inside the smooth piece of the signals being integrated [s]
        ("step", np.float64),  # being tried [s]; filled by integrators/advance.py
        # AT_END: the stepper has evaluated the end of its step last, whose kinematics are still there, ABOUT_AT_END: a
        # state that differs from it by less than the error of a step; 0: neither. Filled by steppers that do so, taken
        # back by integrators/landing.py
        ("is_at_end", np.int64),
        # a h of the semi-implicit stage being solved: M is M + a h D + (a h)^2 K [s]; 0: none. Filled by
        # kernels/semi_implicit.py
        ("implicit_step", np.float64),
        ("n_rows", np.int64),  # rows of work.compliant_jacobian in use; filled by kernels/tangents.py
        # 1 + k while only the value of event function k is asked for, 0: all with their rates; filled by
        # integrators/event_scan.py
        ("only_event", np.int64),
        ("body", np.int64),  # where a kernel failed; COINCIDENT: the spring
        # filled by contact/phase.py: count_contacts
        ("n_touching", np.int64),  # active contacts
        ("n_sticking", np.int64),  # unknown stick forces
        ("n_broken", np.int64),  # friction pairs at rest whose force has reached its bound
        # filled by contact/places.py
        ("n_stick_lanes", np.int64),  # lanes in which the unknowns go through M^-1
        ("is_coupled", np.int64),  # 1: every force moves all velocities
        ("n_newton", np.int64),  # Newton's steps to the last forces; filled by contact/bounded_forces.py
        ("is_aside", np.int64),  # 1: evaluations for dense output alone, of which the motion must not know
        (
            "max_angular_speed",
            np.float64,
        ),  # of all bodies, where events depend on positions [rad/s]; filled by events.py
        # filled by energy.py: measure
        ("kinetic", np.float64),  # [J]
        ("gravity", np.float64),
        ("elastic", np.float64),
    ],
    align=True,
)


# rows of work.stick_force, by unknown: stick forces, accelerations without them, a right side, 1 / sqrt(W_ii), bounds;
# of contact/bounded_forces.py: shares of the bounds, their steps, gradient, multipliers, slacks and weights;
# what friction pairs have left to their bounds
FORCE, FREE, RIGHT, SCALE, BOUND, SHARE, STEP, GRADIENT, MULTIPLIER, SLACK, WEIGHT, MARGIN = range(12)
# and inside it: bounds in the units of shares; what bounds add to Newton's matrix; (l, p), their steps, the right sides
# of these; steps of the predictor
REACH, STRENGTH, AXIS, DUAL, PULL, DUAL_STEP, PULL_STEP, DUAL_RIGHT, PULL_RIGHT, PREDICTED = range(12, 22)
# shares and slacks (0: none) of the last evaluation along the motion, from which contact/follow_steps.py begins
SHARE_BEFORE, SLACK_BEFORE = 22, 23
# bounds of which less is nothing: rounding of accelerations hides what it holds
LEAST_BOUND = 24
N_STICK_ROWS = 25
# rows of work.stick_places, by unknown: first velocity that its force may move, and the one after the last; its lane in
# M^-1; the end of its range of unknowns, beyond which W has no entries; first velocity that the range may move, and the
# one after the last; and by lane: the one after the last velocity in it
SPAN_FIRST, SPAN_END, LANE, RANGE_END, RANGE_SPAN_FIRST, RANGE_SPAN_END, LANE_END = range(7)
N_PLACE_ROWS = 7


Q, V = 0, 1  # rows of work.changes
# rows of work.compliant_forces, by row of work.compliant_jacobian: mass, force that the differences make, multiplier
ROW_MASS, ROW_FORCE, ROW_MULTIPLIER = range(3)
MAX_COMPLIANT_ROWS = 128  # what is beyond stays explicit


class Work(NamedTuple):
    """Scratch of one thread."""

    calls: Any  # one row: addresses of the kernels in use
    closure: Any  # one row: how loops are closed
    dead_point: Any  # one row: how near the mechanism is to one
    run: Any  # one row: the instant being evaluated
    bodies: Any
    points: Any
    flex: Any  # float64: modal blocks of the flexible bodies, laid out by FLEX and POINT
    dofs: Any
    signals: Any
    phase: Any  # discrete phase: one row per limit, flank, one-way spring, contact, joint friction
    contacts: Any
    joint_frictions: Any
    segments: Any  # of a serial chain of hinges; this and the next filled by kernels/transfer_matrix
    segment_motions: Any
    # stick forces, n unknowns; filled by contact/stick.py and, while it decides what sticks, contact/stick_or_slip.py
    stick: Any  # (3 n, n) W, its factor, and its factor of low rank
    stick_force: Any  # (N_STICK_ROWS, n) rows named below
    stick_first: Any  # int64 (n) first unknown of the same friction pair; filled by contact/phase.py
    stick_places: Any  # int64 (N_PLACE_ROWS, n) rows named above; filled by contact/places.py
    stick_jacobian: Any  # (n, n_v) J
    stick_lift: Any  # (n_v, n) M^-1 J^T
    stick_column: Any  # (n_v) one column of it
    probe: Any  # (n_y) a state a moment later, for rates of event functions; kernels/events.py
    # closed loops, m scalar constraints
    constraints: Any  # one row per scalar constraint
    legs: Any  # one row per loop: those closed in closed form
    gram: Any  # (m, m) factor L of W = A M^-1 A^T, L^T above it; this and the next three: closures/multipliers.py
    lift: Any  # (m, n_v) rows of M^-1 A^T
    lanes: Any  # (n_v + 1, WIDTH) columns that a RESPONSE kernel turns into M^-1 of them, and one row of W
    body_lanes: Any  # (6 n_bodies, WIDTH) scratch of RESPONSE kernels
    constraint_vectors: Any  # (N_CONSTRAINT_VECTORS, m) rows named in system/loop_tables.py
    previous_vdot: Any  # (n_v) accelerations at the end of the last step; filled by closures/dead_points.py
    constraint_jacobian: Any  # (m, n_v) A; this, the next two and the orders filled by closures/independent.py
    constraint_jacobian_q: Any  # (n_q) where it is A
    elimination: Any  # (m, n_v) scratch
    response: Any  # (m, n_y) what each multiplier does in an implicit step; filled by integrators/multiplier_newton.py
    dependent: Any  # (m, m) factors of A: active rows, dependent velocities; closures/reduced.py
    dependent_pivots: Any  # int64 (m)
    multiplier_places: Any  # int64 (N_MULTIPLIER_PLACES, m) rows named in system/loop_tables.py
    constraint_order: Any  # int64 (m) active constraints first
    column_order: Any  # int64 (n_v) dependent velocities first
    constraint_places: Any  # int64 (m) and (n_v): where in these orders each constraint and each velocity is
    column_places: Any
    partition_pivots: Any  # int64 (m) and (m + n_v): scratch of independent.py
    previous_orders: Any
    # semi-implicit stages; filled by kernels/tangents.py, the lift and the matrix by kernels/compliance.py
    changes: Any  # (2, n_v) from the explicit to the implicit point as far as known: of q as velocities, of v
    contact_inertia: Any  # (n_bodies, 21) A, B, C of the masses that stand for contacts, axes B about the body origin
    rotor_shares: Any  # (n_transmissions) of the motor's acceleration that its link's makes; 0: it is a row, or none
    compliant_jacobian: Any  # (n_rows, n_v) of stiff forces that no block of M takes
    compliant_lift: Any  # (n_rows, n_v) M^-1 of these rows
    compliant_matrix: Any  # (n_rows, n_rows) factor of J M^-1 J^T + 1/mass
    compliant_forces: Any  # (3, n_rows) rows named above
    inputs: Any  # held commands of the controllers [N, N m]
    controllers: Any  # those with a law; this and the next filled by kernels/control.py
    control: Any  # float64: states, measurements and commands on their way, laid out by CONTROLLER
    power: Any  # one per Power member [W]; filled by gather.py, DRIVE (of prescribed motion) by dynamics.py
    qdot: Any  # (n_q) and (n_v): for event functions and outputs
    vdot: Any
    zero_vdot: Any  # (n_v) zeros
    reaction: Any  # (n_bodies, 6) wrench by the parent on the child, child axes; for outputs
    no_reaction: Any  # (0, 6): says that reactions are not wanted
    matrix: Any  # (n_v, n_v), private to the running formulation


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


def _max_sticking(system: System) -> int:
    """Unknown stick forces when everything sticks that can."""
    width = 1 if system.world[0].is_planar else 2
    can = [bool(system.frictions[row.friction].sticks) for row in system.contacts if row.friction >= 0]
    return width * sum(can) + sum(bool(system.frictions[row.friction].sticks) for row in system.joint_frictions)


def _max_compliant(system: System) -> int:
    """Stiff forces of which each may become a row of kernels/compliance.py."""
    between = [row for row in system.contacts if min(system.frames[[row.frame, row.plane]].body) >= 0]
    is_tilted = system.dofs.tilt >= 0
    tilted = int(np.sum(is_tilted & ((system.dofs.stiffness > 0) | (system.dofs.damping > 0))))
    tilted += int(np.sum(is_tilted[system.limits.dof])) if len(system.limits) else 0
    count = len(between) + tilted + len(system.transmissions) + len(system.springs) + len(system.constraints)
    return min(count, MAX_COMPLIANT_ROWS)


def new_work(system: System, n_inputs: int = 0, control_size: int = 0) -> Work:
    n_bodies, n_v = len(system.bodies), len(system.dofs)
    n_flanks = 2 * int(np.sum(system.transmissions.phase >= 0))
    n_balls, n_ropes = int(np.sum(system.bodies.ball_phase >= 0)), int(np.sum(system.springs.phase >= 0))
    n_joints = len(system.limits) + n_flanks + n_balls
    n_phases = n_joints + n_ropes + len(system.contacts) + len(system.joint_frictions)
    n_stick = _max_sticking(system)
    m = len(system.constraints)
    n_rows = _max_compliant(system)
    dofs = rows(n_v, DOF_WORK)
    dofs.is_prescribed = system.dofs.motion >= 0
    dofs.armature = system.dofs.armature
    constraints = rows(m, CONSTRAINT_WORK)
    constraints.e = system.constraints.e  # stays there where points meet
    legs = rows(len(system.loops), LEG)
    legs.inner = -1
    bodies = rows(n_bodies, BODY_WORK)
    # kinematics/planar.py relies on these
    bodies.R, bodies.o, bodies.o_E = system.bodies.R_PJ, system.bodies.p_PJ, system.bodies.p_PJ
    bodies.R_WB[:, 8] = 1.0
    points = rows(len(system.points), POINT_WORK)
    points.R[:, 8] = 1.0
    for x, body in zip(bodies, system.bodies, strict=True):
        x.p_WB[2] = body.p_PJ[2] + (bodies[body.parent].p_WB[2] if body.parent >= 0 else 0.0)
    return Work(
        calls=rows(1, CALLS),
        closure=rows(1, CLOSURE),
        dead_point=rows(1, DEAD_POINT),
        run=rows(1, RUN),
        bodies=bodies,
        points=points,
        flex=np.zeros(flex_size(system)),
        dofs=dofs,
        signals=rows(len(system.signals), SIGNAL_WORK),
        phase=rows(n_phases, PHASE),
        contacts=rows(len(system.contacts), CONTACT_WORK),
        joint_frictions=rows(len(system.joint_frictions), JOINT_FRICTION_WORK),
        segments=rows(len(system.segments), SEGMENT_WORK),
        segment_motions=rows(len(system.segments), SEGMENT_MOTION),
        stick=np.zeros((3 * n_stick, n_stick)),
        stick_force=np.zeros((N_STICK_ROWS, n_stick)),
        stick_first=np.zeros(n_stick, np.int64),
        stick_places=np.zeros((N_PLACE_ROWS, n_stick), np.int64),
        stick_jacobian=np.zeros((n_stick, n_v)),
        stick_lift=np.zeros((n_v, n_stick)),
        stick_column=np.zeros(n_v),
        probe=np.zeros(int(system.world[0].n_q + n_v + system.world[0].n_z)),
        constraints=constraints,
        legs=legs,
        gram=np.zeros((m, m)),
        lift=np.zeros((m, n_v)),
        lanes=room_for_lanes(n_v + 1),
        body_lanes=room_for_lanes(6 * n_bodies),
        constraint_vectors=np.zeros((N_CONSTRAINT_VECTORS, m)),
        previous_vdot=np.zeros(n_v if m > 0 else 0),
        constraint_jacobian=np.zeros((m, n_v)),
        constraint_jacobian_q=np.full(int(system.world[0].n_q), np.nan),
        elimination=np.zeros((m, n_v)),
        response=np.zeros((m, int(system.world[0].n_q + n_v + system.world[0].n_z))),
        dependent=np.zeros((m, m)),
        dependent_pivots=np.zeros(m, np.int64),
        multiplier_places=np.zeros((N_MULTIPLIER_PLACES, m), np.int64),
        constraint_order=np.zeros(m, np.int64),
        column_order=np.zeros(n_v, np.int64),
        constraint_places=np.zeros(m, np.int64),
        column_places=np.zeros(n_v, np.int64),
        partition_pivots=np.zeros(m, np.int64),
        previous_orders=np.zeros(m + n_v, np.int64),
        changes=np.zeros((2, n_v)),
        contact_inertia=np.zeros((n_bodies if len(system.contacts) else 0, 21)),
        rotor_shares=np.zeros(len(system.transmissions)),
        compliant_jacobian=np.zeros((n_rows, n_v)),
        compliant_lift=np.zeros((n_rows, n_v)),
        compliant_matrix=np.zeros((n_rows, n_rows)),
        compliant_forces=np.zeros((3, n_rows)),
        inputs=np.zeros(n_inputs),
        controllers=rows(len(system.controllers), CONTROLLER_WORK),
        control=np.zeros(control_size),
        power=np.zeros(len(Power)),
        qdot=np.zeros(int(system.world[0].n_q)),
        vdot=np.zeros(n_v),
        zero_vdot=np.zeros(n_v),
        reaction=np.zeros((n_bodies, 6)),
        no_reaction=np.zeros((0, 6)),
        matrix=np.zeros((n_v, n_v)),
    )
