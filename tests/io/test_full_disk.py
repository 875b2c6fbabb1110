"""Full disks, devices, protected files, and what killed runs leave: one sentence, and what was there is kept."""

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import time

import pytest

import pliant
from command_line import pliant_command
from pliant import ModelError, SimulationError, files
from pliant.command.job import prepare_job, run_job
from pliant.files import whole_file, whole_set, write_content, write_whole
from pliant.io.result_file import save_summary
from pliant.io.toml import save_model
from pliant.view.page import report
from pliant.view.picture.robot import write_picture
from pliant_benchmarks.figures import save_figures


@contextlib.contextmanager
def full_disk(limit=100):
    """Files cannot grow beyond a few bytes, as on a disk that is full; anybody may do this, not only root."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def result():
    return pliant.simulate(pliant.load("two-link-arm"), 0.5)


WRITERS = {
    "result.nc": lambda result, path: result.save(path),
    "table.csv": lambda result, path: result.to_csv(path),
    "table.mat": lambda result, path: result.to_mat(path),
    "film.mp4": lambda result, path: result.video(path, size=(64, 64)),
    "film.gif": lambda result, path: result.video(path, size=(64, 64)),
    "report.html": lambda result, path: report.write_report(result, path),
    "summary.json": lambda result, path: save_summary(path, "case", {}, {}, result),
    "bench.json": lambda result, path: save_figures(path, {}, {}, 0.0, "done"),
    "model.toml": lambda result, path: save_model(result.model, path),
    "picture.svg": lambda result, path: write_picture(result, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_on_a_full_disk_says_one_sentence_and_keeps_the_old_file(name, result, tmp_path):
    path = tmp_path / name
    path.write_text("old")
    with full_disk(), pytest.raises(SimulationError) as caught:
        WRITERS[name](result, path)
    assert str(caught.value).startswith(f"{path}: the file could not be written (")
    assert str(caught.value).endswith("; what was there is kept")
    assert "\n" not in str(caught.value)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [name]


def test_an_error_of_a_full_disk_holds_no_view_of_what_was_to_be_written(tmp_path):
    """Python 3.12.1 dies when it collects one (python/cpython#111049); one that is held forbids to resize."""
    content = io.BytesIO(bytes(1000))
    with full_disk(), pytest.raises(SimulationError) as caught:
        write_content(tmp_path / "file", content)
    assert caught.tb
    content.truncate(0)


@pytest.mark.parametrize("script", ["exit 3", "cat > /dev/null; echo no luck >&2; exit 3", "kill -9 $$"])
def test_a_video_whose_encoder_fails_is_no_video(script, result, tmp_path, monkeypatch):
    import imageio_ffmpeg

    fake = tmp_path / "ffmpeg"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(fake))
    with pytest.raises(
        SimulationError, match=r"film.mp4: the file could not be written \(the encoder ended with -?[39]"
    ):
        result.video(tmp_path / "film.mp4", size=(64, 64))
    assert os.listdir(tmp_path) == ["ffmpeg"]


def test_no_encoder_is_said_before_anything_is_drawn(result, tmp_path, monkeypatch):
    import imageio_ffmpeg

    def missing():
        raise RuntimeError("none here")

    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", missing)
    with pytest.raises(ModelError, match=r"video: no ffmpeg was found \(none here\); install imageio-ffmpeg"):
        result.video(tmp_path / "film.mp4", size=(64, 64))
    assert os.listdir(tmp_path) == []


def test_files_of_a_set_are_replaced_together_or_not_at_all(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("old")
    with full_disk(), pytest.raises(SimulationError), whole_set():  # noqa: PT012
        write_whole(tmp_path / "a", "new")
        write_whole(tmp_path / "b", "new" * 100)
    assert [(tmp_path / name).read_text() for name in ("a", "b")] == ["old", "old"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    with whole_set():
        write_whole(tmp_path / "a", "new")
        assert (tmp_path / "a").read_text() == "old"
        write_whole(tmp_path / "b", "new")
    assert [(tmp_path / name).read_text() for name in ("a", "b")] == ["new", "new"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_file_of_a_set_that_failed_is_not_put_in_place_later(tmp_path):
    with whole_set():
        with contextlib.suppress(ZeroDivisionError), whole_file(tmp_path / "a") as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError
        write_whole(tmp_path / "b", "whole")
    assert os.listdir(tmp_path) == ["b"]


def test_a_run_into_a_full_disk_keeps_summary_result_and_page_of_the_run_before(tmp_path):
    out = tmp_path / "out"
    run_job(prepare_job("two-link-arm", {"duration": 0.2}, out))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(before) == ["report.html", "result.nc", "summary.json"]
    # there is room for the first two of them
    with full_disk(1_000_000), pytest.raises(SimulationError, match=r"report.html: .*; what was there is kept"):
        run_job(prepare_job("two-link-arm", {"duration": 0.4}, out))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    run_job(prepare_job("two-link-arm", {"duration": 0.4}, out))
    assert json.loads((out / "summary.json").read_text())["settings"]["duration"] == 0.4
    with full_disk(1_000_000), pytest.raises(SimulationError, match=r"report.html: .*; nothing is left of it"):
        run_job(prepare_job("two-link-arm", {"duration": 0.2}, tmp_path / "new"))
    assert not (tmp_path / "new").exists()


COMMANDS = {
    "run": ["run", "two-link-arm", "--set", "duration=0.1", "-q", "--out", "DIR/run"],
    "export": ["run", "two-link-arm", "--set", "duration=0.1", "--set", "sample=2.5e-6", "-q", "--out", "DIR/run",
               "--export", "DIR/a.csv"],
    "new": ["new", "DIR/robot.toml"],
    "schema": ["schema", "--out", "DIR/schema.json"],
    "modes": ["modes", "--out", "DIR"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_on_a_full_disk_ends_with_one_sentence_and_exit_code_1(name, tmp_path):
    arguments = [word.replace("DIR", str(tmp_path)) for word in COMMANDS[name]]
    # room for the page, not for the table
    with full_disk(200 if name != "export" else 7_000_000):
        done = pliant_command(*arguments)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("pliant: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "could not be written (File too large)" in done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".") or path.suffix == ".csv"]


@pytest.mark.parametrize("arguments", [["schema"], ["--help"]])
def test_a_command_whose_output_finds_no_place_says_so(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pliant", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "pliant: the output of the command cannot be written: No space left on device\n"


def test_a_command_whose_output_is_closed_does_its_work(tmp_path):
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m pliant modes --out {tmp_path} >&- 2>&-"], timeout=120, check=False
    )
    assert done.returncode == 0
    assert os.listdir(tmp_path) == ["modes.svg"]


# --- what is no file ------------------------------------------------------------------------------------------------


def test_what_is_no_regular_file_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", files.Path("/dev/null")):
        with pytest.raises(ModelError, match="this is no file but a device or a pipe, which stays as it is"):
            write_whole(path, "text")
    assert (tmp_path / "pipe.csv").is_fifo()
    assert files.Path("/dev/null").is_char_device()
    # before the run, not after it
    with pytest.raises(ModelError, match="this is no file but a device or a pipe"):
        prepare_job("two-link-arm", {}, tmp_path / "out", exports=[tmp_path / "pipe.csv"])
    assert not (tmp_path / "out").exists()


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "folder" / "later")
    write_whole(tmp_path / "link", "new")
    write_whole(tmp_path / "dangling", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_text() == "new"
    assert (tmp_path / "folder" / "later").read_text() == "new"
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(ModelError, match="circle"):
        write_whole(tmp_path / "circle", "new")
    (tmp_path / "device").symlink_to("/dev/null")
    with pytest.raises(ModelError, match="no file but a device"):
        write_whole(tmp_path / "device", "new")


def test_a_file_keeps_its_permissions_and_a_protected_one_its_content(tmp_path, monkeypatch):
    path = tmp_path / "private"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, "new")
    assert path.stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(files.os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(ModelError, match="this file is protected from being written"):
        write_whole(path, "newer")
    assert path.read_text() == "new"


@pytest.mark.parametrize("name", ["no/such/folder/a", "x" * 300, "a\0b"])
def test_a_name_that_cannot_be_is_a_mistake_of_the_user(name, tmp_path):
    with pytest.raises(ModelError):
        write_whole(tmp_path / name, "text")


# --- what killed runs leave -------------------------------------------------------------------------------------------


def gone():
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_temporary_files_of_killed_runs_are_cleared_by_the_next_and_no_others(tmp_path):
    here, elsewhere = files._machine(), f"{int(files._machine(), 16) ^ 1:08x}"
    names = {
        "dead": f".pliant-{here}-{gone()}-abc",
        "alive": f".pliant-{here}-{os.getppid()}-abc",
        "own": f".pliant-{here}-{os.getpid()}-abc",
        "elsewhere": f".pliant-{elsewhere}-{gone()}-abc",
        "old": f".pliant-{elsewhere}-{gone()}-old",
        "theirs": ".summary.json.abc123",
        "looks": ".pliant-notes",
    }
    for name in names.values():
        (tmp_path / name).write_text("x")
    os.utime(tmp_path / names["old"], (time.time() - 2 * files.OLD,) * 2)
    write_whole(tmp_path / "summary.json", "{}")
    left = {key for key, name in names.items() if (tmp_path / name).exists()}
    assert left == {"alive", "own", "elsewhere", "theirs", "looks"}


def test_a_run_that_is_killed_while_it_writes_leaves_nothing_to_the_run_after_next(tmp_path):
    code = f"""
import os, signal
from pathlib import Path
from pliant.files import whole_file
with whole_file(Path({str(tmp_path / "a")!r})) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(os.listdir(tmp_path)) == 1
    files.make_folder(tmp_path)
    assert os.listdir(tmp_path) == []
