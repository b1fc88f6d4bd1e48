"""Who answers: an adapter in this process, or one in a child process that may crash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from .messages import PROTOCOL, Message, start
from .problems import UsageError


@dataclass(frozen=True)
class Identity:
    """What an adapter says about its target when it starts.

    ``dialect`` is the language of snippets that people can paste. ``errors`` is `kind` where a refusal must carry the
    name that the specification gives it, and `builtin` where the target has its own classes and any refusal counts.
    """

    name: str
    version: str
    language: str = "python"
    device: str = "cpu"
    dialect: str = "pynested"
    errors: str = "kind"
    runtime: str = ""

    @classmethod
    def from_reply(cls, reply: Any) -> Identity:
        """Read the answer to `start`; another answer, or a target that is not there, is a `UsageError`."""
        if not isinstance(reply, Mapping):
            raise UsageError(f"the adapter answered start with {str(reply)[:120]!r}, expected a JSON object")
        if "unavailable" in reply:
            raise UsageError(str(reply["unavailable"]))
        if reply.get("protocol") != PROTOCOL or not {"name", "version"} <= set(reply):
            wanted = f"protocol {PROTOCOL}, name and version"
            raise UsageError(f"the adapter answered start with {str(dict(reply))[:120]}, expected {wanted}")
        return cls(**{name: str(reply[name]) for name in cls.__dataclass_fields__ if name in reply})

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
    """A started adapter that answers requests in order."""

    identity: Identity

    def answers(self, requests: Iterable[Message]) -> Iterator[Message]:
        """Yield one reply for each request, in order."""

    def close(self) -> None:
        """End the session."""


class InProcess:
    """A session with an adapter in this process: fastest, and a debugger can step into it."""

    def __init__(self, adapter: Adapter, device: str = "cpu") -> None:
        self._adapter = adapter
        self.identity = Identity.from_reply(adapter.start(str(start(device)["device"])))

    def answers(self, requests: Iterable[Message]) -> Iterator[Message]:
        """Yield one reply for each request, in order."""
        for request in requests:
            yield self._adapter.run(request)

    def close(self) -> None:
        """Nothing to end."""
