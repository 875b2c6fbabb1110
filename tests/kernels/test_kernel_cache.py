"""The cache of compiled kernels: whatever is done to its files, kernels are compiled anew and it is whole again."""

import os
import resource
import time
import warnings
from types import FunctionType

import numpy as np
import pytest

from calls_by_address import through
from pliant.kernels import _cache, _compiled, _loader
from pliant.kernels._jit import DERIVATIVE, address, entry, kernel
from pliant.kernels.tables import Pinned
from pliant.system.tables import empty_system
from pliant.system.work import new_work


def doubled(system, work, t, y, ydot):
    for i in range(len(y)):
        ydot[i] = 2.0 * y[i] + t
    return 7


def compiled():
    """(was it found in the cache, what it does)."""
    made = kernel(DERIVATIVE)(FunctionType(doubled.__code__, globals()))  # not yet loaded
    was_made = []
    with pytest.MonkeyPatch.context() as patch:
        make = _compiled._object_code
        patch.setattr(_compiled, "_object_code", lambda function: was_made.append(function) or make(function))
        place = address(made)
    system, work, ydot = Pinned(empty_system()), Pinned(new_work(empty_system())), np.zeros(2)
    status = entry(through)(system.ref, work.ref, place, 1.0, np.array([1.0, 2.0]), ydot)
    return not was_made, (status, *ydot)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    entry(through)  # in the usual one
    monkeypatch.setattr(_compiled, "CACHE_FOLDER", tmp_path)
    return tmp_path


def flipped(data):
    """One bit in the middle, inside the machine code."""
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


def as_folder(path):
    path.unlink()
    path.mkdir()
    (path / "x").write_text("x")


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


def as_link(path):
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


def other_code():
    """An object without a kernel."""
    llvm = _loader.llvm
    return _loader._machine().emit_object(llvm.parse_assembly("define i32 @other() {\nret i32 0\n}"))


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "three bytes": lambda path: path.write_bytes(path.read_bytes()[:3]),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "a bit": lambda path: path.write_bytes(flipped(path.read_bytes())),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "garbage": lambda path: path.write_bytes(bytes(range(256)) * 30),
    "sealed garbage": lambda path: _cache.write_sealed(path, b"no code"),
    "sealed nothing": lambda path: _cache.write_sealed(path, b"\n"),
    "sealed other": lambda path: _cache.write_sealed(path, b"\n" + other_code()),
    "a symbol that nobody has": lambda path: _cache.write_sealed(path, b"no_such_symbol" + _cache.read_sealed(path)),
    "folder": as_folder,
    "pipe": as_pipe,
    "link": as_link,
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_kernel_is_compiled_anew_and_the_cache_is_whole_again(damage, folder):
    assert compiled() == (False, (7, 3.0, 5.0))
    (path,) = folder.iterdir()
    good = path.read_bytes()
    DAMAGE[damage](path)
    assert compiled() == (False, (7, 3.0, 5.0))
    assert compiled() == (True, (7, 3.0, 5.0))
    assert path.is_file()
    assert abs(len(path.read_bytes()) - len(good)) < 1000
    assert list(folder.iterdir()) == [path]


def test_a_kernel_in_the_place_of_another_is_damage(folder):
    compiled()
    (path,) = folder.iterdir()
    other = path.with_name("other" + _cache.SUFFIX)
    path.rename(other)
    with pytest.raises(ValueError, match="damaged"):
        _cache.read_sealed(other)


@pytest.mark.parametrize("how", ["full", "in the way"])
def test_a_cache_that_cannot_be_written_costs_one_warning(how, tmp_path, monkeypatch):
    _cache.warn_unwritable.cache_clear()
    entry(through)
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr(_compiled, "CACHE_FOLDER", tmp_path / "file" / "folder" if how == "in the way" else tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if how == "full":
                resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
            assert compiled() == (False, (7, 3.0, 5.0))
            assert compiled() == (False, (7, 3.0, 5.0))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    said = [str(warning.message) for warning in caught if "cache" in str(warning.message)]
    assert len(said) == 1
    assert "cannot be written (" in said[0]
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_is_usable_if_it_can_be_written_or_has_kernels(tmp_path):
    folder = tmp_path / "kernels"
    folder.write_text("a file in the way of the folder")
    assert _cache.usable(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        assert not _cache.usable(folder)
        (folder / f"pliant.kernels.energy.energies-1{_cache.SUFFIX}").touch()
        assert _cache.usable(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert _cache.has_kernels(folder, "pliant.kernels.energy")
    assert not _cache.has_kernels(folder, "pliant.kernels.dynamics")


def test_unfinished_files_of_killed_processes_are_cleared_when_old(tmp_path):
    old, new = tmp_path / f"old{_cache.UNFINISHED}", tmp_path / f"new{_cache.UNFINISHED}"
    old.touch()
    new.touch()
    os.utime(old, (time.time() - 2 * _cache.OLD,) * 2)
    assert _cache.usable(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [new.name, "used"]
