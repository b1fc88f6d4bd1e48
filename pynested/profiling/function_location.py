"""The place of a function in the source."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from pynested.backends import get_backend

ROOT = Path(inspect.getfile(get_backend)).parents[1]  # of the folders `backends`, `autograd` and `pynested`


class FunctionLocation(NamedTuple):
    """The place of a function; without file and line if the function is not written in Python."""

    name: str  # with the module, as in "numpy.add" and "backends.numpy.segment.spread"
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return self.name if self.line is None else f"{self.file}:{self.line}"


def function_location(function: Callable[..., Any]) -> FunctionLocation:
    """Return the place of the function itself, below decorators."""
    function, name = _undecorated(function), function_name(function)
    if not isinstance(function, FunctionType):
        return FunctionLocation(name)
    try:
        line = inspect.getsourcelines(function)[1]
    except OSError:  # the function was not read from a file
        return FunctionLocation(name)
    file = Path(inspect.getfile(function))
    return FunctionLocation(name, str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file), line)


def function_name(function: Callable[..., Any]) -> str:
    """Return the name of the function itself, below decorators, with its module."""
    function = _undecorated(function)
    owner = getattr(function, "__self__", function)  # methods that are written in C have no module
    module = getattr(function, "__module__", None) or type(owner).__module__
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", type(function).__qualname__)
    return f"{module.removeprefix('pynested.')}.{name}"


def _undecorated(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, partial):
        function = function.func
    undecorated: Callable[..., Any] = inspect.unwrap(getattr(function, "__func__", function))
    return undecorated
