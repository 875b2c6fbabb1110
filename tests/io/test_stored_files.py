"""Files and states that were edited or damaged are read back, or refused with one sentence.

These few are the quick ones. Hundreds, and what could crash or hang: tests/trials/trial_stored_files.py."""

import random
import shutil

import pytest

import pliant
import stored_files
from command_line import pliant_command
from paths import DATA
from pliant import ModelError

EDITS = 150
SAVED = 60


def words_of_refusal(folder):
    """The words with which a study is refused; none if it is read."""
    try:
        runs = pliant.load_study(folder)
    except ModelError as error:
        return str(error)
    assert (len(runs.table["row"]), runs.summary()[0][0]) == (3, "hinge")
    return ""


def test_an_edited_study_is_read_or_refused_with_one_sentence(tmp_path):
    """Valid JSON of another shape, in half of the cases with a digest that is right."""
    found = []
    for seed in range(EDITS):
        shutil.copytree(DATA / "old" / "study", tmp_path / "study")
        stored_files.change_study(tmp_path / "study" / "study.json", random.Random(seed))
        found.append(words_of_refusal(tmp_path / "study"))
        shutil.rmtree(tmp_path / "study")
    refused = [words for words in found if words]
    assert len(refused) > 0.8 * EDITS  # few edits do no harm
    assert all(len(words) > 20 and "\n" not in words for words in refused)


@pytest.mark.parametrize(
    "text", ["[]", "null", "[" * 100_000, '{"format": "pliant study", "format_version": []}', "\0"]
)
def test_what_is_no_study_is_one_line_and_exit_code_2(text, tmp_path):
    (tmp_path / "study.json").write_text(text)
    done = pliant_command("sweep", "--resume", "--out", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "this is no study of pliant" in done.stderr


def test_a_saved_state_that_save_has_not_made_is_refused_and_moves_nothing():
    """Places in its tables are looked at by no kernel: a sum of them tells that one has changed."""
    for name, model in stored_files.MODELS.items():
        stepper = pliant.stepper(model(), **stored_files.OPTIONS[name])
        for seed in range(SAVED // 3):
            stepper.reset()
            stored_files.ask_stepper(stepper, random.Random(seed))
