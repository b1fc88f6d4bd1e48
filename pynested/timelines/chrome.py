"""A timeline in the trace event format, which chrome://tracing, Perfetto and Firefox's profiler open."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from .events import Event
from .listing import sentence


def write(events: Sequence[Event], path: str | PathLike[str]) -> None:
    """Write the events into a JSON file."""
    document = {"traceEvents": [entry(event) for event in events], "displayTimeUnit": "ns"}
    Path(path).write_text(json.dumps(document, indent=1), encoding="utf-8")


def entry(event: Event) -> dict[str, Any]:
    """One event: complete, with a duration, or a mark of its thread where it takes no time. Times are microseconds."""
    common = {
        "name": f"{event.kind} {event.name}".strip(), "cat": event.kind, "ts": 1e6 * event.at, "pid": os.getpid(),
        "tid": threading.get_ident(), "args": {"what": sentence(event), **event.facts},
    }  # fmt: skip
    if event.took is None:
        return {**common, "ph": "i", "s": "t"}
    return {**common, "ph": "X", "dur": 1e6 * event.took}
