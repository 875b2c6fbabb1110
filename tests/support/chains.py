"""Random planar chains of hinges: everything that transfer matrices take."""

import numpy as np

from pliant.model.bodies import Body, Frame
from pliant.model.joints import Joint
from pliant.model.model import Load, Model
from pliant.model.rotations import rotation_matrix
from pliant.model.signals import Sine


def angular_chain(n, inertia, stiffness, damping, torque=1.0):
    """n wheels on one line, springs and dampers between them, a torque on the last."""
    bodies = [Body(f"b{i}", 1.0, inertia=(inertia,) * 3) for i in range(n)]
    joints = [
        Joint(f"j{i}", "revolute", f"b{i}", f"b{i - 1}" if i else "world", stiffness=stiffness, damping=damping)
        for i in range(n)
    ]
    return Model("angular chain", bodies, joints, loads=(Load(f"b{n - 1}", z=torque, kind="couple"),))


def random_chain(seed, n=6, axis=(0.0, 0.0, 1.0), prescribed=(), welded=(), free=(), armature=True):
    """n links of any shape on hinges about one axis, springs, dampers, motors, loads; `free`: without springs."""
    rng = np.random.default_rng(seed)
    turn = rotation_matrix(np.array([1.0, 0.0, 0.0]), 0.0)
    if axis != (0.0, 0.0, 1.0):
        z = np.array(axis) / np.linalg.norm(axis)
        x = np.linalg.qr(np.column_stack([z, rng.standard_normal((3, 2))]))[0][:, 1]
        turn = np.column_stack([x, np.cross(z, x), z])
    bodies, joints, parent = [], [], "world"
    for i in range(n):
        A = rng.standard_normal((3, 3))
        bodies.append(
            Body(
                f"b{i}", rng.uniform(0.5, 2.0), tuple(rng.uniform(-0.4, 0.4, 3)), (0.05 * A @ A.T + np.eye(3)).tolist()
            )
        )
        spin = rotation_matrix(np.array([0.0, 0.0, 1.0]), rng.uniform(-3, 3))
        place = rng.uniform(-1.0, 1.0, 3)
        R = turn @ spin if i == 0 else spin
        frame = Frame(parent, tuple(place), R.tolist())
        if i in welded:
            joints.append(Joint(f"j{i}", "fixed", f"b{i}", frame))
        else:
            has_spring = i not in free
            given = dict(
                axis=(0.0, 0.0, float(rng.choice([-1, 1]))),
                q0=rng.uniform(-2, 2),
                v0=rng.uniform(-2, 2),
                stiffness=rng.uniform(0, 50) if has_spring else 0.0,
                damping=rng.uniform(0, 5) if has_spring else 0.0,
                rest=rng.uniform(-1, 1),
                armature=rng.uniform(0, 1) if armature and i % 2 else 0.0,
                gear=rng.uniform(1, 3),
                motor=Sine(rng.uniform(1, 5), rng.uniform(1, 5), 0.3) if i % 3 == 0 else None,
            )
            if i in prescribed:
                given |= {
                    "motion": Sine(rng.uniform(0.2, 1), rng.uniform(1, 3), 0.1),
                    "motor": None,
                    "q0": None,
                    "v0": None,
                }
            joints.append(Joint(f"j{i}", "revolute", f"b{i}", frame, **given))
        parent = f"b{i}"
    tip = Frame(
        parent, tuple(rng.uniform(-1, 1, 3)), rotation_matrix(np.array([0.6, 0.0, 0.8]), 0.7).tolist(), name="tip"
    )
    mid = Frame(f"b{n // 2}", tuple(rng.uniform(-1, 1, 3)), name="mid")
    loads = (
        Load("tip", *rng.uniform(-5, 5, 3).tolist()),
        Load("mid", *rng.uniform(-5, 5, 3).tolist(), axes="body"),
        Load("tip", *rng.uniform(-5, 5, 3).tolist(), kind="couple"),
        Load("mid", *rng.uniform(-5, 5, 3).tolist(), kind="couple", axes="body"),
    )
    return Model(f"chain {seed}", bodies, joints, gravity=tuple(rng.uniform(-9, 9, 3)), frames=(tip, mid), loads=loads)
