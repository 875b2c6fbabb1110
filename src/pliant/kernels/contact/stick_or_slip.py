"""Which sites at rest stick and which slip, in which direction: one question for all of them.

Normal forces of contacts and loads of joints follow from the state, so the forces f at the sites at rest solve a convex
problem, min 1/2 f W f + a0 f with |f_i| <= bound_i (in the plane and in joints an interval, in space a disc), a0
everything else that acts, with W and the rate at which sliding dies out as in stick.py. Accelerations are then unique.
Sites at their bound slip against their force; the others stick.

mu_s > mu_k has no unique answer. The rule here: all sites begin with mu_s N, but those that had broken away before and
still creep, which have the law's own bound just above rest, mu(0+) N. Sites that reach their bound together are lowered
to it together, each at most once an instant, and the problem is solved again; a lowered site inside its bound sticks.

The problem is solved in shares x of the bounds by Newton's method with a barrier -mu log(c_i), c_i = (1 - |x_i|^2) / 2,
mu falling to nothing (Boyd and Vandenberghe, Convex Optimization, 11.3); mu / c_i is the multiplier of a bound.
"""

import math

from pliant.kernels._jit import STATE, SWITCH, kernel, routine
from pliant.kernels.algebra.dense import cholesky, cholesky_solve
from pliant.kernels.algebra.vec3 import add, dot, put, scale, sub, vec
from pliant.kernels.contact.friction import slip_force
from pliant.kernels.contact.gather import load_states
from pliant.kernels.contact.geometry import measure, plane_axes, tangent
from pliant.kernels.contact.phase import count_contacts, width_at
from pliant.kernels.contact.stick import (
    AT_REST,
    acceleration_of,
    find_stick_forces,
    least_motion,
    product,
    size_of,
)
from pliant.kernels.forces.joints import seen_rate
from pliant.system.contact_tables import Branch, ContactEvent
from pliant.system.memory import FOUND
from pliant.system.status import Status
from pliant.system.work import BOUND, FORCE, FREE, GRADIENT, MULTIPLIER, RIGHT, SCALE, SHARE, SLACK, STEP

call_state = STATE.call

OK, SWITCHED, UNDECIDED = int(Status.OK), int(Status.SWITCHED), int(Status.FRICTION_UNDECIDED)
STICK, BREAK, SLIP = int(Branch.STICK), int(Branch.BREAK), int(Branch.SLIP)  # numba mixes integers only

NEARLY = 1.0 - 1e-9  # of a bound: reached
NEARLY_SHARED = 1.0 - 1e-6  # the same where forces are shared out
LESS = 1.0 - 1e-5  # of that: what all distributions together have left is a few times what the centre has
MAX_ITERATIONS = 60  # per barrier
MAX_CUTS = 60
SAME = 1e-6  # change of a direction that is none
NEAREST = 0.99  # of its distance from a bound that a step may take
SUFFICIENT = 0.01  # of what Newton's step promises
DAMPING = 1e-13  # of the diagonal, in Newton's matrix only
# the barrier, in units of the largest a0 bound: from one to the next, when the next is due, and the last
FALL, CENTRED, LAST_BARRIER = 0.02, 1e-3, 1e-14


# --- the convex problem -------------------------------------------------------------------------------------------


@kernel
def is_bounded(work, i):
    """Whether a force can act at unknown i at all, and matters."""
    return work.stick_force[BOUND, i] > 0.0 and work.stick_force[SCALE, i] > 0.0


@routine
def put_gradient(work, n, unit):
    """W f + a0 in shares of the bounds; unit: the largest a0 bound."""
    W, f, s = work.stick, work.stick_force[FORCE], work.stick_force
    for i in range(n):
        f[i] = s[BOUND, i] * s[SHARE, i]
    for i in range(n):
        s[GRADIENT, i] = (s[FREE, i] + product(W[i, :n], f[:n])) * s[BOUND, i] / unit


@kernel
def radial(work, i, width):
    """Direction of the share of a site: (1, 0) if it has none."""
    x = work.stick_force[SHARE, i]
    y = work.stick_force[SHARE, i + 1] if width == 2 else 0.0
    size = math.sqrt(x * x + y * y)
    return (x / size, y / size) if width == 2 and size > 0.0 else (1.0, 0.0)


@kernel
def rotated(c, s, x, y):
    return c * x + s * y, c * y - s * x


@routine
def rotate_sites(work, H, step, n):
    """H and step to axes along and across the share of every site: what is large at a bound then stands alone."""
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, s = radial(work, i, width)
            step[i], step[i + 1] = rotated(c, s, step[i], step[i + 1])
            for j in range(n):
                H[i, j], H[i + 1, j] = rotated(c, s, H[i, j], H[i + 1, j])
            for j in range(n):
                H[j, i], H[j, i + 1] = rotated(c, s, H[j, i], H[j, i + 1])
        i += width


@routine
def put_step(work, n, unit, mu):
    """Newton's step of the objective with the barrier -mu log(slack); its decrement, -1 if there is none."""
    cap = work.stick.shape[1]
    W, H, s, step = work.stick, work.stick[cap : 2 * cap], work.stick_force, work.stick_force[STEP]
    for i in range(n):
        is_free = is_bounded(work, i)
        slope = -s[GRADIENT, i] - mu / s[SLACK, work.stick_first[i]] * s[SHARE, i] if is_free else 0.0
        step[i] = s[RIGHT, i] = slope
        for j in range(n):
            is_coupled = is_free and is_bounded(work, j)
            H[i, j] = s[BOUND, i] * W[i, j] * s[BOUND, j] / unit if is_coupled else 0.0
    rotate_sites(work, H, step, n)
    i = 0
    while i < n:
        width, slack = width_at(work, i, n), s[SLACK, i]
        for a in range(i, i + width):
            H[a, a] = H[a, a] * (1.0 + DAMPING) + mu / slack
        H[i, i] += mu / slack * size_of(work, SHARE, i, width) ** 2 / slack
        i += width
    if cholesky(H, n) >= 0:
        return -1.0
    cholesky_solve(H, n, step)
    i = 0
    while i < n:
        width = width_at(work, i, n)
        if width == 2:
            c, sine = radial(work, i, width)
            step[i], step[i + 1] = rotated(c, -sine, step[i], step[i + 1])
        i += width
    return product(s[RIGHT, :n], step[:n])


@kernel
def products(work, i, width):
    """(share times step, step squared) of a site."""
    along, square = 0.0, 0.0
    for a in range(i, i + width):
        along += work.stick_force[SHARE, a] * work.stick_force[STEP, a]
        square += work.stick_force[STEP, a] ** 2
    return along, square


@routine
def step_length(work, n, mu, decrement):
    """Longest part of Newton's step that keeps all slacks positive and lets the objective with its barrier fall."""
    s, longest, i = work.stick_force, 1.0, 0
    slope, curvature = 0.0, decrement  # of the objective along the step
    for a in range(n):
        slope += s[GRADIENT, a] * s[STEP, a]
    while i < n:
        width, slack = width_at(work, i, n), s[SLACK, i]
        along, square = products(work, i, width)
        curvature -= mu / slack * (square + along * along / slack)
        # slack - along x - square x^2 / 2 = slack - room
        room = NEAREST * slack
        root = along + math.sqrt(along * along + 2.0 * square * room)
        if root > 0.0:
            longest = min(longest, 2.0 * room / root)
        i += width
    for _ in range(MAX_CUTS):
        change, i = longest * (slope + 0.5 * longest * curvature), 0
        while i < n:
            width = width_at(work, i, n)
            along, square = products(work, i, width)
            change -= mu * math.log1p(-longest * (along + 0.5 * longest * square) / s[SLACK, i])
            i += width
        if change <= -SUFFICIENT * longest * decrement:
            break
        longest *= 0.5
    return longest


@routine
def make_step(work, n, length):
    s, i = work.stick_force, 0
    while i < n:
        width = width_at(work, i, n)
        along, square = products(work, i, width)
        s[SLACK, i] -= length * (along + 0.5 * length * square)
        for a in range(i, i + width):
            s[SHARE, a] += length * s[STEP, a]
        i += width


@routine
def find_bounded_forces(work, n):
    """Shares of the bounds in stick_force, with multipliers and slacks at the first unknown of every site; forces."""
    s, unit = work.stick_force, 0.0
    for i in range(n):
        s[SHARE, i], s[MULTIPLIER, i], s[SLACK, i], s[FORCE, i] = 0.0, 0.0, 0.5, 0.0
        unit = max(unit, abs(s[FREE, i]) * s[BOUND, i])
    if unit == 0.0:
        return OK
    mu = 0.5
    while mu > LAST_BARRIER:
        mu *= FALL
        for _ in range(MAX_ITERATIONS):
            put_gradient(work, n, unit)
            decrement = put_step(work, n, unit, mu)
            if not decrement >= 0.0:
                return UNDECIDED
            if decrement < CENTRED * mu:
                break
            make_step(work, n, step_length(work, n, mu, decrement))
    for i in range(n):
        s[MULTIPLIER, i] = mu / s[SLACK, work.stick_first[i]]
    return OK


# --- sites --------------------------------------------------------------------------------------------------------


@kernel
def level(law, N, is_lowered):
    """The largest force at rest."""
    return slip_force(law, BREAK, N, 0.0) if is_lowered else law.mu_s * N


@routine
def bring_to_rest(system, work):
    """All sites that do not slip count as sticking for now; those that had broken away are lowered."""
    for k in range(len(system.contacts)):
        contact = system.contacts[k]
        phase = work.phase[contact.phase]
        if phase.is_active and contact.friction >= 0 and system.frictions[contact.friction].sticks:
            work.contacts[k].is_lowered = phase.branch == BREAK
            phase.branch = STICK if phase.branch == BREAK else phase.branch
    for k in range(len(system.sites)):
        phase = work.phase[system.sites[k].phase]
        if system.frictions[system.sites[k].friction].sticks:
            work.sites[k].is_lowered = phase.branch == BREAK
            phase.branch = STICK if phase.branch == BREAK else phase.branch
    count_contacts(system, work)


@kernel
def is_moving(work, n):
    """Whether the forces found do not hold all sites."""
    fastest = 0.0
    for i in range(n):
        fastest = max(fastest, abs(acceleration_of(work, i, n)))
    return fastest > least_motion(work, n)


@routine
def put_levels(system, work, share):
    """Bounds of all unknowns, a little low: what is reached within rounding is reached. Whether the forces found reach
    the bound of some site, or do not hold it."""
    bound, n = work.stick_force[BOUND], work.run[0].n_sticking
    factor = share * (NEARLY if work.run[0].n_shared == 0 else NEARLY_SHARED)
    is_reached = is_moving(work, n)
    for k in range(len(system.contacts)):
        x, i = work.contacts[k], work.contacts[k].unknown
        if i < 0:
            continue
        width = width_at(work, i, n)
        size = factor * level(system.frictions[system.contacts[k].friction], x.normal_force, x.is_lowered)
        for a in range(i, i + width):
            bound[a] = max(size, 0.0)
        is_reached = is_reached or size_of(work, FORCE, i, width) >= bound[i]
    for k in range(len(system.sites)):
        x, i = work.sites[k], work.sites[k].unknown
        if i < 0:
            continue
        bound[i] = factor * level(system.frictions[system.sites[k].friction], system.sites[k].load, x.is_lowered)
        is_reached = is_reached or abs(work.stick_force[FORCE, i]) >= bound[i]
    return is_reached


@kernel
def is_at_bound(work, i, width):
    """Whether the solution has the site with first unknown i at its bound, or no force can act there."""
    s = work.stick_force
    if not is_bounded(work, i):
        return s[BOUND, i] <= 0.0 or size_of(work, RIGHT, i, width) > AT_REST
    return s[MULTIPLIER, i] >= s[SLACK, i]


@routine
def lower(system, work):
    """Lower the sites at their bounds to what their laws bring just above rest; whether some bound has fallen."""
    n, has_fallen = work.run[0].n_sticking, False
    for k in range(len(system.contacts)):
        x, i = work.contacts[k], work.contacts[k].unknown
        if i >= 0 and not x.is_lowered and is_at_bound(work, i, width_at(work, i, n)):
            law = system.frictions[system.contacts[k].friction]
            x.is_lowered = 1
            has_fallen = has_fallen or level(law, x.normal_force, 1) < level(law, x.normal_force, 0)
    for k in range(len(system.sites)):
        x, i = work.sites[k], work.sites[k].unknown
        if i >= 0 and not x.is_lowered and is_at_bound(work, i, 1):
            law, N = system.frictions[system.sites[k].friction], system.sites[k].load
            x.is_lowered = 1
            has_fallen = has_fallen or level(law, N, 1) < level(law, N, 0)
    return has_fallen


@kernel
def slip_direction(work, i, width):
    """Unit vector (x, y) of the friction force of a site that slips; where no force acts against what moves it, and
    (0, 0) where nothing does."""
    row, side = (SHARE, 1.0) if is_bounded(work, i) else (RIGHT, -1.0)
    size = size_of(work, row, i, width)
    if size <= (0.0 if row == SHARE else AT_REST):
        return 0.0, 0.0
    return side * work.stick_force[row, i] / size, side * work.stick_force[row, i + 1] / size if width == 2 else 0.0


@routine
def let_go(system, work, v):
    """Sites at their bounds slip from now on; how many."""
    n, count = work.run[0].n_sticking, 0
    for i in range(n):
        work.stick_force[RIGHT, i] = acceleration_of(work, i, n)
    for k in range(len(system.contacts)):
        x, phase = work.contacts[k], work.phase[system.contacts[k].phase]
        i = x.unknown
        if i >= 0 and is_at_bound(work, i, width_at(work, i, n)):
            fx, fy = slip_direction(work, i, width_at(work, i, n))
            ex, ey, _, _ = plane_axes(system, work, k)
            _, u, normal, _ = measure(system, work, k)
            direction = add(scale(fx, ex), scale(fy, ey))
            put(phase.direction, direction)
            phase.branch, phase.slack = BREAK, max(dot(tangent(u, normal), direction), 0.0)
            count += 1
    for k in range(len(system.sites)):
        x, phase = work.sites[k], work.phase[system.sites[k].phase]
        if x.unknown >= 0 and is_at_bound(work, x.unknown, 1):
            direction, _ = slip_direction(work, x.unknown, 1)
            u = seen_rate(system, v, system.sites[k].dof)
            phase.direction[0] = direction
            phase.branch, phase.slack = BREAK, max(u * direction, 0.0)
            count += 1
    count_contacts(system, work)
    return count


@routine
def first_of_worst(work, n):
    """First unknown of the site whose force is the largest share of its bound."""
    worst, first, i = -1.0, 0, 0
    while i < n:
        width = width_at(work, i, n)
        share = size_of(work, FORCE, i, width) / max(work.stick_force[BOUND, i], 1e-300)
        if share > worst:
            worst, first = share, i
        i += width
    return first


@routine
def let_go_alone(system, work, v, first):
    """let_go of the site with this first unknown only."""
    n = work.run[0].n_sticking
    for i in range(n):
        work.stick_force[SLACK, i], work.stick_force[MULTIPLIER, i] = 1.0, 2.0 if i == first else 0.0
    let_go(system, work, v)


@routine
def decide(system, work, t, q, v, share):
    """Put all sites at rest into STICK or BREAK, as forces decide; share: of the bounds that counts as reached.

    Work is left as find_stick_forces leaves it where something sticks."""
    bring_to_rest(system, work)
    run = work.run[0]
    # every round lets something go, but one
    while run.n_sticking > 0:
        n = run.n_sticking
        call_state(run.prepare, (system, work, t, q, v))
        status = find_stick_forces(system, work, q, v, work.vdot)
        if status != OK:
            return status
        if not put_levels(system, work, share):
            return OK
        worst, is_shared = first_of_worst(work, n), run.n_shared > 0
        while True:
            status = find_bounded_forces(work, n)
            if status != OK:
                return status
            for i in range(n):
                work.stick_force[RIGHT, i] = acceleration_of(work, i, n)
            if not lower(system, work):
                break
            put_levels(system, work, share)
        if let_go(system, work, v) == 0:
            if is_shared and share > LESS:
                share *= LESS
            else:
                # beyond its bound by rounding
                let_go_alone(system, work, v, worst)
    return OK


@routine
def keep_branches(system, work):
    """Remember branches and directions of now."""
    for k in range(len(system.contacts)):
        x, phase = work.contacts[k], work.phase[system.contacts[k].phase]
        x.branch_before = phase.branch
        put(x.direction_before, vec(phase.direction))
    for k in range(len(system.sites)):
        x, phase = work.sites[k], work.phase[system.sites[k].phase]
        x.branch_before, x.direction_before = phase.branch, phase.direction[0]


@routine
def have_changed(system, work):
    """Whether some branch or direction is not what it was."""
    for k in range(len(system.contacts)):
        x, phase = work.contacts[k], work.phase[system.contacts[k].phase]
        change = sub(vec(phase.direction), vec(x.direction_before))
        is_other = dot(change, change) > SAME * SAME
        if x.branch_before != phase.branch or (phase.branch == BREAK and is_other):
            return True
    for k in range(len(system.sites)):
        x, phase = work.sites[k], work.phase[system.sites[k].phase]
        is_other = x.direction_before != phase.direction[0]
        if x.branch_before != phase.branch or (phase.branch == BREAK and is_other):
            return True
    return False


@kernel
def has_broken_away(system, work, event):
    """Whether the site of a release event stuck before, and now slips."""
    if event.contact >= 0:
        x, phase = work.contacts[event.contact], work.phase[system.contacts[event.contact].phase]
        return x.branch_before == STICK and phase.branch == BREAK and phase.is_active
    if event.site >= 0:
        x, phase = work.sites[event.site], work.phase[system.sites[event.site].phase]
        return x.branch_before == STICK and phase.branch == BREAK
    return False


@kernel(SWITCH)
def settle_friction(system, work, t, y, fired):
    """Decide at an instant at which forces may have jumped; run.release_share: what the release events have reached.
    Releases that no event has told are marked in fired."""
    world, run = system.world[0], work.run[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    share = run.release_share if run.release_share > 0.0 else 1.0
    run.release_share = 0.0
    load_states(system, work, y)
    keep_branches(system, work)
    # multipliers that the integrator finds itself follow from the equations of motion here
    formulation, loop_forces = run.formulation, run.loop_forces
    if run.closed_formulation != 0:
        run.formulation, run.loop_forces = run.closed_formulation, 0
    status = decide(system, work, t, q, v, share)
    run.formulation, run.loop_forces = formulation, loop_forces
    if status != OK:
        return status
    for k in range(len(system.events)):
        event = system.events[k]
        if event.measure == ContactEvent.RELEASE and fired[k] == 0 and has_broken_away(system, work, event):
            fired[k] = FOUND
    return SWITCHED if have_changed(system, work) else OK
