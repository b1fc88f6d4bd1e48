"""Libraries that are kept from one process to the next: who can have written them, and whether they are still whole.

A library is code, and runs as soon as it is loaded. So it is taken only from a folder in which nobody but the user can
change anything, and only if it is what was kept: the last bytes of a file are a digest of those before; a loader or
linker does not look at them.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import DeviceError

DIGEST = hashlib.sha256().digest_size
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
ELSEWHERE = "name a folder of your own in the environment variable PYNESTED_CACHE."


def cache_folder() -> Path:
    """Where libraries are kept: PYNESTED_CACHE, or pynested in the user's cache folder; DeviceError without a home."""
    if asked := os.environ.get("PYNESTED_CACHE"):
        return Path(asked).absolute()
    user = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not user.is_absolute():  # not valid, says the standard, and to be ignored
        user = Path(os.path.expanduser("~")) / ".cache"
    if not user.is_absolute():
        raise DeviceError(f"compiled kernels are kept in the user's home folder. There is none: {ELSEWHERE}")
    return user / "pynested"


def cached_file(name: str, make: Callable[[Path, Path], None]) -> Path:
    """The file ``name`` of the cache, made where it is missing or damaged; whole or absent at any moment.

    ``make(target, place)`` writes the target, and whatever else it needs in the folder ``place``. DeviceError where
    somebody else could have written the file, and where there can be none.
    """
    folder = cache_folder()
    try:
        _check_folder(folder)
        file = folder / name
        if not _is_whole(file):
            _make(file, make)
    except OSError as error:
        why = error.strerror or str(error)
        raise DeviceError(f"compiled kernels cannot be kept in {folder} ({why}): {ELSEWHERE}") from error
    return file


def loaded(file: Path) -> ctypes.CDLL:
    """The library, its code run for the first time; DeviceError where the system does not let it."""
    try:
        return ctypes.CDLL(str(file))
    except OSError as error:
        way = f"Where its file system lets no program run (noexec), {ELSEWHERE}"
        raise DeviceError(f"a compiled kernel cannot be loaded: {error}. {way}") from error


def _make(file: Path, make: Callable[[Path, Path], None]) -> None:
    with tempfile.TemporaryDirectory(dir=file.parent, ignore_cleanup_errors=True) as name:
        place = Path(name)
        place.chmod(stat.S_IRWXU)  # whatever the umask says
        made = place / file.name
        make(made, place)
        made.chmod(stat.S_IRUSR | stat.S_IWUSR)
        with made.open("ab") as end:
            end.write(hashlib.sha256(made.read_bytes()).digest())
        made.replace(file)


def _is_whole(file: Path) -> bool:
    """Whether the file is there, and what was kept."""
    try:
        found = file.lstat()
    except FileNotFoundError:
        return False
    _check_own(file, found, stat.S_IFREG)
    data = file.read_bytes()
    return hashlib.sha256(data[:-DIGEST]).digest() == data[-DIGEST:]


def _check_folder(folder: Path) -> None:
    """Make the folder where it is missing, for the user alone; DeviceError where others can change what is in it."""
    for missing in [place for place in (*reversed(folder.parents), folder) if not place.exists()]:
        missing.mkdir(stat.S_IRWXU, exist_ok=True)
        missing.chmod(stat.S_IRWXU)
    _check_own(folder, folder.lstat(), stat.S_IFDIR)
    # Who may write above could put another folder in the place of this one. Groups are let be there: with many systems
    # every user has one of his own, and ~/.cache is open to it.
    for above in {*folder.parents, *folder.resolve().parents}:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise _refusal(folder, f"lies in {above}, to which everybody may write (mode {stat.S_IMODE(mode):04o})")


def _check_own(path: Path, found: os.stat_result, kind: int) -> None:
    """The folder, or the file, is no link, belongs to the user, and nobody else may write to it."""
    mode = found.st_mode
    if stat.S_ISLNK(mode):
        raise _refusal(path, "is a link")
    if stat.S_IFMT(mode) != kind:
        raise _refusal(path, "is no folder" if kind == stat.S_IFDIR else "is no file")
    if found.st_uid != os.geteuid():
        raise _refusal(path, f"belongs to another user (number {found.st_uid})")
    if mode & OTHERS_WRITE:
        raise _refusal(path, f"can be written to by others (mode {stat.S_IMODE(mode):04o})")


def _refusal(path: Path, why: str) -> DeviceError:
    return DeviceError(
        f"{path} {why}. Kernels are code, which is not run from such a place: correct that, or {ELSEWHERE}"
    )
