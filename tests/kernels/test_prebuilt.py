"""Kernels compiled ahead: the extension that release wheels bring, made here of a few small kernels; when it serves.

Whether a whole wheel gives the bits of kernels compiled on the spot: .ci/wheel.py."""

import importlib.util
import os
import platform
import shutil
import subprocess
import sys

import numpy as np
import pytest

from paths import ROOT
from pliant.kernels import _ready
from pliant.system.memory import empty_memory
from pliant.system.tables import empty_system
from pliant.system.work import new_work

PREBUILD = ROOT / "prebuild"

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64" or shutil.which("cc") is None,
    reason="needs Linux x86-64 and a C compiler",
)

MAKE = """
import sys
from pathlib import Path
sys.path.insert(0, PREBUILD)
import compile_kernels
from pliant.kernels._jit import INTEGERS, INTEGER, QUERY, REAL, STATE, SYSTEM, WORK, Contract, kernel

NUMBERS = Contract(INTEGER(REAL, INTEGERS), is_entered=True)

def doubled(system, work, t, y, ydot):
    for i in range(len(y)):
        ydot[i] = 2.0 * y[i] + t
    return 7

def look(system, work, q, v, out):
    out[0, 0], out[0, 1] = system.world[0].gravity[2], work.matrix.shape[0]
    out[1, 0], out[1, 1] = q.shape[0], q[1, 2] - v[0, 0]
    return 3

def counted(x, n):
    n[0] = int(x) + n[1]
    return n[0] - 100

kernels = [(f.__name__, kernel(c)(f), c) for f, c in ((doubled, STATE), (look, QUERY), (counted, NUMBERS))]
compile_kernels.link(kernels, Path(sys.argv[1]))
compile_kernels.link(kernels, Path(sys.argv[2]), level="avx5124vnniw")  # of one kind of processor, long gone
"""


def load(path):
    spec = importlib.util.spec_from_file_location("_prebuilt", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(extension for this processor, extension for another)."""
    folder = tmp_path_factory.mktemp("made")
    here, elsewhere = folder / "_prebuilt.abi3.so", folder / "elsewhere" / "_prebuilt.abi3.so"
    elsewhere.parent.mkdir()
    settings = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "", "PLIANT_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MAKE.replace("PREBUILD", repr(str(PREBUILD))), here, elsewhere],
        capture_output=True, text=True, env={**os.environ, **settings}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return here, elsewhere


@pytest.fixture(scope="module")
def code(made):
    return load(made[0])


@pytest.fixture(scope="module")
def refs(code):
    system = empty_system()
    system.world[0].gravity[2] = -9.5
    return code.pin("System", system), code.pin("Work", new_work(system))


@needs_compiler
def test_kernels_get_numbers_arrays_and_tables_and_return_their_status(code, refs):
    q, v, out, n = np.arange(6.0).reshape(2, 3), np.full((1, 1), 0.5), np.zeros((2, 2)), np.array([0, 40])
    assert code.entry("look")(*refs, q, v, out) == 3
    assert out.tolist() == [[-9.5, 0.0], [2.0, 4.5]]
    assert code.entry("counted")(2.75, n) == -58
    assert n.tolist() == [42, 40]
    assert code.address("doubled") != code.address("look")
    assert set(code.kernels()) == {"doubled", "look", "counted"}


@needs_compiler
def test_the_stamp_is_that_of_the_sources(code):
    assert _ready.hashed_sources() == code.SOURCES
    assert code.LEVEL == "x86-64-v3"
    assert "numba" in code.MADE_BY


FINE = np.zeros((2, 3))
WRONG = {
    "single precision": FINE.astype(np.float32),
    "integers": FINE.astype(np.int64),
    "records": np.zeros((2, 3), [("x", "f8")]),
    "swapped bytes": FINE.astype(">f8"),
    "columns first": np.asfortranarray(FINE),
    "every second": np.zeros((2, 6))[:, ::2],
    "one dimension": np.zeros(6),
    "three dimensions": np.zeros((1, 2, 3)),
    "a list": FINE.tolist(),
    "nothing": None,
    "bytes": bytes(48),
}


@needs_compiler
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("place", [2, 3, 4])
def test_a_wrong_array_never_reaches_a_kernel(wrong, place, code, refs):
    arguments = [*refs, FINE.copy(), FINE.copy(), FINE.copy()]
    arguments[place] = wrong
    with pytest.raises(TypeError, match=f"look: array {place} "):
        code.entry("look")(*arguments)


@needs_compiler
def test_states_may_be_read_only(code, refs):
    """As by numba's own entry; that results can be written, callers look at (engine/arguments.py)."""
    fixed, out = FINE.copy(), FINE.copy()
    fixed.flags.writeable = False
    assert code.entry("look")(*refs, fixed, fixed, out) == 3


@needs_compiler
def test_wrong_counts_numbers_and_tables_never_reach_a_kernel(code, refs):
    system, work = refs
    arrays = [FINE.copy() for _ in range(3)]
    look, counted = code.entry("look"), code.entry("counted")
    with pytest.raises(TypeError, match="look takes 5 arguments, 4 were given"):
        look(*refs, *arrays[:2])
    for pair in ((work, system), (system, system), (0, work), (system, empty_system()), (system, None)):
        with pytest.raises(TypeError, match="is no pinned"):
            look(*pair, *arrays)
    with pytest.raises(TypeError, match="must be real number"):
        counted("1", np.zeros(2, np.int64))
    with pytest.raises(TypeError, match="items 'd' of 8 bytes; 1 of 'q'"):
        counted(1.0, np.zeros(2))


@needs_compiler
def test_only_tables_of_the_right_layout_are_pinned(code):
    system = empty_system()
    with pytest.raises(LookupError, match="Memory are no tables"):  # of these few kernels
        code.pin("Memory", empty_memory())
    with pytest.raises(TypeError, match=r"arrays, \d+ were given"):
        code.pin("System", system[:-1])
    with pytest.raises(TypeError, match="System: array 0 has 1 dimensions"):
        code.pin("System", (np.zeros(1), *system[1:]))
    with pytest.raises(TypeError):
        code.pin("System", list(system))


@needs_compiler
def test_only_pinned_tables_have_an_address(code, refs):
    assert len({code.pinned_at(ref) for ref in refs}) == 2
    for wrong in (0, None, empty_system()):
        with pytest.raises(TypeError, match="is no pinned table"):
            code.pinned_at(wrong)


@needs_compiler
def test_pinned_tables_live_as_long_as_what_points_to_them(code):
    system = empty_system()
    before = sys.getrefcount(system)
    pinned = code.pin("System", system)
    assert sys.getrefcount(system) == before + 1
    del pinned
    assert sys.getrefcount(system) == before


@needs_compiler
def test_kernels_that_are_not_there_are_named(code):
    with pytest.raises(LookupError, match="mine is none of the kernels of this wheel; PLIANT_JIT=1 compiles it"):
        code.address("mine")
    with pytest.raises(LookupError, match="doubled is not called from Python"):
        code.entry("doubled")


@needs_compiler
def test_a_processor_below_the_level_cannot_load_it(made):
    with pytest.raises(ImportError, match="need a processor of level avx5124vnniw"):
        load(made[1])


@pytest.mark.parametrize(
    ("environment", "asks"),
    [
        ({}, False),
        ({"NUMBA_CACHE_DIR": "/tmp", "NUMBA_NUM_THREADS": "2", "PLIANT_JIT": "0"}, False),
        ({"PLIANT_JIT": "1"}, True),
        ({"NUMBA_DISABLE_JIT": "1"}, True),
        ({"NUMBA_BOUNDSCHECK": "1"}, True),
        ({"NUMBA_CPU_NAME": "generic"}, True),
        ({"NUMBA_OPT": "0"}, True),
    ],
)
def test_settings_that_change_machine_code_ask_for_numba(environment, asks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _ready.asks_for_numba(environment) is asks


def test_a_file_of_settings_asks_for_numba(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".numba_config.yaml").write_text("boundscheck: 1\n")
    assert _ready.asks_for_numba({})


STANDS_IN = """
import sys, types
from pliant.kernels import _ready
import pliant.kernels
fake = types.ModuleType("pliant.kernels._prebuilt")
fake.SOURCES = SOURCES
sys.modules["pliant.kernels._prebuilt"] = pliant.kernels._prebuilt = fake
print(_ready._find_code() is fake)
"""


@pytest.mark.parametrize(("sources", "serves"), [("_ready.hashed_sources()", "True"), ("'others'", "False")])
def test_ready_kernels_serve_only_the_sources_they_were_made_from(sources, serves):
    code = STANDS_IN.replace("SOURCES = SOURCES", f"SOURCES = {sources}")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == serves, done.stderr
