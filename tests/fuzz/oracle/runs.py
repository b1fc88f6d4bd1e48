"""Operators that work run by run: reductions, normalization, losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.spec.components import each, left_align
from pynested.spec.numerics import wide
from pynested.spec.reductions import AVERAGED, REDUCTIONS, Reduction
from pynested.spec.table import run_wise

from .values import (
    Answer,
    Nest,
    Refused,
    Silent,
    both,
    component_dim,
    dense,
    dim_of,
    dims_of,
    dtype_of,
    integer,
    shaped,
    stacked,
)

# ---- reductions ------------------------------------------------------------------------------------------------------


def _reduced(x: Nest, dims: tuple[int, ...] | None, keepdim: bool, dtype: Any) -> Callable[[Any], Any]:
    """What kind of array a reduction gives: clauses LAYOUTS-6, LAYOUTS-7 and SUM-2."""
    if x.dense:
        return lambda raw: dense(np.asarray(raw[0]), dtype)
    if dims is None or 0 in dims:
        return lambda raw: dense(np.asarray(raw), dtype)
    left = tuple(1 if d in dims else size for d, size in enumerate(x.shape[1:], 1) if keepdim or d not in dims)
    if x.ragged in dims if x.layout == "jagged" else not left:
        return lambda raw: stacked(raw, left, dtype)
    moved = x.ragged if keepdim or x.ragged is None else x.ragged - len([dim for dim in dims if dim < x.ragged])
    return lambda raw: x.like(raw, dtype, moved, left)


def _reduce(op: str, x: Nest, dim: Any, keepdim: Any, dtype: np.dtype[Any], asked: dict[str, Any]) -> Answer:
    dims = dims_of(x, dim)
    if x.unknown and dims != ():
        raise Silent
    if op in ("amax", "amin"):
        _refuse_empty(x, dims)
    arguments = {"self": shaped(x), "dim": dims, "keepdim": keepdim, **asked}
    return Answer(op, arguments, _reduced(x, dims, keepdim, dtype))


def _refuse_empty(x: Nest, dims: tuple[int, ...] | None) -> None:
    """A run without elements has no greatest or least element: clauses AMAX-5 and AMAX-6."""
    if dims is None or 0 in dims:
        _, present = left_align(shaped(x))
        if not np.asarray(present.any(axis=dims)).all():
            raise Refused("EmptyReductionError")
        return
    axes = [dim - 1 for dim in dims]
    for component in x:
        runs = math.prod(component.shape[axis] for axis in axes)
        kept = math.prod(size for axis, size in enumerate(component.shape) if axis not in axes)
        if not runs and kept:
            raise Refused("EmptyReductionError")


def _accumulated(x: Nest, dtype: Any, dims: Callable[[], Any]) -> tuple[np.dtype[Any], dict[str, Any]]:
    """The dtype of a sum or a product, and what is asked for; ``dims`` may refuse as well."""
    wanted, _ = both(lambda: None if dtype is None else dtype_of(dtype), dims)
    if wanted is not None and x.dtype.kind == "f" and wanted.kind != "f":
        raise Silent  # NumPy and PyTorch truncate
    own = x.dtype if x.dtype.kind == "f" else np.dtype(np.int64)
    return wanted or own, {} if wanted is None else {"dtype": wanted}


def accumulation(op: str) -> Callable[..., Answer]:
    """The rule of `sum` or `prod`."""

    def rule(self: Nest, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Answer:
        return _reduce(op, self, dim, keepdim, *_accumulated(self, dtype, lambda: dims_of(self, dim)))

    return rule


def cumsum(self: Nest, dim: Any, dtype: Any = None) -> Answer:
    kind, asked = _accumulated(self, dtype, lambda: component_dim(self, dim))
    arguments = {"self": shaped(self), "dim": component_dim(self, dim), **asked}
    return Answer("cumsum", arguments, lambda raw: self.like(raw, kind))


def _floating(dtype: Any) -> np.dtype[Any]:
    kind = dtype_of(dtype)
    if kind.kind != "f":
        raise Refused("DTypeError")
    return kind


def averaging(op: str) -> Callable[..., Answer]:
    """The rule of a mean."""

    def rule(self: Nest, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Answer:
        wanted, _ = both(lambda: None if dtype is None else _floating(dtype), lambda: dims_of(self, dim))
        own = self.dtype if self.dtype.kind == "f" else np.dtype(np.float64)
        if self.dtype.kind in "biu":  # clause MEAN-4: averaged as float64, so that no sum wraps
            self = self.like([one.astype(np.float64) for one in self], np.float64)
        return _reduce(op, self, dim, keepdim, wanted or own, {} if wanted is None else {"dtype": wanted})

    return rule


def place(op: str) -> Callable[..., Answer]:
    """The rule of `argmax` or `argmin`, which look along one dimension."""

    def rule(self: Nest, dim: Any = None, keepdim: Any = False) -> Answer:
        if dim is None:
            return _flat_place(op, self, keepdim)
        at = dim_of(self, dim)
        if self.unknown:
            raise Silent
        _refuse_empty(self, (at,))
        arguments = {"self": shaped(self), "dim": at, "keepdim": keepdim}
        return Answer(op, arguments, _reduced(self, (at,), keepdim, np.int64))

    return rule


def _flat_place(op: str, self: Nest, keepdim: bool) -> Answer:
    """The place among all elements of a dense array, which clauses ARGMAX-9 to ARGMAX-12 are about."""
    if not self.dense:
        raise Refused("ArgumentError")
    if self[0].size == 0:
        raise Refused("EmptyReductionError")
    return Answer(op, {"self": self[0], "keepdim": keepdim}, lambda raw: dense(raw, np.int64))


def reduction(op: str, dtype: Callable[[Any], Any]) -> Callable[..., Answer]:
    """The rule of a reduction that is asked for no dtype, but has one that follows from that of its operand."""

    def rule(self: Nest, dim: Any = None, keepdim: Any = False) -> Answer:
        return _reduce(op, self, dim, keepdim, np.dtype(dtype(self.dtype)), {})

    return rule


def corrected(op: str) -> Callable[..., Answer]:
    """The rule of a reduction of an entry that divides by the number of elements less a correction."""

    def rule(self: Nest, dim: Any = None, keepdim: Any = False, correction: Any = 1) -> Answer:
        def checked() -> None:
            number = isinstance(correction, int | float) and not isinstance(correction, bool)
            if not number or not correction >= 0:
                raise Refused("ArgumentError")

        both(checked, lambda: dims_of(self, dim))
        own = self.dtype if self.dtype.kind == "f" else np.dtype(np.float64)
        return _reduce(op, self, dim, keepdim, own, {"correction": correction})

    return rule


def of_entry(entry: Reduction) -> Callable[..., Answer]:
    """The rule of an entry of the specification, which says what dtype comes of which."""
    option = entry.option.partition(":")[0]
    if option == "correction":
        return corrected(entry.name)
    if option == "dtype":
        return (averaging if AVERAGED in entry.clauses else accumulation)(entry.name)
    if AVERAGED in entry.clauses:
        return reduction(entry.name, lambda own: own if own.kind == "f" else np.float64)
    return reduction(entry.name, lambda own: np.bool_)


# ---- normalization ---------------------------------------------------------------------------------------------------


def run_wise_on_floats(op: str) -> Callable[..., Answer]:
    def rule(self: Nest, dim: Any, dtype: Any = None) -> Answer:
        kind, at = both(lambda: _floating(self.dtype if dtype is None else dtype), lambda: component_dim(self, dim))
        asked = {} if dtype is None else {"dtype": kind}
        return Answer(op, {"self": shaped(self), "dim": at, **asked}, lambda raw: self.like(raw, kind))

    return rule


def layer_norm(self: Nest, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-5) -> Answer:
    single = isinstance(normalized_shape, int | np.integer) and not isinstance(normalized_shape, bool)
    shape = (integer(normalized_shape),) if single else tuple(integer(size) for size in normalized_shape)

    def trailing() -> None:
        if not shape or len(shape) >= self.rank + self.dense:
            raise Refused("StructureError", *["ShapeError"] * self.dense)
        pairs = list(zip(shape, self.shape[-len(shape) :], strict=True))
        if self.unknown and any(size is None for _, size in pairs):
            raise Silent  # irregular, or unknown
        kinds = ["StructureError"] if any(size is None for _, size in pairs) else []
        kinds += ["ShapeError"] if any(size not in (None, asked) for asked, size in pairs) else []
        if kinds:
            raise Refused(*kinds)

    def parameters() -> None:
        given = [one for one in (weight, bias) if one is not None]
        kinds = ["ShapeError"] if any(one.shape != shape for one in given) else []
        kinds += ["DTypeError"] if any(one.dtype.kind != "f" for one in given) else []
        kinds += ["ArgumentError"] if isinstance(eps, bool) or not isinstance(eps, int | float) or not eps >= 0 else []
        if kinds:
            raise Refused(*kinds)

    both(lambda: _floating(self.dtype), trailing, parameters)
    given = {"self": shaped(self), "normalized_shape": shape, "eps": float(eps)}
    given |= {name: x[0] for name, x in (("weight", weight), ("bias", bias)) if x is not None}
    return Answer("layer_norm", given, lambda raw: self.like(raw), self.unknown)


def dropout(self: Nest, p: Any = 0.5, training: Any = True, generator: Any = None) -> Answer:
    kinds = [] if self.dtype.kind == "f" else ["DTypeError"]
    if isinstance(p, bool) or not isinstance(p, int | float | np.number) or not 0 <= p <= 1:
        kinds.append("ArgumentError")
    if kinds:
        raise Refused(*kinds)
    arguments = {"self": shaped(self), "p": p, "training": training}
    drops = bool(training and p > 0)
    kept = each(lambda x: x * 0 if p == 1 else wide(x) / np.float64(1 - p), shaped(self)) if drops else None
    answer = Answer("dropout", arguments, lambda raw: self.like(raw), raw=kept)
    answer.may_drop = drops
    return answer


# ---- losses ----------------------------------------------------------------------------------------------------------


def embedding(indices: Nest, weight: Any, padding_idx: Any = None) -> Answer:
    kinds = [] if indices.dtype.kind in "iu" else ["DTypeError"]
    if len(weight.shape) != 2:
        raise Refused(*kinds, "ShapeError")
    if not kinds and any(((x < 0) | (x >= weight.shape[0])).any() for x in indices):
        kinds.append("IndexOutOfRange")
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        kinds.append("IndexOutOfRange")
    if kinds:
        raise Refused(*kinds)
    arguments = {"indices": shaped(indices, np.int64), "weight": weight[0], "padding_idx": padding_idx}
    sizes = (*indices.shape[1:], weight.shape[1])
    return Answer("embedding", arguments, lambda raw: indices.like(raw, weight.dtype, sizes=sizes))


def cross_entropy(
    self: Nest,
    target: Nest,
    weight: Any = None,
    reduction: Any = "mean",
    ignore_index: Any = -100,
    label_smoothing: Any = 0.0,
) -> Answer:
    kinds = [] if self.dtype.kind == "f" and target.dtype.kind in "iu" else ["DTypeError"]
    if self.dense != target.dense or self.unknown or target.unknown:
        raise Silent
    fits = [x.ndim and x.shape[:-1] == y.shape for x, y in zip(self, target, strict=False)]
    if len(self) != len(target) or not all(fits) or self.rank != target.rank + 1 or self.shape[-1] is None:
        raise Refused(*kinds, "StructureError", *["ShapeError"] * self.dense)
    classes, ignored = self.shape[-1], integer(ignore_index)
    kinds += ["ShapeError"] if weight is not None and weight.shape != (classes,) else []
    kinds += _odd_options(reduction, label_smoothing)
    if target.dtype.kind in "iu" and any((((y < 0) | (y >= classes)) & (y != ignored)).any() for y in target):
        kinds.append("IndexOutOfRange")
    if kinds:
        raise Refused(*kinds)
    if not classes or (weight is not None and weight.dtype.kind != "f"):
        raise Silent
    arguments = {
        "self": shaped(self),
        "target": shaped(target, np.int64),
        "reduction": reduction,
        "ignore_index": ignored,
        "label_smoothing": label_smoothing,
        **({} if weight is None else {"weight": np.real(weight[0])}),  # which has no gradient
    }
    if reduction == "none":
        return Answer("cross_entropy", arguments, lambda raw: target.like(raw, self.dtype))
    return Answer("cross_entropy", arguments, lambda raw: dense(np.asarray(raw), self.dtype))


def _odd_options(reduction: Any, smoothing: Any) -> list[str]:
    number = isinstance(smoothing, int | float) and not isinstance(smoothing, bool)
    good = reduction in ("none", "mean", "sum") and number and 0 <= smoothing <= 1
    return [] if good else ["ArgumentError"]


RULES: dict[str, Callable[..., Answer]] = {
    **{op: of_entry(entry) for op, entry in REDUCTIONS.items()},
    "sum": accumulation("sum"),
    **{op: reduction(op, lambda own: own) for op in ("amax", "amin")},
    **{op: place(op) for op in ("argmax", "argmin")},
    "mean": averaging("mean"),
    **{op: run_wise_on_floats(op) for op in run_wise()},
    "cumsum": cumsum,
    "layer_norm": layer_norm,
    "dropout": dropout,
    "embedding": embedding,
    "cross_entropy": cross_entropy,
}
