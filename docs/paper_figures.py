"""Figures of the pages in docs/papers/: what a paper reports beside what runs give. docs/build.py writes them.

Evaluations and times are not quoted (they differ from machine to machine); ratios and powers are rounded until every
machine agrees."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from pliant.cases.case import Variant, all_cases
from pliant.cases.parallel_3rrr import CASE as ROBOT
from pliant.cases.parallel_3rrr import figures as robot_figures
from pliant.cases.parallel_3rrr import variants as robot_variants
from pliant.lab.thesis_claims import CHAINS, PRINTED, STEPS, end_angle, exact_end_angle, settling_time
from pliant.lab.thesis_claims import LONG as UNDAMPED
from pliant.methods.integrators import Newmark
from pliant.view.charts.chart import Curve, write_chart
from pliant.view.picture.robot import write_picture

Rows = Iterable[tuple[str, ...]]


def table(titles: tuple[str, ...], rows: Rows) -> str:
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def judged(rows: Rows) -> str:
    """What is said, what is found here, and whether it holds."""
    return table(("the source says", "here", ""), rows)


def word(is_so: bool) -> str:
    return "holds" if is_so else "does not hold"


def bound(value: float, limit: float) -> str:
    """A bound that is held."""
    if not abs(value) < limit:
        raise SystemExit(f"{value:g} is not below {limit:g}, as the text says")
    return f"{limit:.0e}".replace("e-0", "e-")


def run_case(name: str, **given: Any) -> tuple[pliant.Result, dict[str, float]]:
    """`pliant run NAME --set ..`: options of the run among what is given."""
    case = all_cases()[name]
    own = {key: value for key, value in given.items() if key in case.settings}
    settings = case.resolve(own)
    options = case.usual_options(settings) | {key: value for key, value in given.items() if key not in own}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.AccuracyWarning)
        result = pliant.simulate(case.build(settings), **options)
    return result, case.figures_of(settings, result)


# --- elastic chains that fall ------------------------------------------------------------------------------------

SETS = ("ss-ss-ss", "cc-cc-cc", "sc-cc-cs", "cs-ss-sc")


@functools.cache
def fall(modes: str, **given: Any) -> tuple[pliant.Result, dict[str, float]]:
    return run_case("falling-chain", modes=modes, **given)


def falling_chain_claims() -> str:
    result, found = fall(SETS[0])
    loose, _ = fall(SETS[0], rtol=1e-3, atol=1e-6, integrator="dopri5")
    starts = [found[f"o1_start_{k}"] for k in (1, 2, 3)]
    peaks = {name: 1e3 * fall(name)[1]["link2_mode1_peak"] for name in SETS}
    wide = ("ss-ss-ss", "cs-ss-sc")
    is_wider = min(peaks[name] for name in wide) > max(peaks[name] for name in SETS if name not in wide)
    lost = 100.0 * loose.audit["energy_residual"]
    assert 0.02 < lost < 2.0  # what the text says of it
    # a quantity at one instant, or a count, may agree by luck
    times = np.linspace(0.0, 1.5, 151)
    apart = max(float(np.max(np.abs(loose.at(t)[0] - result.at(t)[0]))) for t in times)
    assert apart > 0.01  # what the text says of it
    return judged(
        [
            ("22 contacts with modes ss-ss-ss", f"{len(result.contacts)}", word(len(result.contacts) == 22)),
            (
                "three impacts in quick succession at the first touchdown",
                f"end O1 strikes at {', '.join(f'{t:.6f}' for t in starts)} s",
                word(starts[2] - starts[0] < 0.01),
            ),
            (
                "the motion keeps its mirror symmetry",
                f"points and their images are less than {bound(found['symmetry_error'], 1e-6)} m apart",
                "holds",
            ),
            (
                "larger amplitudes with ss-ss-ss and cs-ss-sc",
                ", ".join(f"{name} {peak:.1f} mm" for name, peak in peaks.items()),
                word(is_wider),
            ),
            (
                "energy error 0.04 to 0.18 % in the mean, 0.75 % at most",
                f"less than {bound(result.audit['energy_residual'], 1e-9)} of the energy that moved; with rtol 1e-3 "
                "some tenths of a per cent",
                "the error of the solver, not of the model",
            ),
            (
                "curves over 1.5 s",
                "with rtol 1e-3 coordinates are off by more than 0.01 m or rad",
                "curves of loose runs after the first touchdowns are not converged",
            ),
        ]
    )


def falling_chain_instants() -> str:
    """Converged instants and forces, for whoever wants to compare."""
    found = fall(SETS[0])[1]
    rows = []
    for point, name in (("o1", "O1 and O4"), ("o2", "O2 and O3")):
        k = 1
        while f"{point}_start_{k}" in found:
            digits = 10 if found[f"{point}_start_{k}"] < 0.53 else 7 if found[f"{point}_start_{k}"] < 1.06 else 5
            rows.append((name, f"{found[f'{point}_start_{k}']:.{digits}f}", f"{found[f'{point}_peak_{k}']:.5g}"))
            k += 1
    return table(("points", "contact begins [s]", "largest normal force [N]"), rows)


def falling_chain_choices() -> str:
    """What a choice of the paper's does to the number of contacts."""
    counts = {words: len(fall(SETS[0], **given)[0].contacts) for words, given in CHOICES.items()}
    return table(("what is changed", "contacts"), [(words, str(count)) for words, count in counts.items()])


CHOICES: dict[str, dict[str, Any]] = {
    "nothing: as printed": {},
    "sections turn with the bending, too (`--set rotary=section`)": {"rotary": "section"},
    "modes of the beam itself, not of the printed section (`--set shapes=own`)": {"shapes": "own"},
    "shortening by bending counts (`--set coupling=high-order`)": {"coupling": "high-order"},
}


# --- DeNOC and virtual springs -----------------------------------------------------------------------------------

STIFF = tuple(f"springs {K:.0e}" for K in (1e4, 1e5, 1e6, 1e7))
FORMS = ("loop-difference", "polar", "squared")


@functools.cache
def robot(label: str) -> dict[str, float]:
    """A way of closing the loops of `pliant run parallel-3rrr --set method=all`."""
    variant: Variant = robot_variants(ROBOT.resolve({"method": "all"}))[label]
    options = ROBOT.usual_options(variant.settings) | dict(variant.options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.AccuracyWarning)
        return robot_figures(pliant.simulate(ROBOT.build(variant.settings), **options))


def spring_table() -> str:
    labels = ("reduced", "multipliers", *STIFF, "damped 1e+06", "stretched 1e+06", "generalised-alpha 1e+08")
    rows = []
    for label in labels:
        found = robot(label)
        e_c, e_p, off = (found[key] for key in ("e_c_max", "e_p_max", "lambda_rms_error"))
        if e_c < -12 and e_p < -5 and off < 1e-4:
            # steps are as long as stability allows, whatever the tolerance: where they end hangs on rounding
            rows.append((f"`{label}`", "rounding", "below -5", "below 1e-4"))
        else:
            rows.append((f"`{label}`", f"{e_c:.1f}", f"{e_p:.1f}", reaction_error(off)))
    return table(("closure, stiffness [N/m]", "largest e_c", "largest e_p", "error of the reactions"), rows)


def reaction_error(error: float) -> str:
    """Springs that ring leave an error of the size of the reactions, with a phase that any rounding changes."""
    return f"{error:.1f}" if error > 0.1 else few_digits(error)


def few_digits(value: float) -> str:
    return f"{value:.0e}".replace("e-0", "e-") if value < 0.0095 else f"{value:.2g}"


def spring_claims() -> str:
    cost = [robot(label)["evaluations"] for label in STIFF]
    power = float(np.polyfit((4, 5, 6, 7), np.log10(cost), 1)[0])
    c5, p6 = robot("springs 1e+05")["e_c_max"], robot("springs 1e+06")["e_p_max"]
    off = [robot(label)["lambda_rms_error"] for label in STIFF]
    falls = {form: robot(f"{form} 1e+06")["e_c_max"] - robot(f"{form} 1e+07")["e_c_max"] for form in FORMS}
    closing = [form for form, fallen in falls.items() if fallen > 0.9]
    p7 = robot("springs 1e+07")["e_p_max"]
    return judged(
        [
            ("cost grows as the root of the stiffness", "as a power of about a half", word(abs(power - 0.5) < 0.1)),
            (
                "e_c < -5 from 1e5 N/m on, e_p < -5 from 1e6 N/m on",
                f"{c5:.1f} and {p6:.1f} as decimal logarithms, {c5 * np.log(10):.0f} and {p6 * np.log(10):.0f} as "
                "natural ones",
                "holds for natural logarithms only",
            ),
            (
                "reactions follow from the elongations",
                f"off by {min(off):.1f} to {max(off):.1f} of their size, however stiff; with dampers of sqrt(K) "
                f"{few_digits(robot('damped 1e+06')['lambda_rms_error'])}, pre-stretched "
                f"{few_digits(robot('stretched 1e+06')['lambda_rms_error'])} at 1e6 N/m",
                "does not hold without damping",
            ),
            (
                "too stiff springs lose accuracy",
                f"e_p is {p6:.1f} at 1e6 and {p7:.1f} at 1e7 N/m",
                word(p7 > p6),
            ),
            (
                "constraints must be elongations of springs",
                f"{' and '.join(closing)} close as well, as one over the stiffness; {FORMS[-1]} does not",
                word(not closing),
            ),
            ("no Jacobian is needed", "its transpose carries the forces; its rate is not needed", "does not hold"),
            ("springs do no work", "only as the stiffness goes to infinity", "does not hold"),
        ]
    )


# --- Boltzmann and Hamel -----------------------------------------------------------------------------------------


def two_link_error() -> float:
    """Accelerations of the arm against the paper's closed form (91), over their size."""
    model = pliant.load("two-link-arm")
    rng, worst = np.random.default_rng(1), 0.0
    m, l = 3.0, 1.0
    for _ in range(50):
        p2, (r1, r2), f = rng.uniform(-3, 3), rng.normal(size=2), 0.1 * np.sin(0.7)
        c, s = np.cos(p2), np.sin(p2)
        M = 2 / 3 * m * l**2 * np.array([[2 * (5 + 3 * c), 2 + 3 * c], [2 + 3 * c, 2.0]])
        bias = 2 / 3 * m * l**2 * np.array([-3 * r2 * (2 * r1 + r2) * s, 3 * r1**2 * s])
        wanted = np.linalg.solve(M, 2 * l * np.array([f + f * (1 + c), f]) - bias)
        found = pliant.forward_dynamics(model, [0.4, p2], [r1, r2], t=0.7, formulation="boltzmann_hamel")
        worst = max(worst, float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))))
    return worst


def long_chain_error(n: int) -> float:
    """Torques that inverse dynamics asks for the accelerations of a chain of n ball joints, over gravity's."""
    model = pliant.load("long-chain", bodies=n)
    q, v = np.array(model.q0), np.random.default_rng(2).normal(size=len(model.velocities))
    vdot = pliant.forward_dynamics(model, q, v, formulation="boltzmann_hamel")
    rest = pliant.inverse_dynamics(model, q, v, vdot)
    size = pliant.inverse_dynamics(model, q, np.zeros_like(v), np.zeros_like(v))
    return float(np.max(np.abs(rest)) / np.max(np.abs(size)))


def boltzmann_hamel_claims() -> str:
    free, driven = (run_case("space-robot", torques=torques)[1] for torques in ("none", "internal"))
    drifts = ("linear_momentum_drift", "angular_momentum_drift", "energy_drift")
    drift = max(found[key] for found in (free, driven) for key in drifts)
    ground, space = (run_case("ground-space", base=base)[1] for base in ("fixed", "floating"))
    return judged(
        [
            (
                "the closed form (91) of a planar arm of two rods",
                f"accelerations of the recursion differ by less than {bound(two_link_error(), 1e-12)}",
                "holds, corrected",
            ),
            (
                "momenta of a space robot do not change",
                f"linear and angular momentum and energy change by less than {bound(drift, 1e-11)} in 10 s, "
                "with joint torques, too",
                "holds",
            ),
            (
                "one set of equations on the ground and in space",
                f"the base feels {ground['base_force_peak']:.3g} N on the ground and moves {space['base_drift']:.3g} m "
                f"in space, where the mass centre stays within {bound(space['centre_drift'], 1e-9)} m",
                "holds",
            ),
            (
                "any number of bodies",
                f"chains of 100 ball joints: forces balance to {bound(long_chain_error(100), 1e-9)} of gravity's",
                "holds",
            ),
        ]
    )


def two_link_table() -> str:
    found = run_case("two-link-arm")[1]
    rows = [(f"{t}", f"{found[f'psi1_at_{t}s']:.9g}", f"{found[f'psi2_at_{t}s']:.9g}") for t in (1, 5, 10)]
    return table(("t [s]", "psi1 [rad]", "psi2 [rad]"), rows)


# --- transfer matrices -------------------------------------------------------------------------------------------


@functools.cache
def settled() -> dict[str, float]:
    """Settling times of the chain of two discs [s]: exact, and by the method as printed."""
    chain = CHAINS["2 discs"]
    t = np.arange(0.0, 60.0, 0.01)
    rest = chain[0] / chain[2]
    found = {"exact": settling_time(t, exact_end_angle(chain, t), rest)}
    for step in STEPS:
        times, angles, _ = end_angle(chain, PRINTED, step, 60.0)
        found[f"{step:g}"] = settling_time(times, angles, rest)
    return found


def newmark_error(beta: float) -> float:
    """Of the undamped chain of 15 discs with steps of 0.05 s, over the largest angle."""
    times, angles, _ = end_angle(UNDAMPED, Newmark(beta), 0.05, 20.0)
    exact = exact_end_angle(UNDAMPED, times)
    return float(np.max(np.abs(angles - exact)) / np.max(np.abs(exact)))


def transfer_claims() -> str:
    rest = settled()
    chain = CHAINS["10 discs"]
    largest = float(exact_end_angle(chain, np.arange(0.0, 60.0, 0.01)).max())
    errors = {name: newmark_error(beta) for name, beta in (("1/4", 0.25), ("1/8", 0.125), ("1/12", 1 / 12))}
    statics = run_case("tmm-beam", study="statics")[1]
    midpoint = run_case("tmm-beam", study="frequencies")[1]
    return judged(
        [
            (
                "the proposed method brings two discs to rest in 3 s",
                f"they need {rest['exact']:.1f} s; as printed it says {rest['0.1']:.1f} s with steps of 0.1 s and "
                f"{rest['0.01']:.1f} s with steps of 0.01 s: a misprint that acts as less inertia",
                "does not hold",
            ),
            ("ten discs swing to 1.1 rad", f"{largest:.2f} rad", "does not hold"),
            (
                "Newmark's method is best with beta = 1/8",
                f"on an undamped chain of 15 discs it errs by {few_digits(errors['1/8'])}, beta = 1/4 by "
                f"{few_digits(errors['1/4'])}, and beta = 1/12 by {few_digits(errors['1/12'])}",
                "holds against 1/4; 1/12 is better",
            ),
            (
                "springs of rigid segments, equations 2-1 and 2-2",
                f"with hinges at the middle of the elements the first frequency of 10 is off by "
                f"{100 * abs(midpoint['frequency_error_1']):.1f} %",
                "holds for hinges at the middle only",
            ),
            (
                "large rotations",
                "the tip of a beam of 10 segments bent by P L^2 / EI = 1 is "
                f"{few_digits(statics['elastica_error'])} of the length from the elastica",
                "holds with the geometry differentiated",
            ),
        ]
    )


def transfer_angles() -> str:
    """The chain of two discs with steps of 0.1 s."""
    rows = []
    for name in ("fox-euler", "newmark", "houbolt"):
        rows.append((f"`{name}`", f"{run_case('tmm-chain', integrator=name)[1]['tip_angle_1']:.8f}"))
    exact = run_case("tmm-chain")[1]["exact_angle_1"]
    return table(("method", "second disc at 1 s [rad]"), [*rows, ("exact", f"{exact:.8f}")])


# --- oblique impacts ---------------------------------------------------------------------------------------------


@functools.cache
def spin_up(**given: Any) -> dict[str, float]:
    return run_case("spin-up", **given)[1]


def impact_claims() -> str:
    arm, found = run_case("canadarm")
    diverged = spin_up(coupling="linear")["divergence_time"]
    stiff = spin_up()
    pendulum = run_case("flexible-double-pendulum")[1]
    return judged(
        [
            (
                "without the terms of higher order a boom that spins up diverges",
                f"its tip is as far away as it is long at {diverged:.2f} s; with them the lowest deflection is "
                f"{stiff['tip_deflection_min']:.4f} m",
                "holds",
            ),
            (
                "the recursive equations follow an impact of an arm with flexible booms and joints",
                f"tip at {found['normal_speed']:.4f} m/s along and {found['tangential_speed']:.4f} m/s across the "
                f"normal at {found['impact_time']:.3f} s; largest force {1e-3 * found['peak_normal']:.1f} kN, "
                f"{1e3 * found['contact_time']:.3f} ms, {found['impulse']:.1f} N s",
                "holds (most data were lost and are assumed)",
            ),
            (
                "energy closes through the impact",
                f"to less than {bound(arm.audit['energy_residual'], 1e-9)} of what moved",
                "holds",
            ),
            (
                "links that bend, at large angles",
                f"a double pendulum, second tip after 1 s at ({pendulum['tip_x_at_1000ms']:.5f}, "
                f"{pendulum['tip_y_at_1000ms']:.5f}) m, as geometrically exact beams",
                "holds",
            ),
        ]
    )


def impact_modes() -> str:
    """The same impact with more and more bending modes."""
    rows = []
    for modes in (1, 2, 3):
        found = run_case("canadarm", modes=modes)[1]
        cells = (1e-3 * found["peak_normal"], found["impulse"], 1e3 * found["contact_time"])
        rows.append((f"{modes}", *(f"{cell:.4g}" for cell in cells), f"{found['force_peaks']:.0f}"))
    titles = ("bending modes per plane", "largest force [kN]", "impulse [N s]", "length [ms]", "maxima")
    return table(titles, rows)


# --- pictures ----------------------------------------------------------------------------------------------------


def draw_papers(pictures: Path) -> None:
    """One per page; that of the falling chain is README's."""
    t = np.arange(0.0, 20.0, 0.05)
    chain = CHAINS["2 discs"]
    curves = [Curve("exact", t, exact_end_angle(chain, t), is_dashed=True)]
    for step in STEPS:
        times, angles, _ = end_angle(chain, PRINTED, step, 20.0)
        curves.append(Curve(f"as printed, steps of {step:g} s", times, angles))
    write_chart(curves, pictures / "printed-method.svg", unit="rad", label="two discs by the method as printed")
    kinds = {
        "undamped": (4, 5, 6, 7, 8),
        "damped": (4, 6, 8),
        "stretched": (4, 6, 8),
    }
    of_reactions = []
    for kind, powers in kinds.items():
        label = "springs" if kind == "undamped" else kind
        errors = [robot(f"{label} 1e+0{power}")["lambda_rms_error"] for power in powers]
        of_reactions.append(Curve(kind, np.array(powers, float), np.array(errors)))
    write_chart(
        of_reactions, pictures / "spring-reactions.svg", is_log=True, across="log10 stiffness [N/m]", across_unit="",
        label="error of the reactions over the stiffness of virtual springs", unit="error of the reactions",
    )  # fmt: skip
    write_picture(run_case("space-robot")[0], pictures / "space-robot.svg")
    write_picture(run_case("canadarm")[0], pictures / "canadarm.svg")


FIGURES: dict[str, Callable[[], str]] = {
    "falling-chain-claims": falling_chain_claims,
    "falling-chain-instants": falling_chain_instants,
    "falling-chain-choices": falling_chain_choices,
    "spring-table": spring_table,
    "spring-claims": spring_claims,
    "boltzmann-hamel-claims": boltzmann_hamel_claims,
    "two-link-table": two_link_table,
    "transfer-claims": transfer_claims,
    "transfer-angles": transfer_angles,
    "impact-claims": impact_claims,
    "impact-modes": impact_modes,
}
