"""The number of threads of BLAS: one for each caller, while several threads of ours call it.

OpenBLAS lets several callers wait for each other if each wants all of its threads: two threads that multiply matrices
at the same time take up to thirty times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_users: list[Any] = []  # for each thread of ours that needs single-threaded BLAS, the limit that it found


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def threads() -> int:
    """Return the number of threads that a large product takes now; 0 if the BLAS is unknown."""
    return max((library.num_threads for library in _blas().lib_controllers), default=0)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let BLAS compute on the thread that calls it, for all threads of the process until the last one leaves."""
    with _lock:
        _users.append(None if _users else _blas().limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            if len(_users) == 1:
                _users[0].restore_original_limits()
                _users.clear()
            else:
                _users.pop()
