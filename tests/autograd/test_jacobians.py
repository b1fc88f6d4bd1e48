"""Jacobians of linear functions of dense arrays, exactly: shapes and dims that sample inputs of operators do not have.

A stack of components has no sizes to broadcast up, no overlapping windows and no second use of an element. The Jacobian
is what NumPy's own function makes of the unit vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, jacobian, jvp

Numbers = np.ndarray[Any, Any]
MASK = np.array([[True, False, True], [False, False, True]])
W = np.array([[1.0, -2.0, 3.0, 0.5], [2.0, 0.0, 1.0, -1.0], [4.0, 1.0, -3.0, 2.0]])
ODD = np.array([2.0, 3.0, 5.0])

# The function of pynested, that of NumPy, and the shape of the argument.
LINEAR: dict[str, tuple[Callable[[Array], Any], Callable[[Numbers], Any], tuple[int, ...]]] = {
    "add, broadcasting up": (lambda x: x + pn.array(np.zeros((2, 3))), lambda a: np.broadcast_to(a, (2, 3)), (3,)),
    "add, broadcasting both ways": (
        lambda x: x + pn.array(np.zeros((2, 1, 4))), lambda a: a + np.zeros((2, 1, 4)), (3, 1)),
    "add, 0-d up": (lambda x: x + pn.array(np.zeros((2, 2))), lambda a: a + np.zeros((2, 2)), ()),
    "add, size 0": (lambda x: x + pn.array(np.zeros((0, 3))), lambda a: a + np.zeros((0, 3)), (3,)),
    "mul by a constant, broadcasting": (lambda x: x * pn.array(W), lambda a: a * W, (3, 1)),
    "sum of a scalar": (lambda x: x.sum(), lambda a: a, ()),
    "sum, no dims": (lambda x: x.sum(()), lambda a: a, (2, 3)),
    "sum, size 0": (lambda x: x.sum(1), lambda a: a.sum(1), (2, 0)),
    "transpose, negative dims": (lambda x: x.transpose(-3, -1), lambda a: a.swapaxes(0, 2), (2, 3, 4)),
    "permute, negative dims": (lambda x: x.permute((-1, 0, -2)), lambda a: a.transpose(2, 0, 1), (2, 3, 4)),
    "reshape of a transpose": (lambda x: x.T.reshape(6), lambda a: a.T.reshape(6), (2, 3)),
    "reshape to 0-d": (lambda x: x.reshape(()), lambda a: a.reshape(()), (1, 1)),
    "broadcast_to": (lambda x: x.broadcast_to((4, 2, 3)), lambda a: np.broadcast_to(a, (4, 2, 3)), (2, 1)),
    "select": (lambda x: x.select(-1, -2), lambda a: a[:, 1], (2, 3)),
    "narrow": (lambda x: x.narrow(-1, -3, 2), lambda a: a[:, 1:3], (2, 4)),
    "chunk": (lambda x: x.chunk(3, -1)[1], lambda a: a[:, 2:4], (2, 5)),
    "unbind, two used": (lambda x: x.unbind()[2] - x.unbind()[0], lambda a: a[2] - a[0], (3, 2)),
    "index, negative step": (lambda x: x[:, ::-2], lambda a: a[:, ::-2], (2, 5)),
    "index, ellipsis and None": (lambda x: x[..., None, 1:], lambda a: a[..., None, 1:], (2, 2, 3)),
    "index, empty": (lambda x: x[2:1], lambda a: a[2:1], (3, 2)),
    "index twice": (lambda x: x[0] + x[0], lambda a: 2 * a[0], (2, 3)),
    "as_strided": (lambda x: x.as_strided((2, 2), (1, 2), 1), lambda a: np.array([[a[1], a[3]], [a[2], a[4]]]), (5,)),
    "as_strided, overlapping": (
        lambda x: x.as_strided((3, 2), (1, 1)), lambda a: np.stack([a[:2], a[1:3], a[2:]]), (4,)),
    "cat with nothing": (lambda x: pn.cat([x, pn.array(np.zeros((0, 3)))]), lambda a: a, (2, 3)),
    "to float32 and back": (lambda x: x.to(pn.float32).to(pn.float64), lambda a: a, (3,)),
    "where, right, broadcasting": (
        lambda x: pn.where(pn.array(MASK), pn.array(np.zeros((2, 3))), x), lambda a: np.where(MASK, 0, a), (3,)),
    "where, 0-d operand": (lambda x: pn.where(pn.array(MASK), x, pn.array(MASK * 0.0)), lambda a: MASK * a, ()),
    "matmul, broadcast right": (
        lambda x: pn.array(np.stack([W, 2 * W])) @ x, lambda a: np.stack([W @ a, 2 * W @ a]), (4, 2)),
    "matmul, vector right": (lambda x: pn.array(W) @ x, lambda a: W @ a, (4,)),
    "matmul, vector left": (lambda x: x @ pn.array(W), lambda a: a @ W, (3,)),
    "matmul, two vectors": (lambda x: pn.array(ODD) @ x, lambda a: ODD @ a, (3,)),
    "matmul, inner size 0": (lambda x: x @ pn.array(np.zeros((0, 2))), lambda a: np.zeros((3, 2)), (3, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", LINEAR)
def test_jacobian_and_jvp(name: str) -> None:
    function, plain, shape = LINEAR[name]
    size = math.prod(shape)
    x = pn.array(np.arange(size, dtype=float).reshape(shape) - 1)
    units = np.eye(size).reshape(size, *shape)
    columns = [np.asarray(plain(unit)) for unit in units]
    value = np.asarray(plain(x.numpy()))
    expected = np.stack(columns, -1) if size else np.zeros((*value.shape, 0))
    np.testing.assert_array_equal(function(x).numpy(), value)
    matrix = jacobian(function, x)
    np.testing.assert_array_equal(matrix.numpy(), expected.reshape((*value.shape, *shape)))
    assert not matrix.requires_grad
    for unit, column in zip(units, columns, strict=True):
        np.testing.assert_array_equal(jvp(function, (x,), (pn.array(unit),))[1].numpy(), column)
