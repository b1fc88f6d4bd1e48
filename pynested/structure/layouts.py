"""The two layouts of a nested array."""

from __future__ import annotations

from typing import Any

from pynested.backends.errors import LayoutError


class Layout:
    """How the components of a nested array lie in memory; there are two, `strided` and `jagged`.

    In the strided layout any dimension of the components may be irregular; each has sizes, strides and an offset. In
    the jagged layout exactly one, not the batch, is ragged, and the components lie one after another along it.

    Clauses: LAYOUTS-1 to LAYOUTS-8.

    Examples
    --------
    >>> pn.nested_array([[1, 2], [3]], layout=pn.jagged).layout
    pynested.jagged
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"pynested.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided = Layout("strided")
jagged = Layout("jagged")


def canonical_layout(name: str, layout: Any) -> Layout:
    """``layout`` if it is one of the two, strided for None."""
    if layout is None:
        return strided
    if layout is not strided and layout is not jagged:
        raise LayoutError(f"{name}: layout must be pn.strided or pn.jagged, not {layout!r}.")
    return layout
