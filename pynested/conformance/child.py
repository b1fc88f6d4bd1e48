"""An adapter in a child process: it may print, hang, write garbage or die, and the run goes on.

Requests and replies are one JSON object a line. Up to a window of requests is under way at once. When the child dies,
the oldest unanswered request is the suspect; it is asked once more, alone, in a fresh child. If that one dies too, the
crash is its own; if not, its reply is marked `unsteady`, for then an earlier request has damaged the memory. Whatever
else was under way is asked again.

A crash or a hang of a call that asks for a gradient too may be that of its backward pass. So it is asked without: where
that is answered, the value has a verdict of its own.

A hang costs the whole timeout, and a crash two new children. So either is paid once for a call, whose other placements
are not asked. After several calls in a row that hang, or very many requests without a reply, the adapter is given up
and nothing more is asked.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType

from pynested.spec.grammar import parse

from . import messages
from .capabilities import Within
from .filled import Filled
from .fork_server import ForkServer
from .messages import Message
from .pipes import LONGEST_LINE, Overlong
from .printable import printable
from .problems import UsageError
from .process import Process
from .replies import CRASHED, GARBLED, HUNG, LOST, UNASKED, VALUE, Reader, Reply
from .session import Identity
from .started import Spawned
from .wire import Wire

_WINDOW = 16
_COSTLY = {HUNG: "hung", CRASHED: "crashed"}
_SILENT, _LOST = 5, 100  # calls that hang, and requests that bring no reply, in a row
_OVERLONG = f"wrote more than {LONGEST_LINE:,} bytes without the end of a line"
_CLOSED = "closed its output and went on"
_SHOWN = 300  # characters of what a child says when it dies


class Child:
    """A session with an adapter in a child process; ``patience`` is the timeout of its first answer.

    With ``forks`` the children are forks of one process, which the command knows how to be: see `ForkServer`.
    """

    def __init__(
        self,
        command: Sequence[str],
        device: str = "cpu",
        environment: Mapping[str, str] | None = None,
        timeout: float = 20.0,
        patience: float = 120.0,
        wire: Wire | None = None,
        forks: bool = False,
    ) -> None:
        self._command, self._device, self._environment = list(command), device, environment
        self._server = ForkServer(command, environment, patience) if forks else None
        self._timeout, self._patience = timeout, patience
        self._filled = Filled(lambda other: Child(command, device, other, timeout, patience, forks=forks), environment)
        self._wire = wire or Wire()
        self._process: Process | None = None
        self._reader = Reader()
        self._seq = 0
        self._why_not = ""  # why nothing more is asked, once that is so
        self.starts = 0
        self.identity = self._start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """End the child; where something went wrong it is not asked to stop, which would take time."""
        if kind is None:
            self.close()
        else:
            self._end()

    def close(self) -> bool:
        """Ask the child to stop, and see to it; return whether it stopped when asked."""
        stopped = True
        if self._process is not None:
            self._send(messages.stop())
            stopped = self._process.end()
            self._over()
        self._end()
        return stopped

    def answers(self, requests: Iterable[Message]) -> Iterator[Reply]:
        """Yield one reply for each request, in order; a crash, a hang or garbage is a reply too."""
        within = Within(self.identity.capabilities, requests)
        yield from within.answers(self._answers(_Line(within)))

    def elsewhere(self, request: Message, fresh: bool = False) -> Iterator[tuple[str, Reply]]:
        """Yield the replies of processes whose new memory is filled, with words for what it is filled with."""
        return self._filled.replies(request, fresh)

    def _answers(self, line: _Line) -> Iterator[Reply]:
        died = ""  # how the child died of the request that is now asked once more, alone
        hung = lost = 0
        yield from self._unasked(line)
        while oldest := self._ask(line, 1 if died else _WINDOW):
            reply = self._receive(oldest)
            if reply.outcome not in LOST:
                line.answered()
                yield replace(reply, unsteady=died)
                died, hung, lost = "", 0, 0
                continue
            self._kill()
            line.take_back()
            hung, lost = hung + (reply.outcome == HUNG), lost + 1
            why = self._given_up(hung, lost) or self._start_again()
            if reply.outcome == CRASHED and not died and not why:
                died = reply.text
                continue
            died = ""
            line.next()
            how = reply.outcome
            if how in _COSTLY and "cotangent" in oldest and not why:
                reply, why = self._of_its_gradient(oldest, reply)
            yield reply
            if how in _COSTLY:
                why_not = f"the call {_COSTLY[how]} in another placement"
                yield from (Reply(UNASKED, why_not) for _ in line.others_of(oldest))
            self._why_not = why
            yield from self._unasked(line)

    def _unasked(self, line: _Line) -> Iterator[Reply]:
        """Yield a reply for each request that is left, once nothing more is asked."""
        if self._why_not:
            yield from (Reply(UNASKED, self._why_not) for _ in line.rest())

    def _ask(self, line: _Line, window: int) -> Message | None:
        """Send requests until a window of them is under way; return the oldest, or None where there are no more."""
        while len(line.under_way) < window and (request := line.next()) is not None:
            self._seq += 1
            request["seq"] = self._seq
            line.under_way.append(request)
            self._send(request)
        return line.under_way[0] if line.under_way else None

    def _receive(self, request: Message) -> Reply:
        """Return the reply to the oldest request, or what happened instead of one."""
        try:
            text = self._read(self._timeout)
        except TimeoutError:
            return Reply(HUNG, f"no answer within {self._timeout:g} s")
        except Overlong:
            return Reply(GARBLED, _OVERLONG)
        if text is None:
            return Reply(CRASHED, self._last_words()) if self._running.gone() else Reply(HUNG, _CLOSED)
        return self._reader.line(text, request)

    def _of_its_gradient(self, request: Message, lost: Reply) -> tuple[Reply, str]:
        """Ask, in a child that has just started, for the value alone of a request that was lost.

        Return the value, with the loss as its gradient, or the loss alone; and why no child could be started after.
        """
        bare = messages.without_gradient(request)
        self._send(bare)
        reply = self._receive(bare)
        if reply.outcome in LOST:
            self._kill()
            return lost, self._start_again()
        return replace(reply, gradient=lost) if reply.outcome == VALUE else lost, ""

    def _given_up(self, hung: int, lost: int) -> str:
        """Return why nothing more is asked, or nothing."""
        if hung == _SILENT:
            return f"given up, since {hung} calls in a row hung"
        return f"given up, since {lost} times in a row the adapter ended or wrote no reply" if lost == _LOST else ""

    @property
    def _running(self) -> Process:
        assert self._process is not None
        return self._process

    def _start(self) -> Identity:
        """Start a child and return who it says that it is; a child that does not say so is a `UsageError`."""
        self.starts += 1
        name = printable(" ".join(self._command))
        try:
            self._process = self._new()
        except (OSError, ValueError) as error:
            self._end()
            raise UsageError(f"cannot start the adapter {name!r}: {error}") from error
        try:
            self._wire.begins(f"process {self.starts}: {name}")
            self._send(messages.start(self._device))
            return self._introduced(name)
        except BaseException:
            self._end()
            raise

    def _new(self) -> Process:
        if self._server is None:
            return Process(lambda: Spawned(self._command, self._environment))
        process = self._server.process()
        self._wire.said(self._server.said())
        return process

    def _introduced(self, name: str) -> Identity:
        try:
            line = self._read(self._patience)
        except TimeoutError:
            raise UsageError(f"the adapter {name} did not answer start within {self._patience:g} s") from None
        except Overlong:
            raise UsageError(f"the adapter {name} did not start: it {_OVERLONG}") from None
        if line is None:
            how = self._last_words() if self._running.gone() else f"it {_CLOSED}"
            raise UsageError(f"the adapter {name} did not start: {how}")
        try:
            return Identity.from_reply(parse(line))
        except ValueError as error:
            raise UsageError(f"the adapter {name} did not start: it wrote {line.strip()[:120]!r}: {error}") from error

    def _last_words(self) -> str:
        return printable(self._running.last_words(), _SHOWN)

    def _start_again(self) -> str:
        """Start another child; return why that cannot be done, or nothing."""
        try:
            self._start()
        except UsageError as error:
            return str(error)
        return ""

    def _end(self) -> None:
        """End the child, and what it may be a fork of."""
        self._kill()
        self._filled.close()
        if self._server is not None:
            self._server.close()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._over()

    def _over(self) -> None:
        """Hear the last of a process that is gone."""
        self._wire.said(self._running.said())
        self._wire.note(f"process {self.starts} is ended")
        self._process = None

    def _send(self, message: Message) -> None:
        self._wire.sent(message)
        self._running.write(json.dumps(message, allow_nan=False))

    def _read(self, seconds: float) -> str | None:
        """Return the next line of the adapter; what it has said on stderr until then is heard first."""
        try:
            text = self._running.read(seconds)
        except (TimeoutError, Overlong) as error:
            self._wire.note(f"no answer within {seconds:g} s" if isinstance(error, TimeoutError) else _OVERLONG)
            raise
        finally:
            self._wire.said(self._running.said())
        if text is not None:
            self._wire.received(text)
        return text


class _Line:
    """The requests in the order of their replies: those under way, those to be asked again, those still to come."""

    def __init__(self, requests: Iterable[Message]) -> None:
        self.under_way: deque[Message] = deque()
        self._again: deque[Message] = deque()
        self._source = iter(requests)

    def next(self) -> Message | None:
        """Return the next request that is not under way, and take it out."""
        return self._again.popleft() if self._again else next(self._source, None)

    def answered(self) -> None:
        """Take out the oldest request under way."""
        self.under_way.popleft()

    def take_back(self) -> None:
        """Let everything under way be asked again."""
        self._again.extendleft(reversed(self.under_way))
        self.under_way.clear()

    def others_of(self, request: Message) -> Iterator[Message]:
        """Take out and yield the other placements of a request, which follow it."""
        while (other := self.next()) is not None and _call(other) == _call(request):
            yield other
        if other is not None:
            self._again.appendleft(other)

    def rest(self) -> Iterator[Message]:
        """Take out and yield everything that is left."""
        return iter(self.next, None)


def _call(request: Message) -> Message:
    """Return what a request shares with those of its other placements, of which one may ask for no gradient."""
    apart = ("seq", "placement", "wrt", "cotangent")
    return {name: value for name, value in request.items() if name not in apart}
