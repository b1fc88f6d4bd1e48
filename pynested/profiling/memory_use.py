"""The counters of the caching allocator: `memory`."""

from typing import NamedTuple

from pynested.autograd.decorators import method
from pynested.backends.caching_allocator import counters, kept_bytes


class MemoryUse(NamedTuple):
    """Counters for arrays of 1 MiB or more on the CPU; smaller memory is the C library's, memory of a GPU is CuPy's."""

    in_use: int  # bytes of arrays
    peak: int  # the most bytes of arrays at once
    kept: int  # bytes that wait for the next array
    fresh: int  # the number of blocks that came from the operating system
    reused: int  # the number of blocks that were kept before


@method
def memory() -> MemoryUse:
    """Return the memory that large arrays use now.

    Examples
    --------
    >>> before = pn.memory().in_use
    >>> x = pn.empty(1_000_000)
    >>> 8_000_000 <= pn.memory().in_use - before < 9_000_000
    True
    """
    return MemoryUse(counters.in_use, counters.peak, kept_bytes(), counters.fresh, counters.reused)
