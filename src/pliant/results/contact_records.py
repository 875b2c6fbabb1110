"""Contacts of a run: a record each, and together a table."""

from __future__ import annotations

from typing import Any

import numpy as np

CONTACT = np.dtype(
    [
        ("contact", "U80"),
        ("point", "U160"),
        ("t_start", np.float64),
        ("t_end", np.float64),
        ("v_in", np.float64),
        ("v_out", np.float64),
        ("peak_normal", np.float64),
        ("impulse", np.float64),
        ("work", np.float64),
        ("restitution_requested", np.float64),
        ("restitution_delivered", np.float64),
    ]
)

CONTACT_UNITS = {
    "t_start": "s",
    "t_end": "s",
    "v_in": "m/s",
    "v_out": "m/s",
    "peak_normal": "N",
    "impulse": "N s",
    "work": "J",
}
MAX_ROWS = 20  # that a text shows


class Contacts(np.recarray):  # type: ignore[type-arg]
    """One record per contact, by name: contacts[0].t_start, contacts.peak_normal; printed as a table."""

    def to_pandas(self) -> Any:
        """A row per contact, units in attrs["units"]; needs pandas."""
        from pliant.results.frames import pandas_frame

        names = self.dtype.names or ()
        return pandas_frame({name: self[name] for name in names}, CONTACT_UNITS)

    def __repr__(self) -> str:
        if self.dtype.names is None or self.ndim != 1:  # a column, or a part of it
            return np.asarray(self).__repr__()
        lines = [self.head(), *self.rows()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        texts = [
            "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        more = [f"the first {MAX_ROWS} of {len(self)}"] if len(self) > MAX_ROWS else []
        return "\n".join([f"{len(self)} contact{'' if len(self) == 1 else 's'}", *(texts if len(self) else ()), *more])

    __str__ = __repr__

    def head(self) -> tuple[str, ...]:
        """Of the table, with units."""
        return ("contact", "point", *(f"{name} [{unit}]" for name, unit in CONTACT_UNITS.items()))

    def rows(self, most: int = MAX_ROWS) -> list[tuple[str, ...]]:
        """Of the table: what still touches at the end has no t_end."""
        return [
            (str(row["contact"]), str(row["point"]), *(_shown(float(row[name])) for name in CONTACT_UNITS))
            for row in self[:most]
        ]

    def _repr_html_(self) -> str:
        from html import escape

        cells = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        heads = "".join(f"<th>{escape(cell)}</th>" for cell in self.head())
        more = f"<p>the first {MAX_ROWS} of {len(self)}</p>" if len(self) > MAX_ROWS else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>{more}"


def _shown(value: float) -> str:
    return "touching" if value != value else f"{value + 0.0:.6g}"
