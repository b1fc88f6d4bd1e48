"""The vectors on disk: every case of every operator, held against its form as it is read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .forms import CASE
from .grammar import ANYTHING, Malformed, check, parse

__all__ = ["FORMAT", "SPEC", "Case", "load_vectors", "read_vectors"]

FORMAT, SPEC = "pynested-vectors/2", "0.1"
Case = Mapping[str, Any]

_FOLDER = Path(__file__).parent / "vectors"
_HEAD = {"format": {FORMAT}, "spec": {SPEC}, "*": ANYTHING}
_FILE = {"format": str, "spec": str, "op": str, "count": int, "cases": [dict]}


def read_vectors(folder: Path = _FOLDER) -> dict[str, list[Case]]:
    """Read every file under `folder`; what is damaged, cut short or misplaced is a `ValueError` naming file and place.

    The error of a case names the case and the field too. Cases of `getitem` are in `getitem.json`, and those that came
    later in `getitem.arrays.json`, say.
    """
    corpus: dict[str, list[Case]] = {}
    for path in sorted(folder.glob("*/*.json"), key=lambda path: (path.parent, path.stem.split("."))):
        try:
            op, cases = _read(path)
            if op in corpus and path.stem == op:
                raise ValueError(f"another file holds the cases of {op} too")
        except (OSError, ValueError) as error:
            raise ValueError(f"{path.parent.name}/{path.name}: {error}") from error
        corpus[op] = corpus.get(op, []) + cases
    return corpus


def _read(path: Path) -> tuple[str, list[Case]]:
    """Return the operator of a file, and its cases."""
    file = parse(path.read_text(encoding="utf-8"))
    check(file, _HEAD)  # first, since another format may have other fields
    check(file, _FILE)
    if file["op"] != path.stem.split(".")[0]:
        raise ValueError(f"holds the cases of {file['op']}")
    if file["count"] != len(file["cases"]):
        raise ValueError(f"announces {file['count']} cases and holds {len(file['cases'])}")
    for number, case in enumerate(file["cases"]):
        _check(case, number)
    return file["op"], file["cases"]


def _check(case: Case, number: int) -> None:
    try:
        check(case, CASE)
    except Malformed as malformed:
        name = case.get("id")
        raise ValueError(f"{name if isinstance(name, str) else f'case {number}'}: {malformed}") from malformed


@functools.cache
def load_vectors() -> dict[str, list[Case]]:
    """Return the vectors of this specification: the cases of each operator."""
    return read_vectors()
