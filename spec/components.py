"""Lists of components: pair them with other operands, align them, cast them, and enumerate the small ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .numerics import NDArray, wide

__all__ = ["cast", "layouts", "left_align", "matched", "partitions", "promoted", "split_rows"]


def cast(array: NDArray, dtype: Any) -> NDArray:
    """Return `array` in `dtype`, if there is one; complex and exact numbers keep their kind."""
    array = np.asarray(array)
    return array if dtype is None or array.dtype.kind in "cO" else array.astype(dtype)


def matched(*operands: Any) -> list[tuple[Any, ...]]:
    """Pair operands by component: `(a0, b0), (a1, b1), ...`.

    A dense operand with the rank of the whole batch gives component i its slice i (or its only one); one of lower rank
    meets every component as it is, aligned on the right by NumPy; so does a scalar. Without a nested operand the
    operands are one component.
    """
    nested = [operand for operand in operands if isinstance(operand, list)]
    if not nested:
        return [operands]
    batch = len(nested[0])
    rank = max((component.ndim for operand in nested for component in operand), default=0)
    return list(zip(*(_per_component(operand, batch, rank) for operand in operands), strict=True))


def _per_component(operand: Any, batch: int, rank: int) -> Sequence[Any]:
    if isinstance(operand, list):
        return operand
    if isinstance(operand, np.ndarray) and operand.ndim == rank + 1:
        return [operand[number if operand.shape[0] != 1 else 0] for number in range(batch)]
    return [operand] * batch


def promoted(*operands: Any) -> list[tuple[NDArray, ...]]:
    """Pair operands as `matched` does, for arithmetic: of one dtype, numbers of that of the arrays, and floats wide."""
    arrays = [array for operand in operands for array in (operand if isinstance(operand, list) else [operand])]
    dtype = np.result_type(np.bool_, *(array.dtype for array in arrays if isinstance(array, np.ndarray)))
    met = [
        operand if isinstance(operand, (list, np.ndarray)) else np.asarray(operand, np.result_type(dtype, operand))
        for operand in operands
    ]
    common = np.result_type(dtype, *(operand.dtype for operand in met if isinstance(operand, np.ndarray)))
    return [tuple(_in_common(array, common) for array in group) for group in matched(*met)]


def _in_common(array: NDArray, common: np.dtype[Any]) -> NDArray:
    return wide(array if array.dtype.kind in "fcO" else array.astype(common))


def left_align(components: Sequence[NDArray]) -> tuple[NDArray, NDArray]:
    """Return `(aligned, present)`: every component in the leading corner of its row, zeros and False elsewhere."""
    shape = _common_shape(components)
    kind = components[0].dtype if components else getattr(components, "dtype", np.dtype(np.float64))
    aligned, present = np.zeros(shape, dtype=kind), np.zeros(shape, dtype=np.bool_)
    for number, component in enumerate(components):
        corner: tuple[Any, ...] = (number, *(slice(size) for size in component.shape))
        aligned[corner], present[corner] = component, True
    return aligned, present


def _common_shape(components: Sequence[NDArray]) -> tuple[int, ...]:
    if not components:
        return tuple(size or 0 for size in getattr(components, "shape", (0,)))
    return len(components), *(max(sizes) for sizes in zip(*(one.shape for one in components), strict=True))


def split_rows(values: NDArray, lengths: Sequence[int]) -> list[NDArray]:
    """Cut the rows of `values` into components of these lengths: the packed jagged layout read backwards."""
    stops = list(itertools.accumulate(lengths, initial=0))
    return [values[start:stop] for start, stop in itertools.pairwise(stops)]


def partitions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to write `total` as an ordered sum of `parts` numbers >= 0."""
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in partitions(total - first, parts - 1))


def layouts(batch: int = 3, length: int = 3) -> Iterator[tuple[int, ...]]:
    """Yield the lengths of every batch of up to `batch` components, each up to `length` long: 85 by default."""
    for size in range(batch + 1):
        yield from itertools.product(range(length + 1), repeat=size)
