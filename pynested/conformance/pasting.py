"""What the dialects of snippets share: where an operand is to lie, and the code that makes it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from . import literals
from .filled import FILLS
from .placements import Steps

_PERTURB = -6  # M_PERTURB of glibc
TIMES = ("first", "second")  # labels of the gradients that are left after each backward pass
USE = "used:"  # label of what an operator makes of a result
ACCEPTED = "accepted"  # what a program prints after a step that must be refused
ENDED = "ended with"  # what a snippet says that asks several times, before the exit codes
_TIMES = 21
_FILLING = f"""    if hasattr(CDLL(None), "mallopt"):
        CDLL(None).mallopt({_PERTURB}, fill)  # new memory is not filled, or with the bits that the number lacks
"""
_IN_PROCESSES = f"""
ends = []
for number in range({_TIMES}):  # in a process of its own each time, for what lies in memory is not the same each time
    process = get_context("fork").Process(target=call, args=({(0, *FILLS.values())}[number % {1 + len(FILLS)}],))
    process.start()
    process.join()
    ends.append(process.exitcode)
print("{ENDED}", ends)"""


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
    """What a dialect has where it says nothing else.

    ``uses`` are the operators that show a result ``out`` again; after the line ``precise`` all digits are shown.
    """

    uses: Mapping[str, str] = MappingProxyType({})
    precise = ""

    def shown(self, name: str, is_nested: bool = True) -> str:
        """Return a line that prints an array, or the components of a nested one."""
        return f"print({name})"


def several(lines: str, values: str) -> str:
    """Return code that runs lines about a ``part`` for each of several values."""
    return f"for part in {values}:\n{textwrap.indent(lines, '    ')}"


def in_processes(code: str) -> str:
    """Return code that runs a snippet several times, each in a process of its own, and says how these ended."""
    head, _, body = code.partition("\n\n")
    lines = [f"    {line}" for line in body.splitlines()]
    imports = ["from ctypes import CDLL", "from multiprocessing import get_context", head]
    return "\n".join([*imports, f"\n\ndef call(fill):\n{_FILLING}", *lines, _IN_PROCESSES])


def steps(indices: Steps) -> str:
    """Return what stands behind an array where a view of a view of it is meant."""
    return "".join(f"[{literals.index(one)}]" for one in indices)
