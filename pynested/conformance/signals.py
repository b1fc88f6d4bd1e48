"""Signals that ask a command to end: they become an exception, so that what was started is ended with it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
Handler = Callable[[int, FrameType | None], None]


class Ended(BaseException):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(name_of(number))
        self.number = number


def name_of(number: int) -> str:
    """Return the name of a signal; those of real time have numbers only."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextmanager
def raised() -> Iterator[None]:
    """Raise `Ended` for the first signal that asks for the end, and pass over others while it is coming."""
    came: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) == 1:
            raise Ended(number)

    with _handling(end):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Let signals wait for a moment, until what is being started is known to whoever has to end it."""
    came: list[int] = []
    try:
        with _handling(lambda number, frame: came.append(number)):
            yield
    finally:
        for number in came:
            signal.raise_signal(number)


def leave_the_terminal_to_the_parent() -> None:
    """Pass over the interrupt of a terminal, which the process that forked this one hears too; default for others."""
    with _waiting():
        for one in _ENDING:
            if signal.getsignal(one) is not signal.SIG_IGN:
                signal.signal(one, signal.SIG_IGN if one == signal.SIGINT else signal.SIG_DFL)


@contextmanager
def _handling(handler: Handler) -> Iterator[None]:
    """Handle the signals that end a process so; one that is ignored, as under `nohup`, stays so.

    Python runs handlers in the main thread only, so elsewhere there is nothing to handle.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {one: signal.getsignal(one) for one in _ENDING}
        before = {one: former for one, former in before.items() if former not in (signal.SIG_IGN, None)}
    try:
        for one in before:
            signal.signal(one, handler)
        yield
    finally:
        with _waiting():
            for one, former in before.items():
                signal.signal(one, former)


@contextmanager
def _waiting() -> Iterator[None]:
    """Let signals wait while handlers change: of one that comes in between Python says that it is lost.

    One that came before has its handler called here, whatever that raises.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        finally:
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
