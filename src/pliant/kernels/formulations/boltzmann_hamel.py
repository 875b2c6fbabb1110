"""Boltzmann-Hamel equations in quasi-velocities, by momentum sweeps: any joints, trees, ground and space.

P, H: momentum, and angular momentum about its origin, of a body and all it carries, body axes. Its joint transmits
    force = P' + w x P - F,  moment = H' + w x H + v x P - N    (' : rates of components; F, N: external, with gravity)
and row j of the equations is s_j . (moment, force) = tau_j. Spherical chains: O(n) with 3x3 blocks K, A, B."""

from pliant.kernels._jit import ACCELERATION, EQUATIONS, kernel
from pliant.kernels.algebra.spatial import shift_rigid_inertia
from pliant.kernels.algebra.sym3 import add_sym, cholesky3, lower_solve, mul_sym, put_sym, sym, turn_sym, upper_solve
from pliant.kernels.algebra.vec3 import add, cross, dot, mat, mul, mul_t, put, put_mat, scale, sub, vec
from pliant.kernels.kinematics.joints import ZERO, subspace_column
from pliant.kernels.kinematics.tree import move
from pliant.kernels.rows import solve_rows
from pliant.system.status import Status
from pliant.system.tables import JointKind

ZERO_SYM = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def turn_gravity(bodies, moving, gravity):
    """Gravity in the axes of every body."""
    for i in range(len(bodies)):
        parent, x = bodies[i].parent, moving[i]
        g = gravity if parent < 0 else vec(moving[parent].g)
        put(x.g, mul_t(mat(x.R), g))


@kernel
def put_own_momentum(body, x, a, wdot, part):
    """P, H and their component rates of one body, minus gravity and that part (0 or 1) of the gathered forces."""
    m, R, I, w, v = body.mass, vec(body.com), sym(body.I), vec(x.w), vec(x.v)
    P = scale(m, add(v, cross(w, R)))
    # the components of v change by acceleration minus w x v
    Pdot = scale(m, add(sub(a, cross(w, v)), cross(wdot, R)))
    F = sub(Pdot, scale(m, vec(x.g)))
    put(x.P, P)
    put(x.H, add(mul_sym(I, w), cross(R, P)))
    put(x.Pd, sub(F, scale(part, vec(x.f))))
    put(x.Hd, sub(add(mul_sym(I, wdot), cross(R, F)), scale(part, vec(x.n))))


@kernel
def sweep_outward(bodies, moving, vdot, part):
    """Rates of v and w for given rates of the quasi-velocities, and every body's own momenta."""
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        a, wdot = vec(x.zv), vec(x.zw)
        if body.parent >= 0:
            y, R = moving[body.parent], mat(x.R)
            a = add(a, mul_t(R, add(vec(y.aJ), cross(vec(y.wdot), vec(x.o)))))
            wdot = add(wdot, mul_t(R, vec(y.wdot)))
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            a, wdot = add(a, scale(vdot[body.v + k], sv)), add(wdot, scale(vdot[body.v + k], sw))
        put(x.aJ, a)
        put(x.wdot, wdot)
        put_own_momentum(body, x, a, wdot, part)


@kernel
def give_to_parent(y, x):
    """Momenta and rates in the parent's axes about its origin: d/dt (R P) = R (P' + w_J x P), do/dt = R v_J."""
    R, o, w_J, P, H = mat(x.R), vec(x.o), vec(x.w_J), vec(x.P), vec(x.H)
    Pd = mul(R, add(vec(x.Pd), cross(w_J, P)))
    Hd = mul(R, add(add(vec(x.Hd), cross(w_J, H)), cross(vec(x.v_J), P)))
    P = mul(R, P)
    put(y.P, add(vec(y.P), P))
    put(y.H, add(vec(y.H), add(mul(R, H), cross(o, P))))
    put(y.Pd, add(vec(y.Pd), Pd))
    put(y.Hd, add(vec(y.Hd), add(Hd, cross(o, Pd))))


@kernel
def sweep_momenta(bodies, moving, dofs, vdot, part, reaction):
    """Left sides of all rows, in dofs, for given vdot; and what the joints transmit, where reaction has rows."""
    sweep_outward(bodies, moving, vdot, part)
    for i in range(len(bodies) - 1, -1, -1):
        body, x = bodies[i], moving[i]
        w, P = vec(x.w), vec(x.P)
        force = add(vec(x.Pd), cross(w, P))
        moment = add(vec(x.Hd), add(cross(w, vec(x.H)), cross(vec(x.v), P)))
        for k in range(body.n_v):
            sv, sw = subspace_column(body, x, k)
            dofs[body.v + k].row = dot(sv, force) + dot(sw, moment)
        if len(reaction) > 0:
            put(reaction[i], force)
            put(reaction[i, 3:], moment)
        if body.parent >= 0:
            give_to_parent(moving[body.parent], x)


@kernel
def compose(bodies, moving):
    """Mass, first moment and inertia about its origin of every body with all it carries, at rest in its joints."""
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        x.m_c = body.mass
        put(x.c_c, vec(body.c))
        put_sym(x.J_c, sym(body.J))
    for i in range(len(bodies) - 1, -1, -1):
        parent, x = bodies[i].parent, moving[i]
        if parent >= 0:
            y, R, m = moving[parent], mat(x.R), x.m_c
            c, J = shift_rigid_inertia(m, mul(R, vec(x.c_c)), turn_sym(R, sym(x.J_c)), vec(x.o))
            y.m_c += m
            put(y.c_c, add(vec(y.c_c), c))
            put_sym(y.J_c, add_sym(sym(y.J_c), J))


@kernel
def put_matrix(bodies, moving, dofs, M):
    """Lower triangle of M: the momenta a unit quasi-velocity gives to all it carries, seen by the joints inward."""
    compose(bodies, moving)
    for i in range(len(M)):
        for j in range(i):
            M[i, j] = 0.0
    for row in range(len(dofs)):
        i = dofs[row].body
        sv, sw = subspace_column(bodies[i], moving[i], row - bodies[i].v)
        m, c, J = moving[i].m_c, vec(moving[i].c_c), sym(moving[i].J_c)
        P, H = add(scale(m, sv), cross(sw, c)), add(mul_sym(J, sw), cross(c, sv))
        while i >= 0:
            body, x = bodies[i], moving[i]
            for k in range(body.n_v):
                sv, sw = subspace_column(body, x, k)
                M[row, body.v + k] = dot(sv, P) + dot(sw, H)
            P, H = mul(mat(x.R), P), mul(mat(x.R), H)
            H = add(H, cross(vec(x.o), P))
            i = body.parent
        M[row, row] += dofs[row].armature


@kernel(EQUATIONS)
def matrices(system, work, q, v, M, h):
    """M and h of M vdot + h = tau: velocity terms and gravity in h, no gathered forces."""
    bodies, moving, dofs = system.bodies, work.bodies, work.dofs
    move(system, work, q, v)
    turn_gravity(bodies, moving, vec(system.world[0].gravity))
    put_matrix(bodies, moving, system.dofs, M)
    for i in range(len(dofs)):
        h[i] = 0.0
    sweep_momenta(bodies, moving, dofs, h, 0.0, work.no_reaction)
    for i in range(len(dofs)):
        h[i] = dofs[i].row
        for j in range(i):
            M[j, i] = M[i, j]
    return Status.OK


@kernel
def ball_torque(dofs, body):
    """Gathered torque of a spherical or floating joint."""
    j = body.v + body.n_v - 3
    return (dofs[j].tau, dofs[j + 1].tau, dofs[j + 2].tau)


@kernel
def lever(K, d):
    """Rows of -K[d], and -[d]K[d]: what a mass K at the end of a lever d adds to B^T and A."""
    u = cross(d, (K[0], K[1], K[2]))
    v = cross(d, (K[1], K[3], K[4]))
    w = cross(d, (K[2], K[4], K[5]))
    xx, xy, xz = d[1] * w[0] - d[2] * v[0], d[1] * w[1] - d[2] * v[1], d[1] * w[2] - d[2] * v[2]
    yy, yz, zz = d[2] * u[1] - d[0] * w[1], d[2] * u[2] - d[0] * w[2], d[0] * v[2] - d[1] * u[2]
    return u, v, w, (xx, xy, xz, yy, yz, zz)


@kernel
def chain_inward(bodies, moving, dofs):
    """Spherical chain, tip to root: joint force = K a + k, A w' + B a + b = 0. Returns K, k of the root.

    First returned is -1, or the body whose A is not positive."""
    last = len(bodies) - 1
    K, k, torque = ZERO_SYM, ZERO, ZERO
    for i in range(last, -1, -1):
        body, x = bodies[i], moving[i]
        m, R, w, c = body.mass, vec(body.com), vec(x.w), vec(body.c)
        tau = ball_torque(dofs, body)
        d = vec(moving[i + 1].o) if i < last else ZERO
        k = add(k, mul_sym(K, cross(w, cross(w, d))))
        F = scale(m, sub(cross(w, cross(w, R)), vec(x.g)))
        # b = w x I w + R x F + d x (K' e + k') + C^T tau_{i+1} - tau_i, external moment taken off
        b = add(add(cross(w, mul_sym(sym(body.I), w)), cross(R, F)), add(cross(d, k), sub(torque, add(tau, vec(x.n)))))
        k = add(k, sub(F, vec(x.f)))
        # A = I - m [R][R] - [d]K'[d], B^T = -m [R] - K'[d]
        u0, u1, u2, A = lever(K, d)
        l = cholesky3(add_sym(sym(body.J), A))
        y0 = lower_solve(l, add(u0, (0.0, c[2], -c[1])))
        y1 = lower_solve(l, add(u1, (-c[2], 0.0, c[0])))
        y2 = lower_solve(l, add(u2, (c[1], -c[0], 0.0)))
        t = lower_solve(l, b)
        put_sym(x.L, l)
        put(x.b, t)
        put_mat(x.Y, (y0[0], y1[0], y2[0], y0[1], y1[1], y2[1], y0[2], y1[2], y2[2]))
        # K = m 1 + K' - B^T A^-1 B, k = F + K' e + k' - B^T A^-1 b
        square = (-dot(y0, y0), -dot(y0, y1), -dot(y0, y2), -dot(y1, y1), -dot(y1, y2), -dot(y2, y2))
        K = add_sym(add_sym(K, (m, 0.0, 0.0, m, 0.0, m)), square)
        k = sub(k, (dot(y0, t), dot(y1, t), dot(y2, t)))
        if not l[0] > 0.0:
            return i, K, k
        if i > 0:
            K, k, torque = turn_sym(mat(x.R), K), mul(mat(x.R), k), mul(mat(x.R), tau)
    return -1, K, k


@kernel
def chain_outward(bodies, moving, a, vdot):
    """w' = -A^-1 (B a + b) from the root to the tip; a is the acceleration of the root's origin."""
    wdot = ZERO
    for i in range(len(bodies)):
        body, x = bodies[i], moving[i]
        if i > 0:
            R = mat(x.R)
            a = add(mul_t(R, add(a, cross(wdot, vec(x.o)))), vec(x.zv))
            wdot = mul_t(R, wdot)
        found = upper_solve(sym(x.L), scale(-1.0, add(mul(mat(x.Y), a), vec(x.b))))
        put(vdot[body.v + body.n_v - 3 :], sub(found, add(wdot, vec(x.zw))))
        wdot = found


@kernel
def solve_chain(bodies, moving, dofs, vdot):
    """vdot of a spherical chain on the ground or in space, O(n). Returns -1, or the body without positive block."""
    failed, K, k = chain_inward(bodies, moving, dofs)
    a = ZERO
    if bodies[0].kind == JointKind.FLOATING:
        # K_1 a = Phi_P1 - k_1, V' = a - w x V
        l = cholesky3(K)
        if failed < 0 and not l[0] > 0.0:
            failed = 0
        a = upper_solve(l, lower_solve(l, sub((dofs[0].tau, dofs[1].tau, dofs[2].tau), k)))
        put(vdot, sub(a, cross(vec(moving[0].w), vec(moving[0].v))))
    if failed < 0:
        chain_outward(bodies, moving, a, vdot)
    return failed


@kernel(ACCELERATION)
def boltzmann_hamel(system, work, q, v, vdot, reaction):
    bodies, moving, dofs = system.bodies, work.bodies, work.dofs
    world = system.world[0]
    is_wanted = len(reaction) > 0 or world.has_drives
    is_solved = world.is_spherical_chain != 0
    failed = -1
    turn_gravity(bodies, moving, vec(world.gravity))
    if is_solved:
        failed = solve_chain(bodies, moving, dofs, vdot)
    else:
        for j in range(len(dofs)):
            vdot[j] = dofs[j].motion_vdot if dofs[j].is_driven else 0.0
    # at most two sweeps: for the equations, and with the actual vdot for what the joints transmit
    while failed < 0 and (is_wanted or not is_solved):
        sweep_momenta(bodies, moving, dofs, vdot, 1.0, reaction)
        if is_solved:
            break
        put_matrix(bodies, moving, system.dofs, work.matrix)
        row = solve_rows(dofs, work.matrix, vdot)
        failed = system.dofs[row].body if row >= 0 else -1
        is_solved = True
    if failed >= 0:
        work.run[0].body = failed
        return Status.SINGULAR
    for j in range(len(dofs)):
        dof = dofs[j]
        if dof.is_driven:
            dof.drive = dof.row + dof.armature * dof.motion_vdot - dof.tau
    return Status.OK
