"""Structures: the placement of each component of a nested array in its values, as integers on the host.

A structure is immutable and valid. Integers from a caller are copied, validated and made read-only, so that no kernel
can read outside the values. Results of operators share the structure of their operands, with all properties that are
cached on it. A structure that is computed from a valid one is not validated again.
"""

from __future__ import annotations

from typing import TypeAlias

from .base import FULL_SLICE, StructureView
from .extents import Ints, as_frozen, component_numels, merge_axes, readonly_copy, regular_sizes
from .jagged import Jagged
from .strided import Strided

__all__ = [
    "FULL_SLICE", "STRUCTURES", "Ints", "Jagged", "Strided", "Structure", "StructureView", "as_frozen",
    "component_numels", "merge_axes", "readonly_copy", "regular_sizes",
]  # fmt: skip

Structure: TypeAlias = Jagged | Strided
STRUCTURES = frozenset((Jagged, Strided))
