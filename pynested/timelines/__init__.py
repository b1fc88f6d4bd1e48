"""See it: everything that happens between a call and its result."""

from .events import Event
from .timeline import timeline

__all__ = ["Event", "timeline"]
