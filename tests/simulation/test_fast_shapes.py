"""Polynomials whose fastest mode would hold up a run are named before it begins, once."""

import numpy as np
import pytest

import pliant
from pliant.beams.integrals import body_tables
from pliant.simulation import fast_shapes
from pliant.simulation.fast_shapes import fastest_frequency, say_if_fast


def spin_up(family, n):
    return pliant.load("spin-up", family=family, bending_modes=n)


def test_the_fastest_frequency_of_modes_is_that_of_the_last_mode():
    """Modes are orthogonal, so that sqrt(K_ii / M_ii) are the frequencies; to the rounding of tables of 12 modes."""
    beam = spin_up("modes", 12).beams[0]
    tables = body_tables(beam)
    expected = np.sqrt(np.max(np.diag(tables.K) / np.diag(tables.modal_mass)))
    assert fastest_frequency(beam) == pytest.approx(expected, rel=1e-9)


def test_forty_polynomials_are_named_and_what_to_do(capsys):
    fast_shapes._say.cache_clear()
    for _ in range(2):
        say_if_fast(spin_up("polynomials", 40), 20.0)
    said = capsys.readouterr().err
    assert said.count("pliant: the fastest mode of beam 'boom', by polynomials up to number 40, has 9.5e+05 rad/s") == 1
    assert '3e+06 periods in 20 s, which may take minutes; fewer polynomials or family = "modes" are faster' in said


@pytest.mark.parametrize(
    ("family", "n", "duration"), [("polynomials", 10, 20.0), ("modes", 40, 20.0), ("polynomials", 40, 0.1)]
)
def test_nothing_is_said_of_what_is_fast_enough(capsys, family, n, duration):
    fast_shapes._say.cache_clear()
    say_if_fast(spin_up(family, n), duration)
    assert capsys.readouterr().err == ""
