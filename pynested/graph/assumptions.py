"""What a graph holds for: the signatures of the arguments, and what the function takes from elsewhere.

A function reaches arrays and numbers by its closure, by globals and by attributes. A graph holds as long as the arrays
among them are the same objects, and the numbers, texts and flags are equal.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.array_methods import ArrayMethods
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged
from pynested.structure.layout import Layout

from .value_trees import CONTAINERS, children, map_leaves

NUMBERS = (int, float, complex, str, bytes, type(None), np.dtype, np.generic, Layout)
_DATA = (*NUMBERS, ArrayMethods, np.ndarray, np.random.Generator)
_MOST = 2_000  # things that are looked at


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


class _Identity:
    """A key that is equal for one object only, and keeps it alive."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(frozen=True, eq=False)
class Source:
    """Where a thing was found: ``read(holder, key)`` was ``thing``; ``text`` is how the user writes it.

    ``parents`` are the sources of the containers and objects on the way.
    """

    text: str
    holder: Any
    key: Any
    read: Callable[[Any, Any], Any]
    thing: Any
    parents: tuple[Source, ...]

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
            waiting += _contents(source.thing, source.text, (*source.parents, source))
    return sources


def _roots(function: Any) -> Iterator[Source]:
    """Yield the variables of a function, or the attributes of an object that is called as one."""
    if isinstance(function, MethodType):
        yield from _contents(function.__self__, "self")
        yield from _roots(function.__func__)
    elif isinstance(function, partial):
        yield from _contents([function.args, function.keywords], "partial")
        yield from _roots(function.func)
    elif isinstance(function, FunctionType):
        yield from _variables(function)
    elif not _is_ours(type(function)):
        yield from _contents(function, "self")
        call: Any = type(function).__call__
        if isinstance(call, FunctionType):  # not of C
            yield from _variables(call)
    if hasattr(function, "__wrapped__"):
        yield from _roots(function.__wrapped__)


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


def _contents(thing: Any, text: str, parents: tuple[Source, ...] = ()) -> Iterator[Source]:
    """Yield the items of a container, or the attributes of an object of the user."""
    if isinstance(thing, dict):
        for key in [key for key in thing if isinstance(key, str | int)]:
            yield from _found(f"{text}[{key!r}]", thing, key, operator.getitem, parents)
    elif isinstance(thing, tuple | list):
        for i in range(len(thing)):
            yield from _found(f"{text}[{i}]", thing, i, operator.getitem, parents)
    elif not isinstance(thing, (*_DATA, FunctionType, ModuleType, type)) and not _is_ours(type(thing)):
        members = [member for kind in type(thing).__mro__ for member in list(vars(kind).items())]
        shared = (MemberDescriptorType, *_DATA, tuple, list, dict)  # slots, and what a class holds for all its objects
        inherited = [name for name, member in members if isinstance(member, shared) and not name.startswith("__")]
        for name in dict.fromkeys([*getattr(thing, "__dict__", {}), *inherited]):
            yield from _found(f"{text}.{name}", thing, name, getattr, parents)


def _found(text: str, holder: Any, key: Any, read: Any, parents: tuple[Source, ...] = ()) -> Iterator[Source]:
    try:
        yield Source(text, holder, key, read, read(holder, key), parents)
    except (LookupError, AttributeError, ValueError):  # a builtin, or a variable or a slot without a value
        return


def _is_ours(thing: Any) -> bool:
    module = thing.__name__ if isinstance(thing, ModuleType) else str(getattr(thing, "__module__", ""))
    return module.partition(".")[0] in ("pynested", "numpy")
