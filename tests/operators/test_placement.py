"""Gaps, overlaps, order and strides of components in a buffer never show in a result.

Hypothesis draws a sample input and where each component lies: anywhere in a buffer, in any order, over one another, in
the strided layout with any strides, 0 among them. The rest of the buffer contains NaN. The result must be that of the
same components in contiguous arrays. The gradient of the buffer must be the sum of theirs at each element, and +0 in
gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

import pynested as pn
from pynested.spec.encoding import Components

from ..batches import Batch, Call, Operand
from ..calls import CALLS
from ..nests import (
    BOTH,
    JAGGED,
    JAGGED_2,
    STRIDED,
    Kind,
    Numbers,
    Placed,
    cotangent_like,
    place,
    plain,
    poison,
    pull_back,
)

LISTS = {"nested_array", "as_nested_array"}  # take arrays one by one
SPARE = 6  # elements, or rows, of the buffer beyond those of the longest component
lengths = st.lists(st.sampled_from([0, 0, 1, 1, 2, 3]), min_size=1, max_size=4).map(tuple)


def fill(elements: Numbers, index: list[Numbers], size: int) -> Numbers:
    """Return a buffer with elements of an operand wherever a component lies, and `poison` elsewhere."""
    buffer = np.full(size, poison(elements.dtype), elements.dtype)
    held = np.unique(np.concatenate([part.ravel() for part in index]))
    buffer[held] = np.resize(elements, held.size)
    return buffer


def draw_jagged(data: st.DataObject, operand: Operand) -> Placed:
    """Draw the rows of a buffer at which each component begins."""
    parts, axis = operand.components, operand.ragged - 1
    counts = [part.shape[axis] for part in parts]
    rows = max(counts) + SPARE
    starts = [data.draw(st.integers(0, rows - count)) for count in counts]
    shape = [*parts[0].shape[:axis], rows, *parts[0].shape[axis + 1 :]]
    where = np.arange(int(np.prod(shape))).reshape(shape)
    index = [where.take(range(s, s + n), axis) for s, n in zip(starts, counts, strict=True)]
    elements = np.concatenate([part.ravel() for part in parts])
    leaf = pn.array(fill(elements, index, where.size).reshape(shape), requires_grad=elements.dtype.kind == "f")
    view = lambda leaf: pn.nested_array_from_jagged(leaf, [*starts, rows], counts, operand.ragged)  # noqa: E731
    return Placed(view(leaf), leaf, index, view)


def draw_strided(data: st.DataObject, operand: Operand) -> Placed:
    """Draw the strides of each component, and the element of a buffer at which it begins."""
    parts = operand.components
    strides = [[data.draw(st.integers(0, 3)) for _ in part.shape] for part in parts]
    inner = [
        sum((np.indices(part.shape)[d] * step for d, step in enumerate(steps)), np.zeros(part.shape, np.int64))
        for part, steps in zip(parts, strides, strict=True)
    ]
    size = max((int(part.max(initial=0)) for part in inner), default=0) + SPARE
    offsets = [data.draw(st.integers(0, size - 1 - int(part.max(initial=0)))) for part in inner]
    index = [part + offset for part, offset in zip(inner, offsets, strict=True)]
    elements = np.concatenate([part.ravel() for part in parts])
    leaf = pn.array(fill(elements, index, size), requires_grad=elements.dtype.kind == "f")
    sizes = np.array([part.shape for part in parts], np.int64).reshape(len(parts), -1)
    view = lambda leaf: pn.nested_array_from_strided(leaf, sizes, strides, offsets)  # noqa: E731
    return Placed(view(leaf), leaf, index, view)


def contiguous(drawn: Placed, operand: Operand, layout: Any) -> Placed:
    """Return the same components in an array in which they lie side by side."""
    parts = drawn.components_of(drawn.buffer.detach().numpy())
    components = Components(parts, operand.components.shape, operand.components.dtype)
    return place(components, layout, "packed", operand.ragged, drawn.buffer.requires_grad)


def check_gradients(drawn: Placed, expected: Placed) -> None:
    """Compare the gradient of a buffer with the sum, at each element, of those of the contiguous components."""
    total = np.zeros(drawn.buffer.numel())
    for where, part in zip(drawn.places, expected.gradient(), strict=True):
        np.add.at(total, where, part)
    drawn.gradient()  # it must be +0 in gaps
    gradient = np.zeros(total.shape) if drawn.buffer.grad is None else drawn.buffer.grad.numpy().ravel()
    np.testing.assert_allclose(gradient, total, rtol=1e-11, atol=1e-11)


def check_same(got: Any, expected: Any) -> None:
    """Compare two results; they can differ by the rounding of sums in another order."""
    if isinstance(expected, list | tuple):
        assert len(got) == len(expected)
        for pair in zip(got, expected, strict=True):
            check_same(*pair)
    elif isinstance(expected, bool):
        assert got is expected
    else:
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12, strict=True)


OPERATORS = sorted({call.op for call in CALLS} - {*LISTS, "view"})


def check_drawn(call: Call, kind: Kind, batch: Batch, data: st.DataObject) -> None:
    """Draw buffers for a call, and compare it with the call of the same components in contiguous arrays."""
    arrays: list[tuple[Any, Any]] = []
    placed: list[tuple[Placed, Placed]] = []

    def draw(operand: Any) -> None:
        if isinstance(operand, np.ndarray):
            arrays.append((pn.array(operand), pn.array(operand)))
            return
        drawn = (draw_jagged if kind.layout is pn.jagged else draw_strided)(data, operand)
        placed.append((drawn, contiguous(drawn, operand, kind.layout)))
        arrays.append((drawn.array, placed[-1][1].array))

    call.given(batch, draw)
    target(float(sum(drawn.buffer.numel() - drawn.array.numel() for drawn, _ in placed)), label="gaps")
    sides = map(iter, zip(*arrays, strict=True))
    results = [call.function(*call.given(batch, lambda _, side=side: next(side)), **call.keywords) for side in sides]
    check_same(*map(plain, results))
    for result in results:
        if not isinstance(result, bool):
            pull_back(result, cotangent_like(plain(result)))
    for drawn, expected in placed:
        if drawn.buffer.requires_grad:
            check_gradients(drawn, expected)


@pytest.mark.parametrize("op", OPERATORS)
@settings.get_profile("few examples")
@given(data=st.data(), lengths=lengths)
def test_components_may_lie_anywhere(op: str, data: st.DataObject, lengths: tuple[int, ...]) -> None:
    kind = data.draw(st.sampled_from((JAGGED, JAGGED_2, STRIDED, BOTH)))
    batch = Batch(kind, lengths)
    calls = [call for call in CALLS if call.op == op and kind in call.kinds and call.refuses(batch) is None]
    if calls:
        check_drawn(data.draw(st.sampled_from(calls)), kind, batch, data)


def test_operands_of_equal_shapes_lie_in_different_places(layout: Any) -> None:
    """Their buffers have one size, so that the places alone tell that elements do not belong together."""
    first, second = np.array([1.0, 2.0]), np.array([10.0, 20.0])

    def make(offsets: list[int]) -> Any:
        buffer = np.concatenate([first, second])
        if layout is pn.jagged:
            return pn.nested_array_from_jagged(buffer, [*offsets, 4], [2, 2])
        return pn.nested_array_from_strided(buffer, [[2], [2]], None, offsets)

    x, y = make([0, 2]), make([2, 0])
    assert (x - y).tolist() == [(first - second).tolist(), (second - first).tolist()]
    assert x.copy_(y).tolist() == [second.tolist(), first.tolist()]
