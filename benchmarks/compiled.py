"""Compiled functions against the functions themselves: chains on large arrays, a transformer's layer, tiny functions.

The large arrays are those of the load ``long`` of `benchmarks.operators`, of 50 MB in float32.

    python -m benchmarks.compiled [--threads N] [--wall] [--torch]

The two are run in turn, and the least time of each counts: processor time on one thread, unless told otherwise. For
chains it also says how much longer they take than reading what goes in and writing what comes out, once, and how many
times as fast as the function a compiled one could be: if it took no longer than that pass, nor than its own calls of
NumPy's functions take where everything lies in the cache.

With ``--torch``, where PyTorch and a C++ compiler are installed, the same functions of its nested tensors, eager and by
`torch.compile`, on one thread: the seconds to the first result, both times, and how ours compares.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest import mock

ROUNDS, TINY = 9, 500  # of each function in turn, and calls of a tiny one in a round


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line for each function."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="threads of NumPy's passes and products (1)")
    parser.add_argument("--wall", action="store_true", help="measure the clock on the wall")
    parser.add_argument("--torch", action="store_true", help="measure PyTorch's torch.compile too")
    options = parser.parse_args(arguments)
    for name in ("PYNESTED_THREADS", "OPENBLAS_NUM_THREADS"):  # read when pynested and NumPy are imported
        os.environ[name] = str(options.threads)
    clock = time.perf_counter if options.wall else time.process_time
    for dtype in ("float32", "float64"):
        _chains(dtype, clock, options.torch)
    _layer(clock, options.torch)
    _tiny(clock)


def _least(calls: Sequence[Callable[[], Any]], clock: Callable[[], float], count: int = 1) -> list[float]:
    """The least time of each call, in microseconds."""
    least = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            start = clock()
            for _ in range(count):
                call()
            least[i] = min(least[i], (clock() - start) / count)
    return [one * 1e6 for one in least]


# Functions of the module that has relu and gelu, and of two nested arrays.
CHAINS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "((x + y) * 0.5 - y) * x": lambda of, x, y: ((x + y) * 0.5 - y) * x,
    "tanh(x * 0.1 + y) * x + 1": lambda of, x, y: (x * 0.1 + y).tanh() * x + 1,
    "relu(x + y) * 2 - x, abs": lambda of, x, y: (of.relu(x + y) * 2 - x).abs(),
    "gelu(x + y) * y + x": lambda of, x, y: of.gelu(x + y) * y + x,
    "where(x > y, x * 0.1, x + y) * y": lambda of, x, y: of.where(x > y, x * 0.1, x + y) * y,
    "((x - y) ** 2).sum(-1)": lambda of, x, y: ((x - y) ** 2).sum(-1),
    "((x + y) * y - x).amax(-1)": lambda of, x, y: ((x + y) * y - x).amax(-1),
    "ten products and sums": lambda of, x, y: ((((x + y) * 0.5 - y) * x + 1) * y - x) * 0.25 * (x - 1),
}


def layer(of: Any, x: Any, w: Any, v: Any, b: Any, c: Any) -> Any:
    """A transformer's layer without its attention."""
    hidden = of.gelu(of.linear(of.layer_norm(x, (256,)), w, b))
    return x + of.dropout(of.linear(hidden, v, c), 0.1)


def _chains(dtype: str, clock: Callable[[], float], with_torch: bool) -> None:
    import numpy as np

    import pynested as pn

    from .operators import workloads  # which import both

    load, chance = workloads()["long"], np.random.default_rng(0)
    lengths = load.lengths
    offsets = pn.array(np.concatenate([[0], np.cumsum(lengths)]))
    values = [chance.normal(size=(lengths.sum(), load.width)).astype(dtype) for _ in range(2)]
    x, y = (pn.nested_array_from_jagged(pn.array(one), offsets) for one in values)
    out, other = (np.empty_like(one.data.data) for one in (x, y))
    for name, chain in CHAINS.items():
        function = partial(chain, pn)
        compiled = pn.compile(lambda x, y, f=function: f(x, y))
        bare = x.data.data, y.data.data
        once = partial(_once, np.add, *bare, out)
        if function(x, y).ndim < x.ndim:
            once = partial(_once, np.vecdot, *bare, out[:, 0])  # reads both, and writes a number for each row
        calls = [lambda f=f: f(x, y) for f in (function, compiled)]  # type: ignore[misc]
        made = _of_chain(f"{name}, {dtype}, forward", calls, [once], clock)
        if with_torch:
            _torch(chain, (lengths, values, ()), made, clock)
        calls = [_backward(f, x, y) for f in (function, compiled)]
        # Both are read, and a cotangent as large as the result; two gradients are made.
        backwards = [partial(_once, np.positive, bare[1], other)]
        backwards.append(once if function(x, y).ndim == x.ndim else partial(_once, np.positive, bare[0], out))
        made = _of_chain(f"{name}, {dtype}, forward and backward", calls, [once, *backwards], clock)
        if with_torch:
            _torch(chain, (lengths, values, ()), made, clock, back=True)


def _once(function: Callable[..., Any], *arrays: Any) -> None:
    """Go once through arrays, of which the last is written, on as many threads as a chain."""
    from pynested.backends.numpy.running import run, shares

    *given, out = arrays

    def work(start: int, stop: int) -> None:
        function(*(one[start:stop] for one in given), out=out[start:stop])

    run(work, shares(len(out)), out.nbytes)


def _of_chain(name: str, calls: Sequence[Any], once: Sequence[Any], clock: Callable[[], float]) -> float:
    """One line about a chain, and its time compiled; ``once`` reads what is given and writes what is made."""
    eager, made, cached, *passes = _least([*calls, lambda: _in_cache(calls[1]), *once], clock)
    one_pass = sum(passes)
    possible = eager / max(cached, one_pass)
    _tell(name, eager, made, f"of {possible:.2f} possible; {made / one_pass:.1f} times one pass")
    return made


def _in_cache(call: Callable[[], Any]) -> None:
    """``call``, in which chains go through one block of a thread's share again and again, which stays in the cache."""
    from pynested.graph import block_program

    run = block_program.run

    def again(work: Callable[[int, int], None], jobs: Sequence[tuple[int, int]], nbytes: int) -> None:
        def first_blocks(start: int, stop: int) -> None:
            for _ in range(start, stop):
                work(start, start + 1)

        run(first_blocks, jobs, nbytes)

    with mock.patch.object(block_program, "run", again):
        call()


def _backward(function: Callable[..., Any], x: Any, y: Any) -> Callable[[], Any]:
    import pynested as pn

    a, b, cotangent = x.detach().requires_grad_(), y.detach().requires_grad_(), pn.ones_like(function(x, y))
    return lambda: pn.grad(function(a, b), [a, b], cotangent)


def _torch(
    function: Callable[..., Any],
    given: tuple[Any, Any, Any],
    ours: float,
    clock: Callable[[], float],
    back: bool = False,
) -> None:
    """One line about the same function in PyTorch."""
    from .torch_compiled import made

    one = made(function, *given, back)
    if one.eager is None or one.compiled is None:
        print(f"    PyTorch refuses: {one.refusal}")
        return
    eager, compiled = _least([one.eager, one.compiled], clock)
    _tell("    PyTorch", eager, compiled, f"{one.seconds:.1f} s to the first result; ours / its {ours / compiled:.2f}")


def _layer(clock: Callable[[], float], with_torch: bool) -> None:
    import numpy as np

    import pynested as pn

    chance = np.random.default_rng(1)
    lengths = chance.integers(20, 120, 64)
    values = chance.normal(size=(lengths.sum(), 256)).astype(np.float32)
    x = pn.nested_array_from_jagged(pn.array(values), pn.array(np.concatenate([[0], np.cumsum(lengths)])))
    sizes = ((1024, 256), (256, 1024), 1024, 256)
    others = [chance.normal(size=size).astype(np.float32) / 16 for size in sizes]
    weights = [pn.array(one) for one in others]

    function = partial(layer, pn)
    compiled = pn.compile(lambda x: function(x, *weights))
    eager, made = _least([lambda: function(x, *weights), lambda: compiled(x)], clock)
    _tell("a transformer's layer, forward", eager, made)
    if with_torch:
        _torch(layer, (lengths, [values], others), made, clock)
    tracked = x.detach().requires_grad_()
    calls = [lambda f=f: f(tracked).sum().backward() for f in (lambda x: function(x, *weights), compiled)]  # type: ignore[misc]
    eager, made = _least(calls, clock)
    _tell("a transformer's layer, forward and backward", eager, made)
    if with_torch:
        _torch(layer, (lengths, [values], others), made, clock, back=True)


def _tiny(clock: Callable[[], float]) -> None:
    import numpy as np

    import pynested as pn

    x = pn.nested_array([np.ones((3, 4)), np.zeros((5, 4))], layout=pn.jagged)
    y = pn.nested_array_from_jagged(pn.ones(8, 4), x.offsets())

    def ten(x: Any, y: Any) -> Any:
        return ((x.sin() + 1) * y - 0.5).exp().relu().tanh().neg() * 2.0 + x

    compiled = pn.compile(ten)
    _tell("ten tiny operators", *_least([lambda: ten(x, y), lambda: compiled(x, y)], clock, TINY))


def _tell(name: str, eager: float, made: float, more: str = "") -> None:
    print(f"{name:<62} {eager:>10,.0f} µs {made:>10,.0f} µs compiled  {eager / made:>5.2f} times  {more}")


if __name__ == "__main__":
    main()
