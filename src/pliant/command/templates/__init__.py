"""Model files to begin with, for `pliant new`: one commented TOML file per kind."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import ModelError
from pliant.files import write_whole

KINDS = {
    "arm": "a rigid arm with a motor, springs and a stop",
    "beam": "a link that bends, with a payload",
    "space": "a free satellite with an arm",
    "loop": "a four-bar linkage, a closed loop",
    "contact": "a falling rod that hits the ground and slides",
}


def check_template(path: Path, kind: str) -> None:
    """Refuse a kind that is not there, a name that is no model file, and a file that exists."""
    if kind not in KINDS:
        raise ModelError(f"--kind {kind}: not known; choose one of {', '.join(KINDS)}")
    if path.suffix != ".toml":
        found = f"ends in {path.suffix}" if path.suffix else "has no suffix"
        raise ModelError(f"{path}: a model file ends in .toml, this name {found}; name it {path.stem or 'robot'}.toml")
    if path.exists() or path.is_symlink():
        raise ModelError(f"{path}: this file is there already and stays as it is; name another one, or remove it")


def write_template(path: Path, kind: str) -> None:
    """Write the template of a kind, whole or not at all, and never over a file that is there."""
    check_template(path, kind)
    text = (Path(__file__).parent / f"{kind}.toml").read_text(encoding="utf-8")
    write_whole(path, text.replace("{file}", path.name))
