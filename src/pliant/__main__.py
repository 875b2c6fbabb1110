"""The command `pliant`, and python -m pliant: ready for Ctrl-C before anything else is loaded."""

import os
import signal
from typing import Any


def _leave(number: int, frame: Any) -> None:
    """End at once: modules that are being loaded would drop an exception, or make another one of it."""
    os.write(2, b"pliant: interrupted before anything was written\n")
    os._exit(130)


def main() -> None:
    """Load the command and run it."""
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # shells ignore it in the background
    if is_ours:
        signal.signal(signal.SIGINT, _leave)
    from pliant.command.cli import main as command

    if is_ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command()


if __name__ == "__main__":
    main()
