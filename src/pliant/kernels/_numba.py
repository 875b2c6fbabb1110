"""What numba makes of kernels: object code. Nothing else in pliant configures numba.

numba's calling convention and array descriptor are not public: its upper version is pinned, and
tests/kernels/test_jit.py holds one test per assumption."""

import ctypes
import functools
import importlib
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, typeinfer
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from pliant.kernels import _whole

# Wrappers that nobody calls are a third of the compile time. Without reference counts (_nrt) a call that passes System
# and Work costs tens of ns instead of a microsecond; kernels therefore never allocate.
_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "nogil": True,
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
    "_nrt": False,
}
if _whole.IS_KNOWN and not numba.config.DEBUGINFO_DEFAULT:  # debuggers want all of numba's words
    from pliant.kernels._lean import KernelCompiler

    _OPTIONS["pipeline_class"] = KernelCompiler

_made: dict[int, Any] = {}  # what numba takes for functions of kernels and their modules, by the id of these
_mirrors: dict[int, tuple[dict[str, Any], ModuleType]] = {}  # namespaces of modules, and modules as numba sees them


# --- tables -----------------------------------------------------------------------------------------------------


class Table(types.Type):
    """Type of a pointer to the arrays of a NamedTuple."""

    def __init__(self, name: str, tuple_type: Any) -> None:
        self.tuple_type = tuple_type
        super().__init__(name=f"Table({name})")  # its layout is in the hash of the cache


@register_model(Table)
class _TableModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@infer_getattr
class _TableAttribute(AttributeTemplate):
    key = Table

    def generic_resolve(self, kind: Any, name: str) -> Any:
        fields = kind.tuple_type.fields
        return kind.tuple_type.types[fields.index(name)] if name in fields else None


@lower_getattr_generic(Table)
def _load_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    whole = context.get_value_type(kind.tuple_type)
    pointer = builder.inttoptr(value, whole.as_pointer())
    return builder.load(cgutils.gep_inbounds(builder, pointer, 0, kind.tuple_type.fields.index(name)))


def table_at(kind: Any) -> Any:
    table = _type(kind)

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return values[0]  # a Table is its address

        return table(address), codegen

    return at


# --- kernels ----------------------------------------------------------------------------------------------------


@functools.cache
def _type(kind: Any) -> Any:
    """numba's type of a Kind."""
    found = numba.typeof(kind.example)
    return Table(type(kind.example).__name__, found) if isinstance(kind.example, tuple) else found


def _signature(signature: Any) -> Any:
    return _type(signature.result)(*(_type(kind) for kind in signature.arguments))


def _copy(function: Callable[..., Any]) -> Any:
    """The function in the mirror of its module."""
    given, module = function.__globals__, sys.modules.get(function.__module__)
    if id(given) not in _mirrors:
        _mirrors[id(given)] = given, ModuleType(function.__module__)
        if module is not None:
            _made[id(module)] = _mirrors[id(given)][1]
    seen = vars(_mirrors[id(given)][1])
    copy = FunctionType(function.__code__, seen, function.__name__, function.__defaults__, function.__closure__)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def routine(function: Callable[..., Any]) -> Any:
    return numba.njit(**_OPTIONS)(_copy(function))


kernel = routine


def helper(function: Callable[..., Any]) -> Any:
    return numba.njit(**_OPTIONS, forceinline=True)(_copy(function))


def native(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"pliant.kernels.{module}"), name)


def caller(signature: Any) -> Any:
    """call(address, arguments) of kernels with this signature, for kernels."""
    contract = _signature(signature)

    @intrinsic
    def call(typing_context: Any, addr: Any, args: Any) -> Any:
        signature = contract.return_type(addr, args)

        def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            packed = values[1]
            actual = [
                context.cast(builder, builder.extract_value(packed, i), args.types[i], wanted)
                for i, wanted in enumerate(contract.args)
            ]
            function = context.call_conv.get_function_type(contract.return_type, contract.args)
            pointer = builder.inttoptr(values[0], function.as_pointer())
            status, result = context.call_conv.call_function(
                builder, pointer, contract.return_type, contract.args, actual
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        return signature, codegen

    return call


# --- machine code -----------------------------------------------------------------------------------------------


def compiled(function: Callable[..., Any], signature: Any, noted: Mapping[Any, Callable[[Any], Any]]) -> Any:
    """numba's result for the one signature of a kernel. noted: how each function in the modules is made numba's."""
    me = importlib.import_module(__name__)
    for other, make in list(noted.items()):
        if id(other) not in _made:
            _made[id(other)] = make(me)
    for given, mirror in _mirrors.values():  # modules may have grown
        vars(mirror).update({name: _made.get(id(value), value) for name, value in given.items()})
    dispatcher = _made[id(function)]
    if not dispatcher.overloads:
        with _whole.compiled_whole(dispatcher.__qualname__), typeinfer.register_dispatcher(dispatcher):
            dispatcher.compile(_signature(signature))
            dispatcher.disable_compile()
    return dispatcher.overloads[dispatcher.signatures[0]]


def object_code(result: Any, symbol: str) -> tuple[Sequence[str], bytes]:
    """(symbols that it asks for, object code) of a kernel alone, under a name."""
    module = llvm.parse_bitcode(result.library._final_module.as_bitcode())
    kernel = module.get_function(result.fndesc.llvm_func_name)
    kernel.name, kernel.linkage = symbol, llvm.Linkage.external
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = llvm.Linkage.internal
    machine = result.library.codegen._tm
    drop_unused(module, machine)
    declared = [value for value in (*module.functions, *module.global_variables) if value.is_declaration]
    return [value.name for value in declared if not value.name.startswith("llvm.")], machine.emit_object(module)


def drop_unused(module: Any, machine: Any) -> None:
    """Internal functions that nobody calls (any more)."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))


class _Raised(ctypes.Structure):
    """What a kernel leaves behind an exception (an index out of bounds, under NUMBA_BOUNDSCHECK=1)."""

    _fields_ = (("pickled", ctypes.c_void_p), ("n_bytes", ctypes.c_int32))


def exception_at(address: int) -> Any:
    raised = _Raised.from_address(address)
    kind, arguments, *_ = pickle.loads(ctypes.string_at(raised.pickled, raised.n_bytes))
    return kind(*arguments)
