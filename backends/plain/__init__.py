"""The device "plain": every kernel in a few lines of NumPy and SciPy, one segment or one component after the other.

Read these kernels first: they say what each kernel computes. There is a module for each of the six families of kernels.
The kernels compute floats in float64 and round once; functions of NumPy compute in their own dtype. No kernel is tuned
for speed. The specification checks these kernels, and they check the kernels of all other devices.
"""

from __future__ import annotations

import numpy as np

from ..interface import Backend
from . import attention as attention_kernels
from . import elementwise, movement, normalization, products, segment


class PlainBackend(Backend):
    """The kernels of the device "plain", and their list for every other device."""

    device = "plain"
    xp = np

    cast = staticmethod(elementwise.cast)
    relu = staticmethod(elementwise.relu)
    relu_backward = staticmethod(elementwise.relu_backward)
    gelu = staticmethod(elementwise.gelu)
    gelu_backward = staticmethod(elementwise.gelu_backward)
    silu = staticmethod(elementwise.silu)
    silu_backward = staticmethod(elementwise.silu_backward)
    erf = staticmethod(elementwise.erf)
    erfc = staticmethod(elementwise.erfc)
    sgn = staticmethod(elementwise.sgn)

    segment_sum = staticmethod(segment.segment_sum)
    segment_prod = staticmethod(segment.segment_prod)
    segment_max = staticmethod(segment.segment_max)
    segment_min = staticmethod(segment.segment_min)
    segment_argmax = staticmethod(segment.segment_argmax)
    segment_argmin = staticmethod(segment.segment_argmin)
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
    pad = staticmethod(movement.pad)
    unpad = staticmethod(movement.unpad)
    take_rows = staticmethod(movement.take_rows)
    add_rows = staticmethod(movement.add_rows)
    gather_components = staticmethod(movement.gather_components)
    scatter_components = staticmethod(movement.scatter_components)

    matmul_components = staticmethod(products.matmul_components)
    sum_all = staticmethod(products.sum_all)
    sum_last = staticmethod(products.sum_last)

    attention = staticmethod(attention_kernels.attention)
    attention_backward = staticmethod(attention_kernels.attention_backward)
