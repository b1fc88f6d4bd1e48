"""Signals that ask a command to end: they become an exception, so that what was started is ended with it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

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
    with _handling(None):
        yield


def leave_the_terminal_to_the_parent() -> None:
    """Pass over the interrupt of a terminal, which the process that forked this one hears too; default for others."""
    with _masked():
        for one in _ENDING:
            if signal.getsignal(one) is not signal.SIG_IGN:
                signal.signal(one, signal.SIG_IGN if one == signal.SIGINT else signal.SIG_DFL)


@contextmanager
def _handling(handler: Handler | None) -> Iterator[None]:
    """Handle the signals that end a process so; one that is ignored, as under `nohup`, stays so.

    Without a handler they wait until the former ones are set again, as those do that come while these are being set.
    Python runs handlers in the main thread only, so elsewhere there is nothing to handle.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {one: signal.getsignal(one) for one in _ENDING}
        before = {one: former for one, former in before.items() if former not in (signal.SIG_IGN, None)}
    waiting: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if handler is None:
            waiting.append(number)
        else:
            handler(number, frame)

    try:
        for one in before:
            signal.signal(one, handle)
        yield
    finally:
        handler = None
        try:
            with _masked():
                _set_again(before)
        finally:
            _raise(waiting)


def _set_again(before: dict[int, Any]) -> None:
    """Set handlers as they were: all, even where one that is set again is called at once and raises."""
    try:
        while before:
            one, former = next(iter(before.items()))
            signal.signal(one, former)
            del before[one]
    finally:
        if before:
            _set_again(before)


def _raise(came: list[int]) -> None:
    """Send this process the signals that came, in their order: all, even where the handler of one raises."""
    try:
        while came:
            signal.raise_signal(came.pop(0))
    finally:
        if came:
            _raise(came)


@contextmanager
def _masked() -> Iterator[None]:
    """Block signals in this thread while handlers change: of one that comes in between Python says that it is lost.

    Another thread that blocks none takes it all the same, and Python calls its handler in this one.
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
