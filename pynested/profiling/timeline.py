"""`timeline`: everything that happens between a call and its result, as text, as data and as a picture."""

from __future__ import annotations

from contextlib import ExitStack
from os import PathLike
from types import TracebackType
from typing import Self

from pynested.autograd.decorators import thread_watchers
from pynested.autograd.thread_values import ValueChange
from pynested.backends.errors import ArgumentError
from pynested.backends.events import listened_by
from pynested.pictures.picture import Picture

from .event_recorder import Event, EventRecorder
from .event_text import format_events, write_chrome_trace
from .timeline_picture import draw_timeline


class timeline:
    """A context manager that records what happens inside the ``with`` block, in this thread.

    It records each call of an operator; the primitives that the operator is made of, with the kernels that run and the
    nodes of the tape; the nodes that a backward pass visits; and each storage: its allocation, writes with the version
    that they lead to, and its end. Print it.

    Attributes
    ----------
    events : list of Event
        The events, as plain data.

    Examples
    --------
    >>> with pn.timeline() as t:
    ...     y = pn.zeros(2, 3) + pn.ones(3)
    >>> print(t.listing(measured=False))
    zeros(2, 3) -> float64 (2, 3) in s1
      allocate s1: 48 bytes on cpu
    ones(3) -> float64 (3,) in s2
      allocate s2: 24 bytes on cpu
    add(float64 (2, 3) in s1, float64 (3,) in s2) -> float64 (2, 3) in s3
      primitive add(float64 (2, 3) in s1, float64 (3,) in s2) on cpu, (2, 3) and (3,) broadcast -> float64 (2, 3) in s3
        kernel add: numpy.add
        allocate s3: 48 bytes on cpu
        tape: no node, no operand requires grad
    free: s1, 48 bytes
    free: s2, 24 bytes
    alive: s3, 48 bytes
    """

    def __init__(self) -> None:
        self._recorder: EventRecorder | None = None
        self._observation = ExitStack()

    @property
    def events(self) -> list[Event]:
        """The events until now."""
        return [] if self._recorder is None else self._recorder.events

    def __enter__(self) -> Self:
        if self._recorder is not None:
            raise ArgumentError("timeline: this timeline is already used. Open another: with pn.timeline() as t.")
        self._recorder = EventRecorder()
        self._observation.enter_context(listened_by(self._recorder))
        # The last to see a call: inside a function that is traced, the trace replaces stand-ins by arrays before that.
        watchers = self._recorder.watch, *thread_watchers.value
        self._observation.enter_context(ValueChange(thread_watchers, watchers))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._observation.close()
        if self._recorder is not None:
            self._recorder.close()

    def listing(self, *, measured: bool = True) -> str:
        """Return the events as indented text, with beginnings and durations unless ``measured`` is False."""
        return format_events(self.events, measured)

    def __str__(self) -> str:
        return self.listing()

    def __repr__(self) -> str:
        return f"<timeline of {len(self.events)} events>"

    def picture(self) -> Picture:
        """Return the events as an SVG document, which notebooks show."""
        return draw_timeline(self.events)

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()

    def to_chrome(self, path: str | PathLike[str]) -> None:
        """Write the events in the trace event format of browsers into a JSON file."""
        write_chrome_trace(self.events, path)
