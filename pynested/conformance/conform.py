"""A whole run: records written as they come, progress shown on a terminal, and the run handed back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from .corpus import Corpus, Selection
from .problems import KitError, UsageError
from .records import Record, Run, footer, header, line
from .runner import plan, results
from .session import Session


def conform(corpus: Corpus, selection: Selection, session: Session, keep: Path | None, screen: TextIO) -> Run:
    """Run what is selected; records go to the file ``keep`` one by one, and a run that breaks off has no footer."""
    jobs = plan(corpus, selection)
    started = time.perf_counter()
    with _writer(keep) as write:
        first = header(corpus, session.identity, selection, len(jobs))
        write(first)
        found: list[Record] = []
        progress = Progress(screen, len(jobs))
        for record in results(jobs, session, corpus):
            found.append(record)
            write(record)
            progress.at(len(found), record)
        progress.done()
        last = footer(found, time.perf_counter() - started)
        write(last)
    if len(found) != len(jobs):
        raise KitError(f"{len(jobs)} cases were to be run, but there are {len(found)} results")
    return Run(first, found, last)


class _Writer:
    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __call__(self, record: Record) -> None:
        if self._stream is not None:
            self._stream.write(line(record))


@contextmanager
def _writer(path: Path | None) -> Iterator[_Writer]:
    """Yield what writes records to the file, or nowhere."""
    if path is None:
        yield _Writer(None)
        return
    try:
        stream = path.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    with stream:
        yield _Writer(stream)


class Progress:
    """One line that is written over, on a terminal only."""

    _EVERY = 0.1

    def __init__(self, screen: TextIO, total: int) -> None:
        self._screen, self._total, self._last = screen, total, 0.0
        self._shown = screen.isatty()

    def at(self, number: int, record: Record) -> None:
        """Show how far the run is."""
        now = time.perf_counter()
        if self._shown and now - self._last > self._EVERY:
            self._last = now
            text = f"{number:,} of {self._total:,}  {record['op']}, {record['layout']}"
            self._screen.write(f"\r{text:<60}")
            self._screen.flush()

    def done(self) -> None:
        """Clear the line."""
        if self._shown:
            self._screen.write("\r" + " " * 60 + "\r")
            self._screen.flush()
