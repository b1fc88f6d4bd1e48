"""What the dialects of snippets share: where an operand is to lie, and the code that makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from . import literals
from .placements import Steps


@dataclass(frozen=True)
class Place:
    """The layout and placement of an operand; ``shared`` holds the names of what those of a call have in common."""

    layout: str
    placement: str
    shared: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Operand:
    """The lines that make an operand, and the expression that says its gradient."""

    lines: Sequence[str]
    gradient: str


class Common:
    """What a dialect has where it says nothing else; ``uses`` are the operators that show a result ``out`` again."""

    uses: Mapping[str, str] = MappingProxyType({})

    def shown(self, name: str) -> str:
        """Return a line that prints the components of an array."""
        return f"print({name})"


def steps(indices: Steps) -> str:
    """Return what stands behind an array where a view of a view of it is meant."""
    return "".join(f"[{literals.index(one)}]" for one in indices)
