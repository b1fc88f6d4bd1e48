"""Exchange with NumPy: dense arrays, and object arrays with one entry for each component."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.decorators import operator
from pynested.backends.errors import ExchangeError, GradientError, StructureError
from pynested.construct import nested_array
from pynested.nested.nested_array import NestedArray
from pynested.structure.layout import Layout, canonical_layout

from .exchange_checks import TO_NUMPY, check_exportable, check_may_copy, values_for_export, values_for_import


@operator
def from_numpy(array: NDArray[Any], *, layout: Layout | None = None, copy: bool | None = None) -> NestedArray | Array:
    """Convert a NumPy array: a dense array shares its memory, an object array becomes ``(B, *, D)``.

    A dense array holds numbers, and is copied if its byte order is not native. The entries of a one-dimensional object
    array are the components: arrays or lists of numbers, which are copied into one buffer. `pynested.nested_array`
    converts a list of arrays.

    Parameters
    ----------
    layout : Layout, optional
        The layout of the result for an object array: `strided`, the default, or `jagged`.

    Raises
    ------
    ExchangeError
        For an object that is not a NumPy array, for an object array of other than one dimension, and for a component
        that is None.
    GradientError
        For a component that requires grad.
    StructureError
        For the layout of a dense array.

    Examples
    --------
    >>> import numpy as np
    >>> ragged = np.array([np.ones(2), np.ones(1)], dtype=object)
    >>> pn.from_numpy(ragged).component_sizes()
    array([[2],
           [1]])
    """
    check_optional_flags("from_numpy", copy=copy)
    if not isinstance(array, np.ndarray):
        raise ExchangeError(f"from_numpy: takes an array of NumPy, not {type(array).__name__}. Use pn.nested_array.")
    if array.dtype != object:
        if layout is not None:
            raise StructureError("from_numpy: a dense array has no nested layout; use pn.as_nested_array(x, layout=…).")
        return Array.from_memory(values_for_import("from_numpy", array, copy))
    if array.ndim != 1:
        raise ExchangeError(f"from_numpy: an object array of components must have one dimension, not {array.ndim}.")
    for i, component in enumerate(array):
        if component is None:
            raise ExchangeError(f"from_numpy: component {i} is None. Drop it, or put an empty array there.")
        if getattr(component, "requires_grad", False):
            raise GradientError(f"from_numpy: component {i} requires grad. Use pn.as_nested_array, or detach it.")
    check_may_copy("from_numpy", copy, "the components of an object array lie apart")
    components = [
        values_for_import("from_numpy", component, None) if isinstance(component, np.ndarray) else component
        for component in array
    ]
    return nested_array(components, layout=canonical_layout("from_numpy", layout))


@operator
def to_numpy(x: NestedArray | Array, *, copy: bool | None = None) -> NDArray[Any]:
    """Convert to a NumPy array in shared memory: a nested array becomes an object array ``(B,)`` of its components.

    An array that is not on the CPU is copied.

    >>> pn.to_numpy(pn.nested_array([[1, 2], [3]]))
    array([array([1, 2]), array([3])], dtype=object)
    """
    check_exportable("to_numpy", x, copy)
    if isinstance(x, Array):
        return values_for_export(TO_NUMPY, x, copy)
    components = np.empty(len(x), dtype=object)
    for i, component in enumerate(x.unbind()):
        components[i] = values_for_export(TO_NUMPY, component, copy)
    return components
