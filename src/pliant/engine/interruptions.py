"""Ctrl-C that is not lost."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def remembered_interruptions() -> Iterator[Callable[[], None]]:
    """Ctrl-C raises KeyboardInterrupt as ever; what is yielded raises it once more if it came.

    For the exception is lost where it meets the end of a weak reference or a destructor, which Python lets raise
    nothing: a loop that now and then asks ends all the same. A handler of the user's stays."""
    came: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    def ask() -> None:
        if came:
            raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield ask
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield ask
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


AGAIN_SECONDS = 0.01  # after which a Ctrl-C that Python dropped comes again


@contextmanager
def clean_interruptions() -> Iterator[None]:
    """Let a whole command end by Ctrl-C wherever it is, and by SIGTERM as by Ctrl-C.

    An interruption that is dropped comes again a moment later, and nothing is printed about it; where
    remembered_interruptions keeps it, that loop will ask."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hook, terminate = sys.unraisablehook, signal.getsignal(signal.SIGTERM)

    def unraisable(found: Any) -> None:
        if found.exc_type is not KeyboardInterrupt:
            hook(found)
        elif signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            again = threading.Timer(AGAIN_SECONDS, _thread.interrupt_main)
            again.daemon = True
            again.start()

    sys.unraisablehook = unraisable
    if terminate is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _as_ctrl_c)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        if terminate is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminate)


def _as_ctrl_c(number: int, frame: Any) -> None:
    """Do what Ctrl-C would; where that is ignored, as in the background of a shell, what it does elsewhere."""
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)
