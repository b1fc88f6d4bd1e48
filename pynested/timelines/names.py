"""Names for storages and lines, ``s1`` and ``line 1``, in the order in which a timeline meets them."""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.tape import Line
from pynested.backends.errors import named_type
from pynested.backends.storage import Storage
from pynested.nested.array import NestedArray

LONGEST = 60  # characters of a value in words


class Names:
    """The names of one timeline. ``dies`` is called with the name and the bytes of a storage when it is gone."""

    def __init__(self, dies: Callable[[str, int], None]) -> None:
        self.dies = dies
        self.storages: dict[str, weakref.ref[Storage]] = {}  # the living ones
        self._met: dict[int, str] = {}
        self._lines: weakref.WeakKeyDictionary[Line, str] = weakref.WeakKeyDictionary()
        self._count = self._line_count = 0

    def storage(self, storage: Storage) -> str:
        """The name of a storage, which is given one when it is first met."""
        known = self._met.get(id(storage))
        if known is None:
            self._count += 1
            known = self._met[id(storage)] = f"s{self._count}"
            self.storages[known] = weakref.ref(storage, self._funeral(known, id(storage), int(storage.data.nbytes)))
        return known

    def _funeral(self, name: str, key: int, nbytes: int) -> Callable[[Any], None]:
        def callback(_: Any) -> None:
            del self._met[key], self.storages[name]
            self.dies(name, nbytes)

        return callback

    def line(self, line: Line) -> str:
        """The name of a line of the tape."""
        if line not in self._lines:
            self._line_count += 1
            self._lines[line] = f"line {self._line_count}"
        return self._lines[line]

    def source(self, node: Any) -> str:
        """Where a gradient goes: a line, a leaf, or nowhere."""
        if node is None:
            return "a constant"
        return self.line(node) if type(node) is Line else f"leaf {self.storage(node.storage)}"

    # ---- values in words --------------------------------------------------------------------------------------

    def words(self, value: Any) -> str:
        """A value in words: dtype, shape and storage of an array, and not what it holds."""
        if isinstance(value, NestedArray):
            sizes = ", ".join(["*" if size is None else str(size) for size in (len(value), *value.regular)])
            return f"{value.layout.name} {value.dtype} ({sizes}) in {self.storage(value.data.storage)}"
        if type(value) is Array:
            return f"{value.dtype} {value.shape} in {self.storage(value.storage)}"
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return f"bare {value.dtype} {value.shape}"
        return self._plain(value)

    def _plain(self, value: Any) -> str:
        if isinstance(value, np.dtype) or hasattr(value, "__name__"):
            return str(getattr(value, "__name__", value))
        if isinstance(value, tuple | list):
            ends = "()" if isinstance(value, tuple) else "[]"
            inside = [self.words(one) for one in value[:4]] + ["…"] * (len(value) > 4)
            comma = "," if len(value) == 1 and ends == "()" else ""
            return f"{ends[0]}{', '.join(inside)}{comma}{ends[1]}"
        if isinstance(value, dict):
            return f"a dict of {len(value)}"
        try:
            text = repr(value)
        except Exception:  # which is no matter of the call that is watched
            return named_type(value)
        if " at 0x" in text:
            return named_type(value)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def variables(frame: FrameType) -> dict[int, list[str]]:
    """The names of variables by the storages that they hold, by id; those of gradients too."""
    called: dict[int, list[str]] = {}
    for name, value in frame.f_locals.items():
        array = value._buffer if isinstance(value, NestedArray) else value  # past those who watch
        if type(array) is Array and not name.startswith("_"):
            called.setdefault(id(array.storage), []).append(name)
            if array._grad is not None:
                called.setdefault(id(array._grad.storage), []).append(f"{name}.grad")
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        frame.f_locals.clear()  # a copy, which the frame would keep, and with it what its variables hold
    return called
