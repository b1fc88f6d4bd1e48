"""The methods that dense and nested arrays have in common. Each calls the public function of the same name.

Public functions stand above `Array`, which they take and return. So methods call them through the class attribute
``_ops``, which is the module `pynested.method_functions` once `pynested` is imported.
"""

from __future__ import annotations

from .element_methods import ElementMethods
from .fill_methods import FillMethods
from .in_place import InPlaceMethods
from .operator_methods import OperatorMethods
from .python_operators import PythonOperators, Reduced
from .reduction_methods import ReductionMethods
from .shape_methods import ShapeMethods

__all__ = ["ArrayMethods"]


class ArrayMethods(
    PythonOperators[Reduced],
    ElementMethods,
    OperatorMethods[Reduced],
    ReductionMethods[Reduced],
    ShapeMethods[Reduced],
    InPlaceMethods,
    FillMethods,
):
    """The common base of `Array` and `NestedArray`.

    The type parameter is the class of what a reduction returns: Array for a dense array, either for a nested one.
    """

    __slots__ = ()
