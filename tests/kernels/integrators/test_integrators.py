"""Integrators: order, dense output, step control, boundaries, samples, events, resumption; one identity per test."""

import math

import numpy as np
import pytest

from integrator_runs import drive, fixed, heights, pendulum, reference, slope, spin
from pliant.kernels._jit import DERIVATIVE, EVENTS, SWITCH, kernel
from pliant.kernels.integrators.tableaus import TABLEAUS
from pliant.methods import INTEGRATORS
from pliant.system.newton import Unknowns
from pliant.system.status import Status

ADAPTIVE = [row.name for row in INTEGRATORS if "adaptive" in row.supports]
ALL = [row.name for row in INTEGRATORS]
FIXED_ORDER = [name for name in ALL if name != "adams"]  # that of adams: test_adams.py
# steps in which errors are far above rounding and orders show
LONG = {"dop853": [0.5, 0.4, 0.32, 0.25], "radau": [0.4, 0.2, 0.1]}
both = pytest.mark.parametrize("method", ["dop853", "radau"])  # an explicit and an implicit one
SWITCHED, STOPPED = int(Status.SWITCHED), int(Status.STOPPED)


# --- small problems ---------------------------------------------------------------------------------------------


@kernel(DERIVATIVE)
def oscillator(system, work, t, y, ydot):
    ydot[0] = y[1]
    ydot[1] = -y[0]
    return 0


@kernel(DERIVATIVE)
def ball(system, work, t, y, ydot):
    """Pairs (height, speed) under unit gravity."""
    for i in range(0, y.shape[0], 2):
        ydot[i] = y[i + 1]
        ydot[i + 1] = -1.0
    return 0


@kernel(DERIVATIVE)
def stepped_force(system, work, t, y, ydot):
    """Oscillator with a force that jumps at t = 0.3 and t = 1.1; the piece is decided by the segment."""
    segment = work.run[0].segment
    force = 1.0 if segment < 0.3 else -2.0 if segment < 1.1 else 0.5
    ydot[0] = y[1]
    ydot[1] = -math.sin(y[0]) + force * math.exp(-t)
    return 0


@kernel(DERIVATIVE)
def held_input(system, work, t, y, ydot):
    ydot[0] = y[1]
    ydot[1] = -y[0] + work.inputs[0]
    return 0


@kernel(DERIVATIVE)
def broken_later(system, work, t, y, ydot):
    ydot[0] = math.sqrt(1.0 - t) if t <= 1.0 else math.nan
    return 0


@kernel(DERIVATIVE)
def singular_later(system, work, t, y, ydot):
    ydot[0] = 1.0
    return 13 if t > 1.0 else 0


@kernel(DERIVATIVE)
def prescribed(system, work, t, y, ydot):
    """y[0] is put in place: sin t."""
    y[0] = math.sin(t)
    ydot[0] = math.cos(t)
    ydot[1] = y[0]
    return 0


@kernel(EVENTS)
def clearances(system, work, t, y, ydot, g, gdot):
    """Height over several levels: 0, 1, 2, .. tenths."""
    for k in range(g.shape[0]):
        g[k] = y[0] - 0.1 * k
        gdot[k] = y[1]
    return 0


@kernel(EVENTS)
def dip(system, work, t, y, ydot, g, gdot):
    """A parabola of time that dips 1e-9 below zero."""
    g[0] = (t - 0.4321) ** 2 - 1e-9
    gdot[0] = 2.0 * (t - 0.4321)
    return 0


@kernel(EVENTS)
def wave(system, work, t, y, ydot, g, gdot):
    g[0] = math.sin(20.0 * t + 0.5)
    gdot[0] = 20.0 * math.cos(20.0 * t + 0.5)
    return 0


@kernel(SWITCH)
def stop(system, work, t, y, fired):
    return STOPPED


@kernel(SWITCH)
def reflect(system, work, t, y, fired):
    y[1] = abs(y[1])
    return SWITCHED


@kernel(SWITCH)
def bounce(system, work, t, y, fired):
    for k in range(fired.shape[0]):
        if fired[k] < 0:
            y[2 * k + 1] *= -0.9
    return SWITCHED


# --- the driver -------------------------------------------------------------------------------------------------


# --- order and dense output -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", FIXED_ORDER)
def test_global_error_falls_with_the_order_of_the_method(method):
    h = np.array(LONG.get(method, [0.1, 0.05, 0.025]))
    exact = reference([1.5, 0.0], 4.0).y[:, -1]
    errors = [np.abs(drive(pendulum, [1.5, 0.0], 4.0, method, **fixed(method, k)).memory.y - exact).max() for k in h]
    assert TABLEAUS[method].order - 0.4 < slope(h, errors) < TABLEAUS[method].order + 1.2


@pytest.mark.parametrize("method", ALL)
def test_dense_error_falls_with_the_order_of_the_dense_output(method):
    h = np.array([0.8, 0.5, 0.4] if method == "dop853" else [0.1, 0.05, 0.025])
    exact, t = reference([1.5, 0.0], 4.0, dense_output=True), np.linspace(0.0, 4.0, 999)
    runs = [drive(pendulum, [1.5, 0.0], 4.0, method, **fixed(method, k)) for k in h]
    errors = [np.abs(run.at(t) - exact.sol(t).T).max() for run in runs]
    assert slope(h, errors) > TABLEAUS[method].dense_order - 0.4


@pytest.mark.parametrize("method", ALL)
def test_dense_output_meets_the_recorded_rows(method):
    run = drive(pendulum, [1.5, 0.0], 4.0, method, is_fixed=True, h=0.1)
    assert np.array_equal(run.at(run.starts), run.y[:-1])
    assert np.allclose(run.at(np.nextafter(run.starts[1:], 0.0)), run.y[1:-1], rtol=0.0, atol=1e-14)


# --- step control -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ADAPTIVE)
def test_global_error_scales_with_rtol(method):
    exact = reference([1.5, 0.0], 20.0).y[:, -1]
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        run = drive(pendulum, [1.5, 0.0], 20.0, method, rtol=rtol, atol=rtol)
        assert run.status == Status.DONE
        assert np.abs(run.memory.y - exact).max() < 200 * rtol


@pytest.mark.parametrize(("method", "scipys"), [("dop853", "DOP853"), ("dopri5", "RK45")])
def test_work_is_that_of_scipy(method, scipys):
    run = drive(pendulum, [1.5, 0.0], 50.0, method, rtol=1e-8, atol=1e-10, wants_dense=False)
    other = reference([1.5, 0.0], 50.0, scipys, rtol=1e-8, atol=1e-10)
    assert np.allclose(run.memory.y, other.y[:, -1], atol=2e-6)
    assert run.memory.stepping[0].n_evaluations < 1.3 * other.nfev  # the largest component counts, not the mean square


def test_oscillator_keeps_its_energy():
    run = drive(oscillator, [1.0, 0.0], 200.0, rtol=1e-12, atol=1e-13)
    assert np.abs((run.y**2).sum(axis=1) - 1.0).max() < 1e-10
    assert run.memory.stepping[0].t == 200.0


def test_uncontrolled_components_do_not_shorten_steps():
    y = [1.5, 0.0]
    controlled = drive(pendulum, y, 5.0, atol=[1e-10, 1e-10])
    free = drive(pendulum, y, 5.0, atol=[np.inf, np.inf], max_step=1.0)
    assert free.memory.stepping[0].n_steps < controlled.memory.stepping[0].n_steps
    assert free.steps.max() <= 1.0 + 1e-15


def test_fixed_steps_are_as_given():
    run = drive(pendulum, [1.5, 0.0], 1.05, "rk4", is_fixed=True, h=0.1)
    assert np.allclose(run.steps[:-1], 0.1)
    assert run.steps[-1] == pytest.approx(0.05)
    assert run.t[-1] == 1.05
    assert len(run.t) == 12


@both
def test_only_the_end_matters_mode_gives_the_same_end(method):
    full = drive(pendulum, [1.5, 0.0], 5.0, method)
    bare = drive(pendulum, [1.5, 0.0], 5.0, method, wants_rows=False, wants_dense=False)
    assert np.array_equal(full.memory.y, bare.memory.y)
    assert len(bare.t) == 0


@both
def test_prescribed_component_is_what_the_end_of_the_step_says(method):
    run = drive(prescribed, [0.3, 0.0], 3.0, method, unknowns=Unknowns([1], []))
    assert np.array_equal(run.y[:, 0], [math.sin(t) for t in run.t])
    assert np.allclose(run.y[:, 1], 1.0 - np.cos(run.t), atol=1e-9)


# --- quaternions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
def test_quaternion_stays_unit_and_keeps_the_order(method):
    y = [0.0, 0.0, 0.0, 1.0, 1.0, 0.7, -0.4]
    fine = drive(spin, y, 4.0, rtol=1e-13, atol=1e-14, quaternions=[0]).memory.y
    h = np.array([0.5, 0.4, 0.32] if method == "dop853" else [0.2, 0.1, 0.05])
    runs = [drive(spin, y, 4.0, method, is_fixed=True, h=k, quaternions=[0]) for k in h]
    errors = [np.abs(run.memory.y - fine).max() for run in runs]
    for run in runs:
        assert np.abs((run.y[:, :4] ** 2).sum(axis=1) - 1.0).max() < 1e-15
    assert slope(h, errors) > TABLEAUS[method].order - 0.5


# --- boundaries and samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ALL)
def test_jumping_signal_keeps_the_order(method):
    h = np.array([0.4, 0.32, 0.25] if method == "dop853" else LONG.get(method, [0.1, 0.05, 0.025]))
    fine = drive(stepped_force, [0.5, 0.0], 2.0, rtol=1e-13, atol=1e-14, boundaries=[0.3, 1.1]).memory.y
    runs = [drive(stepped_force, [0.5, 0.0], 2.0, method, boundaries=[1.1, 0.3], **fixed(method, k)) for k in h]
    errors = [np.abs(run.memory.y - fine).max() for run in runs]
    assert all(0.3 in run.t and 1.1 in run.t for run in runs)
    assert slope(h, errors) > TABLEAUS[method].order - 1.0


def test_samples_hold_the_input_between_them():
    def controller(t, y):
        seen.append((t, y.copy()))
        return [math.sin(7.0 * t)]

    seen = []
    instants = np.arange(11) * 0.1
    run = drive(
        held_input, [1.0, 0.0], 1.0, controller=controller, samples=instants, n_inputs=1, boundaries=[0.0, 0.3, 1.0]
    )
    # 3 x 0.1 is a rounding error after the kink at 0.3: they are one instant
    assert [t for t, _ in seen] == pytest.approx(instants[:-1], abs=1e-15)
    assert seen[3][0] == 0.3 < instants[3]
    y = np.array([1.0, 0.0])
    c, s = math.cos(0.1), math.sin(0.1)
    for i, (t, at_sample) in enumerate(seen):
        assert np.allclose(at_sample, y, atol=1e-10)
        u = math.sin(7.0 * t)
        y = np.array([u + (y[0] - u) * c + y[1] * s, -(y[0] - u) * s + y[1] * c])
        assert run.inputs[np.searchsorted(run.t, t), 0] == u, i
    assert np.allclose(run.memory.y, y, atol=1e-10)


# --- events -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ALL)
def test_bounces_come_when_they_should(method):
    options = {} if method in ADAPTIVE else fixed(method, 0.1)
    run = drive(ball, [1.0, 0.0], 10.0, method, events=heights, directions=[-1], switch=bounce, **options)
    speed = math.sqrt(2.0)
    exact, t = [], speed
    while t < 10.0:
        exact.append(t)
        speed *= 0.9
        t += 2.0 * speed
    assert np.allclose([t for _, _, t in run.log], exact, rtol=0.0, atol=1e-12)
    assert run.y[:, 0].min() > -1e-13
    again = run.t[1:] == run.t[:-1]
    assert again.sum() == len(exact)  # before and after each bounce


def test_zeno_sequence_ends_with_a_reason_not_below_the_floor():
    run = drive(ball, [1.0, 0.0], 40.0, events=heights, directions=[-1], switch=bounce)
    assert run.status == Status.EVENT_NOT_LOCATED
    assert run.t[-1] == pytest.approx(19.0 * math.sqrt(2.0), abs=1e-10)
    assert run.y[:, 0].min() > -1e-12


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_a_run_that_hops_without_end_ends_with_a_reason(method):
    """Hops of 2e-13 s, none shorter than the one before: 1000 of them are less than 1e-9 of the duration."""
    options = {} if method in ADAPTIVE else fixed(method, 0.1)
    run = drive(ball, [0.0, 1e-13], 1.0, method, events=heights, directions=[-1], switch=reflect, **options)
    assert run.status == Status.STALLED
    assert run.memory.stepping[0].n_steps <= 2000


@both
def test_touch_and_go_between_samples_is_found(method):
    run = drive(ball, [0.0, 0.0], 1.0, method, events=dip, directions=[0])
    depth = math.sqrt(1e-9)
    assert run.memory.stepping[0].n_steps < 20
    assert [(k, d) for k, d, _ in run.log] == [(0, -1), (0, 1)]
    assert np.allclose([t for _, _, t in run.log], [0.4321 - depth, 0.4321 + depth], rtol=0.0, atol=1e-11)


def test_touch_and_go_seen_from_one_direction_only():
    falling = drive(ball, [0.0, 0.0], 1.0, events=dip, directions=[-1])
    rising = drive(ball, [0.0, 0.0], 1.0, events=dip, directions=[1])
    assert [d for _, d, _ in falling.log] == [-1]
    assert [d for _, d, _ in rising.log] == [1]


@both
def test_all_crossings_of_one_long_step_are_found(method):
    run = drive(ball, [0.0, 0.0], 1.0, method, events=wave, directions=[0], h=1.0)
    exact = (np.arange(1, 7) * math.pi - 0.5) / 20.0
    assert np.allclose([t for _, _, t in run.log], exact[exact < 1.0], rtol=0.0, atol=1e-14)
    assert [d for _, d, _ in run.log] == [-1, 1] * 3


def test_directions_filter_but_sides_still_change():
    for direction in (-1, 1):
        run = drive(ball, [0.05, 0.8], 1.5, events=clearances, directions=[direction] * 4)
        for k, d, t in run.log:
            assert d == direction
            assert 0.05 + 0.8 * t - 0.5 * t * t == pytest.approx(0.1 * k, abs=1e-14)
        assert [k for k, _, _ in run.log] == ([1, 2, 3] if direction == 1 else [3, 2])


@both
def test_simultaneous_events_fire_together(method):
    run = drive(
        ball,
        [1.0, 0.0, 2.0, -math.sqrt(0.5), 1.0, 0.0],
        1.5,
        method,
        events=heights,
        directions=[-1, -1, -1],
        switch=bounce,
    )
    together = [t for k, _, t in run.log if k in (0, 2)]
    assert together == [together[0]] * 2
    assert together[0] == pytest.approx(math.sqrt(2.0), abs=1e-14)
    assert np.array_equal(run.y[:, 0:2], run.y[:, 4:6])


def test_nearly_simultaneous_events_fire_in_order():
    run = drive(
        ball, [1.0, 0.0, 1.0 + 1e-9, 0.0, 1.0 - 1e-9, 0.0], 1.5, events=heights, directions=[-1, -1, -1], switch=bounce
    )
    exact = [math.sqrt(2.0 * y) for y in (1.0 - 1e-9, 1.0, 1.0 + 1e-9)]
    assert [k for k, _, _ in run.log][:3] == [2, 0, 1]
    assert np.allclose([t for _, _, t in run.log][:3], exact, rtol=0.0, atol=1e-14)


@both
def test_stopping_event_ends_the_run_on_the_event(method):
    run = drive(pendulum, [1.5, 0.0], 50.0, method, events=heights, directions=[-1], switch=stop)
    exact = reference([1.5, 0.0], 5.0, events=lambda t, y: y[0]).t_events[0][0]
    assert run.status == Status.STOPPED
    assert run.t[-1] == run.log[0][2]
    assert run.t[-1] == pytest.approx(exact, abs=1e-7)
    # explicit steps land to the resolution of t; implicit ones end within what their Newton's method leaves open, and
    # corrections below 1e-12 of t that shrink no more are let be
    rounding = 1e-15 if method != "radau" else 1e-12 * run.t[-1] * abs(run.y[-1, 1])
    assert abs(run.y[-1, 0]) < rounding


# --- coming back and going on -----------------------------------------------------------------------------------


@both
def test_interruptions_change_no_bit(method):
    options = {
        "events": heights,
        "directions": [-1, -1],
        "switch": bounce,
        "samples": np.arange(6) * 0.5,
        "n_inputs": 1,
    }
    options |= {"boundaries": [0.77, 1.5], "max_step": 0.06}
    y = [1.0, 0.0, 0.7, 0.3]
    whole = drive(ball, y, 3.0, method, controller=lambda t, y: [t], **options)
    parts = drive(ball, y, 3.0, method, controller=lambda t, y: [t], capacity=4, budget=2, **options)
    assert {Status.SAMPLE, Status.BUFFER_FULL, Status.PAUSE} <= set(parts.reasons)
    for a, b in zip(whole[1:8], parts[1:8], strict=True):
        assert np.array_equal(a, b)
    for name in ("n_steps", "n_rejected", "n_evaluations", "n_events"):
        assert whole.memory.stepping[0][name] == parts.memory.stepping[0][name]


# --- failure is a value -----------------------------------------------------------------------------------------


@both
def test_not_a_number_ends_with_a_reason_and_keeps_the_rows(method):
    run = drive(broken_later, [0.0], 2.0, method)
    assert run.status == Status.NOT_FINITE
    assert 0.99 < run.t[-1] <= 1.0
    assert np.isfinite(run.y).all()


@both
def test_failing_kernel_passes_its_status_on(method):
    run = drive(singular_later, [0.0], 2.0, method)
    assert run.status == Status.SINGULAR
    assert run.t[-1] == pytest.approx(1.0, abs=1e-12)
    fixed = drive(singular_later, [0.0], 2.0, "rk4", is_fixed=True, h=0.1)
    assert fixed.status == Status.SINGULAR
    assert fixed.t[-1] == pytest.approx(1.0, abs=0.11)


@both
def test_too_many_steps_is_said(method):
    run = drive(pendulum, [1.5, 0.0], 50.0, method, max_steps=10)
    assert run.status == Status.TOO_MANY_STEPS
    assert run.memory.stepping[0].n_steps == 10


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="fixed step"):
        drive(pendulum, [1.5, 0.0], 1.0, "rk4")
    with pytest.raises(ValueError, match="h > 0"):
        drive(pendulum, [1.5, 0.0], 1.0, "rk4", is_fixed=True)
