"""Input shaping against the linear oscillator: what is left of its vibration after a shaped motion, in closed form."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm

import pliant
from pliant import (
    Chirp,
    Constant,
    Cycloid,
    Linear,
    ModelError,
    Ramp,
    Sine,
    SpeedChange,
    Step,
    Table,
    delayed,
    input_shaper,
)
from pliant.model.signals import SIGNAL_KINDS

OMEGA, ZETA = 7.0, 0.03


def vibration(shaper, omega, zeta):
    """Amplitude of x'' + 2 zeta omega x' + omega^2 x = omega^2 r after steps in r as the shaper says, over that after
    one step at the time of the last: by the exact solution of each piece."""
    A = np.array([[0.0, 1.0], [-(omega**2), -2.0 * zeta * omega]])

    def left(times, heights):
        x, r, t = np.zeros(2), 0.0, 0.0
        for time, height in zip(times, heights, strict=True):
            x = np.array([r, 0.0]) + expm(A * (time - t)) @ (x - np.array([r, 0.0]))
            r, t = r + height, time
        x = x - np.array([r, 0.0])
        return np.hypot(x[0], (x[1] + zeta * omega * x[0]) / (omega * np.sqrt(1.0 - zeta**2)))

    return left(shaper.times, shaper.amplitudes) / left(shaper.times[-1:], [1.0])


@pytest.mark.parametrize("kind", ["zv", "zvd", "ei"])
@pytest.mark.parametrize("zeta", [0.0, ZETA, 0.3])
def test_residual_is_what_the_oscillator_does(kind, zeta):
    shaper = input_shaper(kind, OMEGA, zeta)
    assert shaper.amplitudes.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.all(shaper.amplitudes > 0.0)
    for omega in OMEGA * np.array([0.7, 0.9, 1.0, 1.1, 1.4]):
        # both in closed form: rounding
        assert shaper.residual(omega, zeta) == pytest.approx(vibration(shaper, omega, zeta), abs=1e-12)


@pytest.mark.parametrize("zeta", [0.0, ZETA, 0.3])
def test_zv_leaves_nothing_and_zvd_has_no_slope_either(zeta):
    zv, zvd = input_shaper("zv", OMEGA, zeta), input_shaper("zvd", OMEGA, zeta)
    assert zv.residual(OMEGA, zeta) < 1e-15
    assert zvd.residual(OMEGA, zeta) < 1e-15
    # of first order for zv, of second for zvd: a tenth of the distance leaves a tenth, and a hundredth
    for shaper, order in ((zv, 1), (zvd, 2)):
        far, near = (shaper.residual(OMEGA * (1.0 + step), zeta) for step in (1e-3, 1e-4))
        assert np.log10(far / near) == pytest.approx(order, abs=0.01)
    assert zvd.duration == pytest.approx(2.0 * zv.duration, rel=1e-15)


@pytest.mark.parametrize("tolerance", [0.02, 0.05, 0.2])
def test_ei_stays_below_its_tolerance_in_the_band_of_singhose(tolerance):
    """|(1 + V)/2 cos(pi w/w0) + (1 - V)/2| <= V where cos <= (3 V - 1)/(1 + V): for 5 % a band of 20 % either way."""
    shaper = input_shaper("ei", OMEGA, tolerance=tolerance)
    half = 1.0 - np.arccos((3.0 * tolerance - 1.0) / (1.0 + tolerance)) / np.pi
    band = OMEGA * np.linspace(1.0 - half, 1.0 + half, 201)
    left = np.array([shaper.residual(omega) for omega in band])
    assert left.max() == pytest.approx(tolerance, rel=1e-9)
    assert shaper.residual(OMEGA) == pytest.approx(tolerance, rel=1e-12)
    assert shaper.residual(OMEGA * (1.0 + 1.05 * half)) > tolerance
    zvd = input_shaper("zvd", OMEGA)
    assert zvd.residual(OMEGA * (1.0 + half)) > tolerance


def test_ei_of_a_damped_mode_leaves_at_most_its_tolerance():
    for zeta in (0.01, 0.1, 0.3):
        assert 0.0 < input_shaper("ei", OMEGA, zeta).residual(OMEGA, zeta) <= 0.05


def test_a_shaper_of_several_modes_serves_each_of_them():
    shaper = input_shaper("zv", [OMEGA, 2.3 * OMEGA], [ZETA, 0.01])
    assert len(shaper.times) == 4
    assert np.all(np.diff(shaper.times) > 0.0)
    assert shaper.residual(OMEGA, ZETA) < 1e-15
    assert shaper.residual(2.3 * OMEGA, 0.01) < 1e-15


SIGNALS = {
    "constant": Constant(2.0),
    "linear": Linear(2.0, 0.5),
    "step": Step(0.3, 2.0, 1.0),
    "ramp": Ramp(0.2, 0.7, 3.0),
    "cycloid": Cycloid(0.2, 0.7, 3.0),
    "speed change": SpeedChange(0.2, 0.7, 3.0, 1.0, 0.5),
    "sine": Sine(1.5, 4.0, 0.3, 0.1),
    "chirp": Chirp(0.9, 20.0, 1.0, 3.0, 0.1),
    "table": Table((0.1, 0.4, 0.6, 0.9), (0.0, 1.0, -1.0, 2.0), ends="clamped"),
    "table with kinks": Table(
        (0.1, 0.4, 0.5, 0.7, 0.9), (0, 0.09, 0.16, 0.28, 0.32), kinks=(0.5,)
    ),  # (t - 0.1)^2, 0.32 - (0.9 - t)^2
    "table that repeats": Table((0.1, 0.2, 0.3, 0.4), (0, 1, 3, 4), "periodic", True, True, advance=4.0),
    "sum of products": 2.0 * Sine(omega=3.0) * Cycloid(0.2, 0.7) + 0.5,
}


def test_every_kind_of_signal_is_tried():
    assert {signal.kind for signal in SIGNALS.values()} | {"product"} == {kind.kind for kind in SIGNAL_KINDS}


def followed(signal, times):
    """A signal at times: where a joint goes that follows it."""
    body = pliant.Body("b", 1.0, inertia=(1, 1, 1))
    model = pliant.Model("m", [body], [pliant.Joint("j", "prismatic", "b", motion=signal)])
    return pliant.simulate(model, 2.0).at(times)[0][:, 0]


@pytest.mark.parametrize("name", SIGNALS)
def test_a_delayed_signal_is_the_signal_later(name):
    signal, times = SIGNALS[name], np.linspace(0.5, 1.9, 41)
    if name in ("step", "ramp"):
        signal = signal * Sine(1.0, 0.5, 1.0)  # a joint cannot jump: looked at as a force
        drives = [driven(one) for one in (signal, delayed(signal, 0.437))]
        # integrals of the force, to the tolerance of the run
        assert drives[1][1](times) == pytest.approx(drives[0][1](times - 0.437), abs=1e-7)
        return
    later = followed(delayed(signal, 0.437), times)
    # the dense output of a run in which nothing is free
    assert later == pytest.approx(followed(signal, times - 0.437), abs=1e-7)


def driven(signal):
    body = pliant.Body("b", 1.0, inertia=(1, 1, 1))
    joint = pliant.Joint("j", "prismatic", "b", motor=signal)
    result = pliant.simulate(pliant.Model("m", [body], [joint], gravity=(0, 0, 0)), 2.0)

    def force(times):
        h = 1e-4
        return (result.at(times + h)[1][:, 0] - result.at(times - h)[1][:, 0]) / (2 * h)

    return result, force


def test_shaped_signals_are_sums_of_delayed_ones():
    shaper = input_shaper("zvd", OMEGA, ZETA)
    times = np.linspace(0.0, 1.9, 39)
    whole = followed(shaper.shaped(Cycloid(0.0, 0.5, 2.0)), times)
    parts = [
        share * followed(delayed(Cycloid(0.0, 0.5, 2.0), time), times)
        for time, share in zip(shaper.times, shaper.amplitudes, strict=True)
    ]
    assert whole == pytest.approx(np.sum(parts, axis=0), abs=1e-7)
    assert whole[-1] == pytest.approx(2.0, abs=1e-12)


def test_energy_of_a_shaped_cycloid_is_that_of_its_fourier_integral():
    """What an undamped oscillator keeps is |F(omega)| of the force: the shaper's factor times that of the cycloid."""
    shaper, T = input_shaper("ei", 9.0), 0.4

    def rate(t):
        return (1.0 - np.cos(2 * np.pi * t / T)) / T if 0.0 < t < T else 0.0

    def size(omega, times, shares):
        def of(wave):
            # each part in its own time, where it does not vanish
            return sum(
                share * quad(lambda t, late=time: rate(t) * wave(omega * (t + late)), 0.0, T, epsabs=1e-12)[0]
                for time, share in zip(times, shares, strict=True)
            )

        return np.hypot(of(np.cos), of(np.sin))

    for omega in (6.0, 9.0, 10.5):
        ratio = size(omega, shaper.times, shaper.amplitudes) / size(omega, [0.0], [1.0])
        assert ratio == pytest.approx(shaper.residual(omega), abs=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: input_shaper("zx", 1.0), "kind.*zx.*allowed: zv, zvd, ei"),
        (lambda: input_shaper("zv", 0.0), "frequency.*above 0"),
        (lambda: input_shaper("zv", 1.0, 1.0), "damping.*below 1"),
        (lambda: input_shaper("zv", [1.0, 2.0], [0.1] * 3), "3 damping ratios for 2 frequencies"),
        (lambda: input_shaper("ei", 1.0, tolerance=2.0), "tolerance.*below 1"),
        (lambda: delayed("later", 1.0), "is no signal"),
        (lambda: delayed(Constant(1.0), float("nan")), "delay.*finite"),
    ],
)
def test_wrong_arguments_are_refused(call, words):
    with pytest.raises(ModelError, match=words):
        call()
