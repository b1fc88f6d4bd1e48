"""What a child has started, wherever it went: a mark in its environment, which every process hands on to its own.

A process that leaves the session of its parent, and whose parent is gone, belongs to nobody; the mark is still there.
Only Linux shows the environment of a process to others: elsewhere, what left the session of the child stays.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Iterator, Mapping

_PROCESSES = "/proc"
_AT_MOST = 1.0  # seconds: processes that start others faster than they can be ended are left


class Descendants:
    """The processes whose environment holds one mark, made for one child."""

    def __init__(self) -> None:
        self.name = f"PYNESTED_CHILD_{secrets.token_hex(8)}"

    def marked(self, environment: Mapping[str, str] | None) -> dict[str, str]:
        """Return an environment, by default that of this process, with the mark."""
        return {**(os.environ if environment is None else environment), self.name: "1"}

    def kill(self) -> None:
        """End them all, and what they start meanwhile."""
        mark = f"{self.name}=1".encode()
        deadline = time.monotonic() + _AT_MOST
        while sum(_killed(number, mark) for number in _numbers()) and time.monotonic() < deadline:
            time.sleep(0.001)  # until what was killed is gone


def _numbers() -> Iterator[int]:
    """Yield the numbers of all processes but this one, if they can be asked for."""
    if hasattr(os, "pidfd_open") and os.path.isdir(f"{_PROCESSES}/self"):
        yield from (int(name) for name in os.listdir(_PROCESSES) if name.isdecimal() and int(name) != os.getpid())


def _killed(number: int, mark: bytes) -> bool:
    """End a process if it has the mark. It is held first, so that its number cannot become that of another one."""
    with contextlib.suppress(OSError):  # it is gone, or somebody else's
        held = os.pidfd_open(number)
        try:
            with open(f"{_PROCESSES}/{number}/environ", "rb") as file:
                marked = mark in file.read().split(b"\0")
            if marked:
                signal.pidfd_send_signal(held, signal.SIGKILL)
            return marked
        finally:
            os.close(held)
    return False
