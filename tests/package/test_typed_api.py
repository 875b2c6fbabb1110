"""What editors and type checkers see of pliant: real types, and wrong keywords as errors."""

import subprocess
import sys
import textwrap

import pliant
from paths import ROOT

USER = textwrap.dedent(
    """
    import numpy as np
    import pliant
    from pliant import Beam, Bending, Body, Contact, Frame, Joint, Model, Rectangle

    model = pliant.load("two-link-arm")
    reveal_type(model)
    reveal_type(Joint("hinge", "revolute", "arm"))
    result = pliant.simulate(model, 1.0, integrator=pliant.GeneralisedAlpha(rho_inf=0.8), step=1e-3)
    reveal_type(result)
    reveal_type(result.at(0.5)[0])
    reveal_type(pliant.mass_matrix(model, model.q0))
    pliant.simulate(model, closure="springs", closure_stiffness=1e5)
    steel = pliant.Material(young=2e11, density=7850)
    boom = Beam("boom", 1.0, steel, Rectangle(0.02, 0.01), bending_y=3, bending_z=[1, 2], stretch=2, q0=np.zeros(7))
    arm = Beam("arm", 1, steel, Rectangle(0.02, 0.01), bending_y=Bending(modes=(1, 3)), torsion=pliant.AxialShapes(1))
    reveal_type(arm.n_modes)
    payload = Body("payload", 0.5, com=[0.1, 0, 0], inertia=(1e-3, 1e-3, 1e-3))
    hinge = Joint("hinge", "revolute", "boom", q0="-90 deg", axis=[0, 0, 1], motor=3.0, stiffness=5)
    weld = Joint("weld", "fixed", "payload", parent=Frame("boom", [1.0, 0, 0], name="tip"))
    servo = pliant.Controller("servo", 0.01, ["hinge"], law=pliant.PD([40.0], 2.0, reference=0.5), limit=[8.0])
    pliant.StateFeedback(np.ones((1, 4)), q=[0.1, 0.2], feedforward=pliant.Cycloid(0.0, 1.0) + 2.0)
    pliant.LinearController([[0.5]], [[1.0, 0.0]], [[1.0]], [[1.0, 0.0]])
    pliant.TaperedSection([Rectangle(0.02, 0.01), Rectangle(0.01, 0.01)])
    Model("arm", [boom, payload], [hinge, weld], gravity=[0, 0, 0], controllers=[servo], frames=[Frame("boom")])
    Model("arm", (boom,), (hinge,), outputs=[pliant.Output("tip", "boom", "position")], loads=[pliant.Load("boom")])
    Joint("hinge", "revolute", "arm", frction=None)  # wrong
    Beam("boom", 1.0, steel, Rectangle(0.02, 0.01), bending_x=3)  # wrong
    Model("arm", [steel], [hinge])  # wrong
    Body("arm", mas=1.0)  # wrong
    pliant.simulate(model, durtion=1.0)  # wrong
    pliant.simulate(model, rho_infinity=1.0)  # wrong
    pliant.Springs(stifness=1.0)  # wrong
    reveal_type(pliant.Flores(stiffness=1e8, restitution=0.7))
    Contact("ground", pliant.Flores(1e8, 0.7), friction=pliant.Stribeck(mu_k=0.2, mu_s=0.4, v_s=0.05, load=1.0))
    Contact("ground", pliant.NormalLaw("flores", 1e8, restitution=0.7), friction=pliant.Friction("coulomb", 0.3))
    pliant.Flores(stiffness=1e8, restitution=0.7, damping=1.0)  # wrong
    pliant.Stribeck(mu_k=0.2, mu_s=0.4, vs=0.05)  # wrong
    pliant.NormalLaw("flores", 1e8, restitutoin=0.7)  # wrong
    Contact("ground", normal=pliant.Coulomb(0.3))  # wrong
    result.at()  # wrong
    result.contcts  # wrong
    pliant.Jiont  # wrong
    """
)


def test_a_wrong_keyword_is_a_type_error_and_types_are_real(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER)
    # as the linter runs, whose cache serves again
    words = [sys.executable, "-m", "mypy", str(file)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    seen = ("model.model.Model", "model.joints.Joint", "result.Result", "model.normal_laws.Flores")
    for name in (*(f"pliant.{name}" for name in seen), "numpy.ndarray"):
        assert f'Revealed type is "{name}' in done.stdout, done.stdout
    wrong = {number for number, line in enumerate(USER.splitlines(), 1) if line.endswith("# wrong")}
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert found == wrong, done.stdout


def test_every_public_name_is_there():
    for name in pliant.__all__:
        assert getattr(pliant, name) is not None
    # a room by its name, which needs gymnasium: import * leaves it out
    assert dir(pliant) == sorted([*pliant.__all__, "gym"])
    assert pliant.gym.make is not None
