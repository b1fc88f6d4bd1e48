"""Modes of recording: `no_grad`, `enable_grad` and `anomaly`. Each thread has its own mode."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any, Self, TypeVar, overload

from pynested.backends.errors import ArgumentError, named_type

from .decorators import operator, typed_as
from .tape import ANOMALY, OFF, RECORDING, grad_mode
from .thread_values import ThreadValue

F = TypeVar("F", bound=Callable[..., Any])
_NAMES = {OFF: "no_grad", RECORDING: "enable_grad", ANOMALY: "anomaly"}
_modes_before_blocks: ThreadValue[list[int]] = ThreadValue(list)  # the last one is restored after the innermost block
_KINDS_WITH_STEPS = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)


class Mode(ContextDecorator):
    """A context manager, or a decorator, that sets the mode of the current thread and restores it at the end.

    It is re-entrant, and several threads can use one object, as each thread stores the modes that its blocks restore.
    """

    def __init__(self, mode: int) -> None:
        self._mode = mode

    def __enter__(self) -> Self:
        modes = _modes_before_blocks.value
        modes.append(grad_mode.value)
        grad_mode.value = ANOMALY if self._mode == RECORDING and ANOMALY in modes else self._mode
        return self

    def __exit__(self, *_: object) -> None:
        grad_mode.value = _modes_before_blocks.value.pop()

    def __call__(self, function: F) -> F:
        """Return a function that runs ``function`` in the mode; ArgumentError for a generator or a coroutine."""
        name = _NAMES[self._mode]
        if not callable(function):
            raise ArgumentError(f"{name}: {named_type(function)} is no function. Write `with pn.{name}():`.")
        if any(is_kind(function) for is_kind in _KINDS_WITH_STEPS):
            raise ArgumentError(
                f"{name}: {getattr(function, '__name__', function)} is a generator or a coroutine; between its steps, "
                f"code of its caller would run in this mode. Write `with pn.{name}():` inside, without a yield."
            )
        return super().__call__(function)


def num_mode_blocks() -> int:
    """Return the number of blocks of modes around this call, in the current thread."""
    return len(_modes_before_blocks.value)


def _mode_or_decorated(mode: int, function: Any) -> Any:
    """Return the mode; or ``function`` decorated with it, for ``@no_grad`` without parentheses."""
    return Mode(mode) if function is None else Mode(mode)(function)


@overload
def no_grad(function: None = None) -> Mode: ...
@overload
def no_grad(function: F) -> F: ...
@operator
def no_grad(function: Any = None) -> Any:
    """Record no operation inside the block, and allow writes in place.

    A view that is made inside the block, of an array that requires grad, is read-only outside the block. `no_grad` is a
    decorator, too; ArgumentError for a generator or a coroutine.

    Examples
    --------
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> with pn.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """
    return _mode_or_decorated(OFF, function)


@operator
@typed_as(no_grad)
def enable_grad(function: Any = None) -> Any:
    """Record operations inside the block, also within `no_grad`. Within `anomaly`, stacks are recorded as well.

    Examples
    --------
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> with pn.no_grad(), pn.enable_grad():
    ...     (x * 2).requires_grad
    True
    """
    return _mode_or_decorated(RECORDING, function)


@operator
@typed_as(no_grad)
def anomaly(function: Any = None) -> Any:
    """Record operations as `enable_grad` does, each with the stack of the calls that led to it.

    An error in a backward pass shows this stack. A gradient with NaN, for a cotangent without NaN, is an error, too.

    Examples
    --------
    >>> x = pn.array(0.0, requires_grad=True)
    >>> with pn.anomaly():
    ...     try:
    ...         (x.log() * 0).backward()
    ...     except RuntimeError as error:
    ...         print(error)
    log: the gradient of its argument 0 holds NaN, and the cotangent that came in held none.
    """
    return _mode_or_decorated(ANOMALY, function)


@operator
def is_grad_enabled() -> bool:
    """Return whether the current thread records operations.

    Examples
    --------
    >>> with pn.no_grad():
    ...     pn.is_grad_enabled()
    False
    """
    return grad_mode.value != OFF
