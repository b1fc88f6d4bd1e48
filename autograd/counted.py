"""New arrays of evenly spaced numbers."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pynested.backends.dtypes import is_float, promoted
from pynested.backends.errors import ArgumentError
from pynested.backends.limits import MOST_ELEMENTS

from .arguments.operands import canonical_dtype
from .arguments.scalars import Number, canonical_number, check_fits, checked_scalar, number_text, weak_dtype
from .array import Array
from .call_errors import check_flags
from .create import array
from .default_device import chosen_device
from .default_dtype import dtype_of_python
from .dispatch import operator

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)


@operator
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Array:
    """Evenly spaced numbers from ``start`` on, without ``stop``; ``arange(stop)`` begins with 0.

    The dtype is that of the limits, as in NumPy. ArgumentError for limits that are not finite, and a step of 0.
    OverflowError for a dtype that has not all of the numbers, DTypeError for a fraction in a dtype of integers.

    Examples
    --------
    >>> pn.arange(3), pn.arange(0, 1, 0.25)
    (array([0, 1, 2]), array([0.  , 0.25, 0.5 , 0.75]))
    >>> pn.arange(start=5, stop=0, step=-2)
    array([5, 3, 1])
    """
    check_flags("arange", requires_grad=requires_grad)
    limits = (0, start, step) if stop is None else (start, stop, step)
    given = [canonical_number("arange", "a limit", limit) for limit in limits]
    if not all(-math.inf < one < math.inf for one in given) or not given[2]:
        raise ArgumentError(f"arange: limits and step must be finite, and the step not 0; these are {limits}.")
    kind = _common(limits, given) if dtype is None else canonical_dtype(dtype, chosen_device(device))
    wide = _FLOAT64 if is_float(kind) and float in map(type, given) else _INT64
    first, end, by = (checked_scalar("arange", one, wide).item() for one in given)
    steps = (end - first) / by if wide is _FLOAT64 else -((first - end) // by)
    if steps > MOST_ELEMENTS or abs(end - first) == math.inf:
        raise ArgumentError(
            f"arange: from {number_text(first)} to {number_text(end)} there are more numbers than fit anywhere."
        )
    numbers = first + by * np.arange(max(0, math.ceil(steps)), dtype=wide)
    if kind != wide:
        check_fits("arange", numbers, kind)
        for one in numbers[[0, -1]] if numbers.size and is_float(kind) else ():
            checked_scalar("arange", one, kind)
    return array(numbers, dtype=kind, device=device, requires_grad=requires_grad, copy=False)


def _common(limits: tuple[Any, ...], given: list[Number]) -> np.dtype[Any]:
    """The dtype of the limits: that of NumPy's scalars among them, beside which Python's numbers are weak."""
    own = [limit.dtype for limit in limits if isinstance(limit, np.generic)]
    common = reduce(lambda common, one: weak_dtype(one, common), given, promoted(*own) if own else _INT64)
    return dtype_of_python(limits, common)
