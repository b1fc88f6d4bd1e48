"""Decorators of public functions. They show each call to the thread's watchers, and explain a call that does not fit.

`@operator` marks a public function, `@method` a public method with parameters, and `@explain_wrong_calls` a class of
public methods. `@typed_as` is for type checkers only.

`pynested.timeline`, `pynested.trace` and `pynested.compile` are watchers. A watcher is a function that takes a `Call`
and returns the result that the caller receives:

    def print_name(call):
        print(call.name)
        return call.run()

    with watching(print_name):
        x.exp() + 1                    # prints exp, add
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from typing import Any, TypeVar, cast

from .call_errors import raise_better_error
from .thread_values import ThreadValue, ValueChange

Watcher = Callable[["Call"], Any]
Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)

thread_watchers: ThreadValue[Sequence[Watcher]] = ThreadValue(tuple)  # the last watcher sees a call first


class Call:
    """A call of a public function, on its way through the watchers of its thread.

    Attributes
    ----------
    name : str
        The name of the function: ``exp`` for ``pn.exp(x)`` and for ``x.exp()``.
    function : Callable
        The public function itself.
    args, kwargs
        The arguments, which a watcher can replace.
    """

    __slots__ = ("_inner_watchers", "_remaining", "args", "function", "kwargs", "name")

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.name, self.function = function.__name__, function
        self.args, self.kwargs = args, kwargs
        self._remaining: Sequence[Watcher] = thread_watchers.value
        self._inner_watchers = self._remaining  # of the calls that the function makes

    def run(self, *, watched: bool = True) -> Any:
        """Pass the call to the next watcher, or call the function itself if all watchers have seen the call.

        All watchers see the calls that the function makes, too; if ``watched`` is False, only those that come next.
        """
        if not watched:
            self._inner_watchers = self._remaining
        if self._remaining:
            inner_call = copy(self)  # so that a watcher can run its call more than once
            *inner_call._remaining, watcher = self._remaining
            with unwatched():
                return watcher(inner_call)
        with ValueChange(thread_watchers, self._inner_watchers):
            return self.function.__wrapped__(*self.args, **self.kwargs)


def watching(watcher: Watcher) -> ValueChange[Sequence[Watcher]]:
    """Let ``watcher`` see every call of a public function in this thread, ahead of the thread's other watchers."""
    return ValueChange(thread_watchers, (*thread_watchers.value, watcher))


def unwatched() -> ValueChange[Sequence[Watcher]]:
    """Hide the calls of this thread from its watchers."""
    return ValueChange(thread_watchers, ())


def operator(function: Function, *, is_watched: bool = True) -> Function:
    """Let watchers see the calls of a public function, and explain a call that does not fit its signature."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if is_watched and thread_watchers.value:
                return Call(call, args, kwargs).run()
            return function(*args, **kwargs)
        except Exception as error:
            raise_better_error(error, function, args, kwargs)
            raise

    return call  # type: ignore[return-value]


def method(function: Function) -> Function:
    """Raise ArgumentError with an explanation for a call that does not fit the signature.

    Watchers do not see the call. They see the public function that a method calls.
    """
    return operator(function, is_watched=False)


def explain_wrong_calls(cls: Class) -> Class:
    """Apply `@method` to each public method of the class."""
    for name, function in list(vars(cls).items()):
        if inspect.isfunction(function) and not name.startswith("_"):
            setattr(cls, name, method(function))
    return cls


def typed_as(template: Function) -> Callable[[Callable[..., Any]], Function]:
    """Tell type checkers that a function has the overloads of ``template``; the function itself is unchanged."""
    return lambda function: cast(Function, function)
