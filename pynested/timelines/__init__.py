"""See it: everything that happens between a call and its result, and the memory that it takes."""

from .events import Event
from .leaks import leak_check
from .table import DispatchTable, dispatch_table
from .timeline import timeline
from .usage import Usage, memory

__all__ = ["DispatchTable", "Event", "Usage", "dispatch_table", "leak_check", "memory", "timeline"]
