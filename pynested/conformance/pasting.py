"""What the dialects of snippets share: where an operand is to lie, and the code that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """The layout and placement of a call; ``shared`` holds the names of what its operands have in common."""

    layout: str
    placement: str
    shared: dict[tuple[int, ...], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Operand:
    """The lines that make an operand, and the expression that says its gradient."""

    lines: Sequence[str]
    gradient: str
