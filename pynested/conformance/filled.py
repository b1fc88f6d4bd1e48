"""The same call in processes whose new memory holds something else, for an answer may hang on what nobody wrote there.

New memory holds whatever lay there before: something else in the next process, and on the next machine. The allocator
of glibc fills it where the environment says so. Others take no notice; there it is only one process more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from .messages import Message
from .problems import UsageError
from .replies import Reply

if TYPE_CHECKING:
    from .session import Session

# What new memory holds, in words, and the number for which glibc fills it so: with the bits that the number lacks.
FILLS: Mapping[str, int] = {"zeros": 0xFF, "the byte 0x5a": 0xA5}
_TUNED = "GLIBC_TUNABLES"
_NOTHING_KEPT = "glibc.malloc.tcache_count=0"  # memory that a thread keeps for itself is not filled


def filled(environment: Mapping[str, str] | None, number: int) -> dict[str, str]:
    """Return an environment, by default that of this process, in which new memory is filled."""
    base = dict(os.environ if environment is None else environment)
    tuned = ":".join(one for one in (base.get(_TUNED, ""), _NOTHING_KEPT) if one)
    return {**base, _TUNED: tuned, "MALLOC_PERTURB_": str(number)}


# How it is said, after an answer, that it was given there.
WHERE = ", where new memory is filled with {}"


class Filled:
    """Sessions of one target, one for each way to fill memory; each is started when the first call comes to it."""

    def __init__(self, start: Callable[[Mapping[str, str]], Session], environment: Mapping[str, str] | None) -> None:
        self._start, self._environment = start, environment
        self._sessions: dict[str, Session | None] = {}

    def replies(self, request: Message, fresh: bool = False) -> Iterator[tuple[str, Reply]]:
        """Yield what memory is filled with, and the reply; a loss that does not come again is one of earlier calls.

        An earlier call may also have spoilt the memory of a process: a ``fresh`` one has answered none.
        """
        if fresh:
            self.close()
        for words, number in FILLS.items():
            if words not in self._sessions:
                self._sessions[words] = self._started(number)
            session = self._sessions[words]
            if session is not None:
                (reply,) = session.answers([dict(request)])
                yield words, replace(reply, unsteady="")

    def _started(self, number: int) -> Session | None:
        """Return a session; None of an adapter that cannot be started a second time, and is asked nothing more here."""
        try:
            return self._start(filled(self._environment, number))
        except UsageError:
            return None

    def close(self) -> None:
        """End the processes."""
        for session in self._sessions.values():
            if session is not None:
                session.__exit__(None, None, None)
        self._sessions.clear()
