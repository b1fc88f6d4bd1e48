"""The vectors on disk: every case of every operator."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["FORMAT", "SPEC", "Case", "load_vectors", "read_vectors"]

FORMAT, SPEC = "pynested-vectors/1", "0.1"
Case = Mapping[str, Any]

_FOLDER = Path(__file__).parent / "vectors"


def read_vectors(folder: Path = _FOLDER) -> dict[str, list[Case]]:
    """Read every file under `folder`; a truncated file, another format and a misplaced operator are refused."""
    corpus: dict[str, list[Case]] = {}
    for path in sorted(folder.glob("*/*.json")):
        file = json.loads(path.read_text(encoding="utf-8"))
        if (file["format"], file["spec"]) != (FORMAT, SPEC):
            raise ValueError(f"{path.name}: format {file['format']} of spec {file['spec']}, not {FORMAT} of {SPEC}")
        if file["op"] != path.stem:
            raise ValueError(f"{path.name}: holds the cases of {file['op']}")
        if file["count"] != len(file["cases"]):
            raise ValueError(f"{path.name}: announces {file['count']} cases and holds {len(file['cases'])}")
        corpus[file["op"]] = file["cases"]
    return corpus


@functools.cache
def load_vectors() -> dict[str, list[Case]]:
    """Return the vectors of this specification: the cases of each operator."""
    return read_vectors()
