"""The device "cpu": quick kernels in NumPy and SciPy, and plain kernels where these are quick enough."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import caching_allocator
from ..plain import PlainBackend
from . import (
    activations,
    attention_forward,
    attention_gradients,
    elementwise,
    movement,
    normalization,
    products,
    segment,
)


class NumpyBackend(PlainBackend):
    """The kernels of the device "cpu"; kernels that are not listed are inherited from the device "plain".

    A function of NumPy that is a ufunc runs on all threads if its operands are large.
    """

    device = "cpu"

    relu = staticmethod(elementwise.relu)
    relu_backward = staticmethod(elementwise.relu_backward)
    gelu = staticmethod(activations.gelu)
    gelu_backward = staticmethod(activations.gelu_backward)
    silu = staticmethod(activations.silu)
    silu_backward = staticmethod(activations.silu_backward)
    erfc = staticmethod(activations.erfc)

    segment_sum = staticmethod(segment.segment_sum)
    segment_prod = staticmethod(segment.segment_prod)
    segment_max = staticmethod(segment.segment_max)
    segment_min = staticmethod(segment.segment_min)
    segment_max_backward = staticmethod(segment.segment_max_backward)
    segment_softmax = staticmethod(segment.segment_softmax)
    segment_softmax_backward = staticmethod(segment.segment_softmax_backward)
    segment_cumsum = staticmethod(segment.segment_cumsum)
    spread = staticmethod(segment.spread)

    softmax_last = staticmethod(normalization.softmax_last)
    softmax_last_backward = staticmethod(normalization.softmax_last_backward)
    layer_norm = staticmethod(normalization.layer_norm)
    layer_norm_backward = staticmethod(normalization.layer_norm_backward)
    cross_entropy = staticmethod(normalization.cross_entropy)
    cross_entropy_backward = staticmethod(normalization.cross_entropy_backward)

    copy = staticmethod(movement.copy)
    concatenate = staticmethod(movement.concatenate)
    pad = staticmethod(movement.pad)
    unpad = staticmethod(movement.unpad)
    take_rows = staticmethod(movement.take_rows)
    add_rows = staticmethod(movement.add_rows)
    gather_components = staticmethod(movement.gather_components)
    scatter_components = staticmethod(movement.scatter_components)

    matmul = staticmethod(products.matmul)
    matmul_components = staticmethod(products.matmul_components)
    sum_last = staticmethod(products.sum_last)

    attention = staticmethod(attention_forward.attention)
    attention_backward = staticmethod(attention_gradients.attention_backward)

    def wrap_function(self, function: Any) -> Any:
        """Return a function of NumPy; a ufunc runs on all threads if its operands are large."""
        return elementwise.threaded_ufunc(function) if isinstance(function, np.ufunc) else function

    default_allocator = staticmethod(caching_allocator.allocate_aligned)
    empty = staticmethod(caching_allocator.empty)
