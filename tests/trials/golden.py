"""Golden runs: record what a tree computes, and list where another tree differs from it.

    PYTHONPATH=tests/support:tests python -m trials.golden --record FILE
    PYTHONPATH=tests/support:tests python -m trials.golden --check FILE [--only WORD]

A record has two kinds of entries. An evaluation is an array: accelerations of one state by one formulation, or a mass
matrix. A run is the hash of everything it recorded (rows, energies, contacts), its counts of steps, evaluations and
events, and its end state. Runs repeat to the bit across processes, so every difference comes from the code. Without
arguments a small part is recorded twice and must agree with itself.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import friction_models
import pliant
import wild_models
from controlled_models import slider, two_joints
from pliant import AccuracyWarning, Model
from pliant.cases.case import all_cases
from pliant.errors import PliantError
from pliant.files import write_content
from pliant.methods import CLOSURES, formulations_of
from zoo import ZOO

RANDOM_MODELS = 300
RANDOM_KINDS = (
    wild_models.rigid_tree,
    wild_models.flexible_tree,
    wild_models.touching_tree,
    wild_models.touching_beams,
    wild_models.mechanism,
    friction_models.chain,
    friction_models.rod,
    friction_models.box,
)
CHOSEN_INTEGRATORS = ("auto", "dop853", "bs5", "adams", "ark5", "radau", "generalised_alpha")
MAX_STEPS = 20_000
HORIZON = 0.05  # [s] of random models and of the zoo
CASE_HORIZON = 2.0  # [s], the longest stretch of a case that is run
COUNTS = ("steps", "evaluations", "events")

Entry = dict[str, Any]


# --- entries --------------------------------------------------------------------------------------------------------


def hash_arrays(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        data = np.ascontiguousarray(array)
        digest.update(str((data.shape, data.dtype.str)).encode())
        digest.update(data.tobytes())
    return digest.hexdigest()[:24]


def evaluation(values: Any) -> Entry:
    return {"values": np.array(values, dtype=float)}


def run(result: pliant.Result) -> Entry:
    contacts = result.contacts
    columns = [contacts[name] for name in contacts.dtype.names or () if contacts[name].dtype.kind == "f"]
    parts = {
        "motion": hash_arrays(result.t, result.q, result.v),
        "energies": hash_arrays(*result.energy.values()),
        "contacts": hash_arrays(*columns),
    }
    end = np.concatenate([result.q[-1], result.v[-1]])
    counts = [int(result.stats[name]) for name in COUNTS]
    return {"status": result.status, "hashes": parts, "counts": counts, "t": float(result.t[-1]), "end": end}


def attempt(compute: Callable[[], Entry]) -> Entry | None:
    """Return the entry, or the words of a refusal; a method that does not take a model refuses it on every tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        try:
            return compute()
        except PliantError as refusal:
            return {"refused": str(refusal)}


# --- what is recorded -----------------------------------------------------------------------------------------------


def random_models(count: int) -> Iterator[tuple[str, Model, np.random.Generator]]:
    for seed in range(count):
        rng = np.random.default_rng([seed, 1931])
        kind = RANDOM_KINDS[seed % len(RANDOM_KINDS)]
        yield f"random {seed} {kind.__name__}", kind(rng), rng


def simulate(model: Model, duration: float, **options: Any) -> Entry:
    return run(pliant.simulate(model, duration, max_steps=MAX_STEPS, **options))


def evaluations(name: str, model: Model, states: list[tuple[Any, Any]]) -> Iterator[tuple[str, Callable[[], Entry]]]:
    for row in formulations_of(model):
        for k, (q, v) in enumerate(states):
            yield (
                f"{name}; accelerations {k} by {row.name}",
                lambda q=q, v=v, row=row: evaluation(pliant.forward_dynamics(model, q, v, formulation=row.name)),
            )
    q, v = states[-1]
    yield f"{name}; mass matrix", lambda: evaluation(pliant.mass_matrix(model, q))


def methods(name: str, model: Model) -> Iterator[tuple[str, Callable[[], Entry]]]:
    """Runs of one model by every formulation, by the chosen integrators and, on loops, by every closure."""
    for row in formulations_of(model):
        yield f"{name}; {row.name}", lambda row=row: simulate(model, HORIZON, formulation=row.name, rtol=1e-6)
    for integrator in CHOSEN_INTEGRATORS:
        step = {"step": 1e-3} if integrator == "generalised_alpha" else {"rtol": 1e-7}
        yield (
            f"{name}; {integrator}",
            lambda integrator=integrator, step=step: simulate(model, HORIZON, integrator=integrator, **step),
        )
    for row in CLOSURES if model.loops else ():
        yield f"{name}; closure {row.name}", lambda row=row: simulate(model, HORIZON, closure=row.name)


def sections(count: int) -> Iterator[tuple[str, Callable[[], Entry]]]:
    for name in all_cases():
        yield f"case {name}", lambda name=name: case_run(name)
    for name, model in ZOO.items():
        yield from evaluations(f"zoo {name}", model, [(model.q0, model.v0)])
        yield from methods(f"zoo {name}", model)
    for name, model, rng in random_models(count):
        moved = model.v0 + 0.1 * rng.normal(size=len(model.v0)) if not model.loops else model.v0
        yield from evaluations(name, model, [(model.q0, model.v0), (model.q0, moved)])
        rows = [row.name for row in formulations_of(model)]
        options: dict[str, Any] = {"formulation": str(rng.choice(rows)), "rtol": float(10 ** rng.uniform(-9, -4))}
        integrator = str(rng.choice(CHOSEN_INTEGRATORS))
        if integrator == "generalised_alpha":
            options = {"formulation": options["formulation"], "step": 1e-3}
        duration = float(rng.uniform(0.02, 0.2))
        yield (
            f"{name}; {integrator}",
            lambda m=model, d=duration, i=integrator, o=options: simulate(m, d, integrator=i, **o),
        )
        yield f"{name}; default", lambda m=model, d=duration: simulate(m, d)
    yield from controlled()
    yield from batches()
    yield from restarts()


def case_run(name: str) -> Entry:
    model = pliant.load(name)
    given = model.run.get("duration") if model.run else None
    return run(pliant.simulate(model, min(given, CASE_HORIZON) if isinstance(given, float) else CASE_HORIZON))


def swing(t: float, state: Any) -> Any:
    return -3.0 * state.q - 0.5 * state.v


def controlled() -> Iterator[tuple[str, Callable[[], Entry]]]:
    for integrator in CHOSEN_INTEGRATORS[:-1]:
        yield (
            f"controller; slider by {integrator}",
            lambda i=integrator: simulate(slider(swing), 1.0, integrator=i),
        )
        yield (
            f"controller; two joints by {integrator}",
            lambda i=integrator: simulate(two_joints(swing), 0.5, integrator=i),
        )
    for integrator in ("auto", "rk4", "dopri5", "radau"):

        def steps(integrator: str = integrator) -> Entry:
            options = {"step": 1e-3} if integrator == "rk4" else {}
            stepper = pliant.stepper(ZOO["double_pendulum"], integrator=integrator, **options)
            states = []
            for k in range(200):
                stepper.step(0.1 * np.sin(0.1 * k) * np.ones(len(stepper.commanded)), 5e-3)
                states.append(np.concatenate([stepper.q, stepper.v]))
            return evaluation(states)

        yield f"stepper; {integrator}", steps


def batches() -> Iterator[tuple[str, Callable[[], Entry]]]:
    for name in ("pendulum", "double_pendulum", "falling_chain", "sliding_puck"):

        def rows(name: str = name) -> Entry:
            model = ZOO[name]
            starts = model.v0 + 0.05 * np.random.default_rng(5).normal(size=(20, len(model.v0)))
            runs = pliant.simulate_many(model, HORIZON, v0=starts, rtol=1e-6, workers=1)
            return evaluation(np.hstack([runs.q, runs.v]))

        yield f"batch; {name}", rows


def restarts() -> Iterator[tuple[str, Callable[[], Entry]]]:
    for name in ("falling_chain", "sliding_puck", "flexible_arm", "four_bar", "stopped_arm"):

        def halves(name: str = name) -> Entry:
            first = pliant.simulate(ZOO[name], 0.5 * HORIZON)
            return run(pliant.simulate(ZOO[name], HORIZON, start=first))

        yield f"restart; {name}", halves


# --- record and check -----------------------------------------------------------------------------------------------


def record(only: str = "", count: int = RANDOM_MODELS) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    begun = time.monotonic()
    for name, compute in sections(count):
        if only in name:
            entries[name] = attempt(compute)
            if len(entries) % 200 == 0:
                print(f"{len(entries)} entries, {time.monotonic() - begun:.0f} s: {name}", flush=True)
    return entries


def save(entries: dict[str, Entry], path: Path) -> None:
    """Write arrays as npz and everything else as JSON beside them, in one file."""
    arrays, rest = {}, {}
    for k, (name, entry) in enumerate(entries.items()):
        for part, value in entry.items():
            if isinstance(value, np.ndarray):
                arrays[f"{k} {part}"] = value
        rest[name] = {part: value for part, value in entry.items() if not isinstance(value, np.ndarray)}
    content = io.BytesIO()
    np.savez_compressed(content, entries=np.array(json.dumps(rest)), **arrays)
    write_content(path, content)


def load(path: Path) -> dict[str, Entry]:
    with np.load(path) as file:
        entries: dict[str, Entry] = json.loads(str(file["entries"]))
        names = list(entries)
        for key in file.files:
            if key != "entries":
                k, _, part = key.partition(" ")
                entries[names[int(k)]][part] = file[key]
    return entries


def distance_in_ulp(found: np.ndarray, golden: np.ndarray) -> float:
    """Return the largest difference in units in the last place of the largest entry."""
    if found.shape != golden.shape:
        return np.inf
    largest = float(np.max(np.abs(golden), initial=0.0))
    difference = float(np.max(np.abs(found - golden), initial=0.0))
    return difference / np.spacing(largest) if largest else (np.inf if difference else 0.0)


def difference(found: Entry, golden: Entry) -> str:
    """Return what differs, or nothing."""
    if found.keys() != golden.keys() or "refused" in golden:
        words = [str(entry.get("refused", entry.get("status", "values"))) for entry in (golden, found)]
        return "" if found == golden else " -> ".join(words)
    if "values" in golden:
        ulp = distance_in_ulp(found["values"], golden["values"])
        return f"{ulp:.3g} units in the last place" if ulp else ""
    if found["hashes"] == golden["hashes"] and found["counts"] == golden["counts"]:
        return "" if found["status"] == golden["status"] else f"{golden['status']} -> {found['status']}"
    parts = [name for name in golden["hashes"] if found["hashes"][name] != golden["hashes"][name]]
    end = float(np.max(np.abs(found["end"] - golden["end"]))) if found["end"].shape == golden["end"].shape else np.inf
    counts = f"{golden['counts']} -> {found['counts']}" if found["counts"] != golden["counts"] else "same counts"
    status = "" if found["status"] == golden["status"] else f", {golden['status']} -> {found['status']}"
    return f"{', '.join(parts)} differ; at the end by {end:.2g}; {counts}{status}"


def compare(found: dict[str, Entry], golden: dict[str, Entry]) -> list[str]:
    lines = [
        f"{name}: {words}" for name in golden if name in found and (words := difference(found[name], golden[name]))
    ]
    return lines + [f"{name}: missing" for name in golden if name not in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="FILE")
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--only", default="", metavar="WORD", help="only entries with this in their name")
    given = parser.parse_args()
    if given.record:
        entries = record(given.only)
        save(entries, Path(given.record))
        print(f"{len(entries)} entries written to {given.record}")
        return 0
    if given.check:
        golden = {name: entry for name, entry in load(Path(given.check)).items() if given.only in name}
        found = record(given.only)
    else:
        golden, found = record(given.only or "zoo", 0), record(given.only or "zoo", 0)
    lines = compare(found, golden)
    print("\n".join(lines))
    worst = max(
        (distance_in_ulp(found[k]["values"], e["values"]) for k, e in golden.items() if "values" in e and k in found
         and "values" in found[k]), default=0.0,
    )  # fmt: skip
    print(f"{len(golden)} entries, {len(lines)} differ; evaluations by {worst:.3g} units in the last place at most")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
