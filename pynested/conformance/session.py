"""Who answers: an adapter in this process, or one in a child process that may crash."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

from pynested.spec.grammar import ANYTHING, Both, Malformed, check, short

from .capabilities import RULE, Capabilities, Within
from .messages import PROTOCOL, Message, start
from .numpy_dialect import Own
from .printable import printable
from .problems import UsageError
from .replies import ERRORED, Reader, Reply
from .wire import Wire

_SENTENCE = 300  # characters of a name or a reason


def _ours(protocol: int) -> None:
    if protocol != PROTOCOL:
        raise ValueError(f"expected {PROTOCOL}, got {protocol}")


# What a refusal must be to count: see `Identity`.
ERRORS = ("kind", "builtin", "any", "none")

# What answers `start`: a target that is there, or why it is not. An adapter may say more.
_TEXTS = ("name", "version", "language", "device", "dialect", "errors", "runtime", "dense", "conventions")
_PRESENT = {f"{name}?": str for name in _TEXTS[2:]} | {"errors?": set(ERRORS), "capabilities?": RULE, "*": ANYTHING}
_PRESENT |= {"protocol": Both(int, _ours), "name": str, "version": str}
_ABSENT = {"unavailable": str, "*": ANYTHING}


@dataclass(frozen=True)
class Identity:
    """What an adapter says about its target when it starts.

    ``dialect`` is the language of snippets that people can paste; `numpy` calls their own function by its name.
    ``errors`` is `kind` where a refusal must carry the name that the specification gives it, `builtin` where it must be
    caught as a builtin error of Python, `any` where every refusal counts, and `none` where the target refuses nothing
    and is not asked to. ``dense`` is how the target's dense operator is called, which can be asked too. ``conventions``
    are words for what the target documents otherwise than the specification: `promotion` of dtypes. ``own`` are the
    names of functions of this process.
    """

    name: str
    version: str
    language: str = "python"
    device: str = "cpu"
    dialect: str = "numpy"
    errors: str = "kind"
    runtime: str = ""
    dense: str = ""
    conventions: str = ""
    capabilities: Capabilities = field(default_factory=Capabilities)
    own: Own | None = None

    @classmethod
    def from_reply(cls, reply: Any) -> Identity:
        """Read the answer to `start`; another answer, or a target that is not there, is a `UsageError`."""
        try:
            check(reply, _ABSENT if isinstance(reply, dict) and "unavailable" in reply else _PRESENT)
        except Malformed as malformed:
            wanted = f"protocol {PROTOCOL}, name and version" if isinstance(reply, dict) else "a JSON object"
            text = f"the adapter answered start with {short(reply)}, expected {wanted}: {malformed}"
            raise UsageError(printable(text)) from malformed
        if "unavailable" in reply:
            raise UsageError(printable(reply["unavailable"], _SENTENCE))
        texts: dict[str, Any] = {name: printable(reply[name], _SENTENCE) for name in _TEXTS if name in reply}
        return cls(**texts, capabilities=Capabilities.from_fields(reply.get("capabilities", {})))

    def as_fields(self) -> dict[str, Any]:
        """Return the identity as it is written into a record."""
        return asdict(self)


class Adapter(Protocol):
    """An adapter in Python: the same messages, as dictionaries."""

    def start(self, device: str) -> Message:
        """Answer the start message."""

    def run(self, message: Message) -> Message:
        """Answer one run message."""


class Session(Protocol):
    """A started adapter that answers requests in order; as a context it ends with it."""

    identity: Identity

    def __enter__(self) -> Self:
        """Return the session."""

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """End the session."""

    def answers(self, requests: Iterable[Message]) -> Iterator[Reply]:
        """Yield one reply for each request, in order."""

    def elsewhere(self, request: Message, fresh: bool = False) -> Iterable[tuple[str, Reply]]:
        """Return the replies of other processes, in which memory that nobody wrote holds what the words say.

        Those that are ``fresh`` have answered no other request.
        """


class InProcess:
    """A session with an adapter in this process: fastest, and a debugger can step into it."""

    def __init__(self, adapter: Adapter, device: str = "cpu", wire: Wire | None = None) -> None:
        self._adapter, self._wire, self._reader = adapter, wire or Wire(), Reader()
        request = start(device)
        self._wire.sent(request)
        reply = adapter.start(device)
        self._wire.received(reply)
        self.identity = Identity.from_reply(reply)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Nothing to end."""

    def answers(self, requests: Iterable[Message]) -> Iterator[Reply]:
        """Yield one reply for each request, in order; an adapter that raises has failed itself."""
        within = Within(self.identity.capabilities, requests)
        yield from within.answers(map(self._answer, within))

    def elsewhere(self, request: Message, fresh: bool = False) -> Iterable[tuple[str, Reply]]:
        """Return nothing: there is no other process."""
        return ()

    def _answer(self, request: Message) -> Reply:
        self._wire.sent(request)
        try:
            answer = self._adapter.run(request)
        except Exception:
            return Reply(ERRORED, traceback.format_exc())
        self._wire.received(answer)
        return self._reader.reply(answer, request)
