"""numba's private ground, one test per assumption; the cache; the kernels uncompiled and bounds-checked."""

import os
import subprocess
import sys
import textwrap

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from calls_by_address import through
from paths import SUPPORT
from pliant.kernels import _jit, _numba, _whole
from pliant.kernels._jit import DERIVATIVE, QUERY, address, entry, kernel
from pliant.kernels.tables import Pinned
from pliant.system.tables import empty_system
from pliant.system.work import new_work


@kernel(DERIVATIVE)
def doubled(system, work, t, y, ydot):
    for i in range(len(y)):
        ydot[i] = 2.0 * y[i] + t
    return 7


@kernel(DERIVATIVE)
def halved(system, work, t, y, ydot):
    for i in range(len(y)):
        ydot[i] = 0.5 * y[i]
    return 8


@pytest.mark.parametrize(("function", "status", "expected"), [(doubled, 7, [3.0, 5.0]), (halved, 8, [0.5, 1.0])])
def test_call_by_address_passes_arguments_and_returns_the_status(function, status, expected):
    system, work = Pinned(empty_system()), Pinned(new_work(empty_system()))
    ydot = np.zeros(2)
    found = entry(through)(system.ref, work.ref, address(function), 1.0, np.array([1.0, 2.0]), ydot)
    assert found == status
    assert ydot.tolist() == expected


def test_contract_kernel_has_exactly_one_signature():
    address(doubled)
    if _jit.IS_COMPILED:
        assert len(doubled.signatures) == 1


def test_a_kernel_is_compiled_when_it_is_needed_first_and_once():
    lines = run_python(
        """
        from pliant.kernels import _jit, shift
        before = list(shift.shift.signatures) if _jit.IS_COMPILED else []
        places = {_jit.address(shift.shift) for _ in range(2)}
        _jit.compile_all()
        print(before, len(places), len(shift.shift.signatures) if _jit.IS_COMPILED else 1)
        """
    )
    assert lines.strip() == "[] 1 1"


@kernel(QUERY)
def look(system, work, q, v, out):
    """What a kernel sees of tables, vectors and matrices behind their pointers."""
    out[0, 0], out[0, 1], out[0, 2] = len(system.bodies), system.bodies[1].mass, system.world[0].gravity[2]
    out[0, 3], out[0, 4], out[0, 5] = work.matrix.shape[0], work.matrix[1, 0], len(work.no_reaction)
    work.matrix[0, 1] = 5.0
    return 3


def test_pinned_tables_are_the_same_memory_as_the_arrays():
    import pliant

    handle = pliant.Prepared(pliant.load("space-robot"))
    handle.work.matrix[1, 0] = 4.0
    out, rows = np.zeros((1, 6)), np.zeros((1, 1))
    assert entry(look)(*handle.refs, rows, rows, out) == 3
    assert out[0].tolist() == [3, 4.0, 0.0, 12, 4.0, 0]
    assert handle.work.matrix[0, 1] == 5.0


def run_python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cache_folder_follows_sources_and_settings():
    plain = run_python("from pliant.kernels import _numba; print(_numba.source_hash())")
    checked = run_python("from pliant.kernels import _numba; print(_numba.source_hash())", NUMBA_BOUNDSCHECK="1")
    assert plain != checked
    assert _numba.source_hash() in str(_jit.CACHE_FOLDER) or not _jit.IS_COMPILED


def test_cache_setting_of_the_process_is_left_alone():
    out = run_python(
        """
        import numba
        before = numba.config.CACHE_DIR
        from pliant.kernels import _jit, shift
        _jit.address(shift.shift)
        print(numba.config.CACHE_DIR == before)
        """
    )
    assert out.strip() == "True"


def test_unwritable_cache_warns_once_and_still_works(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    out = run_python(
        """
        import tempfile, warnings
        tempfile.gettempdir = lambda: "BLOCKED"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            from pliant.kernels import _jit
        print(len([w for w in caught if "cache" in str(w.message)]), _jit.CACHE_FOLDER)
        """.replace("BLOCKED", str(blocked)),
        NUMBA_CACHE_DIR=str(blocked), XDG_CACHE_HOME=str(blocked), HOME=str(blocked),
    )  # fmt: skip
    assert out.split() == ["1", "None"]


SCENARIO = """
import pliant
from controlled_models import two_joints
from zoo import ZOO, supporting

def show(*words_and_numbers):
    *words, numbers = words_and_numbers
    print(*words, *(float(x).hex() for x in numbers))

law = pliant.PID(10.0, 1.0, 5.0, windup=0.01, reference=pliant.Cycloid(0.0, 0.04, after=0.1))
loop = {"period": 0.001, "delay": 0.0015, "counts": 4096, "noise": 1e-3, "rate_noise": 0.01, "limit": 20.0}
servo = two_joints(None, law=law, **loop)
for name, model in {**ZOO, "servo": servo}.items():
    for row in supporting(model):
        show(name, row, pliant.forward_dynamics(model, model.q0, model.v0, formulation=row))
    result = pliant.simulate(model, 0.005, rtol=1e-6)
    assert result.is_ok, (name, result.reason)
    show(name, "moved", result.q[-1])
"""


def scenario(**environment):
    """Every zoo model: its accelerations by every formulation, and a short motion."""
    return run_python(SCENARIO, PYTHONPATH=str(SUPPORT), **environment).splitlines()


def numbers(line):
    return np.array([float.fromhex(word) for word in line.split()[2:]])


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param({"NUMBA_DISABLE_JIT": "1"}, id="plain"),
        pytest.param({"NUMBA_BOUNDSCHECK": "1"}, id="checked", marks=pytest.mark.long),  # compiles everything
    ],
)
def test_kernels_give_the_same_uncompiled_and_bounds_checked(mode):
    usual, special = scenario(), scenario(**mode)
    assert len(usual) == len(special) > 10
    for one, other in zip(usual, special, strict=True):
        assert one.split()[:2] == other.split()[:2]
        assert numbers(one) == pytest.approx(numbers(other), rel=1e-9, abs=1e-11)


@kernel
def thrice(x):
    return 3.0 * x


@kernel(DERIVATIVE)
def tripled(system, work, t, y, ydot):
    for i in range(len(y)):
        ydot[i] = thrice(y[i])
    return 0


@kernel(DERIVATIVE)
def nine_times(system, work, t, y, ydot):
    for i in range(len(y)):
        ydot[i] = thrice(thrice(y[i]))
    return 0


@numba.njit
def theirs(x):
    return thrice(x) + 1.0


def test_helpers_that_stay_bitcode_serve_many_kernels_and_functions_of_others():
    system, work = Pinned(empty_system()), Pinned(new_work(empty_system()))
    ydot = np.zeros(1)
    for function, expected in ((tripled, 6.0), (nine_times, 18.0)):
        entry(through)(system.ref, work.ref, address(function), 0.0, np.array([2.0]), ydot)
        assert ydot[0] == expected
    assert theirs(2.0) == 7.0
    if _jit.IS_COMPILED:
        # what numba does for others is as it was
        assert JITCodeLibrary.finalize is _whole._finalize
        assert numba.njit(lambda x: x + 1)(1) == 2
