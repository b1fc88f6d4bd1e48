"""`KernelBackend`: the backend of a device with CUDA kernels."""

from __future__ import annotations

from . import attention as attending
from . import elementwise, movement, products, rows, segment
from .kernel_device import KernelDevice


class KernelBackend(KernelDevice):
    """The functions that launch each kernel."""

    cast = elementwise.cast
    relu = elementwise.relu
    relu_backward = elementwise.relu_backward
    sgn = elementwise.sgn
    erf = elementwise.erf
    erfc = elementwise.erfc
    gelu = elementwise.gelu
    gelu_backward = elementwise.gelu_backward
    silu = elementwise.silu
    silu_backward = elementwise.silu_backward

    segment_sum = segment.segment_sum
    segment_prod = segment.segment_prod
    segment_max = segment.segment_max
    segment_min = segment.segment_min
    segment_argmax = segment.segment_argmax
    segment_argmin = segment.segment_argmin
    segment_max_backward = segment.segment_max_backward
    segment_softmax = segment.segment_softmax
    segment_softmax_backward = segment.segment_softmax_backward
    softmax_last = segment.softmax_last
    softmax_last_backward = segment.softmax_last_backward
    segment_cumsum = segment.segment_cumsum
    spread = segment.spread

    layer_norm = rows.layer_norm
    layer_norm_backward = rows.layer_norm_backward
    cross_entropy = rows.cross_entropy
    cross_entropy_backward = rows.cross_entropy_backward

    copy = movement.copy
    pad = movement.pad
    unpad = movement.unpad
    take_rows = movement.take_rows
    add_rows = movement.add_rows
    pack_list = movement.pack_list
    gather_components = movement.gather_components
    scatter_components = movement.scatter_components

    matmul_components = products.matmul_components
    sum_all = products.sum_all
    sum_last = products.sum_last
    attention = attending.attention
    attention_backward = attending.attention_backward
