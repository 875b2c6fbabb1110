"""The lowest versions that pyproject.toml allows, as constraints for pip: each `package>=X` as `package==X`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(\[[^]]*\])?\s*(>=|==)\s*(?P<lowest>[0-9][0-9.]*)\s*([,;].*)?")


def lowest(project: Path = PROJECT) -> dict[str, str]:
    """Lower bound of every package that pliant or one of its extras asks for."""
    facts = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    found: dict[str, str] = {}
    for text in (*facts["dependencies"], *(text for some in facts["optional-dependencies"].values() for text in some)):
        if text.startswith(f"{facts['name']}["):
            continue  # extras of pliant itself
        match = REQUIREMENT.fullmatch(text)
        if not match:
            raise SystemExit(f"{project}: {text!r} has no lower bound; write it as 'package>=1.2'")
        name, version = match["name"].lower(), match["lowest"]
        if found.setdefault(name, version) != version:
            raise SystemExit(f"{project}: {name} has two lower bounds, {found[name]} and {version}; give it one")
    return found


if __name__ == "__main__":
    sys.stdout.write("".join(f"{name}=={version}\n" for name, version in lowest().items()))
