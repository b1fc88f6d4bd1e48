"""Padding, narrowing, joining, and shapes of dense arrays, whose answers are written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ...nests import batch, nest

X = batch([(2, 2), (0, 2), (3, 2)])


def test_any_range_along_the_ragged_dimension_of_no_components(layout: Any) -> None:
    x = nest([np.ones((3, 4)), np.ones((1, 4))], layout)[:0]
    assert pn.narrow(x, 1, 3, 2).shape == pn.narrow(x, 1, 0, 0).shape == x.shape
    assert pn.narrow(x, 2, 1, 2).shape == (*x.shape[:2], 2)


SHAPES: list[tuple[Callable[[Any], Any], list[tuple[int, ...]]]] = [
    (lambda x: x.squeeze(), [(3, 2)]), (lambda x: x.squeeze(0), [(3, 1, 2)]), (lambda x: x.squeeze(-2), [(1, 3, 2)]),
    (lambda x: x.squeeze((0, 2)), [(3, 2)]), (lambda x: x.squeeze(()), [(1, 3, 1, 2)]),
    (lambda x: x.flatten(), [(6,)]), (lambda x: x.flatten(1), [(1, 6)]), (lambda x: x.flatten(0, 1), [(3, 1, 2)]),
    (lambda x: x.flatten(-2, 3), [(1, 3, 2)]), (lambda x: x.flatten(1, 1), [(1, 3, 1, 2)]),
    (lambda x: x.sum().flatten(), [(1,)]), (lambda x: pn.stack([x], 1), [(1, 1, 3, 1, 2)]),
    (lambda x: x.chunk(2, 1), [(1, 2, 1, 2), (1, 1, 1, 2)]), (lambda x: x.chunk(5, 3), [(1, 3, 1, 1)] * 2),
    (lambda x: pn.arange(7).chunk(5), [(2,), (2,), (2,), (1,)]), (lambda x: x[:0].chunk(3), [(0, 3, 1, 2)] * 3),
    (lambda x: x.split(2, 1), [(1, 2, 1, 2), (1, 1, 1, 2)]), (lambda x: x[:0].split(3), [(0, 3, 1, 2)]),
    (lambda x: x.split((2, 1), 1), [(1, 2, 1, 2), (1, 1, 1, 2)]),
    (lambda x: x[:0].unbind(), []), (lambda x: x[:, :, :, :0].unbind(1), [(1, 1, 0)] * 3),
    (lambda x: x.expand(2, -1, 4, 2), [(2, 3, 4, 2)]), (lambda x: x.broadcast_to((2, 1, 3, 1, 2)), [(2, 1, 3, 1, 2)]),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(SHAPES)))
def test_shapes_of_dense_arrays(row: int) -> None:
    call, due = SHAPES[row]
    result = call(pn.zeros(1, 3, 1, 2))
    assert [part.shape for part in (result if isinstance(result, tuple) else [result])] == due
