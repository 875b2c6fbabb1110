"""One of everything a model file may hold."""

from pliant.model.attitudes import AxisAngle, EulerAngles, Pose, RollPitchYaw, RotationVector
from pliant.model.bodies import Body, Box, Frame, Rod, Sphere, Tube
from pliant.model.contacts import Contact, Friction, NormalLaw, Plane
from pliant.model.joints import Joint, Limit
from pliant.model.model import Base, Controller, Crossing, Load, Model, Output
from pliant.model.normal_laws import Hertz
from pliant.model.signals import Chirp, Constant, Cycloid, Linear, Ramp, Sine, Step, Sum, Table
from pliant.model.springs import ForceTable, Spring

SOLID = (0.1, 0.2, 0.25)
LUGRE = Friction("lugre", 0.1, mu_s=0.2, v_s=0.01, sigma0=1e4, sigma1=30.0, load=2.0)


def rich():
    """One of everything a model file may hold."""
    tables = (
        Table(range(7), (0, 1, 3, 2, 4, 5, 7), "periodic", True, True, 5, advance=7.0),
        Table((0, 0.1, 0.1, 2), (0, 1, 2, 3), kinks=(0.1,), errors=(1e-9, 1e-8, 1e-7)),
    )
    signals = (
        Step(1.0, 2.0, 0.5),
        Ramp(0.0, 1.0),
        Chirp(3.0, 20.0, amplitude=0.1),
        Table((0, 1, 2.5), (0, 0.1, 1 / 3), "natural"),
        Sum((Constant(1.0), 0.3 * Sine(omega=2.0, phase=0.1), Linear(0.1, 1 / 3), *tables)),
    )
    joints = (
        Joint("turn", "revolute", "b1", "b0", (0, 1, 1), q0=0.1, v0=-1.0, stiffness=3.0, rest=0.2, damping=0.1),
        Joint("slide", "prismatic", "b2", Frame("b1", (0.1, 0, 1e-17), RollPitchYaw(0.1, 0, -2)), motion=Cycloid(0, 1)),
        Joint("screw", "cylindrical", "b3", "mount", q0=(0.1, 1e-300), limit=(Limit(-1, 1), "none"), gear=(2.0, 50.0)),
        Joint("cross", "universal", "b4", Frame("b3", attitude=AxisAngle((1, 2, 3), 0.3)), motor=signals[:2]),
        Joint("plane", "planar", "b5", "b4", motion=("free", Sine(), "free"), armature=(0.0, 0.0, 0.1)),
        Joint("ball", "spherical", "b6", "b5", q0=(0.1, 0.2, 0.3, 0.9), stiffness=5.0, motor=signals[2:5]),
        Joint("free", "floating", "b7", q0=Pose((1, 2, 3), EulerAngles("zxz", (0.1, 2, 3))), v0=(1, 2, 3, 4, 5, 6e-7)),
        Joint("weld", "fixed", "b8", Frame("b7", attitude=RotationVector((0.1, 0, 0.2)))),
        Joint("stop", "revolute", "b9", "b8", limit=Limit(lower=-0.1, stiffness=100.0, damping=1.0), friction=LUGRE),
    )
    bodies = (
        Body("b0", 2.0, (0.1, 0, 0), SOLID),
        Body("b1", shape=Tube(1.0, 0.1, 0.05, "y"), density=2700.0),
        Body("b2", shape=Box((1, 2, 3), (0, 0, 1)), density=1.0),
        Body("b3", 1.0, shape=Sphere(0.1)),
        Body("b4", 1.0, inertia=(1, 1, 1, 0.1, 0.2, 0.3)),
        *(Body(f"b{i}", 1.0, shape=Rod(1.0, 0.1)) for i in range(5, 10)),
    )
    turned = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    return Model(
        name='the "rich" one \\ \u00e9\n',
        bodies=bodies,
        joints=joints,
        base=Base("floating", (1, 2, 3), (0, 0, 0.6, 0.8), (1, 0, 0), (0, 0, 0.1)),
        gravity=(0, -1.62, 0),
        frames=(Frame("b2", (0, 0, 1), turned, "mount"), Frame("world", name="corner")),
        loads=(
            Load("mount", x=signals[4], axes="body"),
            Load(Frame("b3", (1, 0, 0)), z=0.0, kind="couple", name="twist"),
        ),
        springs=(
            Spring("strut", "mount", Frame("b4", (0, 0.1, 0)), 1e3, 2.0, 0.5, Sine(3.0)),
            Spring("guy", "corner", "b6", ForceTable((0.0, 0.1, 0.3), (0.0, 5.0, 1e3)), only="tension"),
        ),
        contacts=(
            Contact("floor", NormalLaw("flores", 1e8, restitution=0.9), Plane("corner", offset=-9.0), radius=0.1),
            Contact(
                "tray",
                NormalLaw("hunt-crossley", Hertz(0.1, 2e11), damping=0.1),
                Plane(Frame("b2", (0, 0, -9)), (0.1, 0, 1)),
                (Frame("b4", (1, 0, 0)), "b6"),
                Friction("ambrosio", 0.1, v0=1e-4, v1=1e-3),
            ),
        ),
        crossings=(Crossing("low", "mount.z", -0.5, "falling", "stop"), Crossing("still", "turn.rate")),
        outputs=(Output("path", "mount", "position"), Output("bearing", "ball", "reaction", "world")),
        controllers=(Controller("law", 0.01, ("turn", "ball"), "control.py:law"),),
        duration=12.5,
    )
