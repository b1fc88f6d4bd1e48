"""The definitions of the specification as a target: what a newcomer's naive port looks like, in NumPy and nothing else.

A nested array is the list of its components. An operator is its definition, which computes wide and takes dimensions
that are canonical; so a port has to count dimensions from the front, and to round once, to the dtype that the result
has. That is all that is here. There are no holes, no gradients, and nobody refuses anything. Gradients are left out on
purpose: those of the vectors are the slopes of these same definitions, so agreeing with them here would show nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.spec.calling import arrays, called
from pynested.spec.components import Components, cast, stacked
from pynested.spec.encoding import WIDTHS, Index
from pynested.spec.functions import FUNCTIONS
from pynested.spec.memory import Machine
from pynested.spec.table import load_table

from ..messages import Message
from ..placements import PACKED
from .base import Operand, Place, PythonAdapter, Target
from .programs import Runs
from .serve import serve
from .values import Plain

_NARROW = ("layer_norm", "cross_entropy")  # at the ends of float64 these need more room than float64 has midway
_PROMOTING = ("elementwise", "comparison", "products", "movement")  # chapters: dtypes of all operands count
_REDUCING = ("reduction", "losses")  # chapters: a number for each component is no longer nested
_FLOATS = {"bool": "float16", "int8": "float16", "uint8": "float16", "int16": "float32"}  # what functions make of ints


class LawTarget(Target):
    """Every operator as it is defined, component by component."""

    def __init__(self) -> None:
        self._kept = {
            "operators": operators(),
            "placements": [PACKED],
            "dtypes": list(WIDTHS),
            "gradients": False,
            "programs": True,
        }

    def identity(self, device: str) -> Message:
        """Return name and version; there is no device but the processor."""
        if device != "cpu":
            return {"unavailable": f"the definitions compute on the cpu, not on {device}"}
        return {"name": "law", "version": "0.1", "errors": "none", "capabilities": self._kept}

    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Return the components as they are."""
        return Operand(value, lambda: None)

    def other(self, value: Any) -> Any:
        """Return numbers, texts and dtypes as they are, and an index as what it holds."""
        return value.items if isinstance(value, Index) else value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what the definition says, rounded once."""
        define, given = called(op, args, kwargs)
        operands = list(arrays(given.values()))
        with np.errstate(all="ignore", over="raise" if op in _NARROW else "ignore"):
            result = define(**given)
        return rounded(result, Rounding(op, layout, operands, given.get("dtype", kwargs.get("dtype"))))

    def program(self, layout: str, inputs: Mapping[str, tuple[Plain, Place]], leaves: Sequence[str]) -> Runs:
        """Return the memory of the specification with the inputs in it."""
        return Machine({name: value for name, (value, _) in inputs.items()}, layout)

    def missing(self, error: Exception) -> bool:
        """Return whether a definition needs more room than there is."""
        return isinstance(error, (NotImplementedError, FloatingPointError))

    def read(self, result: Any) -> Any:
        """Return the result as it is."""
        return result

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull nothing back: no gradient is asked for."""
        raise NotImplementedError("the definitions have no gradients")


def operators() -> list[str]:
    """Return the operators that have a definition: all of them."""
    return [operator.name for operator in load_table().values() if not operator.is_idea]


@dataclass(frozen=True)
class Rounding:
    """What a result becomes that a definition has computed wide."""

    op: str
    layout: str
    operands: Sequence[Any]
    dtype: Any  # that was asked for, if any was

    @property
    def chapter(self) -> str:
        """The chapter of the operator."""
        return load_table()[self.op].chapter

    def dtype_of(self, computed: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype of the result: of the floats among the operands, or of all of them."""
        if self.dtype is not None:
            asked: np.dtype[Any] = np.dtype(self.dtype)
            return asked
        dtypes = [one.dtype for one in self.operands]
        floats = [one for one in dtypes if one.kind == "f"]
        if computed == np.float64 and floats:
            return np.dtype(np.result_type(*(dtypes if self.chapter in _PROMOTING else floats)))
        if self.op in FUNCTIONS and FUNCTIONS[self.op].dtypes == "floats":
            return np.dtype(_FLOATS.get(dtypes[0].name, computed.name))
        return computed

    def is_dense(self, shape: Sequence[int | None]) -> bool:
        """Return whether nothing can be ragged in a result of this shape."""
        ragged = any(None in one.shape for one in self.operands if isinstance(one, Components))
        if len(shape) == 1:
            return self.layout == "jagged" or self.chapter in _REDUCING
        return self.layout == "jagged" and ragged and None not in shape


def rounded(result: Any, rounding: Rounding) -> Any:
    """Return a result in its dtype, and dense where nothing in it can be ragged; what is no array stays."""
    if isinstance(result, Components):
        nested = cast(result, rounding.dtype_of(result.dtype))
        return stacked(nested) if rounding.is_dense(nested.shape) else nested
    if isinstance(result, list):
        return [rounded(one, rounding) for one in result]
    if isinstance(result, (np.ndarray, np.generic)):
        array = np.asarray(result)
        return cast(array, rounding.dtype_of(array.dtype))
    return result


if __name__ == "__main__":
    serve(PythonAdapter(LawTarget()))
