"""Comparison of the shapes of nested arrays, in any layout: equality, the first difference, and error messages.

Shapes are compared by their *extents*, the table of all component sizes (see `pynested/structure/extents.py`). An empty
batch has extents of one row. An unknown size, -1, is equal to every size. A dimension is *regular* if the structure
gives it one size for all components.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pynested.backends.errors import StructureError
from pynested.structure import Ints, Jagged

from .nested_array import NestedArray

# ---- equality -------------------------------------------------------------------------------------------------------


def first_difference(a: Ints, b: Ints) -> tuple[int, int] | None:
    """Return the component and the axis at which two tables of extents first differ; None if they are equal."""
    is_different = a != b
    if not np.count_nonzero(is_different):
        return None
    is_different &= (a >= 0) & (b >= 0)
    if not np.count_nonzero(is_different):
        return None
    component, axis = divmod(int(is_different.argmax()), is_different.shape[1])
    return component, axis


def same_shape(a: NestedArray, b: NestedArray, ignored_dim: int | None = None) -> bool:
    """Return whether ranks, batch sizes and component shapes are equal; sizes along ``ignored_dim`` can differ."""
    if a.structure is b.structure and a.data.shape == b.data.shape:
        return True
    if a.ndim != b.ndim or len(a) != len(b):
        return False
    left, right = a.structure, b.structure
    if isinstance(left, Jagged) and isinstance(right, Jagged) and left.ragged_dim == right.ragged_dim:
        sizes = enumerate(zip(a.data.shape, b.data.shape, strict=True), 1)
        if any(a_size != b_size and dim not in (left.ragged_dim, ignored_dim) for dim, (a_size, b_size) in sizes):
            return False
        return left.ragged_dim == ignored_dim or left.same_lengths(right)
    compared_axes = [axis for axis in range(a.ndim - 1) if axis + 1 != ignored_dim]
    return first_difference(a.extents[:, compared_axes], b.extents[:, compared_axes]) is None


def check_same_shape(name: str, a: NestedArray, b: NestedArray) -> None:
    """Raise unless two nested arrays have equal shapes."""
    if not same_shape(a, b):
        raise StructureError(mismatch_message(name, a, b))


# ---- broadcasting ---------------------------------------------------------------------------------------------------


def broadcasting_difference(a: NestedArray, b: NestedArray) -> tuple[int, int] | None:
    """Return the first difference of two arrays, without the axes that are regular and have size 1 in one of them."""
    broadcasts = [1 in sizes for sizes in zip(a.regular_sizes, b.regular_sizes, strict=True)]
    return first_difference(np.where(broadcasts, -1, a.extents), b.extents)


def broadcast_extents(operands: Sequence[tuple[Ints, NDArray[np.bool_]]]) -> tuple[Ints, bool]:
    """Return the extents to which operands broadcast, and whether they broadcast at all.

    An operand is a pair: its extents, and a mask of the axes that can broadcast, which have size 1. Along every other
    axis, the sizes of the operands must be equal.
    """
    all_extents = [np.where(broadcasts, -1, extents) for extents, broadcasts in operands]
    result = np.stack(np.broadcast_arrays(*all_extents)).max(axis=0)
    result[:, np.all([broadcasts for _, broadcasts in operands], axis=0)] = 1
    return result, all(first_difference(extents, result) is None for extents in all_extents)


# ---- messages -------------------------------------------------------------------------------------------------------


def shape_text(shape: Iterable[int]) -> str:
    """Return a component shape for an error message, with * for an unknown size."""
    sizes = ["*" if size < 0 else str(size) for size in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def component_text(i: int, count: int) -> str:
    """Return the name of component ``i`` for an error message about a batch of ``count`` components."""
    return f"component {i}" if count else "a component (there are none)"


def mismatch_message(name: str, a: NestedArray, b: NestedArray, broadcast: bool = False) -> str:
    """Return the error message for two different shapes. If ``broadcast``, axes that can broadcast are not compared."""
    if a.ndim != b.ndim:
        return f"{name}: the operands have {a.ndim} and {b.ndim} dimensions; the numbers must be equal."
    if len(a) != len(b):
        return f"{name}: the operands have {len(a)} and {len(b)} components; the numbers must be equal."
    left, right = a.extents, b.extents
    difference = broadcasting_difference(a, b) if broadcast else first_difference(left, right)
    assert difference is not None
    i, axis = difference
    sizes = f"lengths {left[i, axis]} and {right[i, axis]} along dimension {axis + 1}"
    component = component_text(i, len(a))
    return (
        f"{name}: the operands differ at {component}: {sizes} (shapes {shape_text(left[i])} and "
        f"{shape_text(right[i])}). Components must have equal shapes; pad, narrow or select so that {component} "
        "has the same length in both."
    )
