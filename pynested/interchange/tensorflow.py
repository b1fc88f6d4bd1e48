"""TensorFlow's tensors and ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ExchangeError
from pynested.nested.nested_array import NestedArray

from .levels import array_of, lists_of
from .lists import Level, Lists, library, tight, untracked
from .receivers import TENSORFLOW, accepted_values, check_known_dtype, must_copy, received_values


@operator
def from_tensorflow(tensor: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """A tensor, or a ragged tensor, in the same memory, which is read-only: one ragged level is jagged ``(B, *, D)``.

    Parameters
    ----------
    tensor : tensorflow.RaggedTensor or eager tensorflow.Tensor
        Of numbers or bools. Several levels are a strided array, if every component is a rectangle.
    copy : bool, optional
        True copies always; nothing else needs one.

    Raises
    ------
    ExchangeError
        For what is neither, and for strings.
    StructureError
        For a component that is no rectangle.
    DTypeError
        For a dtype that pynested does not have.
    MissingDependency
        Where TensorFlow is not installed.

    Examples
    --------
    >>> import tensorflow as tf  # doctest: +SKIP
    >>> pn.from_tensorflow(tf.ragged.constant([[1, 2], [3]])).offsets()  # doctest: +SKIP
    array([0, 2, 3])
    """
    check_optional_flags("from_tensorflow", copy=copy)
    tf = library("from_tensorflow", "tensorflow", "tensorflow-cpu")
    if isinstance(tensor, tf.RaggedTensor):
        levels = tuple(tight(splits.numpy())[0] for splits in tensor.nested_row_splits)
        return array_of("from_tensorflow", Lists(levels, _seen(tensor.flat_values), len(levels[0].counted)), copy)
    if not hasattr(tensor, "numpy"):
        raise ExchangeError(f"from_tensorflow: {type(tensor).__name__} is no eager tensor and no ragged one.")
    seen = _seen(tensor)
    return Array.over(received_values("from_tensorflow", seen, copy))


def _seen(tensor: Any) -> Any:
    """The memory of an eager tensor; `numpy` would copy it."""
    if tensor.dtype == "string":
        raise ExchangeError("from_tensorflow: strings are no numbers.")
    check_known_dtype("from_tensorflow", tensor.dtype.name)
    seen = np.asarray(memoryview(tensor))
    seen.flags.writeable = False
    return seen


@operator
def to_tensorflow(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """A ragged tensor in the memory of ``x``, with one level for each dimension up to the last irregular one.

    Parameters
    ----------
    x : NestedArray or Array
        A ragged tensor has no holes: an array with holes is packed. Dense arrays are tensors.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always.

    Raises
    ------
    GradientError
        For an array that requires grad; ``detach`` it.
    ExchangeError
        For ``copy=False`` where there are holes, or the elements of a component do not lie one after another, and for
        memory that is read-only, or not aligned to the 64 bytes that the operators of TensorFlow need.

    Examples
    --------
    >>> pn.to_tensorflow(pn.nested_array([[1, 2], [3]], layout=pn.jagged))  # doctest: +SKIP
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    check_optional_flags("to_tensorflow", copy=copy)
    name = "to_tensorflow"
    tf = library(name, "tensorflow", "tensorflow-cpu")
    untracked(name, x)
    if isinstance(x, Array):
        return _tensor(tf, accepted_values(TENSORFLOW, x, copy))
    if not x.structure.is_packed:
        must_copy(name, copy, "a ragged tensor has no holes")
        x = x.contiguous()
    lists = lists_of(TENSORFLOW, x, copy)
    made = _tensor(tf, lists.content)
    for level in reversed(lists.levels):
        if isinstance(level, Level):
            made = tf.RaggedTensor.from_row_splits(made, level.offsets, validate=False)
        else:
            made = tf.RaggedTensor.from_uniform_row_length(made, level)
    return made


def _tensor(tf: Any, values: Any) -> Any:
    if not values.size:
        return tf.constant(values)
    return tf.experimental.dlpack.from_dlpack(values.__dlpack__())
