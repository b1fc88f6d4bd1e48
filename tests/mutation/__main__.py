"""Plant faults: those of a table, against what its rows name, or all for some minutes, against the test suite."""

from __future__ import annotations

import argparse
import csv
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from time import perf_counter

from tests.mutation.gate import NO_FAULT, SURVIVED, Fault, first_failure, planted_faults, random_faults
from tests.mutation.suites import BROKEN, KILLED, TABLES, faults, outcome

KILLS = Path(__file__).with_name("kills.csv")
COLUMNS = ("fault", "noticed by", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("table", nargs="?", choices=TABLES, help="run the suites that the rows of this table name")
    parser.add_argument("--only", default="", metavar="NAME", help="the faults whose name holds this")
    parser.add_argument("--minutes", type=float, default=60, help="start no fault after this time (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="the random seed of the single-token changes (default: 1)")
    parser.add_argument("--count", type=int, default=100, help="number of single-token changes (default: 100)")
    parser.add_argument("--workers", type=int, default=2, help="number of faults at a time (default: 2)")
    parser.add_argument("--kills", type=Path, default=KILLS, help="the file to append to (default: %(default)s)")
    options = parser.parse_args()
    if options.table is not None:
        run_table(options.table, options.only, options.workers)
    else:
        run_gate(options)


def run_table(table: str, only: str, workers: int) -> None:
    """Print the verdict of the suite that each row names, and the kill rate."""
    rows = {name: row for name, row in faults(table).items() if only in name}
    if not rows:
        sys.exit(f"no fault of {table} is called {only!r}")

    def judge(name: str) -> str:
        verdict, printed = outcome(table, rows[name], rows[name])
        print(f"{verdict:<10}{name}", printed[-2000:] if verdict == BROKEN else "", sep="\n" * (verdict == BROKEN))
        return verdict

    with ThreadPoolExecutor(workers) as pool:
        verdicts = dict(zip(rows, pool.map(judge, rows), strict=True))
    others = [f"  {verdict}: {name}" for name, verdict in verdicts.items() if verdict != KILLED]
    killed = len(rows) - len(others)
    print(f"\n{table}: {killed} of {len(rows)} faults killed, {100 * killed / len(rows):.0f} %", *others, sep="\n")


def run_gate(options: argparse.Namespace) -> None:
    """Append to `kills.csv` the test module that notices each fault which is not in it."""
    kills = read_kills(options.kills)
    end = perf_counter() + 60 * options.minutes

    def judge(fault: Fault) -> None:
        if perf_counter() > end:
            return
        start = perf_counter()
        noticed_by = first_failure(fault)
        with lock:
            kills[fault.name] = noticed_by
            append_kill(options.kills, fault.name, noticed_by, perf_counter() - start)
        print(f"{noticed_by:<50}{fault.name}", flush=True)

    lock = Lock()
    if NO_FAULT.name not in kills:
        judge(NO_FAULT)
    if kills.get(NO_FAULT.name) != SURVIVED:
        sys.exit(f"without a fault the suite must pass; see {kills.get(NO_FAULT.name)}, and remove the row of no fault")
    drawn = [*random_faults(options.seed, options.count), *planted_faults()]
    random.Random(options.seed).shuffle(drawn)
    with ThreadPoolExecutor(options.workers) as pool:
        list(pool.map(judge, [fault for fault in drawn if options.only in fault.name and fault.name not in kills]))
    del kills[NO_FAULT.name]
    survivors = [fault for fault, noticed_by in kills.items() if noticed_by == SURVIVED]
    print(f"\n{len(kills) - len(survivors)} of {len(kills)} faults are noticed; survivors:", *survivors, sep="\n  ")


def read_kills(file: Path) -> dict[str, str]:
    """Return the outcome of each fault that was judged."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["fault"]: row["noticed by"] for row in csv.DictReader(lines)}


def append_kill(file: Path, fault: str, noticed_by: str, seconds: float) -> None:
    """Append one row; the file begins with its columns."""
    is_new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerow((fault, noticed_by, round(seconds)))


if __name__ == "__main__":
    main()
