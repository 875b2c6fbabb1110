"""Keywords of simulate that are parameters of methods now: they work one release longer, with the new form shown."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypedDict

from pliant.methods import PARAMETERS
from pliant.model.messages import quoted


class MovedOptions(TypedDict, total=False):
    """Until 0.2."""

    rho_inf: float | None
    alpha: float | None
    beta: float | None
    gamma: float | None
    closure_stiffness: float
    closure_damping: float
    closure_form: str
    closure_prestretch: bool
    baumgarte: float


def warn_of_moved(moved: Mapping[str, Any], stacklevel: int = 3) -> dict[str, Any]:
    """The keywords, after a warning that says where they belong."""
    for key in moved:
        if key in PARAMETERS and moved[key] is not None:
            method, parameter = PARAMETERS[key]
            warnings.warn(
                f"{key} is a parameter of {method.name}: "
                f"say {method.family}=pliant.{method.__name__}({parameter.name}={quoted(moved[key])})",
                DeprecationWarning,
                stacklevel=stacklevel,
            )
    return dict(moved)
