"""How operands meet: which elements, in which shape and layout, in which dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .values import Nest, Refused, Silent, dense, shaped

Wrap = Callable[[Any], Nest]


class Meeting:
    """Operands that meet by the clauses BROADCASTING-1 to BROADCASTING-10, or are refused by them.

    ``sizes`` are the logical sizes of the components of the result, and ``columns`` for each dimension the size of
    every component.
    """

    def __init__(self, operands: Sequence[Any]) -> None:
        arrays = [x for x in operands if isinstance(x, Nest)]
        self.nested = [x for x in arrays if not x.dense]
        self.dense = [x for x in arrays if x.dense]
        self.kinds: set[str] = set()
        self.sizes: list[int | None] = []
        self.columns: list[tuple[int, ...]] = []
        self.irregular: set[int] = set()
        if self.nested:
            self._meet_nested(self.nested[0])
        else:
            _broadcast(self.dense)
        if self.kinds:
            raise Refused(*self.kinds)

    @property
    def unknown(self) -> bool:
        """Whether there is a batch of no components that may have forgotten its sizes."""
        return any(x.unknown for x in self.nested)

    @property
    def kind(self) -> str:
        """The kind of dtype that the arrays have together."""
        return np.result_type(*[x.dtype for x in (*self.nested, *self.dense)]).kind

    def _meet_nested(self, first: Nest) -> None:
        if any((x.rank, x.count) != (first.rank, first.count) for x in self.nested):
            raise Refused("StructureError", *["ShapeError"] * bool(self.dense))
        if any(x.rank > first.rank for x in self.dense):
            raise Refused("ShapeError", *["StructureError"] * (len(self.nested) > 1))
        if any(_aligned(first, x, 0) not in (1, first.count) for x in self.dense):
            self.kinds.add("ShapeError")
        for dim in range(1, first.rank):
            self._meet_along(first, dim)

    def _meet_along(self, first: Nest, dim: int) -> None:
        """What dimension ``dim`` has in the result; a regular size of 1 stretches, an irregular dimension never."""
        met = [x for x in self.nested if x.shape[dim] != 1]
        if any(x.shape[dim] is None and (x.count or x.ragged == dim) for x in met):
            self.irregular.add(dim)
        if first.count:
            columns = {x.column(dim) for x in met}
        else:  # a size that nobody knows meets whatever comes
            columns = {(size,) for x in met if (size := x.shape[dim]) is not None}
        if len(columns) > 1:
            self.kinds.add("StructureError")
        for x in self.dense:
            size = _aligned(first, x, dim)
            if size == 1:
                continue
            if any(one != size for column in columns for one in column):
                self.kinds |= {"ShapeError"} if len(self.nested) == 1 else {"ShapeError", "StructureError"}
            columns.add((size,) * max(first.count, 1))
        column = next(iter(columns), (1,) * first.count)
        self.columns.append(column)
        known = not self.unknown and dim not in self.irregular and len(set(column)) < 2
        self.sizes.append((column[0] if column else 1) if known else None)

    def wrap(self, dtype: Any) -> Wrap:
        """What makes an array of the components of a result: in the layout of the first nested operand."""
        if not self.nested:
            return lambda components: dense(np.asarray(components[0]), dtype)
        first = self.nested[0]
        stays = first.layout == "jagged" and self.irregular == {first.ragged}
        layout, ragged = ("jagged", first.ragged) if stays else ("strided", None)
        return lambda components: Nest(components, layout, dtype, ragged, tuple(self.sizes))

    def given(self, x: Any, dtype: Any = None) -> Any:
        """An operand as definitions take it: `Components` if it is nested, or if nothing is; integers in ``dtype``."""
        if not isinstance(x, Nest):
            return x
        components = shaped(x, dtype if dtype is not None and dtype.kind in "iu" else None)
        return components[0] if x.dense and self.nested else components


def _broadcast(arrays: Sequence[Nest]) -> None:
    try:
        np.broadcast_shapes(*[x.shape for x in arrays])  # type: ignore[arg-type]
    except ValueError:
        raise Refused("ShapeError") from None


def _aligned(first: Nest, x: Nest, dim: int) -> int:
    """The size with which a dense operand, aligned at the right, meets dimension ``dim``."""
    at = dim - (first.rank - x.rank)
    return 1 if at < 0 else int(x[0].shape[at])


def placed(x: Any) -> Any:
    """A scalar of NumPy is an array without dimensions."""
    return dense(np.asarray(x)) if isinstance(x, np.generic) else x


def promoted(*operands: Any, quotient: bool = False) -> np.dtype[Any]:
    """The dtype in which operands meet: numbers of Python are weak, and must fit an integer dtype."""
    dtype = np.result_type(*[x.dtype if isinstance(x, Nest) else x for x in operands])
    for x in operands:
        if type(x) is int and dtype.kind in "iu" and not np.iinfo(dtype).min <= x <= np.iinfo(dtype).max:
            if quotient:
                raise Silent  # it is float64 that would have to hold it
            raise Refused("OverflowError")
        if type(x) is int and dtype.kind == "f" and abs(x) > 2**1000:
            raise Silent
    return dtype
