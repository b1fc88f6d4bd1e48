"""The pipes of a child process, each served by a thread: what goes in, the lines that come out, the end of stderr.

A child may never read, or write without end: nobody waits here for longer than he says, and what is kept is bounded. A
thread closes its own pipe; one whose pipe is held open by a process that got away is left behind.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import IO

LONGEST_LINE = 2**23  # bytes; the reply to a vector has some ten thousand
_CHUNK, _AHEAD = 2**16, 16  # bytes that are read at once, and how often before anybody asks
_KEPT, _HEARD = 2**16, 1000  # of stderr: its last bytes, and lines until somebody asks


class Overlong(Exception):
    """A line that does not end."""


class Pipe(ABC):
    """One end of a pipe, and the thread that serves it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError), self._stream:  # that a child is gone is known otherwise
            self._work()

    @abstractmethod
    def _work(self) -> None:
        """Serve the pipe until it is closed."""

    def _read(self) -> bytes:
        return os.read(self._stream.fileno(), _CHUNK)


class Outgoing(Pipe):
    """Lines to stdin."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        super().__init__(stream)

    def put(self, line: str) -> None:
        """Queue one line."""
        self._lines.put(line.encode() + b"\n")

    def close(self) -> None:
        """Close the pipe after what is queued."""
        self._lines.put(None)

    def _work(self) -> None:
        while (line := self._lines.get()) is not None:
            self._stream.write(line)
            self._stream.flush()


class Incoming(Pipe):
    """Lines from stdout."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # an empty one is the end
        self._ahead = threading.Semaphore(_AHEAD)
        self._rest = b""  # what was read after the last line
        self._ended = self._unwanted = False
        super().__init__(stream)

    def get(self, seconds: float) -> str | None:
        """Return the next line, or None at the end; `TimeoutError` if neither comes, `Overlong` if a line goes on."""
        deadline = time.monotonic() + seconds
        part, newline, self._rest = self._rest.partition(b"\n")
        parts, length = [part], len(part)
        while not newline and not self._ended:
            part, newline, self._rest = self._next(deadline).partition(b"\n")
            parts.append(part)
            length += len(part)
            if length > LONGEST_LINE:
                raise Overlong
        return b"".join(parts).decode("utf-8", "replace") if newline or length else None

    def _next(self, deadline: float) -> bytes:
        try:
            chunk = self._chunks.get(timeout=max(deadline - time.monotonic(), 0))
        except queue.Empty:
            raise TimeoutError from None
        self._ahead.release()
        self._ended = not chunk
        return chunk

    def close(self) -> None:
        """Read no more, whoever still holds the pipe, and let what was read be the end."""
        self._unwanted = True
        self._ahead.release()
        self._chunks.put(b"")

    def _work(self) -> None:
        try:
            while self._ahead.acquire() and not self._unwanted and (chunk := self._read()):
                self._chunks.put(chunk)
        finally:
            self._chunks.put(b"")


class Tail(Pipe):
    """The end of stderr."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = self._part = b""
        self._heard: deque[str] = deque()
        self._unheard = 0
        super().__init__(stream)

    def heard(self) -> list[str]:
        """Return the lines since the last time; of very many, how many are lost."""
        lines = [self._heard.popleft() for _ in range(len(self._heard))]
        lost, self._unheard = self._unheard, 0
        return [*lines, f"({lost:,} more lines)"] if lost else lines

    def lines(self) -> list[str]:
        """Return the last lines that are not blank."""
        return [line.strip() for line in self._kept.decode("utf-8", "replace").splitlines() if line.strip()]

    def _work(self) -> None:
        while chunk := self._read():
            self._kept = (self._kept + chunk)[-_KEPT:]
            *whole, part = (self._part + chunk).split(b"\n")
            self._hear(whole)
            self._part = part[-_KEPT:]
        self._hear([self._part] if self._part else [])

    def _hear(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            if len(self._heard) < _HEARD:
                self._heard.append(line.decode("utf-8", "replace").rstrip())
            else:
                self._unheard += 1
