"""Kind messages: what pydantic found wrong, one line per mistake, in the words of the model file."""

import difflib
import math
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

import pydantic

MAX_LINES = 20  # of one message
MAX_WORDS = 2000  # that a word is compared with
LONGEST_WORD = 100  # characters of a name that is compared with others or quoted

# what to do, by pydantic's type of error; braces are filled from its context
ADVICE = {
    "finite_number": "give a finite number",
    "float_type": "give a number",
    "greater_than": "give a number above {gt:g}",
    "greater_than_equal": "give {ge:g} or more",
    "less_than": "give a number below {lt:g}",
    "less_than_equal": "give {le:g} or less",
    "too_short": "give at least {min_length}",
    "tuple_type": "give a list",
    "string_type": "give text in quotes",
    "string_pattern_mismatch": "start a name with a letter or _, then use letters, digits, _ or -",
    "string_too_long": "give at most {max_length} characters",
    "bool_type": "give true or false",
    "dataclass_type": "give a {class_name} (in a file: a table with {keys})",
}
# keys of every class that users write, for messages
KEYS: dict[str, tuple[str, ...]] = {}
# what others call it: words that no spelling leads to
OTHER_WORDS = {
    "hinge": "revolute", "pin": "revolute", "slider": "prismatic", "ball": "spherical", "cardan": "universal",
    "weld": "fixed", "free": "floating", "links": "bodies", "link": "bodies", "forces": "loads", "force": "loads",
    "sensors": "outputs", "actuators": "controllers", "type": "kind", "e": "young", "rho": "density", "nu": "poisson",
    "cylinder": "tube", "clamped": "fixed", "t": "time",
}  # fmt: skip


def refuse(problems: Iterable[str]) -> None:
    """Raise ValueError (which pydantic passes on) if there is any problem; each is one line, of many the first."""
    found = list(islice(problems, MAX_LINES))
    if found:
        raise ValueError("\n".join(found))


def explain(error: pydantic.ValidationError, where: str, given: Any = None, is_apart: bool = False) -> str:
    """One line per mistake: place, what was found, what is allowed. `given` is the data the places lie in.

    `is_apart`: only mistakes of single values, not of how they fit together."""
    lines: dict[str, None] = {}  # each once, in order
    problems = [problem for problem in error.errors(include_url=False) if not _is_echo(problem)]
    if is_apart:
        problems = [problem for problem in problems if problem["type"] != "value_error"]
    for index, problem in enumerate(problems):
        if len(lines) >= MAX_LINES:
            lines[f"{where}: and {'' if is_apart else f'{len(problems) - index} '}more mistakes"] = None
            break
        place = _place(problem["loc"], given)
        lines |= dict.fromkeys(": ".join(filter(None, (where, place, line))) for line in _message(problem).splitlines())
    return "\n".join(lines)


def closest(name: str, allowed: Iterable[str]) -> str:
    """A hint at the word that was probably meant, or nothing."""
    words = {word.lower(): word for word in islice(allowed, MAX_WORDS)}
    if len(name) > LONGEST_WORD:
        return ""
    # velocities of floating bases and ball joints, "hub.wx", are columns "hub.wx.rate"
    others = (OTHER_WORDS.get(name.lower(), ""), f"{name.lower()}.rate")
    near = [other for other in others if other in words] or difflib.get_close_matches(name.lower(), words, n=1)
    return f"; did you mean '{words[near[0]]}'?" if near else ""


def unknown_keys(given: Iterable[str], allowed: Iterable[str]) -> list[str]:
    """A line per key that is none of the allowed ones, of many the first."""
    allowed = tuple(allowed)
    unknown = [str(key) for key in given if key not in allowed]
    words = f" allowed: {listed(allowed, 20)}"  # once
    lines = [
        f"unknown key '{short(key)}'{closest(key, allowed) or ';' * (k == 0)}{words * (k == 0)}"
        for k, key in enumerate(unknown[:MAX_LINES])
    ]
    more = [f"and {len(unknown) - MAX_LINES} more unknown keys"] if len(unknown) > MAX_LINES else []
    return lines + more


def listed(words: Iterable[str], most: int = 12) -> str:
    """Words with commas, the last ones only counted."""
    every = list(words)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(map(short, every[:most])) + more


def short(word: str) -> str:
    """A name as it may stand in a message."""
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 3]}..."


def shown(value: Any, most: int = 60) -> str:
    """A value as it may stand in a message: one line, not too long."""
    try:
        text = " ".join((f'"{value}"' if isinstance(value, str) else repr(value)).split())
    except Exception:  # of a user's own class, or a whole number of many digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else text[: most - 3] + "..."


def quoted(value: Any, most: int = 60) -> str:
    """As shown, but text as Python writes it: for arguments of calls."""
    return (
        repr(value if len(value) <= most else f"{value[: most - 3]}...")
        if isinstance(value, str)
        else shown(value, most)
    )


def _is_echo(problem: Any) -> bool:
    """Whether pydantic only says that a list is too short because items of it were wrong."""
    return bool(problem["type"] == "too_short" and len(problem["input"]) >= problem["ctx"]["min_length"])


def _place(loc: tuple[int | str, ...], given: Any) -> str:
    """The path as in the file: "joints[1] 'elbow': parent.position[2]". Labels of alternatives are left out."""
    text, here = "", given
    for part in loc:
        if isinstance(part, int) and isinstance(here, (list, tuple)) and part < len(here):
            here = here[part]
            name = here.get("name") if isinstance(here, dict) else getattr(here, "name", None)
            text += f"[{part}]" + (f" '{short(name)}'" if isinstance(name, str) else "")
        elif isinstance(here, dict) and part in here:
            here = here[part]
            text += (": " if text.endswith("'") else "." if text else "") + str(part)
    return text


def _message(problem: Any) -> str:
    kind, found, context = problem["type"], problem["input"], problem.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "missing":
        return f"'{problem['loc'][-1]}' is missing; give it"
    if kind == "literal_error" and "text" in problem["loc"]:  # a word in place of a table, as "none" of a limit
        return f"found {shown(found)}; give a table, or {context['expected'].replace(chr(39), chr(34))}"
    if kind in ("literal_error", "union_tag_invalid"):
        return _not_allowed(context.get("tag", found), context.get("expected", context.get("expected_tags", "")))
    if kind == "float_type" and isinstance(found, str):
        return f"found the text {shown(found)}; give a plain number in SI units{in_si(found)}"
    if kind == "tuple_type" and isinstance(found, dict):
        name = next((part for part in reversed(problem["loc"]) if isinstance(part, str)), "joints")
        return f"found a single table; give a list (in a file: a heading with double brackets, [[{name}]])"
    keys = listed(KEYS.get(context.get("class_name", ""), ("its keys",)))
    advice = ADVICE.get(kind, problem["msg"]).format(keys=keys, **context)
    return f"found {shown(found)}; {advice}"


# of quantities in files, in SI units; what may stand before them
UNITS = {
    "": 1.0, "Pa": 1.0, "N": 1.0, "m": 1.0, "s": 1.0, "g": 1e-3, "Hz": 1.0, "J": 1.0, "W": 1.0, "Nm": 1.0, "N m": 1.0,
    "N/m": 1.0, "m^2": 1.0, "m^4": 1.0, "kg/m^3": 1.0, "g/cm^3": 1e3, "N/mm": 1e3, "N/mm^2": 1e6, "mm^2": 1e-6,
    "cm^2": 1e-4, "mm^4": 1e-12, "cm^4": 1e-8, "kg m^2": 1.0, "kg": 1.0, "t": 1e3, "bar": 1e5, "psi": 6894.757,
    "in": 0.0254, "ft": 0.3048, "lb": 0.45359237, "min": 60.0, "h": 3600.0, "m/s": 1.0, "km/h": 1.0 / 3.6,
    "deg": math.pi / 180.0, "rad": 1.0, "rpm": math.pi / 30.0, "deg/s": math.pi / 180.0, "rad/s": 1.0,
    "Nm/rad": 1.0, "N m/rad": 1.0, "Nm/deg": 180.0 / math.pi, "N m/deg": 180.0 / math.pi, "N s/m": 1.0, "kg/m": 1.0,
    "m/s^2": 1.0, "%": 1e-2,
}  # fmt: skip
PREFIXES = {"G": 1e9, "M": 1e6, "k": 1e3, "c": 1e-2, "m": 1e-3, "u": 1e-6}
PREFIXED = ("Pa", "N", "m", "s", "g", "Hz", "J", "W", "Nm", "N m", "N/m")


def in_si(text: str) -> str:
    """A hint: what a number with a unit is in SI units; nothing if it is none."""
    match = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.{0,20}?)\s*", text[:60])
    if match is None:
        return ""
    number, unit = float(match[1]), match[2].replace("\u00b5", "u").replace("*", " ")
    factor = UNITS.get(unit)
    if factor is None and unit[:1] in PREFIXES and unit[1:] in PREFIXED:
        factor = PREFIXES[unit[0]] * UNITS[unit[1:]]
    return "" if factor is None else f": {number * factor:.6g}"


def _not_allowed(found: Any, expected: str) -> str:
    allowed = re.findall(r"'([^']*)'", expected)
    hint = closest(found, allowed) if isinstance(found, str) else ""
    return f"{shown(found)} is not known{hint or ';'} allowed: {listed(allowed, 20)}"
