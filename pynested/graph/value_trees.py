"""Value trees: arguments and results in which a `Value` stands for each thing that differs from replay to replay.

A tree is a `Value`, a container of trees (tuple, list, dict, slice, partial), a `ClosureTemplate`, or a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import CellType, FunctionType
from typing import Any

from pynested.autograd.containers import DEEPEST
from pynested.backends.errors import ArgumentError

CONTAINERS = (tuple, list, dict, slice, partial)


@dataclass(frozen=True, slots=True)
class Value:
    """The number of a thing that each replay computes."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class ClosureTemplate:
    """A function whose closure holds values: each replay makes it anew. ``variables`` maps names to trees."""

    function: FunctionType
    variables: Mapping[str, Any]

    def filled(self, things: Mapping[int, Any]) -> FunctionType:
        """Return the function with the things of the trees in its closure."""
        old = self.function
        new_cells = {name: CellType(substitute(tree, things)) for name, tree in self.variables.items()}
        cells = zip(old.__code__.co_freevars, old.__closure__ or (), strict=True)
        closure = tuple([new_cells.get(name, cell) for name, cell in cells])
        new = FunctionType(old.__code__, old.__globals__, old.__name__, old.__defaults__, closure)
        new.__kwdefaults__ = old.__kwdefaults__
        return new


def closure_template(function: FunctionType, replace: Callable[[Any], Any]) -> Any:
    """Return ``function``, or a template of it if ``replace`` puts values into what its closure holds."""
    variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        content = getattr(cell, "cell_contents", None)  # None for a variable that is assigned later
        tree = None if content is function else map_leaves(content, replace)
        if any(values_in(tree)):
            variables[name] = tree
    return ClosureTemplate(function, variables) if variables else function


def children(container: Any) -> list[Any]:
    """Return the items of a container."""
    if isinstance(container, dict):
        return list(container.values())
    if isinstance(container, slice):
        return [container.start, container.stop, container.step]
    if isinstance(container, partial):
        return [container.func, container.args, container.keywords]
    return list(container)


def rebuild(container: Any, items: list[Any]) -> Any:
    """Return a container like ``container`` with other items."""
    if isinstance(container, dict):
        return dict(zip(container, items, strict=True))
    if isinstance(container, slice):
        return slice(*items)
    if isinstance(container, partial):
        return partial(items[0], *items[1], **items[2])
    kind: Any = type(container)
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def map_leaves(tree: Any, replace: Callable[[Any], Any], depth: int = 0) -> Any:
    """Return ``tree`` with ``replace(leaf)`` in the place of each leaf."""
    if not isinstance(tree, CONTAINERS):
        return replace(tree)
    if depth > DEEPEST:
        raise ArgumentError(f"trace: containers are nested more than {DEEPEST} deep, or one contains itself.")
    return rebuild(tree, [map_leaves(item, replace, depth + 1) for item in children(tree)])


def values_in(tree: Any) -> Iterator[Value]:
    """Yield every value of a tree, in order."""
    if type(tree) is Value:
        yield tree
    elif type(tree) is ClosureTemplate:
        yield from values_in(dict(tree.variables))
    elif isinstance(tree, CONTAINERS):
        for item in children(tree):
            yield from values_in(item)


def substitute(tree: Any, things: Mapping[int, Any]) -> Any:
    """Return ``tree`` with the things in the place of their values."""
    if type(tree) is Value:
        return things[tree.number]
    if type(tree) is ClosureTemplate:
        return tree.filled(things)
    if isinstance(tree, CONTAINERS):
        return rebuild(tree, [substitute(item, things) for item in children(tree)])
    return tree
