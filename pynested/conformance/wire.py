"""What goes between the runner and an adapter, for people who look for a fault: kept in a file, or shown.

The file has one JSON object a line. `from` says who speaks: `runner`, `adapter`, `stderr` of the adapter, or `kit`,
which says what became of a process. What is JSON is a `message`, anything else a `text`; `at` is the time in seconds.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from pynested.spec.grammar import parse, short

from .lines import Write, writer
from .printable import printable, write
from .problems import OutputError

_MOST, _WIDE = 40, 300  # lines of stderr that are shown in a session, and their characters
_NUMBER = re.compile(r"\d+")  # a time, or that of a process: there a line may differ that every new process writes


class Wire:
    """Hears a session. By itself it forgets everything; `listening` gives one that does not."""

    def __init__(self, keep: Write | None = None, screen: TextIO | None = None) -> None:
        self._keep, self._screen = keep, screen
        self._started, self._shown = time.monotonic(), 0
        self._earlier: set[str] = set()  # what was shown of processes that are gone
        self._now: set[str] = set()

    def sent(self, message: Mapping[str, Any]) -> None:
        """Hear the runner."""
        self._record("runner", message=message)

    def received(self, answer: Any) -> None:
        """Hear the adapter, whatever it says: a line, or an object of one in this process."""
        if self._keep is not None:
            try:
                said = {"message": parse(answer if isinstance(answer, str) else json.dumps(answer))}
            except (ValueError, TypeError):
                said = {"text": answer if isinstance(answer, str) else short(answer)}
            self._record("adapter", **said)

    def begins(self, text: str) -> None:
        """Hear that another process begins: what an earlier one has said too is not shown again."""
        self._earlier |= self._now
        self._now.clear()
        self.note(text)

    def note(self, text: str) -> None:
        """Hear what became of a process."""
        self._record("kit", text=text)

    def said(self, lines: Iterable[str]) -> None:
        """Hear what the adapter wrote to stderr, and show the first lines of it."""
        for line in lines:
            self._record("stderr", text=line)
            self._show(line)

    def _record(self, who: str, **fields: Any) -> None:
        if self._keep is not None:
            self._keep({"from": who, "at": round(time.monotonic() - self._started, 4), **fields})

    def _show(self, line: str) -> None:
        said = _NUMBER.sub("0", line)
        if self._screen is None or self._shown > _MOST or said in self._earlier:
            return
        self._now.add(said)
        self._shown += 1
        last = self._shown > _MOST
        text = "more on stderr is not shown; --trace FILE keeps it" if last else printable(line, _WIDE)
        with contextlib.suppress(OutputError, BrokenPipeError):  # nobody looks; the session is not about it
            write(f"adapter: {text}\n", self._screen)


@contextlib.contextmanager
def listening(trace: Path | None, screen: TextIO | None) -> Iterator[Wire]:
    """Yield a wire that keeps everything in a file, if there is one, and shows stderr on a screen."""
    with writer(trace) as keep:
        yield Wire(None if trace is None else keep, screen)
