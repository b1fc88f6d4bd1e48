"""What a function does to arrays while it is recorded is undone after: recording is no call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from pynested.autograd import Array, get_default_device, get_default_dtype, set_default_device, set_default_dtype
from pynested.nested.array import NestedArray


def _place(device: str) -> None:
    set_default_device(device)


def _type(dtype: np.dtype[Any]) -> None:
    set_default_dtype(dtype)


class Undoing:
    """What puts everything back, the last first."""

    def __init__(self) -> None:
        self.steps: list[Callable[[], None]] = []

    def undo(self) -> None:
        """Put everything back."""
        while self.steps:
            self.steps.pop()()

    def generator(self, generator: np.random.Generator) -> None:
        """Remember where a generator stands; the numbers of one run are not those of the next."""
        state = generator.bit_generator.state
        self.steps.append(lambda: setattr(generator.bit_generator, "state", state))

    def before(self, name: str, args: Any, kwargs: Mapping[str, Any]) -> None:
        """Remember what a call will overwrite."""
        target = kwargs.get("out") if "out" in kwargs else args[0] if args else None
        if name == "set_default_device":
            self.steps.append(partial(_place, get_default_device()))
        elif name == "set_default_dtype":
            self.steps.append(partial(_type, get_default_dtype()))
        elif isinstance(target, NestedArray):
            self._before(name, target.data, "out" in kwargs)
        elif type(target) is Array:
            self._before(name, target, "out" in kwargs)

    def _before(self, name: str, x: Array, out: bool) -> None:
        last = name.rpartition(".")[2]
        if last == "accumulate" or last.endswith("=") or last == "requires_grad_":
            self._marks(x)
        elif out or last == "__setitem__" or (last.endswith("_") and not last.endswith("__")):
            self._contents(x)

    def _contents(self, x: Array) -> None:
        data, storage, version, old = x.data, x.storage, x.storage.version, x.data.copy()

        def put_back() -> None:
            data[...] = old
            storage.version = version

        self.steps.append(put_back)

    def _marks(self, x: Array) -> None:
        tracked, gradient = x.tracked, x._grad
        if gradient is not None:
            self._contents(gradient)

        def put_back() -> None:
            x.tracked, x._grad = tracked, gradient

        self.steps.append(put_back)
