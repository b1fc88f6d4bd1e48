"""Judging: what a call came to, against the specification, against laws, and against what it must leave alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..plan import Call

__all__ = ["Difference", "Found"]


@dataclass(frozen=True)
class Difference:
    """What came, and what was due. ``aspect`` is a word for the kind of difference, by which it is grouped."""

    aspect: str
    came: str
    due: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.aspect}{self.where}: came {self.came}, due {self.due}"


@dataclass(frozen=True)
class Found:
    """A difference, and the call that it was met at, with its arguments as plain data."""

    difference: Difference
    plan: Any
    op: str
    call: Call | None = None
    values: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[str, ...]:
        """By which differences are grouped: the operator too."""
        return self.op, *self.aspect

    @property
    def aspect(self) -> tuple[str, str]:
        """The kind of difference, whatever the operator; of errors, their class."""
        aspect = self.difference.aspect
        return aspect, self.difference.came.split(":")[0] if "error" in aspect else ""
