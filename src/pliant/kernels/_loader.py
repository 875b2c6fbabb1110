"""Machine code of kernels in memory, and calls of it from Python. Needs llvmlite, but not numba.

A kernel has numba's calling convention: int f(int64_t *result, void **exception, arguments), where an array is its
descriptor: owner, parent (both none), number of items, item size, data, shape, strides."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm

SYMBOL = "kernel"  # the function in the object code of every kernel
DOES_NOT_FIT = -1000  # arguments: none of numba's return codes
_engines: list[Any] = []  # they own the code in memory
_methods: list[Any] = []  # of functions in Python, which point to them


@functools.cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in re.findall(r"@(Py\w+)", _FUNCTION):
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    return llvm.Target.from_triple(llvm.get_process_triple())


def _machine() -> Any:
    reloc = "static" if _target().name.startswith("x86") else "default"
    return _target().create_target_machine(opt=1, reloc=reloc, codemodel="jitdefault", jit=True)


def _new_engine() -> Any:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    _engines.append(engine)
    return engine


def processor() -> str:
    """What machine code was made for."""
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def is_known(symbol: str) -> bool:
    """Whether this process has it: LLVM ends the process where a symbol is missing."""
    if not _engines:  # the first makes LLVM look into the process
        _new_engine()
    return llvm.address_of_symbol(symbol) is not None


def loaded(code: bytes) -> int:
    """Address of the function SYMBOL of an object, which stays in memory."""
    parsed = llvm.ObjectFileRef.from_data(code)
    if not parsed._ptr:
        raise ValueError("this is no object code")
    engine = _new_engine()  # one each: names may meet
    engine.add_object_file(parsed)
    engine.finalize_object()
    address = int(engine.get_function_address(SYMBOL))
    if not address:
        raise ValueError(f"there is no {SYMBOL} in this code")
    return address


# --- calls from Python ------------------------------------------------------------------------------------------

# Py_buffer of Python's stable interface where pointers have 64 bits: its size, and where its fields are
VIEW, ITEM_SIZE, N_DIMS, FORMAT, SHAPE, STRIDES = 80, 24, 36, 40, 48, 56
C_ORDER, WITH_FORMAT = 0x38, 0x4  # what a view is asked for: shape and strides in C order; kind of items

_FUNCTION = """
declare ptr @PyObject_CallFunction(ptr, ptr, ...)
declare i64 @PyLong_AsLongLong(ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyErr_Occurred()
declare i32 @PyObject_GetBuffer(ptr, ptr, i32)
declare void @PyBuffer_Release(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@format = private constant [3 x i8] c"iK\\00"

define ptr @{symbol}(ptr %self, ptr %given, i64 %count) {{
  %views = alloca [{size} x i8], align 8
  %result = alloca i64
  %exception = alloca ptr
  %status = alloca i32
  store ptr null, ptr %exception
  store i32 {does_not_fit}, ptr %status
  call void @llvm.memset.p0.i64(ptr %views, i8 0, i64 {size}, i1 false)
  %are_all = icmp eq i64 %count, {n_arguments}
  br i1 %are_all, label %convert, label %failed
convert:
  {convert}
  %error = call ptr @PyErr_Occurred()
  %is_fine = icmp eq ptr %error, null
  br i1 %is_fine, label %look, label %end
look:
  {look}
  br i1 %fits_{n_arguments}, label %enter, label %failed
enter:
  {enter}
  %first = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %address = call i64 @PyLong_AsLongLong(ptr %first)
  %function = inttoptr i64 %address to ptr
  %thread = call ptr @PyEval_SaveThread()
  %returned = call i32 %function(ptr %result, ptr %exception{slots})
  call void @PyEval_RestoreThread(ptr %thread)
  store i32 %returned, ptr %status
  %is_done = icmp eq i32 %returned, 0
  br i1 %is_done, label %done, label %failed
done:
  %value = load i64, ptr %result
  %number = call ptr @PyLong_FromLongLong(i64 %value)
  br label %end
failed:
  %code = load i32, ptr %status
  %reason = load ptr, ptr %exception
  %second = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %raised = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr %second, ptr @format, i32 %code, ptr %reason)
  br label %end
end:
  %found = phi ptr [%number, %done], [%raised, %failed], [null, %convert]
  {release}
  ret ptr %found
}}
"""


def calling_code(examples: Sequence[Any]) -> bytes:
    """Object code of a function for Python (METH_FASTCALL) that calls kernels with such arguments.

    Its `self` is (address of the kernel, failed). Numbers are converted, arrays looked at (C order, dimensions, size
    of items, numbers or not), the interpreter's lock is released. failed(status, exception) is to raise something:
    with DOES_NOT_FIT if arguments do not fit, else with what the kernel left."""
    parts: dict[str, list[str]] = {"convert": [], "look": ["%fits_0 = and i1 true, true"], "enter": [], "release": []}
    slots = ""
    n_views = 0
    for i, example in enumerate(examples):
        parts["convert"] += [
            f"%place_{i} = getelementptr ptr, ptr %given, i64 {i}",
            f"%object_{i} = load ptr, ptr %place_{i}",
        ]
        if isinstance(example, float):
            parts["convert"].append(f"%x_{i} = call double @PyFloat_AsDouble(ptr %object_{i})")
            slots += f", double %x_{i}"
        elif isinstance(example, (int, tuple)):
            parts["convert"].append(f"%x_{i} = call i64 @PyLong_AsLongLong(ptr %object_{i})")
            slots += f", i64 %x_{i}"
        else:
            place = f"getelementptr i8, ptr %views, i64 {VIEW * n_views}"
            n_views += 1
            flags = C_ORDER | (0 if example.dtype.fields else WITH_FORMAT)  # records are known by their size
            parts["convert"] += [
                f"%view_{i} = {place}",
                f"call i32 @PyObject_GetBuffer(ptr %object_{i}, ptr %view_{i}, i32 {flags})",
            ]
            parts["release"] += [f"%release_{i} = {place}", f"call void @PyBuffer_Release(ptr %release_{i})"]
            parts["look"] += _looked_at(i, example)
            parts["enter"] += _described(i, example)
            sides = (f", i64 %{name}_{i}_{d}" for name in ("shape", "strides") for d in range(example.ndim))
            slots += f", ptr null, ptr null, i64 %items_{i}, i64 {example.itemsize}, ptr %data_{i}{''.join(sides)}"
            continue
        parts["look"].append(f"%fits_{i + 1} = and i1 %fits_{i}, true")
    text = _FUNCTION.format(
        symbol=SYMBOL, does_not_fit=DOES_NOT_FIT, size=max(VIEW * n_views, 8), n_arguments=len(examples), slots=slots,
        **{name: "\n  ".join(lines) for name, lines in parts.items()},
    )  # fmt: skip
    module = llvm.parse_assembly(text)
    module.verify()
    return bytes(_machine().emit_object(module))


def _field(name: str, i: int, offset: int, kind: str) -> list[str]:
    return [
        f"%at_{name}_{i} = getelementptr i8, ptr %view_{i}, i64 {offset}",
        f"%{name}_{i} = load {kind}, ptr %at_{name}_{i}",
    ]


def _looked_at(i: int, example: Any) -> list[str]:
    """%fits_(i + 1): whether an array has the dimensions and the items that the kernel reads."""
    lines = [
        *_field("dims", i, N_DIMS, "i32"),
        *_field("size", i, ITEM_SIZE, "i64"),
        f"%a_{i} = icmp eq i32 %dims_{i}, {example.ndim}",
        f"%b_{i} = icmp eq i64 %size_{i}, {example.itemsize}",
        f"%ab_{i} = and i1 %a_{i}, %b_{i}",
    ]
    if example.dtype.fields:
        return [*lines, f"%fits_{i + 1} = and i1 %fits_{i}, %ab_{i}"]
    return [
        *lines,
        *_field("format", i, FORMAT, "ptr"),
        f"%letter_{i} = load i8, ptr %format_{i}",
        f"%is_real_{i} = icmp eq i8 %letter_{i}, {ord('d')}",
        f"%c_{i} = icmp eq i1 %is_real_{i}, {int(example.dtype.kind == 'f')}",
        f"%abc_{i} = and i1 %ab_{i}, %c_{i}",
        f"%fits_{i + 1} = and i1 %fits_{i}, %abc_{i}",
    ]


def _described(i: int, example: Any) -> list[str]:
    """The parts of an array's descriptor."""
    lines = [*_field("data", i, 0, "ptr"), *_field("length", i, 16, "i64"), *_field("shape", i, SHAPE, "ptr")]
    lines += [*_field("strides", i, STRIDES, "ptr"), f"%items_{i} = sdiv i64 %length_{i}, {example.itemsize}"]
    for name in ("shape", "strides"):
        for d in range(example.ndim):
            lines += [
                f"%at_{name}_{i}_{d} = getelementptr i64, ptr %{name}_{i}, i64 {d}",
                f"%{name}_{i}_{d} = load i64, ptr %at_{name}_{i}_{d}",
            ]
    return lines


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


FASTCALL = 0x80


def python_function(calling: int, kernel: int, failed: Callable[[int, int], None]) -> Any:
    """A function that calls the kernel at an address; calling: where its calling_code was loaded."""
    method = _Method(b"kernel", calling, FASTCALL, None)
    _methods.append(method)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(ctypes.addressof(method), (kernel, failed), None)
