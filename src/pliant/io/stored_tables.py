"""JSON that pliant has written, read back. Files are edited and damaged: what has another shape is a ValueError that
names the first place, before anything looks into it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pydantic
from typing_extensions import TypedDict  # pydantic takes that of typing from Python 3.12 on

__all__ = ["TypedDict", "check_stored", "parse_stored"]


def parse_stored(text: str | bytes, kind: Any) -> Any:
    """Return what a JSON text holds; a ValueError if that is not of this kind (a TypedDict, or another type)."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return check_stored(found, kind)


def check_stored(value: Any, kind: Any) -> Any:
    """Return a value as it is; a ValueError if it is not of this kind."""
    try:
        _adapter(kind).validate_python(value, strict=True)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(each)[:40] for each in first["loc"])
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None
    return value


@cache
def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(kind)
