"""The tape as text: the operations that were recorded between the leaves and a result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from pynested.backends.errors import ArgumentError, named_type

from .array import Array
from .containers import flatten
from .decorators import operator
from .primitives.primitive import LISTED_OUTPUT, Primitive
from .tape import Node, Unsaved, node_or_leaf
from .traversal import walk_back

HEAD = ("#", "call", "output", "primitive")  # the four columns that are shown
CONSTANT = "const"  # an array without history; every argument without history, once the node freed its saved values


def call_text(node: Node, names: Sequence[str | None]) -> str:
    """Return a node as a call; ``names`` has the name of each argument's source, None for one without history."""
    if node.operation is LISTED_OUTPUT:
        return f"{names[0]}[{node.args[0]}]"
    if node.args is None or not isinstance(node.operation, Primitive):
        texts = [name or CONSTANT for name in names]
    else:
        texts = [name or _argument_text(arg) for name, arg in zip(names, node.args, strict=False)]
    return f"{node.operation.public}({', '.join([text for text in texts if text])})"


def _argument_text(value: Any) -> str:
    """Return an argument without history as text, which is empty if the object has no short text."""
    if type(value) in (Array, Unsaved):
        return CONSTANT
    if isinstance(value, slice):
        numbers = (value.start, value.stop) if value.step in (None, 1) else (value.start, value.stop, value.step)
        return ":".join(["" if number is None else str(number) for number in numbers])
    if type(value) is tuple and len(value) != 1:
        return f"({', '.join(map(_argument_text, value))})"
    if type(value) is tuple:
        return _argument_text(value[0])
    if value is ...:
        return "..."
    return str(value) if isinstance(value, bool | int | float | str | np.dtype) else ""


class Record(NamedTuple):
    """A row of a tape: a leaf, or a node, written as a call whose arguments are earlier rows."""

    name: str
    call: str
    output: str
    primitive: str  # the name of the recorded primitive, if it is not the name of the public function
    sources: tuple[int | None, ...]  # for each argument the position of its record, None without history

    @property
    def is_leaf(self) -> bool:
        """Whether the row is a leaf."""
        return self.call == "leaf"


class Tape:
    """The operations that were recorded for some results, from the first to the last. `pynested.pictures` draws it."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records

    def __len__(self) -> int:
        return len(self.records)

    def __str__(self) -> str:
        table = [HEAD, *[record[:4] for record in self.records]]
        name_width, call_width, output_width, _ = (max(map(len, column)) for column in zip(*table, strict=True))
        return "\n".join(
            f"{name:>{name_width}}  {call:<{call_width}}  {output:<{output_width}}  {primitive}".rstrip()
            for name, call, output, primitive in table
        )

    __repr__ = __str__


@operator
def tape(outputs: Any, **names: Any) -> Tape:
    """Return the operations that were recorded for ``outputs``, as a table.

    Keyword arguments give names to arrays, or to containers of arrays.

    Examples
    --------
    >>> x, w = pn.array([1.0, 2.0], requires_grad=True), pn.array(3.0, requires_grad=True)
    >>> pn.tape((x * w).sum(), x=x, w=w)
    #  call        output        primitive
    x  leaf        float64 (2,)
    w  leaf        float64 ()
    1  mul(x, w)   float64 (2,)
    2  sum(#1, 0)  float64 ()
    """
    output_arrays = flatten(outputs)[0]
    if not output_arrays:
        raise ArgumentError(f"tape: outputs must be arrays or containers of them, not {named_type(outputs)}.")
    nodes, leaves = walk_back([node_or_leaf(output) for output in output_arrays])
    name_by_node: dict[Any, str] = {}
    for name, value in names.items():
        arrays = flatten(value)[0]
        for i, array in enumerate(arrays):
            name_by_node[node_or_leaf(array)] = name if len(arrays) == 1 else f"{name}[{i}]"
    row_by_node = {node: row for row, node in enumerate([*leaves, *nodes])}
    taken = set(name_by_node.values())
    leaf_names = (name for number in count() if (name := f"x{number}") not in taken)
    records = [
        Record(name_by_node.get(leaf) or next(leaf_names), "leaf", f"{leaf.dtype} {leaf.shape}", "", ())
        for leaf in leaves
    ]
    for number, node in enumerate(nodes, 1):
        rows = tuple(None if source is None else row_by_node[source] for source in node.sources)
        names_of_sources = [None if row is None else records[row].name for row in rows]
        # Node 1 is #1 in a call: a bare 1 would look like a number.
        operands = [f"#{name}" if name and name.isdigit() else name for name in names_of_sources]
        num_parts = node.num_listed_outputs
        output = f"{num_parts} part{'s' * (num_parts > 1)}" if num_parts else f"{node.dtype} {node.shape}"
        primitive = "" if node.operation.name == node.operation.public else node.operation.name
        name = name_by_node.get(node, str(number))
        records.append(Record(name, call_text(node, operands), output, primitive, rows))
    return Tape(records)
