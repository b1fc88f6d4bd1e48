"""A small implementation of nested arrays in NumPy, jagged only: what somebody writes who needs a few operators.

It shares nothing with pynested but the adapter, and the kit must find nothing wrong with it. `tests/mutation` plants
single faults in it. As a program it is an adapter: conform --layout jagged --adapter "python tests/conformance/small".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import calc
import moves
import numpy as np
from calc import Dense, Nest
from tape import Program

from pynested.conformance.adapters.base import Operand, Place, PythonAdapter, Target
from pynested.conformance.adapters.serve import serve
from pynested.conformance.placements import place_jagged
from pynested.spec.encoding import Components


def softmax(x: Nest, dim: int) -> Any:
    return calc.runs(x, dim, calc.softmax, lambda g, y, axis: y * (g - (y * g).sum(axis, keepdims=True)))


def cumsum(x: Nest, dim: int) -> Any:
    return calc.runs(x, dim, np.cumsum, lambda g, y, axis: np.flip(np.cumsum(np.flip(g, axis), axis), axis))


def floats(x: Nest) -> Nest:
    if x.values.dtype.kind != "f":
        raise NotImplementedError("of integers")
    return x


def numbers(x: Any) -> Any:
    if x.values.dtype.kind == "b":
        raise TypeError("bools")
    return x


def exp(x: Nest) -> Any:
    with np.errstate(all="ignore"):
        return calc.unary(floats(x), lambda a: np.exp(a.astype(np.float64)), lambda a, y: y.astype(np.float64))


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": lambda a, b: calc.binary(a, b, np.add, lambda x, y: (1, 1)),
    "sub": lambda a, b: calc.binary(a, b, np.subtract, lambda x, y: (1, -1)),
    "mul": lambda a, b: calc.binary(a, b, np.multiply, lambda x, y: (y, x)),
    "eq": lambda a, b: calc.binary(a, b, np.equal, None),
    "relu": lambda x: calc.unary(numbers(x), lambda a: np.maximum(a, 0), lambda a, y: ~(a <= 0)),
    "neg": lambda x: calc.unary(numbers(x), np.negative, lambda a, y: -1),
    "exp": exp,
    "sum": lambda x, dim, keepdim=False: calc.sum_(x, dim, keepdim),
    "mean": lambda x, dim, keepdim=False: calc.mean(x, dim, keepdim),
    "amax": lambda x, dim, keepdim=False: calc.amax(x, dim, keepdim),
    "softmax": softmax,
    "cumsum": cumsum,
    **{name: getattr(moves, name) for name in ("transpose", "unsqueeze", "select", "unbind", "cat", "linear")},
    "to_padded_array": moves.to_padded_array,
}

FOLDS = ("sum", "mean", "amax")


class Small(Target):
    def identity(self, device: str) -> dict[str, Any]:
        return {
            "name": "small",
            "version": "0",
            "device": device,
            "errors": "builtin",
            "capabilities": {"programs": True},
        }

    def operand(self, value: Any, place: Place, tracked: bool) -> Operand:
        if not isinstance(value, Components):
            dense = Dense(value)
            return Operand(dense, lambda: dense.grad)
        placed = place_jagged(value, place.placement)
        lengths = np.diff(placed.offsets) if placed.lengths is None else placed.lengths
        made = Nest(placed.values, placed.offsets[: len(lengths)], lengths, placed.ragged_dim)
        return Operand(made, lambda: None if made.grad is None else Components(made.grad, value.shape, value.dtype))

    def other(self, value: Any) -> Any:
        return value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if op not in OPERATORS or layout != "jagged":
            raise NotImplementedError(op)
        arrays = [one for some in args for one in (some if isinstance(some, list) else [some])]
        unknown = set(kwargs) - {"keepdim", "dim", "padding", "output_size", "dim0", "dim1", "index"}
        if unknown or not any(isinstance(one, Nest) for one in arrays) or (op in FOLDS and self.odd(*args, **kwargs)):
            raise NotImplementedError("an argument that small has not")
        result, self.pull = OPERATORS[op](*args, **kwargs)
        return result

    def odd(self, x: Any, dim: Any = None, keepdim: Any = False) -> bool:
        """Whether a reduction is over all dimensions, over several, or over the batch."""
        return type(dim) is not int or dim in (0, -x.ndim)

    def read(self, result: Any) -> Any:
        if isinstance(result, list):
            return result
        return Components(result.parts(), result.shape, result.values.dtype) if isinstance(result, Nest) else result

    def program(self, layout: str, inputs: Mapping[str, Any], leaves: Sequence[str]) -> Program:
        return Program({name: self.operand(*one, False).value for name, one in inputs.items()}, layout, self)

    def backward(self, results: Sequence[Any], cotangents: Sequence[Any]) -> None:
        self.pull(cotangents if isinstance(results, list) and len(results) != 1 else cotangents[0])


if __name__ == "__main__":
    serve(PythonAdapter(Small()))
