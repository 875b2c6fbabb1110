"""Ctrl-C ends what it meets, even where Python drops the exception that it raises."""

import os
import signal
import threading
import weakref

import pytest

import pliant
from pliant import Body, Joint, Model, Rod
from pliant.command import cli
from pliant.engine.interruptions import clean_interruptions, remembered_interruptions
from pliant.simulation.run_processes import starting_children

SWINGING = Model(
    "swing", [Body("rod", 1.0, shape=Rod(1.0))], [Joint("hinge", "revolute", "rod", q0=0.1)], gravity=(0, -9.81, 0)
)


class Thing:
    """A thing to refer to."""


class Interrupting:
    """Ctrl-C while it is destroyed, where no exception gets out."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def usual_handler():
    # shells ignore it for what they start in the background
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_that_python_drops_is_raised_when_asked_for():
    with remembered_interruptions() as ask:
        ask()
        Interrupting()
        with pytest.raises(KeyboardInterrupt):
            ask()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("many", [False, True])
def test_a_run_ends_by_an_interruption_that_python_drops(many):
    asked = []

    def progress(done, whole):
        if not asked:
            asked.append(done)
            Interrupting()
        assert len(asked) < 100

    if many:
        runs = pliant.simulate_many(SWINGING, 1e5, q0=[[0.1], [0.2]], progress=progress)
        assert set(runs.status) == {"interrupted"}
    else:
        result = pliant.simulate(SWINGING, 1e6, dense=False, progress=progress)
        assert result.status == "interrupted"
        assert len(result.t) > 0


def test_an_interruption_at_its_usual_place_is_as_ever():
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with remembered_interruptions(), pytest.raises(KeyboardInterrupt):
        threading.Event().wait(5.0)
    timer.join()


def test_a_handler_of_the_user_stays():
    heard = []

    def own(number, frame):
        heard.append(number)

    signal.signal(signal.SIGINT, own)
    try:
        with remembered_interruptions() as ask:
            signal.raise_signal(signal.SIGINT)
            ask()
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert heard == [signal.SIGINT]


def test_an_interruption_that_python_drops_comes_again_in_a_command(capsys):
    """In a destructor and at the end of a weak reference, and nothing is printed."""

    def drop_by_destructor():
        Interrupting()

    def drop_by_reference():
        thing = Thing()
        end = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
        del thing
        assert end() is None

    def drop_and_wait(drop):
        drop()
        threading.Event().wait(5.0)

    for drop in (drop_by_destructor, drop_by_reference):
        with clean_interruptions(), pytest.raises(KeyboardInterrupt):
            drop_and_wait(drop)
    assert capsys.readouterr().err == ""


def test_sigterm_is_ctrl_c_for_a_command():
    before = signal.getsignal(signal.SIGTERM)
    with clean_interruptions(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    with clean_interruptions(), remembered_interruptions() as ask:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            ask()
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_interruption_while_processes_are_started_is_not_lost():
    blocked = []

    def interrupt():
        with starting_children():
            signal.raise_signal(signal.SIGINT)
            blocked.extend(signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert signal.SIGINT in blocked  # what is started there inherits it
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_an_exception_that_a_library_makes_of_an_interruption_is_no_traceback_of_a_command(monkeypatch, capsys):
    """As pydantic does, whose core reports a class that could not be made."""

    def load():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("a class could not be made") from None

    monkeypatch.setattr(cli, "_run_command", load)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 130
    assert capsys.readouterr().err == "pliant: interrupted\n"
