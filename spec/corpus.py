"""The vectors on disk: every case of every operator, and every program, held against its form as it is read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .forms import CASE
from .grammar import ANYTHING, Malformed, Rule, check, parse
from .programs import FOLDER as PROGRAMS
from .programs import FORMAT as OF_PROGRAMS
from .programs import PROGRAM, Program

__all__ = ["FORMAT", "SPEC", "Case", "load_programs", "load_vectors", "read_programs", "read_vectors"]

FORMAT, SPEC = "pynested-vectors/2", "0.1"
Case = Mapping[str, Any]

_FOLDER = Path(__file__).parent / "vectors"
_HEAD = {"format": {FORMAT}, "spec": {SPEC}, "*": ANYTHING}
_HEAD_OF_PROGRAMS = {**_HEAD, "format": {OF_PROGRAMS}}
_FILE = {"format": str, "spec": str, "op": str, "count": int, "cases": [dict]}


def read_vectors(folder: Path = _FOLDER) -> dict[str, list[Case]]:
    """Read every file under `folder`; what is damaged, cut short or misplaced is a `ValueError` naming file and place.

    The error of a case names the case and the field too. Cases of `getitem` are in `getitem.json`, and those that came
    later in `getitem.arrays.json`, say. Programs have a form, and a reader, of their own.
    """
    corpus: dict[str, list[Case]] = {}
    files = (path for path in folder.glob("*/*.json") if path.parent.name != PROGRAMS)
    for path in sorted(files, key=lambda path: (path.parent, path.stem.split("."))):
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
        _check(case, CASE, f"case {number}")
    return file["op"], file["cases"]


def _check(entry: Mapping[str, Any], rule: Rule, otherwise: str) -> None:
    try:
        check(entry, rule)
    except Malformed as malformed:
        name = entry.get("id")
        raise ValueError(f"{name if isinstance(name, str) else otherwise}: {malformed}") from malformed


def read_programs(folder: Path = _FOLDER) -> dict[str, list[Program]]:
    """Read the programs under a folder of vectors, by chapter; what is damaged is a `ValueError` that says where."""
    found = {}
    for path in sorted(folder.glob(f"{PROGRAMS}/*.json")):
        try:
            found[path.stem] = _programs(path)
        except (OSError, ValueError) as error:
            raise ValueError(f"{PROGRAMS}/{path.name}: {error}") from error
    return found


def _programs(path: Path) -> list[Program]:
    """Return the programs of a file."""
    file = parse(path.read_text(encoding="utf-8"))
    check(file, _HEAD_OF_PROGRAMS)
    check(file, {"format": str, "spec": str, "chapter": {path.stem}, "count": int, "programs": [dict]})
    programs: list[Program] = file["programs"]
    if file["count"] != len(programs):
        raise ValueError(f"announces {file['count']} programs and holds {len(programs)}")
    for number, program in enumerate(programs):
        _check(program, PROGRAM, f"program {number}")
    return programs


@functools.cache
def load_vectors() -> dict[str, list[Case]]:
    """Return the vectors of this specification: the cases of each operator."""
    return read_vectors()


@functools.cache
def load_programs() -> dict[str, list[Program]]:
    """Return the programs of this specification, by chapter."""
    return read_programs()
