"""Whether the operands of a chain lie so that equal places mean equal elements, and into which blocks they are cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from pynested.autograd import Array
from pynested.components.broadcasting import behind_runs
from pynested.components.packing import packed
from pynested.nested.array import NestedArray
from pynested.structure import Jagged

from .steps import Steps


class Lined(NamedTuple):
    """Operands that are lined up: the shape of the results, and which operands are cut into blocks with them."""

    shape: tuple[int, ...]
    cut: frozenset[int]


def lined_up_or_packed(
    operands: Sequence[Any], steps: Steps, recorded: bool
) -> tuple[Sequence[Any], tuple[Lined, Any] | None]:
    """Operands as they line up, and how; those with holes are packed once, and not by each operator."""
    found = lined_up(operands, steps)
    if found is None and any(_holed(x) for x in operands) and not (recorded and _told_apart(operands, steps)):
        operands = [packed(x) if _holed(x) else x for x in operands]
        found = lined_up(operands, steps)
    return operands, found


def _holed(x: Any) -> bool:
    return type(x) is NestedArray and type(x._structure) is Jagged and not x._structure.tiles


def _told_apart(operands: Sequence[Any], steps: Steps) -> bool:
    """Whether it is seen in a gradient that one is packed once: by two operators, it gets two parts of it."""
    readers = Counter(register for step in steps.steps for register in step.reads)
    return any(_holed(x) and x._buffer.tracked and readers[i] > 1 for i, x in enumerate(operands))


def lined_up(operands: Sequence[Any], steps: Steps) -> tuple[Lined, Any] | None:
    """How operands line up, and the structure of nested ones; None where the operators have to see to it."""
    found = _lined_up(operands, steps)
    return None if found is None or (steps.ends and not _has_rows(*found)) else found


def _has_rows(lined: Lined, structure: Any) -> bool:
    """Whether the last dimension is one of rows that hold something."""
    shape = lined.shape
    if structure is not None and (type(structure) is not Jagged or structure.ragged_dim == len(shape)):
        return False
    return len(shape) > 1 and shape[-1] > 0


def _lined_up(operands: Sequence[Any], steps: Steps) -> tuple[Lined, Any] | None:
    first = next((x for x in operands if type(x) is NestedArray), None)
    if first is None:
        return _dense(operands, steps)
    structure, shape = first._structure, first._buffer._bare.shape
    if not structure.tiles:
        return None
    cut = []
    for i, x in enumerate(operands):
        if type(x) is NestedArray:
            own, data = x._structure, x._buffer._bare
            same = own is structure or structure.same_placement(own)
            if not same or data.shape != shape or not data.flags.c_contiguous:
                return None
            cut.append(i)
        elif type(x) is not Array or not behind_runs(x._bare.shape, shape, structure):
            return None
    return Lined(shape, frozenset(cut)), structure


def _dense(operands: Sequence[Any], steps: Steps) -> tuple[Lined, None] | None:
    """Dense operands of the largest shape, and others that broadcast behind its first dimension."""
    datas = [x._bare for x in operands]
    shape = max((x.shape for x in datas), key=len)
    cut = {i for i, x in enumerate(datas) if x.shape == shape}
    if not all(x.flags.c_contiguous for x in datas):
        return None
    if len(cut) < len(datas):
        small = [x.shape for i, x in enumerate(datas) if i not in cut]
        if not all(len(one) < len(shape) and _behind(one, shape) for one in small) or not _all_large(steps, cut):
            return None
    return Lined(shape, frozenset(cut)), None


def _behind(small: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return all(size in (1, met) for size, met in zip(reversed(small), reversed(shape), strict=False))


def _all_large(steps: Steps, cut: set[int]) -> bool:
    """Whether each step has an operand of full size, and so a result of full size."""
    large = set(cut)
    for step in steps.steps:
        if large.isdisjoint(step.reads):
            return False
        large.add(step.register)
    return True
