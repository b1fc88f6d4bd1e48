"""The folder of compiled kernels, which stay for later processes.

A library is code that runs as soon as it is loaded. So the folder must belong to the user, and nobody else may write to
it.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import DeviceError

USE_ANOTHER_FOLDER = "name a folder of your own in the environment variable PYNESTED_CACHE."


def cache_folder() -> Path:
    """Return PYNESTED_CACHE, or pynested in the user's cache folder; DeviceError without a home."""
    if chosen := os.environ.get("PYNESTED_CACHE"):
        return Path(chosen).absolute()
    parent = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not parent.is_absolute():  # the standard says that such a path must be ignored
        parent = Path(os.path.expanduser("~")) / ".cache"
    if not parent.is_absolute():
        raise DeviceError(f"compiled kernels are kept in the user's home folder. There is none: {USE_ANOTHER_FOLDER}")
    return parent / "pynested"


def cached_file(name: str, make: Callable[[Path], object]) -> Path:
    """Return a file of the cache, made if it is missing; another process that needs it waits until it is whole.

    ``make(path)`` writes the file; it may write others beside it, which are deleted. DeviceError if other users own the
    cache or can write to it, or if it cannot be made.
    """
    folder = cache_folder()
    file = folder / name
    try:
        folder.mkdir(stat.S_IRWXU, parents=True, exist_ok=True)
        _check_owner(folder)
        if not file.exists():
            with (
                file.with_suffix(".lock").open("w") as lock,
                tempfile.TemporaryDirectory(dir=folder) as temporary_folder,
            ):
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not file.exists():
                    unfinished = Path(temporary_folder, name)
                    make(unfinished)
                    unfinished.replace(file)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DeviceError(f"compiled kernels cannot be kept in {folder} ({reason}): {USE_ANOTHER_FOLDER}") from error
    return file


def _check_owner(folder: Path) -> None:
    """Raise DeviceError if a folder belongs to another user, or if others may write to it."""
    status = folder.stat()
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid():
        reason = f"belongs to another user (number {status.st_uid})"
    elif mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = f"can be written to by others (mode {mode:04o})"
    else:
        return
    raise DeviceError(
        f"{folder} {reason}. Kernels are code, which is not run from such a place: correct that, or "
        f"{USE_ANOTHER_FOLDER}"
    )
