"""The parts of a graph: nodes, each of which is one call, facts about the values between them, and replays."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pynested.autograd import Array
from pynested.autograd.modes import Mode
from pynested.backends.errors import TraceError
from pynested.nested.nested_array import NestedArray
from pynested.structure.ragged_size import RaggedSize

from .inputs import CONTAINERS, Source, Value, children, constant_key, substitute, values_in

# Kinds of nodes: public functions, also called as methods or by Python's operators; other methods; attributes that are
# read and set; arithmetic with sizes; fused chains.
FUNCTION, METHOD, ATTRIBUTE, SETTING, NUMBER, CHAIN = "function", "method", "attribute", "setting", "number", "chain"
_FIXED = frozenset({"shape", "grad", "jvp", "hvp"})  # the form of the results follows from the signature
_NOTE = "In the function that was recorded,"


class CodeLine(NamedTuple):
    """A line of the user's code."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}, in {self.function}"

    @property
    def text(self) -> str:
        """The text of the line, on a line of its own; empty if the file cannot be read."""
        text = linecache.getline(self.file, self.number).strip()
        return f"\n    {text}" if text else ""


@dataclass(frozen=True, slots=True)
class Node:
    """One call, by the name of the function: ``exp`` for ``pn.exp(x)`` and for ``x.exp()``.

    Arguments and results are trees; constants among the results are the same in each replay. ``mode`` is the gradient
    mode if the function itself set one, as by ``with pn.no_grad()``. A call has an ``effect`` if it writes, draws
    random numbers, or runs a function of the user. ``line`` is the line of the user's code.
    """

    name: str
    kind: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: Any
    mode: int | None
    effect: bool
    line: CodeLine

    @property
    def reads(self) -> list[Value]:
        """The values among the arguments."""
        return list(values_in((self.args, self.kwargs)))

    @property
    def makes(self) -> list[Value]:
        """The values among the results."""
        return list(values_in(self.results))

    @property
    def is_checked(self) -> bool:
        """Whether a replay compares the results with the recorded ones, on which the function may have acted."""
        if type(self.results) is Value or (self.effect and self.results is None):
            return False
        return self.kind != CHAIN and self.name not in _FIXED


@dataclass(frozen=True, slots=True)
class Fact:
    """The facts about a value that hold in every replay.

    ``kind`` is ``nested``, ``dense`` or ``other``; ``tracked`` says whether gradients flow through the array. ``shape``
    and ``text``, which has dtype and layout as well, are those of the recording.
    """

    kind: str
    text: str
    shape: str = ""
    dtype: str = ""
    device: str = ""
    tracked: bool = False


@dataclass
class Recording:
    """A function as it was recorded once.

    ``captured`` are the sources of the arrays and generators from variables and attributes that calls use, and
    ``constants`` all that must be the same there in a replay. ``facts`` are those of each value, by its number.
    """

    inputs: Any
    captured: dict[Value, Source] = field(default_factory=dict)
    constants: list[Source] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: Any = None
    facts: dict[int, Fact] = field(default_factory=dict)


def fact_of(thing: Any, names: dict[RaggedSize, str]) -> Fact:
    """Return the fact about a value that is ``thing`` now."""
    text = in_words(thing, names)
    if not isinstance(thing, Array | NestedArray):
        return Fact("other", text)
    kind, shape = "nested" if thing.is_nested else "dense", _shape_in_words(thing.shape, names)
    return Fact(kind, text, shape, str(thing.dtype), thing.device, thing.requires_grad)


def in_words(thing: Any, names: dict[RaggedSize, str]) -> str:
    """Return shape, dtype and layout as text. ``names`` maps sizes to ``j1``, ``j2``: equal lengths have one name."""
    if isinstance(thing, CONTAINERS):
        return f"{type(thing).__name__} of ({', '.join(in_words(item, names) for item in children(thing))})"
    if not isinstance(thing, Array | NestedArray):
        return repr(thing) if isinstance(thing, int | float | str | None) else type(thing).__name__
    layout = f" {str(thing.layout).rpartition('.')[2]}" if isinstance(thing, NestedArray) else ""
    marks = f" on {thing.device}" * (thing.device != "cpu") + ", requires grad" * thing.requires_grad
    return f"{_shape_in_words(thing.shape, names)} {thing.dtype}{layout}{marks}"


def _shape_in_words(shape: Any, names: dict[RaggedSize, str]) -> str:
    sizes = [names.setdefault(x, f"j{len(names) + 1}") if isinstance(x, RaggedSize) else str(x) for x in shape]
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"


class TraceMismatch(TraceError):
    """A replay meets something else than the function met when it was recorded."""


class Replay:
    """The function of the things of ``inputs`` that calls ``nodes`` in order, and returns those of ``outputs``."""

    def __init__(self, inputs: Sequence[Value], nodes: Sequence[Node], outputs: Any) -> None:
        self.inputs = [value.number for value in inputs]
        self.outputs = outputs
        self.steps = list(zip(nodes, _last_uses(nodes, outputs), strict=True))

    def __call__(self, *arguments: Any) -> Any:
        """Compute the outputs. A thing is forgotten after the call that reads it last."""
        things = dict(zip(self.inputs, arguments, strict=True))
        try:
            for node, last_uses in self.steps:
                args, kwargs = [substitute(arg, things) for arg in node.args], substitute(node.kwargs, things)
                with nullcontext() if node.mode is None else Mode(node.mode):
                    result = node.function(*args, **kwargs)
                if not _store(node.results, result, things) and node.is_checked:
                    raise TraceMismatch(
                        f"graph: {node.name} returns {result!r} here, and returned {node.results!r} when the function "
                        f"was recorded, which may do something else now, at {node.line}. Trace it again with such "
                        "arguments, or compile it."
                    )
                for number in last_uses:
                    things.pop(number, None)
        except Exception as error:
            if not any(note.startswith(_NOTE) for note in getattr(error, "__notes__", ())):
                error.add_note(f"{_NOTE} at {node.line}:{node.line.text}")
            raise
        return substitute(self.outputs, things)


def _store(tree: Any, result: Any, things: dict[int, Any]) -> bool:
    """Store what stands in ``result`` for the values of ``tree``; return whether the rest is the same."""
    if type(tree) is Value:
        things[tree.number] = result
        return True
    if isinstance(tree, CONTAINERS):
        if type(result) is not type(tree) or len(children(tree)) != len(children(result)):
            return False
        stored = [_store(item, part, things) for item, part in zip(children(tree), children(result), strict=True)]
        return all(stored)
    return bool(constant_key(tree) == constant_key(result))


def _last_uses(nodes: Sequence[Node], outputs: Any) -> list[list[int]]:
    """Return for each node the numbers of the values that nothing reads after it."""
    kept = set(values_in(outputs))
    last = {value: i for i, node in enumerate(nodes) for value in (*node.reads, *node.makes) if value not in kept}
    uses: list[list[int]] = [[] for _ in nodes]
    for value, i in last.items():
        uses[i].append(value.number)
    return uses
