"""The place in the program where an operation was recorded inside `anomaly`."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from types import FrameType


class RecordedStack:
    """The stack of the caller's program when an operation was recorded; frames of pynested are left out."""

    def __init__(self) -> None:
        frames = [(frame, frame.f_lineno) for frame in frames_outside("pynested")]
        self._stack = traceback.StackSummary.extract(reversed(frames), lookup_lines=False)

    def __str__(self) -> str:
        return "".join(self._stack.format())


def frames_outside(*packages: str) -> Iterator[FrameType]:
    """Yield the frames of this thread, innermost first, from the first one outside of ``packages`` on."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in packages:
        frame = frame.f_back
    while frame is not None:
        yield frame
        frame = frame.f_back
