"""Options of one run of a model, checked together. Everything is refused here that can be refused before compiling."""

from __future__ import annotations

from typing import Any

from pliant.engine.arguments import as_model
from pliant.engine.run_options import RUN_OPTIONS, SIZES, allowed_memory, check_run, usual_atol
from pliant.errors import ModelError
from pliant.methods import CHOSEN, PARAMETERS, find_formulation, find_method, formulations_of
from pliant.methods.closures import CLOSURES, Closure
from pliant.methods.formulations import Formulation
from pliant.methods.integrators import INTEGRATORS, Integrator
from pliant.model.messages import quoted
from pliant.model.model import Model
from pliant.model.signals import SAME, Table, tables_in
from pliant.system.control_tables import SAME_INSTANT
from pliant.system.splines import extremes, jumps

MAX_ROWS = 10_000_000
SAME_RATE = 1e-6  # of the largest rate of a prescribed motion: a jump that is an error of its table
# of what a run keeps in memory: a row becomes columns, energies, outputs and files
ROW_COPIES = 4


def check_options(model: Model, /, begin: float = 0.0, **given: Any) -> dict[str, Any]:
    """All options with their defaults, every number in range, every method known: before anything is compiled.

    begin: of the run [s]."""
    for name in given:
        if name not in RUN_OPTIONS and name not in PARAMETERS:
            raise ModelError(f"simulate has no option {quoted(name)}; it has {', '.join(RUN_OPTIONS)}")
    check_run(as_model(model).run)
    of_call = {name: value for name, value in given.items() if name in RUN_OPTIONS and value is not None}
    options = {name: row.default for name, row in RUN_OPTIONS.items()} | {
        "duration": model.duration,
        **model.run,
        **of_call,
    }
    if options["duration"] is None:
        raise ModelError(
            f"model {model.name!r} has no duration of its own; say simulate(model, duration=...) in seconds, "
            "or --set duration=..."
        )
    for name, value in options.items():
        if value is not None and name not in CHOSEN:
            options[name] = RUN_OPTIONS[name].checked(value)
    _check_accuracy(options, of_call)
    if "atol" not in model.run and "atol" not in of_call:
        options["atol"] = usual_atol(options["rtol"])
    if options["sample"] is not None and not options["dense"]:
        raise ModelError("sample needs the dense output; leave dense=True")
    options |= _methods(model, options, {key: value for key, value in given.items() if key in PARAMETERS})
    for name in ("step", "max_step", "sample"):
        limit = MAX_ROWS if name == "sample" else options["max_steps"]
        if options[name] is not None and options["duration"] / options[name] > limit:
            raise ModelError(
                f"{name}: {options[name]:g} s fits more than {limit} times into {options['duration']:g} s; "
                "give a longer one"
            )
    check_tables(model, begin, begin + float(options["duration"]))
    for controller in model.controllers:
        if controller.law is None and not callable(controller.function):
            raise ModelError(
                f"controller {controller.name!r}: function {controller.function!r} is text, which only model files "
                "resolve; give the Python function itself"
            )
        if controller.period <= 10 * SAME_INSTANT:
            raise ModelError(f"controller {controller.name!r}: period {controller.period:g} s; give at least 1e-8 s")
    return options


def _check_accuracy(options: dict[str, Any], of_call: dict[str, Any]) -> None:
    """accuracy chooses the tolerances, from runs that are compared at equal times."""
    if options["accuracy"] is None:
        return
    for name in ("rtol", "atol"):
        if name in of_call:
            raise ModelError(f"accuracy chooses {name} itself; leave {name} out, or accuracy")
    if options["step"] is not None:
        raise ModelError("accuracy needs an integrator with error control, but step is given; leave out one of both")
    if not options["dense"]:
        raise ModelError("accuracy compares runs at equal times and needs their dense output; leave dense=True")


def _methods(model: Model, options: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Formulation, integrator and closure as values that go together; parameters: of theirs, by their keys."""
    own: dict[str, dict[str, Any]] = {family: {} for family in CHOSEN}
    for key, value in parameters.items():
        owner, _ = PARAMETERS[key]
        if value is not None:
            own[owner.family][key] = value
    integrator: Integrator = find_method("integrator", options["integrator"], **own["integrator"])
    if options["step"] is not None:
        integrator = integrator.first  # with fixed steps nothing says when to change
    elif "adaptive" not in integrator.supports:
        raise ModelError(
            f"integrator {integrator.name!r} has no error control; give a fixed step as well, such as step=0.001"
        )
    formulation = find_formulation(options["formulation"], model, **own["formulation"])
    _check_own_steps(model, formulation, integrator)
    _check_stages(model, formulation, integrator)
    return {
        "formulation": formulation,
        "integrator": integrator,
        "closure": _closure(model, options["closure"], own["closure"], integrator),
    }


def _check_own_steps(model: Model, formulation: Formulation, integrator: Integrator) -> None:
    """A formulation that makes the steps of an integrator itself may take less than its accelerations do."""
    refusal = formulation.step_refusal(model, integrator) if formulation.stepper(integrator) else ""
    if refusal:
        raise ModelError(
            f"formulation {formulation.name!r} makes the steps of integrator {integrator.name!r} itself, and those do "
            f"not take model {model.name!r}: {refusal}; with {formulation.name!r} dop853 and radau do, and "
            f"'articulated' with any integrator"
        )


def _check_stages(model: Model, formulation: Formulation, integrator: Integrator) -> None:
    """What semi-implicit integrators take."""
    if integrator.kind != "semi-implicit":
        return
    if not formulation.takes_stiffness:
        able = ", ".join(row.name for row in formulations_of(model) if row.takes_stiffness)
        raise ModelError(
            f"integrator {integrator.name!r} needs stiff forces in the mass matrix, which formulation "
            f"{formulation.name!r} does not take; take formulation {able}, or integrator radau"
        )
    if model.is_stiffened:
        raise ModelError(
            f"integrator {integrator.name!r} does not take model {model.name!r}: beams with coupling = 'stiffened' "
            "find their stiffness by a solve of their own; take coupling = 'high-order', or integrator radau"
        )


def takes_stages(model: Model, formulation: Formulation) -> bool:
    """Whether semi-implicit integrators take a model with a formulation."""
    return formulation.takes_stiffness and not model.is_stiffened


def _closure(model: Model, given: Any, parameters: dict[str, Any], integrator: Integrator) -> Closure | None:
    """None without loops, where nothing may be said about it."""
    closure: Closure = find_method("closure", given, **parameters)
    if not model.loops:
        if given != "auto" or parameters:
            name = "closure" if given != "auto" else next(iter(parameters))
            raise ModelError(f"{name} has no effect: model {model.name!r} has no loops; leave it out")
        return None
    if not closure.goes_with(integrator):
        able = ", ".join(other.name for other in CLOSURES if other().goes_with(integrator))
        others = [other.name for other in INTEGRATORS if closure.goes_with(other())]
        raise ModelError(
            f"closure {closure.name!r} does not go with integrator {str(integrator)!r}; it goes with "
            f"{', '.join(others)}, and {str(integrator)!r} with the closures {able}"
        )
    return closure


def with_values(model: Model, options: dict[str, Any]) -> dict[str, Any]:
    """Options of the command line, with the parameters of methods inside them (or inside those of the model)."""
    own = {key: value for key, value in options.items() if key in PARAMETERS}
    found = {key: value for key, value in options.items() if key not in own}
    for family in {PARAMETERS[key][0].family for key in own}:
        mine = {key: value for key, value in own.items() if PARAMETERS[key][0].family == family}
        found[family] = find_method(family, found.get(family, model.run.get(family, "auto")), **mine)
    return found


def settings_of(options: dict[str, Any]) -> dict[str, Any]:
    """How a run is made, as plain numbers and texts, under the keys of files and the command line."""
    settings: dict[str, Any] = {}
    for name, value in options.items():
        if name in CHOSEN:
            settings |= value.settings if value is not None else {}
        else:
            settings[name] = value
    return settings


def check_room(model: Model, options: dict[str, Any]) -> None:
    """Rows whose number is known before they are made must fit into the memory allowed."""
    for name in ("sample", "step"):
        if options[name] is None:
            continue
        count = options["duration"] / options[name]
        size = 8.0 * ROW_COPIES * count * (1 + len(model.coordinates) + len(model.velocities))
        if size > allowed_memory(options["memory"]):
            raise ModelError(
                f"{name}: {options[name]:g} s makes {count:.3g} rows, which take about {in_words(size)} of memory; "
                f"allowed are {in_words(allowed_memory(options['memory']))}: give a longer one, or more (memory)"
            )


def in_words(size: float) -> str:
    """Bytes as 1.5 GB."""
    for unit in ("tb", "gb", "mb", "kb"):
        if size >= SIZES[unit]:
            return f"{size / SIZES[unit]:.3g} {unit.upper().replace('KB', 'kB')}"
    return f"{size:.0f} B"


def check_tables(model: Model, begin: float, end: float) -> None:
    """A prescribed motion may not change its rate at once, as a table does where it begins or ends inside the run."""
    for link in model.links:
        for signal in link.joint.each("motion"):
            for table in tables_in(signal):
                if table.repeats and table.ends not in ("clamped", "periodic"):
                    raise ModelError(
                        f"joint {link.joint.name!r}: its motion is a table that repeats, and its rate would jump where "
                        'it begins anew; give ends="periodic"'
                    )
                if not table.repeats:
                    _check_jumps(link.joint.name, table, begin, end)


def _check_jumps(joint: str, table: Table, begin: float, end: float) -> None:
    """Jumps of value and rate of a table inside the run, over the largest value and rate."""
    values, rates = extremes(table)
    for time, jump, rate_jump in jumps(table):
        if not begin < time < end or (abs(jump) <= SAME * values and abs(rate_jump) <= SAME_RATE * rates):
            continue
        what = "rate" if abs(jump) <= SAME * values else "value"
        at_end = time in (table.times[0], table.times[-1])
        where = "where the table ends" if at_end else f"at its kink {time:g} s"
        advice = 'give ends="clamped", or a table that covers the run' if at_end else "leave the kink out"
        raise ModelError(
            f"joint {joint!r}: its motion is a table from {table.times[0]:g} s to {table.times[-1]:g} s, but the run "
            f"goes from {begin:g} s to {end:g} s and the {what} would jump {where}; {advice}"
        )
