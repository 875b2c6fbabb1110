"""The N-four-bar of the IFToMM benchmark, and mechanisms with dead points, each with the one equation of its motion."""

import numpy as np
from scipy.integrate import solve_ivp

from pliant import Body, Frame, Joint, Loop, Model, Rod

GRAVITY = 9.81


def four_bars(n, speed=1.0, angle=0.5 * np.pi):
    """n loops: n + 1 rods on the ground, n rods over them, all of 1 m and 1 kg; the tips begin with this speed."""
    bodies, joints, loops = [], [], []
    for k in range(n + 1):
        bodies.append(Body(f"crank{k}", mass=1.0, shape=Rod(1.0)))
        foot = Frame("world", (float(k), 0.0, 0.0))
        joints.append(Joint(f"foot{k}", "revolute", f"crank{k}", parent=foot, q0=angle, v0=-speed))
    for k in range(n):
        bodies.append(Body(f"bar{k}", mass=1.0, shape=Rod(1.0)))
        tip = Frame(f"crank{k}", (1.0, 0.0, 0.0))
        joints.append(Joint(f"top{k}", "revolute", f"bar{k}", parent=tip, q0=-angle, v0=speed))
        over = Frame(f"crank{k + 1}", (1.0, 0.0, 0.0))
        loops.append(Loop(f"pin{k + 1}", "revolute", first=over, second=Frame(f"bar{k}", (1.0, 0.0, 0.0))))
    return Model(f"{n} four-bars", tuple(bodies), tuple(joints), gravity=(0.0, -GRAVITY, 0.0), loops=tuple(loops))


def one_equation(n, speed, times, angle=0.5 * np.pi):
    """Angle and its rate of all cranks, which stay parallel while the bars only shift."""
    factor = GRAVITY * (0.5 * (n + 1) + n) / ((n + 1) / 3.0 + n)
    found = solve_ivp(
        lambda t, y: [y[1], -factor * np.cos(y[0])],
        (0.0, times[-1]), [angle, -speed], method="DOP853", rtol=2.3e-14, atol=1e-15, t_eval=times,
    )  # fmt: skip
    return found.y
