"""The two layouts of a nested array, `strided` and `jagged`. *Clauses* are numbered statements of the specification."""

from __future__ import annotations

from typing import Any

from pynested.backends.errors import LayoutError


class Layout:
    """Memory layout of a nested array: `strided` or `jagged`.

    In the strided layout the components can differ along any dimension; each has sizes, strides and an offset. In the
    jagged layout they differ along one dimension, the ragged dimension, and are slices of the values along it.

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


def canonical_layout(operator_name: str, layout: Any) -> Layout:
    """Return ``layout``, or strided for None; raise LayoutError, in the name of an operator, for anything else."""
    if layout is None:
        return strided
    if layout is not strided and layout is not jagged:
        raise LayoutError(f"{operator_name}: layout must be pn.strided or pn.jagged, not {layout!r}.")
    return layout
