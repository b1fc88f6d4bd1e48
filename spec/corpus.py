"""The vectors on disk: every case of every operator, and every program, held against its form as it is read.

Beside the vectors of this specification lies their digest. As long as it is right they are as they were written, and
are read only, in a quarter of the time.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .forms import CASE
from .grammar import ANYTHING, Malformed, Rule, check, parse
from .programs import FOLDER as PROGRAMS
from .programs import FORMAT as OF_PROGRAMS
from .programs import PROGRAM, Program

__all__ = [
    "DIGEST",
    "FORMAT",
    "SPEC",
    "Case",
    "digest_of",
    "kept_digest",
    "load_digest",
    "load_programs",
    "load_vectors",
    "read_programs",
    "read_vectors",
]

FORMAT, SPEC = "pynested-vectors/2", "0.1"
DIGEST = "SHA256"  # the file that has the digest of all others, as the generator wrote them
Case = Mapping[str, Any]

_FOLDER = Path(__file__).parent / "vectors"
_HEAD = {"format": {FORMAT}, "spec": {SPEC}, "*": ANYTHING}
_HEAD_OF_PROGRAMS = {**_HEAD, "format": {OF_PROGRAMS}}
_FILE = {"format": str, "spec": str, "op": str, "count": int, "cases": [dict]}


def digest_of(folder: Path) -> str:
    """Return the digest of all vectors of a folder, by which two runs are known to be about the same."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*/*.json")):
        digest.update(path.stem.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def kept_digest(folder: Path) -> str:
    """Return the file that has the digest of the vectors of a folder; empty where there is none."""
    kept = folder / DIGEST
    return kept.read_text(encoding="utf-8") if kept.is_file() else ""


def read_vectors(folder: Path = _FOLDER) -> dict[str, list[Case]]:
    """Read every file under `folder`; what is damaged, cut short or misplaced is a `ValueError` naming file and place.

    The error of a case names the case and the field too. Cases of `getitem` are in `getitem.json`, and those that came
    later in `getitem.arrays.json`, say. Programs have a form, and a reader, of their own.
    """
    return _vectors(folder, _checked)


def _vectors(folder: Path, read: Callable[[Path], Mapping[str, Any]]) -> dict[str, list[Case]]:
    corpus: dict[str, list[Case]] = {}
    files = (path for path in folder.glob("*/*.json") if path.parent.name != PROGRAMS)
    for path in sorted(files, key=lambda path: (path.parent, path.stem.split("."))):
        try:
            file = read(path)
            op = file["op"]
            if op in corpus and path.stem == op:
                raise ValueError(f"another file holds the cases of {op} too")
        except (OSError, ValueError) as error:
            raise ValueError(f"{path.parent.name}/{path.name}: {error}") from error
        corpus[op] = corpus.get(op, []) + file["cases"]
    return corpus


def _checked(path: Path) -> Mapping[str, Any]:
    """Return a file of vectors."""
    file: Mapping[str, Any] = parse(path.read_text(encoding="utf-8"))
    check(file, _HEAD)  # first, since another format may have other fields
    check(file, _FILE)
    if file["op"] != path.stem.split(".")[0]:
        raise ValueError(f"holds the cases of {file['op']}")
    if file["count"] != len(file["cases"]):
        raise ValueError(f"announces {file['count']} cases and holds {len(file['cases'])}")
    for number, case in enumerate(file["cases"]):
        _check(case, CASE, f"case {number}")
    return file


def _check(entry: Mapping[str, Any], rule: Rule, otherwise: str) -> None:
    try:
        check(entry, rule)
    except Malformed as malformed:
        name = entry.get("id")
        raise ValueError(f"{name if isinstance(name, str) else otherwise}: {malformed}") from malformed


def read_programs(folder: Path = _FOLDER) -> dict[str, list[Program]]:
    """Read the programs under a folder of vectors, by chapter; what is damaged is a `ValueError` that says where."""
    return _programs(folder, _checked_programs)


def _programs(folder: Path, read: Callable[[Path], Mapping[str, Any]]) -> dict[str, list[Program]]:
    found = {}
    for path in sorted(folder.glob(f"{PROGRAMS}/*.json")):
        try:
            found[path.stem] = read(path)["programs"]
        except (OSError, ValueError) as error:
            raise ValueError(f"{PROGRAMS}/{path.name}: {error}") from error
    return found


def _checked_programs(path: Path) -> Mapping[str, Any]:
    """Return a file of programs."""
    file: Mapping[str, Any] = parse(path.read_text(encoding="utf-8"))
    check(file, _HEAD_OF_PROGRAMS)
    check(file, {"format": str, "spec": str, "chapter": {path.stem}, "count": int, "programs": [dict]})
    programs = file["programs"]
    if file["count"] != len(programs):
        raise ValueError(f"announces {file['count']} programs and holds {len(programs)}")
    for number, program in enumerate(programs):
        _check(program, PROGRAM, f"program {number}")
    return file


@functools.cache
def load_vectors() -> dict[str, list[Case]]:
    """Return the vectors of this specification: the cases of each operator."""
    return _vectors(_FOLDER, _read) if _are_as_written() else read_vectors()


@functools.cache
def load_programs() -> dict[str, list[Program]]:
    """Return the programs of this specification, by chapter."""
    return _programs(_FOLDER, _read) if _are_as_written() else read_programs()


@functools.cache
def load_digest() -> str:
    """Return the digest of the vectors of this specification."""
    return digest_of(_FOLDER)


def _are_as_written() -> bool:
    """Whether the vectors of this specification are those that the generator wrote, byte by byte."""
    return kept_digest(_FOLDER) == f"{load_digest()}\n"


def _read(path: Path) -> Mapping[str, Any]:
    """Return a file that is known to be right."""
    return json.loads(path.read_bytes())  # type: ignore[no-any-return]
