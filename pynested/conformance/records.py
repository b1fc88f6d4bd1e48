"""What a run leaves behind: one JSON object a line, a header, a result per case and layout, and a footer that counts.

Every view is made from these records and nothing else, so a stored run can be looked at again later and elsewhere. A
stream without its footer, or whose counts do not add up, is no record of a run.
"""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pynested._version import __version__

from .corpus import Corpus, Selection
from .judge import ADAPTER, DIFFERS
from .problems import UsageError
from .session import Identity

FORMAT = "pynested-records/1"
Record = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A whole run, as read back."""

    header: Record
    results: Sequence[Record]
    footer: Record

    @property
    def exit_code(self) -> int:
        """0 where the target agrees, 1 where it differs, 3 where an adapter failed."""
        verdicts = {verdict for result in self.results for verdict in result["parts"].values()}
        return 3 if ADAPTER in verdicts else int(bool(verdicts & set(DIFFERS)))


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


def line(record: Mapping[str, Any]) -> str:
    """Return one record as it is written."""
    return json.dumps(record, allow_nan=False, ensure_ascii=False) + "\n"


def read(path: Path) -> Run:
    """Read a stored run; a stream that is cut short or does not add up is a `UsageError`."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    try:
        records = [json.loads(one) for one in text.splitlines()]
        kinds = [record["record"] for record in records]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: not a stream of records, or cut short: {error}") from error
    if not records or kinds[0] != "header" or records[0].get("format") != FORMAT:
        raise UsageError(f"{path}: does not begin with a header of format {FORMAT}")
    if kinds[-1] != "footer":
        raise UsageError(f"{path}: has no footer: the run did not finish, or the file is cut short")
    run = Run(records[0], records[1:-1], records[-1])
    _check(path, run, kinds[1:-1])
    return run


def _check(path: Path, run: Run, kinds: Sequence[str]) -> None:
    """Hold the counts of header and footer to the results between them."""
    if set(kinds) - {"result"}:
        raise UsageError(f"{path}: unknown records {sorted(set(kinds) - {'result'})} between header and footer")
    seen = Counter((result["id"], result["layout"]) for result in run.results)
    twice = sorted(key for key, times in seen.items() if times > 1)
    if twice:
        raise UsageError(f"{path}: {len(twice)} results are there twice, the first is {twice[0]}")
    promised = {run.header["results"], run.footer["results"]}
    if promised != {len(run.results)}:
        raise UsageError(f"{path}: header and footer promise {sorted(promised)} results, but there are {len(kinds)}")
    if counts(run.results) != run.footer["counts"]:
        raise UsageError(f"{path}: the counts of the footer are not those of the results")
