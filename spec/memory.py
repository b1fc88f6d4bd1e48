"""What programs give: a memory of numbered cells, and the definitions of the operators.

An array is a tree of cells: it says in which cell each of its elements lies. A *view* is what the definition of its
operator makes of the cells; every other operator is given the numbers that lie in them, and its result lies in new
cells. A write changes what lies in the cells of an array. So all that has to be known about memory is which operators
are views, and that is `is_view`:

    x                     lies in cells  0 1 2 | 3
    x[:, 1:]              lies in cells  1 2 |
    add(x, x)             lies in cells  4 5 6 | 7
    fill_(x[:, 1:], 9)    what lies in the cells 1 and 2 is 9 now, for x too

A `Machine` runs the steps of a program with these. It knows nothing of gradients and placements: no answer depends on
the latter, and for the former the generator has a machine that also remembers slopes. The layout matters only where an
array is asked what it is made of: see `placement`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .calling import called
from .components import Components, each, stacked
from .creation import FILLED, Stream, is_random, like
from .encoding import Index
from .numerics import NDArray
from .placement import is_contiguous, leaves, part
from .programs import CREATION, PARTS, QUESTIONS, WRITES, Step, operator_of, outs, resolved

__all__ = ["Held", "Machine", "is_view", "leafwise"]

_VIEWS = {
    "transpose", "permute", "unsqueeze", "squeeze", "unflatten", "view", "select", "narrow", "getitem", "unbind",
    "split", "chunk", "detach", "nested_array_from_jagged", "nested_array_from_strided",
}  # fmt: skip


@dataclass(eq=False)
class Held:
    """An array in memory: the cell of each element, and the dtype; what a tape knows about it is in ``history``.

    ``drawn`` says that any elements of its kind are right: they are random, or nobody wrote them.
    """

    places: Any
    dtype: np.dtype[Any]
    history: Any = None
    drawn: bool = False


def is_view(op: str, index: Any = None) -> bool:
    """Return whether the result of an operator lies in the memory of its first operand; that of getitem by an index.

    >>> is_view("transpose"), is_view("clone"), is_view("getitem", (slice(1, None),)), is_view("getitem", ([0, 2],))
    (True, False, True, False)
    """
    entries = index if isinstance(index, tuple) else (index,)
    return op in _VIEWS and not any(isinstance(entry, (list, Held)) for entry in entries)


class Machine:
    """Runs the steps of a program, one after the other, in one layout."""

    def __init__(self, inputs: Mapping[str, Any], layout: str = "jagged") -> None:
        self.cells: list[Any] = []
        self._layout, self._stream = layout, Stream()
        self.names = {name: self.put(value) for name, value in inputs.items()}

    def step(self, step: Step) -> Any:
        """Carry a step out, and return the answer where it is a question."""
        op = step["op"]
        args = [self._resolved(one) for one in step["args"]]
        kwargs = {name: self._resolved(one) for name, one in step.get("kwargs", {}).items()}
        if op in QUESTIONS:
            return self.answer(op, *args)
        if op in WRITES:
            self._write(op, *args)
            return None
        if op == "manual_seed":
            self._stream = Stream(*args)
            return None
        made = self.created(op, args, **kwargs) if op in CREATION else self.made(op, args, kwargs)
        self.names |= zip(outs(step), made if isinstance(made, list) else [made], strict=True)
        return None

    def _resolved(self, value: Any) -> Any:
        return resolved(value, self.names, lambda found: found.items if isinstance(found, Index) else found)

    # --- memory

    def put(self, value: Any, dtype: Any = None) -> Held:
        """Put an array into new cells."""
        places = leafwise(self._new_cells, value)
        return Held(places, np.dtype(dtype or value.dtype))

    def _new_cells(self, numbers: NDArray) -> NDArray:
        first = len(self.cells)
        self.cells += numbers.ravel().tolist()
        return np.arange(first, len(self.cells)).reshape(numbers.shape)

    def read(self, held: Held) -> Any:
        """Return what lies in the cells of an array."""
        return leafwise(lambda places: self._numbers(places, held.dtype), held.places, held.dtype)

    def _numbers(self, places: NDArray, dtype: np.dtype[Any]) -> NDArray:
        return np.array([self.cells[place] for place in places.ravel()], dtype).reshape(places.shape)

    def write(self, held: Held, value: Any) -> None:
        """Write a value, which broadcasts, into the cells of an array."""
        spread = each(lambda places, one: np.broadcast_to(one, places.shape), held.places, value)
        for places, numbers in zip(leaves(held.places), leaves(spread), strict=True):
            for place, number in zip(places.ravel(), self.rounded(numbers, held.dtype).ravel().tolist(), strict=True):
                self.cells[place] = number

    def rounded(self, numbers: NDArray, dtype: np.dtype[Any]) -> NDArray:
        """Return numbers as an array of a dtype keeps them."""
        return numbers.astype(dtype)

    # --- steps

    def made(self, op: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what an operator makes: the same cells in another order, or the numbers in new ones."""
        if is_view(op, args[1] if op == "getitem" else None):
            return self.viewed(op, args, kwargs)
        with np.errstate(all="ignore"):
            define, given = called(op, [self._read(one) for one in args], {n: self._read(v) for n, v in kwargs.items()})
            return self.kept_result(define(**given), list(_held([*args, *kwargs.values()])))

    def created(self, op: str, args: list[Any], dtype: Any = None, requires_grad: bool = False) -> Held:
        """Return a new array, which nothing flows back from; `to_dense` alone is a result of its operand."""
        if op == "to_dense":
            made: Held = self.kept_result(stacked(self.read(args[0])), args)
            return made
        if op.endswith("_like"):
            held, *numbers = args
            kind = np.dtype(dtype or held.dtype)
            made = self.put(like(held.places, lambda shape: self._new(op, shape, *numbers), kind), kind)
        else:
            kind = np.dtype(dtype or np.int64)
            made = self.put(self._new(op, args[-1], *args[:-1]).astype(kind), kind)
        made.drawn = is_random(op) or op == "empty_like"
        return made

    def _new(self, op: str, shape: tuple[int, ...], *numbers: Any) -> NDArray:
        """Return the elements of a new array: random ones, or one number everywhere."""
        if is_random(op):
            return self._stream.drawn(op, shape, *numbers)
        return np.full(shape, FILLED[op] if op in FILLED else numbers[0])

    def viewed(self, op: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what a view makes of the cells of its first operand."""
        first, rest = args[0], [self._read(one) for one in args[1:]]
        define, given = called(op, [first.places, *rest], kwargs)
        made = define(**given)
        whole = made if type(made) is list else [made]
        views = [Held(one, first.dtype) for one in whole]
        return views if type(made) is list else views[0]

    def kept_result(self, result: Any, operands: list[Held]) -> Any:
        """Put the result of an operator into new cells, in the dtype that it has."""
        if type(result) is list:
            return [self.kept_result(one, operands) for one in result]
        floats = [one.dtype for one in operands if one.dtype.kind == "f"]
        wide = result.dtype in (np.float64, np.dtype(object))
        dtype = np.result_type(*floats) if wide and floats else result.dtype
        flat = isinstance(result, Components) and len(result.shape) == 1
        whole = stacked(result) if flat else result
        return self.put(leafwise(lambda one: self.rounded(one, dtype), whole, dtype), dtype)

    def _read(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._read(one) for one in value]
        return self.read(value) if isinstance(value, Held) else value

    def _write(self, op: str, target: Held, *rest: Any) -> None:
        values = [self._read(one) for one in rest]
        if op == "setitem":
            define, given = called("getitem", [target.places, values[0]], {})
            self.write(Held(define(**given), target.dtype), values[1])
        elif op in ("copy_", "fill_"):
            self.write(target, values[0])
        else:
            with np.errstate(all="ignore"):
                define, given = called(operator_of(op), [self.read(target), *values], {})
                self.write(target, define(**given))

    def answer(self, op: str, held: Held, dim: int = 0) -> Any:
        """Return the answer to a question."""
        shape = held.places.shape
        if op == "value":
            return self.read(held)
        if op == "requires_grad":
            return False
        if op in PARTS:
            return part(op, held.places, self.read(held) if op == "values" else held.places, self._layout)
        if op == "is_contiguous":
            return is_contiguous(held.places)
        if op == "numel":
            return sum(one.size for one in leaves(held.places))
        return {"len": shape[0], "dim": len(shape), "size": shape[dim]}[op]


def _held(values: Any) -> Iterator[Held]:
    for value in values:
        if isinstance(value, Held):
            yield value
        elif isinstance(value, list):
            yield from _held(value)


def leafwise(function: Callable[[NDArray], NDArray], tree: Any, dtype: Any = None) -> Any:
    """Return a nested or dense array with a function applied to each part."""
    if not isinstance(tree, Components):
        return function(np.asarray(tree))
    parts = [function(one) for one in tree]
    return Components(parts, tree.shape, parts[0].dtype if parts else (dtype or np.int64))
