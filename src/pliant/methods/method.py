"""A method is a value: a small frozen class that is its own row in every listing, with its parameters as fields."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar

from pliant.model.parameters import Parameter


def parameter(default: Any, words: str, **rest: Any) -> Any:
    """A field of a method; rest as in Parameter."""
    return field(default=default, metadata={"parameter": Parameter(words, default=default, **rest)})


@dataclass(frozen=True)
class Method:
    """What all methods say of themselves; calling one without arguments takes its defaults."""

    family: ClassVar[str]
    name: ClassVar[str]  # its shorthand, in Python, files and on the command line
    summary: ClassVar[str]
    supports: ClassVar[frozenset[str]] = frozenset()
    cost: ClassVar[str]
    reference: ClassVar[str]  # key in docs/bibliography.md
    module: ClassVar[str]
    function: ClassVar[str]

    def __post_init__(self) -> None:
        for each in self.parameters():
            object.__setattr__(self, each.name, each.checked(getattr(self, each.name), each.key))

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Its own parameters, by the names of its fields."""
        found: tuple[Parameter, ...] = _parameters(cls)  # type: ignore[arg-type]
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """Its name and parameters under the keys of files and the command line."""
        return {self.family: self.name} | {each.key: getattr(self, each.name) for each in self.parameters()}

    @property
    def row(self) -> dict[str, Any]:
        """For summaries: what ran, so that it can be cited."""
        values = {each.name: getattr(self, each.name) for each in self.parameters()}
        return {"name": self.name, **({"parameters": values} if values else {}), "reference": self.reference}

    def __str__(self) -> str:
        values = ", ".join(f"{each.name} = {_shown(getattr(self, each.name))}" for each in self.parameters())
        return f"{self.name} ({values})" if values else self.name

    @classmethod
    def load(cls, function: str = "") -> Any:
        """Import the module, which compiles its kernels or loads them from the cache; its function, or another one."""
        return getattr(importlib.import_module(cls.module), function or cls.function)


@cache
def _parameters(method: Any) -> tuple[Parameter, ...]:
    rows = {one.name: one.metadata["parameter"] for one in fields(method)}
    return tuple(replace(row, name=name, key=row.key or name) for name, row in rows.items())


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
