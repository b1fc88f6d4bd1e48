"""One side of a comparison, whatever library it comes from: dense arrays of NumPy, components of these, or a list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, named_type
from pynested.nested.nested_array import NestedArray


@dataclass(frozen=True)
class Dense:
    """An array in the memory of the host; ``dtype`` is that of its owner, or empty for Python numbers."""

    values: NDArray[Any]
    dtype: str


@dataclass(frozen=True)
class Nest:
    """The components of a nested array, and its shape with None where a size is not known or irregular."""

    components: Sequence[Dense]
    dtype: str
    shape: tuple[int | None, ...]

    @classmethod
    def of_list(cls, values: Sequence[Any], other: Nest) -> Nest:
        """Return a list of components; where it has none it says no more than that."""
        components = [_component(one) for one in values]
        dtypes = {one.dtype for one in components}
        dtype = dtypes.pop() if len(dtypes) == 1 else "" if not dtypes else " and ".join(sorted(dtypes))
        return cls(components, dtype, (0, *other.shape[1:]))


@dataclass(frozen=True)
class Several:
    """A list of ``count`` operands; ``sides`` has as many as the other list has too."""

    count: int
    sides: Sequence[Side]


Side = Dense | Nest | Several


def is_number(value: Any) -> bool:
    """Return whether a value is one of Python's numbers, which have no dtype of their own."""
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def side_of(value: Any, weak: bool = False) -> Dense | Nest:
    """Return a nested or a dense array as a side; ``weak`` for numbers that have no dtype of their own."""
    if isinstance(value, NestedArray):
        sizes = tuple(value.regular_size(dim) for dim in range(value.ndim))
        return Nest([_of_ours(one, value.dtype.name) for one in value.unbind()], value.dtype.name, sizes)
    if isinstance(value, Array):
        return _of_ours(value, value.dtype.name)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(value)
    if is_number(value):
        return Dense(np.asarray(value), "")
    if isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "biufcV":
        array = np.asarray(value)
        return Dense(array, "" if weak else array.dtype.name)
    given = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else named_type(value)
    raise ArgumentError(
        f"assert_close: compares arrays of pynested, NumPy and PyTorch, numbers and lists; not {given}."
    )


def dense_of_list(which: str, values: Sequence[Any]) -> Dense:
    """Return a list as the dense array that stands beside another one."""
    try:
        sides = [_component(one) for one in values]
        array = np.stack([one.values for one in sides]) if sides else np.zeros(0)
    except ValueError as error:
        text = f"{which} is a list whose entries differ in shape, and stands beside a dense array."
        raise AssertionError(f"assert_close: {text} Compare it with a nested array or a list.") from error
    return Dense(array, next((one.dtype for one in sides), ""))


def _component(value: Any) -> Dense:
    """Return an entry of a list, which must be dense; a list in it is numbers."""
    if isinstance(value, (list, tuple)):
        return Dense(np.array(value, None if value else np.float64), "")
    side = side_of(value)
    if isinstance(side, Nest):
        raise AssertionError("assert_close: a list that holds nested arrays stands beside a single array.")
    return side


def _of_ours(value: Array, dtype: str) -> Dense:
    return Dense(value.detach().to("cpu").numpy(), dtype)


def _of_torch(tensor: Any) -> Dense | Nest:
    """Return a tensor; NumPy has no bfloat16, and float32 holds all of its numbers."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if tensor.is_nested:
        sizes = tensor.shape if "jagged" in str(tensor.layout) else (tensor.size(0),)
        shape = tuple(size if type(size) is int else None for size in sizes)
        return Nest([_dense(one, dtype) for one in tensor.unbind()], dtype, shape)
    return _dense(tensor, dtype)


def _dense(tensor: Any, dtype: str) -> Dense:
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    return Dense((plain.float() if dtype == "bfloat16" else plain).numpy(), dtype)
