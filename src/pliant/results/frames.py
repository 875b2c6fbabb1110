"""Tables for pandas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pliant.errors import ModelError


def load_pandas() -> Any:
    """The library, or a message."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModelError('pandas is not installed; install it with: pip install "pliant[pandas]"') from None
    return pandas


def pandas_frame(columns: Mapping[str, Any], units: Mapping[str, str], index: Any = None) -> Any:
    """A frame of columns, with their units in attrs["units"]."""
    frame = load_pandas().DataFrame(dict(columns), index=index)
    frame.attrs = {"units": {name: units.get(name, "") for name in columns}}
    return frame
