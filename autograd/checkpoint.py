"""`checkpoint`: compute now, forget what the derivative needs, and compute again when it is asked for."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from pynested.backends import Storage, get_backend
from pynested.backends.dtypes import computing_dtype, epsilon, is_float, smallest_normal
from pynested.backends.errors import GradientError
from pynested.backends.host import to_host
from pynested.backends.memory import with_room
from pynested.backends.numpy.running import quiet

from . import random
from .array import Array
from .containers import flatten
from .default_device import get_default_device, set_default_device
from .default_dtype import get_default_dtype, set_default_dtype
from .dispatch import operator
from .graph import boundary, lines_before, nodes_between, pull_back, push_forward
from .modes import Mode
from .pending import Pending
from .rules.rule import Rule, hang
from .tape import OFF, RECORDING, Line, held, now, source_of, state


@operator
def checkpoint(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)``, of which arguments and results alone are kept for the gradient; a pass computes again.

    Gradients of any order flow, also to arrays that the function uses without being given them. The default device is
    the same again, and so are random numbers from the default generator; a generator of your own goes on, so that the
    result is another one.

    Raises
    ------
    GradientError
        In the backward pass. If an argument, a result, or another array that the derivative needs was written to after
        the call; the message says which. If the function gives another result when it is called again: other shapes or
        dtypes, another integer or bool, or a float that differs by more than rounding. That is 256 eps, and at most
        sqrt(eps), times the largest magnitude in its array. A 0 is never rounding, but for a subnormal number.

    Notes
    -----
    Why so much: pynested adds up in one order, but a library that the function uses may take another one, with other
    threads or at another address. Then a sum of n numbers is off by about sqrt(n) eps of the largest, and what is
    made of it by a few times that: 256 eps are enough for 65,536 numbers. Halves are rounded once, after the sum. A 0
    that was none before comes from another mask, and hardly ever from a sum that cancels.

    What is not seen: a write through NumPy, or into an array without gradient, that changes a gradient but no result;
    and what changes an element by less than that, beside one that is larger by far.

    Examples
    --------
    >>> import pynested as pn
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> pn.checkpoint(lambda x: (x * x).sum(), x).backward()
    >>> x.grad
    array([2., 4.])
    """
    if state.mode == OFF:
        return function(*arguments)
    return _Checkpoint(function, arguments).recorded()


class _Used(NamedTuple):
    """An array that the call read or made, and how often its memory had been written to; it keeps nothing alive."""

    what: str
    shape: tuple[int, ...]
    storage: weakref.ref[Storage]
    version: int


class _Checkpoint(Rule):
    """One call that is to be repeated: the rule of its own line, which saves the arguments and then the results."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.name = f"checkpoint of {getattr(function, '__name__', function)}"
        self.function = function
        self.stream = random.get_state()
        self.device, self.dtype = get_default_device(), get_default_dtype()
        self.arrays, self.rebuild = flatten(arguments)
        self.count = len(self.arrays)

    def recorded(self) -> Any:
        """The outputs, hanging from a line whose sources are all that they depend on."""
        start = now()
        results, rebuild = flatten(self.function(*self.rebuild(self.arrays)))
        ends = [source_of(result) for result in results]
        sources = boundary(ends, start)
        fresh = [result.detach() for result in results]
        for one, result in zip(fresh, results, strict=True):
            one.guard = result.guard
        self.differentiable = [result.requires_grad for result in results]
        if sources:
            used = _used(self.arrays, results, sources, lines_before(ends, start))
            del results, result, ends  # and with them what the call made on its way
            self.used = [one for one in used if one.storage() is not None]
            line = Line(self, tuple(sources), (), (), None)
            inputs = [held(array, source_of(array)) for array in self.arrays]
            line.save((*inputs, *[result.detach() for result in fresh]), None)
            hang(fresh, line, self.differentiable)
        self.arrays = []
        return rebuild(fresh)

    def again(self, line: Line) -> list[Array]:
        """The results of another call on what was saved."""
        for what, shape, storage, version in self.used:
            memory = storage()
            if memory is not None and memory.version != version:
                raise GradientError(
                    f"{self.name}: {what}, of shape {shape}, was overwritten in place after the call, so another call "
                    "would not give the same. Use the functional form (x = x.mul(2) for x.mul_(2)), or clone before "
                    "writing."
                )
        saved = line.saved()[0]
        with (
            Mode(state.mode or RECORDING),
            random.drawn_again(self.stream),
            set_default_device(self.device),
            set_default_dtype(self.dtype),
        ):
            results = flatten(self.function(*self.rebuild(saved[: self.count])))[0]
        self.compare(saved[self.count :], results)
        return results

    def compare(self, before: tuple[Array, ...], after: list[Array]) -> None:
        """Raise where the results of two calls differ."""
        different = "" if len(before) == len(after) else f"{len(after)} arrays instead of {len(before)}"
        for i, (old, new) in enumerate(zip(before, after, strict=False)):
            if not different and (found := _difference(old, new, self.differentiable[i])):
                different = f"array {i}: {found}"
        if different:
            raise GradientError(
                f"{self.name}: called again on the same arguments, it gave another result: {different}. What the "
                "function uses besides its arguments must be the same again: counters, other arrays, a generator of "
                "your own."
            )

    def pull(self, line: Line, cotangent: Any, pending: Pending, needed: set[Any] | None) -> None:
        """Call again, recorded, and pull back to where the lines of that call begin."""
        start = now()
        nodes = [source_of(result) for result in self.again(line)]
        seeds = [(node, given) for node, given in zip(nodes, cotangent, strict=True) if given is not None]
        until = {source for source in line.sources if needed is None or source in needed}
        between = nodes_between([node for node, _ in seeds], until, start)
        inner = pull_back(seeds, graph=pending.graph, keep=pending.graph, needed=between, until=until)
        pending.exposed |= inner.exposed
        for source in until:
            if source in inner.cotangents:
                pending.add(source, inner.cotangents[source])

    def push(self, line: Line, tangents: list[Any]) -> Any:
        """Call again, recorded, and push forward from where the lines of that call begin."""
        start = now()
        nodes = [source_of(result) for result in self.again(line)]
        given = {source: t for source, t in zip(line.sources, tangents, strict=True) if t is not None}
        return push_forward(given, nodes, start) if given else None


def _used(arguments: list[Array], results: list[Array], sources: Iterable[Any], lines: Iterable[Line]) -> list[_Used]:
    """What must stay as it is until the pass: arguments, results, leaves, and what the lines of the call have saved."""
    named = [(f"array {i} of the arguments", x) for i, x in enumerate(arguments)]
    named += [(f"array {i} of the results", x) for i, x in enumerate(results)]
    saved = [x for line in lines for x in (*(line.inputs or ()), line.output)]
    others = [x for x in (*sources, *saved) if type(x) is Array]
    named += [("an array that the function uses", x) for x in others]
    by_memory = {id(x.storage): (what, x) for what, x in reversed(named)}  # under its first name
    return [_Used(what, x.shape, weakref.ref(x.storage), x.storage.version) for what, x in by_memory.values()]


@with_room
def _difference(old: Array, new: Array, differentiable: bool) -> str:
    """What is different about two results, in words; nothing where only floats were rounded differently."""
    for what, before, after in (
        ("shape", old.shape, new.shape),
        ("dtype", old.dtype, new.dtype),
        ("device", old.device, new.device),
        ("requires_grad", differentiable, new.requires_grad),
    ):
        if before != after:
            return f"{what} {after} instead of {before}"
    xp, (x, y) = get_backend(old.device).xp, (old.data, new.data)
    same = x == y
    if bool(same.all()):
        return ""
    same |= (x != x) & (y != y)
    if is_float(old.dtype):
        same |= _near(xp, x, y)
        if bool(same.all()):
            return ""
    at = tuple(int(i) for i in np.argwhere(~to_host(same))[0])
    return f"element {at} is {y[at].item()!r} instead of {x[at].item()!r}"


@quiet
def _near(xp: Any, x: Any, y: Any) -> Any:
    """Where two finite numbers differ by what other orders of sums make: of the largest of all, and never from 0."""
    eps, subnormal = epsilon(x.dtype), smallest_normal(x.dtype)
    x, y = x.astype(computing_dtype(x.dtype)), y.astype(computing_dtype(y.dtype))
    finite, larger = xp.isfinite(x) & xp.isfinite(y), xp.maximum(abs(x), abs(y))
    near = abs(x - y) <= min(256 * eps, eps**0.5) * xp.where(finite, larger, 0).max()
    return near & (((x == 0) == (y == 0)) | (larger < subnormal))
