"""The memory behind arrays, shared by all views of it."""

from __future__ import annotations

from typing import Any


class Storage:
    """A piece of memory on a device: what arrays are views of, and how often it was written to.

    Attributes
    ----------
    data : array
        The flat array that was allocated, or the caller's array as it came.
    device : str
        ``"cpu"`` or the name of another registered device.
    version : int
        The number of writes so far; a result that needs an old value compares it.
    owner : object
        What must live as long as the memory where ``data`` alone does not keep it alive, else None.
    """

    __slots__ = ("__weakref__", "data", "device", "owner", "version")

    def __init__(self, data: Any, device: str = "cpu", owner: object = None) -> None:
        self.data = data
        self.device = device
        self.owner = owner
        self.version = 0

    def wrote(self) -> None:
        """Count a write, so that whoever saved the old contents notices."""
        self.version += 1

    def __repr__(self) -> str:
        return f"Storage(device={self.device!r}, version={self.version}, data={type(self.data).__name__})"
