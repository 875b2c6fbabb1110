"""System: how compiled code sees a model. Plain record tables, one row per thing, written only by pack.py.

numpy only. SI units, radians. Axes: W world, P parent body, J joint, B body; R_AB rotates B-components into A.
Symmetric 3x3 matrices are stored as six numbers (xx, xy, xz, yy, yz, zz), general ones as nine, row by row.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from pliant.system.contact_tables import CONTACT, FRICTION, JOINT_FRICTION
from pliant.system.control_tables import COMMAND, CONTROLLER, ENCODER, FEEDBACK
from pliant.system.loop_tables import BRANCH, CONSTRAINT, LOOP
from pliant.system.segment_tables import SEGMENT, SEGMENT_SHAPE
from pliant.system.spring_tables import SPRING


class JointKind(IntEnum):
    FIXED = 0
    REVOLUTE = 1
    PRISMATIC = 2
    CYLINDRICAL = 3
    UNIVERSAL = 4
    PLANAR = 5
    SPHERICAL = 6
    FLOATING = 7


class SignalKind(IntEnum):
    CONSTANT = 0  # a
    STEP = 1  # a before, b from time c on
    RAMP = 2  # a until time c, b from time d on, straight between
    CYCLOID = 3  # as RAMP, but with zero rate and zero second derivative at both ends
    SINE = 4  # a + b sin(c t + d)
    CHIRP = 5  # a + b sin(phase), rate of phase going from c to d while t goes from e to f (and staying there)
    # polynomials of degree f in the pool: knots, then f + 1 coefficients per piece; a before, b after; c = 1: smooth;
    # d: its period where it repeats, else 0; e: by which each period goes on from the one before
    TABLE = 6
    SUM = 7  # of `count` earlier signals, listed in links
    PRODUCT = 8
    SPEED_CHANGE = 9  # e at time c, its rate a until then, b from time d on, between them as CYCLOID
    LINEAR = 10  # a + b t


class Power(IntEnum):
    """Columns of work.power and of the quadratures in z: every way energy enters or leaves."""

    MOTOR = 0
    DAMPER = 1
    LOAD = 2
    DRIVE = 3  # forces that enforce prescribed motion; its name makes work_drive of the results
    LIMIT = 4  # compliant stops, spring and damper together
    NORMAL = 5  # contacts, along the normal
    FRICTION = 6  # contacts, along the plane
    JOINT_FRICTION = 7
    LOOP = 8  # closed loops: what multipliers do, or the dampers of virtual springs
    STIFFENING = 9  # geometric stiffness of stiffened beams, which belongs to no potential


class Crossing(IntEnum):
    """What a user's event function measures."""

    COORDINATE = 0  # q[index] - value
    RATE = 1  # v[index] - value
    FRAME = 2  # world component of a frame's origin - value


class Quantity(IntEnum):
    """What an output records."""

    POSITION = 0
    VELOCITY = 1
    ACCELERATION = 2
    ATTITUDE = 3
    ANGULAR_VELOCITY = 4
    REACTION = 5
    SPRING = 6
    MOTOR = 7
    DRIVE = 8  # force that enforces a prescribed motion; the word of model files
    DAMPER = 9
    LIMIT = 10
    FRICTION = 11  # in joints
    CONTACT = 12  # normal force, then tangential force [N] W, per point
    GAP = 13  # per point
    MOTION = 14  # all of a frame: R_WF (9), p, acceleration, angular velocity and acceleration; for forces in beams
    LOAD = 15  # world components of a load; the same
    PUSH = 16  # force of a contact on its point and where it acts, world; the same
    LOOP = 17  # wrench by the first frame of a loop on the second, at its origin
    TRANSMISSION = 18  # torque of a flexible joint on its link
    LINE = 19  # of a spring between two places: tension, length and its rate
    PULL = 20  # force of such a spring on its first end, and both ends, world; for forces in beams


BODY = np.dtype(
    [
        ("parent", np.int64),  # row in bodies, -1 = world
        ("branch", np.int64),  # row in branches, 0 without loops
        ("kind", np.int64),  # JointKind of the inboard joint
        ("q", np.int64),  # first coordinate
        ("v", np.int64),  # first velocity
        ("n_q", np.int64),  # of the joint; modal coordinates follow
        ("n_v", np.int64),
        ("flex", np.int64),  # row in flexes, -1 = rigid
        ("point", np.int64),  # row in points: the section of a flexible parent that carries the joint, -1 = none
        ("is_leaf", np.int64),  # no body hangs on it
        ("is_last_child", np.int64),  # the last of its parent's children, so the first met on the way inward
        # 1: a leaf with no inertia but its armature, and nothing that acts on it (motor's side of a flexible joint): it
        # moves by itself, and articulated bodies leave it out; neither is_leaf nor is_last_child count it
        ("is_rotor", np.int64),
        ("is_prescribed", np.int64),  # 1: some coordinate has a prescribed motion
        ("has_armature", np.int64),
        ("is_plain_ball", np.int64),  # spherical, without armature, spring and damper: eliminated as a whole
        ("has_ball_spring", np.int64),  # a spring on a quaternion-like joint
        ("ball_phase", np.int64),  # row in phase: on which side of pi its rotation is; -1: no spring that rotates
        # of a flexible body: undeformed, J with the inertia of its sections
        ("mass", np.float64),  # [kg]
        ("c", np.float64, (3,)),  # first moment, mass times mass centre [kg m] B
        ("J", np.float64, (6,)),  # inertia about the body origin [kg m^2] B
        ("com", np.float64, (3,)),  # mass centre [m] B
        ("I", np.float64, (6,)),  # inertia about the mass centre [kg m^2] B
        ("R_PJ", np.float64, (9,)),  # joint frame on the parent (on a flexible parent: in the section)
        ("p_PJ", np.float64, (3,)),  # [m] P
        ("axis", np.float64, (3,)),  # unit, J (and B: its own joint does not rotate the axis)
        # rotation by angle a about the axis: R_PB = cos(a) R_cos + sin(a) R_sin + R_one
        ("R_cos", np.float64, (9,)),
        ("R_sin", np.float64, (9,)),
        ("R_one", np.float64, (9,)),
    ],
    align=True,
)

DOF = np.dtype(
    [
        ("body", np.int64),
        ("q", np.int64),  # the coordinate whose rate this is, -1 for quaternion-like joints
        ("motor", np.int64),  # signal row, -1 = none
        ("motion", np.int64),  # signal row of the prescribed motion, -1 = free
        ("input", np.int64),  # held controller command, -1 = none
        ("tilt", np.int64),  # in shapes: rotation of the first section about the axis per mode of the body, -1 = none
        ("stiffness", np.float64),  # [N/m, N m/rad]
        ("rest", np.float64),  # [m, rad]
        ("damping", np.float64),  # [N s/m, N m s/rad]
        ("armature", np.float64),  # on the joint side: gear^2 times rotor inertia [kg, kg m^2]
        ("gear", np.float64),  # joint torque per motor torque
        (
            "dependence_weight",
            np.float64,
        ),  # with which loops make it dependent: velocity_scale, less for joints that the model keeps
        ("velocity_scale", np.float64),  # what of it counts as large: 1 rad, the size of the model; less for a mode
    ],
    align=True,
)

SIGNAL = np.dtype(
    [
        ("kind", np.int64),
        ("first", np.int64),  # in pool (TABLE) or links (SUM, PRODUCT)
        ("count", np.int64),
        ("a", np.float64),
        ("b", np.float64),
        ("c", np.float64),
        ("d", np.float64),
        ("e", np.float64),
        ("f", np.float64),
    ],
    align=True,
)

FRAME = np.dtype(
    [
        ("body", np.int64),  # -1 = world
        ("point", np.int64),  # row in points: the section that carries it, -1 = the body itself
        ("R_BF", np.float64, (9,)),  # on a section: in its axes
        ("p_BF", np.float64, (3,)),  # [m] B, on a section: in its axes, from the beam's axis
    ],
    align=True,
)

# One row per flexible body. m modes in the order y bending, z bending, stretch, torsion; M components: the n_3 modes
# that translate, then n_r shortening functions; n_b bending modes. Named places are first entries in shapes (constants,
# see beams/integrals.py) and in work.flex (what kernels/flexible fills).
FLEX = np.dtype(
    [
        ("body", np.int64),
        ("length", np.float64),  # [m]
        ("m", np.int64),
        ("n_y", np.int64),
        ("n_b", np.int64),  # n_y + n_z
        ("n_3", np.int64),  # n_b + stretch
        ("n_r", np.int64),
        ("M", np.int64),
        ("n_k", np.int64),  # stations where slopes are taken to the fourth order, 0: coupling of lower order
        (
            "is_stiffened",
            np.int64,
        ),  # linear, with geometric stiffness by a second solve: kernels/formulations/stiffening.py
        ("first_point", np.int64),  # rows in points
        ("end_point", np.int64),
        # in shapes
        ("C1", np.int64),  # (M)
        ("X1", np.int64),  # (M)
        ("P", np.int64),  # (M, M)
        ("Q", np.int64),  # (n_r, n_b, n_b)
        ("Jr1", np.int64),  # (m, 3): one column after the other
        ("Jr2", np.int64),  # (m, m)
        ("K", np.int64),  # (m, m)
        ("Dm", np.int64),  # (m, m)
        ("slope", np.int64),  # (n_k, n_b) of the bending modes at the stations
        ("bend", np.int64),  # (n_k, n_b) their curvature, times sqrt(rigidity x weight of the station)
        ("share", np.int64),  # (n_r, n_k) of a station in every shortening function
        ("Hm", np.int64),  # (n_b, n_b) int H dm, and int x H dm; where is_stiffened
        ("H1", np.int64),
        # in work.flex
        ("d", np.int64),  # (m) modal coordinates
        ("e", np.int64),  # (m) their rates
        ("edot", np.int64),  # (m) and accelerations
        ("D", np.int64),  # (M) amplitudes of the components
        ("Dd", np.int64),  # (M) their rates
        ("Ddd", np.int64),  # (M) and accelerations
        ("U", np.int64),  # (n_r, n_b) Q_r d
        ("b", np.int64),  # (n_r) -e^T Q_r e
        ("a", np.int64),  # (M, 3) int s x Phi dm
        ("F", np.int64),  # (M) velocity-dependent force on each component
        ("rd", np.int64),  # (m, 6) coupling of mode and frame: force, moment
        ("dd", np.int64),  # (m, m) modal inertia, lower triangle; then its factor
        ("pd", np.int64),  # (m) modal force
        ("p", np.int64),  # (M, 3) int phi s dm
        ("G", np.int64),  # (m, 12) int (dh/dd) h^T dm: 3x3, then 3; of the body, then with all it carries
        ("stiffening", np.int64),  # (n_b) geometric stiffness force
        ("Y", np.int64),  # (m, 6) and (m): half solves of the articulated recursion
        ("y", np.int64),
    ],
    align=True,
)

# A section of a flexible body: it carries a joint or frames.
POINT = np.dtype(
    [
        ("flex", np.int64),
        ("x", np.float64),  # material coordinate [m]
        ("phi", np.int64),  # in shapes (n_3): values of the translating modes
        ("theta", np.int64),  # in shapes (m): section angle per mode: bz of y, by of z, bx of torsion modes
        ("H", np.int64),  # in shapes (n_b, n_b): shortening up to x
        ("share", np.int64),  # in shapes (n_k): of every station in the shortening up to x
        ("Lambda", np.int64),  # in work.flex (m, 6): velocity and angular velocity of the section per modal rate
    ],
    align=True,
)

LOAD = np.dtype(
    [
        ("frame", np.int64),
        ("is_couple", np.int64),
        ("is_follower", np.int64),  # components in the frame's own axes, else world
        ("signal", np.int64, (3,)),  # rows, -1 = zero
    ],
    align=True,
)

LIMIT = np.dtype(
    [
        ("dof", np.int64),
        ("side", np.int64),  # +1 upper, -1 lower
        ("phase", np.int64),  # row in work.phase
        ("is_hard", np.int64),  # no stiffness: reaching it ends the run
        ("bound", np.float64),  # [m, rad]
        ("stiffness", np.float64),
        ("damping", np.float64),
    ],
    align=True,
)

# One row per flexible joint.
TRANSMISSION = np.dtype(
    [
        ("motor", np.int64),  # velocity of the motor's side
        ("link", np.int64),  # and of the link's
        ("phase", np.int64),  # two rows in work.phase: lower and upper flank; -1 = no backlash
        (
            "first",
            np.int64,
        ),  # in pool: knots, then per piece four coefficients and the energy at its start
        ("count", np.int64),  # knots, 0 = linear
        ("stiffness", np.float64),  # [N/m, N m/rad]
        ("damping", np.float64),  # [N s/m, N m s/rad]
        ("half_backlash", np.float64),  # [m, rad]
    ],
    align=True,
)

# One row per event function, in the order the event kernel fills them: limits, flanks of backlash, springs, the user's
# crossings, contacts, joint frictions.
EVENT = np.dtype(
    [
        ("limit", np.int64),  # row in limits, -1 = none
        ("transmission", np.int64),  # row in transmissions, -1 = none
        ("spring", np.int64),  # row in springs, -1 = none; is_stop: its ends meet
        ("contact", np.int64),  # row in contacts, -1 = none
        ("joint_friction", np.int64),  # row in joint_frictions, -1 = none
        ("ball_spring", np.int64),  # row in bodies, -1 = none; none of the six: a user's crossing
        ("measure", np.int64),  # Crossing, or ContactEvent
        ("index", np.int64),  # coordinate, velocity or frame
        ("component", np.int64),  # 0, 1, 2 for FRAME; of a transmission the side of the flank, -1 or +1
        ("direction", np.int64),  # -1 falling, +1 rising, 0 both
        ("is_stop", np.int64),
        ("is_kink", np.int64),  # a kink of a friction law: its instant is not reported
        ("is_fractional", np.int64),  # a gap at whose zero a force begins, or ends, as a fractional power of it
        ("start_side", np.int64),  # where it counts as being if it begins at its zero; 0: where it is going
        (
            "is_gap",
            np.int64,
        ),  # it falls with whatever fires where it is exactly 0 and at rest; its side changes with it only
        ("is_firm", np.int64),  # it counts as being there whatever its value: on the wrong side it fires at once
        ("value", np.float64),
        ("band", np.float64),  # how far beyond its zero it has changed its side; 0 for all that acts
    ],
    align=True,
)

OUTPUT = np.dtype(
    [
        ("quantity", np.int64),
        (
            "index",
            np.int64,
        ),  # frame, body (REACTION), first velocity (forces in joints), first contact row, loop, or spring
        ("count", np.int64),  # columns
        ("column", np.int64),  # first column
        ("in_world", np.int64),  # REACTION, LOOP: in world axes, else in those of the child
    ],
    align=True,
)

WORLD = np.dtype(
    [
        ("n_q", np.int64),
        ("n_v", np.int64),
        ("n_z", np.int64),
        ("n_acting", np.int64),  # signals that act at any time; those that only controllers look at follow
        ("has_plain_rates", np.int64),  # qdot = v throughout
        ("has_joint_forces", np.int64),  # springs, dampers, motors, limits, prescribed motion: any
        ("has_prescribed", np.int64),  # some motion is prescribed
        ("has_ball_springs", np.int64),
        ("needs_placement", np.int64),  # forces or events look at world placements
        ("has_frame_events", np.int64),  # events of frames or springs look at world placements
        ("has_one_way_springs", np.int64),  # springs between places that act in one sense only
        ("is_planar", np.int64),  # nothing ever leaves the x-y plane
        ("uses_planar", np.int64),  # is_planar, and no body bends
        ("is_spherical_chain", np.int64),  # serial, every joint spherical (or a floating root), nothing else
        ("n_lanes", np.int64),  # of constraints of loops
        ("is_coaxial", np.int64),  # segments on one line, no forces on them: nothing but rotation, linear
        ("gravity", np.float64, (3,)),  # [m/s^2] W
        ("plane", np.float64, (9,)),  # of segments: rows X, Y and their axis X x Y, W
    ],
    align=True,
)


class System(NamedTuple):
    """All tables of one model; shared by threads, never written after pack."""

    world: Any  # one row
    bodies: Any
    flexes: Any  # flexible bodies
    points: Any  # sections of flexible bodies
    dofs: Any
    signals: Any
    frames: Any
    loads: Any
    limits: Any
    transmissions: Any  # of flexible joints
    springs: Any  # between two places
    contacts: Any
    frictions: Any
    joint_frictions: Any  # friction in joints
    loops: Any  # closed loops
    constraints: Any  # their scalar constraints
    branches: Any  # parts of the tree between which nothing but loops acts; row 0: all of it; none without loops
    events: Any
    segments: Any  # of a serial chain of hinges with parallel axes, else none
    segment_shapes: Any
    segment_axes: Any  # (n_segments, 9) rows X, Y and axis of the plane, axes of the body
    controllers: Any  # those with a law
    commands: Any  # of these controllers
    feedback: Any  # what their laws look at
    encoders: Any  # what their sensors measure
    quadratures: Any  # int64: which work column each of the first z is; those of contacts follow, then friction states
    links: Any  # int64: signal rows of sums and products; velocities and constraints of branches
    pool: Any  # float64: cubic tables, matrices of control laws
    shapes: Any  # float64: shape integrals and values


def rows(count: int | tuple[int, ...], dtype: np.dtype) -> Any:
    """A zeroed table: C-contiguous, writable, fields by attribute (also under NUMBA_DISABLE_JIT=1)."""
    return np.zeros(count, dtype).view(np.recarray)


def empty_system() -> System:
    """The smallest System: its numba type is the type of all of them."""
    return System(
        world=rows(1, WORLD),
        bodies=rows(0, BODY),
        flexes=rows(0, FLEX),
        points=rows(0, POINT),
        dofs=rows(0, DOF),
        signals=rows(0, SIGNAL),
        frames=rows(0, FRAME),
        loads=rows(0, LOAD),
        limits=rows(0, LIMIT),
        transmissions=rows(0, TRANSMISSION),
        springs=rows(0, SPRING),
        contacts=rows(0, CONTACT),
        frictions=rows(0, FRICTION),
        joint_frictions=rows(0, JOINT_FRICTION),
        loops=rows(0, LOOP),
        constraints=rows(0, CONSTRAINT),
        branches=rows(0, BRANCH),
        events=rows(0, EVENT),
        segments=rows(0, SEGMENT),
        segment_shapes=rows(0, SEGMENT_SHAPE),
        segment_axes=np.zeros((0, 9)),
        controllers=rows(0, CONTROLLER),
        commands=rows(0, COMMAND),
        feedback=rows(0, FEEDBACK),
        encoders=rows(0, ENCODER),
        quadratures=np.zeros(0, np.int64),
        links=np.zeros(0, np.int64),
        pool=np.zeros(0, np.float64),
        shapes=np.zeros(0, np.float64),
    )
