"""Exchange with tensors and ragged tensors of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.decorators import operator
from pynested.backends.errors import ExchangeError
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged

from .exchange_checks import (
    TO_TENSORFLOW,
    check_exportable,
    check_known_dtype,
    check_may_copy,
    import_optional,
    values_for_export,
    values_for_import,
)
from .list_arrays import NestedLists, from_lists, level_from_offsets, to_lists


@operator
def from_tensorflow(tensor: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """Convert a tensor or a ragged tensor, in its memory, read-only; one ragged level becomes jagged ``(B, *, D)``.

    A tensor is eager, and holds numbers or bools. Several ragged levels become a strided array if every component is a
    rectangle. ExchangeError for an object that is not a tensor, and for strings.

    >>> import tensorflow as tf  # doctest: +SKIP
    >>> pn.from_tensorflow(tf.ragged.constant([[1, 2], [3]])).offsets()  # doctest: +SKIP
    array([0, 2, 3])
    """
    check_optional_flags("from_tensorflow", copy=copy)
    tf = import_optional("from_tensorflow", "tensorflow", "tensorflow-cpu")
    if isinstance(tensor, tf.RaggedTensor):
        levels = tuple(level_from_offsets(splits.numpy())[0] for splits in tensor.nested_row_splits)
        lists = NestedLists(levels, _memory_of(tensor.flat_values), levels[0].count)
        return from_lists("from_tensorflow", lists, copy)
    if not (tf.is_tensor(tensor) and hasattr(tensor, "numpy")):
        raise ExchangeError(f"from_tensorflow: takes an eager tensor or a ragged tensor, not {type(tensor).__name__}.")
    return Array.from_memory(values_for_import("from_tensorflow", _memory_of(tensor), copy))


def _memory_of(tensor: Any) -> Any:
    """Return the memory of an eager tensor as a NumPy array. ``tensor.numpy()`` would copy it."""
    if tensor.dtype == "string":
        raise ExchangeError("from_tensorflow: strings are not numbers.")
    check_known_dtype("from_tensorflow", tensor.dtype.name)
    values = np.asarray(memoryview(tensor))
    values.flags.writeable = False
    return values


@operator
def to_tensorflow(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """Convert to a ragged tensor in shared memory, one ragged level for each dimension up to the last irregular one.

    A dense array becomes a tensor. Values with gaps, components that are not contiguous, read-only memory, and memory
    that is not aligned to 64 bytes are copied.

    >>> pn.to_tensorflow(pn.nested_array([[1, 2], [3]], layout=pn.jagged))  # doctest: +SKIP
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    check_exportable("to_tensorflow", x, copy)
    tf = import_optional("to_tensorflow", "tensorflow", "tensorflow-cpu")
    if isinstance(x, Array):
        return _tensor(tf, values_for_export(TO_TENSORFLOW, x, copy))
    if not x.structure.is_packed:
        check_may_copy("to_tensorflow", copy, "a ragged tensor has no gaps")
        x = x.contiguous()
    lists = to_lists(TO_TENSORFLOW, x, copy)
    result = _tensor(tf, lists.content)
    for level in reversed(lists.levels):
        if isinstance(level, Jagged):
            result = tf.RaggedTensor.from_row_splits(result, level.offsets, validate=False)
        else:
            result = tf.RaggedTensor.from_uniform_row_length(result, level)
    return result


def _tensor(tf: Any, values: Any) -> Any:
    if not values.size:
        return tf.constant(values)
    return tf.experimental.dlpack.from_dlpack(values.__dlpack__())
