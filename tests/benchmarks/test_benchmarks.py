"""The benchmarks compare like with like: every engine has the same model. No times are asserted here."""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import astuple
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from pliant.engine.prepared import Prepared
from pliant.errors import ModelError, SimulationError
from pliant.model.flexible import Bending
from pliant.simulation.simulate import simulate
from pliant_benchmarks import automatic, cables, differences, evaluations, figures, lines, models, peers, runs, stiff
from pliant_benchmarks.falling_reference import FallingChain
from pliant_benchmarks.figures import Figure

SERIALS = {"arm7": models.arm7(), "chain3": models.chain(3), "chain10": models.chain(10)}
ENGINES = (peers.EXUDYN, peers.MUJOCO, peers.PINOCCHIO, peers.NUMPY)


def need(name: str) -> Any:
    """A peer, or a skip with a reason; in CI (variable CI set) its absence is a failure."""
    if os.environ.get("CI"):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed (pip install 'pliant[peers]')")


def accelerations(serial: models.Serial) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, v = (rows[0] for rows in models.random_states(serial, 1))
    return q, v, Prepared(models.pliant_model(serial)).forward_dynamics(q, v)


# --- the same model everywhere ----------------------------------------------------------------------------------


@pytest.mark.parametrize("serial", SERIALS.values(), ids=SERIALS)
def test_pinocchio_has_the_same_accelerations(serial: models.Serial) -> None:
    pin = need("pinocchio")
    q, v, wanted = accelerations(serial)
    robot = peers.pinocchio_model(serial)
    assert evaluations.relative(pin.aba(robot, robot.createData(), q, v, np.zeros(len(v))), wanted) < 1e-9


@pytest.mark.parametrize("serial", SERIALS.values(), ids=SERIALS)
def test_mujoco_has_the_same_accelerations(serial: models.Serial) -> None:
    mujoco = need("mujoco")
    q, v, wanted = accelerations(serial)
    robot = peers.mujoco_model(serial)
    data = mujoco.MjData(robot)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(robot, data)
    assert evaluations.relative(data.qacc, wanted) < 1e-9


@pytest.mark.parametrize("n", [1, 3, 10])
def test_numpy_chain_has_the_same_accelerations(n: int) -> None:
    q, v, wanted = accelerations(models.chain(n))
    found = peers.numpy_chain(models.chain(n))(0.0, np.concatenate([np.cumsum(q), np.cumsum(v)]))
    assert np.array_equal(found[:n], np.cumsum(v))
    assert evaluations.relative(np.diff(found[n:], prepend=0.0), wanted) < 1e-9


def test_pinocchio_has_the_same_spherical_chain() -> None:
    """Inverse dynamics, for pinocchio.aba itself loses digits on spherical chains."""
    pin = need("pinocchio")
    serial = models.ball_chain(20)
    q, v, vdot = accelerations(serial)
    robot = peers.pinocchio_model(serial)
    terms = pin.rnea(robot, robot.createData(), q, v, np.zeros(len(v)))
    assert np.max(np.abs(pin.rnea(robot, robot.createData(), q, v, vdot))) < 1e-9 * np.max(np.abs(terms))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_every_engine_reaches_the_same_end(engine: peers.Engine) -> None:
    for name in engine.modules:
        need(name)
    serial = models.chain(3)
    wanted = peers.PLIANT.prepare(serial)(peers.Setting("dop853", 1e-13, 1e-13))()
    for sweep in engine.sweeps:
        tight = next((setting for setting in sweep if setting.steps >= 2000), sweep[-1])
        ready = engine.prepare(serial)(tight)
        assert np.max(np.abs(ready() - wanted)) < 1e-9
        assert np.array_equal(ready(), ready()), "a run changes its start"


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(stiff.CYRK_STIFF, id=stiff.CYRK_STIFF.name, marks=pytest.mark.long),  # compiles a peer
        pytest.param(stiff.SCIPY_STIFF, id=stiff.SCIPY_STIFF.name),
    ],
)
def test_every_stiff_engine_reaches_the_same_end(engine: peers.Engine) -> None:
    """Within the 1e-6 of the line."""
    for name in engine.modules:
        need(name)
    serial = stiff.stiff12()
    wanted = stiff.PLIANT_STIFF.prepare(serial)(peers.Setting("radau", 1e-10, 1e-12))()
    ready = engine.prepare(serial)(next(row for row in engine.sweeps[0] if row.rtol <= 1e-8))
    assert np.max(np.abs(ready() - wanted)) < 1e-6


def test_the_batch_line_compares_equal_accelerations() -> None:
    serial = models.ball_chain(20)
    q, v = models.random_states(serial, 9)
    evaluate, handle = evaluations.compiled_loop(serial, q, v)
    wanted = evaluate(2).copy()
    assert evaluations.relative(evaluations._spherical_batch(handle, q, v)(), wanted) < 1e-10
    assert evaluations.relative(handle.forward_dynamics(q[3], v[3]), wanted[3]) == 0.0


def test_the_line_of_differences_has_every_engine_and_finds_them_equal() -> None:
    """Accelerations to rounding times the condition of ten links, ends of runs to what the tightest settings give."""
    for name in peers.PACKAGES:
        if name != "CyRK":
            need(name)
    found = differences.differences(lambda text: None)
    assert len(found) == 2 * 3 + 4 * 2
    for figure in found:
        assert figure.error is not None
        assert figure.error < (1e-9 if "accelerations" in figure.who else 1e-8), figure


# --- contact and bending ----------------------------------------------------------------------------------------


def test_scipy_bounces_like_pliant() -> None:
    """Tighter than the 1e-5 of the line; both meet the floor twice."""
    serial = models.chain(3)
    wanted = runs.PLIANT_BOUNCE.prepare(serial)(peers.Setting("dop853", 1e-12, 1e-12))()
    ready = runs.SCIPY_BOUNCE.prepare(serial)(peers.Setting("RK45", 1e-10, 1e-12))
    assert np.max(np.abs(ready() - wanted)) < 1e-6
    assert np.array_equal(ready(), ready()), "a run changes its start"
    found = simulate(models.bounce(serial), runs.FALL)
    assert found.stats["events"] == 4
    # far from where a chain without a floor would be
    free = peers.PLIANT.prepare(serial)(peers.Setting("dop853", 1e-10, 1e-10))()
    assert np.max(np.abs(found.at(peers.DURATION)[0] - free)) > 0.1


def test_the_law_of_the_bouncing_chain() -> None:
    """F = 1e6 d^1.5 (1 + .2 d') at the tip, by the change it makes to the accelerations."""
    serial, q, v = models.chain(3), np.array([-1.0, -0.3, -0.02]), np.array([0.1, -0.2, 0.3])
    a, w = np.cumsum(q), np.cumsum(v)
    depth, rate = models.FLOOR - np.sum(np.sin(a)), -np.sum(np.cos(a) * w)
    assert depth > 0
    J = np.array([np.sum(np.cos(a[i:])) for i in range(3)])  # of the height
    handle = Prepared(models.pliant_model(serial))
    with_floor = Prepared(models.bounce(serial)).forward_dynamics(q, v)
    push = handle.mass_matrix(q) @ (with_floor - handle.forward_dynamics(q, v))
    assert push == pytest.approx(1e6 * depth**1.5 * (1 + 0.2 * rate) * J, rel=1e-9)


def test_right_hand_side_of_the_falling_chain_is_that_of_the_reference() -> None:
    model, reference = models.falling_chain(), FallingChain("ss-ss-ss")
    for state, touching in ((models.small_state(model), []), (models.landing_state(model), [0, 3])):
        evaluate, handle = evaluations.right_hand_side(model, *state)
        found, y = evaluate(3)[: 2 * reference.m], np.concatenate(state)
        assert [k for k in range(4) if reference.height(k, y) < 0] == touching
        assert handle.work.run[0].n_touching == len(touching)
        reference.speed_in = {k: -reference.velocity(k, y)[1] for k in touching}
        assert evaluations.relative(found, reference.rates(0.0, y)) < 1e-9


def test_scipy_and_pliant_find_the_same_instants() -> None:
    """Until the second touchdown, within the error of the line."""
    setting = peers.Setting("DOP853", 1e-10, 1e-12)
    wanted = runs._pliant_instants("ss-ss-ss", peers.Setting("dop853", 1e-11, 1e-13))
    found = runs.early(np.array([t for _, t in FallingChain("ss-ss-ss").contact_starts(0.56, *astuple(setting)[1:3])]))
    assert len(wanted) == 16
    assert np.max(np.abs(found - wanted[: len(found)])) < runs.INSTANT_ERROR


def test_flexible_chain_has_what_its_line_says() -> None:
    model = models.flexible_chain(4, 3)
    assert len(model.velocities) == 4 * (1 + 3)


@pytest.fixture(scope="module")
def clamped_tip() -> np.ndarray:
    """Half as fine as in the bench."""
    need("exudyn")
    return cables.fine(models.Cables(), "clamped", steps=30000)


def test_pliant_and_exudyn_move_the_flexible_links_alike(clamped_tip: np.ndarray) -> None:
    """In free fall to what 2 modes and 8 elements leave, then to the error of the line: Exudyn's step of 50 us shifts
    contacts by so much."""
    found = runs._pliant_tip(models.Cables(), peers.Setting("dop853", 1e-8, 1e-10))
    error = np.linalg.norm(found - clamped_tip, axis=1)
    assert np.max(error[cables.GRID < 0.47]) < 1e-5
    assert np.max(error) < runs.TIP_ERROR
    one = simulate(models.cables_model(models.Cables(), Bending(1, "ss")), cables.DURATION)
    assert np.max(np.abs(one.outputs_at(cables.GRID)["tip"][:, :2] - clamped_tip)) > runs.TIP_ERROR


def test_a_floor_that_pulls_is_another_problem(clamped_tip: np.ndarray) -> None:
    """Why each engine is compared with a fine run of its own law. Steps of .2 ms shift contacts, by how much depends on
    rounding: 6e-4 m and 3e-3 m were seen."""
    native = cables.fine(models.Cables(), "native", steps=60000)
    assert np.max(np.abs(native - clamped_tip)) > 10 * runs.TIP_ERROR
    ready = cables.prepare(models.Cables())(cables.STATED)
    assert np.max(np.abs(ready() - native)) < 5 * runs.TIP_ERROR
    assert np.array_equal(ready(), ready()), "a run changes its start"


# --- sweeps, lines, files ---------------------------------------------------------------------------------------


def test_sweeps_go_from_loose_to_tight() -> None:
    others = (runs.PLIANT_BOUNCE, runs.SCIPY_BOUNCE, runs.PLIANT_FALLING, runs.SCIPY_FALLING, runs.EXUDYN_CABLES)
    for engine in (peers.PLIANT, *ENGINES, *others):
        for sweep in engine.sweeps:
            assert len({setting.scheme for setting in sweep}) == 1
            sizes = [setting.rtol if setting.rtol else 1.0 / setting.steps for setting in sweep]
            assert all(b < a for a, b in pairwise(sizes))


def test_the_first_setting_within_the_error_is_taken_and_the_cheapest_scheme() -> None:
    table = {"slow": [1.0, 1e-3, 1e-9], "quick": [1.0, 1e-3, 1e-9], "bad": [1.0, np.nan, 1.0]}
    sweeps = tuple(tuple(peers.Setting(name, steps=i + 1) for i in range(3)) for name in table)
    runs = {
        setting: (lambda error=table[setting.scheme][setting.steps - 1]: np.array([error]))
        for sweep in sweeps
        for setting in sweep
    }
    engine = peers.Engine("toy", (), sweeps, lambda serial: runs.__getitem__)
    names = {run: setting.scheme for setting, run in runs.items()}
    found = peers.within(engine, models.chain(1), np.zeros(1), 1e-2, lambda run: 1.0 if names[run] == "quick" else 2.0)
    assert found is not None
    assert (found.setting, found.error) == (peers.Setting("quick", steps=2), 1e-3)
    assert peers.within(engine, models.chain(1), np.zeros(1), 1e-12, lambda run: 1.0) is None


# --- auto at equal error ------------------------------------------------------------------------------------------


def curve(cost: float, order: float) -> automatic.Curve:
    """Errors as tolerances, and seconds = cost error^(-1/order)."""
    errors = np.array(automatic.TOLERANCES)
    return automatic.Curve(errors, cost * errors ** (-1.0 / order))


def test_costs_at_equal_error_are_interpolated_as_powers() -> None:
    """Exact for powers; smoothing moves only the ends, where neighbours are missing."""
    found = curve(2.0, 5.0)
    assert found.at(2e-5) == pytest.approx(2.0 * 2e-5 ** (-0.2), rel=1e-12)
    assert found.at(0.1) == pytest.approx(found.seconds[0], rel=1e-14)
    assert found.at(1e-12) == np.inf


def test_auto_is_compared_with_the_best_at_every_error() -> None:
    """Of order 5 and of order 8, which cross at 1e-5."""
    curves = {"auto": curve(3.0, 8.0), "ark5": curve(1e-5 ** (1 / 5 - 1 / 8), 5.0), "dop853": curve(1.0, 8.0)}
    found = automatic.at_equal_error(curves)
    assert [each.error for each in found] == pytest.approx([10.0**-k for k in range(4, 8)])
    assert found[0].best == "ark5"
    assert found[-1].best == "dop853"
    assert found[-1].ratio == pytest.approx(3.0, rel=1e-12)
    row = automatic.figure("toy", found)
    assert row.ratio == max(each.ratio for each in found)
    assert row.is_met is False
    assert "mean" in row.note


def test_luck_of_single_runs_is_smoothed() -> None:
    """One error of a thousandth of its neighbours' changes them by 10^(3/4); errors never grow."""
    errors = np.array(automatic.TOLERANCES)
    lucky = errors.copy()
    lucky[5] *= 1e-3
    found = automatic.smoothed(lucky)
    assert np.all(np.diff(found) <= 0.0)
    assert np.max(np.abs(np.log10(found[1:-1] / errors[1:-1]))) < 1.6
    assert automatic.smoothed(errors)[1:-1] == pytest.approx(errors[1:-1], rel=1e-12)


def test_every_choice_of_the_line_about_auto_is_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the smallest model, with few tolerances: errors fall with them."""
    monkeypatch.setattr(automatic, "TOLERANCES", (1e-3, 1e-5, 1e-7))
    monkeypatch.setattr(automatic, "PATIENCE", np.inf)
    monkeypatch.setattr(automatic, "measure", lambda jobs, rounds=0: dict.fromkeys(jobs, 1e-6))
    curves = automatic.sweep(automatic.PROBLEMS["chain3"], lambda text: None)
    assert set(curves) == {automatic.AUTO, *automatic.SINGLE}
    for name, found in curves.items():
        assert found.errors[-1] < 1e-2 * found.errors[0], name
    assert np.array_equal(curves["auto"].errors, curves["dop853"].errors)


@pytest.mark.parametrize("name", automatic.PROBLEMS)
def test_problems_of_the_line_about_auto_can_be_run(name: str) -> None:
    problem = automatic.PROBLEMS[name]
    assert problem.duration > 0.0
    assert len(problem.build().velocities) > 0


def test_lines_are_well_formed() -> None:
    names = [line.name for line in lines.LINES]
    assert len(set(names)) == len(names)
    for line in lines.LINES:
        assert line.name.isidentifier()
        assert line.what
        assert line.goal
        assert callable(line.measure)
    assert lines.select([]) == lines.LINES
    assert [line.name for line in lines.select(["chain3", "arm7_loop"])] == ["arm7_loop", "chain3"]


def test_an_unknown_line_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ModelError, match="'chain4' is not known; did you mean 'chain3'") as caught:
        lines.run_bench(["chain4"], None)
    assert all(line.name in str(caught.value) for line in lines.LINES)


@pytest.mark.parametrize(
    ("ratio", "goal", "is_least", "is_met"),
    [
        (0.3, 0.4, False, True),
        (0.5, 0.4, False, False),
        (7.0, 6.0, True, True),
        (5.0, 6.0, True, False),
        (None, 6.0, True, None),
        (np.float64(7.0), 6.0, True, True),
        (np.float64(np.nan), 6.0, True, False),
    ],
)
def test_goals_are_judged(ratio: float | None, goal: float, is_least: bool, is_met: bool | None) -> None:
    assert Figure("pliant", 1e-6, ratio, goal, is_least).is_met is is_met


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5e-9, "2.5 ns"), (3.1e-6, "3.1 us"), (0.0125, "12.5 ms"), (2.0, "2 s"), (np.nan, "nan ns")]
)
def test_times_are_shown_with_their_unit(seconds: float, text: str) -> None:
    assert figures.shown_time(seconds) == text


def test_a_missing_peer_is_reported_and_the_line_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Any:
        raise peers.MissingPeerError(f"not installed: pip install {peers.PACKAGES.get(name, name)}")

    monkeypatch.setattr(peers, "peer", refuse)
    for module in (evaluations, runs):
        monkeypatch.setattr(module, "measure", lambda jobs, rounds=0: dict.fromkeys(jobs, 1e-6))
    assert [figure.note for figure in evaluations.arm7_loop(lambda text: None)] == [
        "",
        "not installed: pip install pin",
    ]
    notes = {figure.who: figure.note for figure in runs.chain3(lambda text: None)}
    assert notes["MuJoCo RK4"] == "not installed: pip install mujoco"
    assert "rtol" in notes["pliant"] or "steps" in notes["pliant"]


def test_peer_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.PACKAGES, "no_such_module", "its-package")
    with pytest.raises(peers.MissingPeerError, match="not installed: pip install its-package"):
        peers.peer("no_such_module")


def toys(monkeypatch: pytest.MonkeyPatch, **measures: Any) -> None:
    """A bench of these lines only."""
    monkeypatch.setattr(lines, "LINES", tuple(lines.Line(*row) for row in toy_rows(measures)))
    monkeypatch.setattr(lines, "_load_kernels", lambda: 0.5)


def toy_rows(measures: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(name, f"line {name}", "<= 1", lambda say, it=it: it()) for name, it in measures.items()]


def good() -> list[Figure]:
    return [Figure("pliant", 1e-6, 0.5, 1.0), Figure("peer", note="none")]


def raising(error: BaseException) -> Any:
    def measure() -> list[Figure]:
        raise error

    return measure


def test_figures_are_written_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    toys(monkeypatch, toy=good)
    lines.run_bench([], tmp_path / "deep" / "bench.json")
    facts = json.loads((tmp_path / "deep" / "bench.json").read_text())
    assert facts["status"] == "done"
    assert facts["lines"]["toy"]["figures"][0]["is_met"] is True
    assert {"cpu", "cores"} <= set(facts["machine"])
    assert {"pliant", "numba", "numpy", "pin", "mujoco", "exudyn"} <= set(facts["versions"])
    assert os.listdir(tmp_path / "deep") == ["bench.json"]
    printed = capsys.readouterr()
    assert "1 of 1 goals are met" in printed.out
    assert f"written: {tmp_path / 'deep' / 'bench.json'}" in printed.out
    assert "bench toy: line toy" in printed.err


def test_whatever_a_line_finds_becomes_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Numbers of numpy, and what is not finite, which JSON does not know."""
    found = Figure(
        "pliant", np.float32(1.0), np.float64(2.0), np.int64(1), np.True_, np.float64(np.nan), note=np.str_("x")
    )
    toys(monkeypatch, toy=lambda: [found, Figure("peer", np.inf, 3.0, 2.0, np.False_)])
    lines.run_bench([], tmp_path / "bench.json")
    text = (tmp_path / "bench.json").read_text()
    rows = json.loads(text, parse_constant=pytest.fail)["lines"]["toy"]["figures"]
    assert rows[0] == {
        "who": "pliant", "seconds": 1.0, "ratio": 2.0, "goal": 1, "is_least": True, "error": None, "note": "x",
        "is_met": True,
    }  # fmt: skip
    assert (rows[1]["seconds"], rows[1]["is_met"]) == (None, False)


def test_a_line_that_fails_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    toys(monkeypatch, before=good, broken=raising(AttributeError("no mj_step")), after=good, odd=raising(KeyError()))
    with pytest.raises(SimulationError, match="bench: failed in broken, odd, as the table says"):
        lines.run_bench([], tmp_path / "bench.json")
    facts = json.loads((tmp_path / "bench.json").read_text())
    assert facts["status"] == "failed"
    assert list(facts["lines"]) == ["before", "broken", "after", "odd"]
    assert facts["lines"]["broken"]["figures"][0]["note"] == "failed: AttributeError no mj_step"
    printed = capsys.readouterr().out
    assert "failed: AttributeError no mj_step" in printed
    assert "2 of 2 goals are met" in printed


def test_interrupted_bench_keeps_what_it_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    toys(monkeypatch, before=good, slow=raising(KeyboardInterrupt()), after=good)
    with pytest.raises(SimulationError, match="bench: interrupted by Ctrl-C; not measured: slow, after"):
        lines.run_bench([], tmp_path / "bench.json")
    facts = json.loads((tmp_path / "bench.json").read_text())
    assert (facts["status"], list(facts["lines"])) == ("interrupted", ["before"])
    assert "1 of 1 goals are met" in capsys.readouterr().out
    # before the first line there is nothing to keep: an old file stays
    with pytest.raises(KeyboardInterrupt):
        lines.run_bench(["slow", "after"], tmp_path / "bench.json")
    assert json.loads((tmp_path / "bench.json").read_text()) == facts


def test_the_file_holds_every_line_as_soon_as_it_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """So that a killed bench keeps it."""
    seen = []

    def look() -> list[Figure]:
        seen.append(json.loads((tmp_path / "bench.json").read_text()))
        return good()

    toys(monkeypatch, first=good, second=look)
    lines.run_bench([], tmp_path / "bench.json")
    assert [(facts["status"], list(facts["lines"])) for facts in seen] == [("running", ["first"])]


@pytest.mark.parametrize("name", [".", "/dev/null", "file/bench.json", "x" * 300, "/proc/bench.json"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, name: str
) -> None:
    (tmp_path / "file").write_text("")
    toys(monkeypatch, toy=lambda: pytest.fail("measured"))
    with pytest.raises(ModelError, match=r"--out .*; (name a |choose another)"):
        lines.run_bench([], tmp_path / name)
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_can_no_longer_be_written_leaves_the_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill() -> list[Figure]:
        monkeypatch.setattr(figures, "write_whole", raising_write)
        return good()

    def raising_write(path: Any, text: str) -> None:
        raise OSError(28, "No space left on device")

    toys(monkeypatch, first=fill, second=good)
    with pytest.raises(SimulationError, match=r"bench: .*No space left on device; the table above has"):
        lines.run_bench([], tmp_path / "bench.json")
    printed = capsys.readouterr().out
    assert "2 of 2 goals are met" in printed
    assert "written" not in printed
