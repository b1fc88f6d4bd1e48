"""Matrix products: which matrices meet, and what kind of array their products make."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import numpy as np

from .values import Answer, Nest, Refused, Silent, dense, shaped, stacked


def _in(x: Nest, dtype: np.dtype[Any]) -> Any:
    """The components, or the dense array, in the dtype of the product, if that is one of integers."""
    components = shaped(x, dtype if dtype.kind in "biu" else None)
    return components[0] if x.dense else components


def matmul(self: Nest, other: Nest) -> Answer:
    _refuse(self, other)
    dtype = np.result_type(self.dtype, other.dtype)
    arguments = {"self": _in(self, dtype), "other": _in(other, dtype)}
    nothing = not self.count or not other.count  # of which nobody can say whether lengths meet
    return Answer("matmul", arguments, _wrap(self, other, dtype), nothing)


def _refuse(a: Nest, b: Nest) -> None:
    nested = [x for x in (a, b) if not x.dense]
    if not nested:
        try:
            np.matmul(np.zeros(a[0].shape, np.int8), np.zeros(b[0].shape, np.int8))
        except ValueError:
            raise Refused("ShapeError") from None
        return
    kinds = {"StructureError" for x in nested if x.rank < 3}
    if len(nested) == 2:
        kinds |= {"StructureError"} if a.count != b.count else set()
        if not kinds and a.rank != b.rank:
            raise Silent
    else:
        kinds |= _refused_dense(nested[0], b if a is nested[0] else a)
    if kinds:
        raise Refused(*kinds)
    if any(x.unknown or (not x.count and x.ragged is not None) for x in nested):
        raise Silent  # nobody knows whether lengths meet
    if not nested[0].count:
        _refuse_inner_of_nothing(a, b)
    kinds = {"StructureError"} if len(nested) == 2 else {"ShapeError", "StructureError"}
    for x, y in zip(_each(a, b), _each(b, a), strict=True):
        try:
            np.matmul(np.zeros(x, np.int8), np.zeros(y, np.int8))
        except ValueError:
            raise Refused(*kinds) from None
        if _stretches(a, x, y) or _stretches(b, y, x):
            raise Refused(*kinds)


def _stretches(x: Nest, shape: Any, other: Any) -> bool:
    """Whether an irregular dimension of ``x``, before the matrices, would have to become longer in a component."""
    if x.dense:
        return False
    places = range(3, min(len(shape), len(other)) + 1)  # counted from the right
    return any(x.shape[-at] is None and other[-at] not in (1, shape[-at]) for at in places)


def _refused_dense(nested: Nest, array: Nest) -> set[str]:
    kinds = set() if 0 < array.rank <= nested.rank else {"ShapeError", "StructureError"}
    if array.rank == nested.rank and array.shape[0] not in (1, nested.count):
        kinds.add("ShapeError")
    return kinds


def _each(x: Nest, other: Nest) -> list[Any]:
    """The shape that each component of a product takes from ``x``."""
    if not x.dense:
        return [one.shape for one in x]
    return [x.shape[1:] if x.rank == other.rank else x.shape] * other.count


def _refuse_inner_of_nothing(a: Nest, b: Nest) -> None:
    """Regular inner sizes have to be equal without components too."""
    inner = a.shape[-1], b.shape[-2] if b.rank > 1 else b.shape[0]
    if None not in inner and inner[0] != inner[1]:
        raise Refused("ShapeError", "StructureError")


def _wrap(a: Nest, b: Nest, dtype: Any) -> Callable[[Any], Any]:
    """Clauses MATMUL-2 to MATMUL-5: the ragged dimensions that are not summed over."""
    nested = [x for x in (a, b) if not x.dense]
    if not nested:
        return lambda raw: dense(np.asarray(raw), dtype)
    sizes = _sizes(a, b, nested)
    if any(x.layout == "strided" for x in nested):
        return lambda raw: Nest(raw, "strided", dtype, sizes=sizes)
    rank = len(sizes) + 1
    ragged = set()
    for x, summed in ((a, a.rank - 1), (b, b.rank - 2)):
        if not x.dense and x.ragged != summed:
            gone = a.dense and a.rank == 1 and x.ragged == b.rank - 1  # a row vector takes the rows away
            ragged.add(rank - x.rank + x.ragged if gone or x.rank == rank else x.ragged)
    if len(ragged) == 2:
        return lambda raw: Nest(raw, "strided", dtype, sizes=sizes)
    if not ragged:
        return lambda raw: stacked(raw, sizes, dtype)
    at = ragged.pop()
    return lambda raw: Nest(raw, "jagged", dtype, at, sizes)


def _sizes(a: Nest, b: Nest, nested: list[Nest]) -> tuple[int | None, ...]:
    """The logical sizes of the components of the product."""
    own = [x.shape[1:] if not x.dense or x.rank == nested[0].rank else x.shape for x in (a, b)]
    pairs = zip_longest(*[part[-3::-1] for part in own], fillvalue=1)  # the dimensions before matrices, from the right
    lead = [n if m == 1 else m for m, n in pairs][::-1]
    return (*lead, *(own[0][-2:-1]), *(own[1][-1:] if len(own[1]) > 1 else ()))


def bmm(self: Nest, mat2: Nest) -> Answer:
    both_dense = self.dense and mat2.dense
    if self.rank != 3 or mat2.rank != 3:
        raise Refused("StructureError", *["ShapeError"] * both_dense)
    if self.shape[0] != mat2.shape[0]:
        raise Refused("ShapeError" if self.dense or mat2.dense else "StructureError")
    _refuse(self, mat2)
    dtype = np.result_type(self.dtype, mat2.dtype)
    given = {"self": _in(self, dtype), "mat2": _in(mat2, dtype)}
    return Answer("bmm", given, _wrap(self, mat2, dtype), not self.shape[0])


def linear(self: Nest, weight: Nest, bias: Any = None) -> Answer:
    kinds: set[str] = set()
    if self.dense and not self.rank:
        raise Refused("ShapeError")
    features = self.shape[-1] if self.rank > 1 or self.dense else None
    if self.unknown and features is None:
        raise Silent  # irregular, or unknown
    if not self.dense and features is None:
        kinds.add("StructureError")
    if weight.rank != 2:
        raise Refused(*kinds, "ShapeError")
    if features is not None and weight.shape[1] != features:
        kinds.add("ShapeError")
    if bias is not None and bias.shape != weight.shape[:1]:
        kinds.add("ShapeError")
    if kinds:
        raise Refused(*kinds)
    product = np.result_type(self.dtype, weight.dtype)
    dtype = product if bias is None else np.result_type(product, bias.dtype)
    given = {"self": shaped(self, product if product.kind in "biu" else None), "weight": _in(weight, product)}
    given |= {} if bias is None else {"bias": bias[0]}
    sizes = (*self.shape[1:-1], weight.shape[0])
    return Answer("linear", given, lambda raw: self.like(raw, dtype, sizes=sizes), self.unknown)


RULES: dict[str, Callable[..., Answer]] = {"matmul": matmul, "bmm": bmm, "linear": linear}
