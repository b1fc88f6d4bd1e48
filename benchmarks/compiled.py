"""Compiled functions against the functions themselves: chains on large arrays, a transformer's layer, tiny functions.

    python -m benchmarks.compiled [--threads N] [--wall]

The two are run in turn, and the least time of each counts: processor time on one thread, unless told otherwise. For
chains it also says how much longer they take than NumPy needs to add two arrays of this size: reading what goes in and
writing what comes out, once.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

ROUNDS, TINY = 9, 500  # of each function in turn, and calls of a tiny one in a round


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line for each function."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="threads of NumPy's passes (1)")
    parser.add_argument("--wall", action="store_true", help="measure the clock on the wall")
    options = parser.parse_args(arguments)
    os.environ["PYNESTED_THREADS"] = str(options.threads)  # read when pynested is imported
    clock = time.perf_counter if options.wall else time.process_time
    for dtype in ("float32", "float64"):
        _chains(dtype, clock)
    _layer(clock)
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


def _chains(dtype: str, clock: Callable[[], float]) -> None:
    import numpy as np

    import pynested as pn

    chance = np.random.default_rng(0)
    lengths = chance.integers(100, 500, 256)
    offsets = pn.array(np.concatenate([[0], np.cumsum(lengths)]))
    x, y = (
        pn.nested_array_from_jagged(pn.array(chance.normal(size=(lengths.sum(), 64)).astype(dtype)), offsets)
        for _ in range(2)
    )
    chains: dict[str, Callable[[Any, Any], Any]] = {
        "((x + y) * 0.5 - y) * x": lambda x, y: ((x + y) * 0.5 - y) * x,
        "tanh(x * 0.1 + y) * x + 1": lambda x, y: (x * 0.1 + y).tanh() * x + 1,
        "relu(x + y) * 2 - x, abs": lambda x, y: (pn.relu(x + y) * 2 - x).abs(),
        "gelu(x + y) * y + x": lambda x, y: pn.gelu(x + y) * y + x,
    }
    out = np.empty_like(x.data.data)
    for name, function in chains.items():
        compiled = pn.compile(function)
        once = lambda: np.add(x.data.data, y.data.data, out=out)  # noqa: E731
        eager, made, least = _least([lambda f=f: f(x, y) for f in (function, compiled)] + [once], clock)  # type: ignore[misc]
        _tell(f"{name}, {dtype}, forward", eager, made, f"{made / least:.1f} times one pass")
        eager, made = _least([_backward(f, x, y) for f in (function, compiled)], clock)
        _tell(f"{name}, {dtype}, forward and backward", eager, made)


def _backward(function: Callable[..., Any], x: Any, y: Any) -> Callable[[], Any]:
    import pynested as pn

    a, b, cotangent = x.detach().requires_grad_(), y.detach().requires_grad_(), pn.ones_like(x)
    return lambda: pn.grad(function(a, b), [a, b], cotangent)


def _layer(clock: Callable[[], float]) -> None:
    import numpy as np

    import pynested as pn

    chance = np.random.default_rng(1)
    x = pn.nested_array([chance.normal(size=(n, 256)).astype(np.float32) for n in chance.integers(20, 120, 64)])
    x = x.to(layout=pn.jagged)
    w, v = (pn.array(chance.normal(size=s).astype(np.float32) / 16) for s in ((1024, 256), (256, 1024)))
    b, c = (pn.array(chance.normal(size=n).astype(np.float32)) for n in (1024, 256))

    def layer(x: Any) -> Any:
        hidden = pn.gelu(pn.linear(pn.layer_norm(x, (256,)), w, b))
        return x + pn.dropout(pn.linear(hidden, v, c), 0.1)

    compiled = pn.compile(layer)
    _tell("a transformer's layer, forward", *_least([lambda: layer(x), lambda: compiled(x)], clock))
    tracked = x.detach().requires_grad_()
    calls = [lambda f=f: f(tracked).sum().backward() for f in (layer, compiled)]  # type: ignore[misc]
    _tell("a transformer's layer, forward and backward", *_least(calls, clock))


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
