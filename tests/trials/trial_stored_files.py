"""A long trial: files that pliant reads back, damaged or edited, also with right checksums. Every outcome is an answer,
or one message; never a traceback, a crash or a hang.

STORED_TRIALS: how many of each kind (default 300); STORED_FIRST: seed of the first (default 0)."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import stored_files

COUNT = int(os.environ.get("STORED_TRIALS", "300"))
FIRST = int(os.environ.get("STORED_FIRST", "0"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    stored_files.make_files(folder)
    return folder


@pytest.mark.parametrize("kind", stored_files.KINDS)
def test_what_is_read_back_is_read_or_refused(kind: str, files: Path) -> None:
    ends: Counter[str] = Counter()
    failures, seed, last = [], FIRST, FIRST + COUNT
    paths = os.pathsep.join([str(Path(stored_files.__file__).parent), *filter(None, sys.path)])
    while seed < last:
        words = [sys.executable, stored_files.__file__, kind, str(seed), str(last - seed), str(files)]
        done = subprocess.run(
            words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}, check=False
        )
        begun = seed - 1
        for line in done.stdout.splitlines():
            number, _, found = line.partition(" ")
            if number == "begin":
                begun = int(found)
                continue
            seed = int(number) + 1
            ends[found.split()[0]] += 1
            failures += [line] if found.startswith("FAILED") else []
        if begun >= seed:  # a signal has ended it
            failures.append(f"{begun} CRASHED OR HUNG, exit code {done.returncode}")
            seed = begun + 1
        elif done.returncode:
            raise AssertionError(f"the process could not begin: {done.returncode}")
    print(f"\n{kind}: {dict(ends)}, {len(failures)} failures of {COUNT}")
    assert not failures, "\n".join(failures[:50])
