"""What all ways of closing the loops of the 3RRR robot say together: tables, charts over the stiffness, statements."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.model.loops import SPRING_FORMS
from pliant.report_types import Finding, Lines

Figures = Mapping[str, float]
LN10 = float(np.log(10.0))
ALPHA = "generalised-alpha"
OTHER_FORMS = tuple(form for form in SPRING_FORMS if form != "elongation")
CONVERGES = 0.8  # decades by which e_c falls in one of the stiffness
COLUMNS = ("run", "evaluations", "times real time", "e_c max", "e_p max", "error of reactions")


def conclude_springs(found: Mapping[str, Figures]) -> tuple[Finding, ...]:
    rows = tuple(
        (
            label,
            f"{x['evaluations']:.0f}",
            f"{x['real_time_factor']:.3g}",
            f"{x['e_c_max']:.2f}" if "e_c_max" in x else "-",
            f"{x['e_p_max']:.2f}",
            f"{x['lambda_rms_error']:.2g}" if "lambda_rms_error" in x else "-",
        )
        for label, x in found.items()
    )
    figures = {f"{_key(label)}_{key}": x[key] for label, x in found.items() for key in KEPT if key in x}
    table = Finding(
        "Every way of closing the loops",
        "The same motors move the robot open loop. e_c = log10 sum |c_i|: how far the legs leave the platform; "
        "e_p = log10 |p - path| [m]; reactions: forces on the leg tips against the exact ones, relative.",
        COLUMNS, rows, _charts(found), (1, 2, 3, 4, 5), figures,
    )  # fmt: skip
    said = Finding("What the paper says, and what holds here", "", ("statement", "here"), tuple(_statements(found)))
    return table, said


KEPT = ("e_c_max", "e_p_max", "lambda_rms_error", "evaluations")


def _key(label: str) -> str:
    return label.replace("-", "_").replace(" ", "_").replace("+", "").lower()


def _series(found: Mapping[str, Figures], kind: str, key: str) -> tuple[np.ndarray, np.ndarray]:
    pairs = [
        (float(label.split()[1]), x[key]) for label, x in found.items() if label.startswith(kind + " ") and key in x
    ]
    return np.array([K for K, _ in pairs]), np.array([value for _, value in pairs])


def _charts(found: Mapping[str, Figures]) -> tuple[Lines, ...]:
    across = ("stiffness of the springs (log10)", "N/m")
    kinds = ("springs", "damped", "stretched", ALPHA)

    def curves(key: str) -> tuple[tuple[str, np.ndarray, np.ndarray], ...]:
        made = [(kind, *_series(found, kind, key)) for kind in kinds]
        return tuple((kind, np.log10(K), y) for kind, K, y in made if len(K))

    opened = tuple((f"e_c, {kind}", K, y) for kind, K, y in curves("e_c_max"))
    away = tuple((f"e_p, {kind}", K, y) for kind, K, y in curves("e_p_max"))
    return (
        Lines("Loops left open", "log10 m", *across, opened),
        Lines("Distance from the path", "log10 m", *across, away),
        Lines("Cost", "evaluations", *across, curves("evaluations"), is_log=True),
        Lines("Error of the reactions", "", *across, curves("lambda_rms_error"), is_log=True),
    )


def _statements(found: Mapping[str, Figures]) -> list[tuple[str, str]]:
    K, cost = _series(found, "springs", "evaluations")
    stiff = K >= 1e4
    slope = float(np.polyfit(np.log10(K[stiff]), np.log10(cost[stiff]), 1)[0])
    e_c, e_p, off = (_series(found, "springs", key)[1] for key in ("e_c_max", "e_p_max", "lambda_rms_error"))
    at = {float(k): i for i, k in enumerate(K)}
    c5, p6 = e_c[at[1e5]], e_p[at[1e6]]
    damped, stretched, alpha = (_series(found, kind, "lambda_rms_error") for kind in ("damped", "stretched", ALPHA))
    steps = _series(found, ALPHA, "evaluations")[1]
    falls = {form: -float(np.diff(_series(found, form, "e_c_max")[1])[0]) for form in OTHER_FORMS}
    plain, least = found["springs 1e+06"], found["reduced"]["evaluations"]
    useful = [form for form, fall in falls.items() if fall > CONVERGES]
    return [
        ("cost grows as the root of the stiffness", f"{_word(abs(slope - 0.5) < 0.1)}: as its power {slope:.2f}"),
        (
            "e_c < -5 from 1e5 on, e_p < -5 from 1e6 on",
            f"{_word(c5 < -5 and p6 < -5)} as log10 ({c5:.2f}, {p6:.2f}); as natural logarithms they are "
            f"{c5 * LN10:.2f}, {p6 * LN10:.2f}",
        ),
        (
            "reactions follow from the springs",
            f"{_word(bool(np.all(off[stiff] < 0.1)))} without damping: off by {off[stiff].min():.2g} to "
            f"{off[stiff].max():.2g} from 1e4 on; damping sqrt(K): {_list(damped)}; pre-stretched: {_list(stretched)}"
            if len(off)
            else "cannot be judged: no forces act on this path",
        ),
        (
            "too stiff springs lose accuracy",
            f"{_word(e_p[-1] > e_p[-2] + 0.1)} with this step control: e_p {e_p[-2]:.2f} at 1e7, {e_p[-1]:.2f} at 1e8"
            + (f"; but of pre-stretched ones the reactions do: {_list(stretched)}" if _worsens(stretched) else ""),
        ),
        (
            "conditions must be elongations of springs",
            f"{_word(not useful)}: from 1e6 to 1e7 e_c falls by "
            + ", ".join(f"{fall:.2f} ({form})" for form, fall in falls.items())
            + (f": {' and '.join(useful)} close as well, as one over the stiffness" if useful else ""),
        ),
        ("no Jacobian is needed", "fails: its transpose carries the forces; its rate is not needed"),
        ("springs do no work", "fails for finite stiffness: they store energy and give it back, dampers take it"),
        (
            "implicit steps make the cost independent of the stiffness",
            f"{_word(float(np.ptp(steps)) < 0.5 * float(steps.min()))}: {', '.join(f'{x:.0f}' for x in steps)} "
            f"evaluations at 1e6, 1e8, 1e10; reactions off by {_list(alpha)}",
        ),
        (
            "minimal coordinates are cheaper",
            f"{_word(least < 0.1 * plain['evaluations'])}: {least:.0f} evaluations against {plain['evaluations']:.0f}",
        ),
    ]


def _worsens(series: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether the stiffest is worse than the one before."""
    return len(series[1]) > 1 and bool(series[1][-1] > 2.0 * series[1][-2])


def _word(is_so: bool) -> str:
    return "holds" if is_so else "fails"


def _list(series: tuple[np.ndarray, np.ndarray]) -> str:
    return ", ".join(f"{value:.2g} at {K:.0e}" for K, value in zip(*series, strict=True))
