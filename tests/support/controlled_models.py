"""Models under a sampled controller."""

from pliant import Body, Controller, Frame, Joint, Model, Output, Rod

MASS, PERIOD = 2.0, 0.1


def slider(function, start=(1.0, 0.3), **options):
    """A double integrator: one mass on a rail without friction or gravity."""
    return Model(
        "slider", gravity=(0, 0, 0), bodies=(Body("mass", MASS, inertia=(1, 1, 1)),),
        joints=(Joint("rail", "prismatic", "mass", q0=start[0], v0=start[1]),),
        controllers=(Controller("servo", **{"period": PERIOD, "joints": ("rail",), "function": function} | options),),
    )  # fmt: skip


def two_joints(function, **options):
    options = {"period": 0.01, "joints": ("shoulder", "elbow"), "function": function} | options
    return Model(
        "arm", gravity=(0, -9.81, 0),
        bodies=(Body("upper", 1.0, shape=Rod(0.5)), Body("lower", 1.0, shape=Rod(0.4))),
        joints=(
            Joint("shoulder", "revolute", "upper", q0=-1.0),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", (0.5, 0, 0))),
        ),
        frames=(Frame("lower", (0.4, 0, 0), name="tip"),),
        outputs=(Output("tip", "tip", "position"), Output("load", "shoulder", "reaction")),
        controllers=(Controller("servo", **options),),
    )  # fmt: skip
