"""Records as lines of a file: each is there at once, so that what broke off can be looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .problems import OutputError, UsageError

Write = Callable[[Mapping[str, Any]], None]


def line(record: Mapping[str, Any]) -> bytes:
    """Return one record as it is written; what is no text, as a command line may hold, becomes its JSON escape."""
    return (json.dumps(record, allow_nan=False, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


@contextmanager
def writer(path: Path | None) -> Iterator[Write]:
    """Yield what writes records to the file at once, or nowhere."""
    if path is None:
        yield lambda record: None
        return
    try:
        stream = path.open("wb", buffering=0)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error

    def write(record: Mapping[str, Any]) -> None:
        left = line(record)
        try:
            while left:
                left = left[stream.write(left) :]
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from error

    with stream:
        yield write
