"""For which layout an operator comes to which verb, and what computes that on each device: `dispatch_table`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from pynested import spec
from pynested.autograd import Array, array
from pynested.autograd.dispatch import operator
from pynested.autograd.rules.rule import RULES, Verb
from pynested.backends import devices
from pynested.backends.errors import ArgumentError, PynestedError
from pynested.components.views import picked
from pynested.construct import nested_array
from pynested.nested.array import NestedArray
from pynested.spec.encoding import Components, Index, decode_value
from pynested.structure.layouts import Layout, jagged, strided
from pynested.surface.passing import PUBLIC

from .dispatch import Choice, choice
from .events import Event
from .timeline import timeline

VECTORS = Path(spec.__file__).parent / "vectors"
LAYOUTS = {"jagged": jagged, "strided": strided}


@dataclass(frozen=True)
class Row:
    """What operands of a layout come to: a verb, and what computes it on each device."""

    layout: str
    verb: str
    chosen: dict[str, Choice]


@dataclass(frozen=True)
class DispatchTable:
    """The rows of one operator; ``print`` it."""

    operator: str
    rows: list[Row]

    def __str__(self) -> str:
        if not self.rows:
            return f"{self.operator}: computes nothing, whatever the layout"
        names = devices()
        lines = [["layout", "verb", *names]]
        for row in self.rows:
            lines.append([row.layout, row.verb, *[_cell(row.chosen[name]) for name in names]])
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        table = ["  ".join(f"{cell:<{w}}" for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        return "\n".join([self.operator, *table])

    __repr__ = __str__


def _cell(chosen: Choice) -> str:
    return f"{chosen.file}:{chosen.line}" if chosen.line is not None else chosen.by


@operator
def dispatch_table(operator: str) -> DispatchTable:
    """Which verbs an operator comes to in each layout, and where those stand for each device.

    The operator is watched at cases of the specification, in each layout packed and with holes, and at their first
    components as dense arrays: the table has what was chosen. Views and what else computes nothing is left out.

    Examples
    --------
    >>> table = pn.dispatch_table("relu")
    >>> [row.verb for row in table.rows if row.layout == "jagged"]
    ['relu', 'take_rows']
    >>> table.rows[0].layout, table.rows[0].verb, table.rows[0].chosen["cpu"].file
    ('dense', 'relu', 'backends/numpy/elementwise.py')
    """
    files = list(VECTORS.glob(f"*/{operator}.json"))
    if not files or operator not in PUBLIC:
        raise ArgumentError(f"dispatch_table: no operator {operator!r}; `pynested explain` lists them.")
    cases = json.loads(files[0].read_text(encoding="utf-8"))["cases"]
    kinds = Counter([case["id"].split("/")[1] for case in cases])
    dtype = "float32" if "float32" in kinds else kinds.most_common(1)[0][0]
    found: dict[tuple[str, str], Verb] = {}
    for case in cases:
        if case["id"].split("/")[1] == dtype and "error" not in case["expect"]:
            _note(PUBLIC[operator], case, found)
    rows = [
        Row(layout, name, {device: choice(verb, device) for device in devices()})
        for (layout, name), verb in found.items()
    ]
    return DispatchTable(operator, sorted(rows, key=lambda row: (row.layout, row.verb)))


def _note(function: Any, case: Mapping[str, Any], found: dict[tuple[str, str], Verb]) -> None:
    """Note in ``found`` what the calls of a case come to: in each layout, packed and with holes, and dense."""
    makes: list[Callable[[Components], Any]] = [_dense]
    makes += [partial(_nested, LAYOUTS[name], step) for name in case["layouts"] for step in (1, 2)]
    values = (
        [decode_value(one) for one in case["args"]],
        {key: decode_value(one) for key, one in case["kwargs"].items()},
    )
    for make in makes:
        with suppress(PynestedError, TypeError):  # what one layout cannot express, functions that a case names
            args = [_built(one, make) for one in values[0]]
            options = {key: _built(one, make) for key, one in values[1].items()}
            with timeline() as t:
                function(*args, **options)
            _add(t.events, found)


def _built(value: Any, make: Callable[[Components], Any]) -> Any:
    """An argument of a case as one of pynested."""
    if isinstance(value, Components):
        return make(value)
    if isinstance(value, list):
        return [_built(one, make) for one in value]
    return value.items if isinstance(value, Index) else value


def _nested(layout: Layout, step: int, components: Components) -> NestedArray:
    """Components in ``layout``; with a step of 2 there are as many holes."""
    made = nested_array([one for one in components for _ in range(step)], layout=layout)
    return picked(made, slice(None, None, step))


def _dense(components: Components) -> Array:
    """A batch of the first component alone."""
    if not components:
        raise ArgumentError("dispatch_table: a batch without components has no first one.")
    return array(components[0][None])


def _add(events: Sequence[Event], found: dict[tuple[str, str], Verb]) -> None:
    layout = next((event.facts["on"].partition(",")[0] for event in events if event.facts.get("on")), "")
    for name, verb in _verbs(events) if layout else ():
        if isinstance(verb, str) or (layout, name) not in found:  # a formula may have the name of what it wraps
            found[layout, name] = verb


def _verbs(events: Sequence[Event]) -> Iterator[tuple[str, Verb]]:
    """The verbs of rules, and those that a rule which is a formula calls; or the formula, if it makes something new."""
    i = 0
    while i < len(events):
        event, i = events[i], i + 1
        if event.kind not in ("rule", "verb"):
            continue
        inside = list(takewhile(lambda one, depth=event.depth: one.depth > depth, events[i:]))  # type: ignore[misc]
        i += len(inside)
        verb = event.name if event.kind == "verb" else RULES[event.name].verb
        called = [one.name for one in inside if one.kind == "verb"]
        if isinstance(verb, str):
            yield verb, verb
        elif called:
            yield from ((name, name) for name in called)
        elif any(one.kind == "new" for one in inside):
            yield event.name, verb
