"""Names of storages and nodes, ``s1`` and ``node 1``, in the order in which a timeline meets them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.array import raw
from pynested.autograd.tape import Node
from pynested.backends.errors import named_type
from pynested.backends.storage import Storage
from pynested.nested.nested_array import NestedArray

MAX_CHARACTERS = 60  # of the description of a value
MAX_ITEMS = 4  # of a container in a description


class ObjectNames:
    """The names of one timeline.

    Attributes
    ----------
    living : dict
        The storages that have a name and are not freed, by name.
    """

    def __init__(self, when_freed: Callable[[str, int], object]) -> None:
        self.living: dict[str, weakref.ref[Storage]] = {}
        self._when_freed = when_freed  # called with the name and the number of bytes
        self._name_by_id: dict[int, str] = {}
        self._nodes: weakref.WeakKeyDictionary[Node, str] = weakref.WeakKeyDictionary()
        self._storage_count = self._node_count = 0

    def storage(self, storage: Storage) -> str:
        """Return the name of a storage."""
        name = self._name_by_id.get(id(storage))
        if name is None:
            self._storage_count += 1
            name = self._name_by_id[id(storage)] = f"s{self._storage_count}"
            nbytes, key = int(storage.data.nbytes), id(storage)
            self.living[name] = weakref.ref(storage, lambda _: self._note_free(name, key, nbytes))
        return name

    def _note_free(self, name: str, key: int, nbytes: int) -> None:
        del self._name_by_id[key], self.living[name]
        self._when_freed(name, nbytes)

    def node(self, node: Any) -> str:
        """Return the name of a node of the tape, or of the storage of a leaf; its array may be gone."""
        if type(node) is not Node:
            array = node.array()
            return "leaf" if array is None else f"leaf {self.storage(array.storage)}"
        if node not in self._nodes:
            self._node_count += 1
            self._nodes[node] = f"node {self._node_count}"
        return self._nodes[node]

    def describe(self, value: Any) -> str:
        """Return a value in words: dtype, shape and storage of an array, and a short ``repr`` of other values."""
        if isinstance(value, NestedArray):
            sizes = ["*" if size is None else str(size) for size in (value.structure.count, *value.regular_sizes)]
            return f"{value.layout.name} {value.dtype} ({', '.join(sizes)}) in {self.storage(value._buffer.storage)}"
        if type(value) is Array:
            return f"{raw(value).dtype} {raw(value).shape} in {self.storage(value.storage)}"
        if isinstance(value, np.dtype):
            return str(value)
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return f"{value.dtype} {value.shape}"
        if isinstance(value, tuple | list):
            items = [self.describe(item) for item in value[:MAX_ITEMS]] + ["…"] * (len(value) > MAX_ITEMS)
            inside = ", ".join(items)
            return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
        if isinstance(value, dict):
            pairs = [f"{key!r}: {self.describe(item)}" for key, item in [*value.items()][:MAX_ITEMS]]
            return f"{{{', '.join(pairs + ['…'] * (len(value) > MAX_ITEMS))}}}"
        return _short_repr(value)


def _short_repr(value: Any) -> str:
    try:
        text = str(getattr(value, "__name__", None) or repr(value))
    except Exception:  # a call must not fail because it is watched
        return named_type(value)
    if " at 0x" in text:
        return named_type(value)
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"
