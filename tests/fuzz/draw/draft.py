"""A chain while it is drawn: what there is so far, and what the next call may take of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pynested.fuzzing.chance import Chance

from ..oracle import Nest, Refused, Silent, ask
from ..plan import Call, Chain, Dense, Memory, Operand, Ref, found, seen
from . import arrays
from .arrays import Form, Placed
from .numbers import STYLES, TAME, any_dtype, number, numbers

WILD_DIMS = (1.0, True, None, "0", (0,), 0.5, np.int8(1), np.float64(1), 2**70, -9, 9, [1])
WILD_INTS = (1.0, True, None, "1", np.int64(1), 2**70, -(2**70), 2.5, np.nan)
MOST = 200  # elements of an array that a call may take: chains grow


class Draft:
    """A chain in the making. ``tame`` numbers are finite and moderate, and calls are such as are answered."""

    def __init__(self, chance: Chance, tame: bool = False) -> None:
        self.chance, self.tame = chance, tame
        self.memories: list[Memory] = []
        self.operands: list[Operand] = []
        self.steps: list[Call] = []
        self.known: dict[Ref, Any] = {}
        self.arrays: list[Ref] = []  # that a call may take, the newest last

    def chain(self) -> Chain:
        return Chain(tuple(self.memories), tuple(self.operands), tuple(self.steps))

    @property
    def kinds(self) -> str:
        """The kinds of dtype of operands of which any will do."""
        return "f" if self.tame else "biuf"

    def value(self, ref: Ref) -> Nest:
        array: Nest = found(ref, self.known)
        return array

    def ours(self, value: Any) -> bool:
        """Whether this is an array of the target, and not of NumPy."""
        if not isinstance(value, Ref) or value.kind == "y":
            return isinstance(value, Ref)
        operand = self.operands[value.number]
        return not isinstance(operand, Dense) or operand.spelling == "array"

    def masked(self, value: Any) -> bool:
        """Whether this is a masked array, whose own operators are NumPy's business."""
        operand = self.operands[value.number] if isinstance(value, Ref) and value.kind == "x" else None
        return isinstance(operand, Dense) and operand.spelling == "masked"

    def wild(self, share: float = 0.03) -> bool:
        """Whether the next argument is to be wrong, or odd."""
        return not self.tame and self.chance.happens(share)

    # ---- what there is -----------------------------------------------------------------------------------------------

    def add(self, placed: Placed) -> Ref:
        """A new operand with a memory of its own."""
        memory, operand = placed
        self.memories.append(replace(memory, home=self.wild()))
        self.operands.append(replace(operand, memory=len(self.memories) - 1))
        ref = Ref("x", len(self.operands) - 1)
        self.known[ref] = seen(memory, self.operands[-1])
        self.arrays.append(ref)
        return ref

    def call(self, call: Call) -> None:
        """The next step; what it gives can be used by those after it. A tame chain has no step that is refused."""
        args, options = call.known(self.known)
        try:
            value = ask(call.op, args, options).value
        except (Refused, Silent):
            if not self.tame:
                self.steps.append(call)
            return
        self.steps.append(call)
        ref = Ref("y", len(self.steps) - 1)
        self.known[ref] = rounded(value)
        if isinstance(value, Nest):
            self.arrays.append(ref)
        elif isinstance(value, list):
            self.arrays += [replace(ref, item=i) for i in range(min(len(value), 3))]

    # ---- arrays ------------------------------------------------------------------------------------------------------

    def dtype(self, kinds: str = "biuf") -> np.dtype[Any]:
        if self.tame and "f" in kinds:
            return np.dtype(np.float64 if self.chance.happens(0.85) else np.float32)
        return any_dtype(self.chance, kinds)

    def draw(self, dtype: np.dtype[Any], style: str | None = None) -> Callable[[int], Any]:
        """What draws so many numbers of one style."""
        chosen = style or self.chance.one(TAME if self.tame else STYLES)
        return lambda count: numbers(self.chance, dtype, count, chosen)

    def nested(
        self, kinds: str = "biuf", form: Form | None = None, style: str | None = None, dtype: Any = None, least: int = 1
    ) -> Ref:
        """A new nested array."""
        jagged = self.chance.happens(0.6)
        if form is None:
            form = arrays.form(self.chance, None if least < 2 else self.chance.between(least, 3), jagged=jagged)
        kind = self.dtype(kinds) if dtype is None else dtype
        return self.add(arrays.nested(self.chance, form, jagged, kind, self.draw(kind, style)))

    def dense(self, shape: Any, kinds: str = "biuf", style: str | None = None, dtype: Any = None) -> Ref:
        """A new dense array."""
        kind = self.dtype(kinds) if dtype is None else dtype
        return self.add(arrays.dense(self.chance, tuple(shape), kind, self.draw(kind, style), not self.tame))

    def array(self, kinds: str = "", least: int = 1, dense: float = 0.12) -> Ref:
        """An array whose components have at least so many dimensions: one that is there, or a new one."""
        kinds = kinds or self.kinds
        if self.arrays and self.chance.happens(0.65):
            fitting = [ref for ref in self.arrays[-4:] if self._suits(ref, kinds, least)]
            if fitting:
                return fitting[-1] if self.chance.happens(0.6) else self.chance.one(fitting)
        if self.chance.happens(dense):
            rank = self.chance.between(max(least - 1, 0), 3)
            return self.dense([self.chance.one((0, 1, 1, 2, 2, 3)) for _ in range(rank)], kinds)
        return self.nested("biuf" if self.wild(0.05) else kinds, least=least)

    def _suits(self, ref: Ref, kinds: str, least: int) -> bool:
        x = self.value(ref)
        small = sum(one.size for one in x) <= MOST and max((size or 0 for size in x.shape), default=0) <= MOST
        return small and x.dtype.kind in kinds and x.rank + x.dense > least

    def like(self, x: Nest, kinds: str = "biuf", style: str | None = None, dtype: Any = None) -> Ref:
        """A new array of the shape of ``x``, in any layout and placement."""
        if x.dense:
            return self.dense(x.shape, kinds, style, dtype)
        return self.nested(kinds, arrays.form_of(x), style, dtype)

    # ---- arguments ---------------------------------------------------------------------------------------------------

    def dim(self, x: Nest, more: int = 0, batch: bool = True) -> Any:
        """A dimension of ``x``; 0 too if ``batch``. Negative ones too, and now and then what is none."""
        if self.wild():
            return self.chance.one(WILD_DIMS)
        rank = x.rank + more
        first = 0 if batch or x.dense or self.wild() else 1
        if rank <= first:
            return first
        dim = self.chance.between(first, rank - 1)
        if self.chance.happens(0.35):
            dim -= rank
        return np.int64(dim) if self.chance.happens(0.03) else dim

    def integer(self, least: int, most: int) -> Any:
        """An integer, now and then beyond its range or none at all."""
        if self.wild():
            return self.chance.one(WILD_INTS)
        if self.wild(0.04):
            return self.chance.one((least - 1, most + 1, -(most + 2)))
        return self.chance.between(least, max(least, most))

    def number(self, dtype: np.dtype[Any]) -> Any:
        return self.chance.one((0.5, 2, 2.0, -1.5)) if self.tame else number(self.chance, dtype)


def rounded(value: Any) -> Any:
    """A result in its dtype."""
    if isinstance(value, Nest):
        with np.errstate(all="ignore"):
            return value.like([np.asarray(one).astype(value.dtype) for one in value])
    return [rounded(one) for one in value] if isinstance(value, list) else value
