"""Differences of a kept run, drawn at random, for somebody who judges whether they are fair.

    python -m pynested conform --target torch --json run.ndjson
    python -m tests.sample run.ndjson --seed 1 --count 100

Each is shown with its clause, and with the snippet, to be run where nothing of pynested is. A difference is fair where
the sentence of the clause is broken by the call, by what the target itself did with it; where the position follows from
the order that the specification says; and where the kind tells rightly whose it is. The draw depends on the seed and
on the run alone.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from pynested.conformance.judge import DIFFERS
from pynested.conformance.records import Run, read
from pynested.conformance.roots import Pair


def drawn(run: Run, seed: int, count: int) -> list[Pair]:
    """Return so many differences of a run, each as likely as any other."""
    pairs = [(result, one) for result in run.results for one in result["findings"] if one["verdict"] in DIFFERS]
    return random.Random(seed).sample(pairs, min(count, len(pairs)))


def told(number: int, pair: Pair) -> str:
    """Return one difference with all that a judge needs."""
    result, finding = pair
    placed = f"{', '.join(finding['placements'])} of {len(result['placements'])} placements"
    lines = [
        f"{number}. {result['id']}, {result['layout']}, {placed}: {finding['part']} {finding['verdict']}",
        f"kind      {finding['kind']}",
        f"clause    {finding['clause']}: {finding['text']}",
        f"cited     {', '.join(result['clauses'])}",
        *(f"{name:9} {finding[name]}" for name in ("call", "want", "got", "dense", "again") if name in finding),
    ]
    return "\n".join([*lines, "", finding["snippet"], ""])


def main(argv: Sequence[str] | None = None) -> None:
    """Print a draw."""
    parser = argparse.ArgumentParser(prog="python -m tests.sample", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args(argv)
    for number, pair in enumerate(drawn(read(options.file), options.seed, options.count), 1):
        print(told(number, pair))


if __name__ == "__main__":
    main()
