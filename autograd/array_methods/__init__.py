"""The methods that dense and nested arrays have in common. Each calls the public function of the same name.

The modules of public functions import `Array`, so the modules here cannot import them. Methods call public functions
through the class attribute ``_functions``: the module `pynested.method_functions`, once `pynested` is imported. A
method does not check its arguments: the public function does.
"""

from __future__ import annotations

from .python_operators import PythonOperators
from .reduction_methods import ReductionMethods
from .shape_methods import ShapeMethods

__all__ = ["ArrayMethods"]


class ArrayMethods(PythonOperators, ReductionMethods, ShapeMethods):
    """The common base of `Array` and `NestedArray`."""

    __slots__ = ()
