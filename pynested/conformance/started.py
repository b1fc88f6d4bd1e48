"""How a child process comes to be, and what is left of it until somebody has waited for it.

The child has a session of its own and a mark in its environment, so that what it has started can be ended with it: its
session everywhere, and on Linux what left the session with the mark.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Protocol

from .descendants import Descendants
from .signals import name_of


class Started(Protocol):
    """A process, its pipes and its end. Its number belongs to it, and to its session, until it is `given_up`."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]

    def wait(self) -> None:
        """Wait until it is gone; its number stays its own."""

    def given_up(self) -> str:
        """Give its number back, once it is gone, and return how it ended."""

    def kill(self) -> None:
        """End it, and what it has started."""


class Spawned:
    """A process that runs a command."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None, keep: Sequence[int] = ()) -> None:
        """Start it; the files ``keep`` stay open in it. In Python nothing is buffered that a crash would lose."""
        pipe, self._family = subprocess.PIPE, Descendants()
        marked = {**self._family.marked(environment), "PYTHONUNBUFFERED": "1"}
        self._popen = popen = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=marked, start_new_session=True, pass_fds=keep
        )
        assert popen.stdin is not None and popen.stdout is not None and popen.stderr is not None
        self.stdin, self.stdout, self.stderr = popen.stdin, popen.stdout, popen.stderr

    def wait(self) -> None:
        """Wait until it is gone."""
        if sys.platform == "win32" or not hasattr(os, "waitid"):
            self._popen.wait()
        else:
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)

    def given_up(self) -> str:
        """Return how it ended."""
        return how(self._popen.wait())

    def kill(self) -> None:
        """End it, its session, and what has left the session."""
        if sys.platform == "win32":
            self._popen.kill()
        else:
            end_session(self._popen.pid)
            self._family.kill()


def end_session(number: int) -> None:
    """End a process that leads a session, and the session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(number, signal.SIGKILL)


def how(code: int) -> str:
    """Return in words how a process ended, from its exit code, which is below 0 for a signal."""
    return f"exit code {code}" if code >= 0 else name_of(-code)
