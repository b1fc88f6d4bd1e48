"""The cache of compiled kernels: nobody else's code is loaded, and nothing damaged; a sentence says what is wrong."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pynested.backends.cuda import cache, compiler
from pynested.backends.cuda.emulated import Emulator, emulated_backend
from pynested.backends.cuda.report import listing
from pynested.backends.errors import DeviceError

NAME = "kernel-0.so"
CODE = bytes(range(256)) * 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, which is not there yet."""
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def make(target: Path, place: Path) -> None:
    target.write_bytes(CODE)


def unmade(target: Path, place: Path) -> None:
    raise AssertionError("it is made again")


def refused(match: str, make: Callable[[Path, Path], None] = unmade) -> None:
    with pytest.raises(DeviceError, match=match + r"[\s\S]*environment variable PYNESTED_CACHE\.$") as caught:
        cache.cached_file(NAME, make)
    assert "\n" not in str(caught.value)


# ---- what is kept ---------------------------------------------------------------------------------------------------


def test_a_file_is_made_once_and_ends_with_a_digest(folder: Path) -> None:
    file = cache.cached_file(NAME, make)
    assert file == folder / NAME and file.read_bytes()[: len(CODE)] == CODE and file.stat().st_size == len(CODE) + 32
    assert cache.cached_file(NAME, unmade) == file
    assert [one.name for one in folder.iterdir()] == [NAME]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:4000],
    "cut by a byte": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "empty": lambda data: b"",
    "zeroed": lambda data: data[:512] + bytes(512) + data[1024:],
    "a bit flipped": lambda data: data[:99] + bytes([data[99] ^ 1]) + data[100:],
    "another digest": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "without a digest": lambda data: data[:-32],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_made_again(folder: Path, damage: str) -> None:
    file = cache.cached_file(NAME, make)
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    assert cache.cached_file(NAME, make).read_bytes() == whole
    assert cache.cached_file(NAME, unmade) == file


def test_a_damaged_library_is_not_loaded(folder: Path, tmp_path: Path) -> None:
    """The emulation ends the process, or hangs in it, where it loads one; so another process looks."""
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    text = "template <class T>\n__global__ void one(T *out) { out[0] = 7; }\n"
    (kernels / "one.cu").write_text(text, encoding="utf-8")
    program = (
        "import numpy as np, pathlib, sys\n"
        "from pynested.backends.cuda.emulated import Emulator, emulated_backend\n"
        "device = emulated_backend(Emulator(kernels=pathlib.Path(sys.argv[1]), units={}))\n"
        "out = np.zeros(1, np.int32)\n"
        "device.launch('one.cu', 'one<int>', (1,), (1,), (out,))\n"
        "print(out)\n"
    )
    file = compiler.library("one.cu", ["one<int>"], kernels=kernels)
    for other in (file, *folder.glob("*.o")):
        os.truncate(other, other.stat().st_size // 4)
    command = [sys.executable, "-c", program, str(kernels)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[7]\n", 0), done.stderr


def test_nothing_is_left_of_what_could_not_be_made(folder: Path) -> None:
    def fails(target: Path, place: Path) -> None:
        target.write_bytes(CODE)
        raise DeviceError("it does not compile")

    with pytest.raises(DeviceError, match="it does not compile"):
        cache.cached_file(NAME, fails)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("umask", [0, 0o777], ids=oct)
def test_the_umask_does_not_matter(folder: Path, umask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYNESTED_CACHE", str(folder / "deep" / "er"))
    before = os.umask(umask)
    try:
        file = cache.cached_file(NAME, make)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (folder, folder / "deep", file.parent, file)]
    assert modes == [0o700, 0o700, 0o700, 0o600]


# ---- what is refused ------------------------------------------------------------------------------------------------


def planted(folder: Path) -> Path:
    """A file that the cache would take."""
    return cache.cached_file(NAME, make)


def test_a_file_that_others_may_write_to_is_refused(folder: Path) -> None:
    for mode in (0o620, 0o602, 0o666):
        planted(folder).chmod(mode)
        refused(rf"{NAME} can be written to by others \(mode {mode:04o}\)\. Kernels are code")
        (folder / NAME).unlink()


def test_a_file_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    elsewhere = planted(folder).rename(tmp_path / "elsewhere.so")
    (folder / NAME).symlink_to(elsewhere)
    refused(f"{NAME} is a link")


def test_what_is_no_file_is_refused(folder: Path) -> None:
    (folder / NAME).mkdir(parents=True)
    folder.chmod(0o700)
    refused(f"{NAME} is no file")


def test_files_and_folders_of_another_user_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(folder)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    refused(rf"kept belongs to another user \(number {me}\)")
    monkeypatch.setattr(cache, "_check_folder", lambda folder: None)
    refused(rf"{NAME} belongs to another user \(number {me}\)")


def test_a_folder_that_others_may_write_to_is_refused(folder: Path) -> None:
    planted(folder)
    for mode in (0o777, 0o770, 0o1777):
        folder.chmod(mode)
        refused(rf"kept can be written to by others \(mode {mode:04o}\)")


def test_a_folder_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "own")
    refused("kept is a link", make)


@pytest.mark.parametrize("through_a_link", [False, True])
def test_a_folder_that_others_may_exchange_is_refused(
    folder: Path, tmp_path: Path, through_a_link: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shared").mkdir()
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "shared" / "kept"))
    if through_a_link:
        (tmp_path / "way").symlink_to(tmp_path / "shared")
        monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "way" / "kept"))
    (tmp_path / "shared").chmod(0o777)
    refused(r"kept lies in .*, to which everybody may write \(mode 0777\)", make)
    for mode in (0o1777, 0o775):  # where nobody may rename what is not his; where his own group may
        (tmp_path / "shared").chmod(mode)
        assert cache.cached_file(NAME, make).read_bytes()[: len(CODE)] == CODE


def test_a_file_in_the_place_of_the_folder(folder: Path) -> None:
    folder.write_text("hello", encoding="utf-8")
    refused("kept is no folder", make)


def test_a_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "file" / "kept"))
    refused(r"compiled kernels cannot be kept in .*file/kept \(Not a directory\)", make)


def test_a_disk_that_is_full(folder: Path) -> None:
    def full(target: Path, place: Path) -> None:
        raise OSError(28, "No space left on device")

    refused(r"compiled kernels cannot be kept in .*kept \(No space left on device\)", full)


def test_what_the_system_does_not_load(folder: Path) -> None:
    file = cache.cached_file(NAME, make)
    with pytest.raises(DeviceError, match=rf"cannot be loaded: .*{NAME}: .*\(noexec\), name a folder of your own"):
        cache.loaded(file)


# ---- where ----------------------------------------------------------------------------------------------------------


def test_where_libraries_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
    refused("compiled kernels are kept in the user's home folder. There is none", make)
    assert re.search(r'device "emulated": compiled kernels are kept .* There is none', listing())


def test_a_device_says_what_is_wrong_with_its_cache(folder: Path) -> None:
    folder.write_text("hello", encoding="utf-8")
    with pytest.raises(DeviceError, match="kept is no folder"):
        emulated_backend(Emulator()).relu(np.ones(3, np.float32))
