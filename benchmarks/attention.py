"""Attention against PyTorch's nested tensors, padding with a mask, and its dense attention for each component.

    python -m benchmarks.attention [--quick] [--load NAME] [--rows 0]
    python -m benchmarks.attention --load none --rows 4096

The tables are those of `benchmarks.harness`. What `torch dense` computes component by component has no structure to
look after. Two layers are two times `pynested.transformer_encoder_layer`, with hidden rows twice as wide; of these,
too, ``torch jagged`` and the others are written in PyTorch's functions. ``flex causal`` is `pynested.flex_attention`
with a block mask; PyTorch's own is that of padded operands, compiled where a C++ compiler is at hand, and has no
gradient on the CPU.

At last one long component: how long it takes, and the memory that it needs above operands and results, what the tape
holds included; by both operators, of flex attention also where each query meets the last 1,024 keys only, and with a
function of scores. All scores together would take the memory of the last column, and twice that in the gradient.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import pynested as pn
from pynested.backends.caching_allocator import kept_blocks

from .contenders import ATTENTION, Workload
from .harness import Times, command_line, write_times
from .operators import INSTALLED, time_operators, workloads

MIB = 1024 * 1024


def watched(calls: list[Callable[[Any], Any]], each: list[int]) -> list[tuple[float, float]]:
    """Return for each call on the result of the call before its seconds, and the peak of MiB beyond the results."""
    found, result, held = [], None, 0
    kept_blocks.clear()  # which would be used again, and not counted
    tracemalloc.start()
    for call, nbytes in zip(calls, each, strict=True):
        tracemalloc.reset_peak()
        started = time.perf_counter()
        result, held = call(result), held + nbytes
        found.append((time.perf_counter() - started, (tracemalloc.get_traced_memory()[1] - held) / MIB))
    tracemalloc.stop()
    return found


def kinds(q: pn.NestedArray, k: pn.NestedArray, v: pn.NestedArray) -> dict[str, Callable[[], Any]]:
    """Return calls of attention on one long component, by name."""
    causal, window = (lambda b, h, i, j: i >= j), (lambda b, h, i, j: (i >= j) & (i - j < 1024))

    def masked(mod: Any) -> pn.NestedArray:
        return pn.flex_attention(q, k, v, block_mask=pn.create_nested_block_mask(mod, q))

    def sloping(score: pn.Array, b: pn.Array, h: pn.Array, i: pn.Array, j: pn.Array) -> pn.Array:
        return score + (j - i).to(score.dtype) * 0.01

    return {
        "attention": lambda: pn.scaled_dot_product_attention(q, k, v),
        "causal attention": lambda: pn.scaled_dot_product_attention(q, k, v, is_causal=True),
        "flex causal": lambda: masked(causal),
        "flex window": lambda: masked(window),
        "flex function": lambda: pn.flex_attention(q, k, v, sloping),
        "flex function, causal": lambda: pn.flex_attention(q, k, v, sloping, pn.create_nested_block_mask(causal, q)),
    }


def one_component(rows: int, heads: int, width: int) -> None:
    """Print a line for the forward pass and one for the gradient of each kind."""
    rng = np.random.default_rng(0)
    given = [pn.array(rng.standard_normal((rows, heads * width), np.float32), requires_grad=True) for _ in range(3)]
    nested = [pn.nested_array_from_jagged(x, [0, rows]) for x in given]
    q, k, v = (x.unflatten(-1, (heads, width)).transpose(1, 2) for x in nested)
    scores = heads * rows**2 * 4 / MIB
    print(f"\n{rows:,} rows, {heads} heads of {width}, float32")
    print(f"{'':32} {'seconds':>8} {'MiB above':>10} {'all scores':>11}")
    for name, call in kinds(q, k, v).items():
        pair = [lambda _, call=call: call(), lambda result: (result, pn.grad(result, [q, k, v], result.detach()))]
        seen = watched(pair, [given[0].data.nbytes, 3 * given[0].data.nbytes])
        for which, (seconds, peak) in zip(("forward", "gradient"), seen, strict=True):
            print(f"{f'{name}, {which}':32} {seconds:8.2f} {peak:10.0f} {scores:11,.0f}", flush=True)


def main() -> None:
    """Print the tables, and the two lines of one long component."""
    parser = command_line(__doc__)
    parser.add_argument("--quick", action="store_true", help="an eighth of the components")
    parser.add_argument("--load", action="append", choices=["tiny", "short", "long", "none"], help="only these inputs")
    parser.add_argument("--rows", type=int, default=16384, help="of one long component; 0 leaves it out")
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--width", type=int, default=64)
    options = parser.parse_args()
    times: Times = {}
    libraries = {"pynested", "torch jagged", "torch padded", "torch dense"} if "torch" in INSTALLED else {"pynested"}
    settings = argparse.Namespace(device="cpu", only=libraries, samples=5)
    for name in options.load or ["tiny", "short", "long"]:
        if name != "none":
            load = workloads()[name]
            if options.quick and name != "tiny":
                load = Workload(f"an eighth of {load.name}", load.lengths[::8], load.width)
            times |= time_operators(load, "nested", list(ATTENTION), settings)
    write_times(times, options.json)
    if options.rows:
        one_component(options.rows, options.heads, options.width)


if __name__ == "__main__":
    main()
