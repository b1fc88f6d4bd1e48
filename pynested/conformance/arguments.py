"""What the commands that run and show take on the command line."""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from pynested.backends import devices
from pynested.spec.encoding import WIDTHS
from pynested.spec.table import CLASSES

from .adapters import TARGETS
from .corpus import VECTORS
from .placements import LAYOUTS, PLACEMENTS
from .report import IN_FULL


def add_target(command: argparse.ArgumentParser) -> None:
    """Add who is asked, and about which operators in which layout."""
    target = command.add_mutually_exclusive_group()
    target.add_argument("--target", default="pynested", metavar="NAME", help=f"what to check: {', '.join(TARGETS)}")
    target.add_argument(
        "--compiled",
        dest="target",
        action="store_const",
        const="compiled",
        help="pynested, each call compiled: recorded on other ragged structures, and replayed",
    )
    target.add_argument("--adapter", metavar="COMMAND", help="any program that speaks the protocol")
    command.add_argument("--op", action="append", default=[], metavar="NAME", help="this operator; may be repeated")
    command.add_argument("--layout", choices=LAYOUTS, help="this layout only")


def add_conform(command: argparse.ArgumentParser) -> None:
    """Add what `pynested conform` takes."""
    add_target(command)
    command.add_argument("--match", default="", metavar="GLOB", help="cases whose id matches, as 'sum/*/empty*'")
    command.add_argument(
        "--class", dest="kind_class", default="", choices=CLASSES, help="cases about clauses of a class"
    )
    command.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="no cases whose id matches")
    command.add_argument("--placement", action="append", default=[], choices=PLACEMENTS, help="this placement only")
    command.add_argument("--dtype", action="append", default=[], choices=[*WIDTHS], help="operands of this dtype")
    help_ = "only a fixed part of the cases, which still cites every clause: seconds instead of most of a minute"
    command.add_argument("--quick", action="store_true", help=help_)
    command.add_argument("--device", default="cpu", help=f"of the operands: {', '.join(devices())} (default: cpu)")
    _add_emulation(command.add_argument_group("with --device emulated", "how the CUDA kernels are run on the CPU"))
    command.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="for each answer of a child process (default: 20, and 120 for the first)",
    )
    help_ = "processes that ask at the same time (default: one for each processor; for --adapter and cuda 1)"
    command.add_argument("--processes", type=count, metavar="N", help=help_)
    command.add_argument("--json", type=Path, metavar="FILE", help="keep the records of the run, one a line")
    _add_trace(command)
    kept = command.add_mutually_exclusive_group()
    kept.add_argument("--expect", type=Path, metavar="FILE", help="only what is worse than this file says is 1")
    kept.add_argument("--write-expect", type=Path, metavar="FILE", help="keep the checks that do not agree")
    command.add_argument(
        "--vectors", type=Path, default=VECTORS, metavar="DIR", help="other vectors than the embedded ones"
    )
    add_view(command)


def add_adapter(command: argparse.ArgumentParser) -> None:
    """Add the parts of `pynested adapter`."""
    parts = command.add_subparsers(dest="part", required=True, metavar="COMMAND")
    asked = parts.add_parser("smoke", help="ask an adapter a few calls: what works, what is wrong, what to do next")
    asked.add_argument("adapter", metavar="COMMAND", help="the program that speaks the protocol, as for --adapter")
    asked.add_argument("--timeout", type=seconds, default=3.0, metavar="SECONDS", help="for each answer (default: 3)")
    _add_trace(asked)


def add_site(command: argparse.ArgumentParser) -> None:
    """Add what `pynested site` takes."""
    command.add_argument("out", type=Path, metavar="OUT", help="a new folder, or that of an earlier site")
    command.add_argument("files", type=Path, nargs="+", metavar="FILE", help="runs kept with conform --json")


def _add_trace(command: argparse.ArgumentParser) -> None:
    command.add_argument("--trace", type=Path, metavar="FILE", help="keep every message, both ways, one a line")


def _add_emulation(group: argparse._ArgumentGroup) -> None:
    order = "how threads take turns between barriers: forward, reverse, random, or eager: each warp as far as it can"
    group.add_argument("--schedule", metavar="NAME", help=order)
    group.add_argument("--seed", type=int, metavar="NUMBER", help="of the schedules random and eager")
    group.add_argument("--workers", type=int, metavar="NUMBER", help="blocks that run at the same time")
    tools = "build the kernels for the sanitizers of the C++ compiler: address (memory, undefined behaviour) or thread"
    group.add_argument("--sanitize", metavar="NAME", help=tools)


def add_view(command: argparse.ArgumentParser) -> None:
    """Add how much of a run is shown, and in which other forms."""
    add_verbose(command, "show every cause in full, and refusals with other builtin errors")
    command.add_argument("--junit", type=Path, metavar="FILE", help="write the checks as JUnit XML")
    command.add_argument("--markdown", type=Path, metavar="FILE", help="write the causes as Markdown")
    command.add_argument("--all", action="store_true", help="fold no cause")
    command.add_argument("--top", type=count, default=IN_FULL, metavar="N", help="causes to show in full (default: 5)")


def count(text: str) -> int:
    """Return a whole number of things; argparse shows what is wrong with any other."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number: give 0, 1, 2 ...")
    return int(text)


def add_verbose(command: argparse.ArgumentParser, help_: str) -> None:
    """Add -v."""
    command.add_argument("-v", "--verbose", action="count", default=0, help=help_)


def seconds(text: str) -> float:
    """Return a time to wait; argparse shows what is wrong with any other."""
    found = float(text)
    if not 0 < found <= threading.TIMEOUT_MAX:
        most = f"at most {threading.TIMEOUT_MAX:.0f}"
        raise argparse.ArgumentTypeError(f"{text} is not a positive number of seconds that can be waited for, {most}")
    return found
