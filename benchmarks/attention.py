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

import os
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import pynested as pn
from pynested.backends.memory import release_kept

from .contenders import Workload
from .harness import Case, Clock, Times, command_line, time_table, write_times
from .operators import HAS_TORCH, workloads

MIB = 1024 * 1024
HEADS = {"tiny": 2, "short": 4, "long": 4}
OURS = "pynested"


def layers(width: int) -> list[dict[str, Any]]:
    """Parameters of two layers of a transformer, by PyTorch's names."""
    generator = np.random.default_rng(3)
    sizes = {
        "self_attn.in_proj_": (3 * width, width), "self_attn.out_proj.": (width, width),
        "linear1.": (2 * width, width), "linear2.": (width, 2 * width), "norm1.": (width,), "norm2.": (width,),
    }  # fmt: skip
    every = [(f"{name}{what}", size) for name, size in sizes.items() for what in ("weight", "bias")]
    shapes = [(name, size if name.endswith("weight") else size[:1]) for name, size in every]
    return [
        {name: generator.standard_normal(shape, np.float32) / np.float32(width**0.5) for name, shape in shapes}
        for _ in range(2)
    ]


def calls(given: list[list[Any]], parameters: list[dict[str, Any]], heads: int, backward: bool) -> dict[str, Any]:
    """Return our calls."""
    parts = [pn.nested_array(one, layout=pn.jagged, requires_grad=True) for one in given]
    split = [x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in parts]
    weights = [{name: pn.array(one, requires_grad=True) for name, one in layer.items()} for layer in parameters]

    def attention(causal: bool) -> Any:
        return pn.scaled_dot_product_attention(split[0], split[1], split[2], is_causal=causal)

    mask = pn.create_nested_block_mask(lambda b, h, i, j: i >= j, split[0].detach())

    def two_layers() -> Any:
        x = parts[0]
        for layer in weights:
            x = pn.transformer_encoder_layer(x, layer, heads, activation="gelu")
        return x

    def pulled(forward: Callable[[], Any], leaves: list[Any]) -> Callable[[], Any]:
        cotangent = pn.ones_like(forward().detach())
        return (lambda: pn.grad(forward(), leaves, cotangent)) if backward else pn.no_grad()(forward)

    return {
        "attention": pulled(lambda: attention(False), split),
        "causal attention": pulled(lambda: attention(True), split),
        "flex causal": pulled(lambda: pn.flex_attention(split[0], split[1], split[2], block_mask=mask), split),
        "two layers": pulled(two_layers, [parts[0], *(one for layer in weights for one in layer.values())]),
    }


def compare(name: str, load: Workload, rounds: int) -> Times:
    """Print the two tables of one load, and return the minimum times."""
    generator, cuts = np.random.default_rng(0), np.cumsum(load.lengths)[:-1]
    shape = int(load.lengths.sum()), load.width
    given = [np.split(generator.standard_normal(shape, np.float32), cuts) for _ in range(3)]
    heads, parameters = HEADS[name], layers(load.width)
    clock = Clock("cpu", time.thread_time if name == "tiny" else time.perf_counter)
    times: Times = {}
    for backward in (False, True):
        columns = {OURS: calls(given, parameters, heads, backward)}
        if HAS_TORCH:
            from . import torch_attention

            columns |= torch_attention.contenders(given, parameters, heads, backward)
        direction = "with gradient" if backward else "forward"
        case = Case("", "nested", load.name.partition(":")[0], direction, "")
        rows = [
            (case._replace(operator=row), {name: own[row] for name, own in columns.items() if row in own})
            for row in columns[OURS]
        ]
        title = f"{load.name}, {heads} heads, {'forward and backward' if backward else 'forward'}"
        times |= time_table(title, [*columns], rows, rounds, clock)
    return times


def watched(calls: list[Callable[[Any], Any]], each: list[int]) -> list[tuple[float, float]]:
    """Return for each call on the result of the call before its seconds, and the peak of MiB beyond the results."""
    found, result, held = [], None, 0
    release_kept()  # which would be used again, and not counted
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
    options = command_line(__doc__)
    options.add_argument("--quick", action="store_true", help="an eighth of the components, and few rounds")
    options.add_argument("--load", action="append", choices=[*HEADS, "none"], help="only these inputs")
    options.add_argument("--rows", type=int, default=16384, help="of one long component; 0 leaves it out")
    options.add_argument("--heads", type=int, default=8)
    options.add_argument("--width", type=int, default=64)
    asked = options.parse_args()
    times: Times = {}
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `benchmarks.operators`
    loads = workloads()
    for name in asked.load or HEADS:
        if name == "none":
            continue
        if HAS_TORCH:
            from . import torch_contenders

            torch_contenders.set_threads(1 if name == "tiny" else 0)
        load = loads[name]
        if asked.quick and name != "tiny":
            load = Workload(f"an eighth of {load.name}", load.lengths[::8], load.width)
        times |= compare(name, load, 15 if name == "tiny" else 5)
    write_times(times, asked.json)
    if asked.rows:
        one_component(asked.rows, asked.heads, asked.width)


if __name__ == "__main__":
    main()
