"""Calls from covering arrays where something stands in a run that is easily forgotten: ends, ties, NaN, infinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...components import Components, each, left_align, stacked
from ...numerics import NDArray
from ..author import Book
from ..batches import drawn, outline
from ..covering import Row
from ..draws import word
from .calls import add, refusal
from .folded import chooses_from_nothing, dims_of, kind_of, spelled_dims

__all__ = ["full", "spoilt", "tied"]

MULTIPLE = 2520  # a cotangent that up to ten elements share without rounding


def full(book: Book, row: Row, key: str) -> None:
    """Add a choice from runs whose extremes stand at an end, or that hold NaN or infinities."""
    x = drawn(outline(row), row["dtype"], key, "distinct")
    if row["extreme"] == "huge":
        _fold(book, row, _huge(x, -1 if book.op in ("amax", "argmax") else 1))
    elif row["extreme"] in ("front", "back"):
        _fold(book, row, _sorted(x, backwards=row["extreme"] == "front"))
    else:
        _fold(book, row, _with_specials(x, row["extreme"], key), gradient=None)


def spoilt(book: Book, row: Row, key: str) -> None:
    """Add an operator on runs of which some hold NaN or infinities."""
    x = drawn(outline(row), row["dtype"], key)
    exact = book.op in ("sum", "nansum", "cumsum")
    _fold(book, row, _with_specials(x, row["extreme"], key), gradient=None, cmp="exact" if exact else "bound")


def tied(book: Book, row: Row, key: str) -> None:
    """Add a choice from runs in which many elements are equal, and share what comes in."""
    form = outline(row)
    x = drawn(form, row["dtype"], f"{key} x", "whole", -2, 2)
    dims = dims_of(row, form)
    cotangents = iter(range(2**62))

    def coming(shape: tuple[int, ...]) -> NDArray:
        flat = [word(f"{key} cotangent", next(cotangents)) for _ in range(int(np.prod(shape)))]
        numbers = [(1, 2, -1, -2, np.nan, np.inf)[w % (6 if row["cotangent"] == "spoilt" else 4)] for w in flat]
        return (MULTIPLE * np.array(numbers)).astype(row["dtype"]).reshape(shape)

    several = tuple(range(len(form.shape))) if dims is None else dims if isinstance(dims, tuple) else (dims,)
    keepdim = row["keepdim"] == "true"
    if chooses_from_nothing(x, dims) or not form.shapes:
        _fold(book, row, x)
        return
    try:
        gradients, arriving = _pulled(book.op, x, several, coming, keepdim)
    except _Uneven:
        _fold(book, row, x, gradient=None)
        return
    kind = kind_of(form, dims, keepdim)
    if not isinstance(arriving, np.ndarray):
        sizes = tuple(1 if d in several else size for d, size in enumerate(form.shape) if keepdim or d not in several)
        arriving = Components(arriving, sizes, row["dtype"])
        arriving = stacked(arriving) if kind == "dense" else arriving
    _fold(book, row, x, gradient=[gradients], cotangent=arriving)


class _Uneven(ValueError):
    """So many elements share a cotangent that their parts are rounded."""


def _pulled(
    op: str, x: Components, dims: tuple[int, ...], coming: Callable[[Any], NDArray], keepdim: bool
) -> tuple[list[NDArray], Any]:
    """Return what each component receives, and what came: one array along the batch, or one for each component."""
    if 0 in dims:
        aligned, present = left_align(x)
        gradient, arriving = _shared(op, aligned, present, dims, coming, keepdim)
        return [one[tuple(map(slice, own.shape))] for one, own in zip(gradient, x, strict=True)], arriving
    axes = tuple(dim - 1 for dim in dims)
    pairs = [_shared(op, one, np.ones(one.shape, np.bool_), axes, coming, keepdim) for one in x]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _shared(
    op: str, x: NDArray, present: NDArray, axes: tuple[int, ...], coming: Callable[[Any], NDArray], keepdim: bool
) -> tuple[NDArray, NDArray]:
    """Return what each element receives, an even part where it attains the extreme and +0 elsewhere, and what came."""
    sign = 1 if op == "amax" else -1
    ranked = np.where(present, sign * x.astype(np.float64), -np.inf)
    attains = present & (ranked == ranked.max(axis=axes, keepdims=True, initial=-np.inf))
    count = attains.sum(axis=axes, keepdims=True)
    if (MULTIPLE % np.maximum(count, 1)).any():
        raise _Uneven(f"{count.ravel()} elements do not share {MULTIPLE} without rounding")
    arriving = coming(count.shape)
    shares = np.where(attains, arriving / np.maximum(count, 1), 0).astype(x.dtype)
    return shares, arriving if keepdim else arriving.squeeze(axes)


def _fold(book: Book, row: Row, x: Components, **options: Any) -> None:
    """Add the call of a row on these numbers, or that it chooses from nothing."""
    form = outline(row)
    dims = dims_of(row, form)
    args, kw = spelled_dims(row, dims, [x])
    kept = book.op in ("softmax", "cumsum")
    if row["keepdim"] != "absent" and not kept:
        kw["keepdim"] = row["keepdim"] == "true"
    if book.op in ("amax", "amin", "argmax", "argmin") and chooses_from_nothing(x, dims):
        clause, near = refusal(book.op, "EmptyReductionError"), f"{book.op}/float32/ragged/1"
        book.error_inside("axes-empty", clause, "EmptyReductionError", near, args, kw=kw)
        return
    kind = None if kept else kind_of(form, dims, bool(kw.get("keepdim", False)))
    add(book, row, args, "shape", "dtype", "gradient", kw=kw, kind=kind, **options)


def _huge(x: Components, sign: int) -> Components:
    """Return elements near one end of the dtype, so that no number that is only large stands for the end."""
    if x.dtype.kind == "b":
        return each(lambda one: np.full_like(one, sign > 0), x)
    if x.dtype.kind == "f":
        power = int(np.finfo(x.dtype).maxexp) - 11
        return each(lambda one: np.ldexp(sign * (1536 + one), power).astype(x.dtype), x, shape=x.shape, dtype=x.dtype)
    end = np.iinfo(x.dtype).max if sign > 0 else np.iinfo(x.dtype).min
    return each(lambda one: end - sign * (one + 1000), x, shape=x.shape, dtype=x.dtype)


def _sorted(x: Components, backwards: bool) -> Components:
    """Return the elements of all components in order, so that the last of every run, or the first, is the greatest."""
    flat = np.sort(np.concatenate([one.ravel() for one in x]) if x else np.zeros(0, x.dtype))
    ends = np.cumsum([one.size for one in x])[:-1]
    parts = np.split(flat[::-1] if backwards else flat, ends) if x else []
    return Components([part.reshape(one.shape) for part, one in zip(parts, x, strict=True)], x.shape, x.dtype)


def _with_specials(x: Components, level: str, key: str) -> Components:
    """Return components of which some elements are NaN, or infinities: the first of all among them."""
    special = [np.nan, np.nan, np.nan] if level == "nan" else [np.inf, -np.inf, np.inf]
    places = iter(range(2**62))

    def one(x: NDArray) -> NDArray:
        numbers = []
        for number in x.ravel().tolist():
            place = next(places)
            w = word(f"{key} special", place) if place else 0
            numbers.append(special[w % 3] if w % 5 == 0 else number)
        return np.array(numbers, x.dtype).reshape(x.shape)

    return each(one, x, shape=x.shape, dtype=x.dtype)
