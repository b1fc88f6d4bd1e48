"""The tape as text: what was recorded between the leaves and a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pynested.backends.errors import ArgumentError, named_type

from .arguments.containers import flatten
from .dispatch import operator
from .rules.rule import PART, RULES
from .tape import FREED, Leaf, Node, source_of
from .traversal import nodes_before

# ---- a node as the public call that recorded it, where its rule has another name

NUMBERS = (bool, int, float)
_RUNS = "runs"  # the dimension of a rule of segments: which one of the nested array it was, the values do not say


def _nothing(*_: Any) -> Sequence[str]:
    """Return no text for arguments beside the arrays, as a reader does not miss them."""
    return []


# By the rule: the public function, and its arguments after the arrays, as far as the node knows them.
WRITTEN: dict[str, tuple[str, Callable[..., Sequence[str]]]] = {
    "amax": ("amax", lambda dims: [_dims(dims)]),
    "amin": ("amin", lambda dims: [_dims(dims)]),
    "attention": ("scaled_dot_product_attention", _nothing),
    "broadcast_to": ("broadcast_to", lambda shape: [str(shape)]),
    "cast": ("to", lambda dtype: [str(dtype)]),
    "clamp_max": ("clamp", _nothing),
    "clamp_min": ("clamp", _nothing),
    "concatenate": ("cat", lambda dim: [str(dim)]),
    "copy": ("clone", _nothing),
    "dropout": ("dropout", lambda mask, p: [str(p)]),
    "gelu_tanh": ("gelu", lambda: ["'tanh'"]),
    "layer_norm": ("layer_norm", lambda eps, *_: [f"eps={eps:g}"]),
    "matmul_components": ("matmul", _nothing),
    "pad": ("to_padded_array", _nothing),
    "reshape": ("reshape", lambda shape: [str(shape)]),
    "segment_cumsum": ("cumsum", lambda _: [_RUNS]),
    "segment_max": ("amax", lambda _: [_RUNS]),
    "segment_min": ("amin", lambda _: [_RUNS]),
    "segment_prod": ("prod", lambda _: [_RUNS]),
    "segment_softmax": ("softmax", lambda _: [_RUNS]),
    "segment_sum": ("sum", lambda _: [_RUNS]),
    "softmax_last": ("softmax", lambda *_: ["-1"]),
    "sum": ("sum", lambda dims: [_dims(dims)]),
    "to_device": ("to", lambda device: [repr(device)]),
    "transpose": ("permute", lambda dims: [str(dims)]),
}
# What has no call of its own: steps of an operator, and of gradients.
INSIDE = frozenset({
    "add_rows", "alias", "components", "gather", "meeting", "mixed", "pieces", "place", "scatter", "spread", "sum_to",
    "unpad", "unstrided",
})  # fmt: skip
INDEXED = {"slice": lambda key: _index(key), "take_rows": lambda *_: "rows"}
_BY_NAME = {"clamp_max": "max", "clamp_min": "min"}


def call_text(node: Node, names: Sequence[str | None]) -> str:
    """A node as a call; ``names`` are those of its sources, None for a constant."""
    rule = _rule(node)
    operands = [_constant(node, i) if name is None else name for i, name in enumerate(names)]
    if rule in INDEXED:
        return f"{operands[0]}[{INDEXED[rule](*node.static)}]"
    if rule in _BY_NAME:
        operands[1] = f"{_BY_NAME[rule]}={operands[1]}"
    if rule == "where":
        operands.insert(0, "mask")
    function, arguments = WRITTEN.get(rule, (node.rule.name, None))
    if function == "cat":
        operands = [f"[{', '.join(operands)}]"]
    return f"{function}({', '.join([*operands, *(arguments(*node.static) if arguments else ())])})"


def has_other_name(node: Node) -> bool:
    """Return whether the rule has another name than the public function."""
    rule = _rule(node)
    return rule in INDEXED or WRITTEN.get(rule, (rule, None))[0] != rule


def _rule(node: Node) -> str:
    """The name of a rule of ours; that of a user's function may be the same."""
    return node.rule.name if RULES.get(node.rule.name) is node.rule else ""


def _constant(node: Node, i: int) -> str:
    """A number that the node holds, or the word for what it does not hold."""
    value = None if node.inputs is None or node.inputs is FREED else node.inputs[i]
    return repr(value) if type(value) in NUMBERS else "const"


def _dims(dims: Sequence[int]) -> str:
    return str(dims[0]) if len(dims) == 1 else str(tuple(dims))


def _index(key: Any) -> str:
    return ", ".join(map(_entry, key)) if isinstance(key, tuple) else _entry(key)


def _entry(one: Any) -> str:
    if isinstance(one, slice):
        ends = ["" if end is None else str(end) for end in (one.start, one.stop)]
        return ":".join([*ends, *([] if one.step in (None, 1) else [str(one.step)])])
    return "..." if one is ... else str(one)


# ---- all nodes of a result

HEAD = ("#", "call", "output", "rule")


@dataclass(frozen=True)
class Record:
    """A row of a tape: a leaf, or a node as a call of the rows that it came from (None for a constant).

    ``rule`` is what was recorded, where that is not the function that is called.
    """

    name: str
    call: str
    output: str
    rule: str
    sources: tuple[int | None, ...]

    @property
    def is_leaf(self) -> bool:
        """Whether the row is a leaf."""
        return self.call == "leaf"


class Tape:
    """The recorded operations behind some results, first to last. Print it, or let `pictures` draw it."""

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
    """Return the operations that were recorded for ``outputs``; ``names`` are names for arrays or containers of them.

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
        call = f"{operands[0]}[{node.static[0]}]" if node.rule is PART else call_text(node, operands)
        rule = node.rule.name if has_other_name(node) and node.rule is not PART else ""
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
    """Return the name of a row in a call: ``#1`` for row 1, as 1 would be read as a number."""
    return f"#{name}" if name.isdigit() else name


def _described(node: Any) -> str:
    return f"{node.dtype} {node.shape}"
