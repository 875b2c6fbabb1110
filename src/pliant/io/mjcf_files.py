"""The files that an MJCF file names, looked at before MuJoCo opens them: it would wait at a pipe for ever."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from pliant.errors import ModelError
from pliant.io.plain_file import MAX_BYTES, MAX_TEXT, check_plain, read_plain

MAX_FILES = 10_000
MAX_CELLS = 25_000_000  # of a height field or a texture
FOLDERS = ("assetdir", "meshdir", "texturedir")
SIZES = {"hfield": ("nrow", "ncol", "height field"), "texture": ("width", "height", "texture")}
# as lenient as MuJoCo: comments are passed over, attributes have either quotes
TAG = re.compile(r"""<!--.*?(?:-->|\Z)|<([A-Za-z]+)((?>[^<>"']+|"[^"]*"|'[^']*')*+)""", re.DOTALL)
ATTRIBUTE = re.compile(r"""([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def check_files(path: Path, text: str) -> None:
    """Refuses pipes, devices and huge files among what an MJCF text and what it includes name, and huge fields."""
    tags, folders = [*_tags(path, text)], {path.parent}
    seen, tried = {path.resolve()}, set[Path]()
    # a file that is included may lie in another folder, and what it names then beside it
    while waiting := set(_candidates(_included(tags), folders)) - tried:
        tried |= waiting
        for file in sorted(waiting):
            if not _is_there(path, file) or file.resolve() in seen:
                continue
            seen.add(file.resolve())
            folders.add(file.parent)
            tags += _tags(path, read_plain(file).decode("utf-8", "replace"))
            _check_count(path, len(seen))
    below = {given[key] for _, given in tags for key in FOLDERS if key in given}
    places = folders | {folder / name for folder in folders for name in below}
    names = {name for _, given in tags for name in _names(given)}
    _check_count(path, len(names))
    for file in _candidates(names, places):
        _is_there(path, file)


def _included(tags: list[tuple[str, dict[str, str]]]) -> set[str]:
    """The model files that tags name."""
    return {name for tag, given in tags for name in _names(given) if _is_model(tag, name)}


def _check_count(path: Path, count: int) -> None:
    if count > MAX_FILES:
        raise ModelError(f"{path.name}: it names more than {MAX_FILES} files; give it fewer")


def _tags(path: Path, text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Every tag that names a file or a folder; sizes of fields are checked on the way."""
    for found in TAG.finditer(text):
        if found[1] is None or not ("file" in found[2] or "dir" in found[2] or found[1] in SIZES):
            continue
        given = {key: html.unescape(value or other) for key, value, other in ATTRIBUTE.findall(found[2])}
        if found[1] in SIZES:
            one, two, what = SIZES[found[1]]
            rows, columns = (_whole(given.get(key, "")) for key in (one, two))
            if rows * columns > MAX_CELLS:
                cells = f"{rows} x {columns} cells"
                raise ModelError(f"{path.name}: a {what} has {one} x {two} = {cells}; give it at most {MAX_CELLS}")
        yield found[1], given


def _whole(text: str) -> int:
    found = re.match(r"\s*\+?(\d{1,18})", text)
    return int(found[1]) if found else 1


def _names(given: dict[str, str]) -> list[str]:
    """`file` of includes, meshes, fields, skins; `fileup`, `fileleft`, ... of textures."""
    return [value for key, value in given.items() if key.startswith("file") and value]


def _is_model(tag: str, name: str) -> bool:
    return tag in ("include", "model") or name.lower().endswith((".xml", ".mjcf"))


def _candidates(names: set[str], folders: set[Path]) -> Iterator[Path]:
    """Where MuJoCo may look for files; `strippath` leaves only the last part of a name."""
    for name in names:
        for folder in folders:
            yield folder / name
            if "/" in name or "\\" in name:
                yield folder / re.split(r"[/\\]", name)[-1]


def _is_there(path: Path, file: Path) -> bool:
    """Whether it is a file; refused if it is one that should not be opened."""
    try:
        check_plain(file, MAX_TEXT if file.suffix.lower() in (".obj", ".xml", ".mjcf", ".dae") else MAX_BYTES)
    except ModelError as error:
        raise ModelError(f"{path.name}: {error}") from None
    except (OSError, ValueError):
        return False
    return True
