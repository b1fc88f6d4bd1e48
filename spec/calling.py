"""The call of a definition: its arguments by name, dimensions counted from the front."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .components import Components, parts_of
from .definitions import definition

__all__ = ["arrays", "called"]

_DIMS = ("dim", "dim0", "dim1", "dims", "start_dim", "end_dim")
_ONE_MORE = ("unsqueeze", "stack")  # their `dim` counts the dimensions of the result


def called(op: str, args: Any, kwargs: Mapping[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the definition of an operator and those of the arguments that it takes."""
    define = definition(op)
    signature = _signature(define)
    known = {name: value for name, value in kwargs.items() if name in signature.parameters}
    given = dict(signature.bind(*args, **known).arguments)
    rank = next((len(one.shape) for one in arrays(given.values())), 0) + (op in _ONE_MORE)
    for name in _DIMS:
        if given.get(name) is not None:
            given[name] = _canonical(given[name], rank)
    return define, given


@functools.cache
def _signature(define: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(define)


def arrays(values: Any) -> Iterator[Any]:
    """Yield the nested and dense arrays among values, and in lists and mappings of them."""
    for value in values:
        if isinstance(value, (Components, np.ndarray)):
            yield value
        else:
            yield from arrays(parts_of(value))


def _canonical(dim: Any, rank: int) -> Any:
    """Return a dimension, or several, counted from the front."""
    if isinstance(dim, (tuple, list)):
        return tuple(_canonical(one, rank) for one in dim)
    return dim + rank if dim < 0 else dim
