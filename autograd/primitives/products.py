"""Products of matrices: `matmul` of dense arrays of two or more dimensions, `matmul_components` of flat buffers.

``k`` has the kernels of a backend, ``g`` is the cotangent of the result ``y``, ``t`` a tangent of an operand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import Matrices
from pynested.backends.dtypes import is_half

from .movement import reshape, summed_to, transpose
from .primitive import Primitive


def _matmul(k: Any, a: Any, b: Any) -> Any:
    """Return the product; halves are multiplied and added up in float32, and rounded once."""
    if is_half(a.dtype):
        return k.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return k.matmul(a, b)


def swapped(x: Any) -> Any:
    """Return the matrices of ``x`` transposed: its last two axes exchanged."""
    axes = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return transpose(x, axes)


def _cotangent_of_left(g: Any, y: Any, a: Any, b: Any, left: Matrices, right: Matrices) -> Any:
    """Return g b^T, or its transpose b g^T if the left matrices are stored transposed."""
    product = Matrices.of_sizes(left.rows, right.cols)
    if left.is_transposed:
        return reshape(matmul_components(b, g, right, product.transposed), a.shape)
    return reshape(matmul_components(g, b, product, right.transposed), a.shape)


def _cotangent_of_right(g: Any, y: Any, a: Any, b: Any, left: Matrices, right: Matrices) -> Any:
    """Return a^T g, or its transpose g^T a if the right matrices are stored transposed."""
    product = Matrices.of_sizes(left.rows, right.cols)
    if right.is_transposed:
        return reshape(matmul_components(g, a, product.transposed, left), b.shape)
    return reshape(matmul_components(a, g, left.transposed, product), b.shape)


matmul: Primitive = Primitive(
    "matmul",
    _matmul,
    vjps=[
        lambda g, y, a, b: summed_to(matmul(g, swapped(b)), a.shape),
        lambda g, y, a, b: summed_to(matmul(swapped(a), g), b.shape),
    ],
    jvps=[lambda t, y, a, b: matmul(t, b), lambda t, y, a, b: matmul(a, t)],
    saves=["b", "a"],
)
matmul_components: Primitive = Primitive(
    "matmul_components",
    lambda k, a, b, left, right: k.matmul_components(a.reshape(-1), b.reshape(-1), left, right),
    vjps=[_cotangent_of_left, _cotangent_of_right],
    jvps=[
        lambda t, y, a, b, left, right: matmul_components(t, b, left, right),
        lambda t, y, a, b, left, right: matmul_components(a, t, left, right),
    ],
    saves=["b", "a"],
    public="matmul",
)
