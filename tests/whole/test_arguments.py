"""Arguments of constructors and methods that a newcomer gets wrong, or spells another way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import (
    ArgumentError,
    DimensionError,
    DTypeError,
    IndexOutOfRange,
    ShapeError,
    StructureError,
)
from pynested.pictures import picture

from ..nests import LAYOUTS, assert_same

X = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
ROWS = pn.nested_array([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], layout=pn.jagged)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("function", [pn.nested_array, pn.as_nested_array])
@pytest.mark.parametrize(
    "values",
    [[300], [3], [-1], [0, 1], [1e6], [1.5], [True], [2**40], np.array([7], np.uint64), np.array([1.0], np.float32)],
    ids=str,
)
def test_an_explicit_dtype_converts_each_entry_as_array_does(
    layout: Any, function: Callable[..., Any], values: Any
) -> None:
    for dtype in (pn.bool, pn.int8, pn.uint8, pn.int64, pn.float16, pn.float64):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                wanted = pn.array(values, dtype=dtype)
            except (OverflowError, DTypeError) as error:
                with pytest.raises(type(error)) as caught:
                    function([np.zeros(2, np.int8) != 0, values], dtype=dtype, layout=layout)
                assert "Give dtype=" not in str(caught.value)
            else:
                made = function([np.zeros(2, np.int8) != 0, values], dtype=dtype, layout=layout)
                assert_same(made, [np.zeros(2, dtype), wanted.numpy()])


def test_nested_and_dense_arrays_convert_by_value_too() -> None:
    for given in (np.array([[1, 300]]), pn.nested_array([[1, 300]]), pn.nested_array([[1, 300]], layout=pn.jagged)):
        with pytest.raises(OverflowError):
            pn.as_nested_array(given, dtype=pn.int8)
        assert pn.as_nested_array(given, dtype=pn.int16).dtype == np.int16


EMPTIES = pn.nested_array_from_strided(pn.ones(0), [[0, 2**40], [2**40, 0]])
COLUMN = pn.nested_array_from_strided(pn.ones(1), [[2**40, 1]], [[0, 0]], [0])
ROW = pn.ones(1).broadcast_to((2**20,))
REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: pn.cat(X), ArgumentError, r"give a list: pn\.cat\(\[a, b\]\)"),
    (lambda: pn.stack(pn.ones(2, 2)), ArgumentError, r"give a list: pn\.stack\(\[a, b\]\)"),
    (lambda: pn.nested_array_from_jagged(pn.ones(5), [0, [2], 5]), StructureError, "offsets"),
    (lambda: pn.nested_array_from_strided(pn.ones(5), [[1], [1, 2]]), StructureError, "sizes"),
    (lambda: pn.narrow(pn.ones(2, 3), 1, [0, [1]], 1), StructureError, "start"),
    (lambda: pn.nested_array_from_jagged(pn.ones(5), [0, 5], jagged_dim=3), DimensionError, "<=1, but got 3"),
    (lambda: pn.map_components(lambda _: 3, X), ArgumentError, "component 0 .* int"),
    (lambda: pn.layer_norm(ROWS, 2, eps=None), ArgumentError, "eps"),
    (lambda: pn.layer_norm(ROWS, 2, eps="a"), ArgumentError, "eps"),
    (lambda: pn.layer_norm(ROWS, 2, eps=-1), ArgumentError, "eps"),
    (lambda: pn.randint_like(X, 0, 0), ArgumentError, "no integer"),
    (lambda: picture([1.0, 2.0]), ArgumentError, "list"),
    (lambda: pn.NestedArray([1, 2], [0, 2]), ArgumentError, r"pn\.nested_array"),
    (lambda: pn.linear(ROWS, ROWS), ArgumentError, "must be dense"),
    (lambda: pn.embedding(pn.ones(3, 2), X), ArgumentError, "must be dense"),
    (lambda: pn.nested_array_from_strided(X, [[1]]), ArgumentError, "must be dense"),
    (lambda: pn.array(X), StructureError, "^array: component"),
    (lambda: X[:, X > 2], ArgumentError, "is the first entry, x"),
    (lambda: pn.ones(3, 3)[[0], np.ones(3) > 2], ArgumentError, "a mask in an index stands alone"),
    (lambda: pn.ones(3)[X > 2], StructureError, "Nest it first"),
    (lambda: pn.masked_select(X, X > 2), ArgumentError, r"x\[mask\]"),
    (lambda: pn.softmax(pn.nested_array([1.0, 2.0]), 0), DimensionError, "components have no dimensions"),
    (lambda: pn.bmm(X, X), StructureError, "2 and 2 dimensions"),
    (lambda: pn.matmul(ROWS, pn.ones(2, 2, 2, 2)), ShapeError, "4 dimensions"),
    (lambda: pn.matmul(pn.ones(2, 2, 2, 2), ROWS), ShapeError, "4 dimensions"),
    (lambda: ROWS.reshape(2, X.size(1), 2), ShapeError, "ragged size"),
    (lambda: ROWS.reshape(X.size(1), 2), ShapeError, "ragged size"),
    (lambda: pn.zeros_like(pn.ones(2), layout=pn.jagged), StructureError, "nest it"),
    (lambda: ROWS.reshape(2, -1, 2**70), ShapeError, "too many elements"),
    (lambda: pn.nested_array([np.zeros((0, 1))]).reshape(1, 2**32, 2**32), ShapeError, "too many elements"),
    (lambda: ROWS.unflatten(2, (2**32, 2**32)), ShapeError, "too many elements"),
    (lambda: ROWS.select(1, 2**70), IndexOutOfRange, "components 0 .*, 1 "),
    (lambda: ROWS.select(2, -(2**70)), IndexOutOfRange, "components 0 .*, 1 "),
    (lambda: ROWS.narrow(0, 2**70, 1), StructureError, "start holds an integer that is beyond int64"),
    (lambda: pn.to_padded_array(X, 0, (2**70, 2)), ShapeError, "too many elements"),
    (lambda: pn.to_padded_array(pn.nested_array([[1.0]]), 0, (2**32, 2**32)), ShapeError, "too many elements"),
    (lambda: pn.nested_array_from_strided(pn.ones(4), [[0, 2**62, 2**62]]), StructureError, "too many elements"),
    (lambda: pn.nested_array_from_strided(pn.ones(4), [[1] * 64]), StructureError, "at most 64"),
    (lambda: pn.nested_array_from_jagged(pn.ones((1,) * 64), [0, 1]), StructureError, "64"),
    (lambda: pn.nested_array_from_jagged(pn.ones(4), np.array([], "i8,i8")), DTypeError, "offsets must be integers"),
    (lambda: pn.as_nested_array(pn.ones((1,) * 64)).unsqueeze(1), ShapeError, "at most 64"),
    (lambda: pn.as_nested_array(pn.ones((1,) * 64), layout=pn.jagged)[:, None], ShapeError, "at most 64"),
    (lambda: pn.stack([pn.as_nested_array(pn.ones((1,) * 64))], 1), ShapeError, "at most 64"),
    (lambda: ROWS[(slice(None), *[None] * 62)], ShapeError, "at most 64"),
    (lambda: ROWS.unflatten(2, (1,) * 62 + (2,)), ShapeError, "at most 64"),
    (lambda: EMPTIES.sum(0), ShapeError, "sum: .* too many elements"),
    (lambda: pn.mean(EMPTIES, 0), ShapeError, "mean: .* too many elements"),
    (lambda: pn.to_padded_array(EMPTIES, 0.0), ShapeError, "to_padded_array: .* too many elements"),
    (lambda: pn.nested_array_from_strided(pn.ones(0), [[0, 2**58]] * 9).to_dense(), ShapeError, "too many elements"),
    (lambda: COLUMN + COLUMN.transpose(1, 2), StructureError, "add: .* too many elements"),
    (lambda: COLUMN * ROW, StructureError, "mul: .* too many elements"),
    (lambda: pn.nested_array_from_jagged(COLUMN[0], [0, 2**40]) - ROW, ShapeError, "sub: .* too many elements"),
    (lambda: X[:0].chunk(2**40), ArgumentError, "chunk: of nothing .* at most 1048576"),
    (lambda: pn.nested_array(np.zeros((3, 2, 0))).chunk(2**40, 2), ArgumentError, "chunk: of nothing"),
    (lambda: X.transpose(), TypeError, r"^transpose: 'dim0' is not given, and 'dim1' is not given"),
    (lambda: pn.ones(2).transpose(), TypeError, r"^transpose: 'dim0' is not given, and 'dim1' is not given"),
]


@pytest.mark.parametrize("case", REFUSED, ids=[f"{i} {case[2]}" for i, case in enumerate(REFUSED)])
def test_what_is_refused(case: tuple[Callable[[], Any], type[Exception], str]) -> None:
    call, kind, pattern = case
    with pytest.raises(kind, match=pattern):
        call()


def test_numbers_that_are_larger_than_any_size_are_clamped_in_slices() -> None:
    for huge in (2**62, 2**63, 2**70):
        assert_same(X[:, ::huge], [[1.0], [3.0]])
        assert_same(X[:, ::-huge], [[2.0], [3.0]])
        assert_same(X[:, -huge:huge], [[1.0, 2.0], [3.0]])
        assert_same(ROWS[-huge:huge:huge, ..., ::huge], [[[1.0]]])
        assert pn.ones(3)[-huge:huge:huge].tolist() == [1.0]


def test_what_is_accepted() -> None:
    assert X.reshape(2, X.size(1), 1).shape == (2, X.size(1), 1)
    assert pn.equal(pn.reshape(X, X.shape), X) and pn.equal(X.view(X.shape), X)
    assert pn.equal(X.narrow(0, 1, 1), X[1:])
    assert X.to(dtype=pn.float32, device="cpu").dtype == pn.ones(2).to(dtype=pn.float32).dtype == np.float32
    assert pn.equal(X.clone().add_(1, alpha=2), X + 2) and pn.equal(X.clone().sub_(1, alpha=2), X - 2)
    assert pn.equal(pn.add(X, X, alpha=np.float32(2)), X * 3) and pn.equal(pn.sub(X, X, alpha=np.int64(2)), -X)
    assert pn.randint(5, (3,)).shape == pn.randint(2, 5, (3,)).shape == (3,)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_likeness_in_another_layout(layout: Any) -> None:
    for made in (pn.zeros_like, pn.ones_like, pn.empty_like, lambda x, **options: pn.full_like(x, 3, **options)):
        result = made(X, layout=layout, requires_grad=True)
        assert (result.layout, result.is_leaf, result.requires_grad) == (layout, True, True)
        assert result.component_sizes().tolist() == [[2], [1]]


@pytest.mark.parametrize("x", [pn.array([1], dtype=pn.int8), X.to(pn.int8)], ids=["dense", "nested"])
def test_likeness_is_named_in_what_it_refuses(x: Any) -> None:
    refused: list[tuple[str, tuple[Any, ...], Any]] = [
        ("full_like", (300,), OverflowError),
        ("full_like", (1.5,), DTypeError),
        ("full_like", ("x",), ArgumentError),
        ("rand_like", (), DTypeError),
        ("randn_like", (), DTypeError),
        ("randint_like", (0,), ArgumentError),
        ("randint_like", (300,), OverflowError),
        ("randint_like", (1.5,), ArgumentError),
    ]
    for name, arguments, kind in refused:
        with pytest.raises(kind, match=f"^{name}: "):
            getattr(pn, name)(x, *arguments)
    for name in ("zeros_like", "ones_like", "empty_like"):
        with pytest.raises((ArgumentError, StructureError), match=f"^{name}: "):
            getattr(pn, name)(pn.zeros(2), layout=pn.jagged)
