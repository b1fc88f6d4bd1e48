"""Pickling and deep copies of nested arrays, and the form without gaps in which arrays are stored."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.backends.errors import GradientError
from pynested.structure import Jagged

from .component_views import expand_axes, slice_dim
from .layout_conversion import contiguous, repacked
from .nested_array import NestedArray


def pickle_parts(x: NestedArray) -> Any:
    """Return a function and its arguments, from which pickle makes the array again, without gaps in the buffer."""
    detached = x.detach()
    stored = without_gaps(detached)
    if stored is detached:
        return type(x), (x.data, x.structure)
    if x.is_leaf:
        stored.data.requires_grad = x.requires_grad
    return _unpickle, (type(x), stored.data, stored.structure)


def deep_copy(x: NestedArray, memo: dict[int, Any]) -> NestedArray:
    """Return a leaf with its own memory."""
    if x.data.node is not None:
        raise GradientError("deepcopy: only a leaf has a deep copy. Use x.detach().clone() to copy the values.")
    make, parts = pickle_parts(x)
    return make(*[deepcopy(part, memo) for part in parts])  # type: ignore[no-any-return]


def _unpickle(nested_class: Any, data: Array, structure: Any) -> NestedArray:
    """Return a contiguous nested array. The pickled structure can repeat elements, by strides of 0."""
    nested = contiguous(nested_class(data.detach(), structure))
    nested.data.requires_grad = data.requires_grad
    return nested


def without_gaps(x: NestedArray) -> NestedArray:
    """Return ``x`` itself if it is packed and row-major, else such a copy.

    The copy keeps a dimension of stride 0, and so stores its repeated elements once.
    """
    structure = x.structure
    if structure.packed is structure:
        return x
    strides = np.array([x.data.stride()]) if isinstance(structure, Jagged) else structure.strides
    sizes = x.component_sizes()
    repeats = ((strides == 0) | (sizes <= 1)).all(axis=0) & (sizes > 1).any(axis=0)
    repeated_axes = [axis for axis in np.flatnonzero(repeats).tolist() if axis + 1 != structure.ragged_dim]
    stored = x
    for axis in repeated_axes:
        stored = slice_dim(stored, axis + 1, slice(0, 1))
    stored = repacked(stored)
    if not repeated_axes:
        return stored
    return expand_axes(stored, {axis: x.regular_sizes[axis] or x.extents[:, axis] for axis in repeated_axes})
