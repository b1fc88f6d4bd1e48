"""Events as text, a line for each, and in the trace event format, which Perfetto and browsers open."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from .event_recorder import Event

WIDTH = 120  # characters of a line


def format_events(events: Sequence[Event], measured: bool) -> str:
    """Return the events as indented text; if ``measured``, with beginning and duration in front."""
    lines = ["  at ms   took us"] if measured else []
    for event in events:
        took = "" if event.took is None else f"{1e6 * event.took:.1f}"
        front = f"{1e3 * event.at:7.3f} {took:>9}  " if measured else ""
        indent = "  " * event.depth
        width = max(WIDTH - len(front) - len(indent) - 4, 40)
        first, *more = wrap(describe_event(event), width, break_long_words=False)
        lines.append(front + indent + first)
        lines += [" " * len(front) + indent + "    " + line for line in more]
    return "\n".join(lines)


def describe_event(event: Event) -> str:
    """Return an event in words."""
    text = _describe(event.kind, event.name, event.facts)
    return text + (f"; raised {event.facts['raised']}" if "raised" in event.facts else "")


def _describe(kind: str, name: str, facts: dict[str, Any]) -> str:
    result = f" -> {facts['result']}" if facts.get("result", "None") != "None" else ""
    if kind == "call":
        args = [*facts["args"], *(f"{key}={value}" for key, value in facts["kwargs"].items())]
        return f"{name}({', '.join(args)}){result}"
    if kind == "primitive":
        shapes = " and ".join(str(tuple(shape)) for shape in facts.get("broadcast", []))
        broadcast = f", {shapes} broadcast" if shapes else ""
        return f"primitive {name}({', '.join(facts['args'])}) on {facts['device']}{broadcast}{result}"
    if kind == "kernel":
        return f"kernel {name}: {facts['function']}"
    if kind == "launch":
        return f"launch {name} of {facts['file']}, grid {tuple(facts['grid'])}, block {tuple(facts['block'])}"
    if kind == "tape":
        if not name:
            return f"tape: no node, {facts['why_not']}"
        saves = f", saves {' and '.join(facts['saves'])}" if facts["saves"] else ""
        return f"tape: {name} from {', '.join(facts['sources'])}{saves}"
    if kind in ("vjp", "jvp"):
        direction = f"to {', '.join(facts['sources'])}" if kind == "vjp" else f"from {', '.join(facts['sources'])}"
        return f"{kind} of {name}, {facts['primitive']}: {facts['arrived']} {direction}"
    if kind == "accumulate":
        return f"gradient of leaf {name}: {'' if facts['is_first'] else 'added '}{facts['cotangent']}"
    if kind == "view":
        sizes, strides = tuple(facts["size"]), tuple(facts["stride"])
        return f"view of {name}: as_strided({sizes}, {strides}, {facts['storage_offset']})"
    if kind == "allocate":
        return f"allocate {name}: {facts['bytes']:,} bytes on {facts['device']}"
    if kind == "write":
        return f"write {name}: version {facts['version']}"
    if kind in ("free", "alive"):
        return f"{kind}: {name}, {facts['bytes']:,} bytes"
    return f"{kind} {name}"


def write_chrome_trace(events: Sequence[Event], path: str | os.PathLike[str]) -> None:
    """Write the events into a JSON file."""
    document = {"traceEvents": [_trace_entry(event) for event in events], "displayTimeUnit": "ns"}
    Path(path).write_text(json.dumps(document, indent=1), encoding="utf-8")


def _trace_entry(event: Event) -> dict[str, Any]:
    """Return an entry of the trace event format: "X" has a duration, "i" is a moment. Times are in microseconds."""
    common = {
        "name": f"{event.kind} {event.name}".strip(), "cat": event.kind, "ts": 1e6 * event.at, "pid": os.getpid(),
        "tid": threading.get_ident(), "args": {"text": describe_event(event), **event.facts},
    }  # fmt: skip
    if event.took is None:
        return {**common, "ph": "i", "s": "t"}
    return {**common, "ph": "X", "dur": 1e6 * event.took}
