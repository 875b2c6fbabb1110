"""What the audit of a run says to its user: nothing, a warning, or that the figures are wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

WARNING, WRONG = "warning", "wrong"

# energy, momentum: multiples of rtol that may be trusted; those of a run with fixed steps, which promises nothing
PROMISED, WRONG_BY = 1e3, 1e5
MIN_PROMISE = 1e-9  # rounding, and error constants of loose problems
LARGEST_LOSS = 0.02  # amber at any tolerance ..
LARGEST_WRONG = 0.2  # .. and red
OPEN, WIDE_OPEN = 1e-6, 1e-3  # loops, as a part of the model's size
DRIVEN = 1e-6  # of force times speed: friction with the motion
OVERLOADED = 1.0 + 1e-5  # stick force over its bound
# largest speed at a start whose loops have been closed, over the largest given: beyond it a singular pose is near
MAX_SPEED_GAIN = 100.0
# figures of an audit that are judged; the others inform
JUDGED = (
    "energy_residual", "momentum_drift", "constraint_drift", "friction_drive", "stick_load",
    "false_events", "start_speed_gain", "deflection_ratio", "section_angle", "growing_turn",
)  # fmt: skip
BENDING = {
    "deflection_ratio": "the largest deflection of a beam over its length",
    "section_angle": "the largest angle of a beam's section (rad)",
}
# by the order of the slopes that the coupling of a beam counts: up to where it holds (deflection over length, rad)
BENDING_RANGES = {1: (0.1, 0.2), 2: (0.1, 0.2), 4: (0.25, 0.4)}


@dataclass(frozen=True)
class Diagnostic:
    """One finding: how bad it is (WARNING or WRONG), in words, and of which figure of the audit."""

    level: str
    words: str
    key: str = ""


def diagnose(
    audit: Mapping[str, float], settings: Mapping[str, Any], stays_closed: bool = True
) -> tuple[Diagnostic, ...]:
    """What one should know before using the figures of a run."""
    return tuple(_findings(audit, settings, stays_closed))


def _findings(audit: Mapping[str, float], settings: Mapping[str, Any], stays_closed: bool) -> Iterator[Diagnostic]:
    yield from _balances(audit, settings)
    if audit.get("growing_turn", 0.0) > 0.0:
        yield _growth(audit["growing_turn"], audit["stability_limit"], settings)
    if settings.get("version") == "printed":
        yield Diagnostic(
            WRONG,
            "the integrator is proposed as the thesis prints it, which is inconsistent: shorter steps do not lead to "
            "the motion of the model; it is for reproduction only, take version = 'consistent'",
        )
    if not audit.get("friction_drive", 0.0) <= DRIVEN and not _is_creep(audit, settings):
        yield Diagnostic(
            WRONG,
            f"friction pushes along the motion somewhere (up to {audit['friction_drive']:.2g} of force times speed), "
            "which it never does; the motion from there on is wrong: please report the model",
            "friction_drive",
        )
    if not audit.get("stick_load", 0.0) <= OVERLOADED:
        yield Diagnostic(
            WARNING,
            f"a stick force reached {audit['stick_load']:.6g} times what friction can hold; its release was missed: "
            "give a shorter max_step or a smaller rtol",
            "stick_load",
        )
    if audit.get("false_events", 0) > 0:
        yield Diagnostic(
            WRONG,
            f"{audit['false_events']:.0f} contacts, stops, flanks of backlash or one-way springs began while they "
            "acted already, ended while they did not, or touched while they opened: these events are mistaken, and the "
            "motion from there on may be wrong; please report the model",
            "false_events",
        )
    if audit.get("start_speed_gain", 1.0) > MAX_SPEED_GAIN:
        yield Diagnostic(WARNING, fast_start_words(audit["start_speed_gain"]), "start_speed_gain")
    drift = audit.get("constraint_drift", 0.0)
    if stays_closed and not drift <= OPEN:
        yield Diagnostic(
            WARNING if drift <= WIDE_OPEN else WRONG,
            f"loops or attitudes have drifted by {drift:.2g} of the model's size; give a smaller rtol or step",
            "constraint_drift",
        )
    order = int(audit.get("coupling_order", 2))
    ranges = zip(BENDING.items(), BENDING_RANGES[order], BENDING_RANGES[max(BENDING_RANGES)], strict=True)
    for (key, words), limit, widest in ranges:
        if audit.get(key, 0.0) > limit:
            hint = (
                'take coupling = "fourth-order"'
                if limit < widest and audit[key] <= widest
                else "divide the beam into shorter ones, joined by fixed joints"
            )
            yield Diagnostic(
                WARNING, f"{words} reached {audit[key]:.3g}; its coupling holds up to about {limit}: {hint}", key
            )


def fast_start_words(gain: float) -> str:
    """Say that closing the rates of loops has made a start much faster than it was given."""
    return (
        f"closing the rates of the loops at the start makes it {gain:.3g} times as fast as the speeds given: it is "
        "near a singular pose, and errors grow as much; start farther from it, keep other joints, or give the speeds "
        "of all joints as they belong together"
    )


def _growth(turn: float, limit: float, settings: Mapping[str, Any]) -> Diagnostic:
    """A fixed step beyond the limit of stability of its method."""
    step = float(settings["step"])
    words = (
        f"{settings['integrator']} is stable only up to omega h = {limit:.4g}, omega the fastest frequency; about the "
        f"start that is {turn / step:.3g} rad/s, which with h = {step:g} s makes {turn:.3g}, and grows at every step; "
        f"give a step below {0.99 * step * limit / turn:.2g} s, or a method that is stable at every step: newmark, "
        "generalised_alpha, wilson, houbolt"
    )
    return Diagnostic(WARNING, words, "growing_turn")


def _is_creep(audit: Mapping[str, float], settings: Mapping[str, Any]) -> bool:
    """Whether friction along the motion is a held point that creeps as steps err: all that it can have given is within
    what the balance of energy may err."""
    given = audit.get("friction_power", math.inf) * float(settings.get("duration") or math.inf)
    return given <= allowed_loss(settings) * audit.get("energy_scale", 0.0)


def _promise(settings: Mapping[str, Any]) -> float:
    """rtol, as far as it counts; fixed steps promise nothing."""
    return max(MIN_PROMISE, 1e-8 if settings.get("step") is not None else float(settings.get("rtol", 1e-8)))


def allowed_loss(settings: Mapping[str, Any]) -> float:
    """Part of the energy that moved, or of a momentum, that may be lost without a word."""
    return LARGEST_LOSS if settings.get("step") is not None else min(PROMISED * _promise(settings), LARGEST_LOSS)


def _balances(audit: Mapping[str, float], settings: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Energy and momentum, against what the tolerance promises."""
    is_fixed = settings.get("step") is not None
    promise, fair = _promise(settings), allowed_loss(settings)
    bad = LARGEST_WRONG if is_fixed else min(WRONG_BY * promise, LARGEST_WRONG)
    what = {
        "energy_residual": "energy appears or vanishes: {:.2g} of what moved has no work to explain it",
        "momentum_drift": "momentum, which must not change here, has changed by {:.2g} of the bodies' own",
    }
    hint = "give a shorter step" if is_fixed else "give a smaller rtol, or look for forces that jump without an event"
    expected = "" if is_fixed else f" (rtol {promise:.0e} promises less than {fair:.0e})"
    for key, words in what.items():
        value = audit.get(key, 0.0)
        if not value <= fair:
            level = WARNING if value <= bad else WRONG
            yield Diagnostic(level, f"{words.format(value)}{expected}; {hint}", key)
