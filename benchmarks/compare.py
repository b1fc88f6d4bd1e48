"""Ratios of the times of two checkouts, row by row, and the rows that exceed a limit.

    python -m benchmarks.compare OLD NEW [--rounds 5] [--only pynested,torch] [--python FILE] [--tiny 1.6] ...

OLD and NEW are checkouts. `benchmarks.operators` runs in both in alternated rounds; the time of a row is its minimum
over the rounds. A file that `benchmarks.operators --json` wrote can stand for a checkout, which then does not run.
Further options, such as `--load tiny`, go to `benchmarks.operators`. The exit status is 1 if a row exceeds its limit.

If PyTorch runs too, the time of its jagged layout divided by ours has a limit as well: on *short* and *long* it must be
at least 1, or 0.9 of its old value if that was below 1. Its time is the minimum over the runs of both checkouts, since
it does not depend on them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .contenders import ELEMENTWISE
from .harness import Case, Times, in_units, least, read_times
from .operators import LIBRARIES

LIMITS = {  # new time divided by old time
    "tiny-elementwise-dense": 2.5,
    "tiny-elementwise-nested": 2.0,
    "tiny": 1.6,
    "short": 1.5,
    "long": 1.5,
}
KEPT_OF_TORCH_RATIO = 0.9
SAMPLES = 3  # of each call in one run: the rounds repeat it
LOADS = ("tiny", "short", "long", "huge")


class Pair(NamedTuple):
    """The times of one row of ours in both checkouts.

    Attributes
    ----------
    old, new : float
        Seconds; infinity if the row is missing.
    limit : float
        Largest ratio of the new time to the old time.
    torch : tuple[float, float] or None
        Time of PyTorch's jagged layout divided by ours of the old and of the new checkout.
    """

    case: Case
    old: float
    new: float
    limit: float
    torch: tuple[float, float] | None

    @property
    def ratio(self) -> float:
        """New time divided by old time."""
        return self.new / self.old

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each limit that the row exceeds."""
        if self.new == float("inf"):
            yield "missing in the new checkout"
        elif self.ratio > self.limit:
            yield f"takes {self.ratio:.2f} times as long, limit {self.limit:g}"
        if self.torch is not None and self.case.load != "tiny":
            old, new = self.torch
            limit = min(1.0, old if old >= 1 else KEPT_OF_TORCH_RATIO * old)
            if new < limit:
                yield f"torch jagged takes {new:.2f} times as long as ours, limit {limit:.2f}; it took {old:.2f}"


def limit_of(case: Case) -> str:
    """Return the name of the limit that holds for a row; huge operands have the limit of long ones."""
    if case.load == "tiny" and case.operator in ELEMENTWISE:
        return f"tiny-elementwise-{case.kind}"
    return case.load if case.load in LIMITS else "long"


def paired(old: Times, new: Times, limits: dict[str, float]) -> list[Pair]:
    """Return the rows of ours that the old checkout has, load by load, the worst ratio first."""
    pairs = []
    for case, seconds in old.items():
        if case.contender not in LIBRARIES["pynested"]:
            continue
        jagged = case._replace(contender="torch jagged")
        has_torch = case.contender == "pynested" and jagged in old and jagged in new and case in new
        torch = min(old[jagged], new[jagged]) if has_torch else 0.0
        ratios = (torch / seconds, torch / new[case]) if has_torch else None
        pairs.append(Pair(case, seconds, new.get(case, float("inf")), limits[limit_of(case)], ratios))
    if not pairs:
        raise SystemExit("compare: no row of ours to compare. Check --only, --op and --load.")
    return sorted(pairs, key=lambda pair: (LOADS.index(pair.case.load), -pair.ratio))


def label(case: Case) -> str:
    """Return the operator, the kind, the direction and the contender of a row as columns."""
    return f"{case.operator:<16}{case.kind:<8}{case.direction:<15}{case.contender:<13}"


def show(pairs: list[Pair]) -> bool:
    """Print one table for each load and the rows that exceed a limit; return whether all rows keep their limits."""
    for load in dict.fromkeys(pair.case.load for pair in pairs):
        heads = f"{'old':>11}{'new':>11}{'new/old':>9}{'limit':>7}"
        print(f"\n{load}\n{'':52}{heads}   torch jagged / ours, old and new")
        for case, old, new, limit, torch in (pair for pair in pairs if pair.case.load == load):
            beside = f"{torch[0]:10.2f}{torch[1]:7.2f}" if torch else ""
            print(f"{label(case)}{in_units(old):>11}{in_units(new):>11}{new / old:9.2f}{limit:7.2f}{beside}")
    faults = [f"{pair.case.load:<6}{label(pair.case)}{fault}" for pair in pairs for fault in pair.faults()]
    print(f"\n{len(faults)} limits exceeded by {len(pairs)} rows", *faults, sep="\n")
    return not faults


def run(checkout: Path, python: Path | None, words: list[str]) -> Times:
    """Run `benchmarks.operators` in a checkout and return its times."""
    interpreter = python or checkout / ".venv" / "bin" / "python"
    if not interpreter.exists():
        raise SystemExit(f"compare: {interpreter} does not exist. Make the environment, or pass --python.")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "times.json"
        command = [str(interpreter.absolute()), "-m", "benchmarks.operators", *words, "--json", str(file)]
        status = subprocess.run(command, cwd=checkout, stdout=subprocess.DEVNULL, check=False).returncode
        if status:
            raise SystemExit(f"compare: benchmarks.operators in {checkout} ended with exit status {status}.")
        return read_times(file, checkout)


def times_in_rounds(places: list[Path], rounds: int, python: Path | None, words: list[str]) -> list[Times]:
    """Return the least times of each checkout or file; the order of the checkouts changes from round to round."""
    times = [[read_times(place)] if place.is_file() else [] for place in places]
    checkouts = [(place, found) for place, found in zip(places, times, strict=True) if not found]
    for number in range(rounds if checkouts else 0):
        for checkout, found in checkouts if number % 2 == 0 else reversed(checkouts):
            print(f"round {number + 1} of {rounds}: {checkout}", file=sys.stderr, flush=True)
            found.append(run(checkout, python, words))
    return [least(found) for found in times]


def main(arguments: list[str] | None = None) -> int:
    """Compare what the command line names."""
    parser = argparse.ArgumentParser(description="compare the times of two checkouts", allow_abbrev=False)
    parser.add_argument("old", type=Path, help="a checkout, or a file of benchmarks.operators --json")
    parser.add_argument("new", type=Path, help="the same")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each checkout (5)")
    parser.add_argument("--only", default="pynested", help="libraries to run (pynested)")
    parser.add_argument("--python", type=Path, help="interpreter for both (.venv/bin/python of each checkout)")
    for name, limit in LIMITS.items():
        parser.add_argument(f"--{name}", type=float, default=limit, help=f"largest ratio of new to old ({limit})")
    options, further = parser.parse_known_args(arguments)
    limits = {name: getattr(options, name.replace("-", "_")) for name in LIMITS}
    words = ["--only", options.only, "--samples", str(SAMPLES), *further]
    old, new = times_in_rounds([options.old, options.new], options.rounds, options.python, words)
    return 0 if show(paired(old, new, limits)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
