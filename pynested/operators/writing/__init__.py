"""Writes in place, into nested and into dense arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pynested.autograd.dispatch import method
from pynested.backends.errors import PynestedError
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Index

from . import nested, of_dense

Target = TypeVar("Target")  # an Array, or a NestedArray


def overwrite(self: Target, function: Callable[..., Any], *arguments: Any, **options: Any) -> Target:
    """Write the result of the operator ``function`` into the array itself."""
    try:
        _into(self).overwrite(self, function, *arguments, **options)
    except (PynestedError, OverflowError) as error:
        _name_method(error, function.__name__)
        raise
    return self


def _name_method(error: Exception, name: str) -> None:
    """Let a message that begins with the name of an operator begin with the name of its method that writes in place."""
    text = str(error)
    if text.startswith(f"{name}:"):
        error.args = (f"{name}_{text.removeprefix(name)}",)


def write(self: Target, name: str, value: Any) -> Target:
    """Write ``value``, which broadcasts, into the array itself."""
    _into(self).write(self, name, value)
    return self


@method
def assign(self: Any, index: Index, value: Any) -> None:
    """Write ``value``, which broadcasts, to what ``index`` names, be it a view or not."""
    _into(self).assign(self, index, value)


def _into(self: Any) -> Any:
    return nested if type(self) is NestedArray else of_dense
