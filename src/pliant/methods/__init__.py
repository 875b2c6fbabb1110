"""Methods as values. Docs, command line, tests, benchmarks, reports and error messages are made from these classes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from pliant.errors import ModelError
from pliant.methods.closures import CLOSURES, Closure, Multipliers
from pliant.methods.control_laws import CONTROL_LAWS, ControlLawRow
from pliant.methods.formulations import FORMULATIONS, Articulated, Formulation
from pliant.methods.integrators import INTEGRATORS, AutoIntegrator, Integrator
from pliant.methods.method import Method
from pliant.model import friction_laws, normal_laws
from pliant.model.laws import Law
from pliant.model.messages import quoted
from pliant.model.model import Model
from pliant.model.parameters import Parameter

__all__ = [
    "AUTO",
    "CHOSEN",
    "CLOSURES",
    "CONTROL_LAWS",
    "FAMILIES",
    "FORMULATIONS",
    "FRICTION_LAWS",
    "INTEGRATORS",
    "NORMAL_LAWS",
    "PARAMETERS",
    "ClosureLike",
    "FormulationLike",
    "IntegratorLike",
    "Law",
    "Method",
    "Methods",
    "check_supports",
    "find_formulation",
    "find_method",
    "formulations_of",
]

# what simulate takes: a value, its name, or a table as in files
FormulationLike = Formulation | str | Mapping[str, Any]
IntegratorLike = Integrator | str | Mapping[str, Any]
ClosureLike = Closure | str | Mapping[str, Any]

# laws of contact and friction are part of a model, so their classes are in model/
NORMAL_LAWS = tuple(normal_laws.NORMAL_LAWS.values())
FRICTION_LAWS = tuple(friction_laws.FRICTION_LAWS.values())
FAMILIES: dict[str, tuple[type[Method], ...] | tuple[type[Law], ...] | tuple[ControlLawRow, ...]] = {
    "formulation": FORMULATIONS,
    "integrator": INTEGRATORS,
    "closure": CLOSURES,
    "normal law": NORMAL_LAWS,
    "friction law": FRICTION_LAWS,
    "control law": CONTROL_LAWS,
}
CHOSEN: dict[str, tuple[type[Method], ...]] = {
    "formulation": FORMULATIONS,
    "integrator": INTEGRATORS,
    "closure": CLOSURES,
}
AUTO: dict[str, type[Method]] = {"formulation": Articulated, "integrator": AutoIntegrator, "closure": Multipliers}
# parameters of methods by their keys in files and on the command line
PARAMETERS: dict[str, tuple[type[Method], Parameter]] = {
    each.key: (method, each) for table in CHOSEN.values() for method in table for each in method.parameters()
}


class Methods(NamedTuple):
    """What a run is made with."""

    formulation: Formulation
    integrator: Integrator
    closure: Closure | None  # None: no loops


def find_method(family: str, given: Any, **parameters: Any) -> Any:
    """The method of a value, a name ("auto": the default) or a table {kind = name, parameter = ..}; parameters: more of
    them, by their keys."""
    table = CHOSEN[family]
    if isinstance(given, (*table, AUTO[family])):
        _refuse_others(given, parameters)
        return given
    if isinstance(given, type) and issubclass(given, table):
        return given()
    if isinstance(given, Mapping):
        own = {str(key): value for key, value in given.items() if key != "kind"}
        return find_method(family, given.get("kind", "auto"), **{**own, **parameters})
    if not parameters and isinstance(given, str):
        return _default(family, given)
    method = _find_class(family, given)
    return method(**_fields(method, parameters))


@cache
def _default(family: str, name: str) -> Method:
    return _find_class(family, name)()


def _find_class(family: str, name: Any) -> type[Method]:
    table, is_text = CHOSEN[family], isinstance(name, str)
    if is_text and name == "auto":
        return AUTO[family]
    for method in table:
        if is_text and method.name == name.replace("-", "_"):
            return method
    close = difflib.get_close_matches(name, [method.name for method in table], 1) if is_text else ()
    hint = f"; did you mean {close[0]!r}?" if close else ""
    allowed = ", ".join(["auto", *(method.name for method in table)])
    found = f"{name[:60]!r}" if is_text else f"of type {type(name).__name__}"
    raise ModelError(f"{family} {found} is not known{hint} (allowed: {allowed})")


def _fields(method: type[Method], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by the names of fields; those of another method are refused."""
    own = {each.key: each for each in method.parameters()} | {each.name: each for each in method.parameters()}
    found = {}
    for key, value in parameters.items():
        if key not in own:
            _refuse(method, key)
        found[own[key].name] = own[key].checked(value, key)
    return found


def _refuse_others(given: Any, parameters: Mapping[str, Any]) -> None:
    for key in parameters:
        raise ModelError(f"{key}: {given} is given with all its parameters; say {type(given).__name__}({key}=...)")


def _refuse(method: type[Method], key: str) -> None:
    if key not in PARAMETERS:
        own = ", ".join(each.key for each in method.parameters()) or "none"
        raise ModelError(f"{method.family} {method.name!r} has no parameter {quoted(key)}; it has {own}")
    owners = [other.name for other in CHOSEN[method.family] for each in other.parameters() if each.key == key] or [
        PARAMETERS[key][0].name
    ]
    raise ModelError(f"{key} has no effect with {method.family} {method.name!r}; it belongs to {', '.join(owners)}")


def check_supports(method: Method | type[Method], needs: Sequence[str]) -> None:
    """A message where a method does not support something."""
    for need in needs:
        if need not in method.supports:
            able = ", ".join(row.name for row in CHOSEN[method.family] if need in row.supports) or "none yet"
            raise ModelError(f"{method.family} {method.name!r} does not support {need}; these do: {able}")


def _needs(model: Model) -> tuple[str, ...]:
    """What a formulation must support to move a model."""
    return ("flexible bodies", "acceleration") if model.has_modes else ("acceleration",)


def find_formulation(given: Any, model: Model, **parameters: Any) -> Formulation:
    """A formulation that takes a model; parameters: of it, by their keys."""
    method: Formulation = find_method("formulation", given, **parameters)
    refusal = method.refusal(model)
    if refusal:
        able = ", ".join(row.name for row in formulations_of(model))
        raise ModelError(f"formulation {method.name!r} does not take model {model.name!r}: {refusal}; these do: {able}")
    check_supports(method, _needs(model))
    return method


def formulations_of(model: Model) -> tuple[type[Formulation], ...]:
    """Those that take a model, the default first."""
    return tuple(row for row in FORMULATIONS if set(_needs(model)) <= row.supports and not row.refusal(model))
