"""Quick kernels of the device "cpu" beside the plain ones, and kernels of a GPU beside the speed of a copy.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.kernels [--rounds 9] [--only segment_sum layer_norm] [--json FILE]
    python -m benchmarks.kernels --device cuda          or emulated, at toy sizes, to see that all kernels run

A kernel of `backends/numpy` stays if it is at least 1.5 times as fast as the plain one on short or long segments. The
table has the median of each kernel and how many times as long the plain one takes. The last line names the kernels of
`NumpyBackend` whose minima do not reach 1.5; all others are inherited.

On another device each kernel is first compared with the plain one. The table has the bytes of arguments and results
that it reads and writes in a second, and their share of the bytes of a copy.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from pynested.backends import HeadLayout, Matrices, PlainBackend, Segments, get_backend
from pynested.backends.host import to_host
from pynested.backends.numpy import NumpyBackend
from pynested.backends.quiet import quietly

from .harness import Calls, Case, Clock, Times, command_line, time_table, write_times

LOADS = {  # segments, and rows of a segment on average
    "cpu": {"short": (4000, 12), "long": (16, 3000)},
    "cuda": {"short": (120_000, 12), "long": (480, 3000)},
    "emulated": {"short": (40, 12), "long": (2, 200)},
}
WIDTH = 16  # columns
ENOUGH = 1.5
COPIED = {"cuda": 1 << 30, "emulated": 1 << 17}  # bytes
TOLERANCE = 2e-4


def kernels() -> list[str]:
    """Return the names of all kernels."""
    return [name for name, value in vars(PlainBackend).items() if isinstance(value, staticmethod)]


def arguments(count: int, mean: int, device: str) -> dict[str, tuple[Any, ...]]:
    """Return the arguments of each kernel on a device, the same for all devices but for what gradients save."""
    backend = get_backend(device)
    rng = np.random.default_rng(0)
    segments = Segments.from_lengths(rng.integers(mean // 2, mean * 3 // 2, count))
    x, g = backend.xp.asarray(rng.standard_normal((2, segments.rows, WIDTH), np.float32))
    y, length, index = x[: segments.count], segments.longest, backend.xp.asarray(rng.permutation(segments.rows))
    softmax, top = quietly(backend.segment_softmax, x, segments), quietly(backend.segment_max, x, segments)
    weight, target = x[0], backend.xp.asarray(rng.integers(0, WIDTH, segments.rows))
    _, mean_of_rows, std = quietly(backend.layer_norm, x, weight, weight, 1e-5)
    _, scale = quietly(backend.cross_entropy, x, target, None, -100, 0.0)
    lengths = segments.lengths
    sizes = np.stack([lengths, np.full(count, WIDTH)], axis=1)
    strides, offsets = np.stack([np.ones(count, np.int64), lengths], axis=1), segments.offsets[:-1] * WIDTH
    flat, placement = x.reshape(-1), (sizes, strides, offsets)  # components that lie column by column
    left = Matrices(offsets, lengths, sizes[:, 1])
    right = Matrices(np.zeros(count, np.int64), sizes[:, 1], sizes[:, 1])
    few = np.minimum(lengths, 300)  # queries and keys of attention
    rows = np.stack([offsets, np.full(count, WIDTH), np.full(count, WIDTH), np.ones(count, np.int64)], axis=1)
    table = np.stack([np.ones(count, np.int64), np.ones(count, np.int64), few, few], axis=1)
    packed = Segments.from_lengths(few).offsets[:-1] * WIDTH
    made = np.concatenate([packed[:, None], rows[:, 1:]], axis=1)
    heads = HeadLayout(table, rows, rows, rows, made, None, WIDTH, WIDTH, 0.25, False)
    out, saved = quietly(backend.attention, flat, flat, flat, None, heads)
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
        "unpad": (quietly(backend.pad, x, segments, length, 0.0), segments),
        "take_rows": (x, index),
        "add_rows": (x, index, segments.rows),
        "gather_components": (flat, *placement),
        "scatter_components": (flat, *placement, flat.size),
        "matmul_components": (flat, flat, left, right),
        "attention": (flat, flat, flat, None, heads),
        "attention_backward": (x[: few.sum()].reshape(-1), flat, flat, flat, None, out, saved, heads, False),
    }  # fmt: skip


def rows(load: str, names: list[str]) -> Iterator[tuple[Case, Calls]]:
    """Yield the calls of each kernel on "cpu" and on "plain"."""
    operands = {device: arguments(*LOADS["cpu"][load], device) for device in ("cpu", "plain")}
    for name in names:
        calls = {}
        for device, args in operands.items():
            calls[device] = partial(quietly, getattr(get_backend(device), name), *args[name])
        yield Case(name, "float32", load, "forward", ""), calls


def check(device: str, names: list[str]) -> None:
    """Raise an AssertionError if a kernel differs from the plain one on small segments."""
    for size in LOADS["emulated"].values():
        expected, found = arguments(*size, "plain"), arguments(*size, device)
        for name in names:
            right, result = (
                np.asarray(to_host(parts_of(getattr(get_backend(place), name)(*args[name]))[0]), np.float64)
                for place, args in (("plain", expected), (device, found))
            )
            np.testing.assert_allclose(result, right, TOLERANCE, TOLERANCE * np.abs(right).max(initial=1), err_msg=name)


def parts_of(result: Any) -> Any:
    """Return the arrays of a result, of which the first is the value."""
    return result if isinstance(result, tuple | list) else [result]


def beside_a_copy(device: str, names: list[str]) -> Times:
    """Print the bytes that each kernel moves in a second, beside those of a copy, and return the minimum times."""
    backend, clock = get_backend(device), Clock(device)

    def seconds(call: Any) -> float:
        """Return the least time of a call, after two that compile and warm up what it needs."""
        clock(call, 2)
        return min(clock(call, 20 if device == "cuda" else 1) for _ in range(3))

    source, target = (backend.xp.ones(COPIED[device] // 4, np.float32) for _ in range(2))
    copy = seconds(lambda: backend.xp.copyto(target, source))
    ceiling = 2 * source.nbytes / copy
    print(f"{'copy, the ceiling':40} {ceiling / 1e9:9.1f} GB/s")
    times = {Case("copy", "float32", "kernels", "forward", device): copy}
    for load, size in LOADS[device].items():
        for name, args in arguments(*size, device).items():
            if name in names:
                call = partial(getattr(backend, name), *args)
                moved = sum(getattr(part, "nbytes", 0) for arg in (args, call()) for part in parts_of(arg))
                taken = times[Case(name, "float32", load, "forward", device)] = seconds(call)
                speed = moved / taken
                print(f"{f'{name}, {load}':40} {speed / 1e9:9.1f} GB/s {speed / ceiling:7.1%} {taken * 1e6:10.1f} us")
    return times


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", choices=kernels(), default=kernels(), help="kernels to time")
    parser.add_argument("--device", default="cpu", choices=[*LOADS])
    args = parser.parse_args()
    times: Times = {}
    gc.disable()
    if args.device != "cpu":
        check(args.device, args.only)
        write_times(beside_a_copy(args.device, args.only), args.json)
        return
    for load in LOADS["cpu"]:
        times |= time_table(load, ["cpu", "plain"], rows(load, args.only), args.rounds, Clock())
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
