"""Simpler calls of constructors: fewer arguments, lists in place of arrays, fewer and simpler entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..judge import Found
from ..plan import Call

NEEDED = ("sizes",)


def candidates(call: Call, found: Found) -> Iterator[Call]:
    """Simpler calls."""
    for name in call.kwargs:
        if name not in NEEDED:
            yield replace(call, kwargs={key: value for key, value in call.kwargs.items() if key != name})
    for i, value in enumerate(call.args):
        for other in _shorter(value) if isinstance(value, np.ndarray) else _simpler(value):
            yield replace(call, args=(*call.args[:i], other, *call.args[i + 1 :]))
    for name, value in call.kwargs.items():
        for other in _simpler(value):
            yield replace(call, kwargs={**call.kwargs, name: other})


def _shorter(values: Any) -> Iterator[Any]:
    """Fewer values."""
    for axis, size in enumerate(values.shape):
        yield from (np.take(values, range(keep), axis=axis) for keep in (0, 1, size - 1) if keep < size)


def _simpler(value: Any) -> Iterator[Any]:
    """Simpler things in place of an argument."""
    if type(value) is np.ndarray and value.dtype.kind in "iu":
        yield value.tolist()
    elif type(value) in (list, tuple):
        yield from _simpler_list(value)
    elif type(value) is int and value not in (0, 1):
        yield from (0, 1)


def _simpler_list(value: Any) -> Iterator[Any]:
    if type(value) is tuple:
        yield list(value)
    for i, entry in enumerate(value):
        yield value[:i] + value[i + 1 :]
        for other in _simpler(entry):
            yield type(value)((*value[:i], other, *value[i + 1 :]))
