"""Operands of attention as strided matrices, one for each head of each component, in flat buffers.

An operand keeps its memory if offsets and strides can describe its matrices; otherwise it is copied. The last two axes
of a component are the rows and columns of its matrices. The axes before the last two are the *leading* axes. Leading
axes broadcast, and are merged to one axis of heads. Every error names the component.

The *extents* of an operand are the table of its component sizes (see `pynested/structure/extents.py`). An axis is
*regular* if all components have the same size along it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.primitives import movement
from pynested.backends.errors import ShapeError, StructureError
from pynested.nested.layout_conversion import as_strided_parts, contiguous, packed, slices_as_components
from pynested.nested.nested_array import NestedArray
from pynested.nested.shape_comparison import broadcast_extents, first_difference, shape_text
from pynested.structure import Ints, Strided


class AttentionOperand(NamedTuple):
    """Operand of an attention operator, nested or dense: the components in a flat buffer.

    Attributes
    ----------
    op, name : str
        The names of the operator and of the argument, for error messages.
    structure : Strided
        The components: leading axes, then rows and columns of matrices.
    regular : tuple of int or None
        The size of all components along each axis, None for an irregular axis.
    nested : bool
        Whether the argument was nested.
    """

    op: str
    name: str
    structure: Strided
    regular: tuple[int | None, ...]
    nested: bool

    @property
    def extents(self) -> Ints:
        """The shape of each component: int64 (max(B, 1), d), see `pynested/structure/extents.py`."""
        return self.structure.extents

    @property
    def leading(self) -> Ints:
        """The extents of the leading axes."""
        return self.extents[:, :-2]

    @property
    def broadcasts(self) -> NDArray[np.bool_]:
        """Whether each axis can broadcast, because it is regular and has size 1."""
        return np.array([size == 1 for size in self.regular], np.bool_)


def as_attention_operand(
    op: str, name: str, x: NestedArray | Array, count: int, dims: int, separate: bool = True
) -> tuple[Array, AttentionOperand]:
    """Return the flat buffer of an argument, and the argument as an operand of ``count`` components with ``dims`` axes.

    A dense argument with a batch dimension has a slice for each component. A dense argument of fewer dimensions is the
    same for all components. If ``separate``, the components of the result do not overlap, and the elements of each row
    are adjacent.
    """
    if isinstance(x, NestedArray):
        x = packed(x) if separate else x
        flat, structure = as_strided_parts(x)
        if separate and not structure.has_adjacent_rows:
            flat, structure = as_strided_parts(contiguous(x))
        return flat, AttentionOperand(op, name, structure, x.regular, True)
    slices = x.shape[0] if x.ndim > dims else 1
    sizes = x.shape[x.ndim > dims :]
    batch = movement.reshape(x, (slices, *[1] * (dims - len(sizes)), *sizes))
    if separate and slices != count:
        batch = movement.broadcast_to(batch, (count, *batch.shape[1:]))
    flat, structure = slices_as_components(batch, count)
    return flat, AttentionOperand(op, name, structure, tuple(structure.extents[0].tolist()), False)


def operand_error(text: str, *operands: AttentionOperand, at: int | None = None) -> StructureError | ShapeError:
    """Return the error for operands that do not fit in component ``at``: a ShapeError if any of them is dense."""
    error_class = StructureError if all(operand.nested for operand in operands) else ShapeError
    has_components = any(operand.nested and operand.structure.count for operand in operands)
    where = f"at component {at}, " if at is not None and has_components else ""
    return error_class(f"{operands[0].op}: {where}{text}")


def check_equal_sizes(unit: str, a: AttentionOperand, b: AttentionOperand, axis: int) -> None:
    """Raise unless two operands have equal sizes along ``axis`` in each component; ``unit`` says what is counted."""
    difference = first_difference(a.extents[:, [axis]], b.extents[:, [axis]])
    if difference:
        i = difference[0]
        raise operand_error(
            f"{a.name} and {b.name} have {a.extents[i, axis]} and {b.extents[i, axis]} {unit}; the numbers must be "
            "equal.",
            a, b, at=i,
        )  # fmt: skip


# ---- leading axes ---------------------------------------------------------------------------------------------------


def leading_extents(operands: tuple[AttentionOperand, ...], grouped: bool) -> Ints:
    """Return the leading extents of the result of query, key and value.

    If ``grouped``, the last leading axis is the axis of heads, and a group of query heads shares one head of keys and
    values.
    """
    query, key, value = operands
    last = -3 if grouped else -2
    if grouped:
        _check_groups(query, key, value)
    leading = [(operand.extents[:, :last], operand.broadcasts[:last]) for operand in operands]
    extents, is_valid = broadcast_extents(leading)
    if not is_valid:
        raise _leading_sizes_error(operands, leading)
    return np.concatenate([extents, query.leading[:, -1:]], axis=1) if grouped else extents


def _check_groups(query: AttentionOperand, key: AttentionOperand, value: AttentionOperand) -> None:
    """Raise unless the heads of keys divide the heads of queries in each component."""
    if not query.leading.shape[1]:
        raise operand_error("enable_gqa=True needs a dimension of heads before the matrices.", query)
    check_equal_sizes("heads", key, value, -3)
    heads, key_heads = query.leading[:, -1], key.leading[:, -1]
    remainder = np.where(key_heads > 0, heads % np.maximum(key_heads, 1), heads)
    wrong = np.flatnonzero(remainder * (heads >= 0) * (key_heads >= 0))  # -1 is the unknown size of an empty batch
    if wrong.size:
        i = int(wrong[0])
        raise operand_error(
            f"the {heads[i]} heads of query must be a multiple of the {key_heads[i]} heads of key.",
            query, key, at=i,
        )  # fmt: skip


def _leading_sizes_error(
    operands: tuple[AttentionOperand, ...], leading: list[tuple[Ints, NDArray[np.bool_]]]
) -> StructureError | ShapeError:
    """Return the error about the first two operands whose leading sizes do not broadcast."""
    for a, b in ((0, 1), (0, 2), (1, 2)):
        (left, left_broadcasts), (right, right_broadcasts) = leading[a], leading[b]
        difference = first_difference(np.where(left_broadcasts | right_broadcasts, -1, left), right)
        if difference:
            i = difference[0]
            return operand_error(
                f"{operands[a].name} and {operands[b].name} have sizes {shape_text(left[i])} and "
                f"{shape_text(right[i])} before their matrices; these must be equal, or regular and 1. Heads in groups "
                "need enable_gqa=True.",
                operands[a], operands[b], at=i,
            )  # fmt: skip
    raise AssertionError("sizes that do not broadcast differ in two operands")


def check_mask_sizes(mask: AttentionOperand, extents: Ints) -> None:
    """Raise unless a mask broadcasts to ``extents``, the extents of the scores."""
    difference = first_difference(np.where(mask.broadcasts, -1, mask.extents), extents)
    if difference:
        i = difference[0]
        raise operand_error(
            f"attn_mask has shape {shape_text(mask.extents[i])} and the scores have {shape_text(extents[i])}. Each "
            "size of the mask must be equal to the size of the scores, or regular and 1.",
            mask, at=i,
        )  # fmt: skip


# ---- memory ---------------------------------------------------------------------------------------------------------


def merge_heads(structure: Strided, extents: Ints, may_overlap: bool = False) -> tuple[Strided | None, Strided]:
    """Return the structure of components broadcast to ``extents``, with their leading axes merged to one of heads.

    If strides cannot describe it, or heads overlap that must not, the elements must be copied: then the first result is
    the structure of what is copied, component after component, and the second one lies in the copy.
    """
    if may_overlap or np.array_equal(structure.extents, extents):
        merged = _merged_leading_axes(_broadcast(structure, extents))
        if merged is not None:
            return None, merged
    # Only leading axes are repeated in the copy, so that the matrices of a mask stay small.
    copied = _broadcast(structure, np.concatenate([extents[:, :-2], structure.extents[:, -2:]], axis=1))
    packed_copy = Strided.from_extents(copied.extents, copied.count)
    merged = _merged_leading_axes(_broadcast(packed_copy, extents))
    assert merged is not None
    return copied, merged


def _broadcast(structure: Strided, extents: Ints) -> Strided:
    """Return the structure broadcast to ``extents``, with stride 0 along repeated axes."""
    if np.array_equal(structure.extents, extents):
        return structure
    strides = np.where((structure.extents != extents)[: structure.count], 0, structure.strides)
    return Strided.from_validated(extents, strides, structure.offsets, structure.buffer_size)


def _merged_leading_axes(structure: Strided) -> Strided | None:
    """Return the structure with one leading axis, or None if no stride can describe it."""
    dims = structure.extents.shape[1] - 2
    if dims == 0:
        return structure.with_new_axis(0)
    return structure if dims == 1 else structure.flattened(0, dims - 1)


def head_placement(structure: Strided) -> Ints:
    """Return the offset of each component, and its strides between heads, rows and columns: int64 (B, 4)."""
    return np.concatenate([structure.offsets[:, None], structure.strides], axis=1)
