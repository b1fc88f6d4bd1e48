"""The tape: numbered nodes, each of which takes a cotangent back and a tangent forward.

An operation on an array that requires grad records a node, which gets the next number. traversal.py visits the nodes in
the order of their numbers.

A node refers to values and to the nodes before it, never to the array that it made. A `Leaf` refers to its array
weakly. So there are no reference cycles, and a graph without references is freed at once. Arrays have the type Any
here, as array.py imports this module.
"""

from __future__ import annotations

import itertools
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple, Protocol

import numpy as np

from pynested.backends.errors import GradientError
from pynested.backends.storage import Storage

from .thread_values import ThreadValue

Hooks = dict[int, Callable[[Any], Any]]  # by `next_node_number` at the registration of the hook
OFF, RECORDING, ANOMALY = 0, 1, 2  # record nothing, nodes, or nodes with the stack of calls
grad_mode: ThreadValue[int] = ThreadValue(lambda: RECORDING)
_node_numbers = itertools.count()


def next_node_number() -> int:
    """Return a number above that of every node so far, and below that of every later node."""
    return next(_node_numbers)


class Unsaved(NamedTuple):
    """The shape and the dtype of an array argument that a node does not save."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(eq=False)
class BackwardPass:
    """A backward pass while it runs.

    Attributes
    ----------
    is_recorded : bool
        Whether the pass itself can be differentiated.
    nodes_to_visit : set
        The nodes and leaves to which the pass takes cotangents.
    caller_storages : set
        The storages that code outside the pass can hold. A gradient in one of them is copied before it is returned.
        They come from seeds, from arguments and results of hooks and of users' functions, and from gradients already
        returned. A pass inside another pass shares the set of that pass.
    cotangents : dict
        The cotangents that have arrived, by node. At the end only those of the leaves remain.
    first_number : int
        The node number at which the pass began: hooks with a greater number were registered later.
    """

    is_recorded: bool
    nodes_to_visit: set[Any] = field(default_factory=set)
    caller_storages: set[Storage] = field(default_factory=set)
    cotangents: dict[Any, Any] = field(default_factory=dict)
    first_number: int = field(default_factory=next_node_number)


SourceCotangents = list[tuple[Any, Any]]  # pairs of a source, which is a Node or a Leaf, and its cotangent


class Operation(Protocol):
    """The operation of a node: a `Primitive`, a call of a user's `Function`, a checkpoint or a fused chain.

    With several outputs, `apply_vjp` gets a list of cotangents, with None for an output without cotangent, and
    `apply_jvp` returns a list of tangents.
    """

    name: str
    public: str

    def apply_vjp(self, node: Node, cotangent: Any, this_pass: BackwardPass) -> SourceCotangents:
        """Take the cotangent of the output back to the sources."""

    def apply_jvp(self, node: Node, tangents: Sequence[Any]) -> Any:
        """Take the tangents of the sources forward; at least one of them is not None."""


def frames_outside(*packages: str) -> Iterator[FrameType]:
    """Yield the frames of this thread, innermost first, from the first one outside of ``packages`` on."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in packages:
        frame = frame.f_back
    while frame is not None:
        yield frame
        frame = frame.f_back


class Node:
    """A recorded operation: the sources of its arguments, and the values that its derivatives read.

    Attributes
    ----------
    number : int
        Position on the tape. Every source has a smaller number.
    operation : Operation
        The primitive, or another operation, that computed the output.
    sources : sequence
        For each argument the node that made it, or its leaf, or None if it is constant. For a checkpoint the older
        nodes and the leaves from which the call computed its results.
    shape, dtype
        Shape and dtype of the output; None if there are several.
    args : sequence
        The arguments as the derivatives get them: saved arrays, `Unsaved`, and arguments that are not arrays; for a
        `Function` or a checkpoint, saved arrays alone. None after the saved values were freed.
    output : array or None
        The output without its history, if a derivative reads it.
    version : int
        Sum of the versions of the saved storages. If it differs later, memory of a saved value was overwritten.
    num_listed_outputs : int
        0 if the operation returns one array; otherwise the number of outputs, each of which has a node of its own with
        the operation `ListedOutput`.
    retaining_arrays : tuple of weakrefs
        The arrays on which `retain_grad` was called: each accumulates the cotangent of the output into its ``grad``.
    stack : StackSummary or None
        Where the node was recorded, inside `anomaly`.
    """

    __slots__ = (
        "__weakref__", "args", "dtype", "hooks", "num_listed_outputs", "number", "operation", "output",
        "retaining_arrays", "shape", "sources", "stack", "storages", "version",
    )  # fmt: skip

    def __init__(
        self,
        operation: Operation,
        sources: Sequence[Any],
        shape: tuple[int, ...] | None,
        dtype: np.dtype[Any] | None,
        args: Sequence[Any],
        output: Any = None,
    ) -> None:
        self.number = next(_node_numbers)
        self.operation = operation
        self.sources = sources
        self.shape, self.dtype = shape, dtype
        self.args: Any = args
        self.output = output
        self.storages = [value.storage for value in (*args, output) if hasattr(value, "storage")]
        self.version = sum([storage.version for storage in self.storages])
        self.num_listed_outputs = 0
        self.hooks: Hooks = {}
        self.retaining_arrays: tuple[weakref.ref[Any], ...] = ()
        self.stack: traceback.StackSummary | None = None
        if grad_mode.value == ANOMALY:
            frames = [(frame, frame.f_lineno) for frame in frames_outside("pynested")]
            self.stack = traceback.StackSummary.extract(reversed(frames), lookup_lines=False)  # lines are read later

    @property
    def name(self) -> str:
        """The name of the operation, or of the operation that made the list of outputs."""
        first = self.sources[0] if self.sources else None
        return first.operation.name if type(first) is Node and first.num_listed_outputs else self.operation.name

    def saved(self) -> Sequence[Any]:
        """Return the arguments; raise GradientError if the saved values were freed or overwritten."""
        if self.args is None:
            raise GradientError(
                f"{self.operation.name}: its saved values were freed by an earlier backward pass over the same graph. "
                "Give retain_graph=True to the first pass to keep them."
            )
        if self.version != sum([storage.version for storage in self.storages]):
            raise GradientError(
                f"{self.operation.name}: memory of a value saved for the gradient was overwritten in place after it "
                "was used. Use the functional form (x = x.mul(2) for x.mul_(2)), or clone before writing."
            )
        return self.args  # type: ignore[no-any-return]

    def free(self) -> None:
        """Drop the saved arrays. A node that saved no array can be visited again."""
        if self.storages:
            self.args, self.output, self.storages = None, None, []


class Leaf:
    """The end of the tape at an array that no operation made.

    Attributes
    ----------
    array : weakref
        The array.
    shape, dtype
        Shape and dtype of the array.
    """

    __slots__ = ("__weakref__", "array", "dtype", "shape")

    def __init__(self, array: Any) -> None:
        self.array = weakref.ref(array)
        self.shape, self.dtype = array.shape, array.dtype


def node_or_leaf(array: Any) -> Node | Leaf | None:
    """Return the node, or the leaf, to which gradients of ``array`` go; None for a constant."""
    return (array.node or array.leaf) if array.tracked else None
