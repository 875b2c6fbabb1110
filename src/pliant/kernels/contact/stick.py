"""Stick forces: what holds sticking points and joints, beside everything else that acts.

a = a0 + W f: tangential accelerations of the sticking sites under their stick forces f, W = J M^-1 J^T from one unit
force at a time. f makes a = -STICK_RATE u, so what is left of the sliding velocity u dies out."""

import math

from pliant.kernels._jit import ACCELERATION, kernel, routine
from pliant.kernels.algebra.dense import cholesky, cholesky_solve
from pliant.kernels.algebra.vec3 import add, dot, put, scale
from pliant.kernels.contact.friction import slip_force
from pliant.kernels.contact.geometry import measure, measure_rates, plane_axes, tangent
from pliant.kernels.contact.phase import count_contacts
from pliant.kernels.forces.joints import add_joint_force, seen_rate
from pliant.kernels.forces.push import push
from pliant.kernels.kinematics.tree import accelerate
from pliant.system.contact_tables import Branch
from pliant.system.status import Status
from pliant.system.tables import Power

call_acceleration = ACCELERATION.call

OK, SINGULAR, BREAK = int(Status.OK), int(Status.SINGULAR), int(Branch.BREAK)  # numba mixes integers only

STICK_RATE = 50.0  # [1/s]
# of the mean diagonal of W, added to it: points of one body that all stick share the force evenly
SHARING = 1e-3
WEAK = 1e-12  # [1/kg] per acceleration [m/s^2]
ENDLESS = 1e12  # [N]
AT_REST = 1e-6  # [m/s^2]
REFINEMENTS = 6  # SHARING to this power is below rounding
OPPOSITE = 0.05  # of the stick speed, above events.TURNED
NEARLY = 1.0 - 1e-9  # of what is released: released together

FORCE, FREE, RIGHT = 0, 1, 2  # rows of work.stick_force


@routine
def put_accelerations(system, work, v, vdot, out):
    """out = tangential accelerations of all sticking sites, plus STICK_RATE times their velocities."""
    if work.run[0].n_touching > 0:
        accelerate(system, work, vdot)
    for k in range(len(system.contacts)):
        i = work.contacts[k].unknown
        if i >= 0:
            _, u, _, _ = measure(system, work, k)
            udot, _ = measure_rates(system, work, k)
            x, y, xdot, ydot = plane_axes(system, work, k)
            out[i] = dot(x, udot) + dot(xdot, u) + STICK_RATE * dot(x, u)
            if not system.world[0].is_planar:
                out[i + 1] = dot(y, udot) + dot(ydot, u) + STICK_RATE * dot(y, u)
    for k in range(len(system.sites)):
        i = work.sites[k].unknown
        if i >= 0:
            j = system.sites[k].dof
            out[i] = seen_rate(system, vdot, j) + STICK_RATE * seen_rate(system, v, j)


@routine
def add_stick_force(system, work, k, fx, fy):
    """Push at sticking contact k along its plane."""
    contact = system.contacts[k]
    _, _, _, location = measure(system, work, k)
    x, y, _, _ = plane_axes(system, work, k)
    force = add(scale(fx, x), scale(fy, y))
    push(system, work, contact.frame, force, location)
    push(system, work, contact.plane, scale(-1.0, force), location)


@routine
def put_column(system, work, q, v, vdot, i, unit):
    """Column i of W: what a unit force changes; the force has been added."""
    status = call_acceleration(work.run[0].formulation, (system, work, q, v, vdot, work.no_reaction))
    W = work.stick
    put_accelerations(system, work, v, vdot, W[i])
    for j in range(work.run[0].n_sticking):
        W[i, j] = (W[i, j] - work.stick_force[FREE, j]) / unit
    return status


@kernel
def is_prescribed(W, a0, i):
    """Whether no force moves unknown i: its motion is prescribed, so friction cannot hold it."""
    return W[i, i] < WEAK * max(abs(a0[i]), WEAK)


@routine
def solve_forces(work, n):
    """f of W f = -a0 into stick_force; even where W is singular."""
    W, factor = work.stick, work.stick[work.stick.shape[1] :]
    f, a0, r = work.stick_force[FORCE], work.stick_force[FREE], work.stick_force[RIGHT]
    trace = 0.0
    for i in range(n):
        trace += W[i, i]
        f[i] = 0.0
    for i in range(n):
        is_held = is_prescribed(W, a0, i)
        for j in range(i + 1):
            factor[i, j] = 0.0 if is_held or is_prescribed(W, a0, j) else 0.5 * (W[i, j] + W[j, i])
        factor[i, i] = 1.0 if is_held else factor[i, i] + SHARING * trace / n
    if cholesky(factor, n) >= 0:
        return SINGULAR
    # again and again: each time takes back what SHARING has taken away
    for _ in range(REFINEMENTS):
        for i in range(n):
            r[i] = -a0[i]
            for j in range(n):
                r[i] -= 0.5 * (W[i, j] + W[j, i]) * f[j]
        cholesky_solve(factor, n, r)
        for i in range(n):
            f[i] += r[i]
            if is_prescribed(W, a0, i):
                # it rests anyway; or no force holds it, and one above any bound has it released at once
                f[i] = 0.0 if abs(a0[i]) < AT_REST else -math.copysign(ENDLESS, a0[i])
    return OK


@routine
def find_stick_forces(system, work, q, v, vdot):
    """Fill work.stick_force; forces are gathered."""
    status = call_acceleration(work.run[0].formulation, (system, work, q, v, vdot, work.no_reaction))
    put_accelerations(system, work, v, vdot, work.stick_force[FREE])
    for k in range(len(system.contacts)):
        x = work.contacts[k]
        if x.unknown < 0:
            continue
        unit = 1.0 + x.bound
        for axis in range(1 if system.world[0].is_planar else 2):
            fx, fy = (unit, 0.0) if axis == 0 else (0.0, unit)
            add_stick_force(system, work, k, fx, fy)
            status = max(status, put_column(system, work, q, v, vdot, x.unknown + axis, unit))
            add_stick_force(system, work, k, -fx, -fy)
    for k in range(len(system.sites)):
        x, j = work.sites[k], system.sites[k].dof
        if x.unknown < 0:
            continue
        unit = 1.0 + x.bound
        add_joint_force(system, work, j, unit)
        status = max(status, put_column(system, work, q, v, vdot, x.unknown, unit))
        add_joint_force(system, work, j, -unit)
    return max(status, solve_forces(work, work.run[0].n_sticking))


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
            add_stick_force(system, work, k, fx, fy)
            _, u, _, _ = measure(system, work, k)
            ex, ey, _, _ = plane_axes(system, work, k)
            along = add(scale(fx, ex), scale(fy, ey))
            put(x.tangential, along)
            x.power += dot(along, u)
            work.power[Power.FRICTION] += dot(along, u)
    for k in range(len(system.sites)):
        x, j = work.sites[k], system.sites[k].dof
        if x.unknown >= 0:
            x.force = f[x.unknown]
            add_joint_force(system, work, j, x.force)
            work.power[Power.JOINT_FRICTION] += x.force * seen_rate(system, v, j)


@kernel(ACCELERATION)
def solve(system, work, q, v, vdot, reaction):
    """vdot, and reactions if it has rows, under all gathered forces and the stick forces."""
    if work.run[0].n_sticking > 0:
        status = find_stick_forces(system, work, q, v, vdot)
        if status != OK:
            return status
        apply_stick_forces(system, work, v)
    return call_acceleration(work.run[0].formulation, (system, work, q, v, vdot, reaction))


@kernel
def contact_stick_force(system, work, k):
    """Size of the stick force of contact k."""
    i = work.contacts[k].unknown
    fx, fy = work.stick_force[FORCE, i], 0.0
    if not system.world[0].is_planar:
        fy = work.stick_force[FORCE, i + 1]
    return math.sqrt(fx * fx + fy * fy)


@routine
def slip_direction(system, work, k):
    """Direction d in the plane in which contact k begins to slip: a0 - b W d = c d with c >= 0, b the slip force.

    W is its own block, a0 = -W f what its stick force f has held. Where W is not the same in all directions d is not
    along f, and friction along f would not be against the slip that follows."""
    x, W = work.contacts[k], work.stick
    law = system.frictions[system.contacts[k].friction]
    i = x.unknown
    fx = work.stick_force[FORCE, i]
    if system.world[0].is_planar:
        return -math.copysign(1.0, fx), 0.0
    fy = work.stick_force[FORCE, i + 1]
    xx, xy, yy = W[i, i], 0.5 * (W[i, i + 1] + W[i + 1, i]), W[i + 1, i + 1]
    ax, ay = -(xx * fx + xy * fy), -(xy * fx + yy * fy)
    b = slip_force(law, BREAK, x.normal_force, 0.0)
    # the length of (c + b W)^-1 a0 falls with c: halve until it is 1
    low, high, dx, dy = 0.0, math.sqrt(ax * ax + ay * ay), 0.0, 0.0
    for _ in range(60):
        c = 0.5 * (low + high)
        pxx, pxy, pyy = c + b * xx, b * xy, c + b * yy
        det = pxx * pyy - pxy * pxy
        if not det > 0.0:
            return 0.0, 0.0
        dx, dy = (pyy * ax - pxy * ay) / det, (pxx * ay - pxy * ax) / det
        if dx * dx + dy * dy > 1.0:
            low = c
        else:
            high = c
    size = math.sqrt(dx * dx + dy * dy)
    return (dx / size, dy / size) if size > 0.0 else (0.0, 0.0)


@routine
def release_overloaded(system, work, v, share):
    """Let go where the stick force has reached this share of its bound; how many did. Stick forces are known."""
    n_released = 0
    share *= NEARLY
    f = work.stick_force[FORCE]
    for k in range(len(system.contacts)):
        x, phase = work.contacts[k], work.phase[system.contacts[k].phase]
        if x.unknown >= 0:
            size = contact_stick_force(system, work, k)
            if size >= share * x.bound:
                dx, dy = slip_direction(system, work, k)
                ex, ey, _, _ = plane_axes(system, work, k)
                phase.branch = BREAK
                force = add(scale(-dx, ex), scale(-dy, ey))
                # what is left of an earlier slide the other way: friction is against that
                _, u, n, _ = measure(system, work, k)
                slide = tangent(u, n)
                speed = math.sqrt(dot(slide, slide))
                if dot(slide, force) > OPPOSITE * system.frictions[system.contacts[k].friction].kink[0]:
                    force = scale(-1.0 / speed, slide)
                put(phase.direction, force)
                phase.sense = math.copysign(1.0, dot(force, ex))
                n_released += 1
    for k in range(len(system.sites)):
        x, phase = work.sites[k], work.phase[system.sites[k].phase]
        if x.unknown >= 0 and abs(f[x.unknown]) >= share * x.bound:
            phase.branch = BREAK
            u, sense = seen_rate(system, v, system.sites[k].dof), math.copysign(1.0, f[x.unknown])
            if sense * u > OPPOSITE * system.frictions[system.sites[k].friction].kink[0]:
                sense = -sense
            phase.direction[0] = sense
            n_released += 1
    count_contacts(system, work)
    return n_released
