"""The folder of a study: study.json says what is studied, rows-*.nc hold finished rows.

Rows are only ever added: every second or so, all that have finished since are written as one more NetCDF file, which
appears whole or not at all and carries a checksum. So nothing that happens to the process, the machine or the disk can
harm what was written before, and what is damaged is known by itself and run again. When there are MERGED files of a
level, they become one of the next level, and when the study is finished all become one, rows.nc: a million rows are a
few files, and each row is written four times at most.

NetCDF (HDF5) is what result.nc is, any tool reads it, and it is there already; parquet would bring pyarrow, larger than
all of pliant, for columns of numbers that need no compression of words. One HDF5 file to which rows are appended would
be lost as a whole when the process is killed while it writes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Required

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.files import make_folder, write_whole
from pliant.io.checked_arrays import array_sum, can_be_read, check_seal, put_array, taken_array, write_sealed
from pliant.io.plain_file import read_plain
from pliant.io.stored_tables import TypedDict, check_stored, parse_stored
from pliant.io.toml import check_values
from pliant.model.messages import listed, quoted
from pliant.study.chunk import STATUSES, Chunk, joined

Array = NDArray[np.float64]
FORMAT, VERSION = "pliant study", 2  # 1 said whether code was trusted; its digest was that of the study alone
MAX_DEFINITION = 1_000_000_000  # bytes: lists of ten million values
DEFINITION, LOCK = "study.json", "study.lock"
NAME = re.compile(r"rows-(\d)-(\d{8})\.nc|rows\.nc")
WHOLE = "rows.nc"  # of a study that is finished
MERGED = 64  # files of a level that become one of the next
MAX_LEVEL = 9
MAX_READS = 10  # while somebody merges files


class StoredRows(NamedTuple):
    """All rows of a store, in their order."""

    chunk: Chunk
    parameters: Array  # (rows, parameters), as Parameter.codes has them


class Store:
    """Rows of one study in a folder. Who writes holds the lock."""

    def __init__(self, folder: Path, names: tuple[str, ...], figures: tuple[str, ...], units: tuple[str, ...]) -> None:
        """names: of parameters; figures and their units."""
        self.folder, self.names, self.figures, self.units = folder, names, figures, units
        self._serial = 0
        self._files: dict[int, list[Path]] = {}  # by level
        self.damaged: list[str] = []  # files that were not as they were written

    # --- writing ----------------------------------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else writes; the system lifts the lock of a process that is killed."""
        with open(self.folder / LOCK, "a") as file:
            if not lock_file(file):
                raise ModelError(
                    f"--out {self.folder}: another process is writing to this study; wait for it, or choose another "
                    "folder"
                )
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()}\n")
            file.flush()
            yield

    def begin(self, count: int, codes_of: Any) -> NDArray[np.bool_]:
        """Which of the rows are there. Files that are damaged, or whose rows others have, go. codes_of(rows): what the
        parameters of rows are; a row that has others is of another study."""
        has = np.zeros(count, bool)
        for path in self._found():
            part = self._read(path)
            if part is None:
                self.damaged.append(path.name)
                path.unlink(missing_ok=True)
                continue
            rows = part.chunk.rows
            if len(rows) and (rows.min() < 0 or rows.max() >= count or not _same(codes_of(rows), part.parameters)):
                raise ModelError(
                    f"{path}: its parameters are not those of this study (another version of numpy or scipy?); choose "
                    "another folder"
                )
            if has[rows].all():
                path.unlink(missing_ok=True)  # killed between merging files and removing them
                continue
            has[rows] = True
            self._files.setdefault(_level(path), []).append(path)
        return has

    def add(self, chunk: Chunk, parameters: Array) -> None:
        """Write finished rows as one more file."""
        if len(chunk):
            self._put(0, chunk, parameters)

    def _put(self, level: int, chunk: Chunk, parameters: Array) -> None:
        self._serial += 1
        path = self.folder / f"rows-{level}-{self._serial:08d}.nc"
        self._write(path, chunk, parameters)
        files = self._files.setdefault(level, [])
        files.append(path)
        if len(files) >= MERGED and level < MAX_LEVEL:
            self._files[level] = []
            parts = [self._read(each) for each in files]
            whole = [part for part in parts if part is not None]
            if len(whole) < len(files):
                return  # somebody has harmed a file: it is left to the next start, which runs its rows again
            merged = joined([part.chunk for part in whole], len(self.figures))
            self._put(level + 1, merged, np.concatenate([part.parameters for part in whole]))
            for each in files:
                each.unlink(missing_ok=True)

    def finish(self) -> None:
        """All rows are there: one file of them takes the place of the others."""
        files = self._found()
        if [path.name for path in files] == [WHOLE]:
            return
        found = self.read()
        if self.damaged or not len(found.chunk):
            return
        self._write(self.folder / WHOLE, found.chunk, found.parameters)
        for path in files:
            if path.name != WHOLE:
                path.unlink(missing_ok=True)

    def _write(self, path: Path, chunk: Chunk, parameters: Array) -> None:
        import h5netcdf

        noted = np.array(sorted(chunk.notes), np.int64)
        words = np.array([chunk.notes[int(row)] for row in noted], dtype=object)
        arrays: dict[str, tuple[str, Any, str, str]] = {
            "row": ("row", chunk.rows, "", ""),
            "status": ("row", chunk.status, "", ""),
            **{f"parameter_{k}": ("row", parameters[:, k], name, "") for k, name in enumerate(self.names)},
            **{
                f"figure_{k}": ("row", chunk.figures[:, k], name, unit)
                for k, (name, unit) in enumerate(zip(self.figures, self.units, strict=True))
            },
            **({"noted_row": ("note", noted, "", ""), "note": ("note", words, "", "")} if len(noted) else {}),
        }
        # in memory first: HDF5 on a disk that gets full takes the whole process down
        content = io.BytesIO()
        with h5netcdf.File(content, "w") as file:
            for name, (axis, values, label, unit) in arrays.items():
                put_array(file, name, np.ascontiguousarray(values), (axis,))
                for key, text in (("long_name", label), ("units", unit)):
                    if text:
                        file.variables[name].attrs[key] = text
            file.attrs["format"], file.attrs["format_version"] = FORMAT, VERSION
            file.attrs["checksum"] = _checksum({name: np.ascontiguousarray(row[1]) for name, row in arrays.items()})
        write_sealed(path, content)

    # --- reading ----------------------------------------------------------------------------------------------------

    def _found(self) -> list[Path]:
        """Files of rows, the largest first."""
        paths = [path for path in self.folder.iterdir() if NAME.fullmatch(path.name)]
        for path in paths:
            self._serial = max(self._serial, 0 if path.name == WHOLE else int(path.stem.rpartition("-")[2]))
        return sorted(paths, key=lambda path: (-_level(path), path.name))

    def _read(self, path: Path) -> StoredRows | None:
        """The rows of a file; None if it is not as it was written; a message if it is of another study."""
        import h5netcdf

        try:
            is_sealed = check_seal(path)
            if is_sealed is False or (is_sealed is None and not can_be_read(path)):
                return None
            with h5netcdf.File(path, "r", decode_vlen_strings=True) as file:
                arrays = {name: taken_array(variable) for name, variable in file.variables.items()}
                labels = {name: str(variable.attrs.get("long_name", "")) for name, variable in file.variables.items()}
                if _checksum(arrays) != file.attrs["checksum"]:
                    return None
        except Exception:  # whatever the library does with bytes that nobody wrote
            return None
        wanted = {f"parameter_{k}": name for k, name in enumerate(self.names)}
        wanted |= {f"figure_{k}": name for k, name in enumerate(self.figures)}
        if any(labels.get(name) != label for name, label in wanted.items()) or not _are_rows(arrays, list(wanted)):
            raise ModelError(f"{path}: its columns are not those of this study; choose another folder")
        values = np.stack([arrays[name] for name in wanted], axis=1)
        n, none = len(self.names), np.zeros(0)
        notes = dict(zip(arrays.get("noted_row", none).tolist(), arrays.get("note", none).tolist(), strict=True))
        return StoredRows(Chunk(arrays["row"], values[:, n:], arrays["status"], notes), values[:, :n])

    def read(self) -> StoredRows:
        """All rows, in their order, each once; somebody may be writing."""
        for _ in range(MAX_READS):
            found = {path: self._read(path) for path in self._found()}
            gone = [path for path, part in found.items() if part is None]
            # a file that is gone was merged into another while we read
            if all(path.exists() for path in gone):
                break
        self.damaged = [path.name for path in gone]
        parts = [part for part in found.values() if part is not None]
        whole = joined([part.chunk for part in parts], len(self.figures))
        parameters = np.concatenate([part.parameters for part in parts]) if parts else np.zeros((0, len(self.names)))
        rows, first = np.unique(whole.rows, return_index=True)
        return StoredRows(Chunk(rows, whole.figures[first], whole.status[first], whole.notes), parameters[first])


class _Format(TypedDict):
    format: str
    format_version: int


class _Base(TypedDict, total=False):
    case: str
    file: str
    function: dict[str, str]
    model: str
    settings: Required[dict[str, Any]]
    trust: bool  # of format 1: nobody believes it


class _Parameter(TypedDict):
    name: str
    range: str | list[bool | int | float | str]


class _Study(TypedDict):
    base: _Base
    parameters: list[_Parameter]
    method: str
    rows: int
    seed: int
    figures: dict[str, str | dict[str, str]] | None
    pliant: str


class _Figure(TypedDict):
    label: str
    unit: str


class _Definition(TypedDict):
    """The content of study.json."""

    digest: str
    study: _Study
    name: str
    figures: list[_Figure]


def write_definition(folder: Path, study: dict[str, Any], name: str, figures: list[dict[str, str]]) -> None:
    """Write study.json: what is studied, and what is kept of every row."""
    what = {"study": study, "name": name, "figures": figures}
    head = {"format": FORMAT, "format_version": VERSION, "digest": digest(what)}
    write_whole(folder / DEFINITION, json.dumps(head | what, indent=2, default=str) + "\n")


def read_definition(folder: Path) -> dict[str, Any] | None:
    """Return what study.json says, None where there is none; or raise a message. No file says that code is trusted."""
    path = folder / DEFINITION
    try:
        text = read_plain(path, MAX_DEFINITION)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ModelError(f"{path}: it cannot be read ({error.strerror or error}); give the folder of a study") from None
    try:
        head = parse_stored(text, _Format)
        if head["format"] != FORMAT:
            raise ValueError
    except ValueError:
        raise ModelError(f"{path}: this is no study of pliant; give the folder that a study was written to") from None
    writer = head["study"].get("pliant") if isinstance(head.get("study"), dict) else None
    if not 1 <= head["format_version"] <= VERSION:
        raise ModelError(
            f"{path}: it has format {head['format_version']}, written by pliant {quoted(writer)}; this version reads "
            f"studies from format 1 to {VERSION}: install that one"
        )
    check_values(path, head)
    try:
        found: dict[str, Any] = check_stored(head, _Definition)
        what = {key: found[key] for key in ("study", "name", "figures")}
        if digest(found["study"] if found["format_version"] == 1 else what) != found["digest"]:
            raise ValueError("it is not what its digest says")
    except ValueError as error:
        raise ModelError(f"{path}: it was changed or damaged ({error}); restore it, or choose another folder") from None
    found["study"]["base"].pop("trust", None)
    return found


def check_same(folder: Path, stored: dict[str, Any], study: dict[str, Any]) -> None:
    """Refuse the folder of another study, naming what differs."""
    mine = json.loads(json.dumps(study, default=str))
    words = {"pliant": f"the version of pliant that made it ({stored['study']['pliant']})"}
    keys = [words.get(key, key) for key in mine if stored["study"][key] != mine[key]]
    if keys:
        raise ModelError(
            f"--out {folder}: it holds another study, which differs in {listed(keys)}; choose another folder; nothing "
            "was changed there"
        )


def digest(what: dict[str, Any]) -> str:
    """Return a sum of tables that JSON can hold."""
    return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()[:32]


def study_folder(folder: Path, is_made: bool = True) -> None:
    """Make the folder, or only say why it cannot be one: other files are no reason, but rows without a study are."""
    if is_made:
        make_folder(folder)
    with suppress(FileNotFoundError):
        try:
            names = os.listdir(folder)
        except NotADirectoryError:
            raise ModelError(f"--out {folder}: this is a file; name a folder") from None
        if DEFINITION not in names and any(NAME.fullmatch(name) for name in names):
            raise ModelError(f"--out {folder}: it has rows of a study, but no {DEFINITION}; choose another folder")


def _are_rows(arrays: dict[str, Any], columns: list[str]) -> bool:
    """Return True if these columns are there and no others, of one length, and every row has a known status."""
    kinds = {"row": "i", "status": "i"} | dict.fromkeys(columns, "f")
    if {name for name in arrays if name.startswith(("parameter_", "figure_"))} != set(columns) or any(
        name not in arrays or arrays[name].dtype.kind != kind for name, kind in kinds.items()
    ):
        return False
    shapes = {arrays[name].shape for name in kinds}
    noted, words = arrays.get("noted_row", np.zeros(0, int)), arrays.get("note", np.zeros(0, object))
    are_notes = noted.dtype.kind == "i" and noted.shape == words.shape and all(isinstance(each, str) for each in words)
    status = arrays["status"]
    return (
        len(shapes) == 1 and status.ndim == 1 and are_notes and bool(np.all((status >= 0) & (status < len(STATUSES))))
    )


def _same(expected: Array, found: Array) -> bool:
    return expected.shape == found.shape and bool(np.array_equal(expected, found, equal_nan=True))


def _checksum(arrays: dict[str, Any]) -> str:
    sums = {name: array_sum(values) for name, values in arrays.items()}
    return hashlib.blake2b(json.dumps(sums, sort_keys=True).encode(), digest_size=16).hexdigest()


def _level(path: Path) -> int:
    return MAX_LEVEL + 1 if path.name == WHOLE else int(path.stem.split("-")[1])


def lock_file(file: Any, waits: bool = False) -> bool:
    """Whether this process has the lock of an open file now; waits: until it has it. It goes when the file is closed,
    or with the process."""
    try:
        import fcntl
    except ModuleNotFoundError:
        import msvcrt

        with suppress(OSError):
            kind = msvcrt.LK_LOCK if waits else msvcrt.LK_NBLCK  # type: ignore[attr-defined]
            msvcrt.locking(file.fileno(), kind, 1)  # type: ignore[attr-defined]
            return True
        return False
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        return True
    return False
