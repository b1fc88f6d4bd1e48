"""Costs of recording and reading a long tape, against the same arithmetic written by hand in NumPy, and PyTorch.

    python -m benchmarks.autograd [--rounds N] [--elements N]

The table is that of `benchmarks.harness`, of processor time and with the garbage collector off. The budget of the chain
of tiny operations is nine times the time of hand-written NumPy, a ratio of 0.11. Single operations and their gradients
are rows of `benchmarks.operators`.
"""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

import pynested as pn
from pynested.autograd import grad, no_grad

from .harness import Case, Clock, command_line, time_table, write_times

Numbers = np.ndarray[Any, Any]
Contenders = dict[str, Callable[[], Any]]
LINKS = 333  # of three operations each


def chain_by_hand(x: Numbers, w: Numbers, b: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the gradients of `chain`."""
    values = [x]
    for _ in range(LINKS):
        values.append(np.tanh(values[-1] * w + b))
    g, by_w, by_b = np.ones(x.shape), np.zeros(x.shape), np.zeros(x.shape)
    for before, after in zip(values[-2::-1], values[:0:-1], strict=True):
        g = g * (1 - after * after)
        by_b = by_b + g
        by_w = by_w + g * before
        g = g * w
    return g, by_w, by_b


def chain(x: Any, w: Any, b: Any) -> Any:
    """Return ``x = tanh(x * w + b)``, over and over."""
    for _ in range(LINKS):
        x = (x * w + b).tanh()
    return x


def chains(elements: int) -> Contenders:
    points = [np.asarray(np.random.default_rng(seed).standard_normal(elements)) for seed in range(3)]
    ones = pn.ones(elements)

    def ours(create_graph: bool = False) -> Any:
        leaves = [pn.array(point, requires_grad=True) for point in points]
        return grad(chain(*leaves), leaves, ones, create_graph=create_graph)

    def forward() -> Any:
        with no_grad():
            return chain(*[pn.array(point) for point in points])

    for one, other in zip(ours(), chain_by_hand(*points), strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-9)
    contenders: Contenders = {
        "pynested": ours,
        "NumPy by hand": lambda: chain_by_hand(*points),
        "create_graph": lambda: ours(True),
        "no_grad": forward,
    }
    if importlib.util.find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)

        def theirs() -> Any:
            leaves = [torch.tensor(point, requires_grad=True) for point in points]
            return torch.autograd.grad(chain(*leaves), leaves, torch.ones(elements, dtype=torch.float64))

        contenders["PyTorch"] = theirs
    return contenders


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--elements", type=int, default=8, help="of an array of the chain")
    options = parser.parse_args()
    contenders = chains(options.elements)
    title = f"{3 * LINKS} operations on {options.elements} float64, forwards and backwards"
    case = Case("chain", "dense", "tiny", "with gradient", "")
    clock = Clock("cpu", process_time)
    gc.disable()
    times = time_table(title, list(contenders), [(case, contenders)], options.rounds, clock)
    write_times(times, options.json)


if __name__ == "__main__":
    main()
