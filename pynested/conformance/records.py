"""What a run leaves behind: one JSON object a line, a header, a result per case and layout, and a footer that counts.

Every view is made from these records and nothing else, so a stored run can be looked at again later and elsewhere. A
stream without its footer is a run that broke off, perhaps in the middle of a line. One whose records do not have the
forms below, or whose counts do not add up, is no record of a run.
"""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pynested._version import __version__
from pynested.spec.encoding import WIDTHS
from pynested.spec.grammar import ANYTHING, Both, Malformed, check, parse

from . import problems
from .corpus import Corpus, Selection
from .judge import ADAPTER, CONVENTION, DIFFERS, OK, PARTS, UNREACHED
from .kinds import KINDS
from .placements import LAYOUTS, PLACEMENTS, words
from .problems import UsageError
from .replies import MISSING, UNASKED
from .session import Identity

FORMAT = "pynested-records/2"
Record = dict[str, Any]


_DIFFERENCE: dict[str, Any] = dict.fromkeys(("want", "clause", "text", "call", "snippet", "dense?", "again?"), str)
_DIFFERENCE |= {"kind": set(KINDS), "described?": bool, "*": ANYTHING}


def _explained(finding: Mapping[str, Any]) -> None:
    """A difference carries what a reader needs to understand it."""
    if finding["verdict"] in DIFFERS:
        check(finding, _DIFFERENCE)


_WORDS = [set(PLACEMENTS)]


def _placement(text: str) -> None:
    """A placement is a word for all operands, or one for each."""
    check(words(text), _WORDS)


# What the records are; they may say more.
_VERDICT = {OK, ADAPTER, CONVENTION, MISSING, UNASKED, UNREACHED, *DIFFERS}
_PLACED = [Both(str, _placement)]
_FINDING = {"part": set(PARTS), "verdict": _VERDICT, "placements": _PLACED, "got": str, "*": ANYTHING}
_TARGET = dict.fromkeys(("name", "version", "device", "runtime"), str) | {"*": ANYTHING}
_MACHINE = dict.fromkeys(("system", "processor", "python", "numpy"), str) | {"cores": int, "*": ANYTHING}
_RECORDS: Mapping[str, Any] = {
    "header": {
        "format": {FORMAT},
        "spec": str,
        "vectors": str,
        "results": int,
        "target": _TARGET,
        "selection": {"layout": [set(LAYOUTS)], "*": ANYTHING},
        "machine": _MACHINE,
        "*": ANYTHING,
    },
    "result": {
        **dict.fromkeys(("id", "op", "chapter"), str),
        "layout": set(LAYOUTS),
        "dtypes": [set(WIDTHS)],
        "placements": _PLACED,
        "parts": {f"{part}?": _VERDICT for part in PARTS},
        "findings": [Both(_FINDING, _explained)],
        "notes": [str],
        "*": ANYTHING,
    },
    "footer": {"results": int, "seconds": (int, float), "counts": {"*": {"*": int}}, "*": ANYTHING},
}
_ANY_RECORD = {"record": set(_RECORDS), "*": ANYTHING}


@dataclass(frozen=True)
class Run:
    """A whole run, as read back; one that broke off has no footer."""

    header: Record
    results: Sequence[Record]
    footer: Record | None = None

    @property
    def exit_code(self) -> int:
        """0: the target agrees; 1: it differs; 3: an adapter failed or the run broke off; 4: no check could be made."""
        verdicts = {verdict for result in self.results for verdict in result["parts"].values()}
        if self.footer is None or ADAPTER in verdicts:
            return problems.KIT
        if verdicts & set(DIFFERS):
            return problems.DIFFERS
        return problems.AGREES if OK in verdicts else problems.NOTHING


def header(corpus: Corpus, identity: Identity, selection: Selection, results: int) -> Record:
    """Return the first record: what is run against what, and where."""
    return {
        "record": "header",
        "format": FORMAT,
        "pynested": __version__,
        "spec": corpus.spec,
        "vectors": corpus.digest,
        "cases": len(corpus.cases),
        "results": results,
        "target": identity.as_fields(),
        "selection": {
            "op": list(selection.ops),
            "layout": list(selection.layouts),
            "match": selection.match,
            "class": selection.kind_class,
            "exclude": list(selection.exclude),
            "placement": list(selection.placements),
            "dtype": list(selection.dtypes),
            "quick": selection.quick,
        },
        "machine": machine(),
    }


def machine() -> Record:
    """Return what the run ran on."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count() or 0,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def footer(results: Sequence[Record], seconds: float) -> Record:
    """Return the last record, which counts the others."""
    return {"record": "footer", "results": len(results), "counts": counts(results), "seconds": round(seconds, 2)}


def counts(results: Iterable[Record]) -> dict[str, dict[str, int]]:
    """Return how often each part came to each verdict."""
    found: dict[str, Counter[str]] = {}
    for result in results:
        for part, verdict in result["parts"].items():
            found.setdefault(part, Counter())[verdict] += 1
    return {part: dict(sorted(one.items())) for part, one in sorted(found.items())}


def read(path: Path) -> Run:
    """Read a stored run; a stream that is none, or does not add up, is a `UsageError`."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    try:
        records = list(_records(text))
        run = _run(records)
        _check(run)
    except ValueError as error:
        raise UsageError(f"{path}: not a stream of records: {error}") from error
    return run


def _records(text: str) -> Iterator[Record]:
    """Yield the records of a stream, but the last one if it was cut in the middle."""
    lines = text.split("\n")
    for number, one in enumerate(lines, 1):
        try:
            record = parse(one)
            check(record, _ANY_RECORD)
            check(record, _RECORDS[record["record"]])
        except ValueError as error:
            if number == len(lines):
                return
            raise Malformed(f"line {number}", str(error)) from error
        yield record


def _run(records: Sequence[Record]) -> Run:
    kinds = [record["record"] for record in records]
    if kinds[:1] != ["header"]:
        raise ValueError("it does not begin with a header")
    ended = kinds[-1] == "footer"
    if set(kinds[1:-1] if ended else kinds[1:]) - {"result"}:
        raise ValueError("between header and footer are records that are no results")
    return Run(records[0], records[1:-1], records[-1]) if ended else Run(records[0], records[1:])


def _check(run: Run) -> None:
    """Hold the counts of header and footer to the results between them."""
    seen = Counter((result["id"], result["layout"]) for result in run.results)
    twice = sorted(key for key, times in seen.items() if times > 1)
    if twice:
        raise ValueError(f"{len(twice)} results are there twice, the first is {twice[0]}")
    promised = run.header["results"]
    if run.footer is None and len(run.results) <= promised:
        return
    if run.footer is None or {promised, run.footer["results"]} != {len(run.results)}:
        raise ValueError(f"header and footer promise {promised} results, but there are {len(run.results)}")
    if counts(run.results) != run.footer["counts"]:
        raise ValueError("the counts of the footer are not those of the results")
