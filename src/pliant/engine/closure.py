"""How the loops of a model are closed: the choice of a closure and its numbers, put where kernels look for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.engine.arguments import as_flag
from pliant.errors import ModelError
from pliant.methods import CLOSURES, Method, find_method
from pliant.model.loops import SPRING_FORMS
from pliant.model.messages import quoted
from pliant.system.loop_tables import SpringForm

# options of simulate and their defaults
CLOSURE_OPTIONS: dict[str, Any] = {
    "closure": "auto",
    "closure_stiffness": 1e6,
    "closure_damping": 0.0,
    "closure_form": "elongation",
    "closure_prestretch": False,
    "baumgarte": 0.0,
}


@dataclass(frozen=True)
class Closing:
    """A closure with its numbers."""

    name: str = "auto"  # row of methods.CLOSURES
    stiffness: float = 1e6  # of springs [N/m, N m/rad]
    damping: float = 0.0  # of springs [N s/m, N m s/rad]
    form: str = "elongation"  # of springs: one of SPRING_FORMS
    prestretch: bool = False  # springs start as the multipliers would stretch them
    baumgarte: float = 0.0  # of multipliers [1/s]

    @property
    def method(self) -> Method:
        return find_method("closure", self.name)

    def enter(self, run: Any) -> None:
        """Put addresses and numbers into work.run, where run.formulation is that of the open tree."""
        run.open_formulation = run.formulation
        run.loop_stiffness, run.loop_damping, run.baumgarte = self.stiffness, self.damping, self.baumgarte
        run.loop_form = SpringForm(SPRING_FORMS.index(self.form))
        self.look_at_states(run)

    def gives(self, integrator: str) -> bool:
        """Whether the multipliers are unknowns of the integrator: loops closed implicitly, and springs in steps of the
        alpha family, to which they are then not stiff."""
        is_alpha = find_method("integrator", integrator).module.endswith("generalised_alpha")
        return self.method.name == "implicit" or (
            self.method.name == "springs" and self.form == "elongation" and is_alpha
        )

    def look_at_states(self, run: Any) -> None:
        """As before a run: every state is looked at by itself."""
        address = _addresses()
        run.impose = run.settle = run.conditions = run.holds_choice = run.loop_forces = run.closed_formulation = 0
        if self.method.name == "springs":
            run.loop_forces = address("springs", "gather_loop_springs")
            return
        # multipliers from the equations of motion
        run.formulation = address("multipliers", "close")
        if self.method.name == "reduced":
            run.impose = address("reduced", "impose")
        if self.method.name == "implicit":
            run.settle = address("given", "settle")
        elif self.method.name == "multipliers" and self.baumgarte == 0.0:
            run.settle = address("multipliers", "project")
        else:
            run.settle = address("multipliers", "project_beside")

    def give(self, work: Any) -> None:
        """Multipliers as the integrator puts them; those of work are the first."""
        run, address = work.run[0], _addresses()
        run.formulation, run.loop_forces = run.open_formulation, address("springs", "gather_given_multipliers")
        run.conditions = address("given", "conditions")
        run.compliance = 0.0
        if self.method.name == "implicit":
            run.closed_formulation = address("multipliers", "close")
        if self.method.name == "springs":
            # redundant ones too: each has its spring
            run.compliance, run.n_dependent = 1.0 / self.stiffness, len(work.closings)
            work.condition_order[:] = range(len(work.closings))


def _addresses() -> Callable[[str, str], int]:
    import importlib

    from pliant.kernels import _jit

    return lambda module, name: _jit.address(
        getattr(importlib.import_module(f"pliant.kernels.closures.{module}"), name)
    )


def without_idle(options: dict[str, Any]) -> dict[str, Any]:
    """Options but those that the closure chosen does not look at."""
    used = find_method("closure", options["closure"]).options if options["closure"] else ()
    idle = [key for key in CLOSURE_OPTIONS if key not in used and (key != "closure" or not options["closure"])]
    return {key: value for key, value in options.items() if key not in idle}


def closing_of(options: dict[str, Any]) -> Closing:
    """As checked options say, or the settings of a Result."""
    if options.get("closure") is None:
        return Closing()
    return Closing(*(options.get(name, default) for name, default in CLOSURE_OPTIONS.items()))


def check_closure(name: str, has_loops: bool, options: dict[str, Any], given: dict[str, Any], scheme: Method) -> None:
    """The closure is known, fits the integrator, and takes the numbers given. name: of the model."""
    row = find_method("closure", options["closure"])
    if not isinstance(options["closure_form"], str) or options["closure_form"] not in SPRING_FORMS:
        raise ModelError(
            f"closure_form: {quoted(options['closure_form'])} found; give one of {', '.join(SPRING_FORMS)}"
        )
    options["closure_prestretch"] = as_flag(options["closure_prestretch"], "closure_prestretch")
    asked = [key for key, default in CLOSURE_OPTIONS.items() if key in given and options[key] != default]
    if not has_loops:
        if asked:
            raise ModelError(f"{asked[0]} has no effect: model {name!r} has no loops; leave it out")
        options["closure"] = None
        return
    for key in asked:
        if key != "closure" and key not in row.options:
            takers = ", ".join(other.name for other in CLOSURES if key in other.options)
            raise ModelError(f"{key} has no effect with closure {row.name!r}; it belongs to {takers}")
    family = scheme.module.rpartition(".")[2]
    kind = {"runge_kutta": "explicit", "radau": "radau"}.get(family, "alpha") + " integrators"
    if kind not in row.supports:
        able = ", ".join(other.name for other in CLOSURES if kind in other.supports)
        how = "choose generalised_alpha, hht or newmark with a step, or " if row.name == "implicit" else ""
        raise ModelError(
            f"closure {row.name!r} does not go with integrator {scheme.name!r}; {how}a closure that does: {able}"
        )
    options["closure"] = row.name
