"""Where the pieces of so many entries begin, and how long they are."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from pynested.autograd.arguments.shapes import canonical_int, canonical_ints, several
from pynested.backends.errors import ArgumentError

MOST_EMPTY_PIECES = 2**20  # other pieces are no more than the entries that they hold


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
