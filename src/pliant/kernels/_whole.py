"""Kernels compiled as a whole: their helpers stay bitcode until they are linked in, and numba loads nothing.

numba optimises every helper and emits machine code for it, though only the kernels are ever called: a quarter of the
compile time. Its front end does much that kernels have no use for (_lean.py). Uses inner parts of numba: where its
version is none of KNOWN, plain numba compiles everything."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba

KNOWN = ("0.68",)  # for which tests/kernels/test_jit.py has passed
IS_KNOWN = numba.__version__.rpartition(".")[0] in KNOWN

if IS_KNOWN:  # elsewhere these may not even be there
    from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
    from numba.core.compiler_lock import global_compiler_lock

    from pliant.kernels._lean import lean

    _finalize, _set_env = JITCodeLibrary.finalize, JITCPUCodegen.set_env


def _finalize_as_bitcode(library: Any, is_kernel: bool) -> None:
    """As numba's own finalize, but nothing is emitted; helpers a little optimised, so that they are small."""
    for other in dict.fromkeys(library._linking_libraries):
        library._reload_init.update(other._reload_init)
        library._final_module.link_in(other._get_module_for_linking(), preserve=True)
    codegen = library._codegen
    if is_kernel:
        library._optimize_final_module()
        library._final_module.verify()
    else:
        passes, builder = codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=codegen._opt_level, cost="cheap"
        )
        passes.run(library._final_module, builder)
    library._finalize_dynamic_globals()
    library._finalized = True


def _set_env_if_emitted(codegen: Any, name: str, env: Any) -> None:
    if codegen._engine.is_symbol_defined(name):
        _set_env(codegen, name, env)


@contextmanager
def compiled_whole(name: str) -> Iterator[None]:
    """Whatever is compiled inside, but the function of this name, is a helper. Other threads wait."""

    def finalize(library: Any) -> None:
        _finalize_as_bitcode(library, is_kernel=library.name == name)

    if not IS_KNOWN:
        yield
        return
    with global_compiler_lock:
        before = JITCodeLibrary.finalize, JITCPUCodegen.set_env
        JITCodeLibrary.finalize, JITCPUCodegen.set_env = finalize, _set_env_if_emitted
        collects = gc.isenabled()
        gc.disable()  # a million small objects that stay: looking through them is a tenth of the compile time
        try:
            with lean():
                yield
        finally:
            if collects:
                gc.enable()
            JITCodeLibrary.finalize, JITCPUCodegen.set_env = before
