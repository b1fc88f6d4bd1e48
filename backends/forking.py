"""What a process that is forked from this one gets anew: it has one thread, whatever the others were doing.

A lock that another thread held would never be released in the child, and threads of a pool would never answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def in_forked_children(renew: Callable[[], object]) -> None:
    """Have ``renew`` called in every forked child before anything else of ours; never where nothing is forked."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


class Lock:
    """A reentrant lock among the threads of one process: a forked child finds it free. For modules, not for objects.

    What the lock protects may be half done in the child, so it has to be renewed too, or bear it.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._renew()
        in_forked_children(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()
