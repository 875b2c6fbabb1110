"""A reference for [boltzmannhamel]: the paper's double sums for spherical chains, written out in plain numpy.

Independent of all kernels and slow on purpose. Terrestrial: lambda = (omega_1 .. omega_n); space: lambda =
(V_1, Omega_1, omega_2 .. omega_n) with R_1 = 0. C[i][j] maps components in basis i to basis j, basis 0 is the world.
d{y}/d{x} is the transposed Jacobian (rows x, columns y). The paper leaves d/dt(dT/dlambda) unexpanded:
here it is the complex-step derivative of the literal sums (52a), (52b) along alpha' = D^-1 omega, lambda constant."""

from dataclasses import dataclass, field
from itertools import product

import numpy as np

SEQUENCES = [s for s in ("".join(p) for p in product("xyz", repeat=3)) if s[0] != s[1] and s[1] != s[2]]
AXES = {"x": np.array([1.0, 0, 0]), "y": np.array([0, 1.0, 0]), "z": np.array([0, 0, 1.0])}
STEP = 1e-30


def skew(a):
    """[a^x]"""
    zero = 0.0 * a[0]
    return np.array([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])


def turn(axis, angle):
    """Child-to-parent matrix of one rotation (analytic: complex angles allowed)."""
    s = skew(AXES[axis])
    return np.eye(3) + np.sin(angle) * s + (1 - np.cos(angle)) * s @ s


def euler_C(sequence, alpha):
    """C_{k-1}^k of three rotations about body axes."""
    a, b, c = (turn(axis, angle) for axis, angle in zip(sequence, alpha, strict=True))
    return (a @ b @ c).T


def euler_D(sequence, alpha):
    """omega = D alpha', basis k."""
    b, c = turn(sequence[1], alpha[1]), turn(sequence[2], alpha[2])
    return np.column_stack([(b @ c).T @ AXES[sequence[0]], c.T @ AXES[sequence[1]], AXES[sequence[2]]])


def transposed_jacobian(f, x):
    """d{f}/d{x} by complex steps: row i is the derivative with respect to x_i."""
    return np.array([np.imag(f(x + 1j * STEP * e)) / STEP for e in np.eye(len(x))])


@dataclass
class Chain:
    """n bodies; lists start at body 1 = index 1 (index 0 is the world and unused)."""

    is_space: bool
    m: list
    I: list  # about the mass centre
    R: list  # joint J_i -> mass centre
    r: list  # mass centre -> J_{i+1}
    sequence: list
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.3, -0.4, -9.81]))

    @property
    def n(self):
        return len(self.m) - 1


def random_chain(n, is_space, rng):
    bodies = range(1, n + 1)
    m = [None, *rng.uniform(0.5, 3.0, n)]
    I = [None]
    for _ in bodies:
        points = rng.normal(size=(6, 3)) * 0.4
        points -= points.mean(axis=0)
        I.append(sum(p @ p * np.eye(3) - np.outer(p, p) for p in points))
    R = [None, *rng.normal(size=(n, 3)) * 0.5]
    r = [None, *rng.normal(size=(n, 3)) * 0.5]
    if is_space:
        R[1] = np.zeros(3)
    return Chain(is_space, m, I, R, r, [None, *(SEQUENCES[k] for k in rng.integers(0, 12, n))])


class Motion:
    """Kinematics (21) of a chain at alpha (n, 3), lambda."""

    def __init__(self, chain, alpha, lam):
        n = chain.n
        self.chain, self.lam = chain, lam
        one = [None, *(euler_C(chain.sequence[k], alpha[k - 1]) for k in range(1, n + 1))]
        # C[i][j] = C_{j-1}^j ... C_i^{i+1}
        self.C = [[None] * (n + 1) for _ in range(n + 1)]
        for i in range(n + 1):
            self.C[i][i] = np.eye(3)
            for j in range(i + 1, n + 1):
                self.C[i][j] = one[j] @ self.C[i][j - 1]
        omega = lam[3:] if chain.is_space else lam
        self.omega = [None, *omega.reshape(n, 3)]
        self.Omega, self.V, self.V_J = [np.zeros(3)], [np.zeros(3)], [None]
        for k in range(1, n + 1):
            C, R = one[k], chain.R[k]
            if k == 1:
                self.V_J.append(np.zeros(3))
                self.Omega.append(self.omega[1])
                V = lam[:3] if chain.is_space else np.cross(self.omega[1], R)
            else:
                self.V_J.append(self.V[k - 1] + np.cross(self.Omega[k - 1], chain.r[k - 1]))
                self.Omega.append(C @ self.Omega[k - 1] + self.omega[k])
                V = C @ self.V_J[k] + np.cross(self.Omega[k], R)
            self.V.append(V)


def L(chain, j, k):
    """(53)"""
    return skew(chain.R[j]) if j == k else skew(chain.R[j]) + skew(chain.r[j])


def B(motion, i, k):
    """B_ik = sum_{j=i..k} C_i^jT L(j,k) C_j^kT"""
    C = motion.C
    return sum(C[i][j].T @ L(motion.chain, j, k) @ C[j][k].T for j in range(i, k + 1))


def kinetic_energy(motion):
    chain = motion.chain
    V, Omega = motion.V, motion.Omega
    return 0.5 * sum(chain.m[k] * V[k] @ V[k] + Omega[k] @ chain.I[k] @ Omega[k] for k in range(1, chain.n + 1))


def dT_dlambda(motion):
    """(52a), (52b)"""
    chain, C, V, Omega = motion.chain, motion.C, motion.V, motion.Omega
    n, m = chain.n, chain.m
    parts = []
    if chain.is_space:
        parts.append(sum(C[1][k].T @ (m[k] * V[k]) for k in range(1, n + 1)))
    for i in range(1, n + 1):
        turning = sum(C[i][k].T @ chain.I[k] @ Omega[k] for k in range(i, n + 1))
        moving = sum(
            C[i][j].T @ L(chain, j, k) @ C[j][k].T @ (m[k] * V[k]) for k in range(i, n + 1) for j in range(i, k + 1)
        )
        parts.append(turning + moving)
    return np.concatenate(parts)


def dT_dalpha(motion, D):
    """(55), (60) with (62), (65), (66), (67 corrected), one block of three per body."""
    chain, C = motion.chain, motion.C
    n = chain.n
    parts = [np.zeros(3)]
    for i in range(2, n + 1):
        C_i = C[i - 1][i]
        dOmega = {
            j: -D[i].T @ C_i @ skew(motion.Omega[i - 1]) @ C_i.T @ C[i][j].T for j in range(i, n + 1)
        }  # (62), (65)
        dV = {i: -D[i].T @ C_i @ skew(motion.V_J[i]) @ C_i.T + dOmega[i] @ skew(chain.R[i])}  # (67)
        for j in range(i + 1, n + 1):
            C_j = C[j - 1][j]
            lever = skew(chain.r[j - 1]) @ C_j.T + C_j.T @ skew(chain.R[j])
            dV[j] = dV[j - 1] @ C_j.T + dOmega[j - 1] @ lever  # (66)
        parts.append(
            sum(dV[j] @ (chain.m[j] * motion.V[j]) + dOmega[j] @ chain.I[j] @ motion.Omega[j] for j in range(i, n + 1))
        )
    return np.concatenate(parts)


def lambda_cross(motion):
    """[lambda_t^x] or [lambda_s^x]"""
    chain = motion.chain
    blocks = [skew(motion.omega[i]) for i in range(1, chain.n + 1)]
    if chain.is_space:
        blocks = [skew(motion.Omega[1]), *blocks]
    matrix = np.zeros((3 * len(blocks),) * 2)
    for k, block in enumerate(blocks):
        matrix[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    if chain.is_space:
        matrix[3:6, :3] = skew(motion.V[1])
    return matrix


def mass_matrix(motion):
    """M_il = sum_{k >= max(i,l)} (C_i^kT I_k C_l^k + m_k B_ik B_lk^T), M_VV, M_Vi."""
    chain, C = motion.chain, motion.C
    n, m = chain.n, chain.m
    first = 1 if chain.is_space else 0
    M = np.zeros((3 * (n + first),) * 2)
    for i in range(1, n + 1):
        for l in range(1, n + 1):
            block = sum(
                C[i][k].T @ chain.I[k] @ C[l][k] + m[k] * B(motion, i, k) @ B(motion, l, k).T
                for k in range(max(i, l), n + 1)
            )
            a, b = 3 * (i - 1 + first), 3 * (l - 1 + first)
            M[a : a + 3, b : b + 3] = block
    if chain.is_space:
        M[:3, :3] = sum(m[1:]) * np.eye(3)
        for i in range(1, n + 1):
            block = sum(m[k] * C[1][k].T @ B(motion, i, k).T for k in range(i, n + 1))
            M[:3, 3 * i : 3 * i + 3] = block
            M[3 * i : 3 * i + 3, :3] = block.T
    return M


def gravity_quasi_forces(motion):
    """Phi of forces m_k g at the mass centres: Phi_i = sum u_ik x F_k (basis i), Phi_P1 = C_0^1 sum F."""
    chain, C = motion.chain, motion.C
    n = chain.n
    parts = []
    if chain.is_space:
        parts.append(C[0][1] @ (sum(chain.m[1:]) * chain.gravity))
    for i in range(1, n + 1):
        total = np.zeros(3)
        for k in range(i, n + 1):
            u = C[i][k].T @ chain.R[k]
            for j in range(i, k):
                u = u + C[i][j].T @ (chain.R[j] + chain.r[j])
            total = total + np.cross(u, C[0][i] @ (chain.m[k] * chain.gravity))
        parts.append(total)
    return np.concatenate(parts)


def equations(chain, alpha, lam):
    """M, h of (49) in explicit form, M lambda' + h = tau (gravity in h), and the size of the largest term of h."""
    n = chain.n
    motion = Motion(chain, alpha, lam)
    D = [None, *(euler_D(chain.sequence[k], alpha[k - 1]) for k in range(1, n + 1))]
    rate = np.array([np.linalg.solve(D[k], motion.omega[k]) for k in range(1, n + 1)])
    momentum_rate = np.imag(dT_dlambda(Motion(chain, alpha + 1j * STEP * rate, lam))) / STEP
    gyroscopic = lambda_cross(motion) @ dT_dlambda(motion)
    slopes = dT_dalpha(motion, D)
    # S^-T dT/dq, dT/dp_1 = 0
    slope = np.concatenate([np.linalg.solve(D[k].T, slopes[3 * k - 3 : 3 * k]) for k in range(1, n + 1)])
    if chain.is_space:
        slope = np.concatenate([np.zeros(3), slope])
    weight = gravity_quasi_forces(motion)
    largest = max(np.abs(term).max() for term in (momentum_rate, gyroscopic, slope, weight))
    return mass_matrix(motion), momentum_rate + gyroscopic - slope - weight, largest
