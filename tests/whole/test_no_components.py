"""A batch of no components obeys the rules of any other: what does not fit is refused, what fits has the right shape.

Every call of `tests.calls` is made as it is, and with one operand, size or number changed, on batches with components
and on one without. What all batches with components refuse, whatever their lengths, the one without has to refuse with
the same class of error; what they answer it has to answer, in the same layout, and with the sizes that are regular.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import EmptyReductionError, IndexOutOfRange, PynestedError, ShapeError, StructureError
from pynested.spec.encoding import Components

from ..batches import ROWS, Batch, Call, Operand, mapped
from ..calls import CALLS
from ..nests import Kind, place

IRREGULAR = (1, 3), (12, 10, 11)  # no number is all lengths of these, and no index in use is too large for the second
EQUAL = (0,), (2,), (1, 1), (4, 4, 4)  # where something regular may be as long as all components are
LISTS = {"nested_array", "as_nested_array"}  # a list of no arrays says nothing of their sizes
BY_VALUE = {"cross_entropy", "embedding"}  # refuse numbers in components
Change = Callable[[Any], Any]


def resized(array: Any, axis: int, more: int) -> Any:
    """An array with ``more`` entries along ``axis``."""
    shape = [*array.shape[:axis], array.shape[axis] + more, *array.shape[axis + 1 :]]
    return np.resize(array, shape).astype(array.dtype)


def wider(operand: Operand, axis: int, more: int) -> Operand:
    """A nested operand with ``more`` entries along a regular axis of its components."""
    given = operand.components
    shape = list(given.shape)
    shape[axis + 1] += more  # type: ignore[operator]
    return Operand(Components([resized(one, axis, more) for one in given], shape, given.dtype), operand.ragged)


def deeper(operand: Operand) -> Operand:
    """A nested operand with one more dimension, of size 1."""
    given = operand.components
    return Operand(Components([one[..., None] for one in given], (*given.shape, 1), given.dtype), operand.ragged)


def changes(value: Any, with_batch: Any) -> Iterator[Change]:
    """Ways to change an argument; ``with_batch`` is the same argument of a larger batch, where it may be larger."""
    if isinstance(value, Operand):
        yield deeper
        for axis, size in enumerate(value.components.shape[1:]):
            if size is not None:
                yield lambda one, axis=axis: wider(one, axis, 1)
                yield lambda one, axis=axis: wider(one, axis, -1)
    elif isinstance(value, np.ndarray):
        yield lambda one: one[None]
        yield lambda one: one[..., None]
        for axis in range(value.ndim == 3, value.ndim):  # the first of three is the batch
            if value.shape[axis] == with_batch.shape[axis]:
                yield lambda one, axis=axis: resized(one, axis, 1)
                yield lambda one, axis=axis: resized(one, axis, 3)
    elif isinstance(value, list | tuple) and len(value) == len(with_batch):  # else it names components
        for i, (part, larger) in enumerate(zip(value, with_batch, strict=True)):
            for change in changes(part, larger):
                yield lambda all_, i=i, change=change: type(all_)(
                    [change(one) if k == i else one for k, one in enumerate(all_)]
                )
    elif type(value) is int and value == with_batch:
        yield from (lambda one, more=more: one + more for more in (1, -1, 7, -7))


def outcome(call: Call, kind: Kind, lengths: tuple[int, ...], change: tuple[int | None, Any]) -> Any:
    """The result of a call, or the class of error that it is refused with."""
    arguments = list(call.arguments(Batch(kind, lengths)))
    i, how = change
    if i is not None:
        arguments[i] = how(arguments[i])
    try:
        given = mapped(lambda one: _placed(one, kind.layout) if isinstance(one, Operand) else one, arguments)
        return call.function(*given, **call.keywords)
    except PynestedError as error:
        return type(error)


@lru_cache(2000)
def _placed(operand: Operand, layout: Any) -> Any:
    return place(operand.components, layout, "packed", operand.ragged).array


def sizes_of(result: Any) -> list[tuple[int, ...]]:
    """The shapes of components of a nested result, or that of a dense one."""
    return [tuple(one) for one in result.component_sizes().tolist()] if _nested(result) else [result.shape]


def _nested(result: Any) -> bool:
    return isinstance(result, pn.NestedArray)


def check_shape(nothing: Any, results: list[Any]) -> None:
    """``nothing`` is of the kind of all ``results``; where their sizes are all equal it has that size, too."""
    assert {type(one) for one in results} == {type(nothing)}
    if isinstance(nothing, tuple):
        if all(len(one) == len(nothing) for one in results):
            for part, *parts in zip(nothing, *results, strict=True):
                check_shape(part, parts)
    elif isinstance(nothing, pn.NestedArray | pn.Array):
        columns = [set(column) for column in zip(*[size for one in results for size in sizes_of(one)], strict=True)]
        assert {one.dtype for one in results} == {nothing.dtype}
        if _nested(nothing):
            assert {one.layout for one in results} == {nothing.layout}
            assert len(nothing) == 0 and nothing.unbind() == ()
        got = [nothing.regular_size(dim) for dim in range(1, nothing.ndim)] if _nested(nothing) else nothing.shape
        wanted = [column.pop() if len(column) == 1 else None for column in columns]
        assert all(a == b or (b is None and not _nested(nothing)) for a, b in zip(got, wanted, strict=True)), (
            got,
            wanted,
        )


def check(call: Call, kind: Kind, change: tuple[int | None, Any]) -> bool:
    """One call on all batches; whether it was refused because of what is regular."""
    met = [outcome(call, kind, lengths, change) for lengths in IRREGULAR]
    refusals = [one for one in met if isinstance(one, type)]
    nothing = outcome(call, kind, (), change)
    if call.op.endswith(("max", "min")) and nothing is EmptyReductionError:  # a maximum of nothing at all
        return False
    if (call.op in BY_VALUE and IndexOutOfRange in refusals) or (nothing is IndexOutOfRange and not refusals):
        return False  # a component by its number
    if (call.op, call.label) == ("getitem", "list") or (call.op == "split" and change[0] == 2):
        return False  # components by their numbers, and pieces along the batch, whose size they add up to
    if len(refusals) < len(met):
        assert not isinstance(nothing, type), f"{change[0]}: {nothing}"
        if not refusals:
            check_shape(nothing, met)
        return False
    if call.op == "reshape_as" or kind.both or any(_answered(call, kind, lengths, change) for lengths in EQUAL):
        return False  # it depends on sizes of which no components have none
    # Of several operands that do not fit an operand of another rank, any may be named.
    allowed = {*refusals, ShapeError, StructureError} if change[1] is deeper else refusals
    assert nothing in allowed, f"{change[0]}: refused with {refusals} and here {nothing}"
    return True


def _answered(call: Call, kind: Kind, lengths: tuple[int, ...], change: tuple[int | None, Any]) -> bool:
    return not isinstance(outcome(call, kind, lengths, change), type)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        pytest.param(call, kind, id=f"{call}-{kind}")
        for call in CALLS
        for kind in call.kinds
        if call.op not in LISTS and (call.op != "embedding" or kind in ROWS)
    ],
)
def test_it_obeys_the_rules_of_any_other(call: Call, kind: Kind) -> None:
    given, larger = (call.arguments(Batch(kind, lengths)) for lengths in ((2, 3), (2, 3, 4, 5, 6)))
    all_changes = [(i, how) for i, pair in enumerate(zip(given, larger, strict=True)) for how in changes(*pair)]
    assert not check(call, kind, (None, None))
    for change in all_changes:
        check(call, kind, change)
