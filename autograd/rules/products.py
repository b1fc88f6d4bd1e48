"""Products of matrices, dense and of components; dense operands have two dimensions or more and broadcast before."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import Matrices
from pynested.backends.dtypes import is_half
from pynested.backends.numpy.running import quiet

from .kinds import Multilinear
from .movement import reshape, summed_to, transpose


def _product(k: Any, a: Any, b: Any) -> Any:
    return _product_of_halves(k, a, b) if is_half(a.dtype) else k.matmul(a, b)


@quiet
def _product_of_halves(k: Any, a: Any, b: Any) -> Any:
    """The product of float16 or bfloat16, multiplied and added up in float32, and rounded once."""
    return k.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)


def swapped(x: Any) -> Any:
    """The matrices of ``x`` transposed: its last two axes exchanged."""
    axes = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return transpose(x, axes)


def _left_cotangent(g: Any, shapes: Any, a: Any, b: Any, left: Matrices, right: Matrices) -> Any:
    product = Matrices.of_sizes(left.rows, right.cols)
    if left.transposed:
        return reshape(matmul_components(b, g, right, product.turned), shapes[0])
    return reshape(matmul_components(g, b, product, right.turned), shapes[0])


def _right_cotangent(g: Any, shapes: Any, a: Any, b: Any, left: Matrices, right: Matrices) -> Any:
    product = Matrices.of_sizes(left.rows, right.cols)
    if right.transposed:
        return reshape(matmul_components(g, a, product.turned, left), shapes[1])
    return reshape(matmul_components(a, g, left.turned, product), shapes[1])


matmul: Multilinear = Multilinear(
    "matmul",
    _product,
    (
        lambda g, shapes, a, b: summed_to(matmul(g, swapped(b)), shapes[0]),
        lambda g, shapes, a, b: summed_to(matmul(swapped(a), g), shapes[1]),
    ),
)
matmul_components: Multilinear = Multilinear(
    "matmul_components",
    lambda k, a, b, left, right: k.matmul_components(a.reshape(-1), b.reshape(-1), left, right),
    (_left_cotangent, _right_cotangent),
)
