"""What memory is in use: `memory`."""

from __future__ import annotations

from dataclasses import dataclass

from pynested.autograd.dispatch import operator
from pynested.backends.memory import counters, kept_bytes
from pynested.backends.storage import Storage


@dataclass(frozen=True)
class Usage:
    """The memory of this process at one moment.

    Attributes
    ----------
    live : dict
        By device, how many storages there are, and their bytes.
    large, peak : int
        The bytes of large pieces on the CPU that are handed out, and the most that ever were at once. Smaller memory is
        the C library's, and the GPU's is CuPy's.
    kept : int
        The bytes of large pieces that wait to be used again.
    fresh, reused : int
        How often a large piece came from the operating system, and how often from what was kept.
    """

    live: dict[str, tuple[int, int]]
    large: int
    peak: int
    kept: int
    fresh: int
    reused: int

    def __str__(self) -> str:
        lines = [f"live on {name}: {count:,} storages, {size:,} bytes" for name, (count, size) in self.live.items()]
        return "\n".join(
            [
                *(lines or ["live: nothing"]),
                f"large pieces: {self.large:,} bytes, at most {self.peak:,}; {self.kept:,} kept",
                f"large requests: {self.fresh:,} fresh, {self.reused:,} reused",
            ]
        )

    __repr__ = __str__


@operator
def memory() -> Usage:
    """What is live, at its peak, kept and reused, at this moment; storages are searched for among all objects.

    Examples
    --------
    >>> before = pn.memory().live.get("cpu", (0, 0))
    >>> x = pn.zeros(1000)
    >>> after = pn.memory().live["cpu"]
    >>> after[0] - before[0], after[1] - before[1]
    (1, 8000)
    """
    live: dict[str, tuple[int, int]] = {}
    for storage in Storage.living():
        count, size = live.get(storage.device, (0, 0))
        live[storage.device] = count + 1, size + int(storage.data.nbytes)
    return Usage(
        dict(sorted(live.items())), counters.in_use, counters.peak, kept_bytes(), counters.fresh, counters.reused
    )
