"""What a graph is made of: nodes, each of which is one call, and what came in from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pynested.surface.passing import ATTRIBUTE, FUNCTION, METHOD, SETTING

from .forms import Value, values_in
from .places import Place

__all__ = [
    "ATTRIBUTE",
    "CALLED",
    "FUNCTION",
    "METHOD",
    "NUMBER",
    "SETTING",
    "Captured",
    "Fact",
    "Node",
    "Recording",
    "Spot",
]

NUMBER, CALLED = "number", "called"  # kinds besides those of calls: arithmetic with sizes; a function that a call gave


@dataclass(frozen=True, slots=True)
class Spot:
    """A line of the user's code."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, in {self.function}"


@dataclass(frozen=True, slots=True)
class Captured:
    """An array that the function found by itself, in a variable, and where it is found again."""

    value: Value
    place: Place


@dataclass(frozen=True, slots=True)
class Node:
    """One call.

    Attributes
    ----------
    name, kind
        As of `pynested.surface.passing.Call`; arithmetic with sizes is ``number``.
    function : callable
        What is called.
    args, kwargs, results : forms
        What goes in and what comes out. A constant among the results is what the function has seen: a replay that
        finds another one is refused.
    mode : int or None
        What is recorded of gradients inside the call, where the function itself says so by ``with pn.no_grad()``.
    effect : bool
        Whether it does something besides giving results: it writes, draws random numbers, sets an attribute.
    spot : Spot
        Where it was written.
    """

    name: str
    kind: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    results: Any
    mode: int | None
    effect: bool
    spot: Spot

    @property
    def reads(self) -> Iterator[Value]:
        """The values that go in."""
        return values_in((self.args, dict(self.kwargs)))

    @property
    def makes(self) -> Iterator[Value]:
        """The values that come out, also those that it gives back as they were."""
        return values_in(self.results)


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a value for all arrays that are recorded alike.

    Attributes
    ----------
    kind : str
        ``nested``, ``dense``, or ``other``.
    dtype, device : str
        Of an array, empty otherwise.
    tracked : bool
        Whether gradients flow through it.
    ndim : int
        How many dimensions an array has.
    rows : bool
        Whether the last of several dimensions is regular: a dense array, or a jagged one that is not ragged there.
    """

    kind: str
    dtype: str = ""
    device: str = ""
    tracked: bool = False
    ndim: int = 0
    rows: bool = False


@dataclass
class Recording:
    """A function as it was recorded once."""

    inputs: Any  # the form of (args, kwargs)
    captured: list[Captured] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: Any = None
    shown: dict[int, str] = field(default_factory=dict)  # what each value was, in words
    facts: dict[int, Fact] = field(default_factory=dict)
