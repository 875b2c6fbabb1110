"""The numbers of a flexible body by name: f is its FLEX row (where they begin), shapes holds its constants
(system.shapes), flex its state (work.flex). Modes j, l; components c, k; shortening functions r (flexible/body.py).

Symbols and equation numbers: docs/equations.md, section Flexible bodies."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.vec3 import add, add_mat, dot, index, mat, put_at, put_mat, vec_at

# --- constants ----------------------------------------------------------------------------------------------------


@kernel
def mass_integral(f, shapes, c):
    """C1_c = int phi_c dm [kg]"""
    return shapes[index(f.C1 + c)]


@kernel
def axial_integral(f, shapes, c):
    """X1_c = int x phi_c dm [kg m]"""
    return shapes[index(f.X1 + c)]


@kernel
def product_integral(f, shapes, c, k):
    """P_ck = int phi_c phi_k dm [kg]"""
    return shapes[index(f.P + c * f.M + k)]


@kernel
def shortening(f, shapes, r, j, l):
    """Q_r,jl: shortening function r per product of two bending modes [1/m]"""
    return shapes[index(f.Q + (r * f.n_b + j) * f.n_b + l)]


@kernel
def rotary_coupling(f, shapes, j):
    """Column j of Jr1 [kg m]"""
    return vec_at(shapes, f.Jr1 + 3 * j)


@kernel
def rotary_inertia(f, shapes, j, l):
    """Jr2_jl [kg]"""
    return shapes[index(f.Jr2 + j * f.m + l)]


@kernel
def stiffness(f, shapes, j, l):
    """K_jl [N/m]"""
    return shapes[index(f.K + j * f.m + l)]


@kernel
def damping(f, shapes, j, l):
    """D_jl [N s/m]"""
    return shapes[index(f.Dm + j * f.m + l)]


@kernel
def station_slope(f, shapes, k, j):
    """y_j' (z_j') at station k"""
    return shapes[index(f.slope + k * f.n_b + j)]


@kernel
def station_bend(f, shapes, k, j):
    """Curvature of mode j at station k, times sqrt(EI w), w the station's weight in integrals over the length"""
    return shapes[index(f.bend + k * f.n_b + j)]


@kernel
def station_share(f, shapes, r, k):
    """Share of station k in shortening function r [m]"""
    return shapes[index(f.share + r * f.n_k + k)]


# --- modal state (F1) ---------------------------------------------------------------------------------------------


@kernel
def modal_coordinate(f, flex, j):
    """d_j"""
    return flex[index(f.d + j)]


@kernel
def modal_rate(f, flex, j):
    """e_j = d_j'"""
    return flex[index(f.e + j)]


@kernel
def modal_acceleration(f, flex, j):
    """e_j'"""
    return flex[index(f.edot + j)]


@kernel
def put_modal_acceleration(f, flex, j, value):
    flex[index(f.edot + j)] = value


@kernel
def amplitude(f, flex, c):
    """D_c [m]"""
    return flex[index(f.D + c)]


@kernel
def amplitude_rate(f, flex, c):
    """D'_c [m/s]"""
    return flex[index(f.Dd + c)]


@kernel
def amplitude_acceleration(f, flex, c):
    """D''_c [m/s^2]"""
    return flex[index(f.Ddd + c)]


@kernel
def put_amplitude_acceleration(f, flex, c, value):
    flex[index(f.Ddd + c)] = value


@kernel
def amplitude_bias(f, flex, r):
    """b_r: what D''_r has when e' vanishes [m/s^2]"""
    return flex[index(f.b + r)]


@kernel
def shortening_slope(f, flex, r, j):
    """(Q_r d)_j: amplitude r falls by this per modal coordinate j"""
    return flex[index(f.U + r * f.n_b + j)]


# --- what components feel, before it is carried to the modes --------------------------------------------------------


@kernel
def component_moment(f, flex, c):
    """a_c = int s x Phi_c dm [kg m] (F6)"""
    return vec_at(flex, f.a + 3 * c)


@kernel
def component_force(f, flex, c):
    """F_c: velocity-dependent force [N] (F10); in boltzmann_hamel e_f . (k_c' + w x k_c) (B18)"""
    return flex[index(f.F + c)]


@kernel
def put_component(f, flex, c, moment, force):
    put_at(flex, f.a + 3 * c, moment)
    flex[index(f.F + c)] = force


# --- modal blocks of the mass matrix, of the body alone and then of all it carries (F7) -------------------------------


@kernel
def coupling(f, flex, j):
    """Force and moment on the frame per acceleration of mode j: row j of M_vd, M_wd [kg, kg m] B; in denoc W, and once
    eliminated psi_j (D14)"""
    at = f.rd + 6 * j
    return vec_at(flex, at), vec_at(flex, at + 3)


@kernel
def put_coupling(f, flex, j, force, moment):
    at = f.rd + 6 * j
    put_at(flex, at, force)
    put_at(flex, at + 3, moment)


@kernel
def add_coupling(f, flex, j, force, moment):
    at = f.rd + 6 * j
    put_at(flex, at, add(vec_at(flex, at), force))
    put_at(flex, at + 3, add(vec_at(flex, at + 3), moment))


@kernel
def modal_inertia(f, flex, j, l):
    """M_dd,jl, l <= j [kg]; once factored: L_jl, its diagonal inverted (A2), or psi of mode j and 1 / D_j (D14)"""
    return flex[index(f.dd + j * f.m + l)]


@kernel
def put_modal_inertia(f, flex, j, l, value):
    flex[index(f.dd + j * f.m + l)] = value


@kernel
def add_modal_inertia(f, flex, j, l, value):
    flex[index(f.dd + j * f.m + l)] += value


@kernel
def modal_bias(f, flex, j):
    """Force on mode j while accelerations vanish [N]; in denoc once eliminated: tau^ (D14)"""
    return flex[index(f.pd + j)]


@kernel
def put_modal_bias(f, flex, j, value):
    flex[index(f.pd + j)] = value


@kernel
def add_modal_bias(f, flex, j, value):
    flex[index(f.pd + j)] += value


# --- 3x4 matrices of the Lagrangian recursion ------------------------------------------------------------------------


@kernel
def component_place(f, flex, c):
    """p_c = int phi_c s dm [kg m] (F3)"""
    return vec_at(flex, f.p + 3 * c)


@kernel
def put_component_place(f, flex, c, place, force):
    put_at(flex, f.p + 3 * c, place)
    flex[index(f.F + c)] = force


@kernel
def mode_integral(f, flex, j):
    """G_j = int (dh/dd_j) h^T dm as (3x3, 3), of the body alone and then of all it carries [kg m, kg] (L3, L8)"""
    at = f.G + 12 * j
    return mat(flex[at:]), vec_at(flex, at + 9)


@kernel
def put_mode_integral(f, flex, j, G, g):
    at = f.G + 12 * j
    put_mat(flex[at:], G)
    put_at(flex, at + 9, g)


@kernel
def add_mode_integral(f, flex, j, G, g):
    at = f.G + 12 * j
    put_mat(flex[at:], add_mat(mat(flex[at:]), G))
    put_at(flex, at + 9, add(vec_at(flex, at + 9), g))


# --- geometric stiffness (F21) ---------------------------------------------------------------------------------------


@kernel
def stiffening(f, flex, j):
    """Row j of -Kg d [N]"""
    return flex[index(f.stiffening + j)]


@kernel
def put_stiffening(f, flex, j, force):
    flex[index(f.stiffening + j)] = force


# --- half solves of the articulated recursion (A2) --------------------------------------------------------------------


@kernel
def reduced_coupling(f, flex, j):
    """Row j of Y = L^-1 I_dr, as force and moment"""
    at = f.Y + 6 * j
    return vec_at(flex, at), vec_at(flex, at + 3)


@kernel
def reduced_bias(f, flex, j):
    """y_j, y = L^-1 p_d"""
    return flex[index(f.y + j)]


@kernel
def put_reduced(f, flex, j, force, moment, bias):
    at = f.Y + 6 * j
    put_at(flex, at, force)
    put_at(flex, at + 3, moment)
    flex[index(f.y + j)] = bias


# --- sections: point is a POINT row -----------------------------------------------------------------------------------


@kernel
def shape_value(point, shapes, j):
    """phi_j at the section"""
    return shapes[index(point.phi + j)]


@kernel
def shape_angle(point, shapes, j):
    """Angle of the section per modal coordinate j [rad/m]"""
    return shapes[index(point.theta + j)]


@kernel
def mean_shortening(f, shapes, j, l):
    """int H_jl dm, and int x H_jl dm [kg, kg m]"""
    at = j * f.n_b + l
    return shapes[index(f.Hm + at)], shapes[index(f.H1 + at)]


@kernel
def shortening_at(f, point, shapes, j, l):
    """H_jl of the axis up to the section [1/m]"""
    return shapes[index(point.H + j * f.n_b + l)]


@kernel
def section_share(point, shapes, k):
    """Share of station k in the shortening up to the section [m]"""
    return shapes[index(point.share + k)]


@kernel
def section_mode(point, flex, j):
    """Lambda_j: velocity and angular velocity of the section per rate of mode j, B (F13)"""
    at = point.Lambda + 6 * j
    return vec_at(flex, at), vec_at(flex, at + 3)


@kernel
def put_section_mode(point, flex, j, velocity, angular_velocity):
    at = point.Lambda + 6 * j
    put_at(flex, at, velocity)
    put_at(flex, at + 3, angular_velocity)


@kernel
def modal_force(point, flex, j, force, moment):
    """Force on mode j by a wrench at the section: Lambda_j . (f, n) (F16)"""
    at = point.Lambda + 6 * j
    return dot(vec_at(flex, at), force) + dot(vec_at(flex, at + 3), moment)
