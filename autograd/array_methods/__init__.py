"""The methods that dense and nested arrays have in common. Each calls the public function of the same name.

The modules of public functions import `Array`, so the modules here cannot import them. Methods call public functions
through the class attribute ``_ops``, which the import of `pynested` sets to the module `pynested.method_functions`.
The decorator `@methods` lets each method of a class explain a call that does not fit.
"""

from __future__ import annotations

from .python_operators import PythonOperators
from .reduction_methods import MaybeDense, ReductionMethods
from .shape_methods import ShapeMethods

__all__ = ["ArrayMethods"]


class ArrayMethods(PythonOperators[MaybeDense], ReductionMethods[MaybeDense], ShapeMethods[MaybeDense]):
    """The common base of `Array` and `NestedArray`.

    The type parameter is the type of a result that can be dense: Array for Array, NestedArray | Array for NestedArray.
    """

    __slots__ = ()
