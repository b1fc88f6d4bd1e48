"""The examples of PyTorch's documents again: padding, narrowing, shapes, and the tables of supported operations.

What is read how is said in test_seed_documents.py. Every constraint that a table states holds, errors included; where
we support more than a table promises, that is the law.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ..seeds import LAYOUTS, close, listed, regular


def two(layout: Any) -> Any:
    """Components of lengths 2 and 1, as an array that is small enough to write results out."""
    return pn.nested_array([[[1.0, -2.0], [0.0, 4.0]], [[-3.0, 5.0]]], layout=layout)


# ---- to and from padded -------------------------------------------------------------------------------------------

FIRST = [[1.6862, -1.1282, 1.1031, 0.0464, -1.3276], [-1.9967, -1.0054, 1.8972, 0.9174, -1.4995]]
SECOND = [[-1.8546, -0.7194, -0.2918, -0.1846], [0.2773, 0.8793, -0.5183, -0.6447], [1.8009, 1.8468, -0.9832, -1.5272]]


def framed(component: Any, rows: int, columns: int, padding: float) -> list[list[float]]:
    """A component in the corner of a matrix of padding."""
    wide = [[*row, *[padding] * (columns - len(row))] for row in component]
    return wide + [[padding] * columns] * (rows - len(wide))


def test_to_padded_array() -> None:
    nt = pn.nested_array([FIRST, SECOND])
    inferred = pn.to_padded_array(nt, 0.0)
    assert listed(inferred) == [framed(FIRST, 3, 5, 0.0), framed(SECOND, 3, 5, 0.0)]
    large = pn.to_padded_array(nt, 1.0, (2, 4, 6))
    assert listed(large) == [framed(FIRST, 4, 6, 1.0), framed(SECOND, 4, 6, 1.0)]
    assert pn.equal(pn.to_padded_array(input=nt, padding=1.0, output_size=(2, 4, 6)), large)
    with pytest.raises(RuntimeError, match="Truncation is not supported"):
        pn.to_padded_array(nt, 2.0, (2, 2, 2))
    with pytest.raises(ValueError, match="Truncation is not supported"):
        pn.to_padded_array(nt, 2.0, (1, 3, 5))
    out = pn.empty(2, 3, 5)
    assert pn.equal(pn.to_padded_array(nt, 0.0, out=out), inferred) and pn.equal(out, inferred)


def test_to_padded_array_of_the_jagged_layout() -> None:
    a = [[1.6107, 0.5723, 0.3913], [0.0700, -0.4954, 1.8663]]
    b = [[-0.0479, -0.7610, -0.3484], [1.1345, 1.0556, 0.3634], [-1.7122, -0.5921, 0.0540], [-0.5506, 0.7608, 2.0606],
         [1.5658, -1.1934, 0.3041], [0.1483, -1.1284, 0.6957]]  # fmt: skip
    padded = pn.to_padded_array(pn.nested_array([a, b], layout=pn.jagged), padding=4.2)
    assert listed(padded) == [[*a, *[[4.2, 4.2, 4.2]] * 4], b]


def test_narrow_is_a_view_of_the_padded_array() -> None:
    padded = pn.arange(60.0).reshape(3, 5, 4)
    lengths = pn.array([3, 2, 5], dtype=pn.int64)
    nt = pn.narrow(padded, dim=1, start=0, length=lengths, layout=pn.jagged)
    assert regular(nt.shape) == [3, None, 4]
    assert not nt.is_contiguous()
    rows = padded.tolist()
    assert listed(nt) == [rows[0][:3], rows[1][:2], rows[2]]
    padded.select(0, 1).fill_(-1)
    assert listed(nt)[1] == [[-1.0] * 4] * 2
    whole = nt.contiguous()
    assert whole.is_contiguous()
    assert regular(whole.shape) == [3, None, 4]
    assert whole.values().shape == (10, 4)
    assert pn.equal(whole, nt)
    padded.fill_(0)
    assert listed(whole)[1] == [[-1.0] * 4] * 2


def test_narrow_begins_at_the_front() -> None:
    padded = pn.arange(60.0).reshape(3, 5, 4)
    nt = pn.narrow(padded, dim=1, length=pn.array([3, 2, 5], dtype=pn.int64), layout=pn.jagged)
    rows = padded.tolist()
    assert listed(nt) == [rows[0][:3], rows[1][:2], rows[2]]


def test_masked_select() -> None:
    x = pn.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    nt = pn.masked_select(x, pn.array([[False, False, True], [True, False, True]]))
    assert nt.layout is pn.jagged
    assert listed(nt) == [[3.0], [4.0, 6.0]]


# ---- shapes -------------------------------------------------------------------------------------------------------


@LAYOUTS
def test_shape_manipulations(layout: Any) -> None:
    nt = pn.nested_array([pn.randn(2, 6), pn.randn(4, 6)], layout=layout)
    assert regular(nt.shape) == [2, None, 6]
    assert regular(nt.unsqueeze(-1).shape) == [2, None, 6, 1]
    assert regular(nt.unflatten(-1, [2, 3]).shape) == [2, None, 2, 3]
    assert regular(pn.cat([nt, nt], dim=2).shape) == [2, None, 12]
    assert regular(pn.stack([nt, nt], dim=2).shape) == [2, None, 2, 6]
    assert regular(nt.transpose(-1, -2).shape) == [2, 6, None]


@LAYOUTS
def test_shape_manipulations_have_the_values_of_the_components(layout: Any) -> None:
    nt = two(layout)
    assert listed(nt.unflatten(-1, [2, 1])) == [[[[1.0], [-2.0]], [[0.0], [4.0]]], [[[-3.0], [5.0]]]]
    assert listed(pn.cat([nt, nt], dim=2)) == [[[1.0, -2.0, 1.0, -2.0], [0.0, 4.0, 0.0, 4.0]], [[-3.0, 5.0, -3.0, 5.0]]]
    assert listed(pn.stack([nt, nt], dim=1))[1] == [[[-3.0, 5.0]], [[-3.0, 5.0]]]
    assert listed(nt.transpose(-1, -2)) == [[[1.0, 0.0], [-2.0, 4.0]], [[-3.0], [5.0]]]


@LAYOUTS
def test_functions_of_nested_arrays(layout: Any) -> None:
    a, b = pn.array([[0.0, 0.5, 1.0]] * 2), pn.array([[-1.0, 2.0, 0.0]] * 4)
    nt = pn.nested_array([a, b], layout=layout)
    output = nt.sin() + 1
    assert regular(output.shape) == [2, None, 3]
    assert close(output.unbind()[0], [[1.0, 1.4794, 1.8415]] * 2)
    assert close(output.unbind()[1], [[0.1585, 1.9093, 1.0]] * 4)
    assert [one.tolist() for one in nt.chunk(2, dim=0)[0]] == [a.tolist()]


def test_a_function_of_values_and_offsets() -> None:
    nt = pn.nested_array([pn.randn(2, 3), pn.randn(4, 3)], layout=pn.jagged)
    output = pn.nested_array_from_jagged(nt.values(), nt.offsets()) * 2.0
    assert regular(output.shape) == [2, None, 3]
    assert pn.equal(output, nt + nt)


# ---- ragged structure ---------------------------------------------------------------------------------------------


@LAYOUTS
def test_equal_shapes_built_twice_are_compatible(layout: Any) -> None:
    a, b = pn.randn(50, 128), pn.randn(32, 128)
    nt1 = pn.nested_array([a, b], layout=layout, dtype=pn.float32)
    nt2 = pn.nested_array([a, b], layout=layout, dtype=pn.float32)
    assert nt1.offsets() is not nt2.offsets()
    assert regular((nt1 + nt2).shape) == [2, None, 128]  # a position: the documents refuse this
    assert pn.equal(nt1 + nt2, nt1 * 2)


@LAYOUTS
def test_different_lengths_are_not(layout: Any) -> None:
    nt1 = pn.nested_array([pn.ones(50, 8), pn.ones(32, 8)], layout=layout)
    nt2 = pn.nested_array([pn.ones(50, 8), pn.ones(33, 8)], layout=layout)
    with pytest.raises(RuntimeError, match="component 1: lengths 32 and 33 along dimension 1"):
        nt1 + nt2


def test_offsets_can_be_shared() -> None:
    nt1 = pn.nested_array([pn.randn(50, 128), pn.randn(32, 128)], layout=pn.jagged, dtype=pn.float32)
    values = pn.randn(82, 128, dtype=pn.float32)
    nt3 = nt1 + pn.nested_array_from_jagged(values=values, offsets=nt1.offsets())
    assert nt3.shape == nt1.shape
    assert pn.equal(nt3.values(), nt1.values() + values)


# ---- the table of supported operations ----------------------------------------------------------------------------

ELEMENTWISE: list[tuple[str, Any, Any]] = [
    ("relu", [[1.0, 0.0], [0.0, 4.0]], [[0.0, 5.0]]),
    ("gelu", [[0.8413, -0.0455], [0.0, 3.9999]], [[-0.0040, 5.0]]),
    ("silu", [[0.7311, -0.2384], [0.0, 3.9281]], [[-0.1423, 4.9665]]),
    ("abs", [[1.0, 2.0], [0.0, 4.0]], [[3.0, 5.0]]),
    ("sgn", [[1.0, -1.0], [0.0, 1.0]], [[-1.0, 1.0]]),
    ("neg", [[-1.0, 2.0], [0.0, -4.0]], [[3.0, -5.0]]),
    ("logical_not", [[False, False], [True, False]], [[False, False]]),
    ("clone", [[1.0, -2.0], [0.0, 4.0]], [[-3.0, 5.0]]),
    ("detach", [[1.0, -2.0], [0.0, 4.0]], [[-3.0, 5.0]]),
]


@LAYOUTS
@pytest.mark.parametrize(("name", "first", "second"), ELEMENTWISE, ids=[row[0] for row in ELEMENTWISE])
def test_behaviour_is_the_same_as_on_regular_arrays(name: str, first: Any, second: Any, layout: Any) -> None:
    nt = two(layout)
    for result in (getattr(pn, name)(nt), getattr(nt, name)()):
        assert result.layout is layout
        assert close(result.unbind()[0], first) and close(result.unbind()[1], second)


@LAYOUTS
def test_sums_differences_and_products(layout: Any) -> None:
    nt = two(layout)
    assert listed(pn.add(nt, nt)) == listed(nt * 2) == [[[2.0, -4.0], [0.0, 8.0]], [[-6.0, 10.0]]]
    assert listed(pn.sub(nt, nt)) == [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0]]]
    assert listed(pn.mul(nt, nt)) == [[[1.0, 4.0], [0.0, 16.0]], [[9.0, 25.0]]]
    assert listed(nt + 1) == listed(1 + nt) == [[[2.0, -1.0], [1.0, 5.0]], [[-2.0, 6.0]]]
    assert listed(nt * 3) == listed(3 * nt) == [[[3.0, -6.0], [0.0, 12.0]], [[-9.0, 15.0]]]


@LAYOUTS
def test_softmax_along_every_dimension_but_the_batch(layout: Any) -> None:
    nt = pn.nested_array([[[0.0, math.log(3)], [0.0, 0.0]], [[5.0, 5.0]]], layout=layout)
    by_row, by_column = nt.softmax(-1), pn.softmax(nt, dim=1)
    assert close(by_row.unbind()[0], [[0.25, 0.75], [0.5, 0.5]]) and close(by_row.unbind()[1], [[0.5, 0.5]])
    assert close(by_column.unbind()[0], [[0.5, 0.75], [0.5, 0.25]]) and close(by_column.unbind()[1], [[1.0, 1.0]])
    with pytest.raises(RuntimeError, match="dimension 0"):
        pn.softmax(nt, dim=0)


@LAYOUTS
def test_dropout(layout: Any) -> None:
    nt = pn.ones_like(two(layout))
    assert listed(pn.dropout(nt, p=0.5, training=False)) == listed(nt)
    assert listed(pn.dropout(nt, p=1.0)) == [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0]]]
    assert set(np.unique(pn.dropout(pn.ones_like(pn.nested_array([pn.ones(90)])), 0.5).values())) == {0.0, 2.0}


@LAYOUTS
def test_masked_fill(layout: Any) -> None:
    nt = two(layout)
    assert listed(nt.masked_fill(nt < 0, 9.0)) == [[[1.0, 9.0], [0.0, 4.0]], [[9.0, 5.0]]]


@LAYOUTS
def test_layer_norm_over_regular_dimensions(layout: Any) -> None:
    nt = two(layout)
    normal = pn.layer_norm(nt, (2,), eps=0.0)
    assert listed(normal) == [[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0]]]
    with pytest.raises(RuntimeError, match="irregular"):
        pn.layer_norm(nt, (2, 2))


@LAYOUTS
def test_products_of_matrices(layout: Any) -> None:
    nt = two(layout)
    squares = [[[5.0, -8.0], [-8.0, 16.0]], [[34.0]]]
    assert listed(pn.matmul(nt, nt.transpose(1, 2))) == squares
    assert listed(pn.bmm(nt, nt.transpose(1, 2))) == squares
    assert listed(pn.linear(nt, pn.array([[1.0, 1.0], [0.0, 2.0], [1.0, 0.0]]), pn.array([0.0, 0.0, 0.5]))) == [
        [[-1.0, -4.0, 1.5], [4.0, 8.0, 0.5]],
        [[2.0, 10.0, -2.5]],
    ]
    with pytest.raises(RuntimeError, match="equal"):
        pn.bmm(nt, nt)
    with pytest.raises(RuntimeError, match="2 and 3 components"):
        pn.matmul(nt, pn.nested_array([pn.ones(2, 2)] * 3, layout=layout))
    with pytest.raises(RuntimeError):
        pn.bmm(nt, pn.nested_array([pn.ones(2), pn.ones(1)], layout=layout))


@LAYOUTS
def test_select_along_all_dimensions(layout: Any) -> None:
    nt = two(layout)
    assert listed(pn.select(nt, 0, 1)) == [[-3.0, 5.0]]
    assert listed(nt.select(1, 0)) == [[1.0, -2.0], [-3.0, 5.0]]
    assert listed(nt.select(2, 1)) == [[-2.0, 4.0], [5.0]]


@LAYOUTS
def test_dimension_0_can_be_unbound_and_not_transposed(layout: Any) -> None:
    nt = two(layout)
    with pytest.raises(RuntimeError, match="dimension 0"):
        nt.unbind(1)
    with pytest.raises(RuntimeError, match="dimension 0"):
        pn.transpose(nt, 0, 1)


@LAYOUTS
def test_reshape_keeps_the_batch_and_inherits_irregular_sizes(layout: Any) -> None:
    nt = two(layout)
    for change in (pn.reshape, pn.view):
        assert listed(change(nt, (2, -1, 2, 1))) == [[[[1.0], [-2.0]], [[0.0], [4.0]]], [[[-3.0], [5.0]]]]
        assert listed(change(nt, (-1, -1, 1, 2)))[1] == [[[-3.0, 5.0]]]
        for wrong in ((1, -1, 2), (2, 2, 2), (2, -1, 1, -1), (2, -1, 3)):
            with pytest.raises(RuntimeError):
                change(nt, wrong)
    images = pn.nested_array([pn.ones(2, 3), pn.ones(3, 2)])
    with pytest.raises(RuntimeError, match="irregular"):
        images.reshape(2, 6)  # would fit
    other = pn.nested_array([[[0.0]] * 4, [[0.0]] * 2], layout=layout)
    assert listed(nt.reshape_as(other)) == [[[1.0], [-2.0], [0.0], [4.0]], [[-3.0], [5.0]]]


@LAYOUTS
def test_arrays_like_another(layout: Any) -> None:
    nt = two(layout)
    for like in (pn.empty_like, pn.randn_like, pn.zeros_like):
        made = like(nt)
        assert (made.layout, made.shape, made.dtype) == (layout, nt.shape, nt.dtype)
    assert listed(pn.zeros_like(nt)) == [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0]]]
