"""Which friction pairs at rest stick, and which slip: decided for all of them at once, wherever forces may jump.

The forces of all friction pairs at rest solve the convex problem of bounded_forces.py. A pair whose force has reached
its bound has broken away (Branch.BREAK): it slips, still too slowly for a direction of its own, and its force stays
part of the problem until its speed has passed the stick speed.

mu_s > mu_k has no unique answer. The rule here: all pairs begin with mu_s N, but those that had broken away before and
still creep, which have the law's own bound just above rest, mu(0+) N. Pairs that reach their bound together are lowered
to it together, each at most once an instant, and the problem is solved again; a lowered pair well inside its bound
sticks. Where a contact begins it carries nothing, up to rounding, and holds nothing: its bound is then that of a moment
later, so that what lands at rest sticks with mu_s, and does not slip by rounding. What carries nothing a moment later
either (the upper cubes of a stack that begins at rest) keeps its branch until it does.
"""

from pliant.kernels._jit import REST_FORCES, STATE, SWITCH, kernel, routine
from pliant.kernels.algebra.vec3 import dot
from pliant.kernels.contact.friction import bound_at_rest
from pliant.kernels.contact.gather import load_states
from pliant.kernels.contact.geometry import measure, measure_rates
from pliant.kernels.contact.normal import normal_force
from pliant.kernels.contact.phase import count_contacts
from pliant.kernels.contact.stick import find_stick_forces
from pliant.system.contact_tables import Branch, ContactEvent
from pliant.system.memory import FOUND
from pliant.system.status import Status
from pliant.system.work import BOUND, MARGIN

call_state = STATE.call
call_rest_forces = REST_FORCES.call

OK, SWITCHED, UNDECIDED = int(Status.OK), int(Status.SWITCHED), int(Status.FRICTION_UNDECIDED)
STICK, BREAK, SLIP = int(Branch.STICK), int(Branch.BREAK), int(Branch.SLIP)  # numba mixes integers only

REACHED_MARGIN = 1e-9  # of a bound: it is reached within rounding
# of a step, and of t: in which contacts that begin are loaded, and nothing else changes
MOMENT, MIN_MOMENT = 1e-7, 1e-13
UNLOADED = 0.5  # of the bound a moment later, below which that is the one that counts
RETURN_MARGIN = 0.01  # of a bound: one that broke away sticks again; far above sqrt(MIN_BARRIER / MIN_EIGENVALUE)


@kernel
def has_reached(work, i):
    """Whether the friction pair with first unknown i is held by all that its bound allows. What carries nothing holds
    nothing and does not slip either."""
    bound = work.stick_force[BOUND, i]
    return bound > 0.0 and not work.stick_force[MARGIN, i] > REACHED_MARGIN * bound


@kernel
def remain_margin(work, i):
    """Positive while the broken away friction pair with first unknown i is not clearly within its bound."""
    return RETURN_MARGIN * work.stick_force[BOUND, i] - work.stick_force[MARGIN, i]


@routine
def are_within(system, work):
    """Whether no friction pair that sticks has reached its bound."""
    for k in range(len(system.contacts)):
        i = work.contacts[k].unknown
        if i >= 0 and work.phase[system.contacts[k].phase].branch == STICK and has_reached(work, i):
            return False
    for k in range(len(system.joint_frictions)):
        i = work.joint_frictions[k].unknown
        if i >= 0 and work.phase[system.joint_frictions[k].phase].branch == STICK and has_reached(work, i):
            return False
    return True


@routine
def lower(work, phase, law, N, i):
    """Let a friction pair that has reached its bound break away; whether that lowers its bound, which it sets."""
    if phase.branch != STICK or not has_reached(work, i):
        return False
    before, phase.branch = work.stick_force[BOUND, i], BREAK
    bound = bound_at_rest(law, BREAK, N)
    for a in range(i, work.stick_force.shape[1]):
        if work.stick_first[a] == i:
            work.stick_force[BOUND, a] = bound
    return bound < before


@routine
def lower_all(system, work):
    """lower every friction pair; whether some bound has fallen."""
    has_fallen = False
    for k in range(len(system.contacts)):
        x, contact = work.contacts[k], system.contacts[k]
        if x.unknown >= 0:
            law = system.frictions[contact.friction]
            has_fallen |= lower(work, work.phase[contact.phase], law, x.normal_force, x.unknown)
    for k in range(len(system.joint_frictions)):
        i, joint = work.joint_frictions[k].unknown, system.joint_frictions[k]
        if i >= 0:
            law = system.frictions[joint.friction]
            has_fallen |= lower(work, work.phase[joint.phase], law, joint.load, i)
    return has_fallen


@routine
def hold(system, work):
    """Sites that have broken away, but are held within their bounds, stick."""
    for k in range(len(system.contacts)):
        i, phase = work.contacts[k].unknown, work.phase[system.contacts[k].phase]
        if i >= 0 and phase.branch == BREAK and not remain_margin(work, i) > 0.0:
            phase.branch = STICK
    for k in range(len(system.joint_frictions)):
        i, phase = work.joint_frictions[k].unknown, work.phase[system.joint_frictions[k].phase]
        if i >= 0 and phase.branch == BREAK and not remain_margin(work, i) > 0.0:
            phase.branch = STICK


@routine
def normal_force_soon(system, work, k, later):
    """Normal force of contact k a moment later, by rate and acceleration of its gap: the gap itself may change by less
    than its rounding until then."""
    contact = system.contacts[k]
    gap, u, n, _ = measure(system, work, k)
    udot, ndot = measure_rates(system, work, k)
    rate, rate_dot = -dot(n, u), -dot(n, udot) - dot(ndot, u)
    depth = later * (rate + 0.5 * later * rate_dot) - gap
    return normal_force(contact, work.phase[contact.phase], depth, rate + later * rate_dot)


@routine
def expect_loads(system, work, later):
    """Let contacts that stick, but carry next to nothing yet, hold what they will hold a moment later; whether there
    are any. Accelerations without stick forces have been found."""
    is_one = False
    for k in range(len(system.contacts)):
        x, contact = work.contacts[k], system.contacts[k]
        if x.unknown >= 0 and work.phase[contact.phase].branch == STICK:
            soon = bound_at_rest(system.frictions[contact.friction], STICK, normal_force_soon(system, work, k, later))
            if x.bound < UNLOADED * soon:
                x.bound, is_one = soon, True
    return is_one


@routine
def decide(system, work, t, q, v, later):
    """Put all friction pairs at rest into STICK or BREAK, as forces decide; later: a moment [s], 0: of now alone."""
    run = work.run[0]
    count_contacts(system, work)
    if run.n_sticking == 0:
        return OK
    call_state(work.calls[0].prepare, (system, work, t, q, v))
    status = find_stick_forces(system, work, q, v, work.vdot)
    if status == OK and run.n_broken == 0 and are_within(system, work):
        return OK
    if status in (OK, UNDECIDED) and later > 0.0 and expect_loads(system, work, later):
        status = find_stick_forces(system, work, q, v, work.vdot)
    if status != OK or (run.n_broken == 0 and are_within(system, work)):
        return status
    # every round lowers something
    while True:
        status = call_rest_forces(work.calls[0].rest_forces, (work, run.n_sticking))
        if status != OK:
            return status
        if not lower_all(system, work):
            break
    hold(system, work)
    count_contacts(system, work)
    if run.n_broken == 0:
        # at their bounds as nearly as the convex problem determines
        status = find_stick_forces(system, work, q, v, work.vdot)
        lower_all(system, work)
        count_contacts(system, work)
    return status


@routine
def keep_branches(system, work):
    """Remember the branches of now."""
    for k in range(len(system.contacts)):
        work.contacts[k].branch_before = work.phase[system.contacts[k].phase].branch
    for k in range(len(system.joint_frictions)):
        work.joint_frictions[k].branch_before = work.phase[system.joint_frictions[k].phase].branch


@routine
def have_changed(system, work):
    """Whether some branch is not what it was."""
    for k in range(len(system.contacts)):
        if work.contacts[k].branch_before != work.phase[system.contacts[k].phase].branch:
            return True
    for k in range(len(system.joint_frictions)):
        if work.joint_frictions[k].branch_before != work.phase[system.joint_frictions[k].phase].branch:
            return True
    return False


@kernel
def has_broken_away(system, work, event):
    """Whether the friction pair of a release event stuck before, and now slips. Where a contact begins nothing holds
    yet, so that nothing slips."""
    if event.contact >= 0:
        x, phase = work.contacts[event.contact], work.phase[system.contacts[event.contact].phase]
        has_held = x.branch_before == STICK and phase.is_active and x.unknown >= 0
        return has_held and phase.branch == BREAK and work.stick_force[BOUND, x.unknown] > 0.0
    if event.joint_friction >= 0:
        x, phase = (
            work.joint_frictions[event.joint_friction],
            work.phase[system.joint_frictions[event.joint_friction].phase],
        )
        return x.branch_before == STICK and phase.branch == BREAK
    return False


@kernel(SWITCH)
def decide_friction(system, work, t, y, fired):
    """Decide at an instant at which forces may have jumped. Releases that no event has reported are marked in fired."""
    world, calls = system.world[0], work.calls[0]
    q, v = y[: world.n_q], y[world.n_q : world.n_q + world.n_v]
    load_states(system, work, y)
    keep_branches(system, work)
    # multipliers that the integrator solves for follow from the equations of motion here
    formulation, loop_forces = calls.formulation, calls.loop_forces
    if calls.closed_formulation != 0:
        calls.formulation, calls.loop_forces = calls.closed_formulation, 0
    status = decide(system, work, t, q, v, max(MOMENT * work.run[0].step, MIN_MOMENT * abs(t)))
    calls.formulation, calls.loop_forces = formulation, loop_forces
    if status != OK:
        return status
    for k in range(len(system.events)):
        event = system.events[k]
        if event.measure == ContactEvent.RELEASE and fired[k] == 0 and has_broken_away(system, work, event):
            fired[k] = FOUND
    return SWITCHED if have_changed(system, work) else OK
