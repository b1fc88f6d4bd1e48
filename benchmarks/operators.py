"""How long operators take, against PyTorch's nested tensors, padding with masks, and plain NumPy.

    python -m benchmarks.operators [--quick] [--op NAME] [--load NAME] [--device NAME]

All contenders of an operator run in turn, round after round, in one process, so that what else the machine does meets
all of them alike. The tables give the median of our times, and how many times as long the others take: the median over
the rounds of their time by ours. Above 1 we are faster; a dash is an operator that the library does not support.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Any

import numpy as np

import pynested as pn

from . import contenders
from .contenders import LEAVES, PYNESTED, Contender, Workload

SAMPLE = 2e-3  # seconds; what takes less is repeated within one sample
HAS_TORCH = importlib.util.find_spec("torch") is not None


def workloads() -> dict[str, Workload]:
    """A tiny input, two of about 50 MB, of long components and of short ones, and one of 1 GB for a GPU."""
    generator = np.random.default_rng(1)
    return {
        "tiny": Workload("tiny: 4 components of 1-5 rows of 8", np.array([3, 1, 5, 2]), 8),
        "long": Workload("long: 256 components of 1-400 rows of 256", generator.integers(1, 401, 256), 256),
        "short": Workload("short: 24000 components of 1-15 rows of 64", generator.integers(1, 16, 24000), 64),
        "huge": Workload("huge: 4096 components of 1-512 rows of 256", generator.integers(1, 513, 4096), 256),
    }


def all_contenders(workload: Workload, device: str) -> list[Contender]:
    """Ours first: the others are compared with it."""
    given = workload.operands()
    found = [
        contenders.pynested(given, pn.jagged, "pynested", device),
        contenders.pynested(given, pn.strided, "our strided", device),
    ]
    if device != "cuda":
        found.append(contenders.numpy(given))
    if HAS_TORCH:
        from . import torch_contenders

        there = "cuda" if device == "cuda" else "cpu"
        found += [
            make(given, there) for make in (torch_contenders.jagged, torch_contenders.strided, torch_contenders.padded)
        ]
    return found


class Clock:
    """Seconds that one call takes, until its device has done what it was told."""

    def __init__(self, device: str, now: Callable[[], float] = perf_counter) -> None:
        self.now = now
        self.wait = importlib.import_module("cupy").cuda.Device().synchronize if device == "cuda" else None

    def __call__(self, function: Callable[[], Any], repeat: int) -> float:
        start = self.now()
        for _ in range(repeat):
            function()
        if self.wait:
            self.wait()
        return (self.now() - start) / repeat


def prepared(contender: Contender, op: str, backward: bool) -> Callable[[], Any] | None:
    """A call without arguments, tried once; None if the contender does not support it."""
    call = contender.operators.get(op)
    if call is None:
        return None
    if not backward:
        return _supported(lambda: call(contender.operands))
    operands = contender.tracked
    if operands is None:
        return None
    leaves = [getattr(operands, name) for name in LEAVES.get(op, ("x",))]

    def forward_backward(cotangent: Any) -> Any:
        return contender.pull(call(operands), leaves, cotangent)

    made = _supported(lambda: contender.ones_like(call(operands)))
    if made is None:
        return None
    cotangent = made()
    cotangent = cotangent.detach() if cotangent.requires_grad else cotangent
    return _supported(lambda: forward_backward(cotangent))


def _supported(function: Callable[[], Any]) -> Callable[[], Any] | None:
    try:
        function()
    except (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError, AttributeError):
        return None
    return function


def measured(calls: dict[str, Callable[[], Any]], rounds: int, clock: Clock) -> dict[str, list[float]]:
    """The times of every call, round by round, in another order each time."""
    quick = {name: min(clock(call, 1) for _ in range(3)) for name, call in calls.items()}
    repeats = {name: max(1, round(SAMPLE / max(seconds, 1e-9))) for name, seconds in quick.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    generator = np.random.default_rng(0)
    for _ in range(rounds):
        for name in generator.permutation(list(calls)):
            times[name].append(clock(calls[name], repeats[name]))
    return times


def shown(seconds: float) -> str:
    """A time in a unit that fits."""
    for unit, scale in (("s ", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:7.2f} {unit}"
    return f"{seconds / 1e-9:7.2f} ns"


def line(label: str, times: dict[str, list[float]], names: list[str]) -> str:
    """One row of a table: our time, and the others by ours."""
    ours = times[names[0]]
    cells = [f"{label:<20}{shown(statistics.median(ours))}"]
    for name in names[1:]:
        ratios = [theirs / mine for theirs, mine in zip(times.get(name, []), ours, strict=False)]
        cells.append(f"{statistics.median(ratios):14.2f}" if ratios else f"{'-':>14}")
    return "".join(cells)


def compare(workload: Workload, ops: list[str], rounds: int, device: str) -> None:
    """The two tables of one workload."""
    found = all_contenders(workload, device)
    alone = device == "cpu" and workload.name.startswith("tiny")  # one thread does all of a tiny call
    clock = Clock(device, thread_time if alone else perf_counter)
    names = [contender.name for contender in found]
    for backward in (False, True):
        print(f"\n{workload.name}, {'forward and backward' if backward else 'forward'}")
        print(f"{'':<20}{names[0]:>10}" + "".join(f"{name:>14}" for name in names[1:]))
        for op in ops:
            if backward and LEAVES.get(op) == ():
                continue
            calls = {contender.name: prepared(contender, op, backward) for contender in found}
            able = {name: call for name, call in calls.items() if call is not None}
            print(line(op, measured(able, rounds, clock), names), flush=True)


def building(count: int, rounds: int) -> None:
    """A nested array of a list of small arrays, against concatenating them."""
    generator = np.random.default_rng(2)
    arrays = [generator.standard_normal((n, 8), np.float32) for n in generator.integers(1, 6, count)]
    calls: dict[str, Callable[[], Any]] = {
        "np.concatenate": lambda: np.concatenate(arrays),
        "pynested": lambda: pn.nested_array(arrays, layout=pn.jagged),
        "our strided": lambda: pn.nested_array(arrays),
    }
    if HAS_TORCH:
        import torch

        tensors = [torch.from_numpy(array) for array in arrays]
        calls["torch jagged"] = lambda: torch.nested.nested_tensor(tensors, layout=torch.jagged)
        calls["torch strided"] = lambda: torch.nested.nested_tensor(tensors)
    names = list(calls)
    print(f"\nbuilding from a list of {count} arrays of 1-5 rows of 8, times by that of np.concatenate")
    print(f"{'':<20}{'numpy':>10}" + "".join(f"{name:>14}" for name in names[1:]))
    print(line("nested_array", measured(calls, rounds, Clock("cpu")), names))


def main(arguments: list[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="time operators against PyTorch and NumPy")
    parser.add_argument("--quick", action="store_true", help="few rounds, and no input larger than tiny")
    parser.add_argument("--op", action="append", choices=[*PYNESTED, "build"], help="only these; may be repeated")
    parser.add_argument("--load", action="append", choices=list(workloads()), help="only these inputs")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda", "emulated"], help="of all operands")
    chosen = parser.parse_args(arguments)
    # Threads of OpenMP look for work for a while after their own turn, and would take a core from whoever is next.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if HAS_TORCH:
        from . import torch_contenders

        print(f"pynested {pn.__version__}, {torch_contenders.described()}; one thread for tiny input")
    else:
        print(f"pynested {pn.__version__}; PyTorch is not installed, so only NumPy is compared with")
    loads = workloads()
    for name in chosen.load or (["tiny"] if chosen.quick else ["tiny", "long", "short"]):
        if HAS_TORCH:
            torch_contenders.set_threads(1 if name == "tiny" else 0)
        ops = [op for op in PYNESTED if not chosen.op or op in chosen.op]
        if ops:
            compare(loads[name], ops, (5 if chosen.quick else 9) if name != "tiny" else 15, chosen.device)
    if chosen.device == "cpu" and (not chosen.op or "build" in chosen.op):
        building(5_000 if chosen.quick else 100_000, 5)


if __name__ == "__main__":
    main()
