"""Plant faults for as many minutes as there are, and append to `kills.csv` which test module notices each."""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter

from tests.mutation.gate import SURVIVED, Fault, clone, first_failure, planted_faults, random_faults

KILLS = Path(__file__).with_name("kills.csv")
COLUMNS = ("fault", "noticed by", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="start no fault after this time (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="the random seed of the single-token changes (default: 1)")
    parser.add_argument("--count", type=int, default=100, help="how many single-token changes (default: 100)")
    parser.add_argument("--replaced", nargs="*", default=[], metavar="PATH", help="test modules that run last")
    parser.add_argument("--workers", type=int, default=2, help="how many faults at a time (default: 2)")
    parser.add_argument("--kills", type=Path, default=KILLS, help="the file to append to (default: %(default)s)")
    options = parser.parse_args()
    known = read_kills(options.kills)
    faults = [
        fault for fault in (*random_faults(options.seed, options.count), *planted_faults()) if fault.name not in known
    ]
    end = perf_counter() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.workers) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.workers):
            copies.put(clone(Path(folder, str(number))))

        def judge(fault: Fault) -> None:
            if perf_counter() > end:
                return
            copy, start = copies.get(), perf_counter()
            try:
                outcome = first_failure(copy, fault, options.replaced)
            finally:
                copies.put(copy)
            append_kill(options.kills, fault.name, outcome, perf_counter() - start)
            print(f"{outcome:<50}{fault.name}", flush=True)

        list(pool.map(judge, faults))
    summarise(read_kills(options.kills), options.replaced)


def read_kills(file: Path) -> dict[str, str]:
    """Return the outcome of each fault that was judged."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["fault"]: row["noticed by"] for row in csv.DictReader(lines)}


def append_kill(file: Path, fault: str, outcome: str, seconds: float) -> None:
    """Append one row; the file begins with its columns."""
    is_new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerow((fault, outcome, round(seconds)))


def summarise(kills: dict[str, str], replaced: list[str]) -> None:
    """Print how many faults are noticed, the survivors, and the faults that only replaced modules notice."""
    survivors = [fault for fault, outcome in kills.items() if outcome == SURVIVED]
    only_replaced = [fault for fault, outcome in kills.items() if any(outcome.startswith(path) for path in replaced)]
    print(f"\n{len(kills) - len(survivors)} of {len(kills)} faults are noticed")
    for outcome, count in Counter(kills.values()).most_common(10):
        print(f"{count:>6}  {outcome}")
    for title, faults in (("survivors", survivors), ("noticed by replaced modules alone", only_replaced)):
        if faults:
            print(f"{title}, {len(faults)}:", *faults, sep="\n  ")


if __name__ == "__main__":
    main()
