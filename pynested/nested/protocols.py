"""What Python and NumPy ask of a nested array: iteration, truth, printing, pickling, NumPy's protocols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pynested import operators
from pynested.autograd import Array
from pynested.autograd.equip import complete
from pynested.autograd.missing import without_missing
from pynested.autograd.protocols import as_scalars, refuse_numpy_ma, refused_ufunc
from pynested.backends.errors import ArgumentError
from pynested.components.packing import as_dense, as_gradient
from pynested.operators.writing import overwrite

from .array import NestedArray
from .methods import Methods, binary
from .numpy_functions import call
from .show import as_text


class Protocols(Methods):
    """The special methods that are not operators."""

    __slots__ = ()
    __array_priority__ = 200.0
    __hash__ = object.__hash__
    _data = property(refuse_numpy_ma)

    def __dir__(self) -> list[str]:
        return without_missing(type(self), object.__dir__(self))

    def __contains__(self, value: Any) -> bool:
        return bool(self.eq(value).any())

    def __iter__(self) -> Iterator[Array]:
        return iter(self.unbind())

    def __bool__(self) -> bool:
        raise ArgumentError("bool: the truth of a nested array is ambiguous; ask of one element, or use pn.equal.")

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        made = as_dense("array", self)
        copied = made.storage is not self.data.storage
        if copy is False and copied and made.numel():
            raise ArgumentError("array: the components of this nested array need a copy to become one dense array.")
        return np.array(made.numpy(), dtype=dtype, copy=None if copied else copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        function = _UFUNCS.get(ufunc)
        if function is None or method != "__call__" or options:
            instead = "pn.map_components(lambda component: pn.array(np.{}(component.numpy())), x)"
            raise refused_ufunc(ufunc, method, options, instead)
        return function(*as_scalars(inputs))

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        return call(function, inputs, options)

    def __repr__(self: Any) -> str:
        return as_text(self)

    def __reduce__(self: Any) -> Any:
        return type(self), (self.data, self.structure)

    def _as_gradient(self: Any, name: str, value: Any) -> Array:
        """The values of a gradient of this shape, in this placement."""
        return as_gradient(name, value, self)


_UFUNCS = complete(NestedArray, operators, binary, overwrite, Methods, Protocols)
