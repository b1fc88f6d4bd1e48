"""A program: registers that are made of parameters, as two functions of Python, written as text.

One takes whole arrays and makes new ones, for what is small. The other goes through blocks, each of which is in the
cache when the next call reads it; of ``(x + y) * 2``::

    def chain(x0, x1, y0):
        for x0, x1, y0 in zip(x0, x1, y0):
            f0(x0, x1, out=y0)
            f1(y0, c0, out=y0)

NumPy's functions give every element the same bits wherever it lies; but for the sign of a NaN, which they leave open.
Where rows are reduced, a block holds whole ones, ``w`` elements each.
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
from .rows import OF_ROWS, whole

BLOCK_BYTES = 384 * 1024  # of an array of a block; those of a call, three at most, stay in a cache
_ALIGNMENT = 64
_OF_ARRAYS = (np.maximum, np.minimum)  # vectorised for two arrays, not for a number beside one


class Text(NamedTuple):
    """A function that goes through blocks, and what it takes besides them."""

    function: Callable[..., None]
    scratch: list[Place]
    fills: list[NDArray[Any]]  # numbers of which a whole block is wanted


class _Flat(NamedTuple):
    """A flat array that has one element for so many of a block: for each row, where it is narrow."""

    data: NDArray[Any]
    per: int

    def first(self, count: int) -> NDArray[Any]:
        """What belongs to the first elements of a block."""
        return self.data[: count // self.per]

    def spread(self, count: int, row: tuple[int, ...]) -> NDArray[Any]:
        """One element, or what broadcasts behind the first dimension, over so many elements of such rows."""
        shape = (count // self.per,) if self.per > 1 else (count // prod(row), *row)
        return np.broadcast_to(self.data, shape).reshape(-1)


class Program:
    """``program(shape, given)``: the results, each of ``shape``, of something for each parameter.

    What is narrow, of parameters and results, has ``shape`` without the last dimension.

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
        self.itemsize = max(one.dtype.itemsize for one in order)
        self.of_rows = any(one.function in OF_ROWS for one in order)
        self.made = [one for one in dict.fromkeys(results) if one.function is not None]
        self._whole: Callable[..., Any] | None = None
        self._texts: dict[tuple[int, ...], Text] = {}

    def __call__(self, shape: tuple[int, ...], given: Sequence[Any]) -> list[Any]:
        """The results, each of ``shape``, or what is given where that is a result."""
        if not self.made or prod(shape) * max(one.dtype.itemsize for one in self.made) <= LARGE:
            if self._whole is None:
                self._whole = self._of_whole_arrays()
            return self._whole(shape, *given)  # type: ignore[no-any-return]
        found = dict(zip(self.made, self._by_blocks(shape, given), strict=True))
        found.update(zip(self.parameters, given, strict=True))
        return [found[one] for one in self.results]

    def _of_whole_arrays(self) -> Callable[..., Any]:
        names: dict[str, Any] = {}
        place = {one: f"x{i}" for i, one in enumerate(self.parameters)}
        lines = [f"def chain({', '.join(['shape', *place.values()])}):"]
        for i, one in enumerate(self.order):
            place[one] = f"r{i}"
            operands = [place[x] if type(x) is Register else _named(x, names) for x in one.operands]
            function = one.function
            if function in OF_ROWS:
                function, operands = whole(function, one.dtype, one.narrow), ["shape", *operands]
            lines.append(f"    r{i} = {_named(function, names)}({', '.join(operands)})")
        lines.append(f"    return [{', '.join(place[one] for one in self.results)}]")
        return _compiled(lines, names)

    def _by_blocks(self, shape: tuple[int, ...], given: Sequence[Any]) -> list[Any]:
        """What is made, block by block, of contiguous operands and of others that are spread over them."""
        shapes = [shape[:-1] if one.narrow else shape for one in self.parameters]
        cut = tuple(i for i in self.takes if given[i].shape == shapes[i] and any(given[i].strides))
        text = self._texts.get(cut) or self._texts.setdefault(cut, self._of_blocks(cut))
        made = [empty(shape[:-1] if one.narrow else shape, one.dtype) for one in self.made]
        registers = [*[self.parameters[i] for i in cut], *self.made]
        flat = [
            _Flat(np.ascontiguousarray(x).reshape(-1), shape[-1] if one.narrow else 1)
            for x, one in zip((*[given[i] for i in cut], *made), registers, strict=True)
        ]
        others = [i for i in self.takes if i not in cut]
        spread = [_Flat(_least(given[i]), shape[-1] if self.parameters[i].narrow else 1) for i in others]
        row = shape[1:] if any(one.data.ndim for one in spread) else _uncut(shape, self.of_rows)
        size, width = prod(shape), prod(row)
        step = min(max(1, BLOCK_BYTES // self.itemsize // width) * width, size)
        beside = [_Flat(one.spread(step, row), one.per) for one in spread]
        beside += [_Flat(np.full(step, one), 1) for one in text.fills]
        count = size // step
        heads = [one.first(count * step).reshape(count, -1) for one in flat]

        def work(start: int, stop: int) -> None:
            text.function(*[one[start:stop] for one in heads], *self._beside(text, beside, step, shape))

        run(work, shares(count), max(one.data.nbytes for one in flat))
        rest = size - count * step
        if rest:
            tails = [one.data[count * step // one.per :].reshape(1, -1) for one in flat]
            text.function(*tails, *self._beside(text, beside, rest, shape))
        return made

    def _beside(self, text: Text, spread: Sequence[_Flat], count: int, shape: tuple[int, ...]) -> list[Any]:
        """What a text takes besides the blocks, which have so many elements."""
        width = shape[-1:] if self.of_rows else ()
        return [*[one.first(count) for one in spread], *_scratch(text.scratch, count, prod(width)), *width]

    def _of_blocks(self, cut: tuple[int, ...]) -> Text:
        """The function for parameters of which some are cut into blocks."""
        given = {one: Place(f"x{i}", one.dtype, one.narrow) for i, one in enumerate(self.parameters)}
        made = {one: Place(f"y{i}", one.dtype, one.narrow) for i, one in enumerate(self.made)}
        places = Places(self.order, given, made)
        names: dict[str, Any] = {}
        fills: list[NDArray[Any]] = []
        lines = [f"        {_written(one, places, names, fills)}" for one in self.order]
        blocks = ", ".join([*[f"x{i}" for i in cut], *[one.name for one in made.values()]])
        beside = [f"x{i}" for i in self.takes if i not in cut] + [f"z{i}" for i in range(len(fills))]
        beside += [*[one.name for one in places.scratch], *["w"] * self.of_rows]
        head = [f"def chain({', '.join([blocks, *beside])}):", f"    for {blocks}, in zip({blocks}):"]
        return Text(_compiled([*head, *lines], names), places.scratch, fills)


def _uncut(shape: tuple[int, ...], of_rows: bool) -> tuple[int, ...]:
    """The last dimensions that no block may cut: the rows, where something works on whole ones."""
    return shape[-1:] if of_rows else ()


def _written(one: Register, places: Places, names: dict[str, Any], fills: list[NDArray[Any]]) -> str:
    """The call that writes a register into its place."""
    out = places.of[one].name
    if one.function in OF_ROWS:
        lying = [places.of[x] for x in (one, *one.reads)]
        rows = [place.name if place.narrow else f"{place.name}.reshape(-1, w)" for place in lying]
        return f"{_named(one.function, names)}({', '.join(rows)})"
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


def _scratch(places: Sequence[Place], count: int, width: int) -> list[NDArray[Any]]:
    """Arrays of so many elements, or with one for each row of this width, in which the calling thread computes."""
    sizes = [(count // width if one.narrow else count) * one.dtype.itemsize for one in places]
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] - (-size // _ALIGNMENT) * _ALIGNMENT)
    memory = scratch("chain", (starts[-1],), np.dtype(np.uint8))
    return [
        memory[start : start + size].view(one.dtype) for start, size, one in zip(starts, sizes, places, strict=False)
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
