"""The same elements in other shapes, orders and arrays, mostly as views: the chapter *movement* of the specification.

Operands have any dtype, and the layout stays unless a function says otherwise. ``dim`` counts all dimensions: 0 is the
batch of a nested array, -1 the last dimension. Most functions refuse the batch. DimensionError for a dimension that is
refused or out of range.
"""

from .axes import permute, squeeze, transpose, unsqueeze
from .copies import clone, detach
from .flattening import flatten, unflatten
from .joining import cat, stack
from .reshaping import reshape, reshape_as, view
from .splitting import chunk, select, split, unbind

__all__ = [
    "cat", "chunk", "clone", "detach", "flatten", "permute", "reshape", "reshape_as", "select", "split", "squeeze",
    "stack", "transpose", "unbind", "unflatten", "unsqueeze", "view",
]  # fmt: skip
