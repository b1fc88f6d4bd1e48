"""A batch of no components keeps its regular sizes, and refuses what does not fit them: the cases by hand."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DimensionError, IndexOutOfRange, LayoutError, ShapeError, StructureError


def jagged(size: int = 4) -> Any:
    return pn.nested_array_from_jagged(np.zeros((0, size)), [0])


def strided() -> Any:
    return pn.as_nested_array(np.zeros((0, 3, 4)))


UNKNOWN = pn.nested_array_from_strided(np.zeros(0), np.zeros((0, 2), np.int64))


MISFITS: list[tuple[Callable[[], Any], type[Exception]]] = [
    (lambda: jagged() + np.zeros(7), ShapeError),
    (lambda: np.zeros(7) + strided(), ShapeError),
    (lambda: pn.where(jagged() > 0, jagged(), np.zeros(7)), ShapeError),
    (lambda: jagged().masked_fill(np.zeros(7, np.bool_), 0.0), ShapeError),
    (lambda: jagged().copy_(np.zeros(7)), ShapeError),
    (lambda: jagged() + jagged(7), StructureError),
    (lambda: jagged().copy_(jagged(7)), StructureError),
    (lambda: strided() + jagged(7), StructureError),
    (lambda: jagged(7) + strided(), StructureError),
    (lambda: strided() + np.zeros((1, 5, 7)), ShapeError),
    (lambda: pn.cat([jagged(), jagged(7)], 1), StructureError),
    (lambda: pn.cat([UNKNOWN, strided(), jagged(7)], 1), StructureError),
    (lambda: pn.layer_norm(jagged(), 7), ShapeError),
    (lambda: pn.layer_norm(jagged(), 4, np.zeros(7)), ShapeError),
    (lambda: pn.bmm(jagged(), np.zeros((0, 7, 2))), ShapeError),
    (lambda: pn.matmul(strided(), strided()), StructureError),
    (lambda: jagged().select(2, 9), IndexOutOfRange),
    (lambda: strided()[:, 3], IndexOutOfRange),
    (lambda: jagged()[:, :, -5], IndexOutOfRange),
    (lambda: jagged().reshape(0, -1, 3, 3), ShapeError),
    (lambda: strided().view(0, 13), ShapeError),
    (lambda: strided().unflatten(2, (3, 1)), ShapeError),
    (lambda: UNKNOWN.unflatten(2, (3, 1)), DimensionError),
    (lambda: UNKNOWN.to(layout=pn.jagged), LayoutError),
    (lambda: pn.reshape_as(strided(), pn.as_nested_array(np.zeros((0, 5)))), ShapeError),
    (lambda: pn.cross_entropy(strided(), pn.as_nested_array(np.zeros((0, 2), np.int64))), StructureError),
    (lambda: pn.narrow(np.zeros((0, 3)), 1, 0, 4), StructureError),
    (lambda: strided().requires_grad_().backward(jagged(7)), StructureError),
]


@pytest.mark.parametrize("number", range(len(MISFITS)))
def test_what_does_not_fit(number: int) -> None:
    call, error = MISFITS[number]
    with pytest.raises(error):
        call()


def shape(x: Any) -> tuple[int | None, ...]:
    return tuple(x.regular_size(dim) for dim in range(x.ndim))


SHAPES: list[tuple[Callable[[], Any], tuple[int | None, ...]]] = [
    (lambda: strided(), (0, 3, 4)),
    (lambda: pn.nested_array(np.zeros((0, 3, 4), np.int8)), (0, 3, 4)),
    (lambda: pn.nested_array(np.zeros((0, 3, 4)), layout=pn.jagged), (0, None, 4)),
    (lambda: pn.as_nested_array(np.zeros((2, 3, 4)))[0:0], (0, 3, 4)),
    (lambda: pn.nested_array([[[1, 2]], [[3, 4]] * 2])[5:], (0, None, 2)),
    (lambda: strided().narrow(0, 0, 0), (0, 3, 4)),
    (lambda: pn.narrow(np.zeros((0, 3, 4)), 1, 1, 2), (0, 2, 4)),
    (lambda: pn.narrow(np.zeros((0, 3, 4)), 2, [], []), (0, 3, None)),
    (lambda: strided().transpose(1, 2)[:, 1:3, ::-2], (0, 2, 2)),
    (lambda: strided()[:, 2, None], (0, 1, 4)),
    (lambda: strided().to(layout=pn.jagged).to(layout=pn.strided), (0, None, 4)),
    (lambda: jagged().to(layout=pn.strided), (0, None, 4)),
    (lambda: UNKNOWN, (0, None, None)),
    (lambda: UNKNOWN + strided(), (0, 3, 4)),
    (lambda: strided() + UNKNOWN, (0, 3, 4)),
    (lambda: UNKNOWN.unsqueeze(1) * pn.as_nested_array(np.zeros((0, 5, 1, 4))), (0, 5, None, 4)),
    (lambda: pn.cat([strided(), UNKNOWN], 1), (0, None, 4)),
    (lambda: pn.cat([strided(), strided()], 1), (0, 6, 4)),
    (lambda: pn.cat([strided(), pn.as_nested_array(np.zeros((0, 5, 4)))], 0), (0, None, 4)),
    (lambda: pn.cat([strided(), pn.as_nested_array(np.zeros((2, 5, 4)))], 0), (2, 5, 4)),
    (lambda: pn.map_components(lambda c: c.sum(0), jagged()), (0, None)),
    (lambda: pn.map_components(lambda c: c.sum(0), jagged(), layout=pn.strided), (0, 4)),
    (lambda: pn.map_components(lambda c: c, jagged(), layout=pn.strided), (0, None, 4)),
    (lambda: pn.map_components(lambda c: c.transpose(0, 1), jagged()), (0, 4, None)),
    (lambda: pn.map_components(lambda c: c @ c.transpose(0, 1), jagged()), (0, None, None)),
    (lambda: pn.matmul(strided(), np.zeros((1, 4, 5))), (0, 3, 5)),
    (lambda: pn.matmul(pn.as_nested_array(np.zeros((0, 2, 3, 4))), strided().transpose(1, 2)), (0, 2, 3, 3)),
    (lambda: pn.reshape_as(strided(), jagged()), (0, None, 4)),
    (lambda: pn.reshape_as(jagged(), jagged()), (0, None, 4)),
    (lambda: pickle.loads(pickle.dumps(strided())), (0, 3, 4)),
    (lambda: pn.zeros_like(strided(), layout=pn.jagged), (0, None, 4)),
    (lambda: pn.elementwise("f", lambda x: x + 1.0, strided()), (0, 3, 4)),
]


@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_regular_sizes_stay(number: int) -> None:
    made, expected = SHAPES[number]
    assert shape(made()) == expected


def test_padding_and_text() -> None:
    assert pn.to_padded_array(strided(), 0.0).shape == strided().to_dense().shape == (0, 3, 4)
    assert pn.to_padded_array(strided(), 1.0, (2, 3, 5)).tolist() == [[[1.0] * 5] * 3] * 2
    assert repr(strided()) == "nested_array([], shape=(0, 3, 4))"
    assert not pn.equal(strided(), pn.as_nested_array(np.zeros((0, 3, 5)))) and pn.equal(strided(), UNKNOWN)
    assert not pn.equal(strided(), np.zeros((0, 3, 5))) and pn.equal(jagged(), np.zeros((0, 9, 4)))


@pytest.mark.parametrize("make", [strided, jagged])
def test_what_met_nothing_has_a_gradient_of_zero(make: Callable[[], Any]) -> None:
    calls: list[tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = [
        (lambda x, w: pn.map_components(lambda c, v: c * v, x, w), (4,)),
        (lambda x, w: pn.matmul(x, w), (4, 2)),
        (lambda x, w: pn.matmul(w, x.transpose(1, 2)), (5, 4)),
        (lambda x, w: pn.matmul(x.unsqueeze(1), w), (1, 2, 4, 5)),
        (lambda x, w: x * w, (4,)),
        (lambda x, w: pn.linear(x, w), (2, 4)),
        (lambda x, w: pn.layer_norm(x, 4, w), (4,)),
    ]
    for function, sizes in calls:
        w = pn.array(np.ones(sizes), requires_grad=True)
        function(make(), w).sum().backward()
        assert w.grad.tolist() == np.zeros(sizes).tolist()
