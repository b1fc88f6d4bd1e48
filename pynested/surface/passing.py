"""The one place through which every public call passes, while somebody watches it.

Nobody does most of the time, and then this place is not there: a public function runs its own code. While a thread
watches, each public function runs the code of `_gate` instead, which hands the call to the watchers of its thread. The
function stays the same object. So it passes as ``pn.exp``, as a name that was imported long ago, as the method, by
Python's sign and by NumPy's function. Attributes, as ``shape``, are exchanged in their class.

    def watcher(call):                 # what it gives is what the caller gets
        print(call.name)
        return call.run()

    with watching(watcher):
        x.exp() + 1                    # exp, add
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any

from pynested.autograd import Array
from pynested.autograd.any_array import AnyArray
from pynested.backends.forking import Lock
from pynested.nested.array import NestedArray

Watcher = Callable[["Call"], Any]
PUBLIC: dict[str, FunctionType] = {}  # the functions by their names; `pynested` itself fills it
FUNCTION, METHOD, ATTRIBUTE = "function", "method", "attribute"
_UNWATCHED = frozenset({"__init__", "__dir__", "__array_ufunc__", "__array_function__"})


class Call:
    """One call on its way: what was called, on what, and who has not seen it yet.

    Attributes
    ----------
    name : str
        ``exp``, also where it is called as a method or by a sign; ``NestedArray.values`` for what one class has.
    kind : str
        ``function``, one that is public; ``method`` or ``attribute``, which only a class has.
    function : Callable
        What runs in the end, with the signature that is public.
    args, kwargs
        The arguments as they were given. A watcher may exchange them.
    """

    __slots__ = ("_left", "args", "function", "kind", "kwargs", "name")

    def __init__(self, point: _Point, args: tuple[Any, ...], kwargs: dict[str, Any], left: tuple[Watcher, ...]) -> None:
        self.name, self.kind, self.function = point.name, point.kind, point.function
        self.args, self.kwargs = args, kwargs
        self._left = left

    def run(self, *, watched: bool = True) -> Any:
        """Go on: to the next watcher, and after the last one into the function, in which calls pass again.

        With ``watched=False`` the calls that the function makes pass unseen.
        """
        if self._left:
            self._left, watcher = self._left[:-1], self._left[-1]
            return watcher(self)
        with _watched_by(_here.all if watched else ()):
            return self.function(*self.args, **self.kwargs)


class _Watchers(threading.local):
    """Those of one thread, the first that came first; ``now`` is empty while one of them looks."""

    def __init__(self) -> None:
        self.all: tuple[Watcher, ...] = ()
        self.now: tuple[Watcher, ...] = ()


_here = _Watchers()
_lock = Lock()
_threads = 0  # how many watchers there are in all threads; the gates are there while it is above 0


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Let every public call of this thread pass by ``watcher``, which comes before those that watch already."""
    before = _here.all
    _set_gates(+1)
    try:
        _here.all = (*before, watcher)
        with _watched_by(_here.all):
            yield
    finally:
        _here.all = before
        _set_gates(-1)


@contextmanager
def _watched_by(watchers: tuple[Watcher, ...]) -> Iterator[None]:
    before, _here.now = _here.now, watchers
    try:
        yield
    finally:
        _here.now = before


def _set_gates(more: int) -> None:
    """Count one watcher ``more`` or less; with the first the gates come, with the last they go."""
    global _threads
    with _lock:
        was, _threads = _threads, _threads + more
        if not was or not _threads:
            for point in _points():
                point.open() if _threads else point.close()


# ---- points: what is public, and how its code is exchanged ----------------------------------------------------------


def _gate(*args: Any, **kwargs: Any) -> Any:
    point: Any = "the point"  # a constant of this code; that of a point has the point in its place
    return point.passed(args, kwargs)


class _Point:
    """A public function or method. ``function`` is its own code, without a gate."""

    def __init__(self, name: str, kind: str, public: FunctionType) -> None:
        self.name, self.kind, self.public, self.code = name, kind, public, public.__code__
        self.function = FunctionType(
            self.code, public.__globals__, public.__name__, public.__defaults__, public.__closure__
        )
        self.function.__kwdefaults__, self.function.__qualname__ = public.__kwdefaults__, public.__qualname__
        self.function.__signature__ = self.signature = inspect.signature(public)  # type: ignore[attr-defined]
        constants = tuple(self if one == "the point" else one for one in _gate.__code__.co_consts)
        self.gate = _gate.__code__.replace(
            co_consts=constants, co_freevars=self.code.co_freevars, co_name=self.code.co_name
        )

    def open(self) -> None:
        self.public.__signature__ = self.signature  # type: ignore[attr-defined]
        self.public.__code__ = self.gate

    def close(self) -> None:
        self.public.__code__ = self.code

    def passed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the watchers of this thread make of a call, if there are any."""
        if not _here.now:
            return self.function(*args, **kwargs)
        with _watched_by(()):
            return Call(self, args, kwargs, _here.all).run()


class _Attribute(_Point):
    """An attribute of a class: a property takes the place of another."""

    def __init__(self, kind: type, name: str, own: property) -> None:
        self.name, self.kind, self.owner, self.own = f"{kind.__name__}.{name}", ATTRIBUTE, kind, own
        self.function = own.fget  # type: ignore[assignment]
        self.gated = property(lambda array: self.passed((array,), {}), own.fset, own.fdel, own.__doc__)

    def open(self) -> None:
        setattr(self.owner, self.name.partition(".")[2], self.gated)

    def close(self) -> None:
        setattr(self.owner, self.name.partition(".")[2], self.own)


@cache
def _points() -> list[_Point]:
    """Every public function, and what the classes have besides."""
    points = [_Point(name, FUNCTION, function) for name, function in PUBLIC.items()]
    seen = set(map(id, PUBLIC.values()))
    for kind in (AnyArray, Array, NestedArray):
        points += _points_of(kind, vars(kind), seen)
    return points


def _points_of(kind: type, members: Mapping[str, Any], seen: set[int]) -> Iterator[_Point]:
    for name, member in members.items():
        if name in _UNWATCHED or id(member) in seen or (name.startswith("_") and not name.startswith("__")):
            continue
        if isinstance(member, property):
            yield _Attribute(kind, name, member)
        elif inspect.isfunction(member) and member.__name__ != "<lambda>":  # a sign, which calls the function
            seen.add(id(member))
            own = member.__name__  # ``add_``, which is ``__iadd__`` too
            yield _Point(own if kind is AnyArray else f"{kind.__name__}.{own}", METHOD, member)
