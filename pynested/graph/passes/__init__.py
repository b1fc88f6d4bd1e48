"""Passes: each makes a list of nodes of a list of nodes, which give the same results bit for bit, with less work.

A pass may not change what is written when, what is drawn, which gradients flow, nor which error is raised.
"""

from __future__ import annotations

from collections.abc import Callable

from ..nodes import Recording
from . import common, dead, fused, sizes

Pass = Callable[[Recording], tuple[Recording, str]]

PASSES: dict[str, Pass] = {
    "sizes": sizes.run,
    "common subexpressions": common.run,
    "dead code": dead.run,
    "chains": fused.run,
}


def optimized(recording: Recording) -> tuple[Recording, list[str]]:
    """The recording after all passes, and what each of them did."""
    notes = []
    for name, run in PASSES.items():
        recording, note = run(recording)
        if note:
            notes.append(f"{name}: {note}")
    return recording, notes
