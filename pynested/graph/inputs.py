"""The inputs of a graph: trees of arguments, their signatures, and variables that the function reads.

A tree is a `Value`, a container of trees (tuple, list, dict, slice), or a constant. Arguments and results of calls are
trees; a `Value` stands for each object that differs from replay to replay.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import islice
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.array_methods import ArrayMethods
from pynested.autograd.containers import DEEPEST
from pynested.backends.errors import ArgumentError
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged
from pynested.structure.layout import Layout

CONTAINERS = (tuple, list, dict, slice)
NUMBERS = (int, float, complex, str, bytes, type(None), np.dtype, np.generic, Layout)
_LEAF_TYPES = (*NUMBERS, ArrayMethods, np.ndarray, np.random.Generator)
_WITHOUT_ATTRIBUTES = (*_LEAF_TYPES, FunctionType, MethodType, ModuleType)
_SHARED = (*_LEAF_TYPES, MemberDescriptorType, tuple, list, dict, set)  # members of a class: values, and slots
_MAX_SOURCES = 2_000


# ---- trees ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Value:
    """A placeholder for an object that each replay computes or receives; ``number`` identifies the placeholder."""

    number: int


def children(container: Any) -> list[Any]:
    """Return the items of a container."""
    if isinstance(container, slice):
        return [container.start, container.stop, container.step]
    return list(container.values() if isinstance(container, dict) else container)


def rebuild(container: Any, items: list[Any]) -> Any:
    """Return a container like ``container`` with other items."""
    kind: Any = type(container)
    if isinstance(container, dict):
        pairs = zip(container, items, strict=True)
        return dict(pairs) if kind is dict else copy(container).__ior__(pairs)
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


def substitute(tree: Any, objects: Mapping[int, Any]) -> Any:
    """Return ``tree`` with each value replaced by its object; ``objects`` maps the numbers of values to objects."""
    if type(tree) is Value:
        return objects[tree.number]
    if isinstance(tree, CONTAINERS):
        return rebuild(tree, [substitute(item, objects) for item in children(tree)])
    return tree


# ---- signatures -------------------------------------------------------------------------------------------------
def signature_of(tree: Any, arrays: list[Any]) -> Any:
    """Return a hashable key of what selects a graph: dtypes, ranks, constants, no sizes; add arrays to ``arrays``."""
    kind = type(tree)
    if kind is NestedArray:
        arrays.append(tree)
        structure, buffer = tree._structure, tree._buffer
        bare = buffer._raw
        rank = (bare.ndim, structure.ragged_dim) if type(structure) is Jagged else structure.sizes.shape[1]
        return kind, rank, bare.dtype, buffer.storage.device, buffer.tracked
    if kind is Array:
        arrays.append(tree)
        return kind, tree._raw.ndim, tree._raw.dtype, tree.storage.device, tree.tracked
    if isinstance(tree, np.random.Generator):
        arrays.append(tree)
        return kind
    if isinstance(tree, CONTAINERS):
        names = tuple(tree) if isinstance(tree, dict) else None
        return (kind, names, *[signature_of(item, arrays) for item in children(tree)])
    return constant_key(tree)


def constant_key(constant: Any) -> Any:
    """Return a hashable key of a constant. 1, 1.0 and True have different keys; so do 0.0 and -0.0."""
    kind: Any = type(constant)
    if isinstance(constant, float):
        return type(constant), constant.hex()
    if isinstance(constant, np.ndarray | np.generic):
        return type(constant), constant.dtype, constant.shape, constant.tobytes()
    if not isinstance(constant, NUMBERS):
        # Equal objects can differ in their attributes.
        if kind.__eq__ is object.__eq__ or next(_inner_sources(constant, ""), None) is not None:
            return _Identity(constant)
        try:
            hash(constant)
        except TypeError:
            return _Identity(constant)
    return type(constant), constant


@dataclass(frozen=True, eq=False)
class _Identity:
    """A key that equals the key of the same object only. It keeps the object alive."""

    referent: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.referent is other.referent

    def __hash__(self) -> int:
        return id(self.referent)


# ---- sources ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Source:
    """A variable, an item or an attribute that the function reads, by ``read(holder, key)``.

    A graph is valid as long as arrays are the same objects, and numbers, texts and flags are equal.
    """

    text: str  # as the user writes it
    holder: Any
    key: Any
    read: Callable[[Any, Any], Any]
    content: Any  # when the function was recorded

    def is_current(self) -> bool:
        """Return whether the source holds the same object as in the recording, or an equal number."""
        try:
            content = self.read(self.holder, self.key)
        except (LookupError, AttributeError, ValueError):
            return False
        if content is self.content:
            return True
        return isinstance(content, NUMBERS) and bool(constant_key(content) == constant_key(self.content))


def find_sources(function: Any, arguments: Any) -> list[Source]:
    """Return the variables and attributes that ``function`` itself can read, and those of objects among ``arguments``.

    Variables of the functions that it calls are not searched. The search ends after 2,000 sources.
    """
    leaves: list[Any] = []
    map_leaves(arguments, leaves.append)
    sources = [*_roots(function), *[source for leaf in leaves for source in _inner_sources(leaf, "self")]]
    seen: set[int] = set()
    for source in islice(sources, _MAX_SOURCES):
        if id(source.content) not in seen:
            seen.add(id(source.content))
            sources += _inner_sources(source.content, source.text)
    return sources[:_MAX_SOURCES]


def _roots(function: Any) -> Iterator[Source]:
    """Yield the variables of a function, or the attributes of an object that is called like a function."""
    if isinstance(function, FunctionType):
        yield from _variables(function)
    else:
        yield from _inner_sources(getattr(function, "__self__", function), "self")
        call: Any = type(function).__call__
        if isinstance(call, FunctionType) or hasattr(call, "__wrapped__"):  # not of C
            yield from _roots(call)
    for inner in ("__func__", "func", "__wrapped__"):  # of methods, of partial functions, of decorated functions
        if hasattr(function, inner):
            yield from _roots(getattr(function, inner))


def _variables(function: FunctionType) -> Iterator[Source]:
    """Yield the closure, the globals and the defaults of a function, and the members of modules that it reads."""
    if _is_library_code(function):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield from read_source(name, cell, "cell_contents", getattr)
    names = _names(function.__code__)
    for name in names:
        yield from read_source(name, function.__globals__, name, operator.getitem)
        module = function.__globals__.get(name)
        if isinstance(module, ModuleType) and not _is_library_code(module):
            for inner in names:
                yield from read_source(f"{name}.{inner}", vars(module), inner, operator.getitem)
    yield from _inner_sources([function.__defaults__, function.__kwdefaults__], "default")


def _names(code: CodeType) -> list[str]:
    """Return every name in ``code``, and in the functions that are defined in it."""
    inner = [name for constant in code.co_consts if isinstance(constant, CodeType) for name in _names(constant)]
    return list(dict.fromkeys([*code.co_names, *inner]))


def _inner_sources(holder: Any, text: str) -> Iterator[Source]:
    """Yield the items of a container, or the attributes of a user's class or of an object of it, and their number."""
    entries: Any = holder
    cls = holder if isinstance(holder, type) else type(holder)
    items: list[tuple[str, Any, Any]]
    if isinstance(holder, dict):
        items = [(f"{text}[{key!r}]", key, operator.getitem) for key in holder if isinstance(key, str | int)]
    elif isinstance(holder, tuple | list):
        items = [(f"{text}[{i}]", i, operator.getitem) for i in range(len(holder))]
    elif isinstance(holder, set):
        items = [(f"{item!r} in {text}", item, operator.contains) for item in holder]
    elif not isinstance(holder, _WITHOUT_ATTRIBUTES) and not _is_library_code(cls):
        entries = () if cls is holder else getattr(holder, "__dict__", ())
        members = [member for base in cls.__mro__ for member in list(vars(base).items())]
        # Without names to which Python gives a meaning: ``__doc__``, and ``_member_map_`` of an enum.
        own = [name for name, member in members if isinstance(member, _SHARED) and not name[:1] == name[-1:] == "_"]
        items = [(f"{text}.{name}", name, getattr) for name in dict.fromkeys([*entries, *own])]
    else:
        return
    for source_text, key, read in items:
        yield from read_source(source_text, holder, key, read)
    if not isinstance(entries, tuple):  # which cannot grow
        yield from read_source(f"the number of entries of {text}", len, entries, operator.call)


def read_source(text: str, holder: Any, key: Any, read: Callable[[Any, Any], Any]) -> Iterator[Source]:
    """Yield a variable, an item or an attribute if it has a value."""
    try:
        yield Source(text, holder, key, read, read(holder, key))
    except (LookupError, AttributeError, ValueError):  # also the name of a builtin
        return


def _is_library_code(definition: Any) -> bool:
    """Return whether a module, class or function belongs to pynested or NumPy."""
    module = getattr(definition, "__module__", None) or definition.__name__
    return str(module).partition(".")[0] in ("pynested", "numpy")
