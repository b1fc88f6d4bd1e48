"""The tape as text: what was recorded between the leaves and a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pynested.backends.errors import ArgumentError, named_type

from .containers import flatten
from .dispatch import operator
from .graph import nodes_before
from .rules.rule import PART
from .tape import Leaf, source_of
from .written import differs, written

HEAD = ("#", "call", "output", "rule")


@dataclass(frozen=True)
class Record:
    """One row of a tape: a leaf or a node, as a call of the rows it came from (None for a constant).

    ``rule`` is what was recorded, where that is not the function that is called.
    """

    name: str
    call: str
    output: str
    rule: str
    sources: tuple[int | None, ...]

    @property
    def is_leaf(self) -> bool:
        """Whether nothing made it."""
        return self.call == "leaf"


class Tape:
    """What was recorded for some results, first to last: ``print`` it, or let `pictures` draw it."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records

    def __len__(self) -> int:
        return len(self.records)

    def cells(self, record: Record) -> tuple[str, str, str, str]:
        """The four columns of a row."""
        return record.name, record.call, record.output, record.rule

    def __str__(self) -> str:
        table = [HEAD, *[self.cells(record) for record in self.records]]
        widths = [max(len(row[column]) for row in table) for column in range(3)]
        return "\n".join(
            f"{row[0]:>{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]}".rstrip() for row in table
        )

    __repr__ = __str__


@operator
def tape(outputs: Any, **names: Any) -> Tape:
    """What was recorded for ``outputs``; ``names`` are arrays, or containers of them, that are to be called so.

    Examples
    --------
    >>> import pynested as pn
    >>> x, w = pn.array([1.0, 2.0], requires_grad=True), pn.array(3.0, requires_grad=True)
    >>> pn.tape((x * w).sum(), x=x, w=w)
    #  call        output        rule
    x  leaf        float64 (2,)
    w  leaf        float64 ()
    1  mul(x, w)   float64 (2,)
    2  sum(#1, 0)  float64 ()
    """
    if not flatten(outputs)[0]:
        raise ArgumentError(f"tape: outputs must be arrays or containers of them, not {named_type(outputs)}.")
    ends = [node for node in map(source_of, flatten(outputs)[0]) if node is not None]
    nodes = sorted(nodes_before(ends), key=lambda node: node.number)
    reached = dict.fromkeys([*(source for node in nodes for source in node.sources), *ends])
    leaves = [leaf for leaf in reached if type(leaf) is Leaf]
    called = _called(names)
    places = {node: place for place, node in enumerate([*leaves, *nodes])}
    free = (f"x{number}" for number in range(len(leaves)))
    records = [Record(called.get(leaf) or next(free), "leaf", _described(leaf), "", ()) for leaf in leaves]
    for number, node in enumerate(nodes, 1):
        sources = tuple(None if source is None else places[source] for source in node.sources)
        output = f"{node.parts} parts" if node.parts else _described(node)
        operands = [None if source is None else _in_call(records[source].name) for source in sources]
        call = f"{operands[0]}[{node.static[0]}]" if node.rule is PART else written(node, operands)
        rule = node.rule.name if differs(node) and node.rule is not PART else ""
        records.append(Record(called.get(node, str(number)), call, output, rule, sources))
    return Tape(records)


def _called(names: dict[str, Any]) -> dict[Any, str]:
    """The names by node; the arrays of a container get numbers."""
    called: dict[Any, str] = {}
    for name, value in names.items():
        arrays = flatten(value)[0]
        for i, array in enumerate(arrays):
            called[source_of(array)] = name if len(arrays) == 1 else f"{name}[{i}]"
    return called


def _in_call(name: str) -> str:
    """What a row is called in a call: a number would be taken for one."""
    return f"#{name}" if name.isdigit() else name


def _described(node: Any) -> str:
    return f"{node.dtype} {node.shape}"
