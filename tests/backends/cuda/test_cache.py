"""The cache of compiled kernels: a file is made once, and code that another user can write is not loaded."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pynested.backends.cuda import cache
from pynested.backends.cuda.emulated_launcher import Emulator, emulated_backend
from pynested.backends.errors import DeviceError

NAME = "kernel-0.so"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder, which does not exist yet."""
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def make(target: Path, place: Path) -> None:
    target.write_bytes(b"code")


def never(target: Path, place: Path) -> None:
    raise AssertionError("it is made again")


def assert_refused(match: str, make: Callable[[Path, Path], None] = never) -> None:
    with pytest.raises(DeviceError, match=match + r"[\s\S]*environment variable PYNESTED_CACHE\.$"):
        cache.cached_file(NAME, make)


def test_a_file_is_made_once_in_a_folder_of_the_user(folder: Path) -> None:
    file = cache.cached_file(NAME, make)
    assert file == folder / NAME and file.read_bytes() == b"code" and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache.cached_file(NAME, never) == file
    assert list(folder.iterdir()) == [file]


def test_nothing_is_left_of_a_file_that_could_not_be_made(folder: Path) -> None:
    def fail(target: Path, place: Path) -> None:
        target.write_bytes(b"half")
        raise DeviceError("it does not compile")

    with pytest.raises(DeviceError, match="it does not compile"):
        cache.cached_file(NAME, fail)
    assert list(folder.iterdir()) == []


def test_a_folder_of_another_user_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.cached_file(NAME, make)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert_refused(rf"kept belongs to another user \(number {me}\)")


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused(folder: Path, mode: int) -> None:
    cache.cached_file(NAME, make)
    folder.chmod(mode)
    assert_refused(rf"kept can be written to by others \(mode {mode:04o}\)\. Kernels are code")


def test_a_folder_that_cannot_be_made_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "file" / "kept"))
    assert_refused(r"compiled kernels cannot be kept in .*file/kept \(Not a directory\)", make)


def test_a_disk_that_is_full(folder: Path) -> None:
    def full(target: Path, place: Path) -> None:
        raise OSError(28, "No space left on device")

    assert_refused(r"compiled kernels cannot be kept in .*kept \(No space left on device\)", full)


def test_a_library_that_the_system_does_not_load(folder: Path) -> None:
    file = cache.cached_file(NAME, make)
    with pytest.raises(DeviceError, match=rf"cannot be loaded: .*{NAME}: .*\(noexec\), name a folder of your own"):
        cache.loaded(file)


def test_the_folder_of_libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PYNESTED_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.cache_folder() == Path("/somewhere/pynested")
    for ignored in ("", "relative", "./cache", "~/cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache.cache_folder() == tmp_path / ".cache" / "pynested"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYNESTED_CACHE", "here")
    assert cache.cache_folder() == tmp_path / "here"


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYNESTED_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "nowhere")
    assert_refused("compiled kernels are kept in the user's home folder. There is none", make)


def test_a_device_reports_errors_of_its_cache(folder: Path) -> None:
    folder.write_text("hello", encoding="utf-8")
    with pytest.raises(DeviceError, match="cannot be kept in .*kept"):
        emulated_backend(Emulator()).relu(np.ones(3, np.float32))
