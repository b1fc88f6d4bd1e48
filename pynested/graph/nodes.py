"""The parts of a graph: nodes, each of which is one call, facts about the values between them, and replays."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.modes import Mode
from pynested.backends.errors import TraceError
from pynested.nested.nested_array import NestedArray
from pynested.structure.ragged_size import RaggedSize

from .inputs import CONTAINERS, NUMBERS, Source, Value, children, constant_key, substitute, values_in

# Kinds of nodes: a public function (also called as a method or by one of Python's operators), another method, an
# attribute that is read, an attribute that is set, arithmetic with sizes, a fused chain.
FUNCTION, METHOD, ATTRIBUTE, SETTING, NUMBER, CHAIN = "function", "method", "attribute", "setting", "number", "chain"
_FIXED = frozenset({"shape", "grad", "jvp", "hvp"})  # the signature determines the containers of the results
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
    """One call, by the name of the function: ``exp`` for ``pn.exp(x)`` and for ``x.exp()``."""

    name: str
    kind: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: Any  # a tree of values, and of constants that are the same in each replay
    mode: int | None  # the gradient mode if the function itself set one, for example by ``with pn.no_grad()``
    effect: bool  # whether the call writes, draws random numbers, or runs a function of the user
    line: CodeLine  # of the user's code that made the call
    may_be_none: bool = False  # whether it reads the grad of an array from outside, which the caller can set

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
            return self.may_be_none
        return self.may_be_none or (self.kind != CHAIN and self.name not in _FIXED)


@dataclass(frozen=True, slots=True)
class Fact:
    """The facts about a value that hold in every replay."""

    kind: str  # nested, dense or other
    text: str  # the shape with dtype and layout
    shape: str = ""  # of the array of the recording
    dtype: str = ""
    device: str = ""
    tracked: bool = False  # whether gradients flow through the array


@dataclass
class Recording:
    """One run of a function, as the calls that it made."""

    inputs: Any
    mode: int  # the gradient mode around the run
    captured: dict[Value, Source] = field(default_factory=dict)  # arrays and generators from variables and attributes
    made: dict[Value, NDArray[Any]] = field(default_factory=dict)  # NumPy arrays, which each replay copies
    constants: list[Source] = field(default_factory=list)  # whose contents must be the same in a replay
    nodes: list[Node] = field(default_factory=list)
    outputs: Any = None
    facts: dict[int, Fact] = field(default_factory=dict)  # by the numbers of the values


def fact_of(real: Any, names: dict[RaggedSize, str]) -> Fact:
    """Return the fact about a value that is the array or number ``real`` in this run."""
    text = in_words(real, names)
    if not isinstance(real, Array | NestedArray):
        return Fact("other", text)
    kind, shape = "nested" if real.is_nested else "dense", _shape_in_words(real.shape, names)
    return Fact(kind, text, shape, str(real.dtype), real.device, real.requires_grad)


def in_words(argument: Any, names: dict[RaggedSize, str]) -> str:
    """Return shape, dtype and layout as text. ``names`` maps sizes to ``j1``, ``j2``: equal lengths have one name."""
    if isinstance(argument, CONTAINERS):
        return f"{type(argument).__name__} of ({', '.join(in_words(item, names) for item in children(argument))})"
    if not isinstance(argument, Array | NestedArray):
        return repr(argument) if isinstance(argument, NUMBERS) else type(argument).__name__
    layout = f" {str(argument.layout).rpartition('.')[2]}" if isinstance(argument, NestedArray) else ""
    marks = f" on {argument.device}" * (argument.device != "cpu") + ", requires grad" * argument.requires_grad
    return f"{_shape_in_words(argument.shape, names)} {argument.dtype}{layout}{marks}"


def _shape_in_words(shape: Any, names: dict[RaggedSize, str]) -> str:
    sizes = [names.setdefault(x, f"j{len(names) + 1}") if isinstance(x, RaggedSize) else str(x) for x in shape]
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"


class TraceMismatch(TraceError):
    """The error of a replay that computes another constant, or reads another variable, than the recording did."""


class Replay:
    """A function of the objects for ``inputs``: it calls ``nodes`` in order and returns the objects for ``outputs``."""

    def __init__(self, inputs: Sequence[Value], nodes: Sequence[Node], outputs: Any) -> None:
        self.inputs = [value.number for value in inputs]
        self.outputs = outputs
        self.steps = list(zip(nodes, _last_uses(nodes, outputs), strict=True))

    def __call__(self, *arguments: Any) -> Any:
        """Compute the outputs. Each object is released after the call that reads it last."""
        objects = dict(zip(self.inputs, arguments, strict=True))
        try:
            for node, last_uses in self.steps:
                args, kwargs = [substitute(arg, objects) for arg in node.args], substitute(node.kwargs, objects)
                with nullcontext() if node.mode is None else Mode(node.mode):
                    result = node.function(*args, **kwargs)
                if not _store(node.results, result, objects) and node.is_checked:
                    raise TraceMismatch(
                        f"graph: {node.name} returns {result!r} here, and returned {node.results!r} when the function "
                        f"was recorded, so the function may act differently now, at {node.line}. Trace it "
                        "again with such arguments, or compile it."
                    )
                for number in last_uses:
                    objects.pop(number, None)
        except Exception as error:
            if not any(note.startswith(_NOTE) for note in getattr(error, "__notes__", ())):
                error.add_note(f"{_NOTE} at {node.line}:{node.line.text}")
            raise
        return substitute(self.outputs, objects)


def _store(tree: Any, result: Any, objects: dict[int, Any]) -> bool:
    """Store the parts of ``result`` for which ``tree`` has values; return whether all other parts are equal."""
    if type(tree) is Value:
        objects[tree.number] = result
        return result is not None
    if isinstance(tree, CONTAINERS):
        if type(result) is not type(tree) or len(children(tree)) != len(children(result)):
            return False
        stored = [_store(item, part, objects) for item, part in zip(children(tree), children(result), strict=True)]
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
