"""The inputs of a graph: trees of arguments, their signatures, and variables that the function reads.

A tree is a `Value`, a container of trees (tuple, list, dict, slice), or a constant. Arguments and results of calls are
trees; a `Value` stands for each thing that differs from replay to replay.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.containers import DEEPEST
from pynested.autograd.array_methods import ArrayMethods
from pynested.backends.errors import ArgumentError
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged
from pynested.structure.layout import Layout

CONTAINERS = (tuple, list, dict, slice)
NUMBERS = (int, float, complex, str, bytes, type(None), np.dtype, np.generic, Layout)
_DATA = (*NUMBERS, ArrayMethods, np.ndarray, np.random.Generator)
_MOST = 2_000  # sources that are looked at


# ---- trees ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Value:
    """The number of a thing that each replay computes."""

    number: int


def children(container: Any) -> list[Any]:
    """Return the items of a container."""
    if isinstance(container, slice):
        return [container.start, container.stop, container.step]
    return list(container.values() if isinstance(container, dict) else container)


def rebuild(container: Any, items: list[Any]) -> Any:
    """Return a container like ``container`` with other items."""
    if isinstance(container, dict):
        return dict(zip(container, items, strict=True))
    kind: Any = type(container)
    return kind(*items) if kind is slice or hasattr(kind, "_fields") else kind(items)


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
    elif isinstance(tree, CONTAINERS):
        for item in children(tree):
            yield from values_in(item)


def substitute(tree: Any, things: Mapping[int, Any]) -> Any:
    """Return ``tree`` with the things in the place of their values."""
    if type(tree) is Value:
        return things[tree.number]
    if isinstance(tree, CONTAINERS):
        return rebuild(tree, [substitute(item, things) for item in children(tree)])
    return tree


# ---- signatures -------------------------------------------------------------------------------------------------
def signature_of(tree: Any, arrays: list[Any]) -> Any:
    """Return everything about arguments that decides which calls a function makes, but no sizes.

    The arrays and the generators of random numbers are added to ``arrays``.
    """
    kind = type(tree)
    if kind is NestedArray:
        arrays.append(tree)
        structure, buffer = tree._structure, tree._buffer
        bare = buffer._bare
        rank = (bare.ndim, structure.ragged_dim) if type(structure) is Jagged else structure.sizes.shape[1]
        return kind, rank, bare.dtype, buffer.storage.device, buffer.tracked
    if kind is Array:
        arrays.append(tree)
        return kind, tree._bare.ndim, tree._bare.dtype, tree.storage.device, tree.tracked
    if isinstance(tree, np.random.Generator):
        arrays.append(tree)
        return kind
    if isinstance(tree, CONTAINERS):
        names = tuple(tree) if isinstance(tree, dict) else None
        return (kind, names, *[signature_of(item, arrays) for item in children(tree)])
    return constant_key(tree)


def constant_key(thing: Any) -> Any:
    """Return a hashable key of a constant. 1, 1.0 and True have three keys, and so have 0.0 and -0.0."""
    if isinstance(thing, float):
        return type(thing), thing.hex()
    if isinstance(thing, np.ndarray):
        return np.ndarray, thing.dtype, thing.shape, thing.tobytes()
    try:
        hash(thing)
    except TypeError:  # it may change without notice, so only its identity counts
        return _Identity(thing)
    return type(thing), thing


@dataclass(frozen=True, eq=False)
class _Identity:
    """A key that is equal for one object only, and keeps it alive."""

    thing: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


# ---- sources ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Source:
    """A variable, an item or an attribute: ``read(holder, key)`` was ``thing``; ``text`` is how the user writes it.

    A graph holds as long as the arrays there are the same objects, and the numbers, texts and flags are equal.
    """

    text: str
    holder: Any
    key: Any
    read: Callable[[Any, Any], Any]
    thing: Any

    def is_current(self) -> bool:
        """Return whether the same thing is there now: the same object, or an equal number."""
        try:
            thing = self.read(self.holder, self.key)
        except (LookupError, AttributeError, ValueError):
            return False
        if thing is self.thing:
            return True
        return isinstance(thing, NUMBERS) and bool(constant_key(thing) == constant_key(self.thing))


def find_sources(function: Any, arguments: Any) -> list[Source]:
    """Return the sources of all that ``function`` reaches itself, or by attributes of objects among ``arguments``.

    Variables of the functions that it calls are not looked at, and of large containers 2,000 things at most.
    """
    objects: list[Any] = []
    map_leaves(arguments, objects.append)
    waiting = [*_roots(function), *[source for thing in objects for source in _contents(thing, "self")]]
    sources: list[Source] = []
    seen: set[int] = set()
    while waiting and len(sources) < _MOST:
        source = waiting.pop(0)
        sources.append(source)
        if id(source.thing) not in seen:
            seen.add(id(source.thing))
            waiting += _contents(source.thing, source.text)
    return sources


def _roots(function: Any) -> Iterator[Source]:
    """Yield the variables of a function, or the attributes of an object that is called as one."""
    if isinstance(function, FunctionType):
        yield from _variables(function)
    else:
        yield from _contents(getattr(function, "__self__", function), "self")
        call: Any = type(function).__call__
        if isinstance(call, FunctionType):  # not of C
            yield from _variables(call)
    for inner in ("__func__", "func", "__wrapped__"):  # of methods, of partial functions, and of decorated ones
        if hasattr(function, inner):
            yield from _roots(getattr(function, inner))


def _variables(function: FunctionType) -> Iterator[Source]:
    """Yield closure, globals and defaults of a function; of modules of the user what the function names there."""
    if _is_ours(function):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield from _found(name, cell, "cell_contents", getattr)
    names = _names(function.__code__)
    for name in names:
        yield from _found(name, function.__globals__, name, operator.getitem)
        module = function.__globals__.get(name)
        if isinstance(module, ModuleType) and not _is_ours(module):
            for inner in filter(vars(module).__contains__, names):
                yield from _found(f"{name}.{inner}", module, inner, getattr)
    yield from _contents([function.__defaults__, function.__kwdefaults__], "default")


def _names(code: CodeType) -> list[str]:
    """Return every name in ``code``, and in the functions that are defined in it."""
    inner = [name for constant in code.co_consts if isinstance(constant, CodeType) for name in _names(constant)]
    return list(dict.fromkeys([*code.co_names, *inner]))


def _contents(thing: Any, text: str) -> Iterator[Source]:
    """Yield the items of a container, or the attributes of an object of the user."""
    if isinstance(thing, tuple | list | dict):
        keys = [key for key in thing if isinstance(key, str | int)] if isinstance(thing, dict) else range(len(thing))
        for key in keys:
            yield from _found(f"{text}[{key!r}]", thing, key, operator.getitem)
    elif not isinstance(thing, (*_DATA, FunctionType, ModuleType, type)) and not _is_ours(type(thing)):
        members = [member for kind in type(thing).__mro__ for member in list(vars(kind).items())]
        shared = (MemberDescriptorType, *_DATA, tuple, list, dict)  # slots, and what a class holds for all its objects
        inherited = [name for name, member in members if isinstance(member, shared) and not name.startswith("__")]
        for name in dict.fromkeys([*getattr(thing, "__dict__", {}), *inherited]):
            yield from _found(f"{text}.{name}", thing, name, getattr)


def _found(text: str, holder: Any, key: Any, read: Any) -> Iterator[Source]:
    try:
        yield Source(text, holder, key, read, read(holder, key))
    except (LookupError, AttributeError, ValueError):  # a builtin, or a variable or a slot without a value
        return


def _is_ours(thing: Any) -> bool:
    module = thing.__name__ if isinstance(thing, ModuleType) else str(getattr(thing, "__module__", ""))
    return module.partition(".")[0] in ("pynested", "numpy")
