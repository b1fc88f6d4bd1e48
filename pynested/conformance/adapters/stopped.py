"""How a step of an adapter ends without a value, and what is said of it."""

from __future__ import annotations

from ..contradictions import Contradiction
from ..messages import Message

__all__ = ["Stopped", "contradiction", "first_line"]


class Stopped(Exception):
    """A step ended without a value; ``fields`` is what the reply says instead."""

    def __init__(self, fields: Message) -> None:
        super().__init__(str(fields))
        self.fields = fields


def contradiction(message: str) -> Stopped:
    """Return the end of a call that answers, but not with one answer."""
    return Stopped({"error": {"kind": Contradiction.__name__, "message": message, "phase": "read", "bases": []}})


def first_line(error: Exception) -> str:
    """Return the first line of the text of an error, cut to a readable length."""
    lines = str(error).strip().splitlines() or [""]
    return lines[0][:300]
