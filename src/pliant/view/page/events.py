"""Tables of what happened: events, and contacts, each of which leads to its time."""

from __future__ import annotations

from html import escape

import numpy as np

from pliant.results.recording import Event, Recording
from pliant.system.pack import THROUGH_PI
from pliant.view.page.html import MAX_ROWS, more, section, table
from pliant.view.svg import readable


def own_events(result: Recording) -> list[Event]:
    """Events but for begin and end of contacts, which have a table of their own."""
    touching = {f"{row['contact']}: {row['point']}" for row in result.contacts}
    return [event for event in result.events if event.name not in touching]


def event_words(event: Event) -> str:
    """What happened: "elbow reaches its upper limit", "handover (rising)"."""
    for place in (" at its ", " at the "):
        name, found, where = event.name.rpartition(place)
        if found and where.endswith(("limit", "backlash")):
            verb = "reaches" if event.direction == "rising" else "leaves"
            return f"{name} {verb}{place.removeprefix(' at')}{where}"
    if event.name.endswith(THROUGH_PI):
        return event.name
    return f"{event.name} ({event.direction})"


def events_section(result: Recording) -> str:
    """When what happened."""
    events = own_events(result)
    if not events:
        return ""
    rows = [[escape(event_words(event)), f"{event.t:.9g} s"] for event in events[:MAX_ROWS]]
    jumps = [_jump(event.t, event.t, f"the event {event.name}") for event in events[:MAX_ROWS]]
    note = '<p class="note printless">Choose a row to go there.</p>'
    return section("Events", note + table(("event", "time"), rows, (1,), jumps) + more(len(events)), "long")


CONTACT_COLUMNS = {
    "t_start": "start [s]",
    "t_end": "end [s]",
    "v_in": "in [m/s]",
    "v_out": "out [m/s]",
    "peak_normal": "peak force [N]",
    "impulse": "impulse [N s]",
    "work": "work [J]",
    "restitution_delivered": "restitution",
    "restitution_requested": "asked for",
}


def contacts_section(result: Recording) -> str:
    """Every contact; its row leads the player there and the charts of forces into it."""
    if len(result.contacts) == 0:
        return ""
    log = result.contacts[:MAX_ROWS]
    rows = [
        [escape(row["contact"]), escape(row["point"]), *(_touch(float(row[name])) for name in CONTACT_COLUMNS)]
        for row in log
    ]
    columns = ("contact", "point", *CONTACT_COLUMNS.values())
    ends = np.where(np.isnan(log["t_end"]), result.t[-1], log["t_end"])
    jumps = [
        _jump(float(row["t_start"]), float(end), f"the contact of {row['point']}")
        for row, end in zip(log, ends, strict=True)
    ]
    content = table(columns, rows, range(2, len(columns)), jumps, is_wide=True)
    note = '<p class="note printless">Choose a row to go to that contact.</p>'
    return section("Contacts", note + content + more(len(result.contacts)), "contacts long")


def _jump(start: float, end: float, what: str) -> str:
    """Attributes of a row that can be chosen."""
    label = escape(f"go to {what} at {start:.6g} s")
    return f'class="jump" tabindex="0" data-start="{start!r}" data-end="{end!r}" aria-label="{label}"'


def _touch(value: float) -> str:
    """What is known only at the end of a contact is left open while it lasts."""
    return "-" if np.isnan(value) else readable(value, 6)
