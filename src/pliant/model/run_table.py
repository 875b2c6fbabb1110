"""How a model wants to be run, as a table of plain values; which ones there are and what they may be is said by
engine/run_options.py, when a file is loaded or a run begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic_core import core_schema

from pliant.model.messages import shown


class FrozenTable(dict[str, Any]):
    """A table that nobody changes."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenTable, (dict(self),)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        plain = core_schema.plain_serializer_function_ser_schema(dict)
        return core_schema.no_info_plain_validator_function(
            frozen_table, json_schema_input_schema=core_schema.dict_schema(), serialization=plain
        )

    def _refuse(self, *args: Any, **fields: Any) -> NoReturn:
        raise TypeError("this table is frozen; make another model with dataclasses.replace(model, run={...})")

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _refuse  # type: ignore[assignment]


def frozen_table(value: Any) -> FrozenTable:
    """Numbers, texts, true and false, and tables of them under names; or a message."""
    if not isinstance(value, Mapping):
        raise ValueError(f"found {shown(value)}; give a table of options of the run, as rtol = 1e-6")
    made: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ValueError(f"found the key {shown(key)}; keys are texts")
        if isinstance(item, Mapping):
            made[key] = frozen_table(item)
        elif isinstance(item, (bool, int, float, str)):
            made[key] = item
        else:
            raise ValueError(f"{key}: found {shown(item)}; give a number, a text, or a table of them")
    return FrozenTable(made)


if TYPE_CHECKING:
    RunTable = Mapping[str, Any]
else:
    RunTable = FrozenTable
