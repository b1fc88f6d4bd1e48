"""Components: nested operands and results; a dense function over them, and the layouts that are small."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, TypeVar, overload

import numpy as np

from .numerics import NDArray, wide

__all__ = [
    "Components",
    "Shape",
    "broadcast",
    "cast",
    "dims_of",
    "each",
    "is_several",
    "layouts",
    "left_align",
    "matched",
    "of_parts",
    "over_runs",
    "parts_of",
    "place_over_runs",
    "promoted",
    "split_rows",
    "stacked",
    "without",
]

Shape = Sequence[int | None]  # a logical shape: batch first, None where irregular
Operand = TypeVar("Operand", "Components", NDArray)


class Components(list[NDArray]):
    """The components of one nested operand or result, and what a batch of none has as well: logical shape and dtype."""

    def __init__(self, components: Iterable[NDArray], shape: Shape | None = None, dtype: Any = None) -> None:
        super().__init__(map(np.asarray, components))
        self.shape: tuple[int | None, ...] = _seen(self) if shape is None else tuple(shape)
        if not self and dtype is None:
            raise TypeError("Components: a batch of no components cannot show its dtype; pass dtype=")
        self.dtype: np.dtype[Any] = np.dtype(dtype) if dtype is not None else self[0].dtype

    @overload
    def __getitem__(self, index: SupportsIndex) -> NDArray: ...

    @overload
    def __getitem__(self, index: slice) -> Components: ...

    def __getitem__(self, index: Any) -> Any:
        """Return one component, or those that a slice names."""
        picked = super().__getitem__(index)
        return Components(picked, (len(picked), *self.shape[1:]), self.dtype) if isinstance(index, slice) else picked


def is_several(value: Any) -> bool:
    """Return whether a value is a list or a mapping of values, which components are not."""
    return isinstance(value, (list, dict)) and not isinstance(value, Components)


def parts_of(value: Any) -> list[Any]:
    """Return what a list or a mapping holds; what is neither holds nothing.

    >>> parts_of([1, 2]), parts_of({"weight": 3}), parts_of(Components([np.zeros(2)])), parts_of((1, 2))
    ([1, 2], [3], [], [])
    """
    if not is_several(value):
        return []
    return list(value.values() if isinstance(value, dict) else value)


def of_parts(value: Any, parts: Iterable[Any]) -> Any:
    """Return a list, or a mapping of the same names, that holds other parts.

    >>> of_parts([1, 2], [3, 4]), of_parts({"weight": 3}, [5])
    ([3, 4], {'weight': 5})
    """
    return dict(zip(value, parts, strict=True)) if isinstance(value, dict) else list(parts)


def _seen(components: Sequence[NDArray]) -> tuple[int | None, ...]:
    """Return the logical shape that components show: batch and sizes, None where these differ."""
    if not components:
        return (0,)
    columns = zip(*(component.shape for component in components), strict=True)
    return len(components), *(column[0] if len(set(column)) == 1 else None for column in columns)


@overload
def each(
    function: Callable[..., Any], first: Components, /, *others: Any, shape: Shape | None = None, dtype: Any = None
) -> Components: ...


@overload
def each(function: Callable[..., Any], /, *operands: Any, shape: Shape | None = None, dtype: Any = None) -> Any: ...


def each(function: Callable[..., Any], /, *operands: Any, shape: Shape | None = None, dtype: Any = None) -> Any:
    """Return `nest(function(a0, b0), ..., function(an, bn))`: the law. Of dense operands, return `function(a, b)`.

    `shape` is the logical shape of the result, by default that to which the operands broadcast. Where there are no
    components the result has `dtype`, by default that of the function of zeros.
    """
    if not any(isinstance(operand, Components) for operand in operands):
        return function(*operands)
    if shape is None:
        shape = broadcast(*(operand.shape for operand in operands if _is_array(operand)))
    components = [np.asarray(function(*group)) for group in matched(*operands)]
    if not components:
        with np.errstate(all="ignore"):
            return Components([], shape, dtype or np.asarray(function(*_zeros(operands))).dtype)
    for number, component in enumerate(components):
        if not _fits(component.shape, shape[1:]):
            raise ValueError(f"each: component {number} of the result has shape {component.shape}, not {shape[1:]}")
    return Components(components, shape)


def broadcast(*shapes: Shape) -> Shape:
    """Return the logical shape to which shapes broadcast, aligned on the right; what is irregular stays so."""
    columns = itertools.zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)
    sizes = [None if None in column else next((size for size in column if size != 1), 1) for column in columns]
    return tuple(sizes[::-1])


def _zeros(operands: Sequence[Any]) -> list[Any]:
    """Return what a component could meet where there is none: zeros, 1 long where a size is irregular."""
    rank = _rank(operands)

    def one(operand: Any) -> Any:
        whole = isinstance(operand, Components) or (isinstance(operand, np.ndarray) and operand.ndim == rank)
        if not whole:
            return operand
        dtype = np.float64 if operand.dtype == object else operand.dtype  # exact numbers, which 0 would not divide
        return np.zeros([1 if n is None else n for n in operand.shape[1:]], dtype)

    return [one(operand) for operand in operands]


def _is_array(operand: Any) -> bool:
    return isinstance(operand, (Components, np.ndarray))


def _fits(sizes: tuple[int, ...], shape: Shape) -> bool:
    return len(sizes) == len(shape) and all(n is None or n == size for size, n in zip(sizes, shape, strict=True))


def _rank(operands: Sequence[Any]) -> int:
    """Return the number of dimensions, batch included, of the nested operands."""
    return max(len(operand.shape) for operand in operands if isinstance(operand, Components))


def matched(*operands: Any) -> list[tuple[Any, ...]]:
    """Pair operands, of which at least one is nested, by component: `(a0, b0), (a1, b1), ...`.

    A dense operand with the rank of the whole batch gives component i its slice i (or its only one); one of lower rank
    meets every component as it is, aligned on the right by NumPy; so does a scalar.
    """
    batch, rank = next(len(operand) for operand in operands if isinstance(operand, Components)), _rank(operands)
    return list(zip(*(_per_component(operand, batch, rank) for operand in operands), strict=True))


def _per_component(operand: Any, batch: int, rank: int) -> Sequence[Any]:
    if isinstance(operand, Components):
        return operand
    if isinstance(operand, np.ndarray) and operand.ndim == rank:
        return [operand[number if operand.shape[0] != 1 else 0] for number in range(batch)]
    return [operand] * batch


def promoted(*operands: Any) -> list[Any]:
    """Return operands ready for arithmetic: of one dtype, numbers of that of the arrays, and floats wide."""
    arrays = [operand.dtype for operand in operands if isinstance(operand, (Components, np.ndarray))]
    dtype = np.result_type(np.bool_, *arrays)
    met = [
        operand
        if isinstance(operand, (Components, np.ndarray))
        else np.asarray(operand, np.result_type(dtype, operand))
        for operand in operands
    ]
    common = np.result_type(dtype, *(operand.dtype for operand in met))
    return [each(lambda x: wide(x if x.dtype.kind in "fcO" else x.astype(common)), operand) for operand in met]


def cast(x: Operand, dtype: Any) -> Operand:
    """Return components, or an array, in `dtype`, if there is one; complex and exact numbers keep their kind."""
    found: Operand = each(lambda one: one if dtype is None or one.dtype.kind in "cO" else one.astype(dtype), x)
    return found


def dims_of(dim: int | Sequence[int] | None, shape: Shape) -> tuple[int, ...]:
    """Return the dimensions that `dim` names: one, several, or all of them where it is None."""
    if dim is None:
        return tuple(range(len(shape)))
    return (dim,) if isinstance(dim, int) else tuple(dim)


def without(shape: Shape, dims: Sequence[int], keepdim: bool = False) -> Shape:
    """Return the logical shape that is left of `shape` when `dims` are reduced, which stay with size 1 if kept."""
    return tuple(1 if d in dims else size for d, size in enumerate(shape) if keepdim or d not in dims)


def stacked(components: Components) -> NDArray:
    """Return components of one shape as a dense array."""
    return np.stack(components) if components else np.zeros([size or 0 for size in components.shape], components.dtype)


def left_align(components: Components) -> tuple[NDArray, NDArray]:
    """Return `(aligned, present)`: every component in the leading corner of its row, zeros and False elsewhere."""
    sizes = [max(column) for column in zip(*(one.shape for one in components), strict=True)]
    shape = (len(components), *(sizes if components else (size or 0 for size in components.shape[1:])))
    aligned, present = np.zeros(shape, dtype=components.dtype), np.zeros(shape, dtype=np.bool_)
    for number, component in enumerate(components):
        corner: tuple[Any, ...] = (number, *(slice(size) for size in component.shape))
        aligned[corner], present[corner] = component, True
    return aligned, present


def over_runs(function: Callable[[NDArray], Any], x: Components, dim: Any, keepdim: bool = False) -> Any:
    """Return `function(run)` of each run along `dim`, a vector of the elements that are present there."""
    dims = dims_of(dim, x.shape)
    kind = x.dtype if x.dtype == object else np.asarray(function(np.zeros(1, x.dtype))).dtype

    def one(x: NDArray, present: NDArray, axes: tuple[int, ...]) -> NDArray:
        found = _of_runs(function, x, present, axes, kind)
        return np.expand_dims(found, axes) if keepdim else found

    if 0 in dims:
        return one(*left_align(x), dims)
    axes = tuple(d - 1 for d in dims)
    shape = without(x.shape, dims, keepdim)
    return each(lambda component: one(component, np.ones(component.shape, np.bool_), axes), x, shape=shape, dtype=kind)


def _of_runs(
    function: Callable[[NDArray], Any], x: NDArray, present: NDArray, axes: tuple[int, ...], kind: Any
) -> NDArray:
    sizes = [size for axis, size in enumerate(x.shape) if axis not in axes]
    result = np.empty(sizes, kind)
    for place in np.ndindex(*sizes):
        rest = iter(place)
        run = tuple(slice(None) if axis in axes else next(rest) for axis in range(x.ndim))
        result[place] = np.asarray(function(x[run][present[run]]))[()]
    return result


def place_over_runs(function: Callable[[NDArray], int], x: Components, dim: int, keepdim: bool = False) -> Any:
    """Return `function(run)`, a place in each run; along dimension 0 the number of the component that is there."""
    if dim != 0:
        return over_runs(function, x, dim, keepdim)
    aligned, present = left_align(x)
    numbers = np.arange(len(x)).reshape(-1, *[1] * (aligned.ndim - 1)) * np.ones(aligned.shape, np.int64)
    result = np.empty(aligned.shape[1:], np.int64)
    for place in np.ndindex(*result.shape):
        column = (slice(None), *place)
        result[place] = numbers[column][present[column]][function(aligned[column][present[column]])]
    return result[None] if keepdim else result


def split_rows(values: NDArray, lengths: Sequence[int]) -> list[NDArray]:
    """Cut the rows of `values` into components of these lengths: the packed jagged layout read backwards."""
    stops = list(itertools.accumulate(lengths, initial=0))
    return [values[start:stop] for start, stop in itertools.pairwise(stops)]


def layouts(batch: int = 3, length: int = 3) -> Iterator[tuple[int, ...]]:
    """Yield the lengths of every batch of up to `batch` components, each up to `length` long: 85 by default."""
    for size in range(batch + 1):
        yield from itertools.product(range(length + 1), repeat=size)
