"""Compile every contract kernel with numba for one processor level, and link them into one Python extension:

    python compile_kernels.py OUT.so

All kernels become one LLVM module and one object; entry.c makes an extension of it, by tables that are written here.
Uses inner parts of numba, whose version pyproject.toml pins. Kernels need nothing but libm and libc."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

LEVEL = "x86-64-v3"
HERE = Path(__file__).parent
# what numba has to compile for; on the spot, the same settings give the same bits
SETTINGS = {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": "", "PLIANT_JIT": "1"}


def all_kernels() -> list[tuple[str, Any, Any]]:
    """Name, function and contract of every contract kernel there is."""
    from pliant import kernels
    from pliant.kernels import _jit

    for module in pkgutil.walk_packages(kernels.__path__, "pliant.kernels."):
        if module.name != "pliant.kernels._prebuilt":
            importlib.import_module(module.name)
    return [(name, function, contract) for name, (function, contract) in _jit.KERNELS.items()]


def object_code(kernels: list[tuple[str, Any, Any]]) -> bytes:
    """One object of all kernels, each by the symbol of its place in the list."""
    import llvmlite.binding as ll
    from numba import config

    from pliant.kernels._compiled import compiled
    from pliant.kernels._numba import drop_unused

    ll.initialize_native_target()
    ll.initialize_native_asmprinter()
    target = ll.Target.from_triple(ll.get_process_triple())
    machine = target.create_target_machine(
        cpu=LEVEL, features="", opt=int(config.OPT), reloc="pic", codemodel="default"
    )
    whole = ll.parse_assembly("")
    whole.triple, whole.data_layout = ll.get_process_triple(), str(machine.target_data)
    for i, (_, kernel, _) in enumerate(kernels):
        result = compiled(kernel)
        module = ll.parse_bitcode(result.library._final_module.as_bitcode())
        function = module.get_function(result.fndesc.llvm_func_name)
        function.name, function.linkage, function.visibility = symbol(i), ll.Linkage.external, "hidden"
        whole.link_in(module)
    wanted = {symbol(i) for i in range(len(kernels))}
    for value in (*whole.functions, *whole.global_variables):
        if not value.is_declaration and value.name not in wanted:
            value.linkage = ll.Linkage.internal
    drop_unused(whole, machine)
    whole.verify()
    return machine.emit_object(whole)


def symbol(i: int) -> str:
    return f"pliant_kernel_{i}"


# --- tables of entry.c ------------------------------------------------------------------------------------------


def as_array(array: Any) -> str:
    """`Array` of entry.c."""
    form = "r" if array.dtype.fields is not None else {"float64": "d", "int64": "q"}[array.dtype.name]
    return f"{{'{form}', {array.ndim}, {array.itemsize}}}"


def as_argument(example: Any, kinds: dict[str, Any]) -> str:
    """`Argument` of entry.c; notes tables."""
    if isinstance(example, tuple):
        name = type(example).__name__
        place = list({**kinds, name: None}).index(name)
        kinds.setdefault(name, example)
        return f"{{TABLES, {{0}}, &TABLE_KINDS[{place}]}}"
    if isinstance(example, (int, float)):
        return f"{{{'INTEGER' if isinstance(example, int) else 'REAL'}, {{0}}, NULL}}"
    return f"{{ARRAY, {as_array(example)}, NULL}}"


def slot_fields(example: Any) -> list[str]:
    """Members of the slots that an argument takes: i or d."""
    if isinstance(example, tuple | int):
        return ["i"]
    return ["d"] if isinstance(example, float) else ["i"] * (5 + 2 * example.ndim)


def table_header(kernels: list[tuple[str, Any, Any]], facts: dict[str, str]) -> str:
    """table.h: what entry.c knows of the kernels."""
    kinds: dict[str, Any] = {}
    patterns: dict[str, tuple[int, list[str]]] = {}  # arguments in C: number, slots
    rows, most_arrays = [], 1
    for i, (name, _, contract) in enumerate(kernels):
        examples = [kind.example for kind in contract.signature.arguments]
        arguments = ", ".join(as_argument(example, kinds) for example in examples)
        members = [member for example in examples for member in slot_fields(example)]
        number, _ = patterns.setdefault(arguments, (len(patterns), members))
        most_arrays = max(most_arrays, sum(hasattr(example, "dtype") for example in examples))
        if contract.is_entered:
            assert contract.signature.result.example == 0, f"{name} is entered and returns no integer"
        call = f"call_{number}" if contract.is_entered else "NULL"
        rows.append(f'    {{"{name}", {symbol(i)}, {len(examples)}, ARGUMENTS_{number}, {call}}},')
    lines = [
        *(f'#define {name} "{value}"' for name, value in facts.items()),
        f"enum {{ MOST_ARRAYS = {most_arrays}, MOST_SLOTS = {max(len(slots) for _, slots in patterns.values())} }};",
    ]
    for name, tables in kinds.items():
        lines.append(f"static const Array ARRAYS_{name}[] = {{{', '.join(as_array(array) for array in tables)}}};")
    names = ", ".join(f'{{"{name}", {len(tables)}, ARRAYS_{name}}}' for name, tables in kinds.items())
    lines.append(f"static const Tables TABLE_KINDS[] = {{{names}}};")
    entered = {row.split("call_")[1].split("}")[0] for row in rows if "call_" in row}
    for arguments, (number, members) in patterns.items():
        lines.append(f"static const Argument ARGUMENTS_{number}[] = {{{arguments}}};")
        if str(number) not in entered:
            continue
        types = "".join(", double" if member == "d" else ", int64_t" for member in members)
        values = "".join(f", slots[{i}].{member}" for i, member in enumerate(members))
        lines.append(
            f"static int call_{number}(const void *function, const Slot *slots, int64_t *result) {{\n"
            f"    void *exception = NULL;\n"
            f"    return ((int (*)(int64_t *, void **{types}))function)(result, &exception{values});\n}}"
        )
    lines += [f"extern const char {symbol(i)}[];" for i in range(len(kernels))]
    return "\n".join([*lines, "static const Kernel KERNELS[] = {", *rows, "};", ""])


# --- the extension ----------------------------------------------------------------------------------------------


def link(kernels: list[tuple[str, Any, Any]], out: Path, level: str = LEVEL) -> None:
    """The extension of kernels that were compiled for LEVEL; it loads where the processor has `level`."""
    import llvmlite
    import numba

    from pliant.kernels import _ready

    made_by = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}"
    with tempfile.TemporaryDirectory() as scratch:
        code = Path(scratch) / "kernels.o"
        code.write_bytes(object_code(kernels))
        facts = {"LEVEL": level, "SOURCES": _ready.hashed_sources(), "MADE_BY": made_by}
        (Path(scratch) / "table.h").write_text(table_header(kernels, facts))
        compiler = [*os.environ.get("CC", "cc").split(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"]
        places = [f"-I{scratch}", f"-I{sysconfig.get_path('include')}", str(HERE / "entry.c"), str(code)]
        shared = ["-fPIC", "-fvisibility=hidden", "-shared", "-s"]
        subprocess.run([*compiler, *shared, *places, "-lm", "-o", str(out)], check=True)
    print(f"{len(kernels)} kernels for {LEVEL}, made by {made_by}: {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in SETTINGS.items()):
        # numba reads its settings when it is imported
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **SETTINGS})
    link(all_kernels(), Path(sys.argv[1]).absolute())
