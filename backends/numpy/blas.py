"""How many threads BLAS takes: one, while threads of our own call it.

OpenBLAS lets several callers wait for each other where each wants all of its threads, and these look for work until
they are told to sleep: two threads that multiply matrices at the same time take up to thirty times as long.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ..forking import Lock, in_forked_children

# How OpenBLAS calls them in NumPy's own wheels, and elsewhere.
NAMES = [f"{before}openblas_{{}}_num_threads{after}" for before in ("scipy_", "") for after in ("64_", "")]

_lock = Lock()
_users, _before = 0, 1


@cache
def _controls() -> tuple[Any, Any] | None:
    """The functions that get and set the number of threads; None where NumPy's BLAS is not OpenBLAS."""
    try:
        library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    except (AttributeError, OSError):  # NumPy keeps it elsewhere
        return None
    for name in NAMES:
        if hasattr(library, name.format("set")):
            return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


def threads() -> int:
    """How many threads a large product would take now; 0 where BLAS cannot be asked."""
    controls = _controls()
    return controls[0]() if controls else 0


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let BLAS compute on the thread that calls it, for all threads of the process until the last one leaves."""
    controls = _controls()
    if controls is None:
        yield
        return
    get, set_to = controls
    global _users, _before
    with _lock:
        if not _users:
            _before = get()
            set_to(1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                set_to(_before)


def _forget_users() -> None:
    """Those of the parent are not here; where there were some, BLAS goes on with one thread."""
    global _users
    _users = 0


in_forked_children(_forget_users)
