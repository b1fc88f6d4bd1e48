"""A process that has imported what its children need, and forks one whenever the last has died.

Starting PyTorch takes seconds, and a call that crashes costs two children or three. A fork begins where the server
stands, which has answered nothing: what it is asked first, it is asked in memory as fresh as that of a new process.

The server is asked on a socket, and says on it once that it is ready. A request carries the ends of the pipes of the
child, and of a socket on which is reported what becomes of it: first its number, said by itself as soon as it has a
session of its own, and then, by the server, its exit code. The number stays its own until the runner has answered that.
The server's side is `adapters/in_forks.py`.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TypeVar

from .descendants import Descendants
from .process import Process
from .started import Spawned, end_session, how

FORKS = "--forks"  # and the number of the socket: what is added to the command of an adapter
_SHORT = 64  # bytes: more than any message has
Answer = TypeVar("Answer")


class ForkServer:
    """Forks of a command; the process that they are forks of is started when the first one is wanted."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None, patience: float) -> None:
        self._command, self._environment, self._patience = list(command), environment, patience
        self._process: Process | None = None
        self._requests: socket.socket | None = None

    def process(self) -> Process:
        """Return a new child; `OSError` where none comes to be."""
        if self._process is not None:
            with contextlib.suppress(OSError):  # a child may have taken the server with it; then there is another one
                return Process(self._forked)
        self._start()
        return Process(self._forked)

    def said(self) -> list[str]:
        """Return what the server itself has written to stderr since the last time."""
        return [] if self._process is None else self._process.said()

    def close(self) -> None:
        """End the server, and with it whatever it has forked."""
        if self._requests is not None:
            self._requests.close()
        if self._process is not None:
            self._process.kill()
        self._process = self._requests = None

    def _start(self) -> None:
        """Start the process, and wait until it has imported what it needs."""
        self.close()
        self._requests, theirs = _channel()
        with theirs:
            number = theirs.fileno()
            command = [*self._command, FORKS, str(number)]
            self._process = Process(lambda: Spawned(command, self._environment, [number]))
        self._asked(lambda requests: _heard(requests, self._patience))

    def _forked(self) -> Forked:
        return self._asked(lambda requests: Forked(requests, self._patience))

    def _asked(self, question: Callable[[socket.socket], Answer]) -> Answer:
        """Return what the server answers, or say why it does not."""
        assert self._process is not None and self._requests is not None
        try:
            return question(self._requests)
        except TimeoutError:
            raise OSError(f"no answer within {self._patience:g} s") from None
        except (BrokenPipeError, EOFError):
            raise OSError(self._process.last_words() if self._process.gone() else "it listens no more") from None


class Forked:
    """A process that a server has forked."""

    def __init__(self, server: socket.socket, patience: float) -> None:
        """Ask for one; `TimeoutError` if none comes within so many seconds, `EOFError` if the server ends."""
        self._family, self._how, self._lost = Descendants(), "", False
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            self._report, reporting = _channel()
            ours.enter_context(self._report)
            theirs.enter_context(reporting)
            ends = [_pipe(mode, ours, theirs) for mode in ("wb", "rb", "rb")]
            (self.stdin, _), (self.stdout, _), (self.stderr, _) = ends
            files = [*(end for _, end in ends), reporting.fileno()]
            socket.send_fds(server, [self._family.name.encode()], files)
            theirs.close()
            self._number = int(_heard(self._report, patience))
            ours.pop_all()

    def wait(self) -> None:
        """Wait until it is gone. Where the server goes first, all that it has forked is ended with it."""
        try:
            self._how = how(int(_heard(self._report)))
        except EOFError:
            self._how, self._lost = "ended with the process that it is a fork of", True

    def given_up(self) -> str:
        """Return how it ended."""
        with self._report, contextlib.suppress(BrokenPipeError):
            self._report.send(b"heard")
        return self._how

    def kill(self) -> None:
        """End it, its session, and what has left the session by starting a command."""
        if not self._lost:  # when its number may be another's
            end_session(self._number)
        self._family.kill()


def _channel() -> tuple[socket.socket, socket.socket]:
    """Return two ends that are closed where one is lost, of a channel that keeps messages apart."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _heard(channel: socket.socket, seconds: float | None = None) -> bytes:
    """Return the next message; `TimeoutError` if none comes, `EOFError` if none will."""
    channel.settimeout(seconds)
    if not (said := channel.recv(_SHORT)):
        raise EOFError
    return said


def _pipe(mode: str, ours: contextlib.ExitStack, theirs: contextlib.ExitStack) -> tuple[IO[bytes], int]:
    """Return our end of a pipe, which is written to or read, and the other one; each is closed with its stack."""
    read, write = os.pipe()
    mine, other = (write, read) if mode == "wb" else (read, write)
    theirs.callback(os.close, other)
    return ours.enter_context(os.fdopen(mine, mode)), other
