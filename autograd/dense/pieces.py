"""Pieces of dense arrays, as views."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from pynested.backends.errors import ArgumentError, IndexOutOfRange, ShapeError

from ..array import Array
from ..rules import movement as rules
from .canonical import as_array
from .shapes import canonical_dim, canonical_int, canonical_ints, several

__all__ = ["chunk", "narrow", "split", "unbind"]

MOST_EMPTY_PIECES = 2**20  # other pieces are no more than the entries that they hold


def narrow(self: Any, dim: int, start: int, length: int) -> Array:
    """A view of ``length`` entries of dimension ``dim``, from ``start`` on."""
    x = as_array("narrow", self)
    at = canonical_dim("narrow", dim, x.ndim)
    size = x.shape[at]
    first, count = canonical_int("narrow", "start", start), canonical_int("narrow", "length", length)
    first = first + size if first < 0 else first
    if count < 0 or first < 0 or first + count > size:
        raise IndexOutOfRange(f"narrow: start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return rules.slice_(x, (*[slice(None)] * at, slice(first, first + count)))


def chunk(self: Any, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    """Views of ``chunks`` pieces along ``dim``, all as long as the first but perhaps the last; fewer if it is short."""
    x = as_array("chunk", self)
    at = canonical_dim("chunk", dim, x.ndim)
    size = x.shape[at]
    return tuple(narrow(x, at, start, length) for start, length in pieces("chunk", chunks, size))


def pieces(name: str, chunks: Any, size: int) -> list[tuple[int, int]]:
    """Start and length of each of at most ``chunks`` pieces of ``size`` entries."""
    count = canonical_int(name, "chunks", chunks)
    if count < 1:
        raise ArgumentError(f"{name}: chunks must be greater than 0, not {count}.")
    if not size and count > MOST_EMPTY_PIECES:
        raise ArgumentError(
            f"{name}: of nothing there are as many pieces as chunks, and {count} are too many; give at most "
            f"{MOST_EMPTY_PIECES}."
        )
    step = max(-(-size // count), 1)
    starts = range(0, size, step) if size else range(count)
    return [(start, min(step, size - start)) if size else (0, 0) for start in starts]


def split(self: Any, sizes: int | Sequence[int], dim: int = 0) -> tuple[Array, ...]:
    """Views of consecutive pieces along ``dim``, of the given ``sizes``, or all of one size but perhaps the last."""
    x = as_array("split", self)
    at = canonical_dim("split", dim, x.ndim)
    parts = sections("split", sizes, x.shape[at], x.numel())
    if parts[-1][0] + parts[-1][1] != x.shape[at]:
        raise ShapeError(
            f"split: the sizes {[n for _, n in parts]} add up to {sum(n for _, n in parts)}, and dimension {at} has "
            f"size {x.shape[at]}."
        )
    return tuple(narrow(x, at, start, length) for start, length in parts)


def sections(name: str, sizes: Any, size: int, numel: int) -> list[tuple[int, int]]:
    """Start and length of pieces of the given sizes; or of one size, until nothing of ``size`` entries is left."""
    if not several(sizes):
        step = canonical_int(name, "the size of a piece", sizes)
        if step < 1:
            raise ArgumentError(f"{name}: a piece has at least 1 entry, not {step}.")
        count = max(-(-size // step), 1)
        if count > max(numel, MOST_EMPTY_PIECES):
            raise ArgumentError(
                f"{name}: {count} pieces without elements are too many; give at most {MOST_EMPTY_PIECES}."
            )
        return [(i * step, min(step, size - i * step)) for i in range(count)]
    lengths = canonical_ints(name, "the size of a piece", (sizes,))
    if not lengths or min(lengths) < 0:
        raise ArgumentError(f"{name}: there must be sizes, and none below 0; these are {lengths}.")
    return [(end - length, length) for end, length in zip(accumulate(lengths), lengths, strict=True)]


def unbind(self: Any, dim: int = 0) -> tuple[Array, ...]:
    """The entries along ``dim``, as views."""
    x = as_array("unbind", self)
    at = canonical_dim("unbind", dim, x.ndim)
    if not x.shape[at]:
        return ()
    entries: tuple[Array, ...] = rules.unbind(x, at)
    return entries
