"""Plant every fault of a kind, run the cases of its operators, and print the kill rate and the survivors."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from .plant import BROKEN, KILLED, KINDS, PLACES, SURVIVED, load


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--only", metavar="NAME", help="the faults whose name holds this")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time (default: 2)")
    options = parser.parse_args()
    chosen = {name: fault for name, fault in load(options.kind).items() if (options.only or "") in name}
    if not chosen:
        parser.error(f"no fault of {options.kind} is called {options.only!r}")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.workers) as pool:
        free = SimpleQueue()
        for number in range(options.workers):
            place = Path(folder, str(number))
            place.mkdir()
            free.put(PLACES[options.kind](place))

        def judged(name: str) -> str:
            place = free.get()
            try:
                outcome = place.outcome(chosen[name])
            finally:
                free.put(place)
            print(f"{outcome:<10}{name}", flush=True)
            return outcome

        found = dict(zip(chosen, pool.map(judged, chosen), strict=True))
    _tell({name: outcome for name, outcome in found.items() if "equivalent" not in chosen[name]}, options.kind)


def _tell(found: dict[str, str], kind: str) -> None:
    """Say how many were found; those that end the run otherwise are no difference, and are counted apart."""
    counts, total = Counter(found.values()), len(found)
    print(f"\n{kind}: {counts[KILLED]} of {total} faults killed, {100 * counts[KILLED] / max(total, 1):.0f} %")
    for outcome, title in ((SURVIVED, "survivors"), (BROKEN, "broken: the run did not end with a verdict")):
        names = [name for name, one in found.items() if one == outcome]
        if names:
            print(f"{title}, {len(names)}:", *names, sep="\n  ")


if __name__ == "__main__":
    main()
