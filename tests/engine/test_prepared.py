"""Prepared handles: whatever arrays they are given, kernels see float64 of the right shape, or nothing at all."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import Body, Controller, Joint, Model, ModelError, Prepared, PreparedRun, SimulationError
from zoo import ZOO

MODEL = ZOO["double_pendulum"]
Q, V, X = np.array([0.3, -0.7]), np.array([1.5, -0.4]), np.array([0.2, 0.9])


@pytest.fixture(params=[False, True], ids=["checked", "unchecked"])
def handle(request: pytest.FixtureRequest) -> Prepared:
    return pliant.prepare(MODEL, unchecked=request.param)


@pytest.fixture
def checked() -> Prepared:
    return pliant.prepare(MODEL)


CALLS: dict[str, Callable[[Prepared, Any, Any, Any], Any]] = {
    "forward": lambda handle, q, v, x: handle.forward_dynamics(q, v, x),
    "inverse": lambda handle, q, v, x: handle.inverse_dynamics(q, v, x),
    "reactions": lambda handle, q, v, x: handle.reactions(q, v, x),
    "equations": lambda handle, q, v, x: np.column_stack(handle.equations(q, v)),
    "mass matrix": lambda handle, q, v, x: handle.mass_matrix(q),
    "energy": lambda handle, q, v, x: np.array(handle.energy(q, v).total),
    "momentum": lambda handle, q, v, x: handle.momentum(q, v).angular,
    "energies": lambda handle, q, v, x: handle.energies(np.array([q]), np.array([v]))["kinetic"],
    "placements": lambda handle, q, v, x: handle.placements(np.array([q]))[1],
}


@pytest.mark.parametrize("call", CALLS)
def test_unchecked_handles_give_the_bits_of_checked_ones(call: str) -> None:
    found = [CALLS[call](pliant.prepare(MODEL, unchecked=unchecked), Q, V, X) for unchecked in (False, True)]
    assert np.array_equal(*found)


def padded(x: np.ndarray) -> np.ndarray:
    return np.repeat(x, 3)[::3]


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.setflags(write=False)
    return x


def unaligned(x: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"x" + x.tobytes(), np.float64, len(x), 1)


# the same numbers in other clothes
SAME = {
    "list": lambda x: x.tolist(),
    "tuple": tuple,
    "strided": padded,
    "backwards": lambda x: x[::-1].copy()[::-1],
    "column of Fortran order": lambda x: np.asfortranarray(np.stack([x, x]))[0],
    "read-only": read_only,
    "unaligned": unaligned,
    "big-endian": lambda x: x.astype(">f8"),
    "long double": lambda x: x.astype(np.longdouble),
    "objects": lambda x: x.astype(object),
    "subclass": lambda x: x.view(type("Mine", (np.ndarray,), {})),
    "unmasked": lambda x: np.ma.array(x),
}


@pytest.mark.parametrize("clothes", SAME)
@pytest.mark.parametrize("call", CALLS)
def test_the_same_numbers_give_the_same_bits_however_they_lie_in_memory(
    call: str, clothes: str, checked: Prepared
) -> None:
    wanted = CALLS[call](checked, Q, V, X)
    for place in range(3):
        given: list[Any] = [Q, V, X]
        given[place] = SAME[clothes](given[place])
        assert np.array_equal(CALLS[call](checked, *given), wanted)


def test_whole_numbers_and_single_precision_are_converted_not_reinterpreted(checked: Prepared) -> None:
    for kind in (np.int64, np.int8, np.uint32, np.float32, np.float16):
        q, v = np.array([1, 2], kind), np.array([3, 4], kind)
        assert np.array_equal(checked.forward_dynamics(q, v), checked.forward_dynamics(1.0 * q, 1.0 * v))


WRONG = {
    "short": np.zeros(1),
    "long": np.zeros(3),
    "empty": np.zeros(0),
    "0-d": np.array(1.0),
    "rows": np.zeros((1, 2)),
    "number": 1.0,
    "None": None,
    "complex": np.zeros(2, complex),
    "masked": np.ma.array([1.0, 2.0], mask=[True, False]),
    "texts": ["1", "2"],
    "truth": np.zeros(2, bool),
    "dates": np.zeros(2, "M8[s]"),
    "records": np.zeros(2, "f8,f8"),
    "objects": np.array([None, object()]),
    "nan in a list": [np.nan, 0.0],
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("call", ["forward", "inverse", "reactions", "equations", "energy", "momentum"])
def test_what_is_no_state_is_refused_by_name(call: str, what: str, checked: Prepared) -> None:
    places = ["q", "v", {"forward": "tau", "reactions": "tau", "inverse": "vdot"}.get(call)]
    for place, name in enumerate(places):
        # tau may be left out
        if name is None or (name == "tau" and what in ("empty", "None")):
            continue
        given: list[Any] = [Q, V, X]
        given[place] = WRONG[what]
        with pytest.raises(ModelError, match=f"^{name}: "):
            CALLS[call](checked, *given)


@pytest.mark.parametrize("t", [np.nan, np.inf, -np.inf, None, "now", 1j, True, [0.0], np.zeros(1), 1e300])
def test_what_is_no_time_is_refused(t: Any, checked: Prepared) -> None:
    if isinstance(t, float) and np.isfinite(t):
        assert np.all(np.isfinite(checked.forward_dynamics(Q, V, t=t)))  # late, but a time
        return
    for call in (checked.forward_dynamics, checked.inverse_dynamics, checked.reactions):
        with pytest.raises(ModelError, match="is no time"):
            call(Q, V, X, t)


OUTS = {
    "short": np.zeros(1),
    "long": np.zeros(3),
    "rows": np.zeros((1, 2)),
    "0-d": np.array(0.0),
    "whole numbers": np.zeros(2, np.int64),
    "single precision": np.zeros(2, np.float32),
    "big-endian": np.zeros(2, ">f8"),
    "read-only": read_only(np.zeros(2)),
    "masked": np.ma.array(np.zeros(2), mask=[True, False]),
    "list": [0.0, 0.0],
    "objects": np.zeros(2, object),
}


@pytest.mark.parametrize("what", OUTS)
def test_answers_are_not_written_where_they_do_not_fit(what: str, checked: Prepared) -> None:
    for call in (checked.forward_dynamics, checked.inverse_dynamics):
        with pytest.raises(ModelError, match=r"^out: .* found; give a writable array of float64 of shape \(2,\)"):
            call(Q, V, X, 0.0, OUTS[what])
    with pytest.raises(ModelError, match=r"^out: .* of shape \(2, 2\)"):
        checked.mass_matrix(Q, OUTS[what])


def test_answers_may_be_written_over_what_was_read(checked: Prepared) -> None:
    """Any overlap of out with the arguments: the same numbers as without."""
    wanted = checked.forward_dynamics(Q, V, X), checked.inverse_dynamics(Q, V, X)
    for call, right in zip((checked.forward_dynamics, checked.inverse_dynamics), wanted, strict=True):
        for place in range(3):
            given = [Q.copy(), V.copy(), X.copy()]
            assert call(*given, 0.0, given[place]) is given[place]
            assert np.array_equal(given[place], right)
        for first in range(5):
            pool = np.concatenate([Q, V, X])
            call(pool[:2], pool[2:4], pool[4:], 0.0, pool[first : first + 2])
            assert np.array_equal(pool[first : first + 2], right)
    # views, of another array, of out, and of what only points to out
    rows = np.array([Q, V, X])
    for call, right in zip((checked.forward_dynamics, checked.inverse_dynamics), wanted, strict=True):
        assert np.array_equal(call(*rows, out=np.empty(2)), right)
        for place in range(3):
            for view_of in (lambda array: array[:], lambda array: np.frombuffer(array.data)[:2]):
                given, out = [Q, V, X], [Q, V, X][place].copy()
                given[place] = view_of(out)
                assert np.array_equal(call(*given, out=out), right)
    pool = np.zeros(5)
    checked.forward_dynamics(Q, V, X, out=pool[::3])
    assert np.array_equal(pool[::3], wanted[0])
    assert not pool[1:3].any()


def test_answers_go_to_out_itself(handle: Prepared) -> None:
    out, M = np.empty(2), np.empty((2, 2))
    assert handle.forward_dynamics(Q, V, X, 0.0, out) is out
    assert np.array_equal(out, handle.forward_dynamics(Q, V, X))
    assert handle.inverse_dynamics(Q, V, X, 0.0, out) is out
    assert handle.mass_matrix(Q, M) is M
    assert np.array_equal(M, handle.mass_matrix(Q))


def test_rows_must_be_rows_of_states(checked: Prepared) -> None:
    rows = np.zeros((4, 2))
    for wrong in (rows[:, :1], rows[0], np.zeros((4, 3)), np.zeros((0, 3)), "x", None, rows[None]):
        for call in (checked.mass_centres, checked.placements, lambda q: checked.energies(q, rows)):
            with pytest.raises(ModelError, match=r"^q: "):
                call(wrong)
    with pytest.raises(ModelError, match=r"^v: shape \(3, 2\) found, \(4, 2\) expected"):
        checked.energies(rows, rows[:3])
    with pytest.raises(ModelError, match="no frame"):
        checked.placements(rows, ["nobody"])
    assert np.array_equal(checked.mass_centres(rows[::2]), checked.mass_centres(rows)[::2])


def test_no_state_at_all_is_refused_by_the_calls_too() -> None:
    """A q of None would be an array without entries, which kernels read beyond."""
    for call in (pliant.mass_matrix, lambda model, q: pliant.energy(model, q, V)):
        with pytest.raises(ModelError, match=r"^q: None"):
            call(MODEL, None)
    with pytest.raises(ModelError, match=r"^v: None"):
        pliant.forward_dynamics(MODEL, Q, None)
    with pytest.raises(ModelError, match=r"^vdot: None"):
        pliant.inverse_dynamics(MODEL, Q, V, None)


def test_threads_that_share_a_handle_take_turns() -> None:
    """Also with calls of the model on the same thread's tables; without turns they mix up each other's scratch."""
    n = 80
    bodies = [Body(f"b{i}", 1.0, com=(0.5, 0, 0), inertia=(1, 1, 1)) for i in range(n)]
    joint_frames = ["world", *(pliant.Frame(f"b{i}", (1.0, 0, 0)) for i in range(n - 1))]
    joints = [Joint(f"j{i}", "revolute", f"b{i}", joint_frames[i], axis=(0, i % 2, 1)) for i in range(n)]
    model = Model("chain", bodies, joints)
    handle, rng = pliant.prepare(model), np.random.default_rng(0)
    states = [(model.q0 + 0.1 * rng.normal(size=n), rng.normal(size=n)) for _ in range(8)]
    wanted = [handle.forward_dynamics(*state) for state in states]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(300):
            if not np.array_equal(handle.forward_dynamics(*states[k]), wanted[k]):
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(len(states))]
    for worker in workers:
        worker.start()
    for _ in range(100):
        assert np.array_equal(pliant.forward_dynamics(model, *states[0]), wanted[0])
    for worker in workers:
        worker.join()
    assert wrong == []


def test_a_handle_outlives_the_model_and_other_handles() -> None:
    wanted = pliant.prepare(MODEL).forward_dynamics(Q, V)
    model = Model(MODEL.name, MODEL.bodies, MODEL.joints, gravity=MODEL.gravity)
    handle = pliant.prepare(model)
    other = handle.copy()
    del model, handle
    assert np.array_equal(other.forward_dynamics(Q, V), wanted)


def test_copies_of_handles_are_handles_of_their_own() -> None:
    """Also sent to another process, where the addresses of this one mean nothing."""
    for remade in (copy.deepcopy, lambda handle: pickle.loads(pickle.dumps(handle))):
        handle, run = Prepared(MODEL, "gibbs_appell", unchecked=True), pliant.prepare_run(MODEL, 0.05, rtol=1e-5)
        wanted, end = handle.forward_dynamics(Q, V), run.end(Q, V)
        others = remade(handle), remade(run)
        assert others[0].method == handle.method
        assert others[0].unchecked
        del handle, run
        gc.collect()
        assert np.array_equal(others[0].forward_dynamics(Q, V), wanted)
        assert all(map(np.array_equal, others[1].end(Q, V), end))
    result = pliant.simulate(MODEL, 0.01)
    result.placements()
    assert np.array_equal(pickle.loads(pickle.dumps(result)).mass_centre(), result.mass_centre())


def test_a_model_that_was_changed_behind_its_back_is_refused() -> None:
    model = Model(MODEL.name, MODEL.bodies, MODEL.joints, gravity=MODEL.gravity)
    pliant.forward_dynamics(model, Q, V)
    model.__dict__["coordinates"] = ("one",)
    with pytest.raises(ModelError, match="was changed after it was made"):
        pliant.mass_matrix(model, [0.0])


def test_a_model_without_motion_has_a_handle_too() -> None:
    handle = pliant.prepare(Model("rock", [Body("rock", 1.0)]))
    nothing = np.zeros(0)
    assert handle.forward_dynamics(nothing, nothing).shape == nothing.shape
    assert handle.mass_matrix(nothing).shape == (0, 0)
    with pytest.raises(ModelError, match=r"^q: shape \(1,\) found, \(0,\) expected"):
        handle.forward_dynamics(np.zeros(1), nothing)


def test_tables_of_another_model_are_refused() -> None:
    with pytest.raises(ModelError, match="tables of this very model"):
        Prepared(MODEL, packed=pliant.prepare(ZOO["pendulum"]).packed)


def test_calls_leave_the_callers_arrays_alone() -> None:
    """A prescribed joint is put on its signal in a copy, also if the array is read-only."""
    body = Body("cart", 1.0, inertia=(1, 1, 1))
    model = Model("driven", [body], [Joint("slide", "prismatic", "cart", motion=pliant.Sine())])
    q, v = read_only(np.array([3.0])), read_only(np.array([4.0]))
    assert pliant.simulate(model, 0.01, q0=q, v0=v).is_ok
    assert (q[0], v[0]) == (3.0, 4.0)


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unchecked", [False, True])
def test_prepared_runs_take_starts_in_any_clothes_that_fit(unchecked: bool) -> None:
    run = pliant.prepare_run(MODEL, 0.05, unchecked=unchecked)
    wanted = run.end(Q, V)
    for given in (padded, read_only, unaligned, lambda x: x.astype(np.longdouble)):
        assert all(map(np.array_equal, run.end(given(Q), given(V)), wanted))
    assert all(map(np.array_equal, run.end(), run.end(MODEL.q0, MODEL.v0)))


@pytest.mark.parametrize("what", [key for key in WRONG if key != "None"])
def test_prepared_runs_refuse_what_is_no_start(what: str) -> None:
    run = pliant.prepare_run(MODEL, 0.05)
    for name in ("q0", "v0"):
        with pytest.raises(ModelError, match=f"^{name}: "):
            run.end(**{name: WRONG[what]})
    stop = np.zeros(1, np.int64)
    with pytest.raises(ModelError, match=r"^v0: "):
        run.sweep(np.zeros((3, 2)), np.zeros((2, 2)), stop)
    for wrong in (0, np.zeros(1), np.zeros(0, np.int64), [0]):
        with pytest.raises(ModelError, match=r"^stop: "):
            run.sweep(np.zeros((3, 2)), np.zeros((3, 2)), wrong)


def test_a_run_that_calls_itself_is_refused() -> None:
    runs: list[PreparedRun] = []
    bodies = [Body("cart", 1.0, inertia=(1, 1, 1))]
    servo = Controller("servo", 0.01, ("slide",), lambda t, measured: runs[0].end()[0])
    model = Model("inside", bodies, [Joint("slide", "prismatic", "cart")], controllers=[servo])
    runs.append(pliant.prepare_run(model, 0.05))
    with pytest.raises(SimulationError, match="this run is under way, and calls itself"):
        runs[0].end()
    with pytest.raises(SimulationError, match="under way"):
        runs[0].end()  # no more and no less than before


def test_threads_that_share_a_run_take_turns() -> None:
    run, rng = pliant.prepare_run(MODEL, 0.05), np.random.default_rng(0)
    starts = rng.normal(size=(6, 2, 2))
    wanted = [run.end(*start) for start in starts]
    found: dict[int, list[Any]] = {k: [] for k in range(len(starts))}

    def work(k: int) -> None:
        found[k] = [run.end(*starts[k]) for _ in range(30)]

    workers = [threading.Thread(target=work, args=(k,)) for k in found]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for k, ends in found.items():
        assert len(ends) == 30
        assert all(np.array_equal(q, wanted[k][0]) and np.array_equal(v, wanted[k][1]) for q, v in ends)


# --- functions of the user's ------------------------------------------------------------------------------------------


class Unheard(BaseException):
    pass


class Wordless(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Any:
    raise error


class Rude:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise SystemExit(3)

    def __repr__(self) -> str:
        raise ValueError("not for you")


class RudeTable(dict):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise Unheard("keys")

    def keys(self) -> Any:
        raise Unheard("keys")


# at 0.02 s, after two good samples
SAID: dict[str, tuple[Callable[[], Any], str]] = {
    "SystemExit": (lambda: raising(SystemExit(0)), "SystemExit: 0"),
    "GeneratorExit": (lambda: raising(GeneratorExit("enough")), "GeneratorExit: enough"),
    "BaseException": (lambda: raising(Unheard("boo")), "Unheard: boo"),
    "without words": (lambda: raising(Wordless()), "Wordless"),
    "MemoryError": (lambda: raising(MemoryError()), "MemoryError"),
    "RecursionError": (lambda: SAID["RecursionError"][0](), "RecursionError"),
    "StopIteration": (lambda: next(iter(())), "StopIteration"),
    "nothing": (lambda: None, "returned None; return 1 finite numbers"),
    "text": (lambda: "1.0", "returned '1.0'; return 1"),
    "complex": (lambda: 1j, "returned 1j; return 1"),
    "large": (lambda: 10**400, "return 1 finite"),
    "5000 digits": (lambda: [10**5000], "return 1 finite"),
    "truth": (lambda: True, "returned True; return 1"),
    "ragged": (lambda: [[1.0], [1.0, 2.0]], "return 1 finite"),
    "objects": (lambda: [object()], "return 1 finite"),
    "masked": (lambda: np.ma.array([1.0], mask=[True]), "return 1 finite"),
    "rows": (lambda: np.zeros((1, 1)), r"returned \[\[0.0\]\]; return 1"),
    "rude": (Rude, "SystemExit: 3"),
    "rude table": (lambda: RudeTable(slide=1.0), "Unheard: keys"),
    "odd keys": (lambda: {None: 1.0, 3: 2.0}, "commands for None, 3; name all of 'slide'"),
    "text in a table": (lambda: {"slide": "fast"}, "return 1 finite"),
}


def cart(law: Callable[[float, Any], Any]) -> Model:
    bodies, joints = [Body("cart", 1.0, inertia=(1, 1, 1))], [Joint("slide", "prismatic", "cart")]
    return Model("cart", bodies, joints, gravity=(0, 0, 0), controllers=[Controller("servo", 0.01, ("slide",), law)])


@pytest.mark.parametrize("what", SAID)
def test_a_controller_may_say_or_raise_anything_and_nothing_is_lost(what: str) -> None:
    say, words = SAID[what]
    result = pliant.simulate(cart(lambda t, measured: [1.0] if t < 0.019 else say()), 1.0)
    assert result.status == "failed"
    assert result.reason.startswith("at t = 0.02 s: controller 'servo' ")
    assert re.search(words, result.reason), result.reason
    assert result.t[-1] == pytest.approx(0.02)
    assert result.q[-1, 0] == pytest.approx(0.5 * 0.02**2)


def test_ctrl_c_in_a_controller_stays_an_interruption() -> None:
    result = pliant.simulate(cart(lambda t, measured: [1.0] if t < 0.019 else raising(KeyboardInterrupt())), 1.0)
    assert result.status == "interrupted"
    assert result.t[-1] == pytest.approx(0.02)


# for ever
ROD, HINGE = Body("rod", 1.0, com=(1, 0, 0)), Joint("hinge", "revolute", "rod", axis=(0, 1, 0), q0=1.0)
SWINGING = Model("swing", [ROD], [HINGE])


@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), SystemExit(0), Unheard("oh")], ids=repr)
def test_a_progress_function_that_fails_ends_the_run_with_its_reason(error: BaseException) -> None:
    result = pliant.simulate(SWINGING, 1e5, progress=lambda t, end: raising(error))
    assert (result.status, result.t[-1] > 0) == ("failed", True)
    assert result.reason.startswith("progress failed in test_prepared.py, line ")
    runs = pliant.simulate_many(SWINGING, 1e5, q0=np.tile(SWINGING.q0, (50, 1)), progress=lambda n, all: raising(error))
    assert set(runs.status) == {"interrupted"}
    assert "progress failed in test_prepared.py" in runs.reasons[-1]


def test_progress_is_told_also_between_samples() -> None:
    told: list[float] = []

    def progress(t: float, end: float) -> None:
        told.append(t)
        if len(told) > 1:
            raise KeyboardInterrupt

    result = pliant.simulate(cart(lambda t, measured: [0.0]), 1e4, progress=progress)
    assert (result.status, len(told)) == ("interrupted", 2)


def test_ctrl_c_in_a_progress_function_stays_an_interruption() -> None:
    result = pliant.simulate(SWINGING, 1e5, progress=lambda t, end: raising(KeyboardInterrupt()))
    assert result.status == "interrupted"
