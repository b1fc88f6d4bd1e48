"""The kernels on a GPU: that they agree with the NumPy backend, and how close they come to the speed of a copy.

python -m benchmarks.cuda                      on the GPU; about two minutes, one table
python -m benchmarks.cuda --device emulated    the same rows at toy sizes, to see that they run
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from pynested.backends import Heads, Matrices, Segments, get_backend

from .harness import Call, Case, Clock, json_option, write_times

CHECKED_ROWS = 5000  # that are compared with the NumPy backend before anything is timed
TOLERANCE = {"float32": 2e-5, "float16": 2e-2}


class Line(NamedTuple):
    """One line of the table: what is called, and the least number of bytes it has to move."""

    name: str
    nbytes: int
    call: Callable[[], Any]


def drawn_lengths(rng: np.random.Generator, count: int, mean: int, kind: str) -> np.ndarray:
    if kind == "even":
        return np.full(count, mean)
    if kind == "half":  # of all rows in one run
        return np.r_[count * mean // 2, np.full(count // 2, mean)]
    if kind == "uniform":
        return rng.integers(0, 2 * mean + 1, count)
    return np.minimum(rng.pareto(1.2, count) * mean / 5, mean * 200).astype(np.int64)


def segment_lines(backend: Any, nbytes: int, dtype: str, shape: tuple[int, int, str]) -> Iterator[Line]:
    columns, mean, kind = shape
    rng, item = np.random.default_rng(0), np.dtype(dtype).itemsize
    segments = Segments.from_lengths(drawn_lengths(rng, max(4, nbytes // item // columns // mean), mean, kind))
    host = rng.standard_normal((segments.rows, columns), np.float32).astype(dtype)
    x, label = backend.xp.asarray(host), f"{dtype} D={columns} mean {mean} {kind}"
    check(backend, host, dtype)
    y, total = backend.segment_softmax(x, segments), backend.segment_sum(x, segments)
    small = total.nbytes + segments.offsets.nbytes
    yield Line(f"segment_sum {label}", x.nbytes + small, lambda: backend.segment_sum(x, segments))
    yield Line(f"segment_max {label}", x.nbytes + small, lambda: backend.segment_max(x, segments))
    yield Line(f"spread {label}", x.nbytes + small, lambda: backend.spread(total, segments))
    yield Line(f"segment_softmax {label}", 2 * x.nbytes, lambda: backend.segment_softmax(x, segments))
    yield Line(f"  its adjoint {label}", 3 * x.nbytes, lambda: backend.segment_softmax_backward(x, y, segments))
    if segments.count * segments.longest <= 4 * segments.rows:
        padded = backend.pad(x, segments, segments.longest, 0)
        both = x.nbytes + padded.nbytes
        yield Line(f"pad {label}", both, lambda: backend.pad(x, segments, segments.longest, 0))
        yield Line(f"unpad {label}", 2 * x.nbytes, lambda: backend.unpad(padded, segments))


def skew_lines(backend: Any, nbytes: int, seconds: Callable[[Call], float]) -> Iterator[str]:
    """How many times as long runs take of which one holds half of all elements, by runs of equal length."""
    for columns, mean in ((1, 4096), (64, 256)):
        tables = []
        for kind in ("half", "even"):
            lines = segment_lines(backend, nbytes, "float32", (columns, mean, kind))
            tables.append({line.name.split(" float32")[0].strip(): seconds(line.call) for line in lines})
        for verb in sorted(tables[0].keys() & tables[1].keys()):
            yield f"{f'{verb} D={columns}, half of all in one run':60} {tables[0][verb] / tables[1][verb]:9.2f} of even"


def check(backend: Any, host: np.ndarray, dtype: str) -> None:
    """The first rows, cut into runs of a few, on this backend and on NumPy's."""
    part = host[:CHECKED_ROWS]
    runs = Segments.from_lengths(np.diff(np.r_[0 : len(part) : 7, len(part)]))
    for verb in ("segment_sum", "segment_max", "segment_softmax"):
        got = getattr(backend, verb)(backend.xp.asarray(part), runs)
        got = got.get() if hasattr(got, "get") else got
        expected = getattr(get_backend("cpu"), verb)(part, runs).astype(np.float64)
        assert np.abs(got - expected).max() <= TOLERANCE[dtype] * max(1, np.abs(expected).max()), verb


def row_lines(backend: Any, nbytes: int, dtype: str, width: int) -> Iterator[Line]:
    xp, item = backend.xp, np.dtype(dtype).itemsize
    rows = max(2, nbytes // item // width)
    x = xp.asarray(np.random.default_rng(1).standard_normal((rows, width), np.float32).astype(dtype))
    ones, target = xp.ones(width, dtype), xp.zeros(rows, np.int64)
    _, mean, std = backend.layer_norm(x, ones, ones, 1e-5)
    label = f"{dtype} D={width}"
    yield Line(f"softmax_last {label}", 2 * x.nbytes, lambda: backend.softmax_last(x))
    yield Line(f"layer_norm {label}", 2 * x.nbytes, lambda: backend.layer_norm(x, ones, ones, 1e-5))
    yield Line(f"  its adjoint {label}", 3 * x.nbytes, lambda: backend.layer_norm_backward(x, x, ones, mean, std))
    yield Line(f"cross_entropy {label}", x.nbytes, lambda: backend.cross_entropy(x, target, None, -100, 0.0))
    yield Line(f"gelu {label}", 2 * x.nbytes, lambda: backend.gelu(x))
    index = xp.asarray(np.random.default_rng(2).permutation(rows))
    yield Line(f"take_rows {label}", 2 * x.nbytes, lambda: backend.take_rows(x, index))
    yield Line(f"add_rows {label}", 2 * x.nbytes, lambda: backend.add_rows(x, index, rows))


def component_lines(backend: Any, nbytes: int) -> Iterator[Line]:
    rng = np.random.default_rng(3)
    sizes = rng.integers(100, 600, (max(2, nbytes // 4 // 350**2), 2))
    ends = np.cumsum(sizes.prod(1))
    starts = ends - sizes.prod(1)
    buffer = backend.xp.asarray(rng.standard_normal(int(ends[-1]), np.float32))
    by_row, by_column = np.ones_like(sizes), np.ones_like(sizes)
    by_row[:, 0], by_column[:, 1] = sizes[:, 1], sizes[:, 0]
    twice = 2 * buffer.nbytes
    yield Line("gather, packed", twice, lambda: backend.gather_components(buffer, sizes, by_row, starts))
    yield Line("gather, transposed", twice, lambda: backend.gather_components(buffer, sizes, by_column, starts))
    left, right = Matrices(starts, *sizes.T), Matrices(starts, *sizes.T[::-1], is_transposed=True)
    yield Line("products with the transposed", twice, lambda: backend.matmul_components(buffer, buffer, left, right))
    lengths = rng.integers(10, 200, max(2, nbytes // 4 // 8 // 64 // 400))
    sizes = np.stack([np.full_like(lengths, 8), np.ones_like(lengths), lengths, lengths], axis=1)
    rows = np.stack(
        [(np.cumsum(lengths) - lengths) * 512, np.full_like(lengths, 64), np.full_like(lengths, 512)], axis=1
    )
    heads = Heads(sizes, rows, rows, rows, rows, None, 64, 64, 0.125, False)
    q = backend.xp.asarray(rng.standard_normal(int(lengths.sum()) * 512, np.float32))
    yield Line("attention, 8 heads of 64", 4 * q.nbytes, lambda: backend.attention(q, q, q, None, heads))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    json_option(parser)
    options = parser.parse_args()
    device = options.device
    backend, nbytes = get_backend(device), 1 << 30 if device == "cuda" else 1 << 17
    clock, xp, repeat = Clock(device), backend.xp, 20 if device == "cuda" else 1

    def seconds(call: Call) -> float:
        """Return the least time of a call, after two that compile and warm up what it needs."""
        clock(call, 2)
        return min(clock(call, repeat) for _ in range(3))

    source, target = xp.ones(nbytes // 4, np.float32), xp.empty(nbytes // 4, np.float32)
    copy = seconds(lambda: xp.copyto(target, source))
    ceiling = 2 * nbytes / copy
    print(f"{'copy, the ceiling':60} {ceiling / 1e9:9.1f} GB/s")
    times = {Case("copy", "float32", "kernels", "forward", device): copy}
    shapes = ((1, 4096, "even"), (1, 16, "uniform"), (64, 128, "uniform"), (64, 128, "pareto"), (512, 32, "uniform"))
    groups = [segment_lines(backend, nbytes, dtype, shape) for dtype in TOLERANCE for shape in shapes]
    groups += [row_lines(backend, nbytes, dtype, width) for dtype in TOLERANCE for width in (128, 4096)]
    for lines in [*groups, component_lines(backend, nbytes)]:
        for line in lines:
            taken = seconds(line.call)
            speed = line.nbytes / taken
            print(f"{line.name:60} {speed / 1e9:9.1f} GB/s {speed / ceiling:7.1%} of a copy {taken * 1e6:10.1f} us")
            times[Case(line.name, "", "kernels", "forward", device)] = taken
    for text in skew_lines(backend, nbytes, seconds):
        print(text)
    x, segments = xp.ones((64, 32), np.float32), Segments.from_lengths(np.full(8, 8))
    busy = Clock()(lambda: backend.segment_sum(x, segments), 1000 if device == "cuda" else 20)
    print(f"{'host time of a small segment_sum':60} {busy * 1e6:9.1f} us")
    write_times(times, options.json)


if __name__ == "__main__":
    main()
