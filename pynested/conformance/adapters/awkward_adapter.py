"""awkward arrays as a target; runs as a child process, the only place where awkward is imported.

A nested array is made of the parts that awkward keeps: lists of rows, by offsets, or by starts and stops where there
are holes. A result in which every dimension is regular is dense. One with missing values, as the maximum of an empty
list, is no array of numbers, and is only described.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.encoding import WIDTHS, Index

from ..awkward_dialect import AWKWARD, lists
from ..messages import Message
from ..placements import PACKED, PLACEMENTS, place_jagged, ragged_dim
from .base import Operand, Place, PythonAdapter, Target
from .serve import Absent, serve
from .values import Described, Plain, in_brackets


class AwkwardTarget(Target):
    """What awkward computes, forward only."""

    reads_operands = True

    def __init__(self, awkward: Any) -> None:
        self._ak = awkward

    def identity(self, device: str) -> Message:
        """Return name, version and what can be asked."""
        if device != "cpu":
            return {"unavailable": f"awkward arrays are asked on the cpu, not on {device}"}
        kept = {"operators": AWKWARD.operators, "layouts": ["jagged"], "placements": list(PLACEMENTS)}
        can = {**kept, "dtypes": list(WIDTHS), "gradients": False}
        words = {"dialect": "awkward", "errors": "builtin", "capabilities": can}
        return {"name": "awkward", "version": str(self._ak.__version__), **words}

    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Return an array of NumPy as it is, and components as lists."""
        made = self._nested(value, place.placement) if isinstance(value, Components) else value
        return Operand(made, lambda: None)

    def _nested(self, value: Components, placement: str) -> Any:
        ak = self._ak
        if ragged_dim(value) == 1:
            placed = place_jagged(value, placement)
            content = ak.contents.NumpyArray(placed.values)
            if placed.lengths is None:
                return ak.Array(ak.contents.ListOffsetArray(ak.index.Index(placed.offsets), content))
            starts = placed.offsets[: len(placed.lengths)]
            bounds = (ak.index.Index(starts), ak.index.Index(starts + placed.lengths))
            return ak.Array(ak.contents.ListArray(*bounds, content))
        if placement != PACKED:
            raise NotImplementedError("lists inside of regular dimensions are asked packed only")
        rows, offsets, regular = lists(value)
        layout = ak.contents.ListOffsetArray(ak.index.Index(offsets), ak.contents.NumpyArray(rows))
        for number in reversed(range(len(regular))):
            count = len(value) * int(np.prod(regular[:number]))
            layout = ak.contents.RegularArray(layout, regular[number], count)
        return ak.Array(layout)

    def other(self, value: Any) -> Any:
        """Return numbers and dtypes as they are, and an index as what it holds."""
        return in_brackets(value) if isinstance(value, Index) else value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Evaluate the expression of the operator."""
        return AWKWARD.call(op, args, kwargs, {"ak": self._ak, "np": np})

    def read(self, result: Any) -> Any:
        """Return lists as components, and what is regular as an array."""
        if isinstance(result, list):
            return [self.read(one) for one in result]
        if isinstance(result, np.generic):
            return np.asarray(result)
        if not isinstance(result, self._ak.Array):
            return Described("None, a missing value") if result is None else result
        sizes, dtype, missing = _form(self._ak, result.type)
        other = Described(f"an array of type {result.type}: {result.to_list()}")
        if dtype is None or (missing and self._ak.any(self._ak.is_none(result, axis=-1), axis=None)):
            return other
        if None not in sizes:
            return np.asarray(self._ak.to_numpy(result, allow_missing=False))
        try:
            parts = [self._ak.to_numpy(result[number], allow_missing=False) for number in range(len(result))]
        except ValueError:  # a component that is itself ragged is no array of NumPy
            return other
        return Components(parts, [len(result), *sizes], dtype)

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull nothing back: no gradient is asked for."""
        raise NotImplementedError("awkward has no gradients on the cpu")


def _form(awkward: Any, type_: Any) -> tuple[list[int | None], Any, bool]:
    """Return the sizes of the components of an array, None where they are irregular, its dtype, and if any may lack."""
    sizes: list[int | None] = []
    inner, missing = type_.content, False
    while not isinstance(inner, awkward.types.NumpyType):
        if isinstance(inner, awkward.types.OptionType):
            missing = True
        elif isinstance(inner, (awkward.types.ListType, awkward.types.RegularType)):
            sizes.append(getattr(inner, "size", None))
        else:
            return sizes, None, missing
        inner = inner.content
    return sizes, np.dtype(inner.primitive), missing


def main() -> None:
    """Answer on stdin and stdout."""
    try:
        import awkward
    except ImportError as error:
        serve(Absent("awkward", "awkward", str(error)))
        return
    np.seterr(all="ignore")  # what NumPy warns of is in the results
    serve(PythonAdapter(AwkwardTarget(awkward)))


if __name__ == "__main__":
    main()
