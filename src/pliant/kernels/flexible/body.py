"""A flexible body at one instant: from its modal state and angular velocity to its mass matrix and bias.

Components c: the modes that translate, then the shortening functions psi_r, whose amplitudes D_r = -1/2 d^T Q_r d
follow the bending. Each moves along one axis f: y for c < n_y, z for c < n_b, x from there on. Everything is a sum over
constant tables (system.shapes); what it fills lies in work.flex, where the FLEX row says. Mass matrix in blocks

    [ m 1   -[c]   M_vd ]
    [ [c]    J     M_wd ]     rows of rd: (M_vd, M_wd) of one mode;  lower triangle of dd: M_dd
    [  .     .     M_dd ]"""

from pliant.kernels._jit import kernel, routine
from pliant.kernels.algebra.sym3 import mul_sym, sym
from pliant.kernels.algebra.vec3 import add, cross, put, scale, vec


@routine
def bend(system, work, f, q, v):
    """d, e; amplitudes and rates of all components: D = (d, -1/2 d^T Q_r d), D' = (e, -e^T Q_r d); b_r = -e^T Q_r e."""
    body, x, shapes = system.bodies[f.body], work.flex, system.shapes
    first_q, first_v = body.q + body.n_q, body.v + body.n_v
    for j in range(f.m):
        x[f.d + j] = q[first_q + j]
        x[f.e + j] = v[first_v + j]
    for c in range(f.n_3):
        x[f.D + c] = x[f.d + c]
        x[f.Dd + c] = x[f.e + c]
    k = f.Q
    for r in range(f.n_r):
        D, Dd, b = 0.0, 0.0, 0.0
        for j in range(f.n_b):
            u, u_e = 0.0, 0.0
            for l in range(f.n_b):
                u += shapes[k] * x[f.d + l]
                u_e += shapes[k] * x[f.e + l]
                k += 1
            x[f.U + r * f.n_b + j] = u
            D -= 0.5 * u * x[f.d + j]
            Dd -= u * x[f.e + j]
            b -= u_e * x[f.e + j]
        x[f.D + f.n_3 + r] = D
        x[f.Dd + f.n_3 + r] = Dd
        x[f.b + r] = b


@kernel
def moments(f, shapes, x, c):
    """p_c = int s phi_c dm and q_c = int s' phi_c dm."""
    row = f.P + c * f.M
    px, py, pz, qx, qy, qz = shapes[f.X1 + c], 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(f.n_y):
        py += shapes[row + k] * x[f.D + k]
        qy += shapes[row + k] * x[f.Dd + k]
    for k in range(f.n_y, f.n_b):
        pz += shapes[row + k] * x[f.D + k]
        qz += shapes[row + k] * x[f.Dd + k]
    for k in range(f.n_b, f.M):
        px += shapes[row + k] * x[f.D + k]
        qx += shapes[row + k] * x[f.Dd + k]
    return (px, py, pz), (qx, qy, qz)


@routine
def weigh(system, work, f, w):
    """(c, J, h_v, h_w) of the frame; rd, dd and pd = h_d are filled. w: angular velocity. After bend."""
    body, x, shapes = system.bodies[f.body], work.flex, system.shapes
    n_y, n_b = f.n_y, f.n_b
    c, cd = vec(body.c), (0.0, 0.0, 0.0)
    # rows of Z = sum D_c e_f (p_c + X1_c e_x)^T and Gd = sum D'_c e_f p_c^T, by direction
    Zx, Zy, Zz = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    Gx, Gy, Gz = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(f.M):
        p, q = moments(f, shapes, x, k)
        D, Dd, C1 = x[f.D + k], x[f.Dd + k], shapes[f.C1 + k]
        g = add(cross(w, p), scale(2.0, q))
        doubled = (p[0] + shapes[f.X1 + k], p[1], p[2])
        if k < n_y:
            c, cd = (c[0], c[1] + C1 * D, c[2]), (cd[0], cd[1] + C1 * Dd, cd[2])
            Zy, Gy = add(Zy, scale(D, doubled)), add(Gy, scale(Dd, p))
            put(x[f.a + 3 * k :], (-p[2], 0.0, p[0]))
            x[f.F + k] = w[2] * g[0] - w[0] * g[2]
        elif k < n_b:
            c, cd = (c[0], c[1], c[2] + C1 * D), (cd[0], cd[1], cd[2] + C1 * Dd)
            Zz, Gz = add(Zz, scale(D, doubled)), add(Gz, scale(Dd, p))
            put(x[f.a + 3 * k :], (p[1], -p[0], 0.0))
            x[f.F + k] = w[0] * g[1] - w[1] * g[0]
        else:
            c, cd = (c[0] + C1 * D, c[1], c[2]), (cd[0] + C1 * Dd, cd[1], cd[2])
            Zx, Gx = add(Zx, scale(D, doubled)), add(Gx, scale(Dd, p))
            put(x[f.a + 3 * k :], (0.0, p[2], -p[1]))
            force = w[1] * g[2] - w[2] * g[1]
            for r in range(f.n_r):
                force += shapes[f.P + k * f.M + f.n_3 + r] * x[f.b + r]
            x[f.F + k] = force
    # J = J0 + tr(G) 1 - G with G = (Z + Z^T)/2
    J0 = sym(body.J)
    J = (
        J0[0] + Zy[1] + Zz[2],
        J0[1] - 0.5 * (Zx[1] + Zy[0]),
        J0[2] - 0.5 * (Zx[2] + Zz[0]),
        J0[3] + Zx[0] + Zz[2],
        J0[4] - 0.5 * (Zy[2] + Zz[1]),
        J0[5] + Zx[0] + Zy[1],
    )
    turn = mul_sym(J, w)
    for j in range(f.m):
        turn = add(turn, scale(x[f.e + j], vec(shapes[f.Jr1 + 3 * j :])))
    h_v = cross(w, add(cross(w, c), scale(2.0, cd)))
    trace = Gx[0] + Gy[1] + Gz[2]
    Gdw = (
        Gx[0] * w[0] + Gx[1] * w[1] + Gx[2] * w[2],
        Gy[0] * w[0] + Gy[1] * w[1] + Gy[2] * w[2],
        Gz[0] * w[0] + Gz[1] * w[1] + Gz[2] * w[2],
    )
    h_w = add(
        cross(w, turn), (2.0 * (trace * w[0] - Gdw[0]), 2.0 * (trace * w[1] - Gdw[1]), 2.0 * (trace * w[2] - Gdw[2]))
    )
    for r in range(f.n_r):
        k, b = f.n_3 + r, x[f.b + r]
        h_v = (h_v[0] + shapes[f.C1 + k] * b, h_v[1], h_v[2])
        h_w = add(h_w, scale(b, vec(x[f.a + 3 * k :])))
    couple(f, shapes, x)
    return c, J, h_v, h_w


@kernel
def couple(f, shapes, x):
    """rd, dd and pd: the components' values carried to the modes by B = [1; -(Q_r d)^T]."""
    n_y, n_b, n_3 = f.n_y, f.n_b, f.n_3
    for j in range(f.m):
        at, row = f.rd + 6 * j, f.dd + j * f.m
        fx, fy, fz, force = 0.0, 0.0, 0.0, 0.0
        moment = vec(shapes[f.Jr1 + 3 * j :])
        for l in range(j + 1):
            x[row + l] = shapes[f.Jr2 + j * f.m + l]
        if j < n_3:
            C1 = shapes[f.C1 + j]
            moment, force = add(moment, vec(x[f.a + 3 * j :])), x[f.F + j]
            if j < n_y:
                fy = C1
                for l in range(j + 1):
                    x[row + l] += shapes[f.P + j * f.M + l]
            elif j < n_b:
                fz = C1
                for l in range(n_y, j + 1):
                    x[row + l] += shapes[f.P + j * f.M + l]
            else:
                fx = C1
                for l in range(n_b, j + 1):
                    x[row + l] += shapes[f.P + j * f.M + l]
        if f.n_r > 0 and j < n_b:
            for r in range(f.n_r):
                k, u = n_3 + r, x[f.U + r * n_b + j]
                fx -= u * shapes[f.C1 + k]
                moment = add(moment, scale(-u, vec(x[f.a + 3 * k :])))
                force -= u * x[f.F + k]
                for l in range(j + 1):
                    x[row + l] += u * x[f.U + r * n_b + l]
        elif f.n_r > 0 and j < n_3:
            for r in range(f.n_r):
                P = shapes[f.P + j * f.M + n_3 + r]
                for l in range(n_b):
                    x[row + l] -= x[f.U + r * n_b + l] * P
        put(x[at:], (fx, fy, fz))
        put(x[at + 3 :], moment)
        x[f.pd + j] = force


@routine
def first_moment(system, work, f):
    """c = int s dm. After bend."""
    x, y, z = vec(system.bodies[f.body].c)
    for k in range(f.M):
        moved = system.shapes[f.C1 + k] * work.flex[f.D + k]
        if k < f.n_y:
            y += moved
        elif k < f.n_b:
            z += moved
        else:
            x += moved
    return x, y, z


@kernel
def modal_momentum(f, x):
    """(linear, angular) momentum of the modal rates: M_vd e, M_wd e. After weigh."""
    linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(f.m):
        e = x[f.e + j]
        linear = add(linear, scale(e, vec(x[f.rd + 6 * j :])))
        angular = add(angular, scale(e, vec(x[f.rd + 6 * j + 3 :])))
    return linear, angular


@kernel
def modal_energy(f, x):
    """1/2 e^T M_dd e. After weigh."""
    total = 0.0
    for j in range(f.m):
        row = f.dd + j * f.m
        total += 0.5 * x[row + j] * x[f.e + j] ** 2
        for l in range(j):
            total += x[row + l] * x[f.e + j] * x[f.e + l]
    return total


@kernel
def strain_energy(f, shapes, x):
    """1/2 d^T K d. After bend."""
    total = 0.0
    for j in range(f.m):
        for l in range(f.m):
            total += 0.5 * shapes[f.K + j * f.m + l] * x[f.d + j] * x[f.d + l]
    return total
