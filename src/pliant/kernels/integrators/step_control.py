"""How long steps are: tolerances, the controller, where steps must end, stiffness, progress.

References: Hairer, Norsett, Wanner I, II.4 (step size control); Hairer, Wanner II, IV.2 (PI controller, stiffness).
"""

from pliant.kernels._jit import routine
from pliant.kernels.algebra.finite import ULP, zero_or_nan
from pliant.system.memory import MIN_ERROR_OLD
from pliant.system.status import Status

OK = int(Status.OK)

FAILED_STEP_FACTOR = 0.25  # to the next trial after an evaluation that failed
AGAIN_FACTOR = 0.5  # at most, after a second rejection in a row: motion is less smooth than the order assumes
MIN_ERROR = 1e-10  # in the controller
MIN_STEP_ULPS = 16.0  # of t
TINY_STEP = 1e-300  # [s] at t = 0
FIXED_STRETCH, STRETCH = 1.0 + 1e-6, 1.01  # of a step that would leave a tiny one before a stop
DEAD_POINT_MARGIN = 0.3  # of a step: too near to a dead point to end there
MILD_STEPS = 6  # in a row below that bound that make those at it forgotten
STALL_STEPS = 1000  # over which progress is measured
MIN_PROGRESS = 1e-8  # of t, over so many steps; and of the whole run:
MIN_SHARE = 5e-10


@routine
def weighted_norm(x, y, atol, rtol):
    """Largest |x_i| over its tolerance at y, II.4; NaN if any x_i is not finite."""
    norm, total = 0.0, 0.0
    for i in range(x.shape[0]):
        if x[i] != 0.0:
            norm = max(norm, abs(x[i]) / (atol[i] + rtol * abs(y[i])))
        total += zero_or_nan(x[i])
    return norm + total


@routine
def is_explicit(memory):
    """Whether steps are those of an explicit Runge-Kutta method: stages, with one square table of coefficients."""
    return memory.stepping[0].n_stages > 0 and memory.A.shape[0] == memory.A.shape[1]


@routine
def next_stop(stepping, boundaries, samples):
    """The time beyond which no step may go: the next kink of a signal, sample, or the end."""
    stop = min(stepping.t_end, stepping.t_control)
    if stepping.boundary < boundaries.shape[0]:
        stop = min(stop, boundaries[stepping.boundary])
    if stepping.sample < samples.shape[0]:
        stop = min(stop, samples[stepping.sample])
    return stop


@routine
def step_to(stepping, wanted, stop):
    """Step that does not pass stop: stretched a little rather than leaving a tiny one, or two equal ones."""
    gap = stop - stepping.t
    stretch = FIXED_STRETCH if stepping.is_fixed == 1 else STRETCH
    if wanted * stretch >= gap:
        return gap
    h = 0.5 * gap if stepping.is_fixed == 0 and wanted > 0.5 * gap else wanted
    return (stepping.t + h) - stepping.t  # as t can represent it


@routine
def step_past_dead_point(stepping, t_expected, wanted):
    """Step that does not end near a dead point of loops: before it, from where the next one goes far beyond it."""
    due = t_expected - stepping.t
    return 0.5 * due if stepping.is_fixed == 0 and abs(wanted - due) < DEAD_POINT_MARGIN * wanted else wanted


@routine
def min_step(stepping):
    return max(MIN_STEP_ULPS * ULP * abs(stepping.t), stepping.h_min, TINY_STEP)


@routine
def shorter_step(stepping, h, status):
    """Next trial after a rejection, II.4; a failed evaluation may be just a bad trial."""
    largest = AGAIN_FACTOR if stepping.was_rejected == 1 else stepping.safety
    stepping.n_rejected += 1
    stepping.was_rejected = 1
    if stepping.factor > 0.0:
        return h * min(stepping.factor, stepping.safety)
    if status != OK:
        return FAILED_STEP_FACTOR * h
    factor = stepping.safety * stepping.error ** (-stepping.alpha)
    return h * min(max(stepping.shrink, factor), largest)


@routine
def control(stepping, h, wanted):
    """Next trial step from the error of an accepted one: II.4 with the PI term of IV.2. After a step that had to
    end early the step wanted before is good again. A step of no length, on an event at t itself, says nothing."""
    if stepping.is_fixed == 1 or h == 0.0:
        return
    factor = stepping.factor
    if factor == 0.0:
        factor = stepping.safety * max(stepping.error, MIN_ERROR) ** (-stepping.alpha)
        factor *= stepping.error_old**stepping.beta
    factor = max(stepping.shrink, min(factor, stepping.growth))
    if stepping.was_rejected == 1:
        factor = min(factor, 1.0)
    stepping.h = h * factor
    if h < wanted:
        stepping.h = max(stepping.h, wanted)
    else:
        stepping.error_old = max(stepping.error, MIN_ERROR_OLD)
    stepping.was_rejected = 0


@routine
def count_stiff_steps(stepping):
    """Count the steps whose length stability may decide (IV.2)."""
    if stepping.stiffness > stepping.watched_stiffness:
        stepping.n_stiff += 1
        stepping.n_mild = 0
    else:
        stepping.n_mild += 1
        if stepping.n_mild >= MILD_STEPS:
            stepping.n_stiff = 0


@routine
def has_stalled(stepping):
    """Whether many steps have made no progress, as near a singularity that rounding blurs, or where events repeat."""
    if stepping.n_steps < stepping.stall_steps + STALL_STEPS:
        return False
    before, stepping.stall_t, stepping.stall_steps = stepping.stall_t, stepping.t, stepping.n_steps
    return stepping.t - before < max(MIN_PROGRESS * stepping.t, MIN_SHARE * stepping.duration)
