"""Runs the pages of the gallery. Each page holds one python block, what it prints, and the picture it makes.

python docs/gallery/build.py            run all pages, write their printed text and pictures anew
python docs/gallery/build.py digits     only the page digits.md

A page is the only source of its example: edit the python block and the words around it, build, look at the picture."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PICTURES = HERE.parent / "pictures"
LONGEST = 30.0  # a page may take [s]
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]+\]\(\.\./pictures/([\w-]+\.png)\)")


def pages() -> list[Path]:
    return sorted(HERE.glob("*.md"))


def example_of(page: Path) -> tuple[str, str, str]:
    """(source, what it prints, name of its picture) of a page."""
    text = page.read_text(encoding="utf-8")
    examples, pictures = EXAMPLE.findall(text), PICTURE.findall(text)
    if len(examples) != 1 or len(pictures) != 1:
        raise SystemExit(
            f"{page.name}: {len(examples)} examples and {len(pictures)} pictures found; a page has one python block, "
            "followed by one text block, and one picture in ../pictures"
        )
    return *examples[0], pictures[0]


def run_example(source: str, folder: Path) -> str:
    """Run a source in a folder, with a copy of the repository's examples beside it; what it printed."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "example.py").write_text(source, encoding="utf-8")
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, "MPLBACKEND": "Agg"}
    words = [sys.executable, "example.py"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the example failed:\n{done.stderr}")
    return done.stdout


def build(page: Path) -> None:
    """Write what the example prints into its page, and its picture beside the others."""
    source, printed, picture = example_of(page)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = run_example(source, Path(folder))
        seconds = time.perf_counter() - start
        if seconds > LONGEST:
            raise SystemExit(f"{page.name}: {seconds:.0f} s is too long; make it shorter than {LONGEST:g} s")
        shutil.copy(Path(folder) / picture, PICTURES)
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(f"```text\n{printed}```", f"```text\n{found}```"), encoding="utf-8")
    size = (PICTURES / picture).stat().st_size
    print(
        f"{page.name}: {seconds:.1f} s, {picture} {size / 1000:.0f} kB" + ("" if found == printed else ", text changed")
    )


if __name__ == "__main__":
    for chosen in [HERE / f"{name}.md" for name in sys.argv[1:]] or pages():
        build(chosen)
