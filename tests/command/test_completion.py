"""The shell completes commands, cases, keys with their values, methods and kinds, and stays light."""

import os
import subprocess
import sys

import pytest

from command_line import pliant_command
from pliant.cases.case import all_cases
from pliant.command.completion import join_words
from pliant.command.templates import KINDS
from pliant.methods import INTEGRATORS


def ask(**variables):
    done = pliant_command(variables=variables)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.split("\n")[:-1]


def bash(line):
    """What bash is told at the end of a line; as bash does, words are broken at '=', too."""
    words = line.replace("=", " = ").split(" ")
    words = (
        [word for word in words[:-1] if word] + words[-1:] if not line.endswith("=") else [*line[:-1].split(" "), "="]
    )
    return ask(
        _PLIANT_COMPLETE="complete_bash", COMP_WORDS="\n".join(words).rstrip("\n"), COMP_CWORD=str(len(words) - 1)
    )


def fish(line):
    answer = ask(_PLIANT_COMPLETE="complete_fish", _TYPER_COMPLETE_FISH_ACTION="get-args", _TYPER_COMPLETE_ARGS=line)
    return [word.partition("\t")[0] for word in answer]


def test_commands_and_cases_are_completed():
    assert bash("pliant w") == ["warmup"]
    assert bash("pliant run ") == list(all_cases())
    assert bash("pliant cases fall") == ["falling-chain"]
    assert bash("pliant new --kind ") == list(KINDS)


def test_parameters_of_a_file_are_completed(tmp_path):
    (tmp_path / "arm.toml").write_text('name = "arm"\n[parameters]\nlength = 0.8\nstart = "30 deg"\n')
    assert bash(f"pliant run {tmp_path / 'arm.toml'} --set len") == ["length=0.8"]
    (tmp_path / "bad.toml").write_text("parameters = 3\n")
    assert bash(f"pliant run {tmp_path / 'bad.toml'} --set rto") == ["rtol=1e-08"]


def test_keys_of_the_case_come_with_their_default_or_each_choice():
    assert bash("pliant run falling-chain --set mo") == ["modes=ss-ss-ss", "modes_per_link=1"]
    assert fish("pliant run bouncing-ball --set normal_law=hert") == ["normal_law=hertz"]
    assert bash("pliant run falling-chain --set rto") == ["rtol=1e-08"]
    assert bash("pliant lab contact --set friction_l") == ["friction_laws=all"]
    assert "ends=cf" in bash("pliant modes --set ")
    # which takes no options of the run
    assert bash("pliant compare two-link-arm --set rto") == [""]
    assert "force=0.1" in bash("pliant compare two-link-arm --set ")
    assert bash("pliant transfer spin-up --set rto") == [""]
    assert "length=10" in bash("pliant transfer spin-up --set ")
    assert bash("pliant run robot.urdf --set base") == [f"base={word}" for word in ("fixed", "planar", "floating")]


def test_bash_is_told_only_the_value_behind_the_equals_sign():
    names = ["auto", *(row.name for row in INTEGRATORS)]
    assert bash("pliant run falling-chain --set integrator=") == names
    assert bash("pliant run falling-chain --set modes=cc-cc-cc --set integrator=dop") == ["dop853", "dopri5"]
    assert fish("pliant run falling-chain --set integrator=dop") == ["integrator=dop853", "integrator=dopri5"]


def test_where_no_case_fits_the_shell_completes_files():
    assert bash("pliant run examples/ar") == [""]


@pytest.mark.parametrize(
    ("words", "cursor", "joined", "place", "known"),
    [
        (["pliant", "run", "--set", "a", "=", "b"], 5, ["pliant", "run", "--set", "a=b"], 3, "a="),
        (["pliant", "run", "--set", "a", "="], 4, ["pliant", "run", "--set", "a="], 3, "a="),
        (["pliant", "--set", "a", "=", "1", "x"], 5, ["pliant", "--set", "a=1", "x"], 3, ""),
        (["pliant", "run", "ca"], 2, ["pliant", "run", "ca"], 2, ""),
        (["pliant", "run"], 2, ["pliant", "run", ""], 2, ""),
    ],
)
def test_words_that_bash_broke_are_joined(words, cursor, joined, place, known):
    environment = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(cursor)}
    assert join_words(environment) == known
    assert environment == {"COMP_WORDS": "\n".join(joined), "COMP_CWORD": str(place)}


def test_completion_is_installed_for_the_shell(tmp_path):
    """Into the home of the user: a script, and a line in .bashrc that reads it."""
    environment = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    words = [sys.executable, "-m", "pliant", "--install-completion", "bash"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "bash completion installed" in done.stdout
    script = (tmp_path / ".bash_completions" / "pliant.sh").read_text()
    assert "_PLIANT_COMPLETE=complete_bash" in script
    assert "pliant.sh" in (tmp_path / ".bashrc").read_text()
