"""Operands of attention: the matrices of all heads of each component, where they lie; a copy only where they must."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import ShapeError, StructureError
from pynested.nested.array import NestedArray
from pynested.structure import Ints, Strided

from .packing import contiguous, in_buffer, packed
from .shapes import apart, broadcast_outlines, describe


class Side(NamedTuple):
    """An operand of ``op``: a flat buffer, its components there, and which of their axes may stretch."""

    op: str
    name: str
    flat: Array
    structure: Strided
    stretches: NDArray[np.bool_]
    nested: bool

    @property
    def outline(self) -> Ints:
        """The sizes of its components, those of one also where there is none."""
        return self.structure.outline

    @property
    def lead(self) -> Ints:
        """The sizes before the matrices."""
        return self.outline[:, :-2]


def side(op: str, name: str, x: NestedArray | Array, count: int, dims: int, separate: bool = True) -> Side:
    """An operand of ``count`` components with ``dims`` axes; ``separate`` where it must not overlap, and rows follow.

    A dense one has as many dimensions as they and the batch, and gives each component its slice, or has fewer, and
    serves all of them.
    """
    if isinstance(x, NestedArray):
        x = packed(x) if separate else x
        flat, structure = in_buffer(x)
        if separate and not structure.last_follows:
            flat, structure = in_buffer(contiguous(x))
        return Side(op, name, flat, structure, np.array([size == 1 for size in x.regular], np.bool_), True)
    slices = x.shape[0] if x.ndim > dims else 1
    sizes = x.shape[x.ndim > dims :]
    if separate and slices != count:
        x, slices = moves.broadcast_to(x, (count, *sizes)), count
    dense = x.contiguous()
    steps = np.array([*dense.stride()], np.int64)
    outline = np.tile(np.array(sizes, np.int64), (max(count, 1), 1))
    strides = np.tile(steps[len(steps) - len(sizes) :], (count, 1))
    offsets = np.arange(count) * (steps[0] if slices > 1 else 0)
    flat = moves.reshape(dense, (dense.numel(),))
    made = Strided.derived(outline, strides, offsets, flat.numel())
    for _ in range(dims - len(sizes)):
        made = made.with_one(0)
    return Side(op, name, flat, made, made.outline[0] == 1, False)


def refused(text: str, *sides: Side, at: int | None = None) -> StructureError | ShapeError:
    """The error for operands that do not fit in component ``at``: it is another one where a dense operand is among."""
    kind = StructureError if all(one.nested for one in sides) else ShapeError
    batch = any(one.nested for one in sides) and any(one.structure.count for one in sides)
    where = f"at component {at}, " if at is not None and batch else ""
    return kind(f"{sides[0].op}: {where}{text}")


def check_equal(what: str, a: Side, b: Side, axis: int) -> None:
    """The sizes of two operands along an axis are equal in each component."""
    if a.structure is b.structure:
        return
    found = apart(a.outline[:, [axis]], b.outline[:, [axis]])
    if found:
        i = found[0]
        raise refused(
            f"{a.name} and {b.name} have {a.outline[i, axis]} and {b.outline[i, axis]} {what}; there must be as many.",
            a, b, at=i,
        )  # fmt: skip


def leading(sides: list[Side], grouped: bool) -> tuple[Ints, Ints]:
    """The sizes of the result before its matrices, and for each component how many heads of queries share keys."""
    query, key, value = sides
    dims = query.lead.shape[1]
    group = np.ones(len(query.outline), np.int64)
    leads = [(one.lead, one.stretches[:-2]) for one in sides]
    if grouped:
        group = _groups(query, key, value)
        leads = [(one.lead[:, :-1], one.stretches[:-3]) for one in sides]
    alike = key.structure is query.structure is value.structure or not leads[0][0].shape[1]
    sizes, all_meet = (leads[0][0], True) if alike else broadcast_outlines(leads)
    if not all_meet:
        raise _no_heads_met(sides, leads)
    return (np.concatenate([sizes, query.lead[:, dims - 1 :]], axis=1) if grouped else sizes), group


def _groups(query: Side, key: Side, value: Side) -> Ints:
    """How many heads of queries share one of keys and of values."""
    if not query.lead.shape[1]:
        raise refused("enable_gqa=True needs a dimension of heads before the matrices, and there is none.", query)
    check_equal("heads", key, value, -3)
    own, shared = query.lead[:, -1], key.lead[:, -1]
    wrong = np.flatnonzero(np.where(shared > 0, own % np.maximum(shared, 1), own) * (own >= 0) * (shared >= 0))
    if wrong.size:
        i = int(wrong[0])
        raise refused(
            f"the {own[i]} heads of query do not divide into groups, one for each of the {shared[i]} heads of key.",
            query, key, at=i,
        )  # fmt: skip
    return own // np.maximum(shared, 1)


def _no_heads_met(sides: list[Side], leads: list[tuple[Ints, NDArray[np.bool_]]]) -> StructureError | ShapeError:
    """Which two operands do not meet, and where."""
    pairs = [(a, b) for a in range(3) for b in range(a)]
    for a, b in pairs:
        (first, free), (second, other) = leads[b], leads[a]
        found = apart(np.where(free | other, -1, first), second)
        if found:
            i = found[0]
            return refused(
                f"{sides[b].name} and {sides[a].name} have sizes {describe(first[i])} and {describe(second[i])} before "
                "their matrices; these must be equal, or regular and 1. Heads in groups need enable_gqa=True.",
                sides[b], sides[a], at=i,
            )  # fmt: skip
    raise AssertionError("sizes that do not broadcast differ in two operands")


def with_lead(one: Side, lead: Ints) -> Side:
    """The operand with these sizes before its matrices, and then a single axis there: its heads."""
    if one.lead.shape != lead.shape or (one.lead != lead).any():
        outline = np.concatenate([lead, one.outline[:, -2:]], axis=1)
        one = one._replace(structure=_stretched(one.structure, outline))
        one = _copied(one)
    dims = lead.shape[1]
    if dims == 0:
        return one._replace(structure=one.structure.with_one(0))
    if dims == 1:
        return one
    merged = one.structure.flattened(0, dims - 1)
    if merged is None:
        one = _copied(one)
        merged = one.structure.flattened(0, dims - 1)
    assert merged is not None
    return one._replace(structure=merged)


def _stretched(structure: Strided, outline: Ints) -> Strided:
    """The components with these sizes; steps are 0 where one element serves several."""
    strides = np.where((structure.outline != outline)[: structure.count], 0, structure.strides)
    return Strided.derived(outline, strides, structure.offsets, structure.buffer_size)


def _copied(one: Side) -> Side:
    """The components row-major and one after the other, whatever their steps are."""
    structure = one.structure
    flat = moves.gather(one.flat, structure.sizes, structure.strides, structure.offsets)
    return one._replace(flat=flat, structure=Strided.of_packed(structure.outline, structure.count))


def columns(one: Side) -> Ints:
    """Where each component begins, and its steps: from head to head, and on; int64 (B, 4)."""
    structure = one.structure
    return np.concatenate([structure.offsets[:, None], structure.strides], axis=1)


def mask_side(mask: Side, outline: Ints) -> Side:
    """A mask with one axis of heads, its steps 0 where it stretches to the scores, whose sizes are ``outline``."""
    found = apart(np.where(mask.stretches, -1, mask.outline), outline)
    if found:
        i = found[0]
        raise refused(
            f"attn_mask has shape {describe(mask.outline[i])} where the scores have {describe(outline[i])}; each size "
            "must be equal, or regular and 1.",
            mask, at=i,
        )  # fmt: skip
    dims = outline.shape[1] - 2
    whole = _stretched(mask.structure, np.where(mask.outline == outline, mask.outline, outline))
    if dims == 0:
        return mask._replace(structure=whole.with_one(0))
    merged = whole.flattened(0, dims - 1)
    if merged is None:  # heads that are not evenly apart; the matrices stay as small as they are
        own = np.concatenate([outline[:, :dims], mask.outline[:, dims:]], axis=1)
        return mask_side(_copied(mask._replace(structure=_stretched(mask.structure, own))), outline)
    return mask._replace(structure=merged)
