"""Sums, products, maxima and minima of runs of rows, and their adjoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..memory import empty
from ..segments import Segments
from .running import as_matrix, rows_in_block, run, scratch, sum_rows, widened

FEW_RUNS = 8  # so few that a Python call for each costs less than any preparation
LONG_RUN_ELEMENTS = 4096  # a run of so many elements is worth a Python call of its own
VERY_LONG_RUN_ELEMENTS = 65536  # ... even where the alternative is cheap and calls keep threads from each other
SHORT_RUN = 16  # numbers, one beside the other: maxima of windows are faster than reduceat up to here
PIECE = 16  # rows of a run that a sparse product adds one after the other, before it adds the sums of pieces


def segment_sum(x: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """(N, ...) -> (B, ...): the sum of each run, +0 for an empty one; bools and ints give int64."""
    rows = as_matrix(x)
    if x.dtype.kind != "f":
        return _integer_sum(rows, segments).reshape(segments.count, *x.shape[1:])
    sums = empty((segments.count, rows.shape[1]), x.dtype)

    def work(start: int, stop: int, first: int, last: int) -> None:
        sums[first:last] = sum_runs(widened(rows[start:stop]), segments, first, last)

    run(work, spans_of(rows, segments), rows.nbytes)
    return sums.reshape(segments.count, *x.shape[1:])


def segment_prod(x: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """(N, ...) -> (B, ...): the product of each run, 1 for an empty one; bools and ints give int64."""
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.int64)
    return (
        _reduced(np.multiply, as_matrix(x).astype(computing_dtype(dtype), copy=False), segments, 1)
        .astype(dtype, copy=False)
        .reshape(segments.count, *x.shape[1:])
    )


def segment_max(x: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """(N, ...) -> (B, ...): the maximum of each run; NaN wins; an empty run gives the least value of the dtype."""
    return _best(np.maximum, x, segments)


def segment_min(x: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """(N, ...) -> (B, ...): the minimum of each run; NaN wins; an empty run gives the greatest value of the dtype."""
    return _best(np.minimum, x, segments)


def _best(better: np.ufunc, x: NDArray[Any], segments: Segments) -> NDArray[Any]:
    rows = as_matrix(x)
    found = empty((segments.count, rows.shape[1]), x.dtype)

    def work(start: int, stop: int, first: int, last: int) -> None:
        found[first:last] = best_of_runs(better, widened(rows[start:stop]), segments, first, last)

    run(work, spans_of(rows, segments), rows.nbytes)
    return found.reshape(segments.count, *x.shape[1:])


def segment_argmax(x: NDArray[Any], segments: Segments, /) -> NDArray[np.int64]:
    """(N, ...) -> int64 (B, ...): the first row of each run that attains its maximum, counted from its first; or -1."""
    return _first(segment_max(x, segments), x, segments)


def segment_argmin(x: NDArray[Any], segments: Segments, /) -> NDArray[np.int64]:
    """(N, ...) -> int64 (B, ...): the first row of each run that attains its minimum, counted from its first; or -1."""
    return _first(segment_min(x, segments), x, segments)


def _first(best: NDArray[Any], x: NDArray[Any], segments: Segments) -> NDArray[np.int64]:
    """The first row of each run that is its best, counted from the first of the run; -1 where there are none."""
    rows, wanted = as_matrix(x), np.repeat(as_matrix(best), segments.lengths, axis=0)
    attained = (rows == wanted) | ((rows != rows) & (wanted != wanted))
    number = np.where(attained, np.arange(segments.rows)[:, None], segments.rows)
    first = _reduced(np.minimum, number, segments, -1)
    occupied = segments.lengths > 0
    first[occupied] -= segments.offsets[:-1, None][occupied]
    return first.reshape(best.shape)


def segment_max_backward(
    cotangent: NDArray[Any], x: NDArray[Any], maximum: NDArray[Any], segments: Segments, /
) -> NDArray[Any]:
    """(B, ...) -> (N, ...): the cotangent of each run's maximum, shared evenly by the rows that attain it.

    No row attains a NaN, and the run's cotangent is NaN then.
    """
    rows, maxima, cotangents = as_matrix(x), as_matrix(maximum), as_matrix(cotangent)
    out = empty(rows.shape, cotangent.dtype)
    dtype = computing_dtype(cotangent.dtype)

    def work(start: int, stop: int, first: int, last: int) -> None:
        attained = scratch("attained", (stop - start, rows.shape[1]), dtype)
        with_runs(np.equal, rows[start:stop], maxima[first:last], segments, first, last, attained)
        count = sum_runs(attained, segments, first, last)
        share = cotangents[first:last] / count
        with_runs(np.multiply, attained, share, segments, first, last, out[start:stop])
        wild = ~np.isfinite(share)
        if wild.any():  # 0 times a cotangent of NaN is not 0
            chosen = np.repeat(wild & (count > 0), segments.lengths[first:last], axis=0)
            out[start:stop][chosen & (attained == 0)] = 0

    run(work, spans_of(rows, segments), rows.nbytes)
    return out.reshape(x.shape)


def spread(y: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """(B, ...) -> (N, ...): every row of a run is the run's entry of y; the adjoint of segment_sum."""
    return y.repeat(segments.lengths, axis=0)


def least(dtype: np.dtype[Any]) -> Any:
    """The value that every other value of the dtype is at least: -inf, the least integer, False."""
    if dtype.kind == "f":
        return -np.inf
    return np.iinfo(dtype).min if dtype.kind in "iu" else False


def greatest(dtype: np.dtype[Any]) -> Any:
    """The value that every other value of the dtype is at most."""
    if dtype.kind == "f":
        return np.inf
    return np.iinfo(dtype).max if dtype.kind in "iu" else True


def spans_of(rows: NDArray[Any], segments: Segments) -> list[tuple[int, int, int, int]]:
    """(first row, row after the last, first run, run after the last) of each block of whole runs."""
    if segments.count <= FEW_RUNS and segments.rows * rows.shape[1] <= LONG_RUN_ELEMENTS:
        return [(0, segments.rows, 0, segments.count)]
    return segments.spans(rows_in_block(rows[:1].nbytes))


def with_runs(
    ufunc: np.ufunc,
    block: NDArray[Any],
    entries: NDArray[Any],
    segments: Segments,
    first: int,
    last: int,
    out: NDArray[Any],
) -> None:
    """``out <- ufunc(block, entries)``, the entry of each run of first:last for all of its rows."""
    base = segments.offsets.item(first)
    if block.size >= VERY_LONG_RUN_ELEMENTS * (last - first):
        for place, (start, stop) in enumerate(segments.pairs[first:last]):
            rows = slice(start - base, stop - base)
            ufunc(block[rows], entries[place], out=out[rows], casting="unsafe")
        return
    spread_entries = scratch("spread", block.shape, entries.dtype)
    component = segments.segment_of_row[base : base + len(block)] - first
    np.take(entries, component, axis=0, out=spread_entries, mode="clip")  # checking the indices would take a copy
    ufunc(block, spread_entries, out=out, casting="unsafe")


def _worth_a_call(block: NDArray[Any], runs: int) -> bool:
    return runs <= FEW_RUNS or block.size >= LONG_RUN_ELEMENTS * runs


def _starts(segments: Segments, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where the runs that have rows start within their span, and which they are: reduceat is wrong for empty ones."""
    occupied = segments.lengths[first:last] > 0
    return (segments.offsets[first:last] - segments.offsets[first])[occupied], occupied


def _integer_sum(rows: NDArray[Any], segments: Segments) -> NDArray[np.int64]:
    """Differences of running sums, exact because integers wrap around."""
    running_sum = np.zeros((len(rows) + 1, rows.shape[1]), np.int64)
    np.cumsum(rows, axis=0, out=running_sum[1:])
    sums: NDArray[np.int64] = running_sum[segments.offsets[1:]] - running_sum[segments.offsets[:-1]]
    return sums


def _reduced(ufunc: np.ufunc, rows: NDArray[Any], segments: Segments, empty: Any) -> NDArray[Any]:
    """(N, D) -> (B, D): the rows of each run joined one after the other, ``empty`` where there are none."""
    joined = np.full((segments.count, rows.shape[1]), empty, rows.dtype)
    starts, occupied = _starts(segments, 0, segments.count)
    if starts.size:
        joined[occupied] = ufunc.reduceat(rows, starts, axis=0)
    return joined


def sum_runs(block: NDArray[Any], segments: Segments, first: int, last: int) -> NDArray[Any]:
    """(last - first, D): the sums of runs first:last, whose rows the block is."""
    runs = last - first
    if _worth_a_call(block, runs):
        base = segments.offsets.item(first)
        sums = np.empty((runs, block.shape[1]), block.dtype)
        for place, (start, stop) in enumerate(segments.pairs[first:last]):
            rows = block[start - base : stop - base]
            sum_rows(rows, sums[place])
        return sums
    if segments.lengths[first:last].max() > PIECE:
        pieces, of_runs = segments.cached(("pieces", first, last), lambda: _cut_into_pieces(segments, first, last))
        sums = sum_runs(block, pieces, 0, pieces.count).astype(np.float64)
        return sum_runs(sums, of_runs, 0, runs).astype(block.dtype, copy=False)
    dtype = np.float64 if block.shape[1] == 1 else block.dtype  # of a single column, no slower and more accurate
    product: NDArray[Any] = _selector(segments, first, last, np.dtype(dtype)) @ block
    return product.astype(block.dtype, copy=False)


def _cut_into_pieces(segments: Segments, first: int, last: int) -> tuple[Segments, Segments]:
    """Pieces of at most `PIECE` rows of runs first:last, as runs of rows, and the runs first:last as runs of pieces."""
    lengths = segments.lengths[first:last]
    of_runs = Segments.from_lengths(-(-lengths // PIECE))
    sizes = np.full(of_runs.rows, PIECE)
    occupied = lengths > 0
    sizes[of_runs.offsets[1:][occupied] - 1] -= (-lengths % PIECE)[occupied]
    return Segments.from_lengths(sizes), of_runs


def _selector(segments: Segments, first: int, last: int, dtype: np.dtype[Any]) -> Any:
    """A CSR matrix (last - first, rows) of ones that adds up the rows of each run; the offsets are its indptr."""

    def make() -> Any:
        from scipy import sparse  # which an import of pynested does not wait for

        ends = segments.offsets[first : last + 1] - segments.offsets[first]
        rows = ends.item(-1)
        columns = np.arange(rows, dtype=np.int32 if rows < 2**31 else np.int64)
        ones = np.ones(rows, dtype)
        return sparse.csr_array((ones, columns, ends.astype(columns.dtype)), shape=(last - first, rows))

    return segments.cached(("selector", first, last, dtype), make)


def best_of_runs(better: np.ufunc, block: NDArray[Any], segments: Segments, first: int, last: int) -> NDArray[Any]:
    """(last - first, D): the maxima or minima, as ``better`` of two says, of runs first:last, whose rows it is."""
    runs = last - first
    worst = least(block.dtype) if better is np.maximum else greatest(block.dtype)
    best = np.full((runs, block.shape[1]), worst, block.dtype)
    if _worth_a_call(block, runs):
        base = segments.offsets.item(first)
        for place, (start, stop) in enumerate(segments.pairs[first:last]):
            if start < stop:
                _best_row(better, block[start - base : stop - base], best[place])
    elif block.shape[1] == 1 and segments.lengths[first:last].max() > SHORT_RUN:
        starts, occupied = _starts(segments, first, last)
        best[occupied, 0] = better.reduceat(block[:, 0], starts)
    else:
        _best_by_doubling(better, block, segments, first, last, best)
    return best


def _best_row(better: np.ufunc, rows: NDArray[Any], out: NDArray[Any]) -> None:
    """Halve the rows until few are left: np.maximum is vectorised where both operands are contiguous."""
    larger = scratch("larger", (len(rows) // 2, rows.shape[1]), rows.dtype)
    while len(rows) > 8:
        half = len(rows) // 2
        better(rows[:half], rows[half : 2 * half], out=larger[:half])
        if len(rows) % 2:
            better(larger[0], rows[-1], out=larger[0])
        rows = larger[:half]
    better.reduce(rows, axis=0, out=out)


def _best_by_doubling(
    better: np.ufunc, block: NDArray[Any], segments: Segments, first: int, last: int, best: NDArray[Any]
) -> None:
    """Maxima of all windows of 1, 2, 4, ... rows, and of each run as the larger of the two windows that cover it."""
    lengths = segments.lengths[first:last]
    starts = segments.offsets[first:last] - segments.offsets[first]
    spare = [scratch("windows", block.shape, block.dtype), scratch("wider windows", block.shape, block.dtype)]
    windows, width = block, 1
    longest = int(lengths.max())
    while True:
        covered = np.flatnonzero((lengths >= width) & (lengths < 2 * width))
        begin = starts[covered]
        best[covered] = better(windows.take(begin, axis=0), windows.take(begin + lengths[covered] - width, axis=0))
        if 2 * width > longest:
            return
        windows = better(windows[:-width], windows[width:], out=spare[0][: len(windows) - width])
        spare.reverse()
        width *= 2
