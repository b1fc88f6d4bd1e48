"""The one place through which every public call passes, while somebody watches it.

Nobody does most of the time, and then this place is not there: a public function runs its own code. While a thread
watches, each public function runs the code of a gate instead, which hands the call to the watchers of its thread. The
function stays the same object. So it passes as ``pn.exp``, as a name that was imported long ago, as the method, by
Python's sign and by NumPy's function. Attributes, as ``shape``, are exchanged in their class.

    def watcher(call):                 # what it gives is what the caller gets
        print(call.name)
        return call.run()

    with watching(watcher):
        x.exp() + 1                    # exp, add

A watcher may also ask for steps, functions inside that are not public: a rule, a verb, a launch. They pass in the same
way, by those only who asked for them.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import RLock as Lock
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from pynested.autograd import Array, Function
from pynested.autograd.array_methods import ArrayMethods
from pynested.autograd.array_methods.fill_methods import FillMethods
from pynested.autograd.array_methods.in_place import InPlaceMethods
from pynested.autograd.array_methods.python_operators import PythonOperators
from pynested.autograd.array_methods.shape_methods import ShapeMethods
from pynested.autograd.protocols import ArrayProtocols
from pynested.nested.nested_array import NestedArray

Watcher = Callable[["Call"], Any]
PUBLIC: dict[str, FunctionType] = {}  # the functions by their names; `pynested` itself fills it
FUNCTION, METHOD, ATTRIBUTE, SETTING, STEP = "function", "method", "attribute", "setting", "step"
_UNWATCHED = frozenset({"__init__", "__dir__", "__array_ufunc__", "__array_function__"})


class Call:
    """One call on its way: what was called, on what, and who has not seen it yet.

    Attributes
    ----------
    name : str
        ``exp``, also where it is called as a method or by a sign; ``NestedArray.values`` for what one class has.
    kind : str
        ``function``, one that is public; ``method`` or ``attribute``, which only a class has; ``setting``, where an
        attribute is given a value: ``Array.grad=``; ``step``.
    function : Callable
        What runs in the end, with the signature that is public.
    public : Callable
        The same, as those who call it see it: a call of it passes again, where somebody watches.
    args, kwargs
        The arguments as they were given. A watcher may exchange them.
    """

    __slots__ = ("_left", "args", "function", "kind", "kwargs", "name", "public")

    def __init__(self, point: Point, args: tuple[Any, ...], kwargs: dict[str, Any], left: tuple[_Eye, ...]) -> None:
        self.name, self.kind, self.function, self.public = point.name, point.kind, point.function, point.public
        self.args, self.kwargs = args, kwargs
        self._left = left

    def run(self, *, watched: bool = True) -> Any:
        """Go on: to the next watcher, and after the last one into the function, in which calls pass again.

        With ``watched=False`` the calls that the function makes pass unseen.
        """
        if self._left:
            self._left, eye = self._left[:-1], self._left[-1]
            return eye.watcher(self)
        with _watched_by(_here.all if watched else ()):
            return self.function(*self.args, **self.kwargs)


class _Eye(NamedTuple):
    """A watcher, and the steps that it asked for."""

    watcher: Watcher
    steps: frozenset[Point]


class _Eyes(threading.local):
    """Those of one thread, the first that came first; ``now`` is empty while one of them looks."""

    def __init__(self) -> None:
        self.all: tuple[_Eye, ...] = ()
        self.now: tuple[_Eye, ...] = ()


_here = _Eyes()
_lock = Lock()


def watchers() -> list[Watcher]:
    """Those who watch what this thread calls now."""
    return [eye.watcher for eye in _here.now]


def all_see(point: Point) -> bool:
    """Whether everybody who watches this thread asked for a step, and so sees what happens in the place of it."""
    return all(point in eye.steps for eye in _here.now)


@contextmanager
def unwatched() -> Iterator[None]:
    """Let nobody who watches this thread see what it calls, but who begins inside."""
    with _watched_by(()):
        before, _here.all = _here.all, ()
        try:
            yield
        finally:
            _here.all = before


@contextmanager
def watching(watcher: Watcher, steps: Iterable[Point] = ()) -> Iterator[None]:
    """Let every public call of this thread pass by ``watcher``, which comes before those that watch already.

    ``steps`` are functions inside that pass by it too; see `step`.
    """
    eye = _Eye(watcher, frozenset(steps))
    points = [*_points(), *eye.steps]
    _set_gates(points, +1)
    try:
        _here.all, _here.now = (*_here.all, eye), (*_here.now, eye)
        yield
    finally:  # one who came later may watch on, as where a generator ends first
        _here.all, _here.now = _without(eye, _here.all), _without(eye, _here.now)
        _set_gates(points, -1)


def _without(eye: _Eye, eyes: tuple[_Eye, ...]) -> tuple[_Eye, ...]:
    return tuple([one for one in eyes if one is not eye])


@contextmanager
def _watched_by(eyes: tuple[_Eye, ...]) -> Iterator[None]:
    before, _here.now = _here.now, eyes
    try:
        yield
    finally:
        _here.now = tuple([eye for eye in before if eye in _here.all])  # some may have left meanwhile


def _set_gates(points: Iterable[Point], more: int) -> None:
    """Count one watcher ``more`` or less, of all threads; with the first the gates come, with the last they go."""
    with _lock:
        for point in points:
            was, point.watchers = point.watchers, point.watchers + more
            if not was:
                point.open()
            elif not point.watchers:
                point.close()


# ---- points: what is public, and how its code is exchanged ----------------------------------------------------------


class Point:
    """A public function or method, or a step. ``function`` is its own code, without a gate."""

    watchers = 0

    def __init__(self, name: str, kind: str, public: FunctionType) -> None:
        self.name, self.kind, self.public, self.code = name, kind, public, public.__code__
        self.function, self.signature = copied(public), inspect.signature(public)
        self.function.__signature__ = self.signature  # type: ignore[attr-defined]
        self.gate = code_of("*args, **kwargs", "return point.passed(args, kwargs)", self.code, point=self)

    def open(self) -> None:
        """Put the gate in the place of the code."""
        self.public.__signature__ = self.signature  # type: ignore[attr-defined]
        self.public.__code__ = self.gate

    def close(self) -> None:
        """Put the code back."""
        self.public.__code__ = self.code

    def passed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the watchers of this thread make of a call, if there are any."""
        eyes = _here.now
        if self.kind == STEP:
            eyes = tuple([eye for eye in eyes if self in eye.steps])
        if not eyes:
            return self.function(*args, **kwargs)
        with _watched_by(()):
            return Call(self, args, kwargs, eyes).run()


def own_code(function: FunctionType) -> CodeType:
    """The code of a function, where a gate may stand in its place."""
    return next((one.code for one in function.__code__.co_consts if isinstance(one, Point)), function.__code__)


class _Attribute(Point):
    """An attribute of a class: a property takes the place of another."""

    def __init__(self, kind: type, name: str, own: property) -> None:
        self.name, self.kind, self.owner, self.own = f"{kind.__name__}.{name}", ATTRIBUTE, kind, own
        self.function = self.public = own.fget  # type: ignore[assignment]
        fset = _Setting(self.name, own.fset).set if own.fset else None
        self.gated = property(lambda array: self.passed((array,), {}), fset, own.fdel)
        self.gated.__doc__ = own.__doc__

    def open(self) -> None:
        setattr(self.owner, self.name.partition(".")[2], self.gated)

    def close(self) -> None:
        setattr(self.owner, self.name.partition(".")[2], self.own)


class _Setting(Point):
    """What sets an attribute."""

    def __init__(self, name: str, fset: Callable[[Any, Any], None]) -> None:
        self.name, self.kind = f"{name}=", SETTING
        self.function = self.public = fset  # type: ignore[assignment]

    def set(self, array: Any, value: Any) -> None:
        """Set it, past those who watch."""
        self.passed((array, value), {})


@cache
def step(name: str, function: FunctionType) -> Point:
    """What `watching` takes for a function that is not public; a call of it passes with this ``name``."""
    return Point(name, STEP, function)


@cache
def _points() -> list[Point]:
    """Every public function, and what the classes have besides."""
    points = [Point(name, FUNCTION, function) for name, function in PUBLIC.items()]
    points.append(Point("Function.apply", METHOD, vars(Function)["apply"].__func__))
    shared: dict[str, Any] = {}  # the methods of both classes that do not call a public function of their name
    for methods in (PythonOperators, ShapeMethods, InPlaceMethods, FillMethods):
        shared |= {name: member for name, member in vars(methods).items() if name not in PUBLIC}
    shared = {name: member for name, member in shared.items() if not name.startswith("__") or name in _CALLED_BY_PYTHON}
    points += _points_of(ArrayMethods, {name: one for name, one in shared.items() if name not in _SHAPES})
    points += _points_of(Array, vars(ArrayProtocols))
    for kind in (Array, NestedArray):
        points += _points_of(kind, vars(kind))
    return points


_CALLED_BY_PYTHON = frozenset({"__setitem__", "__contains__", "__iter__"})
_SHAPES = frozenset({"permute", "reshape", "view"})


def _points_of(kind: type, members: Mapping[str, Any]) -> Iterator[Point]:
    for name, member in members.items():
        if name in _UNWATCHED or name in PUBLIC or (name.startswith("_") and not name.startswith("__")):
            continue
        if isinstance(member, property):
            yield _Attribute(kind, name, member)
        elif inspect.isfunction(member):
            yield Point(name if kind is ArrayMethods else f"{kind.__name__}.{name}", METHOD, member)


def copied(function: FunctionType) -> FunctionType:
    """Another function object of the same code, defaults, closure, names and attributes."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    for name in ("__kwdefaults__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        setattr(made, name, getattr(function, name))
    vars(made).update(vars(function))
    return made


def code_of(parameters: str, body: str, like: CodeType, **objects: Any) -> CodeType:
    """The code of a function of one line, to be put into one whose code is ``like`` this.

    That function's closure stays, so the code has to have its variables, though it does not look at them. ``objects``
    are known in the body by their names.
    """
    first = "; ".join(f"{name} = {name!r}" for name in objects)
    made = _compiled(f"def words({parameters}): {first}; {body}", like.co_freevars)
    constants = tuple(objects.get(one, one) if isinstance(one, str) else one for one in made.co_consts)
    return made.replace(
        co_consts=constants, co_name=like.co_name, co_qualname=like.co_qualname, co_linetable=_in_first_line(made)
    )


def _in_first_line(code: CodeType) -> bytes:
    """The table of lines of a code that lies in its first line, in no column.

    An entry is for up to 8 words of 2 bytes. Python writes past its own memory where a table is longer than its code.
    """
    whole, rest = divmod(len(code.co_code) // 2, 8)
    sizes = [8] * whole + [rest] * bool(rest)
    return b"".join(bytes([0b1_1101_000 | size - 1, 0]) for size in sizes)


@cache
def _compiled(text: str, variables: tuple[str, ...]) -> CodeType:
    """The code of the function in ``text``, which is inside another that has the ``variables``."""
    outer = compile(f"def outer({', '.join(variables)}):\n {'; '.join([text, *variables])}", "<words>", "exec")
    (made,) = (one for one in _codes(outer) if one.co_name == "words")
    return made


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)
