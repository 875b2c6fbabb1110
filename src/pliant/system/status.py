"""Why advancing a run came back, and what a kernel may report. Kernels never raise: they return one of these."""

from enum import IntEnum


class Status(IntEnum):
    """Return codes of kernels; errors.py turns them into sentences with time, body and advice."""

    OK = 0
    # advance comes back and can be resumed
    DONE = 1
    BUFFER_FULL = 2
    SAMPLE = 3
    PAUSE = 4
    SWITCHED = 5  # the event handler changed the phase: integrators drop their memory
    REVIEW = 6  # the choice of the integrator may be changed
    # advance comes back for good: what was reached is kept
    STOPPED = 10  # a user's crossing with action "stop", or a limit without stiffness
    STEP_TOO_SMALL = 11
    NOT_FINITE = 12
    SINGULAR = 13  # a pivot <= 0 in the formulation; run.body says where
    TOO_MANY_STEPS = 14
    EVENT_NOT_LOCATED = 15
    DEFLECTED = 18  # a beam's bending exceeds twice its length; run.body says whose
    NOT_CONVERGED = 19  # Newton's method of an implicit step
    NOT_CLOSED = 20  # coordinates that close the loops were not found
    SINGULAR_LOOP = 21  # constraints of loops have become dependent
    FRICTION_UNDECIDED = 22  # which friction pairs stick and which slip was not found
    EVENT_MISSED = 23  # an event function is on its wrong side at the end of a step without having fired
    GROWN = 24  # with fixed steps: motion beyond what energies and works explain
    COINCIDENT = 25  # the ends of a spring meet, so that its force has no direction; run.body says whose
    STALLED = 26  # many steps in which hardly any time has passed
    # set by Python, never by a kernel
    INTERRUPTED = 16  # Ctrl-C
    CONTROLLER_FAILED = 17
    OUT_OF_MEMORY = 30  # what is recorded fills the memory allowed, or there is
