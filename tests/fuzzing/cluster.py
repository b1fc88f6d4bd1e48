"""A campaign on a Dask cluster of processes of this machine, one of which is killed meanwhile.

    python -m tests.fuzzing.cluster --seed 1 --cases 60000 --workers 2 --kill-after 20

It needs Dask. Its tally is to be that of `pynested fuzz` with the same seed and cases; the exit code is that of the
command.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import time

from pynested.fuzzing import telling
from pynested.fuzzing.campaign import Tally, chunks
from pynested.fuzzing.settings import Settings
from pynested.fuzzing.workers import on_cluster


def campaign(settings: Settings, cases: int, workers: int, kill_after: int) -> Tally:
    """The tally of a campaign whose first worker is killed once so many chunks have come back."""
    from distributed import LocalCluster  # optional

    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        whole = Tally()
        for number, part in enumerate(
            on_cluster(settings, chunks(0, cases, None, workers), cluster.scheduler_address), 1
        ):
            whole.add(part)
            if number % 10 == 0:
                print(f"{whole.numbers:,} cases, {whole.judged:,} calls, {whole.differ} differ", file=sys.stderr)
            if number == kill_after:
                os.kill(victim, signal.SIGKILL)
                print(f"killed worker {victim} after {number} chunks, {whole.judged:,} calls", file=sys.stderr)
    return whole


def main() -> int:
    """Run the campaign and print the claim."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing.cluster", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill-after", type=int, default=2, help="chunks (default: 2)")
    parser.add_argument("--adapter", help="another target than pynested: the command that starts it")
    options = parser.parse_args()
    command = None if options.adapter is None else tuple(shlex.split(options.adapter))
    settings, started = Settings(options.seed, command=command), time.perf_counter()
    tally = campaign(settings, options.cases, options.workers, options.kill_after)
    where = f" on a cluster of {options.workers} processes"
    print(
        telling.claim(tally, settings, options.adapter or "pynested", 0, time.perf_counter() - started, where), end=""
    )
    print(*sorted((spot.plan.number, tally.kinds[kind], *kind) for kind, spot in tally.first.items()), sep="\n")
    return tally.exit_code


if __name__ == "__main__":
    sys.exit(main())
