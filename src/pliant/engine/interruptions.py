"""Ctrl-C that is not lost."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Interrupting:
    """The usual handler of Ctrl-C, which raises KeyboardInterrupt; it knows that it did."""

    def __init__(self) -> None:
        self.has_come = False

    def __call__(self, number: int, frame: Any) -> None:
        self.has_come = True
        raise KeyboardInterrupt


def _is_usual(handler: Any) -> bool:
    """Return True if this is the main thread, and the handler none of the user's."""
    is_ours = handler is signal.default_int_handler or isinstance(handler, _Interrupting)
    return is_ours and threading.current_thread() is threading.main_thread()


@contextmanager
def remembered_interruptions() -> Iterator[Callable[[], None]]:
    """Ctrl-C raises KeyboardInterrupt as ever; what is yielded raises it once more if it came.

    For the exception is lost where it meets the end of a weak reference or a destructor, which Python lets raise
    nothing: a loop that now and then asks ends all the same. A handler of the user's stays."""
    handler, before = _Interrupting(), signal.getsignal(signal.SIGINT)

    def ask() -> None:
        if handler.has_come:
            raise KeyboardInterrupt

    if not _is_usual(before):
        yield ask
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield ask
    finally:
        signal.signal(signal.SIGINT, before)


AGAIN_SECONDS = 0.01  # after which a Ctrl-C that Python dropped comes again


@contextmanager
def clean_interruptions() -> Iterator[Callable[[], bool]]:
    """Let a whole command end by Ctrl-C wherever it is, by SIGTERM as by Ctrl-C; what is yielded says whether it came.

    An interruption that Python drops comes again a moment later, and nothing is printed about it; where
    remembered_interruptions keeps it, that loop will ask."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    handler, hook = _Interrupting(), sys.unraisablehook
    waiting: list[threading.Timer] = []
    before, terminate = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def unraisable(found: Any) -> None:
        if found.exc_type is not KeyboardInterrupt:
            hook(found)
        elif signal.getsignal(signal.SIGINT) is handler:
            again = threading.Timer(AGAIN_SECONDS, _thread.interrupt_main)
            again.daemon = True
            again.start()
            waiting.append(again)

    sys.unraisablehook = unraisable
    if _is_usual(before):
        signal.signal(signal.SIGINT, handler)
    if terminate is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _as_ctrl_c)
    try:
        yield lambda: handler.has_come
    finally:
        for again in waiting:  # the command has ended
            again.cancel()
        sys.unraisablehook = hook
        if _is_usual(before):
            signal.signal(signal.SIGINT, before)
        if terminate is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminate)


def _as_ctrl_c(number: int, frame: Any) -> None:
    """Do what Ctrl-C would; where that is ignored, as in the background of a shell, what it does elsewhere."""
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)
