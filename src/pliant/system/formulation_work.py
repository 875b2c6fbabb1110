"""Scratch of the formulations: one record each per body, a field of its row in Work (x.articulated, say); nothing else
reads it but their responses, and what another formulation has left there means nothing.

Numbers in brackets are those of docs/equations.md. Planar variants (formulations/*_planar.py) fill only the components
that can differ from zero in the x-y plane: same fields, same meaning."""

from typing import Any

import numpy as np

# formulations/articulated.py and its parts; axes B, about the body origin
ARTICULATED_WORK = np.dtype(
    [
        # articulated inertia of the body and all it carries, its modes and the joints outboard eliminated (A2, A7)
        ("A", np.float64, (6,)),  # block vv [kg]
        ("B", np.float64, (9,)),  # block vw [kg m]
        ("C", np.float64, (6,)),  # block ww [kg m^2]
        ("pf", np.float64, (3,)),  # its bias wrench: force [N]
        ("pn", np.float64, (3,)),  # moment [N m]
        # one per velocity of the joint, U = I s three numbers each (A4)
        ("Uv", np.float64, (18,)),  # force per unit of acceleration [kg, kg m]
        ("Uw", np.float64, (18,)),  # moment [kg m, kg m^2]
        ("inverse_pivot", np.float64, (6,)),  # 1 / (s^T U + armature), 0 where the motion is prescribed
        ("t", np.float64, (6,)),  # tau - s^T p' [N, N m]
        # ball joints without armature instead (A6)
        ("ball_l", np.float64, (6,)),  # Cholesky factor of C, as sym3.cholesky3 gives it
        ("ball_Y", np.float64, (9,)),  # l^-1 B^T, one column after the other
        ("ball_t", np.float64, (3,)),  # l^-1 (tau - p'_n)
    ],
    align=True,
)

# formulations/boltzmann_hamel.py; axes B, about the body origin; "subtree": the body and all it carries
BOLTZMANN_HAMEL_WORK = np.dtype(
    [
        ("g", np.float64, (3,)),  # gravity [m/s^2]
        ("a", np.float64, (3,)),  # acceleration of the body origin, gravity not counted [m/s^2]
        ("wdot", np.float64, (3,)),  # rate of w [rad/s^2]
        ("P", np.float64, (3,)),  # momentum of the subtree [kg m/s] (B1)
        ("H", np.float64, (3,)),  # its angular momentum [kg m^2/s]
        ("Pdot", np.float64, (3,)),  # rates of the components of P and H, minus external forces and gravity [N] (B2)
        ("Hdot", np.float64, (3,)),  # [N m]
        ("subtree_mass", np.float64),  # composite rigid body of the subtree (B6) [kg]
        ("subtree_c", np.float64, (3,)),  # its first moment [kg m]
        ("subtree_J", np.float64, (6,)),  # its inertia [kg m^2]
        # spherical chains (B9, B10): A w' + B a + b = 0
        ("L", np.float64, (6,)),  # Cholesky factor of A, as sym3.cholesky3 gives it
        ("Y", np.float64, (9,)),  # L^-1 B
        ("y", np.float64, (3,)),  # L^-1 b
    ],
    align=True,
)

# formulations/gibbs_appell.py; axes B, about the body origin
GIBBS_APPELL_WORK = np.dtype(
    [
        ("bv", np.float64, (3,)),  # acceleration across the joint known beforehand, at a root with gravity (G3) [m/s^2]
        ("bw", np.float64, (3,)),  # [rad/s^2]
        # coefficients of the Gibbs function of the link and all it carries (G1, G4): I, as that of a rigid body, and p
        ("subtree_mass", np.float64),  # [kg]
        ("subtree_c", np.float64, (3,)),  # first moment [kg m]
        ("subtree_J", np.float64, (6,)),  # inertia [kg m^2]
        ("pf", np.float64, (3,)),  # [N]
        ("pn", np.float64, (3,)),  # [N m]
    ],
    align=True,
)

# formulations/lagrange.py and its parts; axes B, about the body origin; of the body, then with all it carries
LAGRANGE_WORK = np.dtype(
    [
        # pseudo-inertia P (L1, L7)
        ("mass", np.float64),  # [kg]
        ("c", np.float64, (3,)),  # first moment [kg m]
        ("S", np.float64, (6,)),  # int s s^T dm [kg m^2]
        # int r'' h^T dm minus external wrenches (L5, L7)
        ("F", np.float64, (9,)),  # [N m]
        ("f", np.float64, (3,)),  # [N]
    ],
    align=True,
)

# formulations/denoc.py and its parts; axes W, about mass centres, of flexible bodies about their origin
DENOC_WORK = np.dtype(
    [
        ("Q", np.float64, (9,)),  # R_WB
        ("d", np.float64, (3,)),  # from the body origin to the mass centre, 0 where the body is flexible [m]
        ("r", np.float64, (3,)),  # from the parent's mass centre to this one [m]
        ("s", np.float64, (3,)),  # w x (w x d) [m/s^2]
        ("tdot_w", np.float64, (3,)),  # rate of the twist while free accelerations vanish (D2) [rad/s^2]
        ("tdot_v", np.float64, (3,)),  # [m/s^2]
        # inertia Mh of the body and all it carries, free velocities outboard eliminated (D5, D7)
        ("A", np.float64, (6,)),  # block vv [kg]
        ("B", np.float64, (9,)),  # block vw [kg m]
        ("C", np.float64, (6,)),  # block ww [kg m^2]
        ("wrench_n", np.float64, (3,)),  # w of the same (D3, D6, D7) [N m]
        ("wrench_f", np.float64, (3,)),  # [N]
        # one per velocity of the joint, psi six numbers each (D4, D6)
        ("inverse_D", np.float64, (6,)),  # 1 / D, 0 where the motion is prescribed
        ("tau_hat", np.float64, (6,)),  # reduced joint force [N, N m]
        ("psi", np.float64, (36,)),  # Mh p: moment, force per unit of acceleration
        ("mu_w", np.float64, (3,)),  # what the free accelerations add to the rate of the twist (D8) [rad/s^2]
        ("mu_v", np.float64, (3,)),  # [m/s^2]
    ],
    align=True,
)

SCRATCH = {
    "articulated": ARTICULATED_WORK,
    "boltzmann_hamel": BOLTZMANN_HAMEL_WORK,
    "gibbs_appell": GIBBS_APPELL_WORK,
    "denoc": DENOC_WORK,
    "lagrange": LAGRANGE_WORK,
}


def with_scratch(motion: np.dtype) -> np.dtype:
    """The fields of a body's motion, then those of SCRATCH, which share one place behind them."""
    fields: Any = motion.fields
    return np.dtype(
        {
            "names": [*fields, *SCRATCH],
            "formats": [*(field[0] for field in fields.values()), *SCRATCH.values()],
            "offsets": [*(field[1] for field in fields.values()), *(motion.itemsize for _ in SCRATCH)],
            "itemsize": motion.itemsize + max(scratch.itemsize for scratch in SCRATCH.values()),
        },
        align=True,
    )
