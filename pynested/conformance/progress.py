"""How far a run is: a bar in a notebook, a line that is written over on a terminal, and nothing anywhere else."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO
from uuid import uuid4

from .judge import DIFFERS
from .records import Record


class Progress:
    """What has come of a run so far, shown now and then, and once more when the run has ended."""

    _EVERY = 0.1  # seconds

    def __init__(self, screen: TextIO | None, total: int) -> None:
        self.number, self.total, self.differ, self.last = 0, total, 0, ""
        shell = _notebook()
        self._shown: _Bar | _Line = _Line(screen) if shell is None else _Bar(shell)
        self._when = 0.0

    def __enter__(self) -> None:
        """Show nothing yet."""

    def __exit__(self, *_: object) -> None:
        """Show how it ended."""
        self._shown.end(self)

    def at(self, record: Record) -> None:
        """Count a result, and show how far the run is."""
        self.number += 1
        self.differ += any(verdict in DIFFERS for verdict in record["parts"].values())
        self.last = f"{record['op']}, {record['layout']}"
        now = time.perf_counter()
        if now - self._when > self._EVERY:
            self._when = now
            self._shown.at(self)


class _Line:
    """One line that is written over, on a terminal only; it is gone when the run has ended."""

    def __init__(self, screen: TextIO | None) -> None:
        self._screen = screen if screen is not None and screen.isatty() else None

    def at(self, run: Progress) -> None:
        text = f"{run.number:,} of {run.total:,}  {run.last}"
        self._write(f"\r{text:<60}")

    def end(self, run: Progress) -> None:
        self._write("\r" + " " * 60 + "\r")

    def _write(self, text: str) -> None:
        if self._screen is not None:
            try:
                self._screen.write(text)
                self._screen.flush()
            except OSError:  # the terminal is gone; the run is not about it
                self._screen = None


class _Bar:
    """A bar and a few words below a cell, in the page's own colours; it stays, and says how the run ended.

    It is the browser's own ``<progress>``, which needs neither a script nor a style sheet: so notebooks that are not
    trusted show it too. What shows no HTML gets the words.
    """

    def __init__(self, shell: Any) -> None:
        self._publish, self._place, self._there = shell.display_pub.publish, uuid4().hex, False

    def at(self, run: Progress) -> None:
        self._show(run, f"{run.number:,} of {run.total:,}, {run.differ:,} differ: {run.last}")

    def end(self, run: Progress) -> None:
        broken = "" if run.number == run.total else "broken off at "
        self._show(run, f"{broken}{run.number:,} of {run.total:,}, {run.differ:,} differ")

    def _show(self, run: Progress, words: str) -> None:
        bar = f'<progress value="{run.number}" max="{run.total}"></progress>'
        data = {"text/plain": words, "text/html": f"<div>{bar} {words}</div>"}
        self._publish(data, transient={"display_id": self._place}, update=self._there)
        self._there = True


def _notebook() -> Any:
    """Return the shell that a notebook runs its cells in; None where this is no notebook.

    Whoever runs cells has imported IPython: it is looked up, and not imported.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if hasattr(shell, "kernel") else None
