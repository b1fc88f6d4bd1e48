"""An adapter in a child process: it may print, hang, write garbage or die, and the run goes on.

Requests and replies are one JSON object a line. Up to a window of requests is under way at once. When the child dies,
the oldest unanswered request is the suspect; it is asked once more, alone, in a fresh child. If that one dies too, the
crash is its own; if not, its reply is marked `unsteady`, for then an earlier request has damaged the memory. Whatever
else was under way is asked again.
"""

from __future__ import annotations

import json
import queue
import re
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO

from . import messages
from .messages import Message
from .problems import UsageError
from .session import Identity

_WINDOW = 16
_STDERR_LINES = 100
_FINDING = re.compile(r"runtime error:|^SUMMARY:")  # of a sanitizer, which goes on to show stacks and memory


class Child:
    """A session with an adapter in a child process; ``patience`` is the timeout of its first answer."""

    def __init__(
        self,
        command: Sequence[str],
        device: str = "cpu",
        environment: Mapping[str, str] | None = None,
        timeout: float = 20.0,
        patience: float = 120.0,
    ) -> None:
        self._command, self._device, self._environment = list(command), device, environment
        self._timeout, self._patience = timeout, patience
        self._process: _Process | None = None
        self._seq = 0
        self.restarts = 0
        self.identity = self._start()

    def answers(self, requests: Iterable[Message]) -> Iterator[Message]:
        """Yield one reply for each request, in order; a crash, a hang or garbage is a reply too."""
        source = iter(requests)
        again: deque[Message] = deque()  # asked before, lost when a child died
        waiting: deque[Message] = deque()
        suspect: Message | None = None
        died = ""
        while True:
            window = 1 if suspect is not None else _WINDOW
            while len(waiting) < window and (request := again.popleft() if again else next(source, None)) is not None:
                self._send(request)
                waiting.append(request)
            if not waiting:
                return
            reply = self._receive(waiting[0])
            oldest = waiting.popleft()
            if not {"crashed", "hung", "garbled"} & set(reply):
                yield reply if suspect is None else {**reply, "unsteady": died}
                suspect = None
                continue
            again.extendleft(reversed(waiting))
            waiting.clear()
            self._restart()
            if "crashed" in reply and suspect is not oldest:
                suspect, died = oldest, str(reply["crashed"])
                again.appendleft(oldest)
                continue
            suspect = None
            yield reply

    def close(self) -> None:
        """Ask the child to stop, and see to it."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _start(self) -> Identity:
        try:
            self._process = _Process(self._command, self._environment)
        except OSError as error:
            raise UsageError(f"cannot start the adapter {self._command[0]!r}: {error}") from error
        self._process.write(messages.start(self._device))
        name = " ".join(self._command)
        try:
            line = self._process.read(self._patience)
            return Identity.from_reply(json.loads(line or ""))
        except TimeoutError:
            self._abandon()
            raise UsageError(f"the adapter {name} did not answer start within {self._patience:g} s") from None
        except UsageError:
            self._abandon()
            raise
        except ValueError as error:
            said = repr(line.strip()[:120]) if line else self._process.last_words()
            self._abandon()
            raise UsageError(f"the adapter {name} did not start: {said}") from error

    def _abandon(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _restart(self) -> None:
        self._abandon()
        self.restarts += 1
        self._start()

    def _send(self, request: Message) -> None:
        self._seq += 1
        request["seq"] = self._seq
        assert self._process is not None
        self._process.write(request)

    def _receive(self, request: Message) -> Message:
        """Return the reply to the oldest request, or what happened instead of one."""
        assert self._process is not None
        try:
            line = self._process.read(self._timeout)
        except TimeoutError:
            return {"hung": f"no answer within {self._timeout:g} s"}
        if line is None:
            return {"crashed": self._process.last_words()}
        try:
            reply = json.loads(line)
            if reply["seq"] != request["seq"]:
                raise ValueError(f"expected seq {request['seq']}, got {reply['seq']}")
            messages.outcome(reply)
        except (ValueError, KeyError, TypeError) as error:
            return {"garbled": f"wrote {line.strip()[:120]!r}, which is not a reply: {type(error).__name__}: {error}"}
        return dict(reply)


class _Process:
    """The pipes of one child: a thread each for writing, reading and stderr, so that nobody waits for a full pipe."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None) -> None:
        pipe = subprocess.PIPE
        self._popen = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=environment,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._outgoing: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._incoming: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        work: tuple[Callable[[], None], ...] = (self._pump, self._drain, self._listen)
        self._threads = [threading.Thread(target=one, daemon=True) for one in work]
        for thread in self._threads:
            thread.start()

    def write(self, message: Message) -> None:
        """Queue one message."""
        self._outgoing.put(json.dumps(message, allow_nan=False) + "\n")

    def read(self, seconds: float) -> str | None:
        """Return the next line, or None when the child has closed its output; `TimeoutError` when neither happens."""
        try:
            return self._incoming.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None

    def last_words(self) -> str:
        """Return how the child ended, and of what it wrote to stderr what a sanitizer found, or the last line."""
        try:
            code = self._popen.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = 0
        self._threads[2].join(timeout=1)
        how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        said = [line.strip() for line in self._stderr if line.strip()]
        found = [line for line in said if _FINDING.search(line)]
        return how + (f": {(found or said[-1:])[0]}" if said else "")

    def end(self) -> None:
        """Ask the child to stop; kill it if it does not."""
        self.write(messages.stop())
        self._outgoing.put(None)
        try:
            self._popen.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
        self._close()

    def kill(self) -> None:
        """End the child at once."""
        self._popen.kill()
        self._outgoing.put(None)
        self._close()

    def _close(self) -> None:
        self._popen.wait()
        for thread in self._threads:
            thread.join(timeout=2)
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            _quietly_close(stream)

    def _pump(self) -> None:
        stream = self._popen.stdin
        assert stream is not None
        while (text := self._outgoing.get()) is not None:
            try:
                stream.write(text)
                stream.flush()
            except OSError:  # the child is gone; the reader tells
                return
        _quietly_close(stream)

    def _drain(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            self._incoming.put(line)
        self._incoming.put(None)

    def _listen(self) -> None:
        assert self._popen.stderr is not None
        self._stderr.extend(self._popen.stderr)


def _quietly_close(stream: IO[str] | None) -> None:
    """Close a pipe; what could not be written to a child that is gone does not matter."""
    if stream is None:
        return
    try:
        stream.close()
    except OSError:
        return
