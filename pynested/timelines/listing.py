"""A timeline as text: a line for each event, indented by what it happened in, with its time in front."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .events import Event

WIDTH = 120  # of a line; what is longer goes on, further in


def listing(events: Sequence[Event], measured: bool) -> str:
    """All events; with ``measured`` the times (when, and how long) and addresses."""
    lines = ["  at ms   took us"] if measured else []
    for event in events:
        front = f"{1e3 * event.at:7.3f} {_took(event)}  " if measured else ""
        indent = "  " * event.depth
        first, *more = broken(sentence(event, measured), WIDTH - len(front) - len(indent) - 4)
        lines.append(front + indent + first)
        lines += [" " * len(front) + indent + "    " + one for one in more]
    return "\n".join(lines)


def _took(event: Event) -> str:
    return " " * 9 if event.took is None else f"{1e6 * event.took:9.1f}"


def broken(text: str, width: int) -> Iterator[str]:
    """The text in lines, broken where the fewest parentheses are open, or else between two words."""
    while len(text) > width:
        opened, best, at = 0, 99, 0
        for i, character in enumerate(text[:width]):
            opened += (character in "([") - (character in ")]")
            if character == " " and i > width // 3 and text[i - 1] in ",;:" and opened <= best:
                best, at = opened, i
        at = at or text.rfind(" ", 0, width)
        if at <= 0:
            break
        yield text[:at]
        text = text[at + 1 :]
    yield text


def sentence(event: Event, measured: bool = True) -> str:
    """An event in words."""
    text = _SENTENCES[event.kind](event.name, event.facts)
    if measured and event.facts.get("address"):
        text += f", at {event.facts['address']:#x} on a multiple of {event.facts['aligned']}"
    return text + (f"; raised {event.facts['raised']}" if "raised" in event.facts else "")


def _call(name: str, facts: dict[str, Any]) -> str:
    given = ", ".join(f"{key}={value}" for key, value in facts["arguments"].items())
    left = ", ".join(f"{key}={value}" for key, value in facts["defaults"].items())
    text = f"{name}({given})" + (f" with {left}" if left else "")
    text += f"; {'; '.join(facts['converted'])}" if facts.get("converted") else ""
    text += f"; {facts['on']}" if facts.get("on") else ""
    text += f"; index: {', '.join(facts['index'])}" if facts.get("index") else ""
    return text + (f" -> {facts['result']}" if facts.get("result", "None") != "None" else "")


def _rule(name: str, facts: dict[str, Any]) -> str:
    options = f"; {', '.join(facts['options'])}" if facts.get("options") else ""
    text = f"rule {name}({', '.join(facts['operands'])}{options}) on {facts['device']}, by {facts['verb']}"
    return text + (f" -> {', '.join(facts['result'])}" if "result" in facts else "")


def _chain(name: str, facts: dict[str, Any]) -> str:
    text = f"{name}({', '.join(facts['operands'])}) on {facts['device']}"
    return text + (f", {facts['way']} -> {', '.join(facts['result'])}" if "way" in facts else "")


def _plan(name: str, facts: dict[str, Any]) -> str:
    if "strides" not in facts:
        return f"plan: {facts['shape']}"
    text = f"plan: {' and '.join(facts['dtypes'])}"
    text += f" meet in {facts['meet_in']}" if len(facts["dtypes"]) > 1 and "meet_in" in facts else ""
    steps = " and ".join(str(tuple(one)) for one in facts["strides"])
    text += f", shape {tuple(facts['shape'])}, steps of {steps} bytes"
    return text + (f", one loop over {tuple(facts['loop'])}" if "loop" in facts else "")


def _lineup(name: str, facts: dict[str, Any]) -> str:
    dense = f"; {'; '.join(facts['dense'])}" if facts.get("dense") else ""
    return f"line up for {name}: {'; '.join(facts['operands'])}{dense}; {facts['way']}"


def _tape(name: str, facts: dict[str, Any]) -> str:
    if not name:
        return f"tape: nothing, {facts['why_not']}"
    saved = f", saves {' and '.join(facts['saved'])}" if facts["saved"] else ", saves nothing"
    return f"tape: {name}, {facts['rule']} from {', '.join(facts['sources'])}{saved}"


def _gone(name: str, facts: dict[str, Any]) -> str:
    left = facts["holders_left"]
    text = f"gone: what {name} gave, {facts['array']}"
    return text + (f"; its storage lives on, held by {left} more" if left else "")


def _alive(name: str, facts: dict[str, Any]) -> str:
    called = f", as {', '.join(facts['called'])}" if facts["called"] else ""
    return f"alive: {name}, {facts['bytes']:,} bytes{called}"


def _pull(name: str, facts: dict[str, Any]) -> str:
    cotangent = facts["cotangent"]
    words = ", ".join(cotangent) if isinstance(cotangent, list) else cotangent
    return f"pull {name}, {facts['rule']}: {words} -> {', '.join(facts['to'])}"


_SENTENCES: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "call": _call,
    "chain": _chain,
    "rule": _rule,
    "plan": _plan,
    "lineup": _lineup,
    "tape": _tape,
    "gone": _gone,
    "alive": _alive,
    "pull": _pull,
    "verb": lambda name, facts: f"verb {name}" + (f" -> {facts['gives']}" if "gives" in facts else ""),
    "backend": lambda name, facts: f"backend of {name!r} begins" + (f": {facts['kind']}" if "kind" in facts else ""),
    "random": lambda name, facts: f"random numbers of {name}, {facts['whose']}",
    "kernel": lambda name, facts: f"kernel {name} of {facts['file']}, grid {facts['grid']}, block {facts['block']}",
    "memory": lambda name, facts: f"a piece of {facts['bytes']:,} bytes, {name}",
    "new": lambda name, facts: f"new: {name}, {facts['bytes']:,} bytes on {facts['device']}, {facts['source']}",
    "view": lambda name, facts: (
        f"view of {name}: sizes {tuple(facts['sizes'])}, strides {tuple(facts['strides'])}, offset {facts['offset']}"
    ),
    "write": lambda name, facts: f"written: {name}, now in version {facts['version']}",
    "grad": lambda name, facts: f"gradient of leaf {name}: {facts['cotangent']}, {facts['is_now']}",
    "dies": lambda name, facts: f"dies: {name}, {facts['bytes']:,} bytes",
}
