"""Timing of contenders in turns, tables of their times, and the JSON file that holds them.

All contenders of a row run in one process, round after round, each time in another order, so that other load of the
machine meets all of them alike. A table has the median of our times, and how many times as long the others take: the
median over the rounds of their time divided by ours. The file has the minimum of each row.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import pynested as pn

SAMPLE = 2e-3  # seconds; a shorter call is repeated within one sample
Call = Callable[[], Any]
Calls = Mapping[str, Call]  # the contenders of a row, ours first


class Case(NamedTuple):
    """A timed call of a contender.

    Attributes
    ----------
    operator : str
        Name of the row.
    kind : str
        Operands: "nested", "dense", or a dtype.
    load : str
        Size of the operands: "tiny", "short", "long", "huge", or a shape.
    direction : str
        "forward" or "with gradient".
    contender : str
        Library and layout.
    """

    operator: str
    kind: str
    load: str
    direction: str
    contender: str


Times = dict[Case, float]  # minimum seconds of one call


def command_line(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the command line, with the option ``--json``."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the minimum time of each row")
    return parser


def write_times(times: Times, file: Path | None) -> None:
    """Write the times, and the checkout that was measured, if there is a file."""
    if file is not None:
        rows = [{**case._asdict(), "seconds": seconds} for case, seconds in times.items()]
        content = {"checkout": str(Path(pn.__file__).resolve().parents[1]), "rows": rows}
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_times(file: Path, checkout: Path | None = None) -> Times:
    """Read the times; refuse those of another checkout than the given one."""
    content = json.loads(file.read_text(encoding="utf-8"))
    if checkout is not None and content["checkout"] != str(checkout.resolve()):
        raise SystemExit(f"{checkout}: its Python imported pynested from {content['checkout']}. Pass another --python.")
    return {Case(*(row[name] for name in Case._fields)): row["seconds"] for row in content["rows"]}


def least(every: Iterable[Times]) -> Times:
    """Return the minimum of each row over the rounds that have it."""
    result: Times = {}
    for times in every:
        for case, seconds in times.items():
            result[case] = min(seconds, result.get(case, seconds))
    return result


def in_units(seconds: float) -> str:
    """Return a time in a unit that fits, in ten characters."""
    for unit, scale in (("s ", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:7.2f} {unit}"
    return f"{seconds / 1e-9:7.2f} ns"


class Clock:
    """Seconds that one call takes, until its device has computed the result."""

    def __init__(self, device: str = "cpu", now: Callable[[], float] = perf_counter) -> None:
        self.now = now
        self.wait = importlib.import_module("cupy").cuda.Device().synchronize if device == "cuda" else None

    def __call__(self, function: Call, repeat: int = 1) -> float:
        start = self.now()
        for _ in range(repeat):
            function()
        if self.wait:
            self.wait()
        return (self.now() - start) / repeat


def in_turns(calls: Calls, rounds: int, clock: Clock) -> dict[str, list[float]]:
    """Return the times of every call, round by round, in another order each time."""
    quick = {name: clock(call) for name, call in calls.items()}
    for name in (name for name, seconds in quick.items() if seconds < 5 * SAMPLE):
        quick[name] = min(quick[name], clock(calls[name]), clock(calls[name]))
    repeats = {name: max(1, round(SAMPLE / max(seconds, 1e-9))) for name, seconds in quick.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    generator = np.random.default_rng(0)
    for _ in range(rounds):
        for name in generator.permutation(list(calls)):
            times[name].append(clock(calls[name], repeats[name]))
    return times


def time_table(title: str, names: list[str], rows: Iterable[tuple[Case, Calls]], rounds: int, clock: Clock) -> Times:
    """Print the table of some rows as each is timed, and return the minimum times.

    ``names`` are the contenders, ours first. A case names the row; its contender is replaced.
    """
    print(f"\n{title}\n{'':<26}{names[0]:>10}" + "".join(f"{name:>14}" for name in names[1:]))
    result: Times = {}
    for case, calls in rows:
        times = in_turns(calls, rounds, clock)
        ours = times.get(names[0], [])
        cells = [f"{case.operator:<26}{in_units(statistics.median(ours)) if ours else '-':>10}"]
        for name in names[1:]:
            ratios = [theirs / mine for theirs, mine in zip(times.get(name, []), ours, strict=False)]
            cells.append(f"{statistics.median(ratios):14.2f}" if ratios else f"{'-':>14}")
        print("".join(cells), flush=True)
        result |= {case._replace(contender=name): min(seconds) for name, seconds in times.items()}
    return result
