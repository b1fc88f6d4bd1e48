"""Times of operators, against PyTorch's nested tensors, padding with masks, plain NumPy, and awkward.

    python -m benchmarks.operators [--quick] [--op NAME] [--load NAME] [--kind NAME] [--device NAME]
                                   [--only CONTENDER,...] [--samples N] [--json FILE]

The tables are those of `benchmarks.harness`. Above 1 we are faster; a dash is an operator that the library does not
support. `--json` writes the minimum time of each row as well, for `benchmarks.compare`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Callable
from functools import partial
from time import perf_counter, thread_time
from typing import Any

import numpy as np

import pynested as pn

from . import contenders
from .contenders import ATTENTION, LEAVES, PYNESTED, Contender, Workload
from .harness import Calls, Case, Clock, Times, command_line, time_table, write_times

# Threads of OpenMP look for work for a while after their own turn, and would take a core from whoever is next.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
LIBRARIES = {  # the contenders of each library, by its module
    "pynested": ["pynested", "our strided"],
    "numpy": ["numpy"],
    "awkward": ["awkward"],
    "torch": ["torch jagged", "torch strided", "torch padded", "torch dense"],
}
INSTALLED = [library for library in LIBRARIES if importlib.util.find_spec(library)]


def workloads() -> dict[str, Workload]:
    """Return a tiny input, two of about 50 MB, of long components and of short ones, and one of 1 GB for a GPU."""
    generator = np.random.default_rng(1)
    return {
        "tiny": Workload("tiny: 4 components of 1-5 rows of 8", np.array([3, 1, 5, 2]), 8),
        "long": Workload("long: 256 components of 1-400 rows of 256", generator.integers(1, 401, 256), 256),
        "short": Workload("short: 24000 components of 1-15 rows of 64", generator.integers(1, 16, 24000), 64),
        "huge": Workload("huge: 4096 components of 1-512 rows of 256", generator.integers(1, 513, 4096), 256),
    }


def contender_names(words: str) -> set[str]:
    """Return the contenders that a comma-separated list of libraries and contenders names."""
    names = {name for word in words.split(",") for name in LIBRARIES.get(word, [word])}
    known = [name for library in LIBRARIES.values() for name in library]
    if names.difference(known):
        raise SystemExit(f"operators: {words!r} names an unknown contender. Choose from {', '.join(known)}.")
    for library, of_library in LIBRARIES.items():
        if library not in INSTALLED and names.intersection(of_library):
            raise SystemExit(f"operators: {library} is not installed. Install it, or leave it out of --only.")
    return names


def all_contenders(workload: Workload, kind: str, device: str, only: set[str]) -> list[Contender]:
    """Return the contenders for one kind of operands, ours first: the others are compared with it."""
    given = workload.operands() if kind == "nested" else workload.dense_operands()
    makers: dict[str, Callable[[], Contender]] = {
        "pynested": lambda: contenders.pynested(given, pn.jagged, "pynested", device),
    }
    if kind == "nested":
        makers["our strided"] = lambda: contenders.pynested(given, pn.strided, "our strided", device)
    if device != "cuda":
        makers["numpy"] = lambda: (contenders.numpy if kind == "nested" else contenders.dense_numpy)(given)
    if "awkward" in INSTALLED and kind == "nested" and device != "cuda":
        makers["awkward"] = lambda: contenders.awkward(given)
    if "torch" in INSTALLED:
        from . import torch_contenders

        there = "cuda" if device == "cuda" else "cpu"
        of_kind = {"torch dense": torch_contenders.dense}
        if kind == "nested":
            of_kind = {f"torch {name}": getattr(torch_contenders, name) for name in ("jagged", "strided", "padded")}
            of_kind["torch dense"] = torch_contenders.components
        makers |= {name: partial(make, given, there) for name, make in of_kind.items()}
    return [make() for name, make in makers.items() if name in only]


def prepared(contender: Contender, op: str, backward: bool) -> Callable[[], Any] | None:
    """Return a call without arguments that was tried once; None if the contender does not support it."""
    call = contender.operators.get(op)
    if call is None:
        return None
    if not backward:
        return _supported(lambda: call(contender.operands))
    operands = contender.tracked
    if operands is None:
        return None
    leaves = [getattr(operands, name) for name in LEAVES.get(op, ("x",))]
    made = _supported(lambda: contender.ones_like(call(operands)))
    if made is None:
        return None
    cotangent = made()
    return _supported(lambda: contender.pull(call(operands), leaves, cotangent))


def _supported(function: Callable[[], Any]) -> Callable[[], Any] | None:
    try:
        function()
    except (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError, AttributeError):
        return None
    return function


def time_operators(workload: Workload, kind: str, ops: list[str], options: argparse.Namespace) -> Times:
    """Print the two tables of one workload, and return the least times."""
    load = workload.name.partition(":")[0]
    contenders_of_kind = [
        contender
        for contender in all_contenders(workload, kind, options.device, options.only)
        if not contender.operators.keys().isdisjoint(ops)
    ]
    names = [contender.name for contender in contenders_of_kind]
    times: Times = {}
    if not names:
        return times
    alone = options.device == "cpu" and load == "tiny"  # one thread does all of a tiny call
    if "torch" in INSTALLED:
        from . import torch_contenders

        torch_contenders.torch.set_num_threads(1 if load == "tiny" else torch_contenders.THREADS)
    clock = Clock(options.device, thread_time if alone else perf_counter)
    rounds = 15 if load == "tiny" else options.samples
    for direction in ("forward", "with gradient"):
        title = workload.name if kind == "nested" else f"{load}, dense arrays of as many elements"
        backward = direction == "with gradient"
        rows = (
            (Case(op, kind, load, direction, ""), _calls(contenders_of_kind, op, backward))
            for op in ops
            if not (backward and LEAVES.get(op) == ())
        )
        times |= time_table(f"{title}, {direction}", names, rows, rounds, clock)
    return times


def _calls(contenders_of_kind: list[Contender], op: str, backward: bool) -> Calls:
    """Return the calls of the contenders that support an operator."""
    calls = {contender.name: prepared(contender, op, backward) for contender in contenders_of_kind}
    return {name: call for name, call in calls.items() if call is not None}


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = command_line(__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, and no input larger than tiny")
    parser.add_argument("--op", action="append", choices=list(PYNESTED), help="only these; may be repeated")
    parser.add_argument("--load", action="append", choices=list(workloads()), help="only these inputs")
    parser.add_argument("--kind", action="append", choices=["nested", "dense"], help="only these operands")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda", "emulated"], help="of all operands")
    everyone = ",".join(INSTALLED)
    parser.add_argument("--only", default=everyone, type=contender_names, help=f"libraries or contenders ({everyone})")
    parser.add_argument("--samples", type=int, help="times of each call on large input (9, or 5 if --quick)")
    options = parser.parse_args(arguments)
    options.samples = options.samples or (5 if options.quick else 9)
    options.load = options.load or (["tiny"] if options.quick else ["tiny", "long", "short"])
    options.kind = options.kind or ["nested", "dense"]
    return options


def main(arguments: list[str] | None = None) -> None:
    """Time what the command line names."""
    options = parsed(arguments)
    if "torch" in INSTALLED:
        from . import torch_contenders

        print(f"pynested {pn.__version__}, {torch_contenders.DESCRIPTION}; one thread for tiny input")
    else:
        print(f"pynested {pn.__version__}; PyTorch is not installed and not compared with")
    loads = workloads()
    times: Times = {}
    ops = [op for op in PYNESTED if (op in options.op if options.op else op not in ATTENTION)]
    for name in options.load:
        for kind in options.kind:
            times |= time_operators(loads[name], kind, ops, options)
    write_times(times, options.json)


if __name__ == "__main__":
    main()
