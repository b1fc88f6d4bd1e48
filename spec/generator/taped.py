"""A machine that remembers slopes: programs in exact numbers, and the gradients that their passes leave.

No tape is needed. Each number knows its slope with respect to every element of the inputs that require grad; a pass
adds the slopes of a result, times the cotangent, to what these elements have collected. What is detached forgets.

What `vjp` gives has slopes too, which are second derivatives. They are differences: the program is run once more with
one element a little larger, and with it a little smaller, in so many digits that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..components import Components
from ..memory import Held, Machine, leafwise
from ..numerics import NDArray
from ..placement import leaves
from ..programs import OF_TAPE, QUESTIONS, WRITES, Step, outs
from .exact import MP, Exact, slopes_of
from .nearest import round_to
from .words import Inexact, representable

__all__ = ["Taped"]


class Taped(Machine):
    """Runs a program in exact numbers; ``history`` of an array has the slopes of each of its elements."""

    def __init__(self, inputs: Mapping[str, Any], tracked: Sequence[str], layout: str = "jagged") -> None:
        super().__init__(inputs, layout)
        self._given = inputs, tuple(tracked)
        self._steps: list[Step] = []
        self._own: dict[Held, Any] = {}  # the numbers of the elements of each array that collects its gradient
        self._collected: list[Any] = []
        self._factors: dict[Held, Any] = {}  # what the hooks of an array make of what flows back to it
        for name in tracked:
            self._collect(self.names[name])
        places = [leaves(self.names[name].places) for name in tracked]
        self._leaf_cells = [cell for parts in places for part in parts for cell in part.ravel().tolist()]

    def step(self, step: Step) -> Any:
        """Carry a step out, and return the answer where it is a question."""
        if step["op"] not in OF_TAPE:
            answer = super().step(step)
        else:
            self._of_tape(step)
            answer = None
        self._steps.append(step)
        return answer

    def _of_tape(self, step: Step) -> None:
        first, *rest = [self._resolved(one) for one in step["args"]]
        if step["op"] == "backward":
            self._pull(first, rest[0])
        elif step["op"] == "grad":
            (name,) = outs(step)
            self.names[name] = self._gradient(first)
        elif step["op"] == "vjp":
            (name,) = outs(step)
            self.names[name] = self._brought_with_slopes(step, first, *rest)
        elif step["op"] == "jvp":
            (name,) = outs(step)
            self.names[name] = self._moved_along(first, *rest)
        elif step["op"] == "retain_grad":
            self._collect(first)
        else:
            self._factors[first] = self._factors.get(first, MP.one) * rest[0]
            first.history = leafwise(
                _each(lambda slopes: {n: rest[0] * one for n, one in slopes.items()}), first.history
            )

    def answer(self, op: str, held: Held, dim: int = 0) -> Any:
        """Return the answer to a question."""
        return held.history is not None if op == "requires_grad" else super().answer(op, held, dim)

    # --- numbers that know their slopes

    def rounded(self, numbers: NDArray, dtype: np.dtype[Any]) -> NDArray:
        """Return numbers as an array of a dtype keeps them: floats as exact numbers, rounded once."""
        if dtype.kind != "f":
            return super().rounded(numbers, dtype)
        return _objects([_rounded(number, dtype.name) for number in numbers.ravel().tolist()], numbers)

    def read(self, held: Held) -> Any:
        """Return the numbers of an array; those that are written last, with the slopes of the array."""
        values = super().read(held)
        if held.dtype.kind != "f" or held.history is None:
            return values
        pairs = zip(leaves(values), leaves(held.history), strict=True)
        known = iter(
            [_objects([Exact(v.value, s) for v, s in zip(a.ravel(), b.ravel(), strict=True)], a) for a, b in pairs]
        )
        return leafwise(lambda _: next(known), values, held.dtype)

    def _numbers(self, places: NDArray, dtype: np.dtype[Any]) -> NDArray:
        if dtype.kind != "f":
            return super()._numbers(places, dtype)
        return _objects([_without_slopes(self.cells[place]) for place in places.ravel()], places)

    def write(self, held: Held, value: Any) -> None:
        """Write a value; an array that has slopes has those of what is written from then on."""
        super().write(held, value)
        if held.history is not None:
            held.history = self._slopes(held)

    def _check(self, numbers: Any, dtype: str) -> None:
        if np.dtype(dtype).kind == "f" and not representable(numbers, dtype):
            raise Inexact(f"a program computes numbers that are exact in {dtype}; this result is not")

    def _slopes(self, held: Held) -> Any:
        return leafwise(_each(lambda place: slopes_of(self.cells[place])), held.places)

    def kept_result(self, result: Any, operands: list[Held]) -> Any:
        """Put a result, which is exact, into new cells; if an operand has slopes, it has too."""
        made = super().kept_result(result, operands)
        if isinstance(made, list):
            return made
        self._check(result, made.dtype.name)
        if made.dtype.kind == "f" and any(one.history is not None for one in operands):
            made.history = self._slopes(made)
        return made

    def viewed(self, op: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return a view; its elements have the slopes of those that it shows, unless it is detached."""
        made = super().viewed(op, args, kwargs)
        if args[0].history is not None and op != "detach":
            shown = super().viewed(op, [Held(args[0].history, args[0].dtype), *args[1:]], kwargs)
            several = isinstance(made, list)
            for view, one in zip(made if several else [made], shown if several else [shown], strict=True):
                view.history = one.places
        return made

    def created(self, op: str, args: list[Any], dtype: Any = None, requires_grad: bool = False) -> Held:
        """Return a new array, which collects its gradient where that is asked for."""
        made = super().created(op, args, dtype)
        if requires_grad:
            self._collect(made)
        return made

    # --- gradients

    def _collect(self, held: Held) -> None:
        """Let an array collect its gradient: each of its elements gets a number and the slope 1 with respect to it."""
        first = len(self._collected)
        numbers = iter(range(first, first + sum(one.size for one in leaves(held.places))))
        own = leafwise(_each(lambda _: next(numbers)), held.places)
        self._collected += [None] * sum(one.size for one in leaves(held.places))
        before = held.history if held.history is not None else leafwise(_each(lambda _: {}), held.places)
        factor = self._factors.get(held, MP.one)
        merged = iter([_merged(*pair, factor) for pair in zip(leaves(before), leaves(own), strict=True)])
        held.history = leafwise(lambda _: next(merged), held.places)
        self._own[held] = own

    def _pull(self, result: Held, cotangent: Held) -> None:
        """Add slopes times cotangents to what the elements have collected."""
        for number, brought in self._brought(result, cotangent).items():
            before = self._collected[number]
            self._collected[number] = brought + (MP.zero if before is None else before)

    def _brought(self, result: Held, cotangent: Held) -> dict[int, Any]:
        """Return slopes times cotangents, added up, for each element that a result depends on."""
        found: dict[int, Any] = {}
        for slopes, weights in zip(leaves(result.history), leaves(self.read(cotangent)), strict=True):
            for known, weight in zip(slopes.ravel(), weights.ravel(), strict=True):
                for number, slope in known.items():
                    found[number] = slope * weight.value + found.get(number, MP.zero)
        return found

    def brought(self, result: Held, array: Held, cotangent: Held) -> Any:
        """Return what a cotangent is when it comes to an array that collects its gradient."""
        found = self._brought(result, cotangent)
        return leafwise(_each(lambda number: Exact(found.get(number, MP.zero))), self._own[array])

    def _brought_with_slopes(self, step: Step, *args: Held) -> Held:
        values = self.brought(*args)
        self._check(values, args[1].dtype.name)
        if len(self._collected) > len(self._leaf_cells):
            raise Inexact("second derivatives along what results collect are not reckoned")
        if any(one["op"] in (*WRITES, "detach") for one in self._steps):
            raise Inexact("second derivatives after a write, or beside what is detached, are not reckoned")
        columns = [self._differences(step, number) for number in range(len(self._leaf_cells))]
        rows = iter([{n: slope for n, slope in enumerate(row) if slope} for row in zip(*columns, strict=True)])
        made = self.put(values, args[1].dtype)
        made.history = leafwise(_each(lambda _: next(rows, {})), values)
        return made

    def _moved_along(self, result: Held, array: Held, tangent: Held) -> Held:
        """Return how each element of a result moves: its slopes times the tangents of an array, added up."""
        pairs = zip(leaves(self._own[array]), leaves(self.read(tangent)), strict=True)
        along = {n: v.value for own, by in pairs for n, v in zip(own.ravel(), by.ravel(), strict=True)}

        def one(slopes: Mapping[int, Any]) -> Exact:
            return Exact(MP.fsum(slope * along[n] for n, slope in slopes.items() if n in along))

        history = result.history if result.history is not None else leafwise(_each(lambda _: {}), result.places)
        values = leafwise(_each(one), history)
        self._check(values, result.dtype.name)
        return self.put(values, result.dtype)

    def _differences(self, step: Step, number: int) -> list[Any]:
        """Return how much of what `vjp` gives comes from one element of the leaves."""
        precision = MP.prec
        with MP.workprec(5 * precision):
            by = MP.ldexp(1, -2 * precision)
            above, below = (_Moved(*self._given).after(self._steps, step, number, one) for one in (by, -by))
            slopes = [(a - b) / (2 * by) for a, b in zip(above, below, strict=True)]
        return [+slope if abs(slope) > MP.ldexp(1, -precision) else MP.zero for slope in slopes]

    def _gradient(self, held: Held) -> Held:
        """Return what an array has collected, in memory of its own."""
        collected = {number: Exact(value) for number, value in enumerate(self._collected) if value is not None}
        if held in self._own:
            return self.put(
                leafwise(_each(lambda number: collected.get(number, Exact(0))), self._own[held]), held.dtype
            )
        return self.put(leafwise(_each(lambda _: Exact(0)), held.places), held.dtype)


class _Moved(Taped):
    """A program with one element of its leaves moved by almost nothing, so that nothing is rounded."""

    def after(self, steps: Sequence[Step], last: Step, number: int, by: Any) -> list[Any]:
        """Return what `vjp` gives, as the ``last`` step, where the element of that number is moved."""
        cell = self._leaf_cells[number]
        self.cells[cell] = Exact(MP.mpf(self.cells[cell]) + by)
        for step in steps:
            if step["op"] not in QUESTIONS:
                self.step(step)
        args = [self._resolved(one) for one in last["args"]]
        return [one.value for part in leaves(self.brought(*args)) for one in part.ravel()]

    def rounded(self, numbers: NDArray, dtype: np.dtype[Any]) -> NDArray:
        """Return numbers as they are."""
        return numbers if dtype.kind == "f" else super().rounded(numbers, dtype)

    def _check(self, numbers: Any, dtype: str) -> None:
        """Nothing is written down."""

    def _brought_with_slopes(self, step: Step, *args: Held) -> Held:
        raise Inexact("third derivatives are not reckoned")


def _rounded(number: Any, dtype: str) -> Exact:
    """Return a number of a dtype, with the slopes that it has."""
    exact = number if isinstance(number, Exact) else Exact(number)
    return Exact(MP.mpf(round_to(exact.value, dtype)), slopes_of(number))


def _without_slopes(number: Any) -> Exact:
    return Exact(number.value if isinstance(number, Exact) else number)


def _merged(slopes: NDArray, numbers: NDArray, own: Any) -> NDArray:
    """Return slopes with respect to one more number each."""
    pairs = zip(slopes.ravel(), numbers.ravel().tolist(), strict=True)
    return _objects([{**known, number: own} for known, number in pairs], slopes)


def _each(function: Any) -> Any:
    """Return the function of arrays that applies a function to each element, whatever it gives."""
    return lambda array: _objects([function(one) for one in array.ravel().tolist()], array)


def _objects(numbers: list[Any], like: NDArray) -> NDArray:
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array.reshape(like.shape)


def floats_of(tree: Any, dtype: Any) -> Any:
    """Return exact numbers as floats, for their signs and special values."""
    return leafwise(
        lambda one: np.array([float(n.value) for n in one.ravel()], np.float64).reshape(one.shape), tree, dtype
    )


def is_exact(tree: Any) -> bool:
    """Return whether an answer is of exact numbers."""
    return isinstance(tree, (Components, np.ndarray)) and all(one.dtype == object for one in leaves(tree))
