"""Results on disk: NetCDF through h5netcdf directly (no xarray), written and read back; and summary.json."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired

import numpy as np

from pliant import __version__
from pliant.diagnostics import BENDING_RANGES
from pliant.errors import ModelError
from pliant.files import write_whole
from pliant.io.checked_arrays import array_sum, can_be_read, check_seal, put_array, taken_array, write_sealed
from pliant.io.controller_file import label_of
from pliant.io.labelled import variables
from pliant.io.stored_tables import TypedDict, parse_stored
from pliant.io.toml import described_model, model_tables
from pliant.methods import CHOSEN, INTEGRATORS, Methods, find_method
from pliant.model.columns import command_columns, output_columns
from pliant.model.messages import quoted
from pliant.results.checkpoint import Checkpoint, SampledState
from pliant.results.contact_records import CONTACT, Contacts
from pliant.results.recording import Dense, Event
from pliant.system.contact_tables import PHASE
from pliant.system.control_tables import CONTROLLER_WORK
from pliant.system.memory import N_EVENT_VALUES
from pliant.system.newton import NEWTON
from pliant.system.phases import Phases, are_phases

if TYPE_CHECKING:
    from pliant.results.recording import Recording

FORMAT, VERSION = "pliant result", 1  # VERSION rises when older programs would misread a file
GROUP = "run"  # beside the labelled columns: what a Result needs besides them, under names of its own
# tables of records lie there field by field
RECORDS: dict[str, Any] = {
    "phase_table": PHASE,
    "end_phase": PHASE,
    "end_controllers": CONTROLLER_WORK,
    "end_newton": NEWTON,
}
FACTS = ("settings", "audit", "stats", "status", "reason", "integrators", "methods")
STATUSES = ("done", "stopped", "failed", "interrupted")
INTEGRATOR_NAMES = tuple(each.name for each in INTEGRATORS)
END_FACTS = ("t", "h", "integrator", "was_switched", "has_moved", "t_control")


# --- writing ------------------------------------------------------------------------------------------------------


def save_result(result: Recording, path: Path) -> None:
    """Write result.nc: rows over time, events, contacts, all with units; how the run was made as attributes; and in a
    group of its own the model, the dense output and the end, for load_result."""
    import h5netcdf

    # in memory first: HDF5 on a disk that gets full takes the whole process down
    content = io.BytesIO()
    sums: dict[str, str] = {}
    with h5netcdf.File(content, "w") as file:
        for variable in variables(result):
            put_array(file, variable.name, variable.values, variable.axes)
            sums[variable.name] = array_sum(variable.values)
            if variable.unit:
                file.variables[variable.name].attrs["units"] = variable.unit
        group = file.create_group(GROUP)
        for name, values in _arrays(result):
            put_array(group, name, values, _axes(values.shape))
            sums[f"{GROUP}/{name}"] = array_sum(values)
        facts = {name: json.dumps(plain(getattr(result, name))) for name in ("settings", "audit", "stats")}
        facts |= {
            "status": result.status,
            "reason": result.reason,
            "integrators": json.dumps(result.integrators),
            "methods": json.dumps(_method_tables(result.methods)),
        }
        for name, text in facts.items():
            file.attrs[name] = text
        file.attrs["model"] = result.model.name
        file.attrs["format"], file.attrs["format_version"], file.attrs["pliant"] = FORMAT, VERSION, __version__
        file.attrs["checksum"] = _checksum(sums, facts)
    write_sealed(path, content)


def _axes(shape: tuple[int, ...]) -> tuple[str, ...]:
    """By their size, so that arrays share them: to make one takes a millisecond."""
    return tuple(f"n{size}_{k}" if size in shape[:k] else f"n{size}" for k, size in enumerate(shape))


def _checksum(sums: dict[str, str], facts: dict[str, str]) -> str:
    """Of the whole file."""
    text = json.dumps([sums, facts], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _arrays(result: Recording) -> Iterator[tuple[str, Any]]:
    """What a Result needs besides its columns; empty arrays are left out."""
    yield "model", np.array(json.dumps(_tables(result)), dtype=object)
    found: dict[str, Any] = {}
    # dense output that did not fit into memory is not copied through it
    if result.dense is not None and not isinstance(result.dense.terms.base, np.memmap):
        found |= {f"dense_{name}": getattr(result.dense, name) for name in ("starts", "steps", "terms")}
    if result.phases is not None:
        found |= {"phase_times": result.phases.times, "phase_table": result.phases.tables}
    if result.commands is not None:
        found["held"] = result.commands
    end = result.checkpoint
    if end is not None:
        texts = {name: getattr(end, name) for name in (*END_FACTS, "counted", "choice")}
        texts["sampled"] = [dataclasses.asdict(one) for one in end.sampled]
        yield "end", np.array(json.dumps(texts), dtype=object)
        names = ["y", "phase", "side", "fired", "event_values", "inputs", "controllers", "control"]
        names += ["newton", "jacobian", "factor", "pivots"] if end.jacobian.size else []
        found |= {f"end_{name}": getattr(end, name) for name in names}
    for name, values in found.items():
        parts = (
            {f"{name}.{field}": values[field] for field in RECORDS[name].names} if name in RECORDS else {name: values}
        )
        yield from ((part, np.asarray(array)) for part, array in parts.items() if array.size)


def _tables(result: Recording) -> dict[str, Any]:
    """Of the model; Python controllers by the names of their functions only."""
    named = [
        each if each.law is not None else dataclasses.replace(each, function=label_of(each))
        for each in result.model.controllers
    ]
    model = dataclasses.replace(result.model, controllers=tuple(named)) if named else result.model
    return model_tables(model)


def _method_tables(methods: Methods | None) -> dict[str, Any] | None:
    if methods is None:
        return None
    return {
        family: None
        if method is None
        else {"kind": method.name, **{each.name: getattr(method, each.name) for each in method.parameters()}}
        for family, method in methods._asdict().items()
    }


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


class _Settings(TypedDict, total=False):
    """Settings that later questions to a result look at."""

    rtol: float | None
    step: float | None
    duration: float | None


Figures = dict[str, float | None]  # nan is null


class _Sampled(TypedDict):
    count: int
    waiting: list[Any]
    random: dict[str, Any]
    measured: list[float] | None


class _End(TypedDict):
    t: float
    h: float
    integrator: str
    was_switched: bool
    has_moved: bool
    t_control: float
    # files of earlier versions do not have these
    counted: NotRequired[list[int]]
    choice: NotRequired[dict[str, Any] | None]
    sampled: list[_Sampled]


# --- reading ------------------------------------------------------------------------------------------------------


def read_result(path: Path) -> dict[str, Any]:
    """The fields of the Recording in a result.nc, or a message."""
    import h5netcdf

    try:
        is_sealed = check_seal(path)
        if is_sealed is False:
            raise _damaged(path)
        if is_sealed is None and not can_be_read(path):
            raise OSError
        with h5netcdf.File(path, "r", decode_vlen_strings=True) as file:
            _check_format(path, file)
            read = _read(path, file)
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file; give a result.nc that a run has written") from None
    except IsADirectoryError:
        raise ModelError(f"{path}: this is a folder; give a result.nc in it") from None
    except PermissionError:
        raise ModelError(f"{path}: the file cannot be read (no permission); check its permissions") from None
    except OSError:
        raise ModelError(
            f"{path.name}: this is no NetCDF file, or only a part of one; give a result.nc of a run"
        ) from None
    except ModelError:
        raise
    except Exception as error:  # whatever the library does with bytes that nobody wrote
        raise _damaged(path) from error
    return read


def _check_format(path: Path, file: Any) -> None:
    attrs = dict(file.attrs)
    if str(attrs.get("format")) != FORMAT:
        raise ModelError(
            f"{path.name}: this file is of another program, or of a pliant whose results could not be loaded yet; "
            "give a result.nc of a run, or open it with xarray"
        )
    version, writer = int(attrs["format_version"]), attrs.get("pliant")
    if not 1 <= version <= VERSION:
        it = f"pliant {quoted(str(writer))[1:-1]}, which wrote it" if writer is not None else "a newer one"
        raise ModelError(
            f"{path.name}: it has format {version}, and this version of pliant reads results up to format {VERSION}; "
            f"install {it}"
        )


def _damaged(path: Path) -> ModelError:
    return ModelError(f"{path.name}: the file is damaged: it does not hold what was written; make it anew")


def _read(path: Path, file: Any) -> dict[str, Any]:
    """All fields; whatever is not as it was written is refused."""
    columns = {name: taken_array(variable) for name, variable in file.variables.items()}
    kept = {name: taken_array(variable) for name, variable in file.groups[GROUP].variables.items()}
    facts = {name: str(file.attrs[name]) for name in FACTS}
    sums = {name: array_sum(values) for name, values in columns.items()}
    sums |= {f"{GROUP}/{name}": array_sum(values) for name, values in kept.items()}
    if _checksum(sums, facts) != file.attrs["checksum"]:
        raise _damaged(path)
    model = described_model(path, parse_stored(str(kept["model"]), dict[str, Any]))
    audit, stats = (
        {key: math.nan if value is None else value for key, value in parse_stored(facts[name], Figures).items()}
        for name in ("audit", "stats")
    )
    t = columns["time"]
    found = {
        "model": model,
        "t": t,
        "q": columns["q"],
        "v": columns["v"],
        "energy": {
            name.removeprefix("energy_"): values for name, values in columns.items() if name.startswith("energy_")
        },
        "outputs": {
            output.name: columns[f"output_{output.name}"]
            for output in model.outputs
            if f"output_{output.name}" in columns
        },
        "events": _events(columns),
        "status": facts["status"],
        "reason": facts["reason"],
        "audit": audit,
        "stats": stats,
        "settings": parse_stored(facts["settings"], _Settings),
        "inputs": columns.get("commands", np.zeros((len(t), 0))),
        "dense": _dense(kept),
        "contacts": _contacts(columns),
        "phases": _phases(kept),
        "commands": kept.get("held"),
        "integrators": tuple((float(at), str(name)) for at, name in json.loads(facts["integrators"])),
        "methods": _methods(json.loads(facts["methods"])),
        "checkpoint": _checkpoint(kept),
    }
    if not _agrees(found):
        raise _damaged(path)
    return found


def _agrees(found: dict[str, Any]) -> bool:
    """Return True if arrays and facts are such as a run of the model leaves them: later questions lead to kernels."""
    model, n = found["model"], len(found["t"])
    n_q, n_v, n_commands = len(model.coordinates), len(model.velocities), len(command_columns(model))
    shapes = [(found["t"], (n,)), (found["q"], (n, n_q)), (found["v"], (n, n_v)), (found["inputs"], (n, n_commands))]
    shapes += [(values, (n,)) for values in found["energy"].values()]
    columns = {output.name: (n, len(output_columns(model, output))) for output in model.outputs}
    shapes += [(values, columns[name]) for name, values in found["outputs"].items()]
    dense, phases, held, audit, settings = (found[key] for key in ("dense", "phases", "commands", "audit", "settings"))
    if dense is not None:
        pieces = dense.terms.shape[:1]
        shapes += [
            (dense.starts, pieces),
            (dense.steps, pieces),
            (dense.terms[:, 0, : n_q + n_v], (*pieces, n_q + n_v)),
        ]
    if phases is not None:
        shapes += [(phases.times, phases.tables.shape[:1])]
    if held is not None:
        shapes += [(held, (len(held), 1 + n_commands))]
    return bool(
        n > 0
        and all(values.dtype == np.float64 and values.shape == shape for values, shape in shapes)
        and np.all(np.isfinite(found["t"]))
        and np.all(np.diff(found["t"]) >= 0.0)
        and {"kinetic", "gravity", "elastic"} <= found["energy"].keys()
        and (phases is None or (phases.tables.ndim == 2 and len(phases.times) > 0 and are_phases(phases.tables)))
        and (held is None or len(held) > 0)
        and found["status"] in STATUSES
        and audit.get("coupling_order", 2) in BENDING_RANGES
        and (settings.get("step") is not None or settings.get("rtol", 1.0) is not None)
        and all(name in INTEGRATOR_NAMES for _, name in found["integrators"])
    )


def _events(columns: dict[str, Any]) -> tuple[Event, ...]:
    rows = zip(*(columns.get(f"event_{name}", ()) for name in ("name", "time", "direction")), strict=True)
    return tuple(Event(str(name), float(t), str(direction)) for name, t, direction in rows)


def _contacts(columns: dict[str, Any]) -> Any:
    contacts = np.zeros(len(columns.get("contact_point", ())), CONTACT).view(Contacts)
    for name in contacts.dtype.names or ():
        contacts[name] = columns.get(f"contact_{name}", contacts[name])
    return contacts


def _dense(kept: dict[str, Any]) -> Dense | None:
    return Dense(kept["dense_starts"], kept["dense_steps"], kept["dense_terms"]) if "dense_terms" in kept else None


def _records(kept: dict[str, Any], name: str, shape: tuple[int, ...]) -> Any:
    """Records from their fields; where there are none, an empty table."""
    table = np.zeros(np.shape(kept.get(f"{name}.{RECORDS[name].names[0]}", np.zeros(shape))), RECORDS[name]).view(
        np.recarray
    )
    for field in RECORDS[name].names if table.size else ():
        table[field] = kept[f"{name}.{field}"]
    return table


def _phases(kept: dict[str, Any]) -> Phases | None:
    times = kept.get("phase_times")
    return None if times is None else Phases(times, _records(kept, "phase_table", (len(times), 0)))


def _methods(tables: dict[str, Any] | None) -> Methods | None:
    if tables is None:
        return None
    found = {family: None if tables[family] is None else find_method(family, tables[family]) for family in CHOSEN}
    return Methods(**found)  # type: ignore[arg-type]


def _checkpoint(kept: dict[str, Any]) -> Checkpoint | None:
    if "end" not in kept:
        return None
    texts = parse_stored(str(kept["end"]), _End)
    none, whole = np.zeros(0), np.zeros(0, np.int64)
    return Checkpoint(
        **{name: texts[name] for name in END_FACTS},
        counted=tuple(texts.get("counted", (0, 0, 0, 0))),
        choice=texts.get("choice"),
        newton=_records(kept, "end_newton", (0,)),
        jacobian=kept.get("end_jacobian", np.zeros((0, 0))),
        factor=kept.get("end_factor", np.zeros((0, 0, 0))),
        pivots=kept.get("end_pivots", np.zeros((2, 0), np.int64)),
        sampled=tuple(_sampled(one) for one in texts["sampled"]),
        y=kept["end_y"],
        phase=_records(kept, "end_phase", (0,)),
        side=kept.get("end_side", whole),
        fired=kept.get("end_fired", whole),
        event_values=kept.get("end_event_values", np.zeros((N_EVENT_VALUES, 0))),
        inputs=kept.get("end_inputs", none),
        controllers=_records(kept, "end_controllers", (0,)),
        control=kept.get("end_control", none),
    )


def _sampled(one: dict[str, Any]) -> SampledState:
    waiting = tuple((float(t), tuple(command)) for t, command in one["waiting"])
    return SampledState(
        one["count"], waiting, one["random"], None if one["measured"] is None else tuple(one["measured"])
    )


# --- summary ------------------------------------------------------------------------------------------------------


def save_summary(
    path: Path,
    case: str,
    settings: dict[str, Any],
    figures: dict[str, Any],
    result: Recording,
    findings: Sequence[dict[str, Any]] = (),
    source: str = "",
    digits: dict[str, Any] | None = None,
) -> None:
    """Write summary.json: {case, settings, figures, contacts, audit, stats}, how the run ended, what it was made with,
    tables of findings; source: of the model; digits: those that are right, of a certified run."""
    contacts = [dict(zip(result.contacts.dtype.names, row.tolist(), strict=True)) for row in result.contacts]
    summary = {
        "case": case,
        "source": source,
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
    } | ({"digits": digits} if digits is not None else {})
    write_whole(path, json.dumps(plain(summary), indent=2) + "\n")
