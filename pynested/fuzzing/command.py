"""The command `pynested fuzz`: its options, and the campaign that they ask for."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pynested.backends import devices
from pynested.conformance.arguments import add_target, count, seconds
from pynested.conformance.placements import LAYOUTS
from pynested.conformance.problems import UsageError, unknown

if TYPE_CHECKING:
    from .campaign import Tally
    from .settings import Settings

__all__ = ["add_fuzz", "fuzz"]

CASES = 2000
_EVERY = 0.2  # seconds


def add_fuzz(command: argparse.ArgumentParser) -> None:
    """Add what `pynested fuzz` takes."""
    add_target(command)
    command.add_argument("--device", default="cpu", help=f"of the operands: {', '.join(devices())} (default: cpu)")
    command.add_argument("--timeout", type=seconds, metavar="SECONDS", help="for each answer of a child process")
    command.add_argument("--seed", type=count, default=0, metavar="N", help="decides what is drawn (default: 0)")
    long = command.add_mutually_exclusive_group()
    long.add_argument("--cases", type=count, metavar="N", help=f"how many, some 16 calls each (default: {CASES:,})")
    long.add_argument("--minutes", type=seconds, metavar="M", help="go on for so long")
    long.add_argument("--only", type=count, metavar="NUMBER", help="one case, by its number")
    command.add_argument("--start", type=count, default=0, metavar="NUMBER", help="the first case (default: 0)")
    where = command.add_mutually_exclusive_group()
    where.add_argument("--workers", type=count, default=1, metavar="N", help="processes that ask (default: 1)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster whose workers ask")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="save the smallest calls, for conform --vectors")
    command.add_argument("--top", type=count, default=20, metavar="N", help="ways to differ to show (default: 20)")


def fuzz(options: argparse.Namespace, command: list[str] | None, write: Callable[[str], None]) -> int:
    """Run a campaign and return the exit code."""
    try:
        from . import telling
        from .settings import Settings, opened
    except ModuleNotFoundError as error:
        if error.name != "mpmath":
            raise
        raise UsageError("fuzz needs mpmath: pip install 'pynested[fuzz]'") from error
    if options.out is not None:
        telling.check_folder(options.out)
    given = None if command is None else tuple(command)
    ops, layouts = _operators(options.op), (options.layout,) if options.layout else LAYOUTS
    settings = Settings(options.seed, options.target, given, options.device, options.timeout, ops, layouts)
    with opened(settings) as session:  # so that a target that is not there is known at once
        name = f"{session.identity.name} {session.identity.version}"
    started = time.perf_counter()
    first = options.start if options.only is None else options.only
    tally = _tally(settings, options, first)
    passed = time.perf_counter() - started
    small = telling.shrink(tally, settings, options.top)
    write(telling.claim(tally, settings, name, first, passed, _where(options)))
    if tally.first:
        write("\n" + telling.ways(small, tally))
    if small:
        write("\n" + telling.differences(small, settings))
        same = "".join(f" --op {op}" for op in settings.ops)
        write(f"\nOne of them again: pynested fuzz --seed {settings.seed}{same} --only NUMBER, with the same target\n")
    if small and options.out is not None:
        telling.save(small, options.out)
        write(f"Saved: pynested conform --vectors {options.out}, with the same target\n")
    return tally.exit_code


def _operators(names: list[str]) -> tuple[str, ...]:
    """Return the operators that are chosen; those that no family has are refused."""
    from .plan import OFFERED
    from .programs import CHAPTERS

    known = sorted({op for _, op in OFFERED} | {*CHAPTERS})
    for name in names:
        if name not in known:
            raise unknown("operator that is drawn", name, known)
    return tuple(names)


def _where(options: argparse.Namespace) -> str:
    if options.scheduler is not None:
        return f" on the cluster {options.scheduler}"
    return f" by {options.workers} processes" if options.workers > 1 else ""


def _tally(settings: Settings, options: argparse.Namespace, first: int) -> Tally:
    """Return the tally of all chunks, wherever they are asked."""
    from . import workers
    from .campaign import Tally, chunks

    count = (
        1
        if options.only is not None
        else None
        if options.minutes
        else CASES
        if options.cases is None
        else options.cases
    )
    parts = chunks(first, count, options.minutes, options.workers)
    if options.scheduler is not None:
        found = workers.on_cluster(settings, parts, options.scheduler)
    elif options.workers > 1:
        found = workers.on_processes(settings, parts, options.workers)
    else:
        found = workers.alone(settings, parts)
    tally = Tally()
    for part in _shown(found, sys.stderr):
        tally.add(part)
    return tally


def _shown(found: Iterator[Tally], screen: TextIO) -> Iterator[Tally]:
    """Yield the tallies, and show on a terminal how far they are."""
    numbers = calls = differ = 0
    last = 0.0
    for part in found:
        yield part
        numbers, calls, differ = numbers + part.numbers, calls + part.judged, differ + part.differ
        if screen.isatty() and time.monotonic() - last > _EVERY:
            last = time.monotonic()
            screen.write(f"\r{numbers:,} cases, {calls:,} judged calls, {differ:,} differ ")
            screen.flush()
    if screen.isatty():
        screen.write("\r" + " " * 70 + "\r")
