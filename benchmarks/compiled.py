"""Compiled functions beside the functions themselves: chains on large arrays, a transformer's layer, tiny functions.

    python -m benchmarks.compiled [--torch] [--json FILE]
    PYNESTED_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.compiled

The large arrays are those of the load ``long`` of `benchmarks.operators`, of 50 MB in float32. ``eager`` is the
function that is not compiled; ``one pass`` reads the inputs of a chain and writes its results once, the least that it
could take. With ``--torch``, where PyTorch and a C++ compiler are installed, the same functions of its nested tensors,
eager and by `torch.compile`, on one thread.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import pynested as pn
from pynested.backends.numpy.running import run, shares

from .harness import Calls, Case, Clock, json_option, time_table, write_times
from .operators import workloads

ROUNDS = 9
OURS = "compiled"

# Functions of the module that has relu and gelu, and of two nested arrays.
CHAINS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "four products and sums": lambda of, x, y: ((x + y) * 0.5 - y) * x,
    "tanh(x * 0.1 + y) * x + 1": lambda of, x, y: (x * 0.1 + y).tanh() * x + 1,
    "relu(x + y) * 2 - x, abs": lambda of, x, y: (of.relu(x + y) * 2 - x).abs(),
    "gelu(x + y) * y + x": lambda of, x, y: of.gelu(x + y) * y + x,
    "where(x > y, ...) * y": lambda of, x, y: of.where(x > y, x * 0.1, x + y) * y,
    "((x - y) ** 2).sum(-1)": lambda of, x, y: ((x - y) ** 2).sum(-1),
    "((x + y) * y - x).amax(-1)": lambda of, x, y: ((x + y) * y - x).amax(-1),
    "ten products and sums": lambda of, x, y: ((((x + y) * 0.5 - y) * x + 1) * y - x) * 0.25 * (x - 1),
}


def layer(of: Any, x: Any, w: Any, v: Any, b: Any, c: Any) -> Any:
    """A transformer's layer without its attention."""
    hidden = of.gelu(of.linear(of.layer_norm(x, (256,)), w, b))
    return x + of.dropout(of.linear(hidden, v, c), 0.1)


def ten_operators(of: Any, x: Any, y: Any) -> Any:
    return ((x.sin() + 1) * y - 0.5).exp().relu().tanh().neg() * 2.0 + x


def contenders(
    function: Callable[..., Any], inputs: Sequence[pn.NestedArray], others: Sequence[pn.Array], backward: bool
) -> dict[str, Callable[[], Any]]:
    """Return the calls of a function, compiled and eager, with gradients of its nested inputs or without."""
    leaves = [x.detach().requires_grad_(backward) for x in inputs]
    eager = partial(function, pn)
    made: dict[str, Callable[..., Any]] = {OURS: pn.compile(lambda *arrays: eager(*arrays, *others))}
    made["eager"] = lambda *arrays: eager(*arrays, *others)
    if not backward:
        return {name: partial(call, *leaves) for name, call in made.items()}
    cotangent = pn.ones_like(made["eager"](*inputs))
    return {name: lambda call=call: pn.grad(call(*leaves), leaves, cotangent) for name, call in made.items()}  # type: ignore[misc]


def one_pass(x: pn.NestedArray, y: pn.NestedArray, result: pn.NestedArray, backward: bool) -> Callable[[], Any]:
    """Return a call that reads two arrays and writes the result once; backward it reads a cotangent too, writes two."""
    a, b = x.data.data, y.data.data
    out, other = np.empty_like(a), np.empty_like(b)
    is_reduced = result.ndim < x.ndim

    def forward() -> None:
        if is_reduced:
            _blockwise(np.vecdot, a, b, out[:, 0])
        else:
            _blockwise(np.add, a, b, out)

    def both() -> None:
        forward()
        _blockwise(np.positive, b, other)
        if is_reduced:
            _blockwise(np.positive, a, out)
        else:
            _blockwise(np.add, a, b, out)

    return both if backward else forward


def _blockwise(function: Callable[..., Any], *arrays: Any) -> None:
    """Go once through arrays, of which the last is written, on as many threads as a chain."""
    *inputs, out = arrays

    def work(start: int, stop: int) -> None:
        function(*(array[start:stop] for array in inputs), out=out[start:stop])

    run(work, shares(len(out)), out.nbytes)


def _rows(dtype: str, direction: str, with_torch: bool) -> Iterator[tuple[Case, Calls]]:
    """Yield the chains of one dtype and, in float32, the layer."""
    load, generator, backward = workloads()["long"], np.random.default_rng(0), direction != "forward"
    offsets = pn.array(np.concatenate([[0], np.cumsum(load.lengths)]))
    values = [generator.normal(size=(load.lengths.sum(), load.width)).astype(dtype) for _ in range(2)]
    x, y = (pn.nested_array_from_jagged(pn.array(array), offsets) for array in values)
    for name, chain in CHAINS.items():
        calls = contenders(chain, [x, y], [], backward)
        calls["one pass"] = one_pass(x, y, chain(pn, x, y), backward)
        yield (
            Case(name, dtype, "long", direction, ""),
            calls | _torch(chain, load.lengths, values, [], backward, with_torch),
        )
    if dtype == "float32":
        weights = [generator.normal(size=size).astype(dtype) / 16 for size in ((1024, 256), (256, 1024), 1024, 256)]
        calls = contenders(layer, [x], [pn.array(weight) for weight in weights], backward)
        yield (
            Case("a transformer's layer", dtype, "long", direction, ""),
            calls | _torch(layer, load.lengths, values[:1], weights, backward, with_torch),
        )


def _torch(
    function: Callable[..., Any],
    lengths: Sequence[int],
    values: Sequence[Any],
    others: Sequence[Any],
    backward: bool,
    with_torch: bool,
) -> dict[str, Callable[[], Any]]:
    if not with_torch:
        return {}
    from .torch_compiled import calls

    return calls(function, lengths, values, others, backward)


def main() -> None:
    """Print a table for each dtype and direction, and one of tiny operators."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", action="store_true", help="measure PyTorch's torch.compile too")
    json_option(parser)
    options = parser.parse_args()
    names = [OURS, "eager", "one pass", *(["torch", "torch compiled"] if options.torch else [])]
    x = pn.nested_array([np.ones((3, 4)), np.zeros((5, 4))], layout=pn.jagged)
    y = pn.nested_array_from_jagged(pn.ones(8, 4), x.offsets())
    tiny = [(Case("ten operators", "float64", "tiny", "forward", ""), contenders(ten_operators, [x, y], [], False))]
    times = time_table("tiny, forward", names[:2], tiny, ROUNDS, Clock())
    for dtype in ("float32", "float64"):
        for direction in ("forward", "with gradient"):
            title = f"long, {dtype}, {direction}"
            times |= time_table(title, names, _rows(dtype, direction, options.torch), ROUNDS, Clock())
    write_times(times, options.json)


if __name__ == "__main__":
    main()
