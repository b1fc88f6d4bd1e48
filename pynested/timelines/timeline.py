"""`timeline`: everything that happens between a call and its result, as text, as data and as a picture."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from os import PathLike
from time import perf_counter
from types import TracebackType
from typing import Self

from pynested.backends.errors import ArgumentError
from pynested.pictures.picture import Picture
from pynested.surface.passing import watching

from . import calls, chrome, drawing, listing
from .events import Event
from .names import variables
from .recorder import Recorder
from .steps import HANDLERS, steps


class timeline:
    """What happens inside the ``with`` block, in this thread, call by call and stage by stage.

    Each call as it is bound against its signature, the rule and the verb that it comes to on its layout and device, how
    operands meet, kernels, memory as it begins and as it dies, views, and the lines of the tape. Composite operators
    show what they are made of, compiled functions the chains that they run, backward passes the lines that they pull.
    Other threads are not seen, and nothing is paid by those who do not watch.

    Attributes
    ----------
    events : list of Event
        All of it, as plain data.

    Examples
    --------
    >>> with pn.timeline() as t:
    ...     r = pn.zeros(3) + 1
    >>> [event.name for event in t.events if event.kind == "call"]
    ['zeros', 'add']
    """

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._watch = ExitStack()

    @property
    def events(self) -> list[Event]:
        """What happened so far."""
        return [] if self._recorder is None else self._recorder.events

    def __enter__(self) -> Self:
        if self._recorder is not None:
            raise ArgumentError("timeline: this one has been used; open another: with pn.timeline() as t.")
        recorder = Recorder(calls.called, HANDLERS)
        self._watch.enter_context(watching(recorder, steps()))
        self._recorder = recorder
        recorder.began = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        recorder = self._recorder
        assert recorder is not None
        self._watch.close()
        new = {event.name: event for event in recorder.events if event.kind == "new"}
        called = variables(sys._getframe(1))
        for name, link in list(recorder.names.storages.items()):
            storage = link()
            if name in new and storage is not None:
                recorder.note("alive", name, bytes=new[name].facts["bytes"], called=called.get(id(storage), []))
        recorder.open = False

    # ---- to look at it ------------------------------------------------------------------------------------------

    def listing(self, *, measured: bool = True) -> str:
        """The events as indented text; without what differs from run to run, times and addresses, if asked for."""
        return listing.listing(self.events, measured)

    def __str__(self) -> str:
        return self.listing()

    def __repr__(self) -> str:
        return f"<timeline of {len(self.events)} events>"

    def picture(self) -> Picture:
        """The events as an SVG document, which notebooks show by themselves."""
        return drawing.drawn(self.events)

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()

    def to_chrome(self, path: str | PathLike[str]) -> None:
        """Write the events in the trace event format, which the trace viewers of browsers open: a JSON file."""
        chrome.write(self.events, path)
