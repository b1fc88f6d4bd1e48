"""Compiled functions beside the functions themselves: chains on large arrays, a transformer's layer, tiny functions.

    python -m benchmarks.compiled [--torch] [--json FILE]
    PYNESTED_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.compiled

The large arrays are those of the load ``long`` of `benchmarks.operators`, of 50 MB in float32. ``eager`` is the
function that is not compiled. The chain ``x + y`` reads two arrays and writes one, the least that a chain could take.
With ``--torch``, if PyTorch and a C++ compiler are installed, the same functions of its nested tensors are timed, eager
and by `torch.compile`, on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import pynested as pn

from .harness import Calls, Case, Clock, command_line, time_table, write_times
from .operators import workloads

ROUNDS = 9
OURS = "compiled"

# Functions of the module that has relu and gelu, and of two nested arrays.
CHAINS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x + y": lambda of, x, y: x + y,
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
    """Return a transformer's layer of ``x``, without its attention."""
    hidden = of.gelu(of.linear(of.layer_norm(x, (256,)), w, b))
    return x + of.dropout(of.linear(hidden, v, c), 0.1)


def ten_operators(of: Any, x: Any, y: Any) -> Any:
    return ((x.sin() + 1) * y - 0.5).exp().relu().tanh().neg() * 2.0 + x


class Library(NamedTuple):
    """The functions that a chain calls, and those that compile the chain and take its gradient."""

    functions: Any
    compile: Callable[..., Any]
    grad: Callable[..., Any]
    ones_like: Callable[..., Any]
    names: tuple[str, str]  # of the compiled chain, and of the chain itself


PYNESTED = Library(pn, pn.compile, pn.grad, pn.ones_like, (OURS, "eager"))


def contenders(
    library: Library, function: Callable[..., Any], inputs: Sequence[Any], others: Sequence[Any], backward: bool
) -> dict[str, Callable[[], Any]]:
    """Return the calls of a function, compiled and eager, with gradients of its nested inputs or without."""
    leaves = [x.detach().requires_grad_(backward) for x in inputs]

    def eager(*arrays: Any) -> Any:
        return function(library.functions, *arrays, *others)

    def gradients(forward: Callable[[], Any]) -> Any:
        return library.grad(forward(), leaves, cotangent)

    cotangent = library.ones_like(eager(*inputs)) if backward else None
    calls: dict[str, Callable[[], Any]] = {}
    for name, call in zip(library.names, (library.compile(eager), eager), strict=True):
        forward = partial(call, *leaves)
        calls[name] = partial(gradients, forward) if backward else forward
    return calls


def torch_contenders(
    function: Callable[..., Any], lengths: Any, values: Sequence[Any], others: Sequence[Any], backward: bool
) -> dict[str, Callable[[], Any]]:
    """Return the calls of a function of PyTorch's nested jagged tensors, without those that PyTorch refuses."""
    import torch

    from .torch_contenders import FUNCTIONS

    torch.set_num_threads(1)
    torch._dynamo.reset()
    library = Library(FUNCTIONS, torch.compile, torch.autograd.grad, torch.ones_like, ("torch compiled", "torch"))
    offsets = torch.tensor(np.concatenate([[0], np.cumsum(lengths)]))
    inputs = [torch.nested.nested_tensor_from_jagged(torch.tensor(array), offsets) for array in values]
    calls = contenders(library, function, inputs, [torch.tensor(array) for array in others], backward)
    for name, call in list(calls.items()):
        try:
            call()
        except Exception as error:
            print(f"    {name} refuses: {type(error).__name__}: {str(error).strip().splitlines()[0]}")
            del calls[name]
    return calls


def _rows(dtype: str, direction: str, with_torch: bool) -> Iterator[tuple[Case, Calls]]:
    """Yield the chains of one dtype and, in float32, the layer."""
    load, generator, backward = workloads()["long"], np.random.default_rng(0), direction != "forward"
    offsets = pn.array(np.concatenate([[0], np.cumsum(load.lengths)]))
    values = [generator.normal(size=(load.lengths.sum(), load.width)).astype(dtype) for _ in range(2)]
    loads = [(name, chain, values, []) for name, chain in CHAINS.items()]
    if dtype == "float32":
        weights = [generator.normal(size=size).astype(dtype) / 16 for size in ((1024, 256), (256, 1024), 1024, 256)]
        loads.append(("a transformer's layer", layer, values[:1], weights))
    for name, function, used, others in loads:
        inputs = [pn.nested_array_from_jagged(pn.array(array), offsets) for array in used]
        calls = contenders(PYNESTED, function, inputs, [pn.array(array) for array in others], backward)
        if with_torch:
            calls |= torch_contenders(function, load.lengths, used, others, backward)
        yield Case(name, dtype, "long", direction, ""), calls


def main() -> None:
    """Print a table for each dtype and direction, and one of tiny operators."""
    parser = command_line(__doc__)
    parser.add_argument("--torch", action="store_true", help="measure PyTorch's torch.compile too")
    options = parser.parse_args()
    names = [OURS, "eager", *(["torch", "torch compiled"] if options.torch else [])]
    x = pn.nested_array([np.ones((3, 4)), np.zeros((5, 4))], layout=pn.jagged)
    calls = contenders(PYNESTED, ten_operators, [x, pn.ones_like(x)], [], False)
    tiny = [(Case("ten operators", "float64", "tiny", "forward", ""), calls)]
    times = time_table("tiny, forward", [OURS, "eager"], tiny, ROUNDS, Clock())
    for dtype in ("float32", "float64"):
        for direction in ("forward", "with gradient"):
            rows = _rows(dtype, direction, options.torch)
            times |= time_table(f"long, {dtype}, {direction}", names, rows, ROUNDS, Clock())
    write_times(times, options.json)


if __name__ == "__main__":
    main()
