"""The methods that dense and nested arrays have in common. Each calls the public function of the same name.

The modules of public functions import `Array`, so the modules here cannot import them. Methods call public functions
through the class attribute ``_ops``, which the import of `pynested` sets to the module `pynested.method_functions`.
The decorator `@methods` lets each method of a class explain a call that does not fit.
"""

from __future__ import annotations

from .python_operators import PythonOperators
from .reduction_methods import ReductionMethods
from .shape_methods import ShapeMethods

__all__ = ["ArrayMethods"]


class ArrayMethods(PythonOperators, ReductionMethods, ShapeMethods):
    """The common base of `Array` and `NestedArray`."""

    __slots__ = ()
