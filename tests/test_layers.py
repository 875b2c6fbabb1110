"""The architecture, checked on imports: who may use whom, and what a start may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "pliant"
LEAVES = {"pliant.errors", "pliant.files", "pliant.methods", "pliant.diagnostics"}

# room -> what it may import of pliant (prefixes) and of others
ROOMS = {
    "model": ({"pliant.model", *LEAVES}, {"numpy", "pydantic", "pydantic_core"}),
    "beams": ({"pliant.beams", "pliant.model", *LEAVES}, {"numpy"}),
    "system": ({"pliant.system", "pliant.beams", "pliant.model", *LEAVES}, {"numpy", "scipy"}),
    "kernels": ({"pliant.kernels", "pliant.system"}, {"numpy", "numba", "llvmlite"}),
    "io": (
        {"pliant.io", "pliant.model", "pliant.result", *LEAVES},
        {"numpy", "h5netcdf", "h5py", "pydantic", "pandas", "scipy", "mujoco", "trimesh"},
    ),
    "view": (
        {"pliant.view", "pliant.result", "pliant.model", *LEAVES},
        {"numpy", "matplotlib", "PIL", "imageio_ffmpeg"},
    ),
    "starters": ({"pliant.starters", *LEAVES}, set()),
    "bench": (
        {
            "pliant.bench",
            "pliant.cases",
            "pliant.dynamics",
            "pliant.io",
            "pliant.many_runs",
            "pliant.prepared_run",
            "pliant.simulation",
            "pliant.model",
            "pliant.kernels",
            "pliant.console",
            *LEAVES,
        },
        {"numpy", "numba", "scipy", "pinocchio", "mujoco", "exudyn"},
    ),
    "lab": (
        {
            "pliant.lab",
            "pliant.beams",
            "pliant.cases",
            "pliant.io",
            "pliant.model",
            "pliant.result",
            "pliant.run_loop",
            "pliant.simulation",
            "pliant.view",
            *LEAVES,
        },
        {"numpy"},
    ),
    "cases": ({"pliant.cases", "pliant.dynamics", "pliant.model", "pliant.result", *LEAVES}, {"numpy"}),
}
# the one way up: notebooks ask a model itself how it looks
SHOWN = ("model/model.py", "pliant.view.notebook")


def modules(folder):
    return sorted((PACKAGE / folder).rglob("*.py")) if folder else sorted(PACKAGE.rglob("*.py"))


def imports(path):
    """Every import of a file, but those for type checkers only."""
    tree = ast.parse(path.read_text())
    guarded = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def is_under(name, prefixes):
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


@pytest.mark.parametrize("room", ROOMS)
def test_room_imports_only_downward(room):
    own, others = ROOMS[room]
    for path in modules(room):
        for name in imports(path):
            top = name.split(".")[0]
            if (path.relative_to(PACKAGE).as_posix(), name) == SHOWN:
                continue
            if top == "pliant":
                assert name == "pliant" or is_under(name, own), f"{path.relative_to(PACKAGE)} imports {name}"
            elif top not in sys.stdlib_module_names:
                assert top in others, f"{path.relative_to(PACKAGE)} imports {name}"


def test_only_kernels_import_numba():
    for path in modules(""):
        if "kernels" not in path.relative_to(PACKAGE).parts:
            assert not any(name.split(".")[0] == "numba" for name in imports(path)), path


def test_formulations_import_no_sibling():
    for path in modules("kernels/formulations"):
        for name in imports(path):
            is_own_part = name.rpartition(".")[2].startswith(f"{path.stem}_")
            assert not name.startswith("pliant.kernels.formulations") or is_own_part, f"{path} imports {name}"


def test_integrators_know_no_robot():
    allowed = {"pliant.kernels._jit", "pliant.kernels.algebra", "pliant.kernels.integrators", "pliant.system"}
    for path in modules("kernels/integrators"):
        for name in imports(path):
            assert not name.startswith("pliant") or is_under(name, allowed), f"{path} imports {name}"


def test_contact_knows_no_method_and_only_gather_of_the_forces_sees_it():
    allowed = {
        "pliant.kernels._jit",
        "pliant.kernels.algebra",
        "pliant.kernels.kinematics",
        "pliant.kernels.contact",
        "pliant.kernels.forces.push",
        "pliant.kernels.forces.joints",
        "pliant.system",
    }
    for path in modules("kernels/contact"):
        for name in imports(path):
            assert not name.startswith("pliant") or is_under(name, allowed), f"{path} imports {name}"
    for path in modules("kernels/forces"):
        sees = any(name.startswith("pliant.kernels.contact") for name in imports(path))
        assert not sees or path.stem == "gather", f"{path} imports from contact"


def test_every_kernel_module_is_warmed_up():
    from pliant.warmup import HALVES

    listed = {module for half in HALVES for part in half for module in part}
    for path in modules("kernels"):
        text = path.read_text()
        if "@kernel(" in text and path.stem != "_jit":
            name = ".".join(path.relative_to(PACKAGE / "kernels").with_suffix("").parts)
            assert name in listed, f"{name} is missing in warmup.HALVES"


def loaded_by(code):
    """Modules in sys.modules after running code in a new process."""
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"numba", "scipy", "xarray", "matplotlib", "h5netcdf", "h5py", "plotly", "PIL", "pandas", "imageio_ffmpeg"}


def test_import_pliant_loads_nothing_heavy():
    assert not loaded_by("import pliant") & (HEAVY | {"pydantic", "rich"})


def test_help_and_errors_load_nothing_heavy():
    code = (
        "from pliant.cli import main\n"
        "for words in (['--help'], ['run', 'no-such-case'], ['run', 'two-link-arm', '--set', 'nokey=1']):\n"
        "    sys.argv = ['pliant', *words]\n"
        "    try: main()\n"
        "    except SystemExit: pass"
    )
    assert not loaded_by(code) & HEAVY


def test_run_needs_neither_xarray_scipy_nor_matplotlib(tmp_path):
    code = (
        "from pliant.cli import main\n"
        f"sys.argv = ['pliant', 'run', 'two-link-arm', '--set', 'duration=0.1', '--out', {str(tmp_path)!r}]\n"
        "try: main()\n"
        "except SystemExit as done: assert not done.code"
    )
    loaded = loaded_by(code)
    assert {"numba", "h5netcdf"} <= loaded
    assert not loaded & {"xarray", "matplotlib", "plotly"}
    # numba itself loads scipy.linalg for its BLAS; the parts that pliant would ask for stay out
    assert not {name for name in loaded if name.startswith(("scipy.integrate", "scipy.interpolate", "scipy.optimize"))}
