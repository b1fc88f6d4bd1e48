"""What is recorded: nothing inside `no_grad`, more than usual inside `anomaly`. Each thread has its own mode."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType
from typing import Self

from .tape import ANOMALY, OFF, RECORDING, state


class Mode(ContextDecorator):
    """A context manager, or a decorator, that sets what the current thread records and puts it back after.

    It keeps nothing itself, so that one decorated function can run in several threads, and inside itself.
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


def no_grad() -> Mode:
    """Inside, operations are not recorded and writes in place are allowed.

    Examples
    --------
    >>> import pynested as pn
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> with pn.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """
    return Mode(OFF)


def enable_grad() -> Mode:
    """Inside, operations are recorded, also within `no_grad`.

    Examples
    --------
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> with pn.no_grad(), pn.enable_grad():
    ...     (x * 2).requires_grad
    True
    """
    return Mode(RECORDING)


def anomaly() -> Mode:
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
    return Mode(ANOMALY)


def is_grad_enabled() -> bool:
    """Whether the current thread records.

    Examples
    --------
    >>> with pn.no_grad():
    ...     pn.is_grad_enabled()
    False
    """
    return state.mode != OFF
