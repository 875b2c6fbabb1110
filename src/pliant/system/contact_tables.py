"""Tables of contact and friction: dtypes and kinds. numpy only; filled by contact_rows.py."""

from enum import IntEnum

import numpy as np


class NormalKind(IntEnum):
    POWER = 0  # K d^n (1 + X d'/impact_speed)
    GIVEN = 1  # K d^n (1 + c d')
    VISCO = 2  # K d + c d'


class FrictionKind(IntEnum):
    """Names are those of the laws, in capitals. The first five stick, the last two have states."""

    COULOMB = 0
    STICTION = 1
    VISCOUS = 2
    STRIBECK = 3
    KARNOPP = 4
    BENGISU_AKAY = 5
    AMBROSIO = 6
    ATAN = 7
    TANH = 8
    STEP_STRIBECK = 9
    DAHL = 10
    LUGRE = 11


class Branch(IntEnum):
    """phase.branch of the laws that stick; of the others: how many kink speeds the sliding speed is above."""

    STICK = 0  # at rest: the force cancels the tangential acceleration
    BREAK = 1  # at rest, but the force has reached its bound: it slips, still too slowly for a direction of its own
    SLIP = 2


class ContactEvent(IntEnum):
    """Event functions of a contact row; friction in a joint has the last three."""

    GAP = 0  # falls: contact begins; rises: it ends
    CLAMP = 1  # damping would make the force pull
    KINK1 = 2  # the lower kink of the law; of a law that sticks: the sliding speed leaves the range of its branch
    KINK2 = 3  # the upper kink; of a law that sticks: a point that broke away is held again
    RELEASE = 4  # the stick force reaches what friction can hold


# one row per point and plane
CONTACT = np.dtype(
    [
        ("frame", np.int64),  # of the point
        ("plane", np.int64),  # frame in the plane: its z axis is the normal
        ("kind", np.int64),  # NormalKind
        ("friction", np.int64),  # row in frictions, -1 = none
        ("phase", np.int64),  # row in work.phase
        ("quadrature", np.int64),  # in z: work of the contact [J], then normal impulse [N s]
        ("state", np.int64),  # in z: two friction states along the plane's x and y [m], -1 = none
        ("has_clamp", np.int64),  # the law has damping
        ("rests", np.int64),  # it may be pressed at the start
        ("span_first", np.int64),  # first velocity that its force may move ..
        ("span_end", np.int64),  # .. and the one after the last
        ("radius", np.float64),  # of the ball about the point [m]
        ("size", np.float64),  # of the model: how large the lengths are of which its gap is a difference [m]
        ("K", np.float64),  # [N/m^n]
        ("n", np.float64),
        ("X", np.float64),  # POWER
        ("c", np.float64),  # GIVEN [s/m], VISCO [N s/m]
    ],
    align=True,
)

# one row per friction law in use; parameters as in model/contacts.py: Friction
FRICTION = np.dtype(
    [
        ("kind", np.int64),  # FrictionKind
        ("sticks", np.int64),
        ("n_kinks", np.int64),  # speeds at which the law has a kink (a law that sticks: its stick speed)
        ("kink", np.float64, (2,)),  # those speeds [m/s]
        ("mu_k", np.float64),
        ("mu_s", np.float64),  # mu_k where the law has none
        ("v0", np.float64),
        ("v1", np.float64),
        ("c_v", np.float64),
        ("v_s", np.float64),
        ("p", np.float64),
        ("xi", np.float64),
        ("sharpness", np.float64),
        ("sigma0", np.float64),
        ("sigma1", np.float64),
        ("sigma2", np.float64),
        ("least_normal", np.float64),
    ],
    align=True,
)

# friction in joints, one row per velocity that has it
JOINT_FRICTION = np.dtype(
    [
        ("dof", np.int64),
        ("friction", np.int64),  # row in frictions
        ("phase", np.int64),  # row in work.phase
        ("state", np.int64),  # in z, -1 = none
        ("span_first", np.int64),  # as of a contact
        ("span_end", np.int64),
        ("load", np.float64),  # N of the law [N, N m]
    ],
    align=True,
)

# discrete phase: one row per limit, then per contact, then per joint friction; written by the event handler only
PHASE = np.dtype(
    [
        ("is_active", np.int64),  # the stop or flank is pressed, the point touches; friction in joints always acts
        ("is_pushing", np.int64),  # 0: touching, but damping would make the force pull
        ("branch", np.int64),  # of the friction law
        ("impact_speed", np.float64),  # at which this contact began, not below the floor [m/s]
        (
            "sense",
            np.float64,
        ),  # of friction in SLIP: along the velocity in joints, along x of the plane in planar models; of a spring on a
        # quaternion-like joint the sign of w, which is that of its rotation vector
    ],
    align=True,
)

CONTACT_WORK = np.dtype(
    [
        # filled by contact/gather.py
        ("gap", np.float64),  # [m]
        ("normal_force", np.float64),  # [N]
        ("tangential", np.float64, (3,)),  # friction force on the point [N] W
        ("power", np.float64),  # of both [W]
        ("zdot", np.float64, (2,)),  # of the friction states
        # filled by contact/gather.py: load_states
        ("z", np.float64, (2,)),  # friction states
        # filled by kernels/tangents.py
        ("mass", np.float64),  # a h c + (a h)^2 k of its tangents in a semi-implicit stage [kg], 0: none
        # filled by contact/stick.py
        ("bound", np.float64),  # largest force that sticking can bring [N]
        ("unknown", np.int64),  # first of its stick forces, -1: does not stick
        # filled by contact/stick_or_slip.py
        ("branch_before", np.int64),
    ],
    align=True,
)

JOINT_FRICTION_WORK = np.dtype(
    [
        ("force", np.float64),  # friction along the velocity [N, N m]
        ("zdot", np.float64),
        ("z", np.float64),
        ("bound", np.float64),
        ("unknown", np.int64),
        ("branch_before", np.int64),
    ],
    align=True,
)
