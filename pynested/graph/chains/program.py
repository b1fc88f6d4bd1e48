"""A program: registers that are made of parameters, as two functions of Python, written as text.

One takes whole arrays and makes new ones, for what is small. The other goes through blocks, each of which is in the
cache when the next call reads it; of ``(x + y) * 2``::

    def chain(x0, x1, y0):
        for x0, x1, y0 in zip(x0, x1, y0):
            f0(x0, x1, out=y0)
            f1(y0, c0, out=y0)

NumPy's functions give every element the same bits wherever it lies; but for the sign of a NaN, which they leave open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.backends.memory import LARGE, empty
from pynested.backends.numpy.running import run, scratch, shares

from .kernels import kernel_of
from .places import Place, Places
from .registers import Register, in_order, resolved

BLOCK_BYTES = 1280 * 1024  # of all arrays of a block together; those of a call, three at most, stay in a cache
_ALIGNMENT = 64
_OF_ARRAYS = (np.maximum, np.minimum)  # vectorised for two arrays, not for a number beside one


class Text(NamedTuple):
    """A function that goes through blocks, and what it takes besides them."""

    function: Callable[..., None]
    scratch: list[np.dtype[Any]]
    fills: list[NDArray[Any]]  # numbers of which a whole block is wanted


class Program:
    """``program(shape, given)``: the results, each of ``shape``, of something for each parameter.

    Parameters
    ----------
    parameters, results : list of Register
        What is given, and what is to come out; a parameter may be a result.

    Attributes
    ----------
    takes : tuple of int
        The parameters that it needs; the others may be None.
    """

    def __init__(self, parameters: Sequence[Register], results: Sequence[Register]) -> None:
        order = [*in_order(results)]
        needed = frozenset(order)
        self.parameters, self.results = list(parameters), list(results)
        self.order = [one for one in order if one.function is not None]
        self.takes = tuple(i for i, one in enumerate(parameters) if one in needed)
        self.made = [one for one in dict.fromkeys(results) if one.function is not None]
        self._whole: Callable[..., Any] | None = None
        self._texts: dict[tuple[int, ...], Text] = {}

    def __call__(self, shape: tuple[int, ...], given: Sequence[Any]) -> list[Any]:
        """The results, each of ``shape``, or what is given where that is a result."""
        if not self.made or prod(shape) * max(one.dtype.itemsize for one in self.made) <= LARGE:
            if self._whole is None:
                self._whole = self._of_whole_arrays()
            return self._whole(*given)  # type: ignore[no-any-return]
        found = dict(zip(self.made, self._by_blocks(shape, given), strict=True))
        found.update(zip(self.parameters, given, strict=True))
        return [found[one] for one in self.results]

    def _of_whole_arrays(self) -> Callable[..., Any]:
        names: dict[str, Any] = {}
        place = {one: f"x{i}" for i, one in enumerate(self.parameters)}
        lines = [f"def chain({', '.join(place.values())}):"]
        for i, one in enumerate(self.order):
            place[one] = f"r{i}"
            operands = [place[x] if type(x) is Register else _named(x, names) for x in one.operands]
            lines.append(f"    r{i} = {_named(one.function, names)}({', '.join(operands)})")
        lines.append(f"    return [{', '.join(place[one] for one in self.results)}]")
        return _compiled(lines, names)

    def _by_blocks(self, shape: tuple[int, ...], given: Sequence[Any]) -> list[Any]:
        """What is made, block by block, of contiguous operands and of others that are spread over them."""
        cut = tuple(i for i in self.takes if given[i].shape == shape and any(given[i].strides))
        text = self._texts.get(cut) or self._texts.setdefault(cut, self._of_blocks(cut))
        made = [empty(shape, one.dtype) for one in self.made]
        flat = [np.ascontiguousarray(one).reshape(-1) for one in (*[given[i] for i in cut], *made)]
        spread = [_least(given[i]) for i in self.takes if i not in cut]
        row = shape[1:] if any(one.ndim for one in spread) else ()
        width = prod(row)
        sizes = [*[one.itemsize for one in (*flat, *spread, *text.fills)], *[one.itemsize for one in text.scratch]]
        step = max(1, BLOCK_BYTES // sum(sizes) // width) * width
        step = min(step, flat[0].size)
        beside = [np.broadcast_to(one, (step // width, *row)).reshape(-1) for one in spread]
        beside += [np.full(step, one) for one in text.fills]
        count = flat[0].size // step
        heads = [one[: count * step].reshape(count, step) for one in flat]

        def work(start: int, stop: int) -> None:
            text.function(*[one[start:stop] for one in heads], *beside, *_scratch(text.scratch, step))

        run(work, shares(count), made[0].nbytes)
        rest = flat[0].size - count * step
        if rest:
            tails = [one[count * step :].reshape(1, rest) for one in flat]
            text.function(*tails, *[one[:rest] for one in beside], *_scratch(text.scratch, rest))
        return made

    def _of_blocks(self, cut: tuple[int, ...]) -> Text:
        """The function for parameters of which some are cut into blocks."""
        given = {one: Place(f"x{i}", one.dtype) for i, one in enumerate(self.parameters)}
        made = {one: Place(f"y{i}", one.dtype) for i, one in enumerate(self.made)}
        places = Places(self.order, given, made)
        names: dict[str, Any] = {}
        fills: list[NDArray[Any]] = []
        lines = [f"        {_written(one, places, names, fills)}" for one in self.order]
        blocks = ", ".join([*[f"x{i}" for i in cut], *[one.name for one in made.values()]])
        beside = [f"x{i}" for i in self.takes if i not in cut] + [f"z{i}" for i in range(len(fills))]
        beside += [one.name for one in places.scratch]
        head = [f"def chain({', '.join([blocks, *beside])}):", f"    for {blocks}, in zip({blocks}):"]
        return Text(_compiled([*head, *lines], names), [one.dtype for one in places.scratch], fills)


def _written(one: Register, places: Places, names: dict[str, Any], fills: list[NDArray[Any]]) -> str:
    """The call that writes a register into its place."""
    out = places.of[one].name
    if not isinstance(one.function, np.ufunc):
        operands = [places.of[x].name if type(x) is Register else _named(x, names) for x in one.operands]
        given = [out, *operands, *[place.name for place in places.beside[one]]]
        return f"{_named(kernel_of(one), names)}({', '.join(given)})"
    texts = []
    for x, dtype in zip(one.operands, resolved(one.function, one.operands), strict=False):
        if type(x) is Register:
            texts.append(places.of[x].name)
        elif one.function in _OF_ARRAYS:
            texts.append(f"z{len(fills)}")
            fills.append(np.asarray(x, dtype))
        else:
            texts.append(_named(np.asarray(x, dtype), names))
    return f"{_named(one.function, names)}({', '.join(texts)}, out={out})"


def _least(x: NDArray[Any]) -> NDArray[Any]:
    """One element where all are the same one, as in a cotangent of ones; otherwise x."""
    return x if any(x.strides) else x[(0,) * x.ndim]


def _scratch(dtypes: Sequence[np.dtype[Any]], count: int) -> list[NDArray[Any]]:
    """Arrays of so many elements, in which the calling thread computes."""
    sizes = [-(-count * dtype.itemsize // _ALIGNMENT) * _ALIGNMENT for dtype in dtypes]
    memory = scratch("chain", (sum(sizes),), np.dtype(np.uint8))
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [
        memory[start : start + count * dtype.itemsize].view(dtype) for start, dtype in zip(starts, dtypes, strict=True)
    ]


def _named(thing: Any, names: dict[str, Any]) -> str:
    """The name under which the text knows a function or a number."""
    for name, one in names.items():
        if one is thing:
            return name
    name = f"{'f' if callable(thing) else 'c'}{len(names)}"
    names[name] = thing
    return name


def _compiled(lines: Sequence[str], names: dict[str, Any]) -> Callable[..., Any]:
    """The function that the text defines."""
    text = "\n".join(lines) + "\n"
    space = dict(names)
    exec(compile(text, "<chain>", "exec"), space)
    made: Callable[..., Any] = space["chain"]
    made.__doc__ = text
    return made
