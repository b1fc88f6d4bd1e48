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
    """Operand of an attention operator, nested or dense: a flat buffer, and the components in it.

    Attributes
    ----------
    op, name : str
        The names of the operator and of the argument, for error messages.
    flat : Array
        The buffer.
    structure : Strided
        The components: leading axes, then rows and columns of matrices.
    broadcasts : bool (d,)
        Whether each axis can broadcast, because it is regular and has size 1.
    nested : bool
        Whether the argument was nested.
    """

    op: str
    name: str
    flat: Array
    structure: Strided
    broadcasts: NDArray[np.bool_]
    nested: bool

    @property
    def extents(self) -> Ints:
        """The shape of each component: int64 (max(B, 1), d), see `pynested/structure/extents.py`."""
        return self.structure.extents

    @property
    def leading(self) -> Ints:
        """The extents of the leading axes."""
        return self.extents[:, :-2]


def as_attention_operand(
    op: str, name: str, x: NestedArray | Array, count: int, dims: int, separate: bool = True
) -> AttentionOperand:
    """Return an argument as an operand of ``count`` components with ``dims`` axes.

    A dense argument with a batch dimension has a slice for each component. A dense argument of fewer dimensions is the
    same for all components. If ``separate``, the components of the result do not overlap, and the elements of each row
    are adjacent.
    """
    if isinstance(x, NestedArray):
        x = packed(x) if separate else x
        flat, structure = as_strided_parts(x)
        if separate and not structure.has_adjacent_rows:
            flat, structure = as_strided_parts(contiguous(x))
        return AttentionOperand(op, name, flat, structure, np.array([size == 1 for size in x.regular], np.bool_), True)
    slices = x.shape[0] if x.ndim > dims else 1
    sizes = x.shape[x.ndim > dims :]
    batch = movement.reshape(x, (slices, *[1] * (dims - len(sizes)), *sizes))
    if separate and slices != count:
        batch = movement.broadcast_to(batch, (count, *batch.shape[1:]))
    flat, structure = slices_as_components(batch, count)
    return AttentionOperand(op, name, flat, structure, structure.extents[0] == 1, False)


def operand_error(text: str, *operands: AttentionOperand, at: int | None = None) -> StructureError | ShapeError:
    """Return the error for operands that do not fit in component ``at``: a ShapeError if any of them is dense."""
    error_class = StructureError if all(operand.nested for operand in operands) else ShapeError
    has_components = any(operand.nested for operand in operands) and any(
        operand.structure.count for operand in operands
    )
    where = f"at component {at}, " if at is not None and has_components else ""
    return error_class(f"{operands[0].op}: {where}{text}")


def check_equal_sizes(unit: str, a: AttentionOperand, b: AttentionOperand, axis: int) -> None:
    """Raise unless two operands have equal sizes along ``axis`` in each component; ``unit`` says what is counted."""
    if a.structure is b.structure:
        return
    difference = first_difference(a.extents[:, [axis]], b.extents[:, [axis]])
    if difference:
        i = difference[0]
        raise operand_error(
            f"{a.name} and {b.name} have {a.extents[i, axis]} and {b.extents[i, axis]} {unit}; the numbers must be "
            "equal.",
            a, b, at=i,
        )  # fmt: skip


# ---- leading axes ---------------------------------------------------------------------------------------------------


def leading_extents(operands: list[AttentionOperand], grouped: bool) -> Ints:
    """Return the leading extents of the result.

    If ``grouped``, the last leading axis is the axis of heads, and a group of query heads shares one head of keys and
    values.
    """
    query, key, value = operands
    leading = [(operand.leading, operand.broadcasts[:-2]) for operand in operands]
    if grouped:
        _check_groups(query, key, value)
        leading = [(operand.leading[:, :-1], operand.broadcasts[:-3]) for operand in operands]
    extents, is_valid = leading[0][0], True
    if not all(np.array_equal(extents, other) for other, _ in leading[1:]):
        extents, is_valid = broadcast_extents(leading)
    if not is_valid:
        raise _leading_sizes_error(operands, leading)
    if grouped:
        extents = np.concatenate([extents, query.leading[:, -1:]], axis=1)
    return extents


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
    operands: list[AttentionOperand], leading: list[tuple[Ints, NDArray[np.bool_]]]
) -> StructureError | ShapeError:
    """Return the error about the first two operands whose leading sizes do not broadcast."""
    pairs = [(a, b) for b in range(3) for a in range(b)]
    for a, b in pairs:
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


def with_leading_extents(operand: AttentionOperand, leading: Ints) -> AttentionOperand:
    """Return the operand broadcast to these leading extents, with its leading axes merged to one axis of heads."""
    if operand.leading.shape != leading.shape or (operand.leading != leading).any():
        extents = np.concatenate([leading, operand.extents[:, -2:]], axis=1)
        operand = _packed_copy(operand._replace(structure=_broadcast_structure(operand.structure, extents)))
    dims = leading.shape[1]
    if dims == 0:
        return operand._replace(structure=operand.structure.with_new_axis(0))
    if dims == 1:
        return operand
    merged = operand.structure.flattened(0, dims - 1)
    if merged is None:
        operand = _packed_copy(operand)
        merged = operand.structure.flattened(0, dims - 1)
    assert merged is not None
    return operand._replace(structure=merged)


def as_mask_operand(mask: AttentionOperand, extents: Ints) -> AttentionOperand:
    """Return a mask broadcast to ``extents``, the extents of the scores, with its leading axes merged to one axis."""
    difference = first_difference(np.where(mask.broadcasts, -1, mask.extents), extents)
    if difference:
        i = difference[0]
        raise operand_error(
            f"attn_mask has shape {shape_text(mask.extents[i])} and the scores have {shape_text(extents[i])}. Each "
            "size of the mask must be equal to the size of the scores, or regular and 1.",
            mask, at=i,
        )  # fmt: skip
    dims = extents.shape[1] - 2
    full = _broadcast_structure(mask.structure, extents)
    if dims == 0:
        return mask._replace(structure=full.with_new_axis(0))
    merged = full.flattened(0, dims - 1)
    if merged is None:
        # The heads have no common stride. The copy repeats leading axes only, so that the matrices stay small.
        copied_extents = np.concatenate([extents[:, :dims], mask.extents[:, dims:]], axis=1)
        mask = _packed_copy(mask._replace(structure=_broadcast_structure(mask.structure, copied_extents)))
        return as_mask_operand(mask, extents)
    return mask._replace(structure=merged)


# ---- memory ---------------------------------------------------------------------------------------------------------


def _broadcast_structure(structure: Strided, extents: Ints) -> Strided:
    """Return the structure broadcast to ``extents``, with stride 0 along repeated axes."""
    strides = np.where((structure.extents != extents)[: structure.count], 0, structure.strides)
    return Strided.from_validated(extents, strides, structure.offsets, structure.buffer_size)


def _packed_copy(operand: AttentionOperand) -> AttentionOperand:
    """Return the operand with its components packed and row-major."""
    structure = operand.structure
    flat = movement.gather(operand.flat, structure.sizes, structure.strides, structure.offsets)
    return operand._replace(flat=flat, structure=Strided.from_extents(structure.extents, structure.count))


def head_placement(structure: Strided) -> Ints:
    """Return the offset of each component, and its strides between heads, rows and columns: int64 (B, 4)."""
    return np.concatenate([structure.offsets[:, None], structure.strides], axis=1)
