"""NumPy's object arrays: one array for each component."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ExchangeError
from pynested.construct import nested_array
from pynested.nested.nested_array import NestedArray
from pynested.structure.layout import Layout

from .lists import untracked
from .receivers import NUMPY, accepted_values, must_copy, received_values


@operator
def from_numpy(array: NDArray[Any], *, layout: Layout | None = None, copy: bool | None = None) -> NestedArray | Array:
    """A dense array in the memory of ``array``; of an object array the components, copied into one buffer.

    Parameters
    ----------
    array : ndarray
        Of numbers; or of objects, with one dimension, whose entries are arrays or lists of numbers. For a list of them
        see `pynested.nested_array`.
    layout : Layout, optional
        Of what becomes of an object array: `strided`, the default, or `jagged`.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always. Components of an object array, and
        numbers in another byte order, are copied.

    Raises
    ------
    ExchangeError
        For what is no array of NumPy, an object array with more dimensions, a component that is None, and for
        ``copy=False`` where a copy is needed.
    DTypeError
        For a dtype that pynested does not have.

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
        raise ExchangeError(
            f"from_numpy: {type(array).__name__} is no array of NumPy. Take pn.array, or pn.nested_array for a list of "
            "components."
        )
    if array.dtype != object:
        return Array.over(received_values("from_numpy", array, copy))
    if array.ndim != 1:
        raise ExchangeError(f"from_numpy: an object array has one dimension, not {array.ndim}: one entry a component.")
    missing = [i for i, one in enumerate(array) if one is None]
    if missing:
        raise ExchangeError(f"from_numpy: component {missing[0]} is None. Drop it, or put an empty array there.")
    must_copy("from_numpy", copy, "the components of an object array lie apart")
    components = [received_values("from_numpy", one, None) if isinstance(one, np.ndarray) else one for one in array]
    return nested_array(components, layout=layout)


@operator
def to_numpy(x: NestedArray | Array, *, copy: bool | None = None) -> NDArray[Any]:
    """The memory of a dense array; of a nested one an object array of one dimension, with a view of each component.

    Parameters
    ----------
    x : NestedArray or Array
        Of either layout.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always.

    Raises
    ------
    GradientError
        For an array that requires grad; ``detach`` it.
    ExchangeError
        For ``copy=False`` and an array on another device.

    Examples
    --------
    >>> pn.to_numpy(pn.nested_array([[1, 2], [3]]))
    array([array([1, 2]), array([3])], dtype=object)
    """
    check_optional_flags("to_numpy", copy=copy)
    untracked("to_numpy", x)
    if isinstance(x, Array):
        return accepted_values(NUMPY, x, copy)
    made = np.empty(len(x), dtype=object)
    for i, component in enumerate(x.unbind()):
        made[i] = accepted_values(NUMPY, component, copy)
    return made
