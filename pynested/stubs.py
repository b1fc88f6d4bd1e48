"""Stubs for the modules whose functions come from a table, so that editors and type checkers see every signature.

`python -m pynested.stubs` writes them, `--check` says which are stale.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from pynested import autograd, operators
from pynested.autograd.rules.functions import FUNCTIONS

__all__ = ["stale", "stubs"]

_AUTOGRAD, _OPERATORS = Path(autograd.__file__).parent, Path(operators.__file__).parent
_HEAD = "# Generated from pynested.autograd.rules.functions by python -m pynested.stubs.\n"


def stubs() -> Iterator[tuple[Path, str]]:
    """The stubs: where they belong, and their texts."""
    names = sorted(FUNCTIONS)
    listed = "\n".join(["__all__ = [", *(f'    "{name}",' for name in names), "]"])
    dense = "\n".join(f"def {name}(self: Any) -> Array: ..." for name in names)
    yield (
        _AUTOGRAD / "dense" / "smooth.pyi",
        (f"{_HEAD}from typing import Any\n\nfrom ..array import Array\n\n{listed}\n\n{dense}\n"),
    )
    nested = "\n".join(f"def {name}(self: Kind) -> Kind: ..." for name in names)
    yield (
        _OPERATORS / "elementwise" / "smooth.pyi",
        (f"{_HEAD}from pynested.operands import Kind\n\n{listed}\n\n{nested}\n"),
    )
    methods = "\n".join(f"    def {name}{end}(self) -> Self: ..." for name in names for end in ("", "_"))
    yield (
        _AUTOGRAD / "smooth_methods.pyi",
        (
            f"{_HEAD}from collections.abc import Callable\nfrom typing import Any, Self\n\n"
            f"class SmoothMethods:\n{methods}\n\n"
            "def add_methods(kind: type[SmoothMethods], functions: Any, overwrite: Callable[..., Any]) -> None: ...\n"
        ),
    )


def stale() -> list[str]:
    """The stubs that are not what they should be."""
    return [path.name for path, text in stubs() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main(arguments: list[str] | None = None) -> int:
    """Write or check; 1 where a check fails."""
    parser = argparse.ArgumentParser(prog="python -m pynested.stubs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    if parser.parse_args(arguments).check:
        found = stale()
        print("\n".join(f"{name}: stale, run python -m pynested.stubs" for name in found) or "all stubs are up to date")
        return 1 if found else 0
    for path, text in stubs():
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
