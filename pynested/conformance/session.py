"""Who answers: an adapter in this process, or one in a child process that may crash."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from pynested.spec.grammar import ANYTHING, Both, Malformed, check, short

from .messages import PROTOCOL, Message, start
from .printable import printable
from .problems import UsageError
from .replies import ERRORED, Reply, read_reply

_SENTENCE = 300  # characters of a name or a reason


def _ours(protocol: int) -> None:
    if protocol != PROTOCOL:
        raise ValueError(f"expected {PROTOCOL}, got {protocol}")


# What answers `start`: a target that is there, or why it is not. An adapter may say more.
_PRESENT = {"protocol": Both(int, _ours), "name": str, "version": str, "errors?": {"kind", "builtin"}}
_PRESENT |= dict.fromkeys(("language?", "device?", "dialect?", "runtime?", "dense?", "conventions?"), str) | {
    "*": ANYTHING
}
_ABSENT = {"unavailable": str, "*": ANYTHING}


@dataclass(frozen=True)
class Identity:
    """What an adapter says about its target when it starts.

    ``dialect`` is the language of snippets that people can paste. ``errors`` is `kind` where a refusal must carry the
    name that the specification gives it, and `builtin` where the target has its own classes and any refusal counts.
    ``dense`` is how the target's dense operator is called, which can be asked too. ``conventions`` are words for what
    the target documents otherwise than the specification: `promotion` of dtypes.
    """

    name: str
    version: str
    language: str = "python"
    device: str = "cpu"
    dialect: str = "pynested"
    errors: str = "kind"
    runtime: str = ""
    dense: str = ""
    conventions: str = ""

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
        return cls(**{name: printable(reply[name], _SENTENCE) for name in cls.__dataclass_fields__ if name in reply})

    def as_fields(self) -> dict[str, str]:
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


class InProcess:
    """A session with an adapter in this process: fastest, and a debugger can step into it."""

    def __init__(self, adapter: Adapter, device: str = "cpu") -> None:
        self._adapter = adapter
        self.identity = Identity.from_reply(adapter.start(str(start(device)["device"])))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Nothing to end."""

    def answers(self, requests: Iterable[Message]) -> Iterator[Reply]:
        """Yield one reply for each request, in order; an adapter that raises has failed itself."""
        for request in requests:
            try:
                reply = read_reply(self._adapter.run(request), request)
            except Exception:
                reply = Reply(ERRORED, traceback.format_exc())
            yield reply
