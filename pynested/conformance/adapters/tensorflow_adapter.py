"""TensorFlow's RaggedTensor as a target; runs as a child process, the only place where TensorFlow is imported.

A ragged tensor is its values and row splits, so that nothing can lie between components: everything is packed. The
values are what is tracked. A result without a ragged dimension is dense.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.encoding import WIDTHS, Index

from ..awkward_dialect import lists
from ..messages import Message
from ..placements import PACKED, Array
from ..tensorflow_dialect import TENSORFLOW
from .base import Operand, Place, PythonAdapter, Target
from .serve import Absent, serve
from .values import Described, Plain, in_brackets

_TAPE = "tape"

# How TensorFlow says that it has no kernel for a dtype, and that a function does not take ragged tensors.
_NO_KERNEL = ("Could not find device for node", "is not in the list of allowed values", "has no len()")


class TensorflowTarget(Target):
    """What TensorFlow computes eagerly, with gradients from a tape."""

    reads_operands = True

    def __init__(self, tensorflow: Any) -> None:
        self._tf = tensorflow
        self._tape: Any = None
        self._pulled: tuple[list[Any], list[Any]] = ([], [])

    def identity(self, device: str) -> Message:
        """Return name, version and what can be asked."""
        if device != "cpu":
            return {"unavailable": f"ragged tensors are asked on the cpu, not on {device}"}
        can = {"operators": TENSORFLOW.operators, "layouts": ["jagged"], "placements": [PACKED], "dtypes": list(WIDTHS)}
        words = {"dialect": "tensorflow", "errors": "any", "capabilities": can}
        return {"name": "tensorflow", "version": str(self._tf.__version__), **words}

    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Return a tensor, or a ragged tensor; the values of tracked ones are watched by the tape of the call."""
        if _TAPE not in place.shared:  # the first operand of a call
            place.shared[_TAPE] = self._another_tape()
        if not isinstance(value, Components):
            tensor = self._watched(np.asarray(value), tracked)
            return Operand(tensor, lambda: self._gradient(tensor))
        rows, offsets, regular = lists(value)
        values = self._watched(rows, tracked)
        made = self._tf.RaggedTensor.from_row_splits(values, offsets)
        for number in reversed(range(len(regular))):
            count = len(value) * int(np.prod(regular[:number]))
            made = self._tf.RaggedTensor.from_uniform_row_length(made, regular[number], nrows=count)
        return Operand(made, lambda: _cut(self._gradient(values), value))

    def _another_tape(self) -> Any:
        """Return a tape that records from the first tracked operand on, and let go of the one before."""
        self._stop()
        self._tape, self._pulled = self._tf.GradientTape(persistent=True), ([], [])
        return self._tape

    def _stop(self) -> None:
        if self._tape is not None and self._tape._recording:
            self._tape.__exit__(None, None, None)

    def _watched(self, array: Array, tracked: bool) -> Any:
        tensor = self._tf.constant(array)
        if tracked and not self._tape._recording:
            self._tape.__enter__()
        if tracked:
            self._tape.watch(tensor)
        return tensor

    def _gradient(self, values: Any) -> Array | None:
        found = self._tape.gradient(self._pulled[0], values, output_gradients=self._pulled[1])
        return None if found is None else np.asarray(self._tf.convert_to_tensor(found))

    def other(self, value: Any) -> Any:
        """Translate dtypes; an index is what it holds."""
        if isinstance(value, np.dtype):
            return self._tf.as_dtype(value)
        return in_brackets(value) if isinstance(value, Index) else value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Evaluate the expression of the operator."""
        return TENSORFLOW.call(op, args, kwargs, {"tf": self._tf})

    def read(self, result: Any) -> Any:
        """Return a ragged tensor as components, and any other as an array."""
        if isinstance(result, (list, tuple)):
            return [self.read(one) for one in result]
        if isinstance(result, self._tf.RaggedTensor):
            rows = [self._component(result[number]) for number in range(int(result.nrows()))]
            parts = [one for one in rows if one is not None]
            if len(parts) < len(rows):
                return Described(f"a ragged tensor of components that are ragged themselves: {result.to_list()}")
            return Components(parts, [len(parts), *result.shape[1:]], np.dtype(result.dtype.as_numpy_dtype))
        if isinstance(result, self._tf.Tensor):
            return np.asarray(result)
        return Described(f"a {type(result).__name__}")

    def _component(self, row: Any) -> Array | None:
        """Return a component as an array; one that is itself ragged is none."""
        if not isinstance(row, self._tf.RaggedTensor):
            return np.asarray(row)
        box = row.to_tensor()
        return np.asarray(box) if int(self._tf.size(box)) == int(self._tf.size(row.flat_values)) else None

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Keep what is pulled back, as the values of the results lie; a gradient is computed as it is read."""
        for result, cotangent in zip(results, cotangents, strict=True):
            flat = result.flat_values if isinstance(result, self._tf.RaggedTensor) else result
            pieces = cotangent if isinstance(cotangent, Components) else [np.asarray(cotangent)]
            whole = np.concatenate([np.zeros(0, cotangent.dtype), *(one.reshape(-1) for one in pieces)])
            self._pulled[0].append(flat)
            self._pulled[1].append(self._tf.constant(whole.reshape(flat.shape)))
        self._stop()

    def missing(self, error: Exception) -> bool:
        """Return whether TensorFlow says that it does not have this: no kernel, or none for ragged tensors."""
        unknown = type(error).__name__ == "UnimplementedError" or any(text in str(error) for text in _NO_KERNEL)
        return isinstance(error, NotImplementedError) or unknown


def _cut(rows: Array | None, like: Components) -> Components | None:
    """Return the gradient of the values as components."""
    if rows is None:
        return None
    ends = np.cumsum([one.size for one in like])[:-1]
    pieces = np.split(rows.reshape(-1), ends) if like else []
    shaped = [piece.reshape(one.shape) for piece, one in zip(pieces, like, strict=True)]
    return Components(shaped, like.shape, rows.dtype)


def main() -> None:
    """Answer on stdin and stdout."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow
    except ImportError as error:
        serve(Absent("TensorFlow", "tensorflow-cpu", str(error)))
        return
    tensorflow.get_logger().setLevel("ERROR")
    serve(PythonAdapter(TensorflowTarget(tensorflow)))


if __name__ == "__main__":
    main()
