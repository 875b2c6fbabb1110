"""What pyproject.toml asks for, what .ci/full tests, and what the code imports are the same."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import pliant
from paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FULL = (ROOT / ".ci" / "full").read_text()
MODULES = {"pillow": "PIL", "pin": "pinocchio", "pycollada": "collada", "cyrk": "CyRK"}  # packages of another name
BY_OTHERS = {
    "llvmlite",
    "pydantic_core",
    "mpmath",
    "packaging",
    "cloudpickle",
}  # of numba, pydantic, sympy, pytest, dask


def lowest_module():
    spec = importlib.util.spec_from_file_location("lowest", ROOT / ".ci" / "lowest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def requirements() -> list[Requirement]:
    texts = [*PROJECT["dependencies"], *(text for some in PROJECT["optional-dependencies"].values() for text in some)]
    return [one for one in map(Requirement, texts) if one.name != PROJECT["name"]]


def test_constraints_of_the_lowest_set_are_the_bounds_of_pyproject():
    found = lowest_module().lowest()
    assert set(found) == {one.name.lower() for one in requirements()}
    for one in requirements():
        (bound,) = (row for row in one.specifier if row.operator in (">=", "=="))
        assert Version(bound.version) == Version(found[one.name.lower()])
        assert one.specifier.contains(found[one.name.lower()])


@pytest.mark.parametrize(
    ("dependencies", "sentence"),
    [
        (["numpy"], "'numpy' has no lower bound; write it as 'package>=1.2'"),
        (["numpy<3"], "'numpy<3' has no lower bound"),
        (["numpy>=2.0", "numpy>=2.1"], "numpy has two lower bounds, 2.0 and 2.1; give it one"),
    ],
)
def test_a_dependency_without_one_lower_bound_is_refused(dependencies, sentence, tmp_path):
    text = f'[project]\nname = "pliant"\ndependencies = {dependencies!r}\n[project.optional-dependencies]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(SystemExit, match=re.escape(sentence)):
        lowest_module().lowest(tmp_path / "pyproject.toml")


def test_lowest_part_of_the_full_check_uses_these_constraints():
    assert '.ci/lowest.py > "$scratch/lowest.txt"' in FULL
    assert '-c "$scratch/lowest.txt"' in FULL


def test_pythons_of_the_full_check_are_those_of_pyproject():
    stated = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    lowest, *others = stated
    assert PROJECT["requires-python"] == f">={lowest}"
    assert f"find_python {lowest})" in FULL
    assert f"for version in {' '.join(others)}; do" in FULL


def test_parts_of_the_full_check_are_in_its_head_and_in_contributing():
    (parts,) = re.findall(r"^parts=\((.*)\)$", FULL, re.MULTILINE)
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    for part in parts.split():
        assert re.search(rf"^#   {part} ", FULL, re.MULTILINE)
        assert f"| `{part}` |" in guide


def test_unknown_part_of_the_full_check_is_refused():
    done = subprocess.run([ROOT / ".ci" / "full", "generic", "speed"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no part 'speed'; parts: generic bounds long lowest pythons wheel trials" in done.stderr
    assert done.stdout == ""


def imported(folder: Path) -> set[str]:
    """Top-level names of all imports below a folder."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_every_import_is_a_stated_dependency(folder):
    stated = {MODULES.get(one.name, one.name).replace("-", "_") for one in requirements()}
    own = {path.stem for path in (ROOT / "tests").rglob("*.py")} | {"pliant", "pliant_benchmarks"}
    assert imported(ROOT / folder) - set(sys.stdlib_module_names) - own - BY_OTHERS <= stated


def test_the_citation_file_is_of_this_version_and_licence():
    text = (ROOT / "CITATION.cff").read_text()
    assert f"version: {pliant.__version__}\n" in text
    assert f"license: {PROJECT['license']}\n" in text
    assert "cff-version: 1.2.0" in text
