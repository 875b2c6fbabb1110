"""Writes the figures that README.md and the pages of docs/ quote: each comes from a run, none is written by hand.

python docs/build.py            run everything, write the quoted figures and the pictures beside them
python docs/build.py README     only the figures of README.md

A quoted figure stands in a paragraph or a table between two lines,

    <!-- figures: NAME -->
    <!-- end of figures -->

and is what the function NAME below returns, so edit the words there. Numbers are rounded as far as any machine agrees;
what is rounding itself is quoted as a bound that holds everywhere (`below`). tests/docs/test_figures.py runs all of
them. The gallery has a command of its own: docs/gallery/build.py."""

from __future__ import annotations

import functools
import importlib
import json
import math
import re
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from pliant.cases.case import all_cases
from pliant.lab import integrators
from pliant.lab.agreement import TIGHT, agreement
from pliant.lab.bounce import BOUNCE, CLOSE, SHOWN
from pliant.lab.contact import contact_lab, resolve, write_contact_lab
from pliant.lab.experiment import perform
from pliant.lab.integrator_methods import chosen_methods
from pliant.lab.oscillator import SHOWN as AT_OMEGA_H
from pliant.lab.oscillator import SLOWEST, measured, measured_limit
from pliant.lab.rod_hits import ROD_HITS
from pliant.view.picture.robot import write_picture
from pliant_benchmarks.lines import LINES

DOCS = Path(__file__).parent
sys.path.append(str(DOCS))
papers = importlib.import_module("paper_figures")
ROOT = DOCS.parent
PICTURES = DOCS / "pictures"
WIDTH = 120
BLOCK = re.compile(r"^<!-- figures: ([\w-]+) -->\n(.*?)^<!-- end of figures -->$", re.MULTILINE | re.DOTALL)


def below(value: float, bound: float) -> str:
    """A bound, held against what a run gives."""
    if not abs(value) < bound:
        raise SystemExit(f"{value:g} is not below {bound:g}, as the text says")
    return f"{bound:.0e}".replace("e-0", "e-")


def listed(words: Iterable[str]) -> str:
    """`a`, `b` and `c`"""
    *most, last = [f"`{word}`" for word in words]
    return f"{', '.join(most)} and {last}" if most else last


def paragraph(text: str, indent: str = "") -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, subsequent_indent=indent, break_on_hyphens=False) + "\n"


# --- README.md ----------------------------------------------------------------------------------------------------


@functools.cache
def chain() -> tuple[pliant.Result, dict[str, float]]:
    """`pliant run falling-chain`."""
    case = all_cases()["falling-chain"]
    settings = case.resolve({})
    result = pliant.simulate(case.build(settings), **case.usual_options(settings))
    return result, case.figures(result)


def falling_chain() -> str:
    result, figures = chain()
    energy = below(result.audit["energy_residual"], 1e-9)
    symmetry = below(figures["symmetry_error"], all_cases()["falling-chain"].figure_table["symmetry_error"].tolerance)
    return paragraph(f"""*A free chain of elastic links falls on the ground: {len(result.contacts)} contacts in
        {result.t[-1]:g} s, where each touchdown is two or three impacts in quick succession, because the links bend and
        strike again. Energy closes to better than {energy}, the mirror symmetry holds to better than {symmetry} m.
        Picture and figures by `pliant run falling-chain`.*""")


# --- docs/contact.md ----------------------------------------------------------------------------------------------


@functools.cache
def bounces() -> tuple[Any, Any]:
    """Restitution, and loops of force over depth, of `pliant lab contact`."""
    return perform((BOUNCE,), resolve({})).outcomes["bounce"]


def delivered(law: str, e: float) -> float:
    (found,) = (row for row in bounces()[0].numbers if row["law"] == law and row["requested"] == e)
    return float(found["delivered"])


def restitution() -> str:
    numbers, rows = bounces()[0].numbers, bounces()[0].finding.rows
    agreement = below(max(abs(row["difference"]) for row in numbers), 1e-9)
    titles = ["law", *(f"delivered at e = {e:g}" for e in SHOWN), f"within {CLOSE} of e"]
    lines = [" | ".join(titles), "|".join(["---"] * len(titles))]
    for law, *_, where in rows:
        values = [f"{delivered(law, e):.4f}".rstrip("0").rstrip(".") for e in SHOWN]
        lines.append(" | ".join([f"`{law}`", *values, where]))
    table = "".join(f"| {line} |\n" if "---" not in line else f"|{line}|\n" for line in lines)
    return paragraph(f"The simulations agree with it to better than {agreement}.") + "\n" + table


def soft_hits() -> str:
    """What laws give back that are asked for hardly anything, and who is near e everywhere."""
    numbers = bounces()[0].numbers
    asked = sorted({row["requested"] for row in numbers})
    laws = dict.fromkeys(row["law"] for row in numbers if row["law"] != "kelvin-voigt")  # it has no X
    damped = [law for law in laws if delivered(law, asked[0]) < 0.95]
    far = sorted((law for law in damped if delivered(law, 0.05) > 0.1), key=lambda law: -delivered(law, 0.05))
    values = ", ".join(f"`{law}` {delivered(law, 0.05):.1f}" for law in far)
    close = [law for law in damped if 1e-6 < max(abs(delivered(law, e) - e) for e in asked) <= 0.1]
    return paragraph(
        f"""- Where X stays finite as e goes to 0 the ball is never stopped: asked for 0.05, the laws give
        back {values}.""",
        "  ",
    ) + paragraph(f"- Within 0.1 of e everywhere: {listed(close)}.", "  ")


def contact_times() -> str:
    times = {row["law"]: 1e3 * row["time"] for row in bounces()[1].numbers}
    e = bounces()[1].numbers[0]["requested"]
    return paragraph(f"""Over the depth, the force goes up one way and comes back on a lower one; the area between is
        the energy lost. The laws with X begin and end at zero force. `kelvin-voigt` begins with a jump. Damping makes
        the contact longer ({times["hertz"]:.2f} ms for `hertz`, {times["exact"]:.2f} ms for `exact` at e = {e:g} with
        the default ball) and the depth smaller. Without damping and with n = 3/2 the time is
        3.21807 (m^2/(K^2 v))^(1/5).""")


def oblique_hits() -> str:
    settings = resolve({})
    (found,) = perform((ROD_HITS,), settings).outcomes["rod"]
    worst = np.nanmax(np.abs(np.array([row["restitution"] for row in found.numbers]) - settings["restitution"]))
    return paragraph(f"""A rod that hits the ground with one end does not keep e of the tip's normal speed exactly:
        friction rotates the rod as well, and that moves the tip along the normal. With the default rod it misses by
        up to {worst:.2f}. An elastic rod (`--set modes=3`) misses by far more, for part of the energy goes into
        vibration. The laws with bristles (`dahl`, `lugre`) need a way of mu_k N/sigma0 before they carry their full
        force; a hit leaves them less, so with the usual sigma0 they hardly act in hits.""")


# --- docs/integrators.md ------------------------------------------------------------------------------------------


def radau_steps() -> str:
    ratios = {}
    for name in ("two-link-arm", "space-robot"):
        model = pliant.load(name)
        steps = [pliant.simulate(model, integrator=method).stats["steps"] for method in ("radau", "dop853")]
        ratios[name] = steps[0] / steps[1]
    found = ", ".join(
        f"{math.floor(ratio)} to {math.ceil(ratio)} times as many on `{name}`" for name, ratio in ratios.items()
    )
    return paragraph(
        f"On motion that is not stiff it needs more steps than `dop853`: {found}, with default tolerances."
    )


def integrator_table() -> str:
    """Second-order methods as `pliant lab integrators` measures them."""
    rows = ["| method | stable up to omega h | damping | period error |", "|---|---|---|---|"]
    grid = np.geomspace(SLOWEST, 100.0, 12)
    settings = integrators.resolve({"models": "chain"})
    for label, method in chosen_methods(settings).items():
        if method.kind == "second-order" and label != "proposed printed":
            limit = measured_limit(method, {float(wh): measured(method, float(wh)) for wh in grid})
            words = {0.0: "never", np.inf: "always"}.get(limit, f"{limit:.2f}")
            at = measured(method, AT_OMEGA_H)
            cells = (f"`{label}`", words, *(f"{100.0 * each + 0.0:.2f} %" for each in (at.damping, at.period_error)))
            rows.append(f"| {' | '.join(cells)} |".replace("-0.00", "0.00"))
    return "\n".join(rows) + "\n"


# --- docs/formulations.md -----------------------------------------------------------------------------------------


def agreement_bound(value: float, condition: float) -> str:
    """A hundred times rounding times condition(M), as a power of ten, but at most 1e-10 unless a condition above 1e7
    costs digits. Values are far from these limits, so that the text is the same on any machine."""
    bound = 10.0 ** np.ceil(np.log10(100 * np.finfo(float).eps * condition))
    return below(value, bound if condition > 1e7 and value > 0.01 * TIGHT else min(bound, TIGHT))


def agreement_table() -> str:
    """`pliant compare all`, and the same of the models of the tests."""
    sys.path.append(str(ROOT / "tests" / "support"))
    models = {name: pliant.load(name) for name in all_cases()}
    zoo = importlib.import_module("zoo").ZOO
    models |= {name if name not in models else f"{name} of the tests": model for name, model in zoo.items()}
    titles = ["model", "velocities", "of modes", "loops", "condition(M)", "accelerations", "reactions", "motion"]
    lines = [f"| {' | '.join([*titles, 'forces'])} |\n", f"|{'---|' * (len(titles) + 1)}\n"]
    for name, model in models.items():
        found = agreement(model)
        worst = found.worst
        counts = [found.n_velocities, found.n_modes or "", len(model.loops) or ""]
        words = [f"`{name}`", *map(str, counts), f"{found.condition:.0e}".replace("e+0", "e")]
        values = (worst.accelerations, worst.reactions, worst.motion)
        words += [*(agreement_bound(value, found.condition) for value in values), below(worst.forces, 1e-13)]
        lines.append(f"| {' | '.join(words)} |\n")
    return "".join(lines)


# --- docs/benchmarks.md -------------------------------------------------------------------------------------------

# case, figure, digits that certify gives on any machine, what is to be said
BENCHMARKS: tuple[tuple[str, str, int, str], ...] = (
    ("andrews-squeezer", "beta", 11, "published to 1e-9: SciPy on equations of our own agrees with pliant to 1e-12"),
    ("andrews-squeezer", "epsilon", 12, ""),
    ("andrews-squeezer", "beta_rate", 11, "published to 1e-7, as above"),
    ("andrews-squeezer", "pin_force", 10, "sum of the published multipliers, which hold to 1e-5"),
    ("n-four-bar", "crank_end", 6, "ten dead points, each known to the root of rounding"),
    ("n-four-bar", "B0_x_end", 5, ""),
    ("bricard", "period", 11, "the data file of the library was not at hand: exact by quadrature"),
    ("bricard", "P3_x_end", 10, ""),
    ("pendulum", "period", 9, ""),
    ("pendulum", "angle_end", 8, ""),
    ("n-pendulum", "tip_x_end", 10, ""),
    ("n-pendulum", "angle_end", 9, ""),
    ("symmetric-top", "tilt_most", 9, ""),
    ("symmetric-top", "nutation_period", 9, ""),
    ("symmetric-top", "precession_per_nod", 8, ""),
    ("tennis-racket", "first_flip", 10, ""),
    ("tennis-racket", "flip_time", 8, ""),
    ("reorienting-satellite", "hull_angle_end", 9, ""),
    ("stick-slip-belt", "period", 6, "the law sticks below 1e-6 m/s; the difference is in proportion to that"),
    ("stick-slip-belt", "place_most", 7, ""),
    ("painleve-rod", "spin_at_stop", 10, "exact: the limit of stiff contacts; peak force and duration have none"),
    ("spin-up", "tip_deflection_min", 7, "expected: our own figure, for the beam theory and shapes of the default"),
    ("spin-up", "lag_frequency_1", 8, ""),
    (
        "flexible-slider-crank",
        "rod_angle_end",
        11,
        "printed -0.33117349883: there a factor 1/15 is missing in a mass",
    ),
    ("flexible-slider-crank", "sine_1_end", 8, "printed 1.893192900e-4, as above"),
    ("elastica", "tip_x", 6, "of 16 beams; the difference falls with their number"),
    ("elastica", "tip_y", 6, "as above"),
    ("sliding-block", "stop_time", 5, "it first settles into the ground, and its friction with it"),
    ("bouncing-ball", "first_contact", 12, ""),
    ("bouncing-ball", "first_restitution", 8, "asked for without gravity, which acts while the ball touches"),
)


@functools.cache
def certified_figures(name: str) -> dict[str, pliant.CertifiedFigure]:
    """Figures of a case that are in the table, with their digits; the runs behind them, gigabytes, are not kept."""
    case = all_cases()[name]
    settings = case.resolve({})

    def of(key: str) -> Callable[[pliant.Result], float]:
        return lambda result: case.figures_of(settings, result).get(key, np.nan)

    figures = {key: of(key) for other, key, *_ in BENCHMARKS if other == name}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.AccuracyWarning)
        options = {"memory": "200 MB"} | case.usual_options(settings)
        found = pliant.certify(case.build(settings), figures=figures, threads=1, **options)
    return dict(found.figures)


def digits_held(name: str, key: str, stated: int) -> int:
    """A number of digits, held against what certify gives for the case's own shapes of beams."""
    found = certified_figures(name)[key].model_digits
    if found is None or found < stated:
        raise SystemExit(f"{name}: {key} has {found} digits, not {stated}, as the text says")
    return stated


def benchmark_table() -> str:
    """Figures of public benchmarks with the digits of `pliant certify`."""
    titles = ("case", "figure", "unit", "published or exact", "pliant", "digits", "remark")
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    for name, key, stated, remark in BENCHMARKS:
        row, found = all_cases()[name].figure_table[key], certified_figures(name)[key]
        digits = digits_held(name, key, stated)
        assert row.expected is not None
        cells = (f"`{name}`", f"{row.help} (`{key}`)", row.unit, f"{row.expected:.12g}", f"{found.value:#.{digits}g}")
        lines.append(f"| {' | '.join((*cells, str(digits), remark))} |")
    return "\n".join(lines) + "\n"


def benchmark_sources() -> str:
    """Where each of them comes from."""
    names = dict.fromkeys(name for name, *_ in BENCHMARKS)
    lines = ["| case | what | source |", "|---|---|---|"]
    lines += [f"| `{name}` | {all_cases()[name].title} | {all_cases()[name].source} |" for name in names]
    return "\n".join(lines) + "\n"


# --- docs/peers.md ------------------------------------------------------------------------------------------------

PEERS = DOCS / "peers.json"  # pliant bench differences arm7_loop batch chain3 chain10 flex3 --out docs/peers.json
SAME_ERROR = ("chain3", "chain10", "flex3")
COMPARED = ("arm7_loop", "batch")


def measured_lines(*names: str) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """(line, what it is, its rows) of the file that the bench wrote."""
    lines = json.loads(PEERS.read_text(encoding="utf-8"))["lines"]
    what = {line.name: line.what for line in LINES}
    return [(name, what[name], lines[name]["figures"]) for name in names]


def two_digits(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10.0 else f"{ratio:.2g}"


def peers_measured() -> str:
    """When, where, and with which versions."""
    found = json.loads(PEERS.read_text(encoding="utf-8"))
    if found["status"] != "done":
        raise SystemExit(f"{PEERS.name}: the bench is {found['status']}; let it come to its end")
    versions = ", ".join(f"{name} {found['versions'][name]}" for name in ("pliant", "exudyn", "mujoco", "pin", "scipy"))
    return paragraph(f"""Measured on {found["date"]}: {found["machine"]["cpu"]}, one thread, CPU time, the least of many
        rounds in which all take turns. {versions}.""")


def peers_table() -> str:
    """Every engine at the setting that first meets the error."""
    titles = ("robot", "engine", "setting", "error", "time, in pliant's")
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    for name, what, figures in measured_lines(*SAME_ERROR):
        for k, row in enumerate(figures):
            ratio = "1" if row["who"] == "pliant" else "" if row["ratio"] is None else two_digits(row["ratio"])
            error = "" if row["error"] is None else f"{row['error']:.0e}".replace("e-0", "e-")
            first = f"`{name}`: {what}" if k == 0 else ""
            lines.append(f"| {first} | {row['who']} | {row['note']} | {error} | {ratio} |")
    return "\n".join(lines) + "\n"


def peers_calls() -> str:
    """One evaluation: pliant's time over the peer's."""
    titles = ("what", "who", "time, in the peer's", "error")
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    for name, what, figures in measured_lines(*COMPARED):
        for k, row in enumerate(figures):
            ratio = "1" if row["ratio"] is None else two_digits(row["ratio"])
            error = f"{row['error']:.0e}".replace("e-0", "e-") if row["error"] else ""
            first = f"`{name}`: {what}" if k == 0 else ""
            lines.append(f"| {first} | {row['who']} | {ratio} | {error} |")
    return "\n".join(lines) + "\n"


def peers_differences() -> str:
    """How far engines are from each other, as powers of ten that hold."""
    ((_, _, figures),) = measured_lines("differences")
    lines = ["| what | differs by less than | how |", "|---|---|---|"]
    for row in figures:
        limit = 10.0 ** (1.0 + np.floor(np.log10(max(row["error"], 1e-16))))
        lines.append(f"| {row['who']} | {below(row['error'], limit)} | {row['note']} |")
    return "\n".join(lines) + "\n"


# --- pictures -----------------------------------------------------------------------------------------------------


def draw() -> None:
    """Pictures of README.md, docs/contact.md and docs/papers/; those of the gallery come from its pages."""
    papers.draw_papers(PICTURES)
    write_picture(chain()[0], PICTURES / "falling-chain.svg")
    with tempfile.TemporaryDirectory() as folder:
        write_contact_lab(contact_lab(resolve({})), Path(folder))
        (PICTURES / "restitution.svg").write_bytes((Path(folder) / "restitution.svg").read_bytes())


FIGURES: dict[str, Callable[[], str]] = {
    "falling-chain": falling_chain,
    "restitution": restitution,
    "soft-hits": soft_hits,
    "contact-times": contact_times,
    "oblique-hits": oblique_hits,
    "radau-steps": radau_steps,
    "integrators": integrator_table,
    "agreement": agreement_table,
    "benchmark-sources": benchmark_sources,
    "benchmarks": benchmark_table,
    "peers-measured": peers_measured,
    "peers": peers_table,
    "peers-calls": peers_calls,
    "peers-differences": peers_differences,
    **papers.FIGURES,
}


def pages() -> list[Path]:
    """Documents that may quote figures; the gallery has a command of its own."""
    return [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("papers/*.md")]


def documents() -> list[Path]:
    return [path for path in pages() if BLOCK.search(path.read_text(encoding="utf-8"))]


def quoted(document: Path) -> dict[str, str]:
    """What a document quotes, by the name of the figures."""
    return dict(BLOCK.findall(document.read_text(encoding="utf-8")))


def build(document: Path) -> None:
    """Write the quoted figures of a document anew."""
    text = document.read_text(encoding="utf-8")
    for name, old in quoted(document).items():
        if name not in FIGURES:
            raise SystemExit(f"{document.name}: no figures {name!r}; docs/build.py has {', '.join(FIGURES)}")
        new = FIGURES[name]()
        text = text.replace(f"<!-- figures: {name} -->\n{old}", f"<!-- figures: {name} -->\n{new}")
        print(f"{document.name}: {name}" + ("" if old == new else ", changed"))
    document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for chosen in documents():
        if not sys.argv[1:] or chosen.stem in sys.argv[1:]:
            build(chosen)
    if not sys.argv[1:]:
        draw()
