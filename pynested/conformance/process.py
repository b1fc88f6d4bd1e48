"""A child process that may do anything: its lines, how it ended, and how it is ended with all that it has started.

When it is gone, what it has left is ended at once, for that would hold its pipes open.
"""

from __future__ import annotations

import re
import threading
import time
import weakref
from collections.abc import Callable

from .pipes import Incoming, Outgoing, Tail
from .signals import held_back
from .started import Started

_FINDING = re.compile(r"runtime error:|^SUMMARY:")  # of a sanitizer, which goes on to show stacks and memory
# What libraries log on stderr while all is well: the marks of glog, of absl, and of TensorFlow.
_LOG = re.compile(r"[IWE]\d{4} \d\d:\d\d:|\d{4}-\d\d-\d\d \d\d:\d\d:\S+ [IWE] ")
_POLITE, _LINGER = 5.0, 1.0  # seconds: to stop when asked; for the pipes, once the process is gone


class Process:
    """A running child: `end` it or `kill` it; one that is lost is killed when Python ends, at the latest."""

    def __init__(self, start: Callable[[], Started]) -> None:
        with held_back():
            started = start()
            self._life = _Life(started)
            weakref.finalize(self, self._life.end)
        self._requests, self._replies = Outgoing(started.stdin), Incoming(started.stdout)
        self._stderr = Tail(started.stderr)
        self._gone = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def write(self, line: str) -> None:
        """Queue one line."""
        self._requests.put(line)

    def read(self, seconds: float) -> str | None:
        """Return the next line, or None when there are no more; see `Incoming.get`."""
        return self._replies.get(seconds)

    def gone(self) -> bool:
        """Return whether a child that has closed its output is gone too; it may take a moment."""
        return self._gone.wait(_LINGER)

    def last_words(self) -> str:
        """Return how a child that is gone ended, and of its stderr what a sanitizer found, or the last line."""
        how = self._life.how
        self._stderr.thread.join(_LINGER)
        said = [line for line in self._stderr.lines() if not _LOG.match(line)]
        found = [line for line in said if _FINDING.search(line)]
        return how + (f": {(found or said[-1:])[0]}" if said else "")

    def said(self) -> list[str]:
        """Return the lines of stderr since the last time."""
        return self._stderr.heard()

    def end(self) -> bool:
        """Close the requests, wait for the child, and kill it if it stays; return whether it went by itself."""
        try:
            self._requests.close()
            return self._gone.wait(_POLITE)
        finally:
            self.kill()

    def kill(self) -> None:
        """End the child, and what it has started, at once."""
        self._life.end()
        self._requests.close()
        self._replies.close()
        deadline = time.monotonic() + _LINGER
        for thread in (self._watcher, self._requests.thread, self._replies.thread, self._stderr.thread):
            thread.join(max(deadline - time.monotonic(), 0))

    def _watch(self) -> None:
        self._life.wait()
        self._gone.set()
        self._replies.thread.join(_LINGER)
        self._replies.close()


class _Life:
    """A child and what it has started, which is ended at most until its number is another's."""

    def __init__(self, started: Started) -> None:
        self._started = started
        self._lock = threading.Lock()
        self._over = False
        self.how = ""

    def end(self) -> None:
        """End all of it."""
        with self._lock:
            if not self._over:
                self._started.kill()

    def wait(self) -> None:
        """Wait until the child is gone, and end what it has left."""
        self._started.wait()
        with self._lock:
            self._started.kill()
            self.how = self._started.given_up()
            self._over = True
