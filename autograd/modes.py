"""What is recorded: nothing inside `no_grad`, more than usual inside `anomaly`. Each thread has its own mode."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from .dispatch import operator
from .suspended import suspending
from .tape import ANOMALY, OFF, RECORDING, state

F = TypeVar("F", bound=Callable[..., Any])


class Mode(ContextDecorator):
    """A context manager, or a decorator, that sets what the current thread records and puts it back after.

    It keeps nothing itself, so that one decorated function can run in several threads, and inside itself. A generator
    or a coroutine that it decorates has the mode while its body runs; whoever waits for it keeps his own.
    """

    def __init__(self, mode: int) -> None:
        self._mode = mode

    def __enter__(self) -> Self:
        state.before.append(state.mode)
        state.mode = self._mode
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.mode = state.before.pop()

    def __call__(self, function: F) -> F:
        """``function``, whose body runs in the mode."""
        wrapped: Any = suspending(function, self._mode) or super().__call__(function)
        return wrapped  # type: ignore[no-any-return]


def _mode(mode: int, function: Any) -> Any:
    """The mode, or ``function`` decorated with it where it is written without parentheses."""
    return Mode(mode) if function is None else Mode(mode)(function)


@overload
def no_grad(function: None = None) -> Mode: ...
@overload
def no_grad(function: F) -> F: ...
@operator
def no_grad(function: Any = None) -> Any:
    """Inside, operations are not recorded and writes in place are allowed.

    A view that is made inside, of an array that requires grad, cannot be written to outside. As a decorator it takes
    functions, generators, coroutines and asynchronous generators.

    Examples
    --------
    >>> import pynested as pn
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> with pn.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """
    return _mode(OFF, function)


@overload
def enable_grad(function: None = None) -> Mode: ...
@overload
def enable_grad(function: F) -> F: ...
@operator
def enable_grad(function: Any = None) -> Any:
    """Inside, operations are recorded, also within `no_grad`.

    Examples
    --------
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> with pn.no_grad(), pn.enable_grad():
    ...     (x * 2).requires_grad
    True
    """
    return _mode(RECORDING, function)


@overload
def anomaly(function: None = None) -> Mode: ...
@overload
def anomaly(function: F) -> F: ...
@operator
def anomaly(function: Any = None) -> Any:
    """Inside, every line remembers where it was recorded and what it saved.

    An error in a backward pass then shows the forward line that is behind it; a gradient that becomes NaN where its
    cotangent had none, and a saved array that was changed behind pynested's back, are errors too.

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
    return _mode(ANOMALY, function)


@operator
def is_grad_enabled() -> bool:
    """Whether the current thread records.

    Examples
    --------
    >>> with pn.no_grad():
    ...     pn.is_grad_enabled()
    False
    """
    return state.mode != OFF
