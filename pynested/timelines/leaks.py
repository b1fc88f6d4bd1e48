"""Nothing but the result is alive: `leak_check`."""

from __future__ import annotations

import gc
import sys
import weakref
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

from pynested.autograd import Array
from pynested.autograd.function import Context
from pynested.autograd.rules.rule import Rule
from pynested.autograd.tape import Line
from pynested.backends.storage import Storage
from pynested.nested.array import NestedArray

from .names import variables

Result = TypeVar("Result")
_OPENED = (Array, NestedArray, Line, Rule, Context, tuple, list, dict)  # what a result is looked for in


class leak_check:
    """A block at whose end nothing that was made in it is alive, but what is named as a `result`.

    A result keeps its gradient and its history alive. What only the garbage collector would free is a leak, so it does
    not run inside. AssertionError where something is left, with its bytes and who holds it.

    Examples
    --------
    >>> with pn.leak_check() as check:
    ...     y = check.result(pn.exp(pn.zeros(3)) + 1)
    """

    def __init__(self) -> None:
        self._results: list[Any] = []

    def __enter__(self) -> Self:
        self._collects = gc.isenabled()
        gc.disable()
        self._before = weakref.WeakSet(Storage.living())
        return self

    def result(self, value: Result) -> Result:
        """Allow ``value`` to stay, an array or a container of them; it is given back."""
        self._results.append(value)
        return value

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._check(sys._getframe(1))
        finally:
            self._results.clear()
            if self._collects:
                gc.enable()

    def _check(self, frame: FrameType) -> None:
        """No collection runs before all is counted: it would free what only a collection frees."""
        allowed = _reached(self._results)
        left = {id(one): weakref.ref(one) for one in Storage.living() if one not in self._before}
        names = variables(frame)
        found = [(link, names.get(key, [])) for key, link in left.items() if key not in allowed]
        if found:
            raise AssertionError(_told(found))


def _reached(values: list[Any]) -> set[int]:
    """The storages that arrays among ``values`` hold, by id: their own, those of gradients and of history."""
    waiting, seen, found = list(values), set(), set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) is Storage:
            found.add(id(value))
        elif isinstance(value, _OPENED):
            waiting += gc.get_referents(value)
    return found


def _told(found: list[tuple[weakref.ref[Storage], list[str]]]) -> str:
    """What is left, and who holds it; in a cycle where a collection of garbage frees it."""
    words = []
    for link, names in found:
        storage = link()
        if storage is None:
            continue
        holder = f"held by {', '.join(names)}" if names else "held by no variable of this block"
        words.append((link, f"{storage.data.nbytes:,} bytes on {storage.device}, {holder}"))
    del storage
    gc.collect()
    lines = [text if link() is not None else f"{text.partition(',')[0]}, in a cycle" for link, text in words]
    return f"leak_check: {len(lines)} storages are alive that are no part of a result: {'; '.join(lines)}."
