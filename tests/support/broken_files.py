"""Broken files by the thousand: valid texts and tables, changed in one to four places by a seeded random generator."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

# what is put in the place of something else
WORDS = (
    *(
        "nan",
        "-nan",
        "inf",
        "-inf",
        "1e308",
        "-1e308",
        "1e999",
        "1e-320",
        "0",
        "-0.0",
        "-1",
        "0x1F",
        "1_000",
        "9" * 400,
    ),
    *(
        "true",
        "false",
        '""',
        "''",
        '"x"',
        "[]",
        "{}",
        "[[]]",
        "[nan]",
        "[1, 2]",
        "{ kind = 3 }",
        "[" * 3000,
        "{a=" * 500,
    ),
    *(
        "1979-05-27T07:32:00Z",
        "07:32:00",
        "\u00e9",
        "\U0001f916",
        "\u202e",
        "\0",
        "\ufeff",
        "\r",
        '"""',
        "#",
        "<!--",
        "]]>",
    ),
    *(
        "&amp;",
        "&#0;",
        "&x;",
        "<!DOCTYPE a>",
        "</robot>",
        "<link/>",
        "../../../etc/passwd",
        "C:\\x",
        "world",
        "base",
        "-",
    ),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**63, 10**400, -(10**400), 0.0, -0.0, 1e308, -1e308, 1e-320, 5e-324),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "world", "nan", "1 deg", "1e999 deg", "\u00e9\0", "a" * 5000),
    *([], {}, [[]], [{}], [None], [0] * 3, [1.0] * 4, [float("nan")] * 3, [1e308] * 3, [0.0] * 10000, ["x"] * 1000),
    *(
        {"kind": "rod"},
        {"kind": 3},
        {"kind": []},
        {"": ""},
        {"body": "world"},
        {"name": []},
        {"kind": "sum", "terms": []},
    ),
)


def deep_list(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def deep_sum(depth: int) -> Any:
    made: Any = 1.0
    for _ in range(depth):
        made = {"kind": "sum", "terms": [made]}
    return made


def broken_text(text: str, rng: random.Random) -> str:
    """One to four tokens or lines deleted, doubled, exchanged or replaced; now and then cut, or with garbage in it."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        way = rng.random()
        if way < 0.2:
            lines = text.splitlines(keepends=True) or [""]
            k = rng.randrange(len(lines))
            lines[k : k + 1] = rng.choice(([], [lines[k]] * 2, [lines[k]] * 50, [rng.choice(lines)]))
            text = "".join(lines)
        elif way < 0.25:
            text = text[: rng.randrange(len(text) + 1)]
        elif way < 0.3:
            k = rng.randrange(len(text) + 1)
            text = text[:k] + "".join(chr(rng.randrange(1, 0x500)) for _ in range(rng.randint(1, 30))) + text[k:]
        else:
            tokens = re.findall(r"[A-Za-z_]+|[-+.\deE]+|\s+|.", text) or [""]
            k = rng.randrange(len(tokens))
            tokens[k] = rng.choice(("", tokens[k] * 2, rng.choice(tokens), rng.choice(WORDS), rng.choice(WORDS)))
            text = "".join(tokens)
    return text


def broken_tables(tables: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """One to four values replaced, deleted, doubled or moved to another place."""
    made = copy.deepcopy(tables)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = [*_places(made)]
        if not places:
            break
        holder, key = rng.choice(places)
        way = rng.random()
        if way < 0.15:
            del holder[key]
        elif way < 0.25 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        elif way < 0.35:
            other, there = rng.choice(places)
            holder[key] = copy.deepcopy(other[there])
        elif way < 0.4:
            holder[key] = rng.choice((deep_list, deep_sum))(rng.choice((3, 50, 2000)))
            break  # nothing else could copy it
        elif way < 0.5 and isinstance(holder, dict):
            holder[rng.choice(("", "kind", "name", "x" * 99, "\u00e9", str(key) + "s"))] = holder.pop(key)
        elif way < 0.65 and isinstance(holder[key], float):
            holder[key] = holder[key] * rng.choice((-1, 1e-300, 1e300, 1e30, 0)) + rng.choice((0, 0, 1e-9, 1e9))
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return made


def _places(value: Any) -> Any:
    """Every (holder, key) in nested tables and lists."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], (dict, list)):
                waiting.append(holder[key])
