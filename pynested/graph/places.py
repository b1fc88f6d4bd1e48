"""Where a function finds arrays that nobody gave to it: its variables, and what they hold.

An array that is found here becomes an input of the graph, which is read anew at each replay: after ``params["w"] =
better`` it is the better one. So a place is a way to go, and not the array itself.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from pynested.autograd.array_methods import ArrayMethods as AnyArray
from pynested.structure.layouts import Layout

from .forms import CONTAINERS, parts

GONE = ("gone",)
_DEEP, _MANY = 8, 20_000  # steps from a variable to an array, and things looked at
_KEPT = (AnyArray, np.ndarray, np.random.Generator)
_NUMBERS = (int, float, bool, str, type(None), np.dtype, np.generic, Layout)
_WATCHED = 64  # constants of a function that are looked at in each call of what it was compiled to
_PLAIN = (str, bytes, int, float, complex, bool, type, type(None), np.dtype, np.generic)


@dataclass(frozen=True, eq=False)
class Place:
    """Where something is found: the place before it, and the last step.

    Attributes
    ----------
    text : str
        As one would write it: ``params["w"]``.
    """

    text: str
    step: Callable[[], Any]

    def find(self) -> Any:
        """What lies there now; `GONE` where there is no such place any more."""
        try:
            return self.step()
        except (KeyError, IndexError, AttributeError, ValueError):
            return GONE

    def inside(self, text: str, step: Callable[[Any], Any]) -> Place:
        """A place in what lies here."""
        return Place(self.text + text, lambda: step(self.step()))


def places(function: Any) -> dict[int, tuple[Any, Place]]:
    """Everything that may change and that ``function`` can reach by its variables: by id, with the place.

    So of an object what its attributes hold.
    """
    return {id(thing): (thing, place) for thing, place in _reached(function) if isinstance(thing, _KEPT)}


def constants(function: Any) -> list[tuple[Any, Place]]:
    """The numbers, texts and flags that ``function`` can reach by its variables, which may be others tomorrow."""
    return [one for one in _reached(function) if isinstance(one[0], _NUMBERS)][:_WATCHED]


def objects(arguments: Any) -> Iterator[Any]:
    """What among arguments, and in containers among them, may hold arrays as a method's ``self`` does."""
    if isinstance(arguments, CONTAINERS):
        for one in parts(arguments):
            yield from objects(one)
    elif not isinstance(arguments, (*_KEPT, *_PLAIN, *_NUMBERS)):
        yield arguments


def _reached(function: Any) -> Iterator[tuple[Any, Place]]:
    seen: set[int] = set()
    waiting = [(function, Place("", lambda: function), 0)]
    while waiting and len(seen) < _MANY:
        thing, place, depth = waiting.pop(0)
        if isinstance(thing, _NUMBERS) and place.text != "default":
            yield thing, place
        if id(thing) in seen or isinstance(thing, _PLAIN):
            continue
        seen.add(id(thing))
        if isinstance(thing, _KEPT):
            yield thing, place
        elif depth < _DEEP:
            waiting += [(one, at, depth + 1) for one, at in _inside(thing, place)]


def _inside(thing: Any, place: Place) -> Iterator[tuple[Any, Place]]:
    if isinstance(thing, FunctionType):
        yield from _variables(thing)
    elif isinstance(thing, MethodType):
        yield thing.__self__, Place("self", lambda: thing.__self__)
        yield thing.__func__, place
    elif isinstance(thing, partial):
        for one in (thing.func, thing.args, thing.keywords):
            yield one, Place("", lambda one=one: one)  # type: ignore[misc]
    elif isinstance(thing, dict):
        for key, one in list(thing.items()):
            if isinstance(key, str | int):
                yield one, place.inside(f"[{key!r}]", _item(key))
    elif isinstance(thing, tuple | list):
        for i, one in enumerate(thing):
            yield one, place.inside(f"[{i}]", _item(i))
    elif not isinstance(thing, ModuleType) and not _ours(type(thing)):
        for name, one in _attributes(thing):
            yield one, place.inside(f".{name}", attrgetter(name))
        if callable(thing) and isinstance(type(thing).__call__, FunctionType):
            yield type(thing).__call__, place


def _attributes(thing: Any) -> list[tuple[str, Any]]:
    """The attributes of an object by name: its own, those of its slots, and what its classes hold for all objects."""
    found = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        for name, one in list(vars(kind).items()):
            if isinstance(one, MemberDescriptorType):
                one = getattr(thing, name, None)
            if name not in found and not name.startswith("__") and isinstance(one, (*_KEPT, *_NUMBERS, *CONTAINERS)):
                found[name] = one
    return list(found.items())


def _item(key: Any) -> Callable[[Any], Any]:
    return lambda holder: holder[key]


def _ours(thing: Any) -> bool:
    module = str(getattr(thing, "__module__", "")).partition(".")[0]
    if module == "builtins":  # also the module of what `exec` defines in a namespace without a name
        return getattr(builtins, thing.__name__, None) is thing
    return module in ("pynested", "numpy")


def _variables(function: FunctionType) -> Iterator[tuple[Any, Place]]:
    """What the variables of ``function`` hold that belong to somebody else, and its defaults."""
    if _ours(function):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield cell.cell_contents, Place(name, lambda cell=cell: cell.cell_contents)  # type: ignore[misc]
        except ValueError:  # a variable that has no value yet
            continue
    spread = function.__globals__
    names = _names(function.__code__)
    for name in names:
        if name in spread and not isinstance(spread[name], ModuleType):
            yield spread[name], Place(name, lambda name=name: spread[name])  # type: ignore[misc]
        elif isinstance(module := spread.get(name), ModuleType) and not _ours_module(module):
            for inner in names:
                if inner in vars(module):
                    yield (
                        vars(module)[inner],
                        Place(f"{name}.{inner}", lambda m=module, inner=inner: vars(m)[inner]),  # type: ignore[misc]
                    )
    for one in (function.__defaults__ or (), function.__kwdefaults__ or {}):
        yield one, Place("default", lambda one=one: one)  # type: ignore[misc]


def _ours_module(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] in ("pynested", "numpy")


def _names(code: CodeType) -> list[str]:
    """Every name in ``code``, and in the functions that it makes."""
    inner = [name for one in code.co_consts if isinstance(one, CodeType) for name in _names(one)]
    return list(dict.fromkeys([*code.co_names, *inner]))
