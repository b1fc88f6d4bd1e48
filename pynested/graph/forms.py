"""Forms: arguments and results in which a `Value` stands for each thing that differs from replay to replay.

A form is a `Value`, a tuple, list, dict or slice of forms, a `Made` function, or a constant, which stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from pynested.autograd.array_methods import ArrayMethods as AnyArray
from pynested.autograd.containers import DEEPEST
from pynested.backends.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Value:
    """A place for a thing that each replay works out, by its number."""

    number: int

    def __repr__(self) -> str:
        return f"v{self.number}"


@dataclass(frozen=True, slots=True)
class Same:
    """A result that is the very object which ``value`` stands for."""

    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A function that is made anew in each replay, as its variables hold forms: ``variables`` by their names."""

    function: FunctionType
    variables: Mapping[str, Any]


Find = Callable[[Any], Any]  # a leaf -> what stands for it, or the leaf itself
CONTAINERS = (tuple, list, dict, slice)


def form_of(thing: Any, find: Find, depth: int = 0) -> Any:
    """The form of ``thing``, each leaf of which is replaced by what ``find`` gives."""
    if depth > DEEPEST:
        raise ArgumentError(f"trace: containers lie in one another more than {DEEPEST} deep, or one holds itself.")
    if isinstance(thing, CONTAINERS):
        return rebuilt(thing, [form_of(one, find, depth + 1) for one in parts(thing)])
    if type(thing) is partial:
        held = [form_of(one, find, depth + 1) for one in (thing.func, thing.args, thing.keywords)]
        return partial(held[0], *held[1], **held[2]) if not any(values_in(held)) else _Partial(*held)
    if type(thing) is MethodType and type(thing.__func__) is FunctionType:
        own = form_of(thing.__self__, find, depth + 1)
        return thing if own is thing.__self__ else _Partial(thing.__func__, (own,), {})
    found = find(thing)
    if found is thing and type(thing) is FunctionType and thing.__closure__:
        return _function_form(thing, find, depth)
    return found


def _function_form(function: FunctionType, find: Find, depth: int) -> Any:
    variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if _full(cell) and cell.cell_contents is not function and depth < DEEPEST // 10:
            form = form_of(cell.cell_contents, find, depth + 1)
            if any(values_in(form)):
                variables[name] = form
    return Made(function, variables) if variables else function


def _full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # a variable that has no value yet
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """`functools.partial`, of forms."""

    function: Any
    args: Any
    keywords: Any


def parts(thing: Any) -> list[Any]:
    """What a container holds."""
    if isinstance(thing, dict):
        return list(thing.values())
    return [thing.start, thing.stop, thing.step] if isinstance(thing, slice) else list(thing)


def rebuilt(thing: Any, held: list[Any]) -> Any:
    """A container as ``thing`` is one, which holds something else."""
    if isinstance(thing, dict):
        return dict(zip(thing, held, strict=True))
    if isinstance(thing, slice):
        return slice(*held)
    kind: Any = type(thing)
    return kind(*held) if hasattr(kind, "_fields") else kind(held)


def values_in(form: Any) -> Iterator[Value]:
    """Every value in a form, in order."""
    if type(form) is Value:
        yield form
    elif type(form) is Same:
        yield form.value
    elif type(form) is Made:
        yield from values_in(tuple(form.variables.values()))
    elif type(form) is _Partial:
        yield from values_in((form.function, form.args, form.keywords))
    elif isinstance(form, CONTAINERS):
        for one in parts(form):
            yield from values_in(one)


def filled(form: Any, things: Mapping[int, Any]) -> Any:
    """The thing of a form: ``things`` by the numbers of their values."""
    if type(form) is Value:
        return things[form.number]
    if type(form) is Made:
        return _made(form, things)
    if type(form) is _Partial:
        function, args, keywords = (filled(one, things) for one in (form.function, form.args, form.keywords))
        return partial(function, *args, **keywords)
    if isinstance(form, CONTAINERS):
        return rebuilt(form, [filled(one, things) for one in parts(form)])
    return form


def _made(form: Made, things: Mapping[int, Any]) -> FunctionType:
    old = form.function
    cells = tuple(
        CellType(filled(form.variables[name], things)) if name in form.variables else cell
        for name, cell in zip(old.__code__.co_freevars, old.__closure__ or (), strict=True)
    )
    made = FunctionType(old.__code__, old.__globals__, old.__name__, old.__defaults__, cells)
    made.__kwdefaults__, made.__dict__ = old.__kwdefaults__, dict(old.__dict__)
    return made


def renamed(form: Any, names: Mapping[Value, Value]) -> Any:
    """A form with other values in the places of those in ``names``."""
    if type(form) is Value:
        return names.get(form, form)
    if type(form) is Same:
        return Same(names.get(form.value, form.value))
    if type(form) is Made:
        return Made(form.function, {name: renamed(one, names) for name, one in form.variables.items()})
    if type(form) is _Partial:
        return _Partial(*(renamed(one, names) for one in (form.function, form.args, form.keywords)))
    if isinstance(form, CONTAINERS):
        return rebuilt(form, [renamed(one, names) for one in parts(form)])
    return form


def alike(a: Any, b: Any) -> bool:
    """Whether two forms are the same: equal values, and constants of equal value."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Value | Same):
        return bool(a == b)
    if isinstance(a, dict):
        return list(a) == list(b) and alike(list(a.values()), list(b.values()))
    if isinstance(a, CONTAINERS):
        mine, theirs = parts(a), parts(b)
        return len(mine) == len(theirs) and all(map(alike, mine, theirs))
    if isinstance(a, Made):
        return alike(dict(a.variables), dict(b.variables)) and _same_function(a.function, b.function, set(a.variables))
    if isinstance(a, _Partial):
        return alike((a.function, a.args, a.keywords), (b.function, b.args, b.keywords))
    return _equal(a, b)


def _equal(a: Any, b: Any) -> bool:
    """Whether two constants of one class are equal; NaN is, of itself, and 0.0 is not -0.0."""
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, float | np.generic):
        return repr(a) == repr(b)
    if type(a) is FunctionType:
        return _same_function(a, b, set())
    if isinstance(a, AnyArray):
        return False
    if type(a) is partial:
        return alike((a.func, a.args, a.keywords), (b.func, b.args, b.keywords))
    if type(a) is MethodType:
        return alike((a.__func__, a.__self__), (b.__func__, b.__self__))
    return bool(a == b)


def _same_function(a: FunctionType, b: FunctionType, but: set[str]) -> bool:
    """Whether two functions were made of one code, and all else that they depend on, ``but`` for some, is the same."""
    return a.__code__ is b.__code__ and alike(_variables(a, but), _variables(b, but))


def _variables(function: FunctionType, but: set[str]) -> tuple[Any, ...]:
    """What a function holds besides its code: its variables, but for itself, and its defaults."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    held = [cell.cell_contents for name, cell in cells if name not in but and _full(cell)]
    return tuple(one for one in held if one is not function), function.__defaults__, function.__kwdefaults__
