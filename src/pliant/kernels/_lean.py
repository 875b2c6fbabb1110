"""numba's front end without what kernels have no use for: a third of the time that compiling takes.

Kernels hold no closures, generators, exceptions, strings, array expressions or reference counts, so that half of
numba's passes look for what is not there; more goes into timers, debuggers and answers that were given before. Uses
inner parts of numba: _whole.py says for which versions."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from numba.core import base, cpu, errors, event, ir, lowering, postproc, transforms, types
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NoPythonBackend, NopythonTypeInference, PreLowerStripPhis
from numba.core.typing.context import BaseContext
from numba.core.untyped_passes import FixupArgs, GenericRewrites, IRProcessing, ReconstructSSA, TranslateByteCode

# --- passes -----------------------------------------------------------------------------------------------------


class _Lower(lowering.Lower):
    """Statements of numba into those of LLVM, without words for debuggers."""

    def pre_block(self, block: Any) -> None:
        self._cur_ir_block = block

    def lower_block(self, block: Any) -> None:
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            self.lower_inst(statement)

    def lower_inst(self, statement: Any) -> None:
        if type(statement) is not ir.Assign:
            super().lower_inst(statement)
            return
        name = statement.target.name
        self.storevar(self.lower_assign(self.typeof(name), statement), name)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        return lowering.cgutils.alloca_once(self.builder, lltype, name=name)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        return _Lower


# Not there: what looks for closures, with blocks, literal_unroll, raised values and array expressions, prunes branches
# (LLVM does) and marks the ends of variables' lives (for reference counts).
PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    GenericRewrites,  # constant indices of tuples
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    _Lowering,
    NoPythonBackend,
)


class _Passes(PassManager):
    def __init__(self) -> None:
        super().__init__("kernel")
        for each in PASSES:
            self.add_pass(each, each.__name__)
        self.finalize()

    def _runPass(self, index: int, each: Any, state: Any) -> None:
        each.analysis = self._analysis
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


class KernelCompiler(CompilerBase):
    """What numba compiles kernels with (its option pipeline_class)."""

    def define_pipelines(self) -> list[Any]:
        return [_Passes()]


# --- in place of numba's own functions ----------------------------------------------------------------------------


def _variables(value: Any) -> list[Any]:
    """All that an expression of numba holds."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind is ir.Expr:
        return _variables_in(value._kws.values())
    if kind is list or kind is tuple:
        return _variables_in(value)
    if isinstance(value, ir.Inst):
        return value.list_vars()
    return _variables_in(value.values()) if kind is dict else []


def _variables_in(values: Any) -> list[Any]:
    return [variable for value in values for variable in _variables(value)]


def _variables_of_assignment(statement: Any) -> list[Any]:
    return [*_variables(statement.value), statement.target]


def _post_process(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Lifetimes of variables are found only when they are asked for."""
    function = processor.func_ir
    if emit_dels or function.is_generator:
        _ORIGINALS[postproc.PostProcessor, "run"](processor, emit_dels, extend_lifetimes)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)
    function.generator_info = None


_call_types: dict[Any, dict[Any, Any]] = {}


def _call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Signature of a call of one of numba's own functions: the same for the same types."""
    original = _ORIGINALS[types.BaseFunction, "get_call_type"]
    if kws:
        return original(function, context, args, kws)
    known = _call_types.setdefault(function, {})
    if args not in known:
        known[args] = original(function, context, args, kws)
    return known[args]


def _user_function_type(context: Any, function: Any, args: Any, kws: Any, literals: Any = None) -> Any:
    """Functions have no attribute __call__ to look for."""
    found = context._lookup_global(function) or function
    if isinstance(found, (types.Function, types.Dispatcher)):
        return found.get_call_type(context, args, kws)
    return _ORIGINALS[BaseContext, "_resolve_user_function_type"](context, function, args, kws, literals)


def _load_registries(context: Any) -> None:
    """The first time with imports of many modules of numba's; then only what is new."""
    if not context._registries:
        _ORIGINALS[cpu.CPUContext, "load_additional_registries"](context)
    for registry in list(context._registries):
        context.install_registry(registry)


def _optimise_functions(library: Any, module: Any) -> None:
    """No reference counts are looked for, nor anything in declarations."""
    codegen = library._codegen
    module.data_layout = codegen._data_layout
    builder = codegen._pass_builder()
    passes = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


_REPLACED: dict[tuple[Any, str], Any] = {
    (ir.Expr, "list_vars"): _variables,
    (ir.Assign, "list_vars"): _variables_of_assignment,
    (postproc.PostProcessor, "run"): _post_process,
    (types.BaseFunction, "get_call_type"): _call_type,
    (BaseContext, "_resolve_user_function_type"): _user_function_type,
    (cpu.CPUContext, "load_additional_registries"): _load_registries,
    (CPUCodeLibrary, "_optimize_functions"): _optimise_functions,
    # whether an implementation takes a place in the source
    (base, "_has_loc"): functools.cache(base._has_loc),
    # timers that nobody reads
    (event, "start_event"): lambda kind, data=None: None,
    (event, "end_event"): lambda kind, data=None, exc_details=None: None,
    # of types that do not convert safely: kernels have none
    (errors.WarningsFixer, "catch_warnings"): lambda fixer, filename=None, lineno=None: nullcontext(),
}
_ORIGINALS = {(owner, name): getattr(owner, name) for owner, name in _REPLACED}


@contextmanager
def lean() -> Iterator[None]:
    """Inside, numba compiles with these in place of its own. Other threads must not compile meanwhile."""
    for (owner, name), replacement in _REPLACED.items():
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for (owner, name), original in _ORIGINALS.items():
            setattr(owner, name, original)
