"""Stick forces: what holds sticking points and joints, together with all other forces.

a = a0 + W f: accelerations of the sticking friction pairs along their planes (joints) under their stick forces f,
W = J M^-1 J^T, M^-1 that of the closed mechanism, from the factors of the formulation. f makes a = -STICK_RATE u, so
that what is left of the sliding velocity u dies out. Where that is beyond the bounds, or does not determine f, because
friction pairs move together, bounded_forces.py does."""

import math

from pliant.kernels._jit import ACCELERATION, RESPONSE, REST_FORCES, kernel, routine
from pliant.kernels.algebra.dense import (
    add_multiple,
    cholesky_solve,
    cholesky_upper,
    cholesky_upper_solve,
    long_product,
)
from pliant.kernels.algebra.lanes import WIDTH
from pliant.kernels.algebra.vec3 import add, dot, put, scale
from pliant.kernels.contact.bounded_matrix import product, size_of
from pliant.kernels.contact.geometry import measure, measure_rates, plane_axes, total_size
from pliant.kernels.contact.phase import width_at
from pliant.kernels.contact.places import place_again
from pliant.kernels.forces.apply import apply_force
from pliant.kernels.forces.joints import add_joint_force, joint_deflection_rate
from pliant.kernels.kinematics.columns import add_row
from pliant.kernels.kinematics.tree import accelerate, frame_acceleration
from pliant.system.loop_tables import RIGHT as CONSTRAINT_RIGHT
from pliant.system.status import Status
from pliant.system.tables import Power
from pliant.system.work import (
    BOUND,
    FORCE,
    FREE,
    LANE,
    LEAST_BOUND,
    MARGIN,
    RANGE_END,
    RANGE_SPAN_END,
    RANGE_SPAN_FIRST,
    RIGHT,
    SCALE,
    SPAN_END,
    SPAN_FIRST,
    V,
)

call_acceleration = ACCELERATION.call
call_rest_forces = REST_FORCES.call
call_response = RESPONSE.call

OK, SINGULAR = int(Status.OK), int(Status.SINGULAR)  # numba mixes integers only

STICK_RATE = 50.0  # [1/s]
MIN_EIGENVALUE = 1e-6  # of W with its diagonal scaled to ones: below it friction pairs move together
INVERSE_ITERATIONS = 3
MIN_MOBILITY = 1e-12  # of that in the open tree: below it the motion is prescribed
REFINEMENTS = 2
UNLOADED = 1e-11  # of the accelerations of two bodies: what a contact brings them that carries nothing, up to rounding


@routine
def put_accelerations(system, work, v, vdot, rate, out):
    """out = tangential accelerations of all sticking friction pairs, plus rate times their velocities."""
    if work.run[0].n_touching > 0:
        accelerate(system, work, vdot)
    for k in range(len(system.contacts)):
        i = work.contacts[k].unknown
        if i >= 0:
            _, u, _, _ = measure(system, work, k)
            udot, _ = measure_rates(system, work, k)
            x, y, xdot, ydot = plane_axes(system, work, k)
            out[i] = dot(x, udot) + dot(xdot, u) + rate * dot(x, u)
            if not system.world[0].is_planar:
                out[i + 1] = dot(y, udot) + dot(ydot, u) + rate * dot(y, u)
    for k in range(len(system.joint_frictions)):
        i = work.joint_frictions[k].unknown
        if i >= 0:
            j = system.joint_frictions[k].dof
            out[i] = joint_deflection_rate(system, vdot, j) + rate * joint_deflection_rate(system, v, j)


# --- J, M^-1 J^T, W -----------------------------------------------------------------------------------------------


@routine
def put_jacobian(system, work, n):
    """J of all sticking friction pairs, with their bounds; forces are gathered."""
    J, bound = work.stick_jacobian, work.stick_force[BOUND]
    for i in range(n):
        for j in range(work.stick_places[SPAN_FIRST, i], work.stick_places[SPAN_END, i]):
            J[i, j] = 0.0
    for k in range(len(system.contacts)):
        i, contact = work.contacts[k].unknown, system.contacts[k]
        if i < 0:
            continue
        _, _, _, location = measure(system, work, k)
        x, y, _, _ = plane_axes(system, work, k)
        add_row(system, work, contact.frame, location, x, J[i])
        add_row(system, work, contact.plane, location, scale(-1.0, x), J[i])
        bound[i] = work.contacts[k].bound
        if not system.world[0].is_planar:
            add_row(system, work, contact.frame, location, y, J[i + 1])
            add_row(system, work, contact.plane, location, scale(-1.0, y), J[i + 1])
            bound[i + 1] = bound[i]
    for k in range(len(system.joint_frictions)):
        i, dof = work.joint_frictions[k].unknown, system.dofs[system.joint_frictions[k].dof]
        if i < 0:
            continue
        J[i, system.joint_frictions[k].dof] = 1.0
        bound[i] = work.joint_frictions[k].bound
        if dof.tilt >= 0:
            body = system.bodies[dof.body]
            for l in range(system.flexes[body.flex].m):
                J[i, body.v + body.n_v + l] = system.shapes[dof.tilt + l]


@routine
def keep_loops_closed(work, x):
    """x <- x - M^-1 A^T (A M^-1 A^T)^-1 A x: the response of the closed mechanism, with what
    closures/multipliers.py has left in work."""
    r, y = work.closure[0].n_active, work.constraint_vectors[CONSTRAINT_RIGHT]
    for k in range(r):
        y[k] = -product(work.constraint_jacobian[work.constraint_order[k]], x)
    cholesky_solve(work.gram, r, y)
    for k in range(r):
        for j in range(x.shape[0]):
            x[j] += work.lift[k, j] * y[k]


@routine
def mobility_in_loops(work, i):
    """Column i of M^-1 J^T as the closed mechanism responds; W_ii."""
    x, lift = work.stick_column, work.stick_lift
    for j in range(x.shape[0]):
        x[j] = lift[j, i]
    keep_loops_closed(work, x)
    for j in range(x.shape[0]):
        lift[j, i] = x[j]
    return product(work.stick_jacobian[i], x)


@routine
def put_into_lanes(work, first, n):
    """Rows of J into the lanes from first on; the first unknown there, and the one after the last."""
    J, x, places, low, high = work.stick_jacobian, work.lanes, work.stick_places, n, 0
    for j in range(J.shape[1]):
        for k in range(WIDTH):
            x[j, k] = 0.0
    for i in range(n):
        lane = places[LANE, i] - first
        if 0 <= lane < WIDTH:
            low, high = min(low, i), i + 1
            for j in range(places[SPAN_FIRST, i], places[SPAN_END, i]):
                x[j, lane] = J[i, j]
    return low, high


@routine
def take_from_lanes(work, first, low, high):
    """Lanes from first on to the columns of work.stick_lift, unknowns from low on; zeros elsewhere in their ranges."""
    lift, x, places, i = work.stick_lift, work.lanes, work.stick_places, low
    while i < high:
        end = min(high, places[RANGE_END, i])
        for j in range(places[RANGE_SPAN_FIRST, i], places[RANGE_SPAN_END, i]):
            for k in range(i, end):
                lane = places[LANE, k] - first
                if 0 <= lane < WIDTH:
                    lift[j, k] = x[j, lane] if places[SPAN_FIRST, k] <= j < places[SPAN_END, k] else 0.0
        i = end


@routine
def find_responses(system, work, n):
    """M^-1 J^T of the closed mechanism into work.stick_lift, W, and of every unknown 1 / sqrt(W_ii), 0 where no force
    moves it. The formulation has been called."""
    J, lift, W, places, calls = work.stick_jacobian, work.stick_lift, work.stick, work.stick_places, work.calls[0]
    has_loops = len(system.loops) > 0 and calls.formulation != calls.open_formulation
    for first in range(0, work.run[0].n_stick_lanes, WIDTH):
        low, high = put_into_lanes(work, first, n)
        call_response(calls.respond, (system, work, work.lanes))
        take_from_lanes(work, first, low, high)
    for i in range(n):
        alone = 0.0
        for j in range(places[SPAN_FIRST, i], places[SPAN_END, i]):
            alone += J[i, j] * lift[j, i]
        own = mobility_in_loops(work, i) if has_loops else alone
        work.stick_force[SCALE, i] = 1.0 / math.sqrt(own) if own > MIN_MOBILITY * alone else 0.0
    # J has few entries in a row: those of the velocities that move a point
    for i in range(n):
        row, end = W[i], places[RANGE_END, i]
        for k in range(i, end):
            row[k] = 0.0
        for j in range(places[SPAN_FIRST, i], places[SPAN_END, i]):
            add_multiple(J[i, j], lift[j], row, i, end)
        for k in range(i + 1, end):
            W[k, i] = row[k]


@routine
def put_free_accelerations(system, work, n, v, vdot):
    """What stick forces have to cancel: accelerations without them, and STICK_RATE u. In a semi-implicit stage u is
    that of its implicit point, u_hat + step a, so that a = -STICK_RATE u_hat / (1 + STICK_RATE step)."""
    step, J, free = work.run[0].implicit_step, work.stick_jacobian, work.stick_force[FREE]
    rate = STICK_RATE / (1.0 + STICK_RATE * step)
    put_accelerations(system, work, v, vdot, rate, free)
    put_jacobian(system, work, n)
    for i in range(n if step > 0.0 else 0):
        for j in range(work.stick_places[SPAN_FIRST, i], work.stick_places[SPAN_END, i]):
            free[i] += rate * J[i, j] * work.changes[V, j]


@routine
def unload_contacts(system, work, n):
    """Let contacts hold nothing that could not change accelerations beyond their rounding; whether there are any."""
    s, W, is_one = work.stick_force, work.stick, False
    for k in range(len(system.contacts)):
        i, contact = work.contacts[k].unknown, system.contacts[k]
        if i < 0:
            continue
        a, _ = frame_acceleration(system, work, contact.frame)
        a0, _ = frame_acceleration(system, work, contact.plane)
        size = total_size(system.world[0].gravity) + total_size(a) + total_size(a0)
        end = i + width_at(work, i, n)
        mobility = max(W[i, i], W[end - 1, end - 1])
        for j in range(i, end):
            s[LEAST_BOUND, j] = UNLOADED * size / mobility if mobility > 0.0 else 0.0
            if s[BOUND, j] < s[LEAST_BOUND, j]:
                s[BOUND, j], is_one = 0.0, True
    for k in range(len(system.joint_frictions)):
        if work.joint_frictions[k].unknown >= 0:
            s[LEAST_BOUND, work.joint_frictions[k].unknown] = 0.0
    return is_one


# --- f of W f = -a0 -----------------------------------------------------------------------------------------------


@routine
def is_range_independent(work, first, end):
    """is_independent of a range of unknowns."""
    cap = work.stick.shape[1]
    W, F, size = work.stick, work.stick[cap : 2 * cap], work.stick_force[SCALE]
    for i in range(first, end):
        for j in range(i, end):
            F[i, j] = W[i, j] * size[i] * size[j]
        F[i, i] = F[i, i] if size[i] > 0.0 else 1.0
    if cholesky_upper(F, first, end) >= 0:
        return False
    # the least eigenvalue, by inverse iteration
    x = work.stick_force[RIGHT]
    for i in range(first, end):
        x[i] = 1.0 - 1.7 * (i % 2) + 0.1 * (i - first)
    for _ in range(INVERSE_ITERATIONS):
        length = math.sqrt(product(x[first:end], x[first:end]))
        for i in range(first, end):
            x[i] /= length
        cholesky_upper_solve(F, first, end, x)
    return MIN_EIGENVALUE * MIN_EIGENVALUE * product(x[first:end], x[first:end]) <= 1.0


@routine
def is_independent(work, n):
    """Whether accelerations determine the forces of all friction pairs that can move; W is then factored, scaled."""
    first = 0
    while first < n:
        end = work.stick_places[RANGE_END, first]
        if not is_range_independent(work, first, end):
            return False
        first = end
    return True


@routine
def solve_range(work, first, end):
    """solve_forces of a range of unknowns."""
    cap = work.stick.shape[1]
    W, F, rows = work.stick, work.stick[cap : 2 * cap], work.stick_force
    f, a0, size, x = rows[FORCE], rows[FREE], rows[SCALE], rows[RIGHT]
    for i in range(first, end):
        f[i] = 0.0
    for _ in range(1 + REFINEMENTS):
        for i in range(first, end):
            x[i] = -(a0[i] + long_product(W[i], f, first, end)) * size[i]
        cholesky_upper_solve(F, first, end, x)
        for i in range(first, end):
            f[i] += x[i] * size[i]


@routine
def solve_forces(work, n):
    """f of W f = -a0 into stick_force, whatever the bounds; 0 where no force moves a friction pair."""
    rows, i = work.stick_force, 0
    while i < n:
        solve_range(work, i, work.stick_places[RANGE_END, i])
        i = work.stick_places[RANGE_END, i]
    i = 0
    while i < n:
        width = width_at(work, i, n)
        rows[MARGIN, i] = rows[BOUND, i] - size_of(work, FORCE, i, width)
        i += width


@routine
def find_stick_forces(system, work, q, v, vdot):
    """Fill work.stick_force, vdot without them; forces are gathered."""
    n = work.run[0].n_sticking
    status = call_acceleration(work.calls[0].formulation, (system, work, q, v, vdot, work.no_reaction))
    if status != OK:
        return status
    place_again(system, work)
    put_free_accelerations(system, work, n, v, vdot)
    find_responses(system, work, n)
    is_one_unloaded = unload_contacts(system, work, n)
    # more unknowns than velocities: they move together
    if is_one_unloaded or work.run[0].n_broken > 0 or n > len(vdot) or not is_independent(work, n):
        return call_rest_forces(work.calls[0].rest_forces, (work, n))
    solve_forces(work, n)
    return OK


# --- what they do -------------------------------------------------------------------------------------------------


@routine
def apply_stick_force(system, work, k, fx, fy):
    """Apply the stick force of contact k along its plane; the force in world axes."""
    contact = system.contacts[k]
    _, _, _, location = measure(system, work, k)
    x, y, _, _ = plane_axes(system, work, k)
    force = add(scale(fx, x), scale(fy, y))
    apply_force(system, work, contact.frame, force, location)
    apply_force(system, work, contact.plane, scale(-1.0, force), location)
    return force


@routine
def apply_stick_forces(system, work, v):
    """Add the stick forces to wrenches, joint forces and powers."""
    f = work.stick_force[FORCE]
    for k in range(len(system.contacts)):
        x = work.contacts[k]
        if x.unknown >= 0:
            fx, fy = f[x.unknown], 0.0
            if not system.world[0].is_planar:
                fy = f[x.unknown + 1]
            along = apply_stick_force(system, work, k, fx, fy)
            _, u, _, _ = measure(system, work, k)
            put(x.tangential, along)
            x.power += dot(along, u)
            work.power[Power.FRICTION] += dot(along, u)
    for k in range(len(system.joint_frictions)):
        x, j = work.joint_frictions[k], system.joint_frictions[k].dof
        if x.unknown >= 0:
            x.force = f[x.unknown]
            add_joint_force(system, work, j, x.force)
            work.power[Power.JOINT_FRICTION] += x.force * joint_deflection_rate(system, v, j)


@routine
def add_lifted(work, n, vdot):
    """vdot += M^-1 J^T f"""
    places, first = work.stick_places, 0
    while first < n:
        end = places[RANGE_END, first]
        for j in range(places[RANGE_SPAN_FIRST, first], places[RANGE_SPAN_END, first]):
            vdot[j] += long_product(work.stick_lift[j], work.stick_force[FORCE], first, end)
        first = end


@kernel(ACCELERATION)
def solve(system, work, q, v, vdot, reaction):
    """vdot, and reactions if it has rows, under all gathered forces and the stick forces."""
    n = work.run[0].n_sticking
    if n > 0:
        status = find_stick_forces(system, work, q, v, vdot)
        if status != OK:
            return status
        apply_stick_forces(system, work, v)
        if len(reaction) == 0 and len(system.loops) == 0 and not system.world[0].has_prescribed:
            add_lifted(work, n, vdot)
            return OK
    return call_acceleration(work.calls[0].formulation, (system, work, q, v, vdot, reaction))
