"""Results on disk: NetCDF through h5netcdf directly (no xarray), and summary.json."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.files import whole_file, write_whole

if TYPE_CHECKING:
    from pliant.result import Result


def save_result(result: Result, path: Path) -> None:
    """Write result.nc: rows over time, dense output, events, contacts, and how the run was made as attributes."""
    import h5netcdf

    with whole_file(path) as temporary, h5netcdf.File(temporary, "w") as file:
        names = {"coordinate": result.model.coordinates, "velocity": result.model.velocities}
        file.dimensions = {"time": len(result.t), **{axis: len(labels) for axis, labels in names.items()}}
        _write(file, "time", ("time",), result.t, "s")
        for axis, labels in names.items():
            file.create_variable(axis, (axis,), data=np.array(labels, dtype=object), dtype=_text())
        _write(file, "q", ("time", "coordinate"), result.q)
        _write(file, "v", ("time", "velocity"), result.v)
        for name, values in result.energy.items():
            _write(file, f"energy_{name}", ("time",), values, "J")
        for name, values in result.outputs.items():
            axis = f"{name}_component"
            file.dimensions[axis] = values.shape[1]
            _write(file, f"output_{name}", ("time", axis), values)
        _write_events(file, result)
        _write_contacts(file, result)
        file.attrs["model"] = result.model.name
        file.attrs["status"] = result.status
        file.attrs["reason"] = result.reason
        for name in ("settings", "audit", "stats"):
            file.attrs[name] = json.dumps(plain(getattr(result, name)))


def _text() -> Any:
    import h5py

    return h5py.string_dtype()


def _write(file: Any, name: str, axes: tuple[str, ...], values: Any, unit: str = "") -> None:
    variable = file.create_variable(name, axes, data=values, dtype=np.float64)
    if unit:
        variable.attrs["units"] = unit


def _write_events(file: Any, result: Result) -> None:
    if not result.events:
        return
    file.dimensions["event"] = len(result.events)
    names = np.array([event.name for event in result.events], dtype=object)
    file.create_variable("event_name", ("event",), data=names, dtype=_text())
    _write(file, "event_time", ("event",), np.array([event.t for event in result.events]), "s")


def _write_contacts(file: Any, result: Result) -> None:
    if len(result.contacts) == 0:
        return
    file.dimensions["contact"] = len(result.contacts)
    for name in result.contacts.dtype.names:
        values = result.contacts[name]
        if values.dtype.kind == "U":
            file.create_variable(f"contact_{name}", ("contact",), data=values.astype(object), dtype=_text())
        else:
            _write(file, f"contact_{name}", ("contact",), values)


def plain(value: Any) -> Any:
    """A value as JSON can hold it: numpy numbers as numbers, what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def save_summary(path: Path, case: str, settings: dict[str, Any], figures: dict[str, Any], result: Result) -> None:
    """Write summary.json: {case, settings, figures, contacts, audit, stats} and how the run ended."""
    contacts = [dict(zip(result.contacts.dtype.names, row.tolist(), strict=True)) for row in result.contacts]
    summary = {
        "case": case,
        "settings": settings,
        "figures": figures,
        "contacts": contacts,
        "audit": result.audit,
        "stats": result.stats,
        "events": [{"name": event.name, "t": event.t, "direction": event.direction} for event in result.events],
        "status": result.status,
        "reason": result.reason,
    }
    write_whole(path, json.dumps(plain(summary), indent=2) + "\n")
