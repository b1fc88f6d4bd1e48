"""Calls of dense PyTorch that are about a batch, where no operator of a component is called by the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Parts:
    """The components of one operand, each a dense tensor of its own; ``shape`` counts the batch."""

    tensors: Sequence[Any]
    shape: Sequence[int | None]

    @property
    def dims(self) -> int:
        """How many dimensions there are, with the batch."""
        return len(self.shape)

    def size(self, dim: int) -> int:
        """Return the size of a dimension, or the greatest one where the components have several."""
        if dim == 0 or isinstance(self.tensors, Absent):
            return self.shape[dim] or 0
        return max(int(one.shape[dim - 1]) for one in self.tensors)

    def elements(self, index: Sequence[Any]) -> tuple[list[int], list[Any]]:
        """Return the numbers of the components that have elements at an index, and a row of these for each."""
        tensors = [] if isinstance(self.tensors, Absent) else self.tensors
        pairs = [zip(index, one.shape, strict=True) for one in tensors]
        present = [n for n, own in enumerate(pairs) if all(isinstance(at, slice) or at < size for at, size in own)]
        rows = [tensors[n][tuple(index)].reshape(-1) for n in present]
        return present, rows or [self.tensors[0].reshape(-1)[:0]]


class Absent(list[Any]):
    """The one component that stands for none."""


def gathered(found: Sequence[Any], absent: bool) -> Parts:
    """Return results as parts; of what stands for none only the number of dimensions is known."""
    if len({one.ndim for one in found}) > 1:
        raise NotImplementedError("the results of the components have different numbers of dimensions")
    shape = [0 if absent else len(found), *([None] * found[0].ndim)]
    return Parts(Absent(found) if absent else found, shape)


def made(torch: Any, arrays: Any, *, dtype: Any = None, layout: Any = None, pin_memory: bool = False) -> Parts:
    """Make a tensor of every array, where each can be made without the others; of none the default dtype is known."""
    if isinstance(arrays, (list, tuple)) and not arrays:
        return gathered([torch.zeros((), dtype=dtype)], True)
    if not arrays or (dtype is None and any(isinstance(one, torch.Tensor) for one in arrays)):
        raise NotImplementedError("the dtype of one array follows from that of another")
    tensors = [torch.as_tensor(one, dtype=dtype) for one in arrays]
    return gathered([one.pin_memory() if pin_memory else one for one in tensors], False)


def joined(torch: Any, arrays: Sequence[Any]) -> Parts:
    """Put the components of all operands side by side, in the dtype of what a dense operator joins."""
    if not all(isinstance(one, Parts) and not isinstance(one.tensors, Absent) for one in arrays):
        raise NotImplementedError("needs nested operands with components")
    parts = [part for one in arrays for part in one.tensors]
    dtype = torch.cat([part.reshape(-1)[:0] for part in parts]).dtype
    return gathered([part.to(dtype) for part in parts], False)


def indexed(torch: Any, parts: Parts, index: Any) -> Any:
    """Index a tensor of the numbers of the components by the first entry, and components by the others."""
    first, *rest = index if isinstance(index, tuple) else (index,)
    if first is None or first is ... or isinstance(first, Parts):
        raise NotImplementedError("the first entry picks no components")
    absent = isinstance(parts.tensors, Absent)
    picked = torch.arange(0 if absent else len(parts.tensors))[first]
    if not picked.numel():
        raise NotImplementedError("no component is left")
    found = [parts.tensors[number][tuple(rest)] for number in picked.reshape(-1).tolist()]
    return gathered(found, False) if picked.ndim else found[0]


def padded(torch: Any, parts: Parts, padding: Any, output_size: Any = None, out: Any = None) -> Any:
    """Fill a tensor with the padding, and write the components into it."""
    if output_size is not None or out is not None:
        raise NotImplementedError("with a size, or a place, of its own")
    absent = isinstance(parts.tensors, Absent)
    longest = [max(sizes) for sizes in zip(*(one.shape for one in parts.tensors), strict=True)]
    sizes = [size or 0 for size in parts.shape] if absent else [len(parts.tensors), *longest]
    result = torch.full(sizes, padding, dtype=parts.tensors[0].dtype)
    for number, one in enumerate([] if absent else parts.tensors):
        result[number, *map(slice, one.shape)] = one
    return result


def reshaped(torch: Any, parts: Parts, shape: Any) -> Parts:
    """Reshape each component; -1 keeps a size, and is what dense PyTorch infers where there is none to keep."""
    if not isinstance(parts, Parts):
        raise NotImplementedError("of nested tensors")
    sizes = list(shape) if isinstance(shape, (list, tuple)) else []
    absent = isinstance(parts.tensors, Absent)
    if sizes[:1] not in ([-1], [0 if absent else len(parts.tensors)]):
        raise NotImplementedError("the first size is no number of components")

    return gathered([_reshaped(part, sizes[1:]) for part in parts.tensors], absent)


def _reshaped(part: Any, sizes: Sequence[int]) -> Any:
    """Reshape one component; of one without elements, a size is inferred as of one with elements."""
    kept = [part.shape[dim] if size == -1 and dim < part.ndim else size for dim, size in enumerate(sizes)]
    if part.numel() == 0 and -1 in kept:
        filled = part.new_ones([size or 1 for size in part.shape])
        known = filled.reshape([size or 1 for size in kept]).shape
        kept = [one if size == -1 else size for size, one in zip(kept, known, strict=True)]
    return part.reshape(kept)


def selected(torch: Any, array: Any, mask: Any) -> Parts:
    """Choose the elements of each run of a dense array along its last dimension; one without dimensions is a run."""
    if isinstance(array, Parts) or isinstance(mask, Parts):
        raise NotImplementedError("of a dense array")
    array, mask = torch.broadcast_tensors(array, mask)
    pairs = zip(*(one.reshape(-1, *one.shape[-1:]) if one.ndim else [one] for one in (array, mask)), strict=True)
    found = [torch.masked_select(*pair) for pair in pairs]
    if not found:
        raise NotImplementedError("there is no run")
    return gathered(found, False)


OF_BATCH: Mapping[str, Callable[..., Any]] = {
    "nested_array": made,
    "getitem": indexed,
    "to_padded_array": padded,
    "reshape": reshaped,
    "view": reshaped,
    "masked_select": selected,
}
