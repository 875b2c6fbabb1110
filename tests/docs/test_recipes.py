"""The recipes of docs/adding.md, applied to a copy of the package and used: a method that is added as they say works.

Kernels run uncompiled here, so every recipe takes seconds; what is compiled is the same source."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from paths import DOCS, SOURCES

SKETCHES = [
    block.removeprefix("# sketch\n")
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "adding.md").read_text(), re.DOTALL)
]


def sketch(words):
    """The one block of adding.md that holds these words."""
    found = [block for block in SKETCHES if words in block]
    assert len(found) == 1, f"{len(found)} blocks with {words!r}"
    return found[0]


class Package:
    """A copy of the package that recipes change."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(SOURCES / "pliant", folder / "pliant", ignore=shutil.ignore_patterns("__pycache__"))

    def add(self, file, text):
        """A new file."""
        (self.folder / "pliant" / file).write_text(text)

    def before(self, file, line, text, spaces=0):
        """Put text before the first line that begins so."""
        path = self.folder / "pliant" / file
        source = path.read_text()
        at = source.index("\n" + " " * spaces + line) + 1
        path.write_text(source[:at] + textwrap.indent(textwrap.dedent(text), " " * spaces) + source[at:])

    def replace(self, file, old, new):
        path = self.folder / "pliant" / file
        source = path.read_text()
        assert old in source, f"{file} has no {old!r}"
        path.write_text(source.replace(old, new, 1))

    def run(self, script):
        """What a script prints that uses the copy."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "NUMBA_DISABLE_JIT": "1"}
        done = subprocess.run(
            [sys.executable, "-c", HEAD + script], capture_output=True, text=True, env=environment, cwd=self.folder
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.split()


HEAD = """
import numpy as np
import pliant
from pliant import *

rod = Body("rod", mass=1.0, shape=Rod(1.0))
pendulum = Model("pendulum", [rod], [Joint("hinge", "revolute", "rod", q0=-1.0, damping=0.1)], gravity=(0, -9.81, 0))
bars = [Body(name, mass=1.0, shape=Rod(1.0)) for name in ("left", "right", "coupler")]
mechanism = Model(
    "mechanism", bars,
    [
        Joint("a", "revolute", "left", q0=-1.2),
        Joint("b", "revolute", "right", parent=Frame("world", (1.0, 0, 0)), q0=-1.2),
        Joint("c", "revolute", "coupler", parent=Frame("left", (1.0, 0, 0)), q0=1.2),
    ],
    gravity=(0, -9.81, 0),
    loops=[Loop("pin", "revolute", Frame("coupler", (1.0, 0, 0)), Frame("right", (1.0, 0, 0)))],
)
"""


@pytest.fixture
def package(tmp_path):
    return Package(tmp_path)


def cite(package, key):
    package.replace("methods/citations.py", "CITATIONS = {", f'CITATIONS = {{\n    "{key}": "somebody, somewhere",')


def test_a_runge_kutta_method(package):
    tableau = sketch("BS23 = _tableau(").replace("from pliant.kernels.integrators.tableaus import _tableau\n", "")
    package.before("kernels/integrators/tableaus.py", "TABLEAUS = {", tableau)
    package.replace("kernels/integrators/tableaus.py", "for tableau in (", "for tableau in (BS23, ")
    package.before("methods/integrators.py", "INTEGRATORS:", sketch("class BS23(RungeKutta)"))
    package.replace("methods/integrators.py", "] = (\n    Dop853,", "] = (\n    BS23,\n    Dop853,")
    cite(package, "bogacki1989")
    errors = package.run("""
exact = simulate(pendulum, 0.2, rtol=1e-11).q[-1]
for model in (pendulum, mechanism):
    result = simulate(model, 0.2, integrator="bs23", rtol=1e-6)
    assert result.status == "done", result.reason
    assert result.audit["energy_residual"] < 1e-4
print(*(abs(simulate(pendulum, 0.2, integrator="bs23", step=h).q[-1] - exact)[0] for h in (0.02, 0.01)))
""")
    # third order
    assert 6.0 < float(errors[0]) / float(errors[1]) < 10.0


def test_another_integrator(package):
    package.add("kernels/integrators/semi_implicit.py", sketch("Semi-implicit Euler"))
    package.before("kernels/integrators/tableaus.py", "TABLEAUS = {", sketch("SEMI_IMPLICIT = _tableau"))
    package.replace("kernels/integrators/tableaus.py", "for tableau in (", "for tableau in (SEMI_IMPLICIT, ")
    package.before("methods/integrators.py", "INTEGRATORS:", sketch("class SemiImplicit(Integrator)"))
    package.replace("methods/integrators.py", "] = (\n    Dop853,", "] = (\n    SemiImplicit,\n    Dop853,")
    cite(package, "hairer2006")
    errors = package.run("""
exact = simulate(pendulum, 0.2, rtol=1e-11).q[-1]
assert simulate(mechanism, 0.1, integrator="semi_implicit", step=0.01).status == "done"
print(*(abs(simulate(pendulum, 0.2, integrator="semi_implicit", step=h).q[-1] - exact)[0] for h in (0.02, 0.01)))
""")
    assert 1.6 < float(errors[0]) / float(errors[1]) < 2.4


def test_an_implicit_integrator(package):
    package.add("kernels/integrators/implicit_euler.py", sketch("Implicit Euler, fixed steps: y_new"))
    package.before("kernels/integrators/tableaus.py", "TABLEAUS = {", sketch("IMPLICIT_EULER = _implicit"))
    package.replace("kernels/integrators/tableaus.py", "for tableau in (", "for tableau in (IMPLICIT_EULER, ")
    package.before("methods/integrators.py", "INTEGRATORS:", sketch("class ImplicitEuler(Integrator)"))
    package.replace("methods/integrators.py", "] = (\n    Dop853,", "] = (\n    ImplicitEuler,\n    Dop853,")
    errors = package.run("""
from dataclasses import replace

exact = simulate(pendulum, 0.2, rtol=1e-11).q[-1]
print(*(abs(simulate(pendulum, 0.2, integrator="implicit_euler", step=h).q[-1] - exact)[0] for h in (0.02, 0.01)))
assert simulate(mechanism, 0.02, integrator="implicit_euler", step=0.01).status == "done"

# far beyond the bound of explicit steps, h |rate| = 100: at rest where spring and weight balance
stiff = replace(pendulum, joints=[Joint("hinge", "revolute", "rod", q0=-1.0, stiffness=1e4, damping=3e3)])
result = simulate(stiff, 2.0, integrator="implicit_euler", step=0.2)
assert abs(result.v[-1, 0]) < 0.1 < abs(result.q[-1, 0] - result.q[0, 0]), (result.q, result.v)

# on an event, which the dense output locates
swing = replace(pendulum, crossings=[Crossing("passes", "hinge", value=-1.1, direction="falling")])
result = simulate(swing, 0.3, integrator="implicit_euler", step=0.02)
assert len(result.events) == 1 and abs(result.q[np.searchsorted(result.t, result.events[0].t), 0] + 1.1) < 1e-9
""")
    assert 1.6 < float(errors[0]) / float(errors[1]) < 2.4


def test_a_formulation(package):
    package.add("kernels/formulations/unit_vectors.py", sketch("def unit_vectors(system, work"))
    package.before("methods/formulations.py", "FORMULATIONS:", sketch("class UnitVectors(Formulation)"))
    package.replace("methods/formulations.py", "] = (\n    Articulated,", "] = (\n    Articulated, UnitVectors,")
    cite(package, "walker1982")
    package.run("""
for model in (pendulum, mechanism):
    rates = np.linspace(0.3, 0.5, len(model.velocities)) if not model.loops else np.zeros(3)
    usual = forward_dynamics(model, model.q0, rates)
    assert np.allclose(forward_dynamics(model, model.q0, rates, formulation="unit_vectors"), usual, atol=1e-11)
assert simulate(mechanism, 0.05, formulation="unit_vectors").status == "done"

beam = Beam("beam", 1.0, Material(young=2e11, density=7850.0), Rectangle(width=0.01, height=0.02), bending_y=1)
flexible = Model("flexible", [beam], [Joint("hinge", "revolute", "beam")])
try:
    forward_dynamics(flexible, flexible.q0, flexible.v0, formulation="unit_vectors")
except ModelError as error:
    wanted = "'unit_vectors' does not support flexible bodies; these do: articulated, boltzmann_hamel, denoc, gibbs"
    assert wanted in str(error), error
else:
    raise AssertionError("a formulation of rigid bodies took a beam")
""")


def test_a_closure_of_loops(package):
    package.add("kernels/closures/stiffening.py", sketch("Virtual springs that stiffen"))
    numbers = sketch('("stiffening", np.float64)').replace(")  #", "),  #")
    package.before("system/work.py", '("baumgarte_rate", np.float64),', numbers, 8)
    package.before("methods/closures.py", "CLOSURES:", sketch("class Stiffening(Closure)"))
    package.replace("methods/closures.py", "] = (Multipliers, ", "] = (Multipliers, Stiffening, ")
    cite(package, "me2030")
    package.run("""
from pliant.methods.closures import Stiffening

times = np.linspace(0.0, 0.02, 30)
closed = simulate(mechanism, 0.02).at(times)[0]
off = []
for values in ({"stiffness": 1e4}, {"stiffness": 1e5}, {"stiffness": 1e4, "width": 1e-5}):
    result = simulate(mechanism, 0.02, closure=Stiffening(**values), integrator="dopri5", rtol=1e-5)
    assert result.status == "done" and result.audit["energy_residual"] < 1e-5, result.audit
    off.append(abs(result.at(times)[0] - closed).max())
# ten times stiffer opens a tenth as far; one that stiffens early less than one that does not
assert 8.0 < off[0] / off[1] < 12.0 and off[2] < 0.5 * off[0], off
assert simulate(mechanism, 0.002, closure="stiffening", integrator="newmark", step=0.001).status == "done"
""")


def test_an_option_of_runs(package):
    row = sketch('RunOption("first_step"').strip() + ",\n"
    package.before("engine/run_options.py", 'RunOption("max_steps",', row, 8)
    package.before("simulation/simulate.py", "max_steps: int", "first_step: float | None = None,\n", 4)
    package.replace(
        "simulation/simulate.py", '"max_step": max_step,', '"max_step": max_step, "first_step": first_step,'
    )
    package.replace("simulation/run.py", 'h=options["step"] or 0.0', sketch('options["first_step"]').strip())
    found = package.run("""
from dataclasses import replace

for model in (pendulum, mechanism):
    assert np.isclose(simulate(model, 0.01, first_step=1e-5).t[1], 1e-5)
    assert np.isclose(simulate(replace(model, run={"first_step": 1e-5}), 0.01).t[1], 1e-5)
try:
    simulate(pendulum, 0.01, first_step=-1.0)
except ModelError as error:
    print(error)
""")
    assert found[0].startswith("first_step")


def test_a_chart(package):
    drawn = sketch("def phase_drawings")
    package.before("view/charts/topics.py", "TOPICS:", drawn + "\n\n")
    package.before("view/charts/topics.py", '"contacts": contact_drawings,', '"phase": phase_drawings,\n', 4)
    package.before("view/charts/run_charts.py", 'yield "Beams", ', sketch('yield "Phase"'), 4)
    package.replace("view/charts/run_charts.py", "import energy_drawing,", "import phase_drawings, energy_drawing,")
    package.run("""
import matplotlib

matplotlib.use("Agg")
for model in (pendulum, mechanism):
    result = simulate(model, 0.02)
    line = result.plot("phase").lines[0]
    assert np.isclose(line.get_xdata()[-1], result.q[-1, 0]) and np.isclose(line.get_ydata()[-1], result.v[-1, 0])
result.report("page.html")
assert "Phase portrait [rad/s] over angle" in open("page.html").read()
""")


def test_a_robot_format(package):
    package.add("io/denavit_hartenberg.py", sketch("Denavit-Hartenberg tables in"))
    package.before("io/robot_file.py", '".urdf": (', sketch('".dh": ("pliant.io.denavit'), 4)
    # an elbow whose second axis is at right angles to the first, and a loop that a sidecar closes
    (package.folder / "arm.dh").write_text("upper 2.0 0.5 1.5707963267948966 0.1\nfore 1.0 0.4 0.0 0.0\n")
    (package.folder / "bad.dh").write_text("upper 2.0 0.5\n")
    (package.folder / "held.toml").write_text(
        'robot = "arm.dh"\n[[loops]]\nname = "tip"\nkind = "distance"\nlength = 1.2727922061357855\n'
        'first = { body = "fore", position = [0.4, 0, 0] }\nsecond = { body = "world", position = [0, 0, 1] }\n'
    )
    found = package.run("""
arm = load("arm.dh", gravity="0, 0, -1.62")
R, p = frame_placement(arm, [0.3, 0.2], "fore")
# z of the forearm is the axis of the elbow, at right angles to that of the shoulder; its x is lifted by the elbow
x = (np.cos(0.2) * np.cos(0.3), np.cos(0.2) * np.sin(0.3), np.sin(0.2))
assert np.allclose(p, (0.5 * np.cos(0.3), 0.5 * np.sin(0.3), 0.1)) and np.allclose(R[:, 0], x), (R, p)
assert simulate(arm, 0.05).audit["energy_residual"] < 1e-8
assert simulate(load("held.toml"), 0.02).status == "done"
try:
    load("bad.dh")
except ModelError as error:
    print(error)
""")
    assert " ".join(found) == "bad.dh: line 1: 'upper 2.0 0.5' found; give name, mass, a, alpha and d"


def test_a_joint_kind(package):
    package.before("model/joints.py", '"fixed": JointRow', sketch('JointRow(("x", "y", "z")'), 4)
    package.replace("model/joints.py", '"spherical", "floating"]', '"spherical", "floating", "cartesian"]')
    package.before("model/mobility.py", 'case "fixed":', sketch('case "cartesian":'), 8)
    package.replace("system/tables.py", "    FLOATING = 7\n", "    FLOATING = 7\n    CARTESIAN = 8\n")
    package.before("kernels/kinematics/joints.py", "if kind == JointKind.FLOATING:", sketch("JointKind.CARTESIAN"), 4)
    package.run("""
box = Model("box", [Body("box", mass=2.0, inertia=(1, 1, 1))], [Joint("free", "cartesian", "box", v0=(1, 2, 3))])
assert box.velocities == ("free.x", "free.y", "free.z")
result = simulate(box, 0.5)
assert np.allclose(result.q[-1], (0.5, 1.0, 1.5 - 0.5 * 9.81 * 0.25), atol=1e-9)
assert result.audit["energy_residual"] < 1e-10
""")


def test_a_signal_kind(package):
    package.before("model/signals.py", "SIGNAL_KINDS = (", sketch("class Decay(_Algebra)"))
    package.replace("model/signals.py", "SIGNAL_KINDS = (Constant, ", "SIGNAL_KINDS = (Constant, Decay, ")
    package.replace("model/signals.py", "    Constant | Linear |", "    Constant | Decay | Linear |")
    package.replace(
        "system/tables.py", "    CONSTANT = 0  # a\n", "    CONSTANT = 0  # a\n    DECAY = 11  # a exp(-b t)\n"
    )
    package.before("system/signal_rows.py", "if isinstance(signal, Constant):", sketch("isinstance(signal, Decay)"), 8)
    package.replace("system/signal_rows.py", "Constant,", "Constant, Decay,")
    package.before(
        "kernels/forces/signals.py", "if kind == SignalKind.CONSTANT:", sketch("kind == SignalKind.DECAY"), 4
    )
    package.run("""
from pliant.model.signals import Decay

cart = Body("cart", mass=1.0, inertia=(1, 1, 1))
joint = Joint("x", "prismatic", "cart", axis=(1, 0, 0), motor=Decay(amplitude=2.0, rate=3.0))
result = simulate(Model("cart", [cart], [joint], gravity=(0, 0, 0)), 1.0)
assert abs(result.v[-1, 0] - 2.0 / 3.0 * (1.0 - np.exp(-3.0))) < 1e-9
""")


def test_a_control_law(package):
    package.before("model/control_laws.py", "CONTROL_LAWS: ", sketch("class RateControl(SampledLaw)") + "\n\n")
    package.replace("model/control_laws.py", "(PD, PID, ", "(PD, RateControl, PID, ")
    package.replace("model/control_laws.py", "ControlLaw = PD | ", "ControlLaw = PD | RateControl | ")
    package.run("""
from dataclasses import replace

servo = {"name": "servo", "period": 0.01, "joints": ["hinge"], "law": {"kind": "rate", "gain": 2.0, "reference": 0.3}}
model = replace(pendulum, controllers=(Controller(**servo),))
result = simulate(model, 0.05)
assert abs(result.inputs[-1, 0] + 2.0 * result.at(0.04)[1][0]) < 1e-9, result.inputs
""")


def test_a_force_law_of_joints(package):
    package.before("model/joints.py", "armature: ", sketch("drag: Each"), 4)
    package.replace("model/joints.py", '"damping", "armature", "gear")', '"damping", "drag", "armature", "gear")')
    column, power = sketch('("drag", np.float64)').split("\n")[:2]
    package.replace(
        "system/tables.py", '        ("damping", np.float64),  # [N s/m, N m s/rad]\n',
        '        ("damping", np.float64),  # [N s/m, N m s/rad]\n        ("drag", np.float64),\n',
    )  # fmt: skip
    assert '("drag", np.float64)' in column
    package.before("system/tables.py", "LOOP = 8", power + "\n", 4)
    package.replace(
        "system/pack.py", '("stiffness", "rest", "damping", "arm', '("drag", "stiffness", "rest", "damping", "arm'
    )
    package.before("system/pack.py", "row.stiffness, row.rest, row.damping =", 'row.drag = given["drag"][k]\n', 12)
    package.before("system/pack.py", "dofs.stiffness,", "dofs.drag,\n", 12)
    package.before("system/pack.py", "Power.DAMPER:", sketch("Power.DRAG: np.any"), 8)
    file = "kernels/forces/joints.py"
    package.before(file, "motor_power, damper_power, limit_power =", "drag_power = 0.0\n", 4)
    package.before(file, "add_joint_force(system, work, j, force)", sketch("drag_power += drag * v[j]"), 8)
    package.before(file, "work.power[Power.MOTOR] =", "work.power[Power.DRAG] = drag_power\n", 4)
    package.run("""
cart = Body("cart", mass=2.0, inertia=(1, 1, 1))
joint = Joint("x", "prismatic", "cart", axis=(1, 0, 0), v0=3.0, drag=0.8)
result = simulate(Model("cart", [cart], [joint], gravity=(0, 0, 0)), 1.0)
assert abs(result.v[-1, 0] - 3.0 / (1.0 + 0.8 / 2.0 * 3.0)) < 1e-7, result.v[-1]
assert result.energy["work_drag"][-1] < 0.0
assert result.audit["energy_residual"] < 1e-8
""")


def test_a_normal_law(package):
    package.before("model/normal_laws.py", "NORMAL_LAWS:", sketch("class MyLaw(RestitutionLaw)") + "\n\n")
    cite(package, "me2030")
    package.run("""
ground = Contact("ground", NormalLaw("my-law", stiffness=1e5, restitution=0.5), points=["ball"])
ball = Body("ball", mass=1.0, inertia=(1, 1, 1))
model = Model("ball", [ball], [Joint("z", "prismatic", "ball", q0=0.05)], contacts=[ground])
result = simulate(model, 0.15)
delivered = result.contacts[0].restitution_delivered
assert 0.5 < delivered < 0.75 and result.audit["energy_residual"] < 1e-7, delivered
""")


def test_a_normal_law_of_another_form(package):
    package.replace("system/contact_tables.py", "    VISCO = 2  # K d + c d'\n", "    VISCO = 2\n    SQUARE = 3\n")
    package.before("model/normal_laws.py", "NORMAL_LAWS:", sketch("class SquareDamper(NormalLaw)") + "\n\n")
    file = "kernels/contact/normal.py"
    package.before(file, "return elastic_force(contact, d) *", sketch("return contact.K * d + contact.c * d * d"), 4)
    package.before(file, "c = damping(contact, phase)", sketch("return contact.K + contact.c * d * rate"), 4)
    cite(package, "me2030")
    package.run("""
def falling(damping):
    law = NormalLaw("square-damper", stiffness=1e5, damping=damping)
    ball = Body("ball", mass=1.0, inertia=(1, 1, 1))
    joint = Joint("z", "prismatic", "ball", q0=0.05)
    return Model("ball", [ball], [joint], contacts=[Contact("ground", law, points=["ball"])])

# K d + c d^2 d' at a depth of 1 mm that grows at 0.5 m/s
vdot = forward_dynamics(falling(1e6), [-1e-3], [-0.5])[0]
assert abs(vdot - (1e5 * 1e-3 + 1e6 * 1e-6 * 0.5 - 9.81)) < 1e-9, vdot
# so much damping that the force would pull before it leaves: an event ends it
for damping in (1e6, 1e8):
    result = simulate(falling(damping), 0.15, rtol=1e-6)
    assert result.status == "done" and result.audit["energy_residual"] < 1e-4, result.audit
    assert 0.0 < result.contacts[0].restitution_delivered < 1.0, result.contacts[0]
""")


def test_a_friction_law(package):
    package.before("model/friction_laws.py", "FRICTION_LAWS:", sketch("class Falling(_Friction)") + "\n\n")
    package.replace("system/contact_tables.py", "    LUGRE = 11\n", "    LUGRE = 11\n    FALLING = 12\n")
    package.before(
        "kernels/contact/friction.py", "if kind == FrictionKind.AMBROSIO:", sketch("FrictionKind.FALLING"), 4
    )
    cite(package, "me2030")
    package.run("""
law = Friction("falling", mu_k=0.2, mu_s=0.4, v_s=0.5, sharpness=1e3, load=5.0)
cart = Body("cart", mass=2.0, inertia=(1, 1, 1))
joint = Joint("x", "prismatic", "cart", axis=(1, 0, 0), v0=3.0, friction=law)
model = Model("cart", [cart], [joint], gravity=(0, 0, 0))
vdot = forward_dynamics(model, [0.0], [1.0])[0]
assert abs(vdot + (0.2 + 0.2 * np.exp(-2.0)) * 5.0 / 2.0) < 1e-12, vdot
assert simulate(model, 0.2).audit["friction_drive"] < 1e-9
""")


def test_an_output_quantity(package):
    package.replace("model/model.py", '"angular_velocity"]', '"angular_velocity", "angular_acceleration"]')
    tables = package.folder / "pliant" / "system" / "tables.py"
    head, quantities, tail = re.split(r"(?<=ANGULAR_VELOCITY = 4\n)(.*?)(?=\n\n)", tables.read_text(), flags=re.DOTALL)
    later = re.sub(r"(?<= = )\d+", lambda number: str(int(number[0]) + 1), quantities)
    tables.write_text(f"{head}    ANGULAR_ACCELERATION = 5\n{later}{tail}")
    package.before("kernels/outputs.py", "elif kind == Quantity.REACTION:", sketch("Quantity.ANGULAR_ACCELERATION"), 4)
    package.replace(
        "model/columns.py", "PARTS = {", 'PARTS = {"angular_acceleration": dict.fromkeys("xyz", "rad/s^2"),'
    )
    package.run("""
from dataclasses import replace

model = replace(pendulum, outputs=(Output("al", "rod", "angular_acceleration"),))
result = simulate(model, 0.1)
assert np.allclose(result.outputs["al"][0], (0, 0, forward_dynamics(model, model.q0, model.v0)[0]), atol=1e-12)
""")


def test_a_case(package):
    package.add("cases/far_swing.py", sketch('name="far-swing",\n    title='))
    package.replace("cases/case.py", "MODULES = (\n", 'MODULES = (\n    "far_swing",\n')
    found = package.run("""
from pliant.cases.case import all_cases

case = all_cases()["far-swing"]
result = simulate(case.build(case.resolve({})), 5.0, rtol=1e-7)
print(case.figures(result)["period"])
""")
    # swings from 90 degrees: 4 K(1/2) sqrt(1 / g)
    assert float(found[0]) == pytest.approx(2.3678419475762354, abs=1e-5)
