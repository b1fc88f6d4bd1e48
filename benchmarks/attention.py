"""Attention over one long component: how long it takes, and the memory that it needs above operands and results.

    python -m benchmarks.attention
    python -m benchmarks.attention --rows 4096 --causal

All scores together would take the memory of the last column, and twice that in the gradient.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import pynested as pn

MIB = 1024 * 1024


def measured(call: Callable[[], pn.NestedArray]) -> tuple[float, float, pn.NestedArray]:
    """Seconds, the most MiB that were in use beyond what is left afterwards, and the result."""
    tracemalloc.start()
    started = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - started
    left, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return seconds, (peak - left) / MIB, result


def main() -> None:
    """Print a line for the forward pass and one for the gradient."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=16384)
    options.add_argument("--heads", type=int, default=8)
    options.add_argument("--width", type=int, default=64)
    options.add_argument("--causal", action="store_true")
    asked = options.parse_args()
    rng = np.random.default_rng(0)
    shape = asked.rows, asked.heads * asked.width
    given = [pn.array(rng.standard_normal(shape, np.float32), requires_grad=True) for _ in range(3)]
    nested = [pn.nested_array_from_jagged(x, [0, asked.rows]) for x in given]
    q, k, v = (x.unflatten(-1, (asked.heads, asked.width)).transpose(1, 2) for x in nested)
    forward = measured(lambda: pn.scaled_dot_product_attention(q, k, v, is_causal=asked.causal))
    result = forward[2]
    cotangent = result.detach()

    def gradient() -> pn.NestedArray:
        result.backward(cotangent)
        return result

    backward = measured(gradient)
    scores = asked.heads * asked.rows**2 * 4 / MIB
    print(f"{asked.rows:,} rows, {asked.heads} heads of {asked.width}, float32")
    print(f"{'':10} {'seconds':>8} {'MiB above':>10} {'all scores':>11}")
    for name, (seconds, peak, _) in (("forward", forward), ("gradient", backward)):
        print(f"{name:10} {seconds:8.2f} {peak:10.0f} {scores:11,.0f}")


if __name__ == "__main__":
    main()
