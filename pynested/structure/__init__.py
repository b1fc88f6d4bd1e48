"""Structures: the placement of each component of a nested array in its values, as integers on the host.

A structure is immutable and valid. Integers from a caller are copied, validated and made read-only, so that no kernel
can read outside the values. If possible, the result of an operator has the same structure object as its operand, and
so the same cached properties. A structure that is computed from a valid structure is not validated again.

Words of this package:

- An *axis* is a dimension of the components: axis 0 is dimension 1 of the nested array.
- A dimension is *regular* if all components have the same size along it, else *irregular*.
- The *ragged dimension* is the dimension along which the components of the jagged layout follow each other.
- The *extents* are the sizes of all components as one table (see `extents`).
- Values are *packed* if each of their elements belongs to exactly one component.
- A *canonical* dimension or index is counted from the front, 0 or more.
"""

from __future__ import annotations

from typing import TypeAlias

from .base import FULL_SLICE, IndexedStructure
from .extents import Ints, as_readonly, component_numels, merge_axes, readonly_copy, regular_sizes
from .jagged import Jagged
from .strided import Strided

__all__ = [
    "FULL_SLICE", "STRUCTURES", "IndexedStructure", "Ints", "Jagged", "Strided", "Structure", "as_readonly",
    "component_numels", "merge_axes", "readonly_copy", "regular_sizes",
]  # fmt: skip

Structure: TypeAlias = Jagged | Strided
STRUCTURES = frozenset((Jagged, Strided))
