"""The tape: numbered nodes, each of which can pull a cotangent back and push a tangent forward.

A node is recorded when an operator meets an array that wants a gradient, and gets the next number; graph.py says in
which order nodes are visited.

A node holds values and the nodes before it, never the array it made. A `Leaf` refers to its array weakly. So there are
no cycles, and a graph that nobody holds is gone at once.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pynested.backends.errors import GradientError

from .recorded_stack import RecordedStack

if TYPE_CHECKING:
    from .array import Array
    from .rules.rule import Rule

Hook = Callable[["Array"], "Array | None"]
Hooks = dict[int, Hook]  # by the number at which each was registered
OFF, RECORDING, ANOMALY = 0, 1, 2
FREED: Any = ("freed",)


class State(threading.local):
    """The mode of the current thread: record nothing, nodes, or nodes with the place in the program."""

    mode = RECORDING

    def __init__(self) -> None:
        self.previous_modes: list[int] = []


state = State()
_numbers = itertools.count()


class Node:
    """One recorded operation: its rule, where its inputs came from, and what its derivative needs.

    Attributes
    ----------
    number : int
        Position on the tape; every source has a smaller one.
    sources : tuple
        For each array argument the `Node` or the `Leaf` that it came from, or None if it is constant.
    inputs, output, static
        The saved values, as the rule asked for them, and the arguments that are not arrays.
    version : int
        Sum of the versions of the saved storages; another sum later means that a saved value was overwritten.
    shapes : tuple
        The shapes of all array arguments, where the rule is not elementwise.
    parts : int
        Number of outputs if the rule returns several, each made by a `Part` of this node; 0 if it returns one.
    stack : RecordedStack or None
        Where the node was recorded, inside `anomaly`.
    """

    __slots__ = (
        "__weakref__", "dtype", "hooks", "inputs", "number", "output", "parts", "retaining", "rule", "shape", "shapes",
        "sources", "stack", "static", "version",
    )  # fmt: skip

    shapes: tuple[tuple[int, ...], ...]

    def __init__(
        self, rule: Rule, sources: tuple[Any, ...], static: tuple[Any, ...], shape: tuple[int, ...], dtype: Any
    ) -> None:
        self.number = next(_numbers)
        self.rule = rule
        self.sources = sources
        self.static = static
        self.shape = shape
        self.dtype = dtype
        self.inputs: Any = None
        self.output: Any = None
        self.version = 0
        self.parts = 0
        self.hooks: Hooks | None = None
        self.retaining: weakref.ref[Array] | None = None
        self.stack: RecordedStack | None = None

    @property
    def name(self) -> str:
        """The rule's name; for one of several outputs that of the rule that made them."""
        first = self.sources[0] if self.sources else None
        return first.rule.name if type(first) is Node and first.parts else self.rule.name

    def save(self, inputs: Any, output: Any) -> None:
        """Keep what the derivative needs: some of the inputs, and the output without its history."""
        self.inputs, self.output = inputs, output
        self.version = version_of(inputs, output)
        if state.mode == ANOMALY:
            self.stack = RecordedStack()

    def saved(self) -> tuple[Any, Any]:
        """The saved inputs and output, after checking that they are still what they were."""
        if self.inputs is FREED:
            raise GradientError(
                f"{self.rule.name}: its saved values were freed by an earlier backward pass over the same graph. "
                "Give retain_graph=True to the first pass to keep them."
            )
        if self.version != version_of(self.inputs, self.output):
            raise GradientError(
                f"{self.rule.name}: a value saved for the gradient was overwritten in place after it was used. "
                "Use the functional form (x = x.mul(2) for x.mul_(2)), or clone before writing."
            )
        return self.inputs, self.output

    def free(self) -> None:
        """Drop the saved arrays. A node that saved no array can be visited again."""
        if self.output is not None:
            self.inputs, self.output = FREED, None
        elif self.inputs is not None:
            for saved in self.inputs:
                if hasattr(saved, "storage"):
                    self.inputs = FREED
                    break


class Leaf:
    """The end of the tape at an array that no operation made, where gradients end. It refers to the array weakly.

    Attributes
    ----------
    array : weakref
        The leaf.
    shape, dtype, storage
        Those of the leaf.
    """

    __slots__ = ("__weakref__", "array", "dtype", "shape", "storage")

    def __init__(self, array: Array) -> None:
        self.array = weakref.ref(array)
        self.shape, self.dtype, self.storage = array.shape, array.dtype, array.storage


def version_of(inputs: Any, output: Any) -> int:
    """Sum of the versions of the storages of saved arrays; versions only grow, so a write changes the sum."""
    total: int = output.storage.version if output is not None else 0
    for saved in inputs or ():
        if saved is not None and hasattr(saved, "storage"):
            total += saved.storage.version
    return total


def source_of(array: Array) -> Node | Leaf | None:
    """Return the node to which gradients of ``array`` go, None for a constant."""
    return (array.node or array.leaf()) if array.tracked else None


def next_number() -> int:
    """A number above that of every node so far."""
    return next(_numbers)
