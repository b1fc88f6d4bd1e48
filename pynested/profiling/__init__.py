"""Views of what runs between a call and its result: `timeline`, `dispatch_table` and `memory`.

Reading order: `pynested.backends.events`, the source of events; `event_recorder`, which makes plain data of them, with
names from `object_names`; `event_text` and `timeline_picture`, which show events; `timeline`; `function_location` and
`kernel_table`; `memory_use`.
"""

from .event_recorder import Event
from .kernel_table import DispatchTable, dispatch_table
from .memory_use import MemoryUse, memory
from .timeline import timeline

__all__ = ["DispatchTable", "Event", "MemoryUse", "dispatch_table", "memory", "timeline"]
