"""The cache of compiled kernels: a file is made once, and code that another user can write is not loaded."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from pynested.backends.cuda import cache, emulated_launcher
from pynested.backends.cuda.emulated_launcher import Emulator, emulated_backend
from pynested.backends.errors import DeviceError

NAME = "kernel-0.so"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder, which does not exist yet."""
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def make(target: Path) -> None:
    target.write_bytes(b"code")


def fail(target: Path) -> None:
    target.write_bytes(b"half")
    raise DeviceError("it does not compile")


def on_a_full_disk(target: Path) -> None:
    raise OSError(28, "No space left on device")


def never(target: Path) -> None:
    raise AssertionError("it is made again")


def assert_refused(match: str, make: Callable[[Path], None] = never) -> None:
    with pytest.raises(DeviceError, match=match + r"[\s\S]*environment variable PYNESTED_CACHE\.$"):
        cache.cached_file(NAME, make)


def test_a_file_is_made_once_in_a_folder_of_the_user(folder: Path) -> None:
    with pytest.raises(DeviceError, match="it does not compile"):
        cache.cached_file(NAME, fail)
    assert list(folder.glob("*.so")) == []
    file = cache.cached_file(NAME, make)
    assert file == folder / NAME and file.read_bytes() == b"code" and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache.cached_file(NAME, never) == file
    assert {path.suffix for path in folder.iterdir()} == {".so", ".lock"}


def test_who_needs_a_file_that_is_being_made_waits_for_it(folder: Path) -> None:
    made = []

    def make_slowly(target: Path) -> None:
        made.append(target)
        time.sleep(0.1)
        make(target)

    with ThreadPoolExecutor(2) as pool:
        files = list(pool.map(lambda _: cache.cached_file(NAME, make_slowly), range(2)))
    assert files == [folder / NAME] * 2 and len(made) == 1


def test_a_folder_in_which_others_may_have_written_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.cached_file(NAME, make)
    for mode in (0o777, 0o770, 0o1777):
        folder.chmod(mode)
        assert_refused(rf"kept can be written to by others \(mode {mode:04o}\)\. Kernels are code")
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert_refused(rf"kept belongs to another user \(number {me}\)")


def test_a_folder_that_cannot_be_written_to_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_refused(r"compiled kernels cannot be kept in .*kept \(No space left on device\)", on_a_full_disk)
    shutil.rmtree(folder)
    folder.write_text("", encoding="utf-8")
    assert_refused(r"compiled kernels cannot be kept in .*kept \(File exists\)", make)
    with pytest.raises(DeviceError, match="cannot be kept in .*kept"):
        emulated_backend(Emulator()).relu(np.ones(3, np.float32))
    monkeypatch.delenv("PYNESTED_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "nowhere")
    assert_refused("compiled kernels are kept in the user's home folder. There is none", make)


def test_a_library_that_the_system_does_not_load(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulated_launcher, "compile_library", lambda *of: cache.cached_file(NAME, make))
    with pytest.raises(DeviceError, match=rf"cannot be loaded: .*{NAME}: .*\(noexec\), name a folder of your own"):
        emulated_backend(Emulator()).relu(np.ones(3, np.float32))


def test_the_folder_of_libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for variables, expected in (
        ({"XDG_CACHE_HOME": "/somewhere"}, Path("/somewhere/pynested")),
        *(({"XDG_CACHE_HOME": text}, tmp_path / ".cache/pynested") for text in ("", "relative", "./cache", "~/cache")),
        ({"XDG_CACHE_HOME": "/somewhere", "PYNESTED_CACHE": "here"}, tmp_path / "here"),
    ):
        for name, value in {"PYNESTED_CACHE": "", "HOME": str(tmp_path), **variables}.items():
            monkeypatch.setenv(name, value)
        assert cache.cache_folder() == expected
