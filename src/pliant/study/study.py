"""Study: one robot, parameters that are varied, figures that are kept; and its runs."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pliant import __version__
from pliant.cases.chosen_run import is_start
from pliant.console import progress_bar
from pliant.engine.arguments import as_choice, as_flag, as_index, as_whole
from pliant.engine.callbacks import heard
from pliant.engine.threads import thread_count
from pliant.errors import ModelError, PliantError, SimulationError
from pliant.files import as_path
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.result import Result
from pliant.study.base import Base, CaseOrFile, FunctionBase, RowRun, as_base, function_identity
from pliant.study.chunk import Chunk, Task, joined, run_chunk
from pliant.study.figures import StudyFigure, as_figures, resolved_figures
from pliant.study.parameters import Parameter, parameters_of
from pliant.study.places import PLACES, Place, Processes, Threads
from pliant.study.plan import MAX_ROWS, METHODS, Plan, design_size, make_plan
from pliant.study.running import Sharing, codes
from pliant.study.runs import StudyRuns
from pliant.study.store import DEFINITION, Store, check_same, read_definition, study_folder, write_definition

Rows = NDArray[np.int64]
MAX_SEED = 2**63
MAX_WORKERS = 1000  # on one machine
TRIED = 8  # rows that are looked at before a study counts as one that cannot run
BAR_SECONDS = 0.5  # before the bar is shown


class Study:
    """Many runs of one robot with other values of its parameters."""

    def __init__(
        self,
        model: Model | str | Path | Callable[..., Any],
        parameters: Mapping[str, Any],
        figures: Any = None,
        *,
        settings: Mapping[str, Any] = MappingProxyType({}),
        method: Literal["grid", "random", "sobol", "lhs", "saltelli", "morris"] | None = None,
        sample: int | None = None,
        seed: int = 0,
        trust: bool = False,
    ) -> None:
        """model: a case, a file, a Model, or a function of the parameters that makes a Model or a Result. parameters:
        keys and what they are varied over: "0:5:50", "log:1e3:1e6:20", "normal:1:0.1", or a list of values. Keys are
        settings of the case, parameters and keys of the file ("joints.elbow.damping"), options of the run ("rtol",
        "integrator"), starts ("elbow.start", "elbow.rate.start"); of a function its arguments, and starts.

        figures: names as "max(tip.x)", "settling(tip.x)", "tip.x@0.5", figures of the case, functions of a Result, or a
        mapping of labels to these; left out: those of the case, or outputs at the end. settings: keys with one value
        for all rows. method: "grid", all combinations; with sample=N "random", "sobol" or "lhs" (Latin hypercube), or,
        for sensitivities, "saltelli" or "morris". seed: of the random ones; rows depend on nothing else."""
        if not isinstance(settings, Mapping) or any(not isinstance(key, str) for key in settings):
            raise ModelError(f"settings: {quoted(settings)} found; give a dict of keys and values")
        self.parameters = parameters_of(parameters)
        chosen = as_choice(method, METHODS, "method") if method is not None else None
        count = as_whole(sample, "sample") if sample is not None else None
        if count is not None and count > MAX_ROWS:
            raise ModelError(f"sample: {quoted(sample)} found; give at most {MAX_ROWS}")
        self.seed = as_whole(seed, "seed", 0)
        if self.seed >= MAX_SEED:
            raise ModelError(f"seed: {quoted(seed)} found; give a whole number below 2^63")
        self.base: Base = as_base(model, dict(settings), as_flag(trust, "trust"))
        both = [each.name for each in self.parameters if each.name in settings]
        if both:
            raise ModelError(f"{both[0]} is both set and varied; do one of them")
        if isinstance(self.base, FunctionBase):
            self.base.check_arguments([each.name for each in self.parameters if not is_start(each.name)])
        self.plan: Plan = make_plan(self.parameters, chosen, count, self.seed)
        self._given = as_figures(figures)
        self._resolved: tuple[StudyFigure, ...] | None = None

    def __len__(self) -> int:
        return self.plan.count

    def __repr__(self) -> str:
        names = listed((each.name for each in self.parameters), 6)
        return f"<Study of {self.base.name!r}: {len(self)} rows ({self.plan.method}) over {names}>"

    # --- rows -------------------------------------------------------------------------------------------------------

    def row(self, i: int) -> dict[str, Any]:
        """The values of the parameters in row i."""
        return self.plan.row(as_index(i, len(self), "i"))

    def result(self, i: int) -> Result:
        """The whole Result of row i, by running it (again)."""
        return self.base.run(self.row(i)).simulated()

    def command(self, i: int) -> str:
        """The line of the command line, or of Python, that makes row i again."""
        return self.base.command(self.row(i))

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def figures(self) -> tuple[StudyFigure, ...]:
        """What is kept of every row, as far as it is known before a run."""
        if self._resolved is None:
            self._resolved = resolved_figures(self._given, self._first_run()[1])
        return self._resolved

    def _first_run(self) -> tuple[int, RowRun]:
        """The first row whose run can be built; a study in which none of a few can has a mistake."""
        first: Exception | None = None
        for row in dict.fromkeys(np.linspace(0, len(self) - 1, TRIED).astype(int).tolist()):
            try:
                return row, self.base.run(self.plan.row(row))
            except PliantError as error:
                first = first or error
        assert first is not None
        words = str(first)
        for each in self.parameters:  # a key that is varied was not given by --set
            words = words.replace(f"--set {each.name}:", f"--vary {each.name}:")
        raise type(first)(words) from None

    @property
    def definition(self) -> dict[str, Any]:
        """What tells this study from another, as study.json has it."""
        given = self._given and {
            label: function_identity(each) if callable(each) else each for label, each in self._given.items()
        }
        return {
            "base": self.base.identity(),
            "parameters": [each.table for each in self.parameters],
            "method": self.plan.method,
            "rows": len(self),
            "seed": self.seed,
            "figures": given,
            "pliant": __version__,
        }

    # --- running ----------------------------------------------------------------------------------------------------

    def run(
        self,
        out: str | Path | None = None,
        *,
        resume: bool = False,
        on: Literal["threads", "processes", "dask"] = "threads",
        workers: int | None = None,
        scheduler: str | None = None,
        progress: Callable[[int, int], None] | bool | None = None,
    ) -> StudyRuns:
        """Run all rows; rows that fail keep their reason.

        out: a folder to which finished rows are written as they come; resume=True goes on with one that was stopped,
        however it was. on: "threads", "processes" (for models and figures that are much Python) or "dask": a cluster
        on this machine, or that of the scheduler at an address. Results do not depend on any of it. progress: a bar on
        a terminal (False: none), or a function that is called as progress(done, rows). Ctrl-C gives back what is
        done."""
        reported = None if isinstance(progress, bool) else heard(progress)
        folder, stored, count = self.check(out, resume, on, workers, scheduler)
        first, _ = self._first_run()
        labels = None if stored is None else [each["label"] for each in stored["figures"]]
        task, pilot = self._pilot(first, labels)
        pilots = [pilot]
        if folder is None:
            return self._run(task, on, count, scheduler, reported, progress, None, np.zeros(len(self), bool), pilots)
        study_folder(folder)
        store = self._store(folder, task.figures)
        with store.locked():
            again = read_definition(folder)
            if again is None:
                self._write_definition(folder, task.figures)
            else:
                check_same(folder, again, self.definition)
            has = store.begin(len(self), lambda rows: codes(self.plan, rows))
            return self._run(task, on, count, scheduler, reported, progress, store, has, pilots)

    def check(
        self, out: Any, resume: Any, on: Any, workers: Any, scheduler: Any
    ) -> tuple[Path | None, dict[str, Any] | None, int]:
        """Everything that can be refused before anything is compiled or written. The folder, what it has of this study,
        and the number of workers."""
        place = as_choice(on, PLACES, "on")
        count = thread_count(None)
        if workers is not None:
            count = as_whole(workers, "workers", advice=", or None for all cores")
            if count > MAX_WORKERS:
                raise ModelError(f"workers: {quoted(workers)} found; give at most {MAX_WORKERS}, or None for all cores")
        is_resumed = as_flag(resume, "resume")
        if scheduler is not None and (place != "dask" or not isinstance(scheduler, str)):
            raise ModelError(f'scheduler: {quoted(scheduler)} found; it is an address, and goes with on="dask"')
        folder = None if out is None else as_path(out, "out")
        if is_resumed and folder is None:
            raise ModelError("resume=True: nothing says where the study is; give out, its folder")
        if place == "dask":
            from pliant.study.cluster import check_scheduler, load_dask

            load_dask()
            if scheduler is not None:
                check_scheduler(scheduler)
        stored = self._stored(folder, is_resumed)
        if self.figures and folder is not None:
            study_folder(folder, is_made=False)
        return folder, stored, count

    def _stored(self, folder: Path | None, is_resumed: bool) -> dict[str, Any] | None:
        """What the folder has of this study, or a message; nothing is changed there."""
        stored = None if folder is None else read_definition(folder)
        if folder is None or stored is None:
            if is_resumed:
                raise ModelError(
                    f"--resume: {folder} has no study (study.json); leave --resume out, or name its folder"
                )
            return None
        check_same(folder, stored, self.definition)
        if not is_resumed:
            raise ModelError(
                f"--out {folder}: it holds rows of this study; give --resume (resume=True) to go on, or another folder"
            )
        return stored

    def _store(self, folder: Path, figures: tuple[StudyFigure, ...]) -> Store:
        names = tuple(each.name for each in self.parameters)
        return Store(folder, names, tuple(each.label for each in figures), tuple(each.unit for each in figures))

    def _write_definition(self, folder: Path, figures: tuple[StudyFigure, ...]) -> None:
        rows = [{"label": each.label, "unit": each.unit} for each in figures]
        write_definition(folder, self.definition, self.base.name, rows)

    def _pilot(self, first: int, labels: list[str] | None) -> tuple[Task, Chunk]:
        """One row, run here: it compiles what is needed, and shows which figures runs have. labels: known from before.

        A figure of a case that no run yields is a mistake; one that nobody asked for is left out."""
        task = Task(self.base, self.figures)
        rows = np.array([first])
        pilot = run_chunk(task, rows, self.plan.values(rows))
        own = [k for k, each in enumerate(self.figures) if each.is_of_case]
        missing = {k for k in own if np.isnan(pilot.figures[0, k])} if pilot.figures.size and not pilot.notes else set()
        if missing and self._given is not None and labels is None:
            names = listed([self.figures[k].label for k in missing])
            raise ModelError(f"figures: {names}: the case has no such figure with these settings; ask for others")
        kept = [
            k
            for k, each in enumerate(self.figures)
            if (each.label in labels if labels is not None else k not in missing)
        ]
        chosen = tuple(self.figures[k] for k in kept)
        return Task(self.base, chosen), Chunk(rows, pilot.figures[:, kept], pilot.status, pilot.notes, pilot.seconds)

    def _run(
        self,
        task: Task,
        on: str,
        workers: int,
        scheduler: str | None,
        reported: Callable[[int, int], None] | None,
        progress: Any,
        store: Store | None,
        has: NDArray[np.bool_],
        pilots: list[Chunk],
    ) -> StudyRuns:
        """What is not there yet, in its place."""
        kept: list[Chunk] = []

        def sink(chunks: list[Chunk]) -> None:
            if store is None:
                kept.extend(chunks)
            else:
                whole = joined(chunks, len(task.figures))
                store.add(whole, codes(self.plan, whole.rows))

        try:
            pilots = [pilot for pilot in pilots if len(pilot) and not has[pilot.rows[0]]]
            for pilot in pilots:
                sink([pilot])
                has[pilot.rows] = True
            before, pending = int(np.count_nonzero(has)), np.flatnonzero(~has)
            if len(pending):
                with (
                    _shown(self.base.name, progress, reported) as report,
                    _place(on, task, workers, scheduler) as place,
                ):

                    def said(done: int, of: int, failed: int) -> None:
                        report(before + done, before + of, done, failed)

                    Sharing(self.plan, place, pending, len(task.figures), sink, said).run()
        except KeyboardInterrupt:
            pass  # what is done is given back
        except SimulationError as error:
            if store is None:
                raise
            raise SimulationError(f"{error}; rows that were written are kept: go on with --resume") from None
        return self._found(task, store, kept)

    def _found(self, task: Task, store: Store | None, kept: list[Chunk]) -> StudyRuns:
        if store is not None:
            stored = store.read()
            if len(stored.chunk) == len(self):
                store.finish()
            chunk, values = stored.chunk, stored.parameters
        else:
            chunk = joined(kept, len(task.figures))
            order = np.argsort(chunk.rows, kind="stable")
            chunk = Chunk(chunk.rows[order], chunk.figures[order], chunk.status[order], chunk.notes)
            values = codes(self.plan, chunk.rows) if len(chunk) else np.zeros((0, len(self.parameters)))
        return StudyRuns.of(self, task.figures, chunk, values, None if store is None else store.folder)


@contextmanager
def _place(on: str, task: Task, workers: int, scheduler: str | None) -> Iterator[Place]:
    if on == "dask":
        from pliant.study.cluster import Cluster

        made: Place = Cluster(task, workers, scheduler)
    else:
        made = Processes(task, workers) if on == "processes" else Threads(task, workers)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def _shown(
    name: str, progress: Any, reported: Callable[[int, int], None] | None
) -> Iterator[Callable[[int, int, int, int], None]]:
    """What is called while rows are run: the user's function, or a bar where somebody looks."""
    is_shown = reported is None and progress is not False and sys.stderr.isatty()
    begun = time.perf_counter()
    with progress_bar(name, is_shown, "{:.0f} of {:.0f} runs") if is_shown else nullcontext() as bar:

        def report(done: int, rows: int, new: int, failed: int) -> None:
            if reported is not None:
                reported(done, rows)
            spent = time.perf_counter() - begun
            if bar is not None and spent > BAR_SECONDS:
                bar(done, rows, f", {new / spent:.3g} a second" + (f", {failed} failed" if failed else ""))

        yield report


def study_of(stored: dict[str, Any], trust: bool) -> Study | None:
    """The study that a study.json describes; None if it is a Python model or function, or has Python figures.

    trust: whether this call lets the controllers of its file run."""
    study = stored["study"]
    base, figures = study["base"], study["figures"]
    place = base.get("case") or base.get("file")
    if place is None or any(not isinstance(each, str) for each in (figures or {}).values()):
        return None
    is_grid = study["method"] == "grid"
    return Study(
        place,
        {each["name"]: each["range"] for each in study["parameters"]},
        figures,
        settings=base["settings"],
        method=study["method"],
        sample=None if is_grid else study["rows"] // design_size(study["method"], len(study["parameters"])),
        seed=study["seed"],
        trust=trust,
    )


def load_study(folder: str | Path, *, trust: bool = False) -> StudyRuns:
    """The rows of a study that were written to a folder, finished or not. trust: let the controllers of its file run
    where a row is run again; what the folder says does not count."""
    place, may_run = as_path(folder, "folder"), as_flag(trust, "trust")
    stored = read_definition(place)
    if stored is None:
        raise ModelError(f"{quoted(str(place))}: there is no study (study.json); give the folder of one")
    study = stored["study"]
    parameters = parameters_of({each["name"]: each["range"] for each in study["parameters"]})
    if not _has_rows(study, parameters):
        raise ModelError(
            f"{place / DEFINITION}: {study['rows']} rows of method {quoted(study['method'])} are none that these "
            "parameters have; restore it"
        )
    figures = tuple(StudyFigure(each["label"], each["unit"]) for each in stored["figures"])
    names = tuple(each.name for each in parameters)
    store = Store(place, names, tuple(each.label for each in figures), tuple(each.unit for each in figures))
    found = store.read()
    values = zip(parameters, found.parameters.T, strict=True)
    if not np.all((found.chunk.rows >= 0) & (found.chunk.rows < study["rows"])) or not all(
        each.has_codes(column) for each, column in values
    ):
        raise ModelError(f"{place}: its rows are not those of this study; restore study.json, or run it anew")
    where = study["base"].get("case") or study["base"].get("file")
    maker = CaseOrFile(where, study["base"]["settings"], may_run) if where else None
    return StudyRuns(
        stored["name"], parameters, figures, found.chunk, found.parameters, study["rows"], study["method"],
        study["seed"], place, maker, tuple(store.damaged),
    )  # fmt: skip


def _has_rows(study: dict[str, Any], parameters: tuple[Parameter, ...]) -> bool:
    """Return True if a study by this method can have so many rows, and such a seed."""
    rows, method = study["rows"], study["method"]
    if method not in METHODS or not (1 <= rows <= MAX_ROWS and 0 <= study["seed"] < MAX_SEED):
        return False
    if method == "grid":
        return bool(rows == math.prod(len(each.grid()) for each in parameters))
    return bool(rows % design_size(method, len(parameters)) == 0)
