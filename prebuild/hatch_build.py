"""Build hook of hatchling: under PLIANT_PREBUILD=1 a wheel brings its kernels compiled. Else it is pure Python, and
numba compiles them on the user's machine; editable installs never bring them."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).parent
BUILDS_WITH = ("numpy", "scipy", "numba")  # what pliant.kernels imports


class PrebuiltKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Adds pliant/kernels/_prebuilt.abi3.so, and the tag that goes with it."""

    def is_wanted(self) -> bool:
        return os.environ.get("PLIANT_PREBUILD", "0") not in ("", "0")

    def dependencies(self) -> list[str]:
        """Of the build, from those of the project: the same bounds."""
        if not self.is_wanted():
            return []
        stated = self.metadata.core.dependencies
        return [text for text in stated if re.match(r"[\w-]+", text)[0] in BUILDS_WITH]  # type: ignore[index]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not self.is_wanted() or version == "editable":
            return
        if sys.platform != "linux" or platform.machine() != "x86_64":
            raise SystemExit("PLIANT_PREBUILD=1: kernels are compiled ahead on Linux x86-64 only; leave it out")
        self.scratch = tempfile.TemporaryDirectory()
        extension = Path(self.scratch.name) / "_prebuilt.abi3.so"
        environment = {**os.environ, "PYTHONPATH": str(Path(self.root) / "src")}
        subprocess.run([sys.executable, str(HERE / "compile_kernels.py"), str(extension)], check=True, env=environment)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform_tag(extension)}"
        build_data["force_include"][str(extension)] = "pliant/kernels/_prebuilt.abi3.so"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "scratch"):
            self.scratch.cleanup()


def platform_tag(extension: Path) -> str:
    """By the newest version of glibc that it asks for, as in manylinux_2_35_x86_64."""
    table = subprocess.run(["objdump", "-T", str(extension)], check=True, capture_output=True, text=True).stdout
    versions = [tuple(int(x) for x in text.split(".")) for text in re.findall(r"GLIBC_([\d.]+)", table)]
    if not versions:  # another libc
        return "linux_x86_64"
    major, minor = max(versions)[:2]
    return f"manylinux_{major}_{minor}_x86_64"
