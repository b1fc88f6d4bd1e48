"""Shapes of nested arrays compared: by value, whatever the layouts and placements; and where they differ, in words.

Components of no components have shapes too, as far as sizes are regular (see `pynested.structure.Strided`). What is
unknown, because no component has it and nobody said it, differs from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pynested.backends.errors import StructureError
from pynested.nested.array import NestedArray
from pynested.structure import Ints, Jagged


def describe(shape: Iterable[int]) -> str:
    """A component's shape for an error message, * for what is unknown."""
    sizes = ["*" if size < 0 else str(size) for size in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def apart(a: Ints, b: Ints) -> tuple[int, int] | None:
    """Where two outlines first differ: a component, and an axis of it."""
    differing = a != b
    if not np.count_nonzero(differing):
        return None
    differing &= (a >= 0) & (b >= 0)
    if not np.count_nonzero(differing):
        return None
    component, axis = divmod(int(differing.argmax()), differing.shape[1])
    return component, axis


def same_shape(a: NestedArray, b: NestedArray, but: int | None = None) -> bool:
    """Whether rank, number and sizes of components are equal, the sizes along dimension ``but`` left aside."""
    if a.structure is b.structure and a.data.shape == b.data.shape:
        return True
    if a.ndim != b.ndim or len(a) != len(b):
        return False
    s, t = a.structure, b.structure
    if isinstance(s, Jagged) and isinstance(t, Jagged) and s.ragged_dim == t.ragged_dim:
        sizes = enumerate(zip(a.data.shape, b.data.shape, strict=True), 1)
        if any(one != other and dim not in (s.ragged_dim, but) for dim, (one, other) in sizes):
            return False
        return s.ragged_dim == but or s.same_lengths(t)
    columns = [k for k in range(a.ndim - 1) if k + 1 != but]
    return apart(a.outline[:, columns], b.outline[:, columns]) is None


def check_same_shape(name: str, a: NestedArray, b: NestedArray) -> None:
    """Say where two nested arrays differ, if they do."""
    if not same_shape(a, b):
        raise StructureError(difference(name, a, b))


def stretching(a: NestedArray, b: NestedArray) -> NDArray[np.bool_]:
    """For each dimension of components, whether it is regular and 1 in one of the arrays: there it may stretch."""
    return np.array([1 in sizes for sizes in zip(a.regular, b.regular, strict=True)], np.bool_)


def broadcast_outlines(operands: Sequence[tuple[Ints, NDArray[np.bool_]]]) -> tuple[Ints, bool]:
    """The outline of operands that broadcast, given theirs and which dimensions stretch; and whether they do meet.

    Sizes that do not stretch must be equal, and where all stretch they are 1.
    """
    fixed = [np.where(stretches, -1, outline) for outline, stretches in operands]
    sizes = np.stack(np.broadcast_arrays(*fixed)).max(axis=0)
    sizes[:, np.all([stretches for _, stretches in operands], axis=0)] = 1
    return sizes, all(apart(own, sizes) is None for own in fixed)


def difference(name: str, a: NestedArray, b: NestedArray, stretch: bool = False) -> str:
    """Where the shapes of two nested arrays differ, in words; with ``stretch`` not where a dimension may stretch."""
    if a.ndim != b.ndim:
        return f"{name}: the operands have {a.ndim} and {b.ndim} dimensions; they must have as many."
    if len(a) != len(b):
        return f"{name}: the operands have {len(a)} and {len(b)} components; they must have as many."
    first, second = a.outline, b.outline
    found = apart(np.where(stretching(a, b), -1, first) if stretch else first, second)
    assert found is not None
    i, axis = found
    sizes = f"lengths {first[i, axis]} and {second[i, axis]} along dimension {axis + 1}"
    if not len(a):
        return f"{name}: the operands have no components, but theirs would differ: {sizes}, which must be equal."
    return (
        f"{name}: the operands differ at component {i}: {sizes} (shapes {describe(first[i])} and "
        f"{describe(second[i])}). Components must have equal shapes; pad, narrow or select so that component {i} has "
        "the same length in both."
    )


def named_instead(ndim: int) -> str:
    """What to do for somebody who named the batch dimension."""
    if ndim < 2:
        return "The components have no dimensions of their own."
    return "The only other one is 1." if ndim == 2 else f"Name one of 1..{ndim - 1}."
