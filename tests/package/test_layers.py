"""The architecture, checked on imports: who may use whom, and what a start may load."""

import ast
import re
import subprocess
import sys

import pytest

from paths import SOURCES

PACKAGE = SOURCES / "pliant"

# from the ground up: a room imports from lower ones and from itself; those on one floor do not know each other
FLOORS = (
    ("errors", "console", "machine", "diagnostics", "report_types"),
    ("files",),
    ("model",),
    ("beams",),
    ("system",),
    ("kernels",),
    ("methods",),
    ("engine",),
    ("mechanisms",),
    ("queries",),
    ("results",),
    ("io", "view"),
    ("result",),
    ("simulation",),
    ("linear",),
    ("trust",),
    ("cases",),
    ("study", "identification", "gym"),
    ("lab",),
    ("benchmarks",),
    ("command",),
)
RANKS = {room: rank for rank, floor in enumerate(FLOORS) for room in floor}
# rooms within rooms, the same way
INSIDE = {
    "view": (("svg", "arrays"), ("marks", "palette"), ("charts",), ("picture",), ("page",), ("figure", "notebook")),
    "kernels": (
        ("_cache", "_lean", "_loader", "_plain", "_ready"),
        ("_whole",),
        ("_numba",),
        ("_compiled",),
        ("_jit",),
        ("tables", "algebra"),
        ("flexible",),
        ("kinematics",),
        ("forces",),
        ("contact",),
        ("pivot", "rows"),
        ("formulations", "integrators"),
        ("transfer_matrix",),
    ),
}
# (module, what it imports from above): why is said in docs/architecture.md
EXCEPTIONS = {("model.model", "view.notebook"), ("simulation.outcome", "linear.unstable_loop")}
# what a room may use that is neither pliant nor Python's own
OTHERS = {
    "model": {"numpy", "pydantic", "pydantic_core"},
    "beams": {"numpy"},
    "system": {"numpy", "scipy"},
    "kernels": {"numpy", "numba", "llvmlite"},
    "io": {"numpy", "h5netcdf", "h5py", "pydantic", "typing_extensions", "pandas", "scipy", "mujoco", "trimesh"},
    "view": {"numpy", "matplotlib", "PIL", "imageio_ffmpeg"},
    "cases": {"numpy"},
    "linear": {"numpy", "scipy", "control"},
    "trust": {"numpy"},
    "study": {"numpy", "scipy", "h5netcdf", "xarray", "pandas", "distributed", "cloudpickle", "SALib"},
    "lab": {"numpy"},
    "benchmarks": {"numpy", "numba", "scipy", "pinocchio", "mujoco", "exudyn", "CyRK", "distributed"},
    "console": {"rich"},
    "command": {"numpy", "rich", "typer", "click"},
    "result": {"numpy", "xarray", "pandas"},
    "identification": {"numpy", "scipy"},
    "gym": {"numpy", "gymnasium"},
}


def modules(folder=""):
    return sorted((PACKAGE / folder).rglob("*.py"))


def module_name(path):
    """Without the package: "view.page.report", "benchmarks.runs"."""
    relative = path.relative_to(SOURCES).with_suffix("")
    parts = [part for part in relative.parts if part != "__init__"]
    return ".".join(["benchmarks", *parts[1:]] if parts[0] == "pliant_benchmarks" else parts[1:])


ALL = [*modules(), *sorted((SOURCES / "pliant_benchmarks").rglob("*.py"))]
NAMES = {module_name(path) for path in ALL}


def imports(path):
    """Every import of a file, inside functions and as text too, but those for type checkers only."""
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
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in inner if own_name(name) in NAMES]
            yield from found or [node.module]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and own_name(node.value) in NAMES - {""}:
            yield node.value


def own_name(name):
    """ "pliant.model.joints" -> "model.joints"; "" for pliant itself, None for what is not pliant's."""
    if name.split(".")[0] == "pliant_benchmarks":
        return "benchmarks" + name.removeprefix("pliant_benchmarks")
    return name.removeprefix("pliant").removeprefix(".") if name.split(".")[0] == "pliant" else None


def is_under(name, prefixes):
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def room_of(name):
    return name.split(".")[0]


def test_every_module_has_a_rank():
    for path in ALL:
        name = module_name(path)
        assert name in ("", "__main__") or room_of(name) in RANKS, f"{name} lies beside the rooms"


@pytest.mark.parametrize("path", ALL, ids=module_name)
def test_a_module_imports_only_what_stands_below_it(path):
    name = module_name(path)
    if name in ("", "__main__"):
        return
    for imported in map(own_name, imports(path)):
        if not imported or room_of(imported) == room_of(name) or (name, imported) in EXCEPTIONS:
            continue
        assert RANKS[room_of(imported)] < RANKS[room_of(name)], f"{name} imports {imported}"


@pytest.mark.parametrize("room", INSIDE)
def test_rooms_within_rooms_too(room):
    ranks = {inner: rank for rank, floor in enumerate(INSIDE[room]) for inner in floor}
    for path in modules(room):
        inner = module_name(path).removeprefix(room + ".").split(".")[0]
        for name in map(own_name, imports(path)):
            if not name or not name.startswith(room + ".") or inner not in ranks:
                continue
            other = name.removeprefix(room + ".").split(".")[0]
            if other != inner:
                assert ranks.get(other, len(ranks)) < ranks[inner], f"{module_name(path)} imports {name}"


@pytest.mark.parametrize("room", OTHERS)
def test_a_room_uses_no_library_but_its_own(room):
    for path in ALL:
        if room_of(module_name(path)) == room:
            for name in imports(path):
                top = name.split(".")[0]
                is_known = top in OTHERS[room] or top in sys.stdlib_module_names or own_name(name) is not None
                assert is_known or own_name(name) in NAMES, f"{module_name(path)} imports {name}"


def test_only_kernels_import_numba():
    for path in modules(""):
        if "kernels" not in path.relative_to(PACKAGE).parts:
            assert not any(name.split(".")[0] == "numba" for name in imports(path)), path


def test_formulations_import_no_other():
    """NAME.py and its parts NAME_planar.py, NAME_response.py, ... know each other, and no other formulation."""
    stems = {path.stem for path in modules("kernels/formulations")}

    def formulation(stem):
        return min((other for other in stems if stem == other or stem.startswith(f"{other}_")), key=len)

    for path in modules("kernels/formulations"):
        for name in imports(path):
            if name.startswith("pliant.kernels.formulations"):
                other = name.rpartition(".")[2]
                assert formulation(other) == formulation(path.stem), f"{path} imports {name}"


def test_integrators_know_no_robot():
    allowed = {"pliant.kernels._jit", "pliant.kernels.algebra", "pliant.kernels.integrators", "pliant.system"}
    for path in modules("kernels/integrators"):
        for name in imports(path):
            assert not name.startswith("pliant") or is_under(name, allowed), f"{path} imports {name}"


def test_contact_knows_no_method():
    allowed = {"kernels." + room for room in ("_jit", "algebra", "kinematics", "contact", "forces")} | {"system"}
    for path in modules("kernels/contact"):
        for name in map(own_name, imports(path)):
            assert not name or is_under(name, allowed), f"{path} imports {name}"


def test_warmup_compiles_every_kernel_and_those_of_a_first_run_first():
    from pliant.engine.warmup import FIRST_RUN, all_kernels

    named = list(all_kernels())
    assert named[: len(FIRST_RUN)] == list(FIRST_RUN)
    assert len(set(named)) == len(named)
    for path in modules("kernels"):
        module = ".".join(path.relative_to(PACKAGE / "kernels").with_suffix("").parts)
        for name in re.findall(r"^@kernel\([A-Z_]+\)\ndef (\w+)", path.read_text(), re.MULTILINE):
            assert f"{module}.{name}" in named


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
        "from pliant.command.cli import main\n"
        "for words in (['--help'], ['run', 'no-such-case'], ['run', 'two-link-arm', '--set', 'nokey=1']):\n"
        "    sys.argv = ['pliant', *words]\n"
        "    try: main()\n"
        "    except SystemExit: pass"
    )
    assert not loaded_by(code) & HEAVY


def loaded_by_a_run(out):
    return loaded_by(
        "from pliant.command.cli import main\n"
        f"sys.argv = ['pliant', 'run', 'two-link-arm', '--set', 'duration=0.1', '--out', {str(out)!r}]\n"
        "try: main()\n"
        "except SystemExit as done: assert not done.code"
    )


def test_a_run_whose_kernels_are_compiled_loads_nothing_that_it_does_not_need(tmp_path):
    """numba compiles, and is not needed to run what it has compiled (the first run here may have to)."""
    loaded_by_a_run(tmp_path)
    loaded = loaded_by_a_run(tmp_path)
    assert {"llvmlite.binding", "h5py"} <= loaded
    assert not loaded & {"numba", "scipy", "xarray", "matplotlib", "plotly", "pandas", "yaml"}
    assert "pliant.cases.two_link_arm" in loaded
    assert not loaded & {"pliant.cases.falling_chain", "pliant.trust.certify", "pliant.linear", "pliant.io.mjcf"}


def test_a_case_has_the_name_of_its_module():
    from pliant.cases.case import MODULES, all_cases, case_named

    assert list(all_cases()) == [module.replace("_", "-") for module in MODULES]
    assert case_named("falling-chain") is all_cases()["falling-chain"]
    assert case_named("falling_chain") is case_named("case") is case_named("") is None
