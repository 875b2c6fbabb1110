"""pliant simulates robots whose links and joints bend and which hit things.

Names are resolved on first use: importing pliant imports neither numba nor scipy. What is public is listed in
__init__.pyi."""

import importlib
import re
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _public_names() -> dict[str, str]:
    """Name -> its module, from the lines "from module import name as name" of the stub."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="ascii")
    found = {}
    for module, names in re.findall(r"^from (\S+) import (\([^)]*\)|.+)$", stub, re.MULTILINE):
        found.update(dict.fromkeys(re.findall(r"(\w+) as \w+", names), module))
    return found


_MODULE_OF = _public_names()
# rooms that users call by their name, as pliant.gym, may need more than is installed: import * leaves them out
__all__ = ["__version__", *(name for name, module in _MODULE_OF.items() if module != "pliant")]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'pliant' has no attribute {name!r}")
    module = _MODULE_OF[name]
    # "from pliant import gym as gym" in the stub is a room itself
    is_room = module == "pliant"
    value = importlib.import_module(f"pliant.{name}") if is_room else getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULE_OF})
