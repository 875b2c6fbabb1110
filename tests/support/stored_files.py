"""Files that pliant has written, damaged or edited in a seeded way, and what it says when it reads them back.

    python tests/support/stored_files.py KIND FIRST COUNT

prints a line per seed; a process that crashes or hangs ends with the seed that it has begun."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import pliant
from broken_files import VALUES, broken_tables
from pliant import PD, Body, Contact, Controller, Frame, Joint, Limit, Model, Output, Plane, PliantError, Rod
from pliant.io import result_file
from pliant.io.checked_arrays import SEAL, array_sum, taken_array
from pliant.study.store import digest, read_definition
from pliant.study.study import study_of

SECONDS = 40  # for one file; what reads it in a process of its own may take half of that
TEXTS = (*result_file.FACTS, "run/model", "run/end")
NUMBERS = (float("nan"), float("inf"), -float("inf"), -1, 0, 1, 2, 7, -5.0, 1e300, 1e-300, 2**31, 2**62, -(2**62))


def servo(t: float, measured: Any) -> list[float]:
    """A controller in Python, at the top level of a file."""
    return [20.0 * (0.5 - measured["hinge"][0])]


def stored_arm(**controller: Any) -> Model:
    """Bounces with friction, has bristles, a stop, a noisy servo that acts late."""
    elbow = pliant.LuGre(0.1, 0.2, 0.01, 1e4, 30.0, load=2.0)
    floor = Plane(normal=(0, 1, 0), offset=-0.3)
    return Model(
        "arm",
        [Body("upper", 1.0, shape=Rod(0.8)), Body("lower", 0.5, shape=Rod(0.5))],
        [
            Joint("hinge", "revolute", "upper", q0=0.4, limit=Limit(lower=-0.3, stiffness=200.0, damping=1.0)),
            Joint("elbow", "revolute", "lower", parent=Frame("upper", (0.8, 0, 0)), friction=elbow),
        ],
        gravity=(0, -9.81, 0),
        frames=[Frame("lower", (0.5, 0, 0), name="tip")],
        contacts=[Contact("floor", pliant.Flores(1e5, 0.6), floor, friction=pliant.Coulomb(0.3))],
        outputs=[Output("tip", "tip", "position"), Output("push", "floor", "contact")],
        controllers=[Controller("servo", 0.01, ("hinge",), noise=1e-4, delay=0.013, rates="differences", **controller)],
    )


def pendulum() -> Model:
    """A rod on a hinge."""
    return Model("rod", [Body("rod", 1.0, shape=Rod(1.0))], [Joint("hinge", "revolute", "rod", q0=0.3)])


MODELS: dict[str, Callable[[], Model]] = {
    "law": lambda: stored_arm(law=PD(30.0, 2.0, reference=0.5)),
    "function": lambda: stored_arm(function=servo),
    "plain": pendulum,
}
OPTIONS = {"law": {}, "function": {}, "plain": {"integrator": "radau"}}
STUDY = """
name = "swing"
duration = 0.01
[[bodies]]
name = "rod"
mass = 1.0
shape = { kind = "rod", length = 1.0 }
[[joints]]
name = "hinge"
kind = "revolute"
child = "rod"
q0 = 0.5
"""


def make_files(folder: Path) -> None:
    """Results of all models, and a study, as they are read back later."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in MODELS.items():
            pliant.simulate(model(), 0.3, **OPTIONS[name]).save(folder / f"{name}.nc")
    (folder / "swing.toml").write_text(STUDY)
    parameters = {"hinge.start": "0:1:3", "bodies.rod.mass": [1.0, 2.0], "integrator": ["dop853", "rk4"]}
    pliant.Study(folder / "swing.toml", parameters, ["hinge", "max(hinge)"], settings={"max_step": 1e-3}).run(
        folder / "study"
    )


# --- damage ---------------------------------------------------------------------------------------------------------


def damage_bytes(path: Path, rng: random.Random) -> None:
    """Change some bytes, all over or close together; the seal is kept in half of the files."""
    data = bytearray(path.read_bytes())
    if rng.random() < 0.5:
        del data[data.rfind(SEAL) :]
    first = rng.randrange(len(data))
    for _ in range(rng.choice((1, 3, 33, 200))):
        place = rng.randrange(len(data)) if rng.random() < 0.5 else min(first + rng.randrange(64), len(data) - 1)
        data[place] = rng.choice((0, 255, rng.randrange(256), data[place] ^ (1 << rng.randrange(8))))
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)) :]
    path.write_bytes(data)


def change_result(path: Path, rng: random.Random, texts: tuple[str, ...] = TEXTS, arrays: str = "") -> None:
    """Change facts or arrays of a result.nc, whose checksum stays right. arrays: what their names begin with."""
    with h5py.File(path, "r+") as file:
        names = [name for name in _datasets(file) if name.startswith(arrays)]
        for _ in range(rng.choice((1, 1, 2, 3))):
            if rng.random() < 0.5:
                _change_text(file, rng.choice(texts), rng)
            else:
                _change_array(file, rng.choice(names), rng)
        names = list(_datasets(file))
        sums = {name: array_sum(taken_array(_decoded(file[name]))) for name in names}
        facts = {name: str(file.attrs[name]) for name in result_file.FACTS}
        file.attrs["checksum"] = result_file._checksum(sums, facts)


def _datasets(file: Any) -> Iterator[str]:
    found: list[str] = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    # axes that no array belongs to are no variables
    yield from (name for name in found if not file[name].attrs.get("NAME", b"").startswith(b"This is a netCDF"))


def _decoded(dataset: Any) -> Any:
    return dataset.asstr() if h5py.check_string_dtype(dataset.dtype) else dataset


def _change_text(file: Any, name: str, rng: random.Random) -> None:
    """One to four values of a JSON text."""
    is_fact = name in result_file.FACTS
    if not is_fact and name not in file:
        return
    text = str(file.attrs[name]) if is_fact else _decoded(file[name])[()]
    try:
        changed = json.dumps(_changed(json.loads(text), rng))
    except (ValueError, RecursionError, TypeError):
        changed = rng.choice(("", "x", "[" * 3000, text[: len(text) // 2], "null"))
    if is_fact:
        file.attrs[name] = changed
    else:
        file[name][()] = changed


def _changed(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, dict) or not value:
        return copy.deepcopy(rng.choice(VALUES))
    if rng.random() < 0.5:  # a number, where there is one
        key = rng.choice(list(value))
        return value | {key: rng.choice(NUMBERS)}
    return broken_tables(value, rng)


def _change_array(file: Any, name: str, rng: random.Random) -> None:
    """A number of it, its shape, its kind, or all of it."""
    dataset = file[name]
    if h5py.check_string_dtype(dataset.dtype) or dataset.ndim == 0:
        return
    values, way = dataset[...], rng.random()
    if way < 0.7 and values.size:
        flat = values.reshape(-1)
        with np.errstate(all="ignore"):
            number = rng.choice(NUMBERS)
            fits = values.dtype.kind == "f" or (np.isfinite(number) and abs(number) < 2 ** (8 * values.itemsize - 1))
            flat[rng.randrange(flat.size)] = number if fits else -9
        dataset[...] = values
        return
    attributes = dict(dataset.attrs)
    del file[name]
    if way < 0.8:
        return
    shapes = [values[:-1], np.concatenate([values, values]), values[..., None], values.astype("f4"), values.ravel()]
    file.create_dataset(
        name, data=rng.choice([*shapes, values.astype(np.int64) if values.dtype.kind == "f" else values])
    )
    for key, attribute in attributes.items():
        if key.isupper() or key == "units":
            continue
        file[name].attrs[key] = attribute


def change_study(path: Path, rng: random.Random) -> None:
    """Edit study.json; its digest is made right in half of the files."""
    found = broken_tables(json.loads(path.read_text()), rng)
    if rng.random() < 0.5:
        with contextlib.suppress(KeyError, RecursionError, TypeError, ValueError):
            what = {key: found[key] for key in ("study", "name", "figures")}
            found["digest"] = digest(found["study"] if found["format_version"] == 1 else what)
    try:
        path.write_text(json.dumps(found))
    except (RecursionError, TypeError, ValueError):
        path.write_text("[" * 100_000)


def change_saved(saved: Any, rng: random.Random) -> Any:
    """A SavedState with something in it that save() has not put there."""
    wrong = rng.choice((None, "x", -1, (), (1, 2), [], {}, b"", 1.5, np.zeros(3), float("nan"), object()))
    snapshot, way = saved.snapshot, rng.random()
    if way < 0.3:
        return dataclasses.replace(saved, **{rng.choice([each.name for each in dataclasses.fields(saved)]): wrong})
    if way < 0.6:
        name = rng.choice([each.name for each in dataclasses.fields(snapshot)])
        return dataclasses.replace(saved, snapshot=dataclasses.replace(snapshot, **{name: wrong}))
    if way < 0.9:
        tables = bytearray(snapshot.tables)
        for _ in range(rng.choice((1, 3, 100))):
            tables[rng.randrange(len(tables))] ^= 1 << rng.randrange(8)
        if rng.random() < 0.2:
            del tables[rng.randrange(len(tables)) :]
        return dataclasses.replace(saved, snapshot=dataclasses.replace(snapshot, tables=bytes(tables)))
    clock = list(saved.clock)
    clock[rng.randrange(3)] = wrong
    return dataclasses.replace(saved, clock=tuple(clock))


# --- reading back -----------------------------------------------------------------------------------------------------


def is_answered(ask: Callable[[], Any]) -> bool:
    """Return True if there is an answer, False if there is a message."""
    try:
        ask()
    except PliantError as error:
        if str(error).strip():
            return False
        raise ValueError("a message without words") from error
    return True


def ask_result(path: Path, model: Model) -> None:
    """Do what one does with a result: look at it, ask it, go on from it."""
    result = pliant.load_result(path)
    repr(result), result.warnings, result.citations
    for ask in (
        lambda: result.at(float(result.t[-1])),
        lambda: result.outputs_at([float(result.t[0]), float(result.t[-1])]),
        lambda: result.contact_forces([float(result.t[-1])]),
        lambda: result.dataset,
        lambda: pliant.simulate(model, 0.03, start=result, max_steps=2000),
    ):
        is_answered(ask)


def ask_study(folder: Path) -> None:
    """Do what one does with a study: look at its rows, make one again, go on."""
    runs = pliant.load_study(folder)
    runs.table, runs.summary(), repr(runs)
    for ask in (lambda: runs.to_xarray(), lambda: runs.command(0), lambda: runs.result(0)):
        is_answered(ask)
    found = study_of(read_definition(folder), trust=False)
    if found is not None:
        found.check(folder, True, "threads", 1, None)


def outcome(kind: str, seed: int, files: Path) -> str:
    """Return what happens with one damaged file: "read" or "refused"; everything else raises."""
    rng = random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copied, name = Path(folder) / "files", rng.choice(list(MODELS))
        shutil.copytree(files, copied)
        path, study, model = copied / f"{name}.nc", copied / "study", MODELS[name]()
        if kind == "saved":
            return ask_stepper(pliant.stepper(model, **OPTIONS[name]), rng)
        if kind == "bytes":
            damage_bytes(path, rng)
        elif kind == "facts":
            change_result(path, rng)
        elif kind == "checkpoint":
            change_result(path, rng, ("run/end",), "run/end_")
        elif kind == "study":
            change_study(study / "study.json", rng)
        else:
            damage_bytes(study / "rows.nc", rng)
        is_study = kind in ("study", "rows")
        is_read = is_answered(lambda: ask_study(study) if is_study else ask_result(path, model))
        return "read" if is_read else "refused"


def ask_stepper(stepper: pliant.Stepper, rng: random.Random) -> str:
    """Restore what was saved and changed; where it is refused, nothing has moved."""
    stepper.step(None, 0.02)
    before, saved = stepper.state, change_saved(stepper.save(), rng)
    is_read = is_answered(lambda: stepper.restore(saved))
    if not is_read and not all(map(np.array_equal, stepper.state, before)):
        raise ValueError("a refused state has moved the stepper")
    stepper.step(None, 0.02)
    return "read" if is_read else "refused"


KINDS = ("bytes", "facts", "checkpoint", "study", "rows", "saved")


def main() -> None:
    """Try seeds one after the other, each within its time."""
    kind, first, count, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    for seed in range(first, first + count):
        print(f"begin {seed}", flush=True)
        if hasattr(signal, "alarm"):
            signal.alarm(SECONDS)
        try:
            found = outcome(kind, seed, files)
        except Exception as error:
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            line = f"{os.path.basename(where.tb_frame.f_code.co_filename)}:{where.tb_lineno}" if where else ""
            found = f"FAILED {type(error).__name__} at {line}: {str(error)[:150]!r}"
        print(f"{seed} {found}", flush=True)


if __name__ == "__main__":
    main()
