"""Build a release wheel (kernels compiled ahead) and check it:  python .ci/wheel.py FOLDER

The wheel is left in FOLDER. Checked: what its extension asks of the system; that every contract kernel is in it; a set
of runs, bit by bit, against kernels that numba compiles on the spot for the same processor level; that numba is not
imported and nothing is compiled; that numba is used where it is asked for, where sources differ and where the extension
does not load; all runs with every Python of pyproject.toml that is found here. Start-up times are printed."""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "prebuild"))

from compile_kernels import SETTINGS  # noqa: E402

# of libm and libc; what begins with Py belongs to Python's limited API, or the extension would not have compiled
LIBM = {"atan", "atan2", "cos", "exp", "hypot", "log", "log1p", "pow", "sin", "sincos", "tan", "tanh"}
LIBC = {"free", "malloc", "memcpy", "memmove", "memset", "strcmp", "__stack_chk_fail"}
LOADER = {"__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"}


def say(*words: object) -> None:
    print(*words, flush=True)


def built_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True, env={**os.environ, "PLIANT_PREBUILD": "1"})
    (wheel,) = folder.glob("pliant-*.whl")
    assert "-cp311-abi3-" in wheel.name, f"{wheel.name} has another tag than cp311-abi3-PLATFORM"
    return wheel


def check_symbols(wheel: Path, scratch: Path) -> None:
    """It asks for libm, libc and Python alone, and gives nothing but its module."""
    with zipfile.ZipFile(wheel) as archive:
        extension = Path(archive.extract("pliant/kernels/_prebuilt.abi3.so", scratch))
    asked = {line.split()[-1].partition("@")[0] for line in output("nm", "-D", "--undefined-only", extension)}
    others = sorted(name for name in asked if not name.startswith(("Py", "_Py")) and name not in LIBM | LIBC | LOADER)
    assert not others, f"the extension asks for {others}"
    given = [line.split()[-1] for line in output("nm", "-D", "--defined-only", extension)]
    assert given == ["PyInit__prebuilt"], f"the extension gives {given}"
    say(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, extension {extension.stat().st_size / 1e6:.2f} MB")


def output(*command: object) -> list[str]:
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout.splitlines()


def contract_kernels() -> set[str]:
    """By their decorators in the sources, as "energy.energies"."""
    found = set()
    folder = ROOT / "src/pliant/kernels"
    for path in folder.rglob("*.py"):
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(d).startswith("kernel(") for d in node.decorator_list
            ):
                found.add(f"{module}.{node.name}")
    return found


class Installed:
    """The wheel in a fresh environment, with an empty cache of its own."""

    def __init__(self, python: str, wheel: Path, scratch: Path) -> None:
        self.scratch, self.cache = scratch, scratch / "cache"
        self.bin = scratch / "venv/bin"
        subprocess.run([python, "-m", "venv", str(scratch / "venv")], check=True)
        subprocess.run([str(self.bin / "pip"), "install", "-q", str(wheel)], check=True)
        # not by the caller's PYTHONPATH: its files are changed below
        (place,) = self.run("python", "-c", "import pliant; print(pliant.__path__[0])")
        self.package = Path(place)

    def run(self, *command: object, **settings: str) -> list[str]:
        usual = {
            name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON", "PLIANT_"))
        }
        place = {"NUMBA_CACHE_DIR": str(self.cache), "PYTHONPATH": str(ROOT / "tests/support")}
        words = [str(self.bin / str(command[0])), *map(str, command[1:])]
        done = subprocess.run(
            words, capture_output=True, text=True, cwd=self.scratch, env={**usual, **place, **settings}, check=False
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout.splitlines()

    def compiles(self, **settings: str) -> bool:
        """Whether numba is used; imports nothing that would compile."""
        return self.run("python", "-c", "from pliant.kernels import _jit; print(_jit.COMPILES)", **settings) == ["True"]


def check_table(installed: Installed) -> None:
    names = set(
        installed.run("python", "-c", "from pliant.kernels import _prebuilt; print(*_prebuilt.kernels(), sep='\\n')")
    )
    wanted = contract_kernels()
    assert names == wanted, f"missing: {sorted(wanted - names)}, unknown: {sorted(names - wanted)}"
    say(f"{len(names)} kernels, all there are")


def check_start(installed: Installed) -> None:
    """From an empty cache, which stays empty."""
    for case in ("two-link-arm", "falling-chain"):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        installed.run("pliant", "run", case, "--out", installed.scratch / case)
        wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        say(f"first run, {case}: {wall:.2f} s, {cpu:.2f} s of CPU")
    assert not list(installed.cache.rglob("*.kernel")), "a run with ready kernels has compiled some"


def check_fallback(installed: Installed) -> None:
    """numba where it is asked for, where sources differ, and where the extension cannot be loaded."""
    assert not installed.compiles()
    for setting in ({"PLIANT_JIT": "1"}, {"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_OPT": "1"}):
        assert installed.compiles(**setting), f"{setting} does not lead to numba"
    source, extension = installed.package / "kernels/energy.py", installed.package / "kernels/_prebuilt.abi3.so"
    for path, changed in ((source, source.read_bytes() + b"\n"), (extension, b"")):
        kept = path.read_bytes()
        path.unlink()  # another file: the old one may be mapped
        path.write_bytes(changed)
        assert installed.compiles(), f"a changed {path.name} does not lead to numba"
        path.unlink()
        path.write_bytes(kept)
    assert not installed.compiles()
    say("numba where it is asked for, for changed sources, and for an extension that cannot be loaded")


def differing(one: list[str], other: list[str]) -> str:
    """But for the first line, which says whose kernels ran."""
    return "\n".join(difflib.unified_diff(one[1:], other[1:], lineterm="", n=0))


def pythons() -> list[str]:
    """Interpreters of the classifiers of pyproject.toml, from the path or from pyenv."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    versions = [text.rpartition(" ")[2] for text in stated if text.startswith("Programming Language :: Python :: 3.")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for version in versions:
        places = [*map(str, sorted(pyenv.glob(f"{version}.*/bin/python"))), shutil.which(f"python{version}")]
        usable = [
            place for place in places if place and subprocess.run([place, "-c", "import ensurepip"]).returncode == 0
        ]
        if usable:
            found.append(usable[0])
        else:
            say(f"Python {version} is not here: not tried")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="where the wheel goes")
    parser.add_argument("--wheel", type=Path, help="check this one instead of building it")
    arguments = parser.parse_args()
    wheel = arguments.wheel or built_wheel(arguments.folder)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        check_symbols(wheel, scratch)
        for number, python in enumerate(pythons()):
            installed = Installed(python, wheel.absolute(), scratch / str(number))
            (version,) = installed.run("python", "-c", "import sys; print(*sys.version_info[:3], sep='.')")
            say(f"Python {version}")
            check_start(installed)
            check_table(installed)
            found = installed.run("python", HERE / "wheel_runs.py")
            assert found[0] == "ready", "the kernels of the wheel do not serve"
            if number == 0:
                check_fallback(installed)
            # by the same Python: sums of models are not rounded alike in 3.11 and 3.12
            installed.run("pliant", "warmup", **SETTINGS)
            expected = installed.run("python", HERE / "wheel_runs.py", **SETTINGS)
            assert expected[0] == "numba", "these settings do not lead to numba"
            difference = differing(expected, found)
            assert not difference, f"other bits than compiled on the spot (-), in the wheel (+):\n{difference}"
            say(f"{len(found) - 1} results are bit-identical to those of kernels compiled on the spot")


if __name__ == "__main__":
    main()
