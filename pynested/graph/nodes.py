"""The parts of a graph: nodes, each of which is one call, facts about the values between them, and replays."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pynested.autograd import Array
from pynested.autograd.modes import Mode
from pynested.backends.errors import TraceError
from pynested.nested.nested_array import NestedArray
from pynested.structure.ragged_size import RaggedSize

from .assumptions import Source, constant_key
from .value_trees import CONTAINERS, ClosureTemplate, Value, children, substitute, values_in

# Kinds of nodes: public functions, also called as methods or by Python's operators; other methods; attributes that are
# read and set; arithmetic with sizes; calls of functions that calls have returned; fused chains.
FUNCTION, METHOD, ATTRIBUTE, SETTING = "function", "method", "attribute", "setting"
NUMBER, CALLED, CHAIN = "number", "called", "chain"
SIZES = frozenset({"shape", "size", "numel", "stride", "regular", "regular_size", "component_shape"})
_EXACT = frozenset({"add", "sub", "mul", "neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge", "bool"})
_FIXED = frozenset({"shape", "grad", "vjp", "jvp", "hvp"})  # the form of the results follows from the signature

_NOTE = "In the function that was recorded,"


class Spot(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, in {self.function}"


class Capture(NamedTuple):
    """A value that the function takes from a variable or an attribute, and where it is found."""

    value: Value
    source: Source


@dataclass(frozen=True, slots=True)
class Node:
    """One call, by the name of the function: ``exp`` for ``pn.exp(x)`` and for ``x.exp()``.

    Arguments and results are trees; constants among the results are the same in each replay. ``mode`` is the gradient
    mode if the function itself set one, as by ``with pn.no_grad()``. A call has an ``effect`` if it writes, draws
    random numbers, or runs a function of the user. ``spot`` is the line of the user's code.
    """

    name: str
    kind: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: Any
    mode: int | None
    effect: bool
    spot: Spot

    @property
    def reads(self) -> Iterator[Value]:
        """The values among the arguments."""
        return values_in((self.args, self.kwargs))

    @property
    def makes(self) -> Iterator[Value]:
        """The values among the results."""
        return values_in(self.results)

    @property
    def is_checked(self) -> bool:
        """Whether a replay compares the results with the recorded ones, on which the function may have acted."""
        if type(self.results) is Value or (self.effect and self.results is None):
            return False
        return self.kind not in (CALLED, CHAIN) and self.name not in _FIXED

    @property
    def can_move(self) -> bool:
        """Whether the call may run earlier: it reads sizes, computes with them, or makes a view, and cannot raise."""
        if self.kind == NUMBER:
            return self.name in _EXACT
        return self.kind in (METHOD, ATTRIBUTE) and self.name in (*SIZES, "values", "data", "requires_grad", "__len__")


@dataclass(frozen=True, slots=True)
class Fact:
    """What holds for a value in every replay; ``kind`` is ``nested``, ``dense`` or ``other``.

    ``tracked`` says whether gradients flow through the array.
    """

    kind: str
    dtype: str = ""
    device: str = ""
    tracked: bool = False


@dataclass
class Recording:
    """A function as it was recorded once.

    ``captured`` are the arrays and generators from variables and attributes that calls use, and ``constants`` all that
    has to be the same there in a replay. ``facts`` and ``descriptions`` are those of each value, by its number.
    """

    inputs: Any
    captured: list[Capture] = field(default_factory=list)
    constants: list[Source] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: Any = None
    facts: dict[int, Fact] = field(default_factory=dict)
    descriptions: dict[int, str] = field(default_factory=dict)

    def describe(self, things: Mapping[int, Any]) -> None:
        """Fill in facts and descriptions, from the thing of each value by its number."""
        names: dict[RaggedSize, str] = {}
        for number, thing in things.items():
            self.facts[number] = fact_of(thing)
            self.descriptions[number] = in_words(thing, names)


def fact_of(thing: Any) -> Fact:
    """Return the fact about a value that is ``thing`` now."""
    if not isinstance(thing, Array | NestedArray):
        return Fact("other")
    return Fact("nested" if thing.is_nested else "dense", str(thing.dtype), thing.device, thing.requires_grad)


def in_words(thing: Any, names: dict[RaggedSize, str]) -> str:
    """Return shape, dtype and layout as text. ``names`` maps sizes to ``j1``, ``j2``: equal lengths have one name."""
    if isinstance(thing, CONTAINERS):
        return f"{type(thing).__name__} of ({', '.join(in_words(item, names) for item in children(thing))})"
    if not isinstance(thing, Array | NestedArray):
        return repr(thing) if isinstance(thing, int | float | str | None) else type(thing).__name__
    marks = f" on {thing.device}" * (thing.device != "cpu") + ", requires grad" * thing.requires_grad
    if isinstance(thing, Array):
        return f"{thing.shape} {thing.dtype}{marks}"
    sizes = [
        names.setdefault(size, f"j{len(names) + 1}") if isinstance(size, RaggedSize) else str(size)
        for size in thing.shape
    ]
    return f"({', '.join(sizes)}) {thing.dtype} {str(thing.layout).rpartition('.')[2]}{marks}"


class TraceMismatch(TraceError):
    """A replay meets something else than the function met when it was recorded."""


class Replay:
    """The function of the things of ``inputs`` that calls ``nodes`` in order, and returns those of ``outputs``."""

    def __init__(self, inputs: Sequence[Value], nodes: Sequence[Node], outputs: Any) -> None:
        self.inputs = [value.number for value in inputs]
        self.outputs = outputs
        self.steps = list(zip(nodes, map(_is_plain, nodes), _last_uses(nodes, outputs), strict=True))

    def __call__(self, *arguments: Any) -> Any:
        """Compute the outputs. A thing is forgotten after the call that reads it last."""
        things = dict(zip(self.inputs, arguments, strict=True))
        try:
            for node, is_plain, last_uses in self.steps:
                if is_plain:
                    result = node.function(*[things[arg.number] if type(arg) is Value else arg for arg in node.args])
                else:
                    result = _call(node, things)
                if not _store(node.results, result, things) and node.is_checked:
                    raise TraceMismatch(
                        f"graph: {node.name} returns {result!r} here, and returned {node.results!r} when the function "
                        f"was recorded, which may do something else now, at {node.spot}. Trace it again with such "
                        "arguments, or compile it."
                    )
                for number in last_uses:
                    things.pop(number, None)
        except Exception as error:
            if not any(note.startswith(_NOTE) for note in getattr(error, "__notes__", ())):
                text = linecache.getline(node.spot.file, node.spot.line).strip()
                error.add_note(f"{_NOTE} at {node.spot}:\n    {text}")
            raise
        return substitute(self.outputs, things)


def _is_plain(node: Node) -> bool:
    """Return whether the arguments are values and constants alone."""
    has_trees = any(isinstance(arg, (*CONTAINERS, ClosureTemplate)) for arg in node.args)
    return not node.kwargs and node.mode is None and not has_trees


def _call(node: Node, things: Mapping[int, Any]) -> Any:
    args, kwargs = substitute((node.args, node.kwargs), things)
    if node.mode is None:
        return node.function(*args, **kwargs)
    with Mode(node.mode):
        return node.function(*args, **kwargs)


def _store(tree: Any, result: Any, things: dict[int, Any]) -> bool:
    """Store what stands in ``result`` for the values of ``tree``; return whether the rest is the same."""
    if type(tree) is Value:
        things[tree.number] = result
        return True
    if isinstance(tree, CONTAINERS):
        items = children(tree)
        if type(result) is not type(tree) or len(items) != len(children(result)):
            return False
        pairs = zip(items, children(result), strict=True)
        return not [item for item, part in pairs if not _store(item, part, things)]  # all of them are stored
    return bool(constant_key(tree) == constant_key(result))


def _last_uses(nodes: Sequence[Node], outputs: Any) -> list[list[int]]:
    """Return for each node the numbers of the values that nothing reads after it."""
    kept = set(values_in(outputs))
    last = {value: i for i, node in enumerate(nodes) for value in (*node.reads, *node.makes) if value not in kept}
    uses: list[list[int]] = [[] for _ in nodes]
    for value, i in last.items():
        uses[i].append(value.number)
    return uses
