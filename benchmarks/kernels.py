"""Quick kernels of the device "cpu" and the same kernels of the device "plain", on short and on long segments.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.kernels [--rounds 9] [--only segment_sum layer_norm] [--json FILE]

A kernel of `backends/numpy` stays if it is at least 1.5 times as fast as the plain one on one of the two loads. The
table has the median of each kernel and how many times as long the plain one takes. The last line names the kernels of
`NumpyBackend` whose minima do not reach 1.5; all others are inherited.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from pynested.backends import Heads, Matrices, PlainBackend, Segments, get_backend
from pynested.backends.numpy import NumpyBackend
from pynested.backends.quiet import quietly

from .harness import Calls, Case, Clock, Times, json_option, time_table, without_garbage_collector, write_times

LOADS = {"short": (4000, 12), "long": (16, 3000)}  # segments, and rows of a segment on average
WIDTH = 16  # columns
ENOUGH = 1.5


def kernels() -> list[str]:
    """Return the names of all kernels."""
    return [name for name, value in vars(PlainBackend).items() if isinstance(value, staticmethod)]


def arguments(load: str, device: str) -> dict[str, tuple[Any, ...]]:
    """Return the arguments of each kernel of a device, the same for all devices but for what gradients save."""
    count, mean = LOADS[load]
    rng = np.random.default_rng(0)
    segments = Segments.from_lengths(rng.integers(mean // 2, mean * 3 // 2, count))
    x, g = rng.standard_normal((2, segments.rows, WIDTH), np.float32)
    y, length, index = x[: segments.count], segments.longest, rng.permutation(segments.rows)
    plain: Any = get_backend("plain")
    softmax, top = plain.segment_softmax(x, segments), plain.segment_max(x, segments)
    weight, target = x[0], rng.integers(0, WIDTH, segments.rows)
    _, mean_of_rows, std = plain.layer_norm(x, weight, weight, 1e-5)
    _, scale = plain.cross_entropy(x, target, None, -100, 0.0)
    lengths = segments.lengths
    sizes = np.stack([lengths, np.full(count, WIDTH)], axis=1)
    strides, offsets = np.stack([np.ones(count, np.int64), lengths], axis=1), segments.offsets[:-1] * WIDTH
    flat, placement = x.reshape(-1), (sizes, strides, offsets)  # components that lie column by column
    left = Matrices(offsets, lengths, sizes[:, 1])
    right = Matrices(np.zeros(count, np.int64), sizes[:, 1], sizes[:, 1])
    few = np.minimum(lengths, 300)  # queries and keys of attention
    rows = np.stack([offsets, np.full(count, WIDTH), np.full(count, WIDTH)], axis=1)
    table = np.stack([np.ones(count, np.int64), np.ones(count, np.int64), few, few], axis=1)
    packed = Segments.from_lengths(few).offsets[:-1] * WIDTH
    made = np.stack([packed, rows[:, 1], rows[:, 2]], axis=1)
    heads = Heads(table, rows, rows, rows, made, None, WIDTH, WIDTH, 0.25, False)
    out, saved = quietly(get_backend(device).attention, flat, flat, flat, None, heads)
    elementwise = dict.fromkeys(["relu", "gelu", "silu", "erf", "erfc", "sgn", "copy", "sum_all", "sum_last"], (x,))
    reductions = ["sum", "prod", "max", "min", "argmax", "argmin", "softmax", "cumsum"]
    return elementwise | dict.fromkeys([f"segment_{name}" for name in reductions], (x, segments)) | {
        "cast": (x, np.dtype(np.int32)),
        **dict.fromkeys(["relu_backward", "gelu_backward", "silu_backward"], (g, x)),
        "segment_max_backward": (y, x, top, segments),
        "segment_softmax_backward": (g, softmax, segments),
        "spread": (y, segments),
        "softmax_last": (x,),
        "softmax_last_backward": (g, softmax),
        "layer_norm": (x, weight, weight, 1e-5),
        "layer_norm_backward": (g, x, weight, mean_of_rows, std),
        "cross_entropy": (x, target, None, -100, 0.0),
        "cross_entropy_backward": (g[:, 0], x, target, None, -100, 0.0, scale),
        "pad": (x, segments, length, 0.0),
        "unpad": (plain.pad(x, segments, length, 0.0), segments),
        "take_rows": (x, index),
        "add_rows": (x, index, segments.rows),
        "gather_components": (flat, *placement),
        "scatter_components": (flat, *placement, flat.size),
        "pack_list": ([x[start:stop] for start, stop in segments.pairs],),
        "matmul_components": (flat, flat, left, right),
        "attention": (flat, flat, flat, None, heads),
        "attention_backward": (x[: few.sum()].reshape(-1), flat, flat, flat, None, out, saved, heads, False),
    }  # fmt: skip


def rows(load: str, names: list[str]) -> Iterator[tuple[Case, Calls]]:
    """Yield the calls of each kernel."""
    operands = {device: arguments(load, device) for device in ("cpu", "plain")}
    for name in names:
        calls = {}
        for device, args in operands.items():
            calls[device] = partial(quietly, getattr(get_backend(device), name), *args[name])
        yield Case(name, "float32", load, "forward", ""), calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", choices=kernels(), help="kernels to time")
    json_option(parser)
    args = parser.parse_args()
    times: Times = {}
    with without_garbage_collector():
        for load in LOADS:
            times |= time_table(load, ["cpu", "plain"], rows(load, args.only or kernels()), args.rounds, Clock())
    print(f"\nless than {ENOUGH} times as fast as the plain kernel: {', '.join(slow_kernels(times)) or 'none'}")
    write_times(times, args.json)


def slow_kernels(times: Times) -> list[str]:
    """Return the kernels that are not fast enough on any load."""
    ratios: dict[str, float] = {}
    for case, seconds in times.items():
        if case.contender == "cpu" and case.operator in vars(NumpyBackend):
            ratio = times[case._replace(contender="plain")] / seconds
            ratios[case.operator] = max(ratio, ratios.get(case.operator, 0.0))
    return [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio < ENOUGH]


if __name__ == "__main__":
    main()
