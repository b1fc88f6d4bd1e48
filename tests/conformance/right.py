"""How often the kit rejects what is right: it makes calls of right implementations, in every placement, and counts.

    python -m tests.conformance.right              about 80,000 calls: a few minutes
    python -m tests.conformance.right --op add

There are three implementations: pynested; the definitions of the specification; and functions of NumPy, applied to one
component after the other. The last two are given components as views of the memory that a placement asks for.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pynested.conformance.adapters.base import Operand, Place, PythonAdapter, Target
from pynested.conformance.adapters.law_adapter import LawTarget
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Corpus, Selection, load_corpus
from pynested.conformance.in_process import in_one_buffer
from pynested.conformance.judge import DIFFERS, OK
from pynested.conformance.records import Run
from pynested.conformance.session import InProcess
from pynested.spec.components import Components, each

NUMPY: Mapping[str, Callable[..., Any]] = {
    "neg": np.negative, "abs": np.abs, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "atan": np.arctan, "sqrt": np.sqrt, "log1p": np.log1p,
    "expm1": np.expm1, "log2": np.log2, "log10": np.log10, "square": np.square, "floor": np.floor, "ceil": np.ceil,
    "round": np.round, "trunc": np.trunc, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "logical_not": np.logical_not, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "eq": np.equal, "ne": np.not_equal, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


class Law(LawTarget):
    """The definitions, over components that lie as they are asked to."""

    def identity(self, device: str) -> dict[str, Any]:
        lists = {name: one for name, one in self._kept.items() if name != "placements"}
        return {**super().identity(device), "capabilities": lists}

    def operand(self, value: Any, place: Place, tracked: bool) -> Operand:
        placed = in_one_buffer(value, place.placement) if isinstance(value, Components) else value
        return Operand(placed, lambda: None)


class NumPy(Law):
    """Functions of NumPy, applied to one component after the other."""

    def identity(self, device: str) -> dict[str, Any]:
        found = super().identity(device)
        return {**found, "name": "NumPy", "capabilities": {**found["capabilities"], "operators": list(NUMPY)}}

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if kwargs:
            raise NotImplementedError("arguments by keyword")
        with np.errstate(all="ignore"):
            return each(NUMPY[op], *args)


RIGHT: Mapping[str, Callable[[], Target]] = {"pynested": PynestedTarget, "law": Law, "NumPy": NumPy}


def held(name: str, corpus: Corpus, selection: Selection) -> Run:
    """The run of an implementation; NumPy has no jagged layout, and no results in one."""
    chosen = replace(selection, layouts=("strided",)) if name == "NumPy" else selection
    return conform(corpus, chosen, lambda: InProcess(PythonAdapter(RIGHT[name]())), None, None)


def counted(run: Run) -> tuple[int, Counter[str]]:
    """How many calls were answered, and the verdicts of the checks that differ."""
    left = {"missing", "unasked"}
    calls = 0
    for result in run.results:
        unanswered = {
            place for one in result["findings"] if one["verdict"] in left and one["part"] != "gradient"
            for place in one["placements"]
        }  # fmt: skip
        calls += len(set(result["placements"]) - unanswered)
    verdicts = Counter(verdict for result in run.results for verdict in result["parts"].values())
    assert verdicts[OK]
    return calls, Counter({one: verdicts[one] for one in DIFFERS if verdicts[one]})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.right", description=__doc__.partition("\n")[0])
    parser.add_argument("--op", action="append", default=[], metavar="NAME", help="this operator; may be repeated")
    selection, corpus = Selection(ops=tuple(parser.parse_args().op)), load_corpus()
    total = rejected = 0
    np.seterr(all="ignore")  # of what a definition computes before it is rounded
    for name in RIGHT:
        run = held(name, corpus, selection)
        calls, wrong = counted(run)
        print(f"{name:<10}{calls:>8,} calls, rejected: {sum(wrong.values())} {dict(wrong) or ''}".rstrip(), flush=True)
        for result in run.results:
            for one in result["findings"]:
                if one["verdict"] in DIFFERS:
                    print(f"  {result['id']}, {result['layout']}, {one['placements']}: {one['want']}, not {one['got']}")
        total, rejected = total + calls, rejected + sum(wrong.values())
    print(f"{total:,} calls of right implementations, {rejected} rejected")
    raise SystemExit(bool(rejected))


if __name__ == "__main__":
    main()
