"""numba's private ground, one test per assumption; the cache; the kernels uncompiled and bounds-checked."""

import importlib
import math
import os
import pkgutil
import re
import subprocess
import sys
import textwrap

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from calls_by_address import through
from paths import ROOT, SUPPORT
from pliant import kernels
from pliant.kernels import _jit, _lean, _whole
from pliant.kernels._jit import DERIVATIVE, INTEGER, INTEGERS, QUERY, REAL, Contract, address, entry, kernel
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


def test_a_kernel_is_compiled_when_it_is_needed_first_once_and_for_one_signature(tmp_path):
    lines = run_python(
        """
        import sys
        from pliant.kernels import _jit, shift
        before = "numba" in sys.modules
        places = {_jit.address(shift.shift) for _ in range(2)}
        _jit.compile_kernel("shift.shift")
        from pliant.kernels import _numba
        print(before, len(places), len(_numba._made[id(shift.shift)].signatures))
        """,
        NUMBA_CACHE_DIR=str(tmp_path),
    )
    assert lines.strip() == "False 1 1"


def test_what_is_in_the_cache_is_loaded_without_numba(tmp_path):
    code = """
        import sys
        from pliant.kernels import _jit, shift
        _jit.entry(shift.shift)
        print("numba" in sys.modules)
        """
    assert [run_python(code, NUMBA_CACHE_DIR=str(tmp_path)).strip() for _ in range(2)] == ["True", "False"]


@kernel(QUERY)
def look(system, work, q, v, out):
    """What a kernel sees of tables, vectors and matrices behind their pointers."""
    out[0, 0], out[0, 1], out[0, 2] = len(system.bodies), system.bodies[1].mass, system.world[0].gravity[2]
    out[0, 3], out[0, 4], out[0, 5] = work.matrix.shape[0], work.matrix[1, 0], len(work.no_reaction)
    work.matrix[0, 1] = 5.0
    return 3


@pytest.mark.skipif(not _jit.IS_COMPILED, reason="plain functions take anything")
@pytest.mark.parametrize("place", [2, 3, 4])
@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int64), np.zeros((2, 3), [("x", "f8")]),
        np.zeros((2, 3), order="F"), np.zeros((2, 6))[:, ::2], np.zeros(6), np.zeros((1, 2, 3)), [[0.0]], None,
        bytes(48),
    ],
    ids=["single precision", "integers", "records", "columns first", "every second", "one dimension",
         "three dimensions", "a list", "nothing", "bytes"],
)  # fmt: skip
def test_a_wrong_array_never_reaches_a_kernel(wrong, place):
    system, work = Pinned(empty_system()), Pinned(new_work(empty_system()))
    arguments = [system.ref, work.ref, *(np.zeros((2, 6)) for _ in range(3))]
    arguments[place] = wrong
    with pytest.raises((TypeError, ValueError)):
        entry(look)(*arguments)
    assert not np.any(work.tables.matrix)


@kernel(Contract(INTEGER(REAL, INTEGER, INTEGERS), is_entered=True))
def counted(x, n, found):
    found[0] = n
    found[1] = int(x)
    return -n


@pytest.mark.skipif(not _jit.IS_COMPILED, reason="plain functions take anything")
def test_numbers_are_converted_and_what_is_none_is_refused():
    found, call = np.zeros(2, np.int64), entry(counted)
    for n in (3, -1, np.int64(-1), True):
        assert call(-1, n, found) == -n
        assert found.tolist() == [n, -1]
    before = sys.getrefcount(found)
    for arguments in (("1", 1, found), (1.0, "1", found), (1.0, 1.5, found), (1.0, 2**70, found), (1.0, 1, found, 1)):
        with pytest.raises((TypeError, OverflowError)):
            call(*arguments)
    del arguments
    with pytest.raises(TypeError, match=r"counted takes float64, int64, int64\[1\]"):
        call(1.0, 1)
    assert sys.getrefcount(found) == before


def test_an_index_out_of_bounds_is_an_index_error_where_indices_are_checked(tmp_path):
    code = f"""
        import sys
        sys.path.insert(0, {str(SUPPORT)!r})
        import numpy as np
        from beyond import beyond
        from pliant.kernels._jit import entry
        try:
            entry(beyond)(np.zeros(2), 2)
        except IndexError as error:
            print(error)
        """
    assert run_python(code, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path)).strip() == "index is out of bounds"


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
    code = "from pliant.kernels import _compiled; print(_compiled.source_hash())"
    plain = run_python(code)
    assert plain != run_python(code, NUMBA_BOUNDSCHECK="1")
    assert plain == run_python(f"import numba; {code}")
    assert plain == run_python(code, PLIANT_JIT="1")
    assert plain.strip() in str(_jit.CACHE_FOLDER) or not _jit.IS_COMPILED


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


def test_helpers_that_stay_bitcode_serve_many_kernels_and_numba_stays_as_it_was():
    system, work = Pinned(empty_system()), Pinned(new_work(empty_system()))
    ydot = np.zeros(1)
    for function, expected in ((tripled, 6.0), (nine_times, 18.0)):
        entry(through)(system.ref, work.ref, address(function), 0.0, np.array([2.0]), ydot)
        assert ydot[0] == expected
    if _jit.IS_COMPILED:
        # what numba does for others is as it was
        assert JITCodeLibrary.finalize is _whole._finalize
        assert numba.njit(lambda x: x + 1)(1) == 2


@kernel
def turned(c, s, v):
    return c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]


@kernel(QUERY)
def varied(system, work, q, v, out):
    """Loops, branches, tuples, powers and numba's own functions, in one."""
    for row in range(len(q)):
        best = -1
        for i in range(q.shape[1]):
            a = q[row, i]
            if best < 0 or (abs(a) > 2.5 * abs(q[row, best]) and a != 0.0):
                best = i
            x, y, z = turned(math.cos(a), math.sin(a), (v[row, i], a**3, min(a, 0.3)))
            while x > 1.0 and z < 5.0:
                x, z = x / 3.0, z + 1.0
            out[row, i] = x * y + max(z, y, x) * math.sqrt(abs(a)) + best
    return 0


@pytest.mark.skipif(not _jit.IS_COMPILED, reason="numba compiles nothing")
def test_few_passes_of_numba_make_the_bits_that_all_of_them_make(tmp_path):
    """In another process with an empty cache, where numba's version is none that is known: plain numba."""
    rng = np.random.default_rng(5)
    q, v = rng.normal(size=(2, 50, 4))
    np.save(tmp_path / "q.npy", q)
    np.save(tmp_path / "v.npy", v)
    found = run_python(
        f"""
        import sys
        import numba
        numba.__version__ = "0.0.0"
        sys.path[:0] = [{str(SUPPORT)!r}, {str(SUPPORT.parent / "kernels")!r}]
        import numpy as np
        from test_jit import entry, varied, Pinned, empty_system, new_work, _whole
        q, v = np.load("{tmp_path}/q.npy"), np.load("{tmp_path}/v.npy")
        system, work, out = Pinned(empty_system()), Pinned(new_work(empty_system())), np.zeros_like(q)
        entry(varied)(system.ref, work.ref, q, v, out)
        print(_whole.IS_KNOWN, out.tobytes().hex())
        """,
        NUMBA_CACHE_DIR=str(tmp_path),
    ).split()
    system, work, out = Pinned(empty_system()), Pinned(new_work(empty_system())), np.zeros_like(q)
    entry(varied)(system.ref, work.ref, q, v, out)
    assert found == ["False", out.tobytes().hex()]
    assert np.unique(out).size > 100


@pytest.mark.skipif(not _whole.IS_KNOWN, reason="this version of numba is used as it is")
def test_numbas_own_functions_are_back_after_a_kernel_even_one_that_does_not_compile():
    def now():
        return {place: getattr(*place) for place in _lean._ORIGINALS}

    def fail():
        with _whole.compiled_whole("nothing"):
            assert all(now()[place] is not original for place, original in _lean._ORIGINALS.items())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert now() == _lean._ORIGINALS


def refused(system, work, t, y, ydot):
    return "words" + t


def test_a_kernel_that_cannot_be_compiled_says_where():
    if _jit.IS_COMPILED:
        with pytest.raises(numba.TypingError, match="No implementation of function") as caught:
            address(kernel(DERIVATIVE)(refused))
        assert 'return "words" + t' in str(caught.value)


def test_kernels_that_python_enters_have_contracts_that_say_so():
    """Release wheels have ways in for these only."""
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        named |= set(re.findall(r"_jit\.entry\((\w+\.\w+)\)", path.read_text()))
    for module in pkgutil.walk_packages(kernels.__path__, "pliant.kernels."):
        if module.name != "pliant.kernels._prebuilt":
            importlib.import_module(module.name)
    contracts = {".".join(name.split(".")[-2:]): contract for name, (_, contract) in _jit.KERNELS.items()}
    assert len(named) > 15
    assert [name for name in sorted(named) if name in contracts and not contracts[name].is_entered] == []
    assert {"dynamics.derivative", "advance.advance"} <= named & contracts.keys()
