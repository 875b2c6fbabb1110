"""Ctrl-C that is not lost."""

from __future__ import annotations

import signal
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
