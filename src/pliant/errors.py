"""What can go wrong, in the user's words: where, what was found, what is allowed, what to do."""

from dataclasses import FrozenInstanceError
from enum import IntEnum

LONGEST_LINE = 2000  # characters of a line in a message


class PliantError(Exception):
    """Base of everything pliant raises on purpose.

    A message may quote what was found, but neither megabytes of it nor what would steer a terminal."""

    def __init__(self, text: object = "") -> None:
        super().__init__("\n".join(_plain(line) for line in str(text).split("\n")))


def _plain(line: str) -> str:
    half = LONGEST_LINE // 2
    line = line if len(line) <= LONGEST_LINE else f"{line[:half]} ... {line[-half:]}"
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in line)


class ModelError(PliantError, ValueError):
    """A model, a setting or an argument that cannot be used. The command line exits with 2."""


class UnknownNameError(ModelError, KeyError):
    """A name under which nothing is kept, as of an output."""

    __str__ = Exception.__str__  # KeyError would quote the message


class UnknownAttributeError(ModelError, AttributeError):
    """A field that a class does not have."""


class FrozenModelError(ModelError, FrozenInstanceError):
    """A change of what does not change."""


class SimulationError(PliantError, RuntimeError):
    """A computation that failed. The command line exits with 1."""


class AccuracyWarning(UserWarning):
    """A run whose figures should not be trusted as they stand; Result.warnings has the same words."""


ADVICE = {
    "DONE": "",
    "STOPPED": "{who}, as the model asks",
    "STEP_TOO_SMALL": "the step size fell below what the time can resolve; "
    "loosen rtol, or look for a force that jumps without an event",
    "NOT_FINITE": "the acceleration is not finite; look for a signal, stiffness or speed that runs away, "
    "or give a max_step",
    "NOT_CONVERGED": "Newton's method did not converge; give a shorter step, or look for a force that jumps without an "
    "event",
    "NOT_CLOSED": "no coordinates were found that close the loops; the mechanism may have come to a dead point or "
    "out of reach: give a max_step, or another motion",
    "SINGULAR_LOOP": "the mechanism has come to a singular pose (loop {who!r}), where its loops no longer determine "
    'how it moves; let it keep away, or try closure="springs", which goes through',
    "SINGULAR": "body {who!r}: the inertia its joint feels is not positive; give it, or what it carries, mass and "
    "inertia in every direction its joint frees",
    "DEFLECTED": "the bending of beam {who!r} has grown beyond twice its length, far outside its theory; "
    "give {more}a stiffer section, damping, less force, or, with fixed steps, shorter ones",
    "TOO_MANY_STEPS": "more than max_steps steps; raise max_steps, loosen rtol, or shorten the duration",
    "STALLED": "hardly any time has passed in the last thousand steps, held up by {who}; soften or damp what causes "
    "it, or take another tolerance or integrator",
    "EVENT_NOT_LOCATED": "an event repeats without time passing ({who}); soften the limit, crossing or contact that "
    "causes it, or, with fixed steps, take shorter ones",
    "FRICTION_UNDECIDED": "which contacts and joints stick and which slip was not found; look for masses or friction "
    "bounds that differ by many powers of ten, or take a law without sticking (tanh, lugre)",
    "EVENT_MISSED": "an event was passed without being noticed ({who}), so what follows would be wrong; give a shorter "
    "max_step or a smaller rtol",
    "COINCIDENT": "the ends of spring {who!r} meet, where its force has no direction; keep them apart by a limit or a "
    'stiffer spring, or give it length 0 or only = "tension", with which they may meet',
    "GROWN": "the motion has grown far beyond the energy that there was or that works have brought: {who}",
    "INTERRUPTED": "by Ctrl-C",
}


def failure_words(status: IntEnum, who: str, more: str = "") -> str:
    """What failed and what to try."""
    return ADVICE[status.name].format(who=who, more=more)


def failure_advice(status: IntEnum, t: float, who: str, more: str = "") -> str:
    """One sentence: when, what, what to try. more: what may be tried besides, with the settings in force."""
    advice = failure_words(status, who, more)
    return f"at t = {t:.9g} s: {advice}" if advice else ""
