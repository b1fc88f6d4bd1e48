"""A Python function as a target: called in this process, its nested arrays of pynested, of NumPy, or its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pynested.spec.components import is_several, parts_of
from pynested.spec.encoding import Components, Index
from pynested.spec.table import Operator

from .adapters.base import Operand, Place, Target
from .adapters.pynested_adapter import PynestedTarget
from .adapters.values import Plain
from .messages import Message
from .placements import place_strided
from .replies import UNCALLED

Make = Callable[[Components | np.ndarray[Any, Any]], Any]
Read = Callable[[Any], Any]
Pull = Callable[..., Sequence[Any]]


class PynestedFunction(PynestedTarget):
    """A function of pynested's arrays; gradients are those of its tape."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def identity(self, device: str) -> Message:
        """Return the name of the function."""
        return {**super().identity(device), "name": name_of(self._function)}

    def function(self, op: str) -> Callable[..., Any]:
        """Return the function, whatever the operator is called."""
        return self._function


@dataclass
class _Given:
    """An operand as the function is given it, and the gradient that came back for it."""

    value: Any
    tracked: bool
    gradient: Any = None


@dataclass
class OtherFunction(Target):
    """A function of components in NumPy, or of what ``make`` makes of them and ``read`` reads."""

    called: Callable[..., Any]
    operator: Operator
    make: Make
    read_own: Read
    pull: Pull | None
    _call: tuple[Sequence[Any], Mapping[str, Any]] = field(default=((), {}), init=False)
    _given: list[_Given] = field(default_factory=list, init=False)

    def identity(self, device: str) -> Message:
        """Return the name of the function; its errors are those of Python."""
        return {"name": name_of(self.called), "version": "", "device": device, "errors": "builtin"}

    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Return components as views into one buffer that holds them as the placement says, or a dense array."""
        placed = in_one_buffer(value, place.placement) if isinstance(value, Components) else np.array(value)
        given = _Given(self.make(placed), tracked)
        self._given.append(given)
        return Operand(given.value, lambda: given.gradient)

    def other(self, value: Any) -> Any:
        """Return what an index holds; everything else as it is."""
        return value.items if isinstance(value, Index) else value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the function, and remember with what."""
        self._given = [
            one for one in self._given if any(one.value is value for value in _flat([*args, *kwargs.values()]))
        ]
        self._call = args, kwargs
        return self.called(*args, **kwargs)

    def read(self, result: Any) -> Any:
        """Return a list as components, or as a list of results where the operator has several."""
        if self.operator.signature.rpartition("->")[2].strip().startswith("tuple"):
            return [components(self.read_own(one)) for one in result]
        return components(self.read_own(result))

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Ask for the gradient of each array operand, in the order of the call."""
        if self.pull is None:
            raise NotImplementedError("no vjp was given")
        args, kwargs = self._call
        seeds = [self.make(one) for one in cotangents]
        found = self.pull(seeds[0] if len(seeds) == 1 else seeds, *args, **kwargs)
        if len(found) != len(self._given):
            raise ValueError(
                f"vjp gave {len(found)} gradients for {len(self._given)} arrays. Give None where there is none."
            )
        for given, one in zip(self._given, found, strict=True):
            given.gradient = None if one is None or not given.tracked else components(self.read_own(one))


def in_one_buffer(value: Components, placement: str) -> Components:
    """Return components that are views into one buffer, with what the placement puts between them."""
    placed = place_strided(value, placement)
    size = placed.buffer.itemsize
    parts = (
        as_strided(placed.buffer[start:], sizes, strides * size)
        for start, sizes, strides in zip(placed.offsets, placed.sizes, placed.strides, strict=True)
    )
    return Components(parts, value.shape, value.dtype)


def components(result: Any) -> Any:
    """Return a list of arrays as components; one of nothing has to say its shape and dtype."""
    if isinstance(result, Components) or not isinstance(result, (list, tuple)):
        return np.asarray(result) if isinstance(result, np.generic) else result
    if not result:
        raise NotImplementedError(
            "a list of nothing has neither shape nor dtype; return pynested.spec.encoding.Components"
        )
    return Components(result)


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called."""
    return str(getattr(function, "__name__", type(function).__name__))


def callable_as(function: Callable[..., Any], operator: Operator) -> Callable[..., Any]:
    """Return the function, to which a call with a parameter that it does not take is missing, and no error of its own.

    >>> from pynested.spec.table import load_table
    >>> callable_as(lambda x: x, load_table()["softmax"])([], 1)
    Traceback (most recent call last):
    NotImplementedError: not called: <lambda> takes no `dim`
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a function in C that does not say
        return function

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if lost := lacking(signature, operator, len(args), kwargs):
            raise NotImplementedError(f"{UNCALLED}{name_of(function)} {lost}")
        return function(*args, **kwargs)

    called.__name__ = name_of(function)
    return called


def lacking(signature: inspect.Signature, operator: Operator, count: int, keywords: Iterable[str]) -> str:
    """Return why a call cannot be made of ``count`` arguments by position and of keywords, or nothing."""
    parameters, kinds = signature.parameters.values(), {one.kind for one in signature.parameters.values()}
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    named = {one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    several = inspect.Parameter.VAR_POSITIONAL in kinds
    lost = [] if several else list(operator.call.parameters)[len(positional) : count]
    lost += [] if inspect.Parameter.VAR_KEYWORD in kinds else [one for one in keywords if one not in named]
    if lost:
        return f"takes no {' and no '.join(f'`{one}`' for one in lost)}"
    try:
        signature.bind(*range(count), **dict.fromkeys(keywords))
    except TypeError as error:
        return f"does not take the call: {error}"
    return ""


def _flat(values: Sequence[Any]) -> list[Any]:
    return [part for one in values for part in (_flat(parts_of(one)) if is_several(one) else [one])]
