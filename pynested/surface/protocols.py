"""What Python and NumPy ask of both classes, and of a nested array; and where both get their methods."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from pynested import operators
from pynested.autograd import Array
from pynested.autograd.any_array import AnyArray
from pynested.autograd.equip import equip
from pynested.autograd.protocols import refuse_numpy_ma
from pynested.backends.errors import ArgumentError, GradientError
from pynested.components.packing import as_dense, as_gradient, compact, contiguous
from pynested.nested.array import NestedArray
from pynested.nested.show import as_text
from pynested.operators.writing import overwrite

from . import numpy_functions
from .derived import in_place, methods, signs
from .methods import DenseMethods, Methods, NestedMethods, binary
from .missing import say_what_is_missing, without_missing
from .ufuncs import as_scalars, refused_ufunc, ufuncs


class Protocols(Methods):
    """The special methods of both classes that are not operators."""

    __slots__ = ()
    __array_priority__ = 100.0

    def __dir__(self) -> list[str]:
        return without_missing(type(self), object.__dir__(self))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        function = _UFUNCS.get(ufunc)
        if function is None or method != "__call__" or options:
            raise refused_ufunc(ufunc, method, options, any(type(x) is NestedArray for x in inputs))
        return function(*as_scalars(inputs))

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        return numpy_functions.call(function, types, inputs, options)


class NestedProtocols(NestedMethods):
    """Those of a nested array alone."""

    __slots__ = ()
    __hash__ = object.__hash__
    _data = property(refuse_numpy_ma)

    def __bool__(self) -> bool:
        raise ArgumentError("bool: the truth of a nested array is ambiguous; ask of one element, or use pn.equal.")

    def __round__(self: Any) -> NestedArray:
        return operators.round(self)  # type: ignore[no-any-return]

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        made = as_dense("array", self)
        copied = made.storage is not self.data.storage
        if copy is False and copied and made.numel():
            raise ArgumentError("array: the components of this nested array need a copy to become one dense array.")
        return np.array(made.numpy(), dtype=dtype, copy=None if copied else copy)

    def __repr__(self: Any) -> str:
        return as_text(self)

    def __reduce__(self: Any) -> Any:
        detached = self.detach()
        kept = compact(detached)
        if kept is detached:
            return type(self), (self.data, self.structure)
        if self.is_leaf:
            kept.data.requires_grad = self.requires_grad
        return _unpickled, (type(self), kept.data, kept.structure)

    def __copy__(self: Any) -> NestedArray:
        return type(self)(self.data, self.structure)  # type: ignore[no-any-return]

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> NestedArray:
        if self.data.line is not None:
            raise GradientError("deepcopy: only leaves can be copied so; use x.detach().clone() for the values.")
        make, parts = self.__reduce__()
        return make(*[deepcopy(part, memo) for part in parts])  # type: ignore[no-any-return]

    def _as_gradient(self: Any, name: str, value: Any) -> Array:
        """The values of a gradient of this shape, in this placement."""
        return as_gradient(name, value, self)


def _unpickled(kind: Any, data: Array, structure: Any) -> NestedArray:
    """A nested array of what was stored of it, which may have dimensions of stride 0."""
    kept = contiguous(kind(data.detach(), structure))
    kept.data.requires_grad = data.requires_grad
    return kept


_FUNCTIONS = {name: getattr(operators, name) for name in operators.__all__}
_UFUNCS = ufuncs(_FUNCTIONS)
_WRITTEN = in_place(_FUNCTIONS, overwrite)

equip(AnyArray, methods(_FUNCTIONS), signs(_FUNCTIONS, binary, _WRITTEN), _WRITTEN, vars(Methods), vars(Protocols))
equip(NestedArray, vars(NestedMethods), vars(NestedProtocols))
equip(Array, vars(DenseMethods))
for _kind in (Array, NestedArray):
    say_what_is_missing(_kind)
