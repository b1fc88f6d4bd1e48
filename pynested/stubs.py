"""Stubs for the modules whose functions come from a table, so that editors and type checkers see every signature.

`python -m pynested.stubs` writes them, `--check` says which are stale.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pynested import autograd, operators
from pynested.autograd.dense.along import OPTIONS, Entry
from pynested.autograd.dense.entries import Reduction
from pynested.autograd.dense.reduction import REDUCTIONS
from pynested.autograd.dense.runwise import RUNWISE
from pynested.autograd.rules.functions import FUNCTIONS

__all__ = ["stale", "stubs"]

_AUTOGRAD, _OPERATORS = Path(autograd.__file__).parent, Path(operators.__file__).parent
_PYNESTED = _OPERATORS.parent
_OF_RUNS = "# Generated from pynested.autograd.dense.reduction and runwise by python -m pynested.stubs.\n"
_WIDTH = 120
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
    yield from _of_runs()


def _signature(entry: Entry, self: str, result: str, indent: str) -> str:
    """What a type checker is told, wrapped as ruff does; who gives axis= leaves dim out."""
    reduces = isinstance(entry, Reduction)
    dim = "int" if not reduces or entry.option == "place" else "Dims"
    types = {"dtype": "DType | None = None", "correction": "float = 1"}
    given = [self, f"dim: {dim} = ...", *(["keepdim: bool = False"] if reduces else []), "*"]
    given += [f"{name}: {types[name]}" for name in OPTIONS[entry.option][1]]
    given += [f"axis: {dim} = ...", *(["keepdims: bool = ..."] if reduces else [])]
    start, inside, end = f"{indent}def {entry.name}(", ", ".join(given), f") -> {result}: ..."
    if len(start + inside + end) <= _WIDTH:
        return start + inside + end
    deeper = f"{indent}    "
    lines = [inside] if len(deeper + inside) <= _WIDTH else [f"{one}," for one in given]
    return "\n".join([start, *(deeper + line for line in lines), indent + end])


def _of_runs() -> Iterator[tuple[Path, str]]:
    """Of reductions and run-wise operators: functions on dense arrays and on both, methods of both."""
    both: dict[str, Entry] = {**REDUCTIONS, **RUNWISE}
    aliases = "from numpy.typing import DTypeLike as DType\n\n{0}\nDims: TypeAlias = int | tuple[int, ...] | None\n\n"
    arrays = "from pynested.autograd import Array\nfrom pynested.nested_array import NestedArray\n"
    operands = f"{arrays}from pynested.operands import Dims, DType\n\n"

    def listed(entries: Iterable[Entry], self: str, results: tuple[str, str], indent: str = "") -> str:
        """The signatures; the results are those of reductions and of the others."""
        lines = [_signature(one, self, results[not isinstance(one, Reduction)], indent) for one in entries]
        return "\n".join(lines) + "\n"

    def exported(names: Iterable[str]) -> str:
        return "\n".join(["__all__ = [", *(f'    "{name}",' for name in names), "]"]) + "\n\n"

    dense = aliases.format("from ..array import Array\nfrom .entries import Reduction, RunWise\n")
    maker = "UNSAID: Any\nNUMPY: dict[Any, Callable[..., Any]]\nEntry: TypeAlias = Reduction | RunWise\n"
    maker += "OPTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]]\n\n"
    maker += "def function(entry: Entry, over: Callable[..., Any], module: str) -> Any: ...\n"
    maker += "def numpys(functions: dict[str, Any]) -> dict[Any, Callable[..., Any]]: ...\n"
    imports = "from collections.abc import Callable\nfrom typing import Any, TypeAlias\n\n"
    yield (
        _AUTOGRAD / "dense" / "along.pyi",
        _OF_RUNS + imports + dense + exported(both) + maker + listed(both.values(), "self: Any", ("Array", "Array")),
    )
    needed = {"reduction": f"{arrays}from pynested.operands import Dims, DType, Operand\n\n"}
    needed["runwise"] = "from pynested.operands import DType, Kind\n\n"
    for file, self, table in (("reduction", "self: Operand", REDUCTIONS), ("runwise", "self: Kind", RUNWISE)):
        text = listed(table.values(), self, ("NestedArray | Array", "Kind"))
        numpys = "NUMPY: dict[Any, Callable[..., Any]]\n\n"
        imported = "from collections.abc import Callable\nfrom typing import Any\n\n" + needed[file]
        yield _OPERATORS / f"{file}.pyi", _OF_RUNS + imported + exported(table) + numpys + text
    methods = listed(both.values(), "self", ("Array", "Array"), "    ")
    of_dense = "from typing import TypeAlias\n\n" + aliases.format("from .array import Array\n")
    yield _AUTOGRAD / "run_methods.pyi", f"{_OF_RUNS}{of_dense}class RunMethods:\n{methods}"
    methods = listed(both.values(), "self", ("NestedArray | Array", "NestedArray"), "    ")
    yield _PYNESTED / "run_methods.pyi", f"{_OF_RUNS}{operands}class RunMethods:\n{methods}"


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
