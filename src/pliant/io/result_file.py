"""Results on disk: NetCDF through h5netcdf directly (no xarray), and summary.json."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.files import whole_file, write_whole
from pliant.io.labelled import variables

if TYPE_CHECKING:
    from pliant.results.recording import Recording


def save_result(result: Recording, path: Path) -> None:
    """Write result.nc: rows over time, events, contacts, all with units; how the run was made as attributes."""
    import h5netcdf

    # in memory first: HDF5 on a disk that gets full takes the whole process down
    content = io.BytesIO()
    with h5netcdf.File(content, "w") as file:
        for variable in variables(result):
            for axis, size in zip(variable.axes, variable.values.shape, strict=True):
                if axis not in file.dimensions:
                    file.dimensions[axis] = size
            kind = _text() if variable.values.dtype == object else np.float64
            made = file.create_variable(variable.name, variable.axes, data=variable.values, dtype=kind)
            if variable.unit:
                made.attrs["units"] = variable.unit
        file.attrs["model"] = result.model.name
        file.attrs["status"] = result.status
        file.attrs["reason"] = result.reason
        for name in ("settings", "audit", "stats"):
            file.attrs[name] = json.dumps(plain(getattr(result, name)))
    with whole_file(path) as temporary:
        temporary.write_bytes(content.getbuffer())


def _text() -> Any:
    import h5py

    return h5py.string_dtype()


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


def save_summary(
    path: Path,
    case: str,
    settings: dict[str, Any],
    figures: dict[str, Any],
    result: Recording,
    findings: Sequence[dict[str, Any]] = (),
) -> None:
    """Write summary.json: {case, settings, figures, contacts, audit, stats}, how the run ended, what it was made with,
    tables of findings."""
    contacts = [dict(zip(result.contacts.dtype.names, row.tolist(), strict=True)) for row in result.contacts]
    summary = {
        "case": case,
        "settings": settings,
        "figures": figures,
        "contacts": contacts,
        "audit": result.audit,
        "stats": result.stats,
        "events": [{"name": event.name, "t": event.t, "direction": event.direction} for event in result.events],
        "methods": result.citations,
        "status": result.status,
        "reason": result.reason,
        "warnings": [{"level": found.level, "words": found.words} for found in result.diagnostics],
        "findings": findings,
    }
    write_whole(path, json.dumps(plain(summary), indent=2) + "\n")
