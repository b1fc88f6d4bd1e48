"""Stubs for the modules whose functions come from a table, so that editors and type checkers see every signature.

`python -m pynested.stubs` writes them, `--check` says which are stale.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pynested import autograd, operators
from pynested.autograd.rules.functions import FUNCTIONS
from pynested.autograd.rules.pairs import PAIRS

__all__ = ["stale", "stubs"]

_AUTOGRAD, _OPERATORS = Path(autograd.__file__).parent, Path(operators.__file__).parent
_HEAD = "# Generated from pynested.autograd.rules.{} by python -m pynested.stubs.\n"


def stubs() -> Iterator[tuple[Path, str]]:
    """The stubs: where they belong, and their texts."""
    for module, table, listed in (("smooth", "functions", FUNCTIONS), ("pairs", "pairs", PAIRS)):
        taken, gives = ("self: Kind", "Kind") if module == "smooth" else ("self: Operand, other: Operand", _RESULT)
        one = taken.replace("Kind", "Any").replace("Operand", "Any")
        dense = "from typing import Any\n\nfrom ..array import Array\n"
        yield _AUTOGRAD / "dense" / f"{module}.pyi", _module(table, dense, listed, f"({one}) -> Array: ...")
        imports = f"from pynested.operands import {taken.split()[-1]}\n"
        if module == "pairs":
            imports = f"from pynested.autograd import Array\nfrom pynested.nested_array import NestedArray\n{imports}"
        yield (
            _OPERATORS / "elementwise" / f"{module}.pyi",
            _module(table, imports, listed, f"({taken}) -> {gives}: ..."),
        )
    yield _AUTOGRAD / "smooth_methods.pyi", _methods()


_RESULT = "NestedArray | Array"


def _module(table: str, imports: str, listed: Iterable[str], signature: str) -> str:
    """The stub of a module of functions with one signature."""
    names = sorted(listed)
    public = "\n".join(["__all__ = [", *(f'    "{name}",' for name in names), "]"])
    functions = "\n".join(f"def {name}{signature}" for name in names)
    return f"{_HEAD.format(table)}{imports}\n{public}\n\n{functions}\n"


def _methods() -> str:
    lines = [f"    def {name}{end}(self) -> Self: ..." for name in sorted(FUNCTIONS) for end in ("", "_")]
    for name, entry in sorted(PAIRS.items()):
        signs = [(f"__{order}{entry.sign}__", "Any") for order in ("", "r")] if entry.sign else []
        in_place = [f"__i{entry.sign}__"] if entry.sign else []
        methods = [
            (name, "Any"),
            *signs,
            *[(method, "Self") for method in ([f"{name}_", *in_place] if entry.in_place else [])],
        ]
        lines += [f"    def {method}(self, other: Any) -> {gives}: ..." for method, gives in methods]
    listed = "\n".join(lines)
    return (
        f"{_HEAD.format('functions and pairs')}from collections.abc import Callable\nfrom typing import Any, Self\n\n"
        f"class SmoothMethods:\n{listed}\n\n"
        "def add_methods(kind: type[SmoothMethods], functions: Any, overwrite: Callable[..., Any]) -> None: ...\n"
        "def add_pairs(\n"
        "    kind: type[SmoothMethods], functions: Any, overwrite: Callable[..., Any], infix: Callable[..., Any]\n"
        ") -> None: ...\n"
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
