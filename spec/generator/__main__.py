"""`python -m pynested.spec.generator [--check] [operator]`: write the vectors, or compare them with those on disk."""

from __future__ import annotations

import argparse
import sys

from .write import differences, write


def main(arguments: list[str] | None = None) -> int:
    """Write or check; 1 where a check fails."""
    parser = argparse.ArgumentParser(prog="python -m pynested.spec.generator", description=__doc__)
    parser.add_argument("operator", nargs="?", help="only this operator")
    parser.add_argument("--check", action="store_true", help="write nothing, compare byte by byte")
    options = parser.parse_args(arguments)
    if not options.check:
        changed = write(options.operator)
        print("\n".join(f"wrote {path.name}" for path in changed) or "nothing changed")
        return 0
    problems = differences(options.operator)
    print("\n".join(problems) or "all vectors are up to date")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
