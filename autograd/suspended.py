"""Generators and coroutines with modes of their own, which a thread has only while a step of the body runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable
from types import TracebackType, coroutine
from typing import Any

from .tape import state


class _Modes:
    """The mode of one body, and those that it comes back to; entering and leaving exchanges them with the thread's."""

    def __init__(self, mode: int) -> None:
        self.mode = mode
        self.before: list[int] = []

    def __enter__(self) -> None:
        state.mode, self.mode = self.mode, state.mode
        state.before, self.before = self.before, state.before

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__enter__()


def suspending(function: Callable[..., Any], mode: int) -> Callable[..., Any] | None:
    """``function`` with every step of its body in ``mode``, if it makes something that is run in steps, else None."""
    body = _called(function)
    if inspect.isgeneratorfunction(body):

        @functools.wraps(function)
        def generator(*arguments: Any, **options: Any) -> Any:
            return (yield from _steps(_Modes(mode), function(*arguments, **options)))

        return generator
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(body):  # which may say so of itself

        @functools.wraps(function)
        async def awaited(*arguments: Any, **options: Any) -> Any:
            return await _awaited(_Modes(mode), function(*arguments, **options))

        return awaited
    if inspect.isasyncgenfunction(body):
        return _asynchronous(function, mode)
    return None


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that is run where ``function`` is called: of a partial its own, of an object that of its class."""
    if isinstance(function, functools.partial):
        return _called(function.func)
    if inspect.isroutine(function) or isinstance(function, type):
        return function
    return _called(type(function).__call__)


def _steps(modes: _Modes, body: Any) -> Any:
    """What ``yield from body`` does for a generator or a coroutine, each step in ``modes``."""
    step, given = body.send, None
    while True:
        try:
            with modes:
                yielded = step(given)
        except StopIteration as end:
            return end.value
        finally:
            given = None  # an error that was thrown in holds this frame
        try:
            step, given = body.send, (yield yielded)
        except GeneratorExit:
            with modes:
                body.close()
            raise
        except BaseException as error:
            step, given = body.throw, error


_awaited: Any = coroutine(_steps)


def _asynchronous(function: Callable[..., Any], mode: int) -> Callable[..., AsyncIterator[Any]]:
    """`_steps` for a generator that awaits."""

    @functools.wraps(function)
    async def items(*arguments: Any, **options: Any) -> AsyncIterator[Any]:
        modes, body = _Modes(mode), function(*arguments, **options)
        step = body.asend(None)
        while True:
            try:
                item = await _awaited(modes, step)
            except StopAsyncIteration:
                return
            try:
                step = body.asend((yield item))
            except GeneratorExit:
                await _awaited(modes, body.aclose())
                raise
            except BaseException as error:
                step = body.athrow(error)

    return items
