"""What `anomaly` adds to a line: where it was written, and whether its values are still what they were."""

from __future__ import annotations

import sys
import traceback
import zlib
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from pynested.backends.errors import GradientError
from pynested.backends.host import to_host

if TYPE_CHECKING:
    from .tape import Line


class Trace:
    """The program's own part of the stack when a line was written, and checksums of what the line saved."""

    def __init__(self) -> None:
        frames = [(frame, frame.f_lineno) for frame in _callers()]
        self.stack = traceback.StackSummary.extract(reversed(frames), lookup_lines=False)
        self.sums: list[int] = []

    def where(self) -> str:
        """The stack as text, the innermost call last."""
        return "".join(self.stack.format())

    def remember(self, line: Line) -> None:
        """Take the checksums of what ``line`` has saved."""
        self.sums = [checksum(value) for value in _values(line)]

    def compare(self, line: Line) -> None:
        """Raise if something saved has another checksum now."""
        if [checksum(value) for value in _values(line)] != self.sums:
            raise GradientError(
                f"{line.rule.name}: a value saved for the gradient was changed after it was used, by a write into its "
                "memory that pynested did not see (through NumPy). Write into a copy instead."
            )


def _callers() -> Iterator[FrameType]:
    """The frames of this thread from the innermost that is not pynested's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("pynested."):
        frame = frame.f_back
    while frame is not None:
        yield frame
        frame = frame.f_back


def _values(line: Line) -> list[Any]:
    """Everything array-like that ``line`` keeps."""
    kept = [*(line.inputs or ()), line.output, *line.static]
    return [value for value in kept if hasattr(value, "dtype")]


def checksum(value: Any) -> int:
    """A number that another content of the memory of ``value`` very probably changes."""
    return zlib.crc32(np.ascontiguousarray(to_host(bare(value))).data)


def bare(value: Any) -> Any:
    """The bare array of an `Array`; anything else as it is."""
    return value.data if hasattr(value, "storage") else value
