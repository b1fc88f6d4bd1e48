"""Fuzz pynested: ``python -m tests.fuzz --seed 1 --calls 100000``; see the package for how it works."""

from __future__ import annotations

import argparse
import sys

from .campaign import MODES, campaign, told

MODE = "what is drawn and judged; torch is gradient, judged by PyTorch (default: all but torch)"


def main() -> int:
    """Run the campaigns that are asked for; the exit code is 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Draw calls, run them, judge them.")
    parser.add_argument("--mode", choices=[*MODES, "all"], default="all", help=MODE)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=20000, help="how many calls of each mode (default: 20000)")
    parser.add_argument("--device", default="cpu", help="cpu, plain, emulated or cuda (default: cpu)")
    parser.add_argument("--start", type=int, default=0, help="the number of the first plan (default: 0)")
    parser.add_argument("--only", type=int, help="one plan, by its number: shrink it and print it")
    parser.add_argument("--show", type=int, default=20, help="how many kinds of differences to print (default: 20)")
    options = parser.parse_args()
    differences = 0
    every = [mode for mode, how in MODES.items() if not how.asked and (how.devices or options.device == "cpu")]
    for mode in every if options.mode == "all" else [options.mode]:
        if options.only is not None:
            print(told(mode, options.seed, options.only, options.device))
            continue
        report = campaign(mode, options.seed, options.calls, options.device, options.start)
        differences += report.differences
        print(f"{mode}: {report}", flush=True)
        for number, found in list(report.kinds.values())[: options.show]:
            print(f"\n# {mode}, seed {options.seed}, plan {number}: {' '.join(found.kind)}", flush=True)
            print(told(mode, options.seed, number, options.device), flush=True)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
