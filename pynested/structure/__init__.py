"""Structure: where each component of a nested array lies in its values, as integers on the host.

A structure is immutable, and valid: what a caller hands over is copied, checked and frozen, so that no kernel can read
outside. Results of operators share the structure of their operands, and with it everything that was worked out about
it; where they need another one, it is derived from what is valid already and not checked again.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, StructureError
from pynested.backends.limits import MOST_DIMENSIONS

from .jagged import Jagged
from .metadata import Ints, frozen, handed_out
from .outlines import merged_axes, numels_of, regular_sizes
from .parts import WHOLE, Part
from .strided import Strided

__all__ = [
    "STRUCTURES", "WHOLE", "Ints", "Jagged", "Part", "Strided", "Structure", "frozen", "handed_out", "merged_axes",
    "misfit", "numels_of", "regular_sizes",
]  # fmt: skip

Structure: TypeAlias = Jagged | Strided
STRUCTURES = frozenset((Jagged, Strided))


def misfit(name: str, data: Any, structure: Any) -> ArgumentError | StructureError:
    """The error for values and a structure that make no nested array."""
    if type(data) is not Array or type(structure) not in STRUCTURES:
        return ArgumentError(
            f"{name}: a nested array is made of an Array and a structure, not of {type(data).__name__} and "
            f"{type(structure).__name__}. Use pn.nested_array([...]), or pn.nested_array_from_jagged(values, offsets)."
        )
    if isinstance(structure, Strided):
        return StructureError(
            f"{name}: the buffer of this structure is flat and contiguous and has {structure.buffer_size} elements; "
            f"the values have shape {data.shape} and strides {data.stride()}."
        )
    at = structure.ragged_dim
    if not at <= data.ndim < MOST_DIMENSIONS:
        return StructureError(
            f"{name}: values of {data.ndim} dimensions make a nested array of {data.ndim + 1}, the batch among them; "
            f"it needs more than {at}, its ragged dimension, and can have {MOST_DIMENSIONS}."
        )
    rows = data.shape[at - 1]
    if structure.lengths is None:
        return StructureError(
            f"{name}: offsets run from 0 to {structure.rows}; without lengths they must run from 0 to the {rows} rows "
            "of values. Slice the values, or give lengths."
        )
    i = int(np.flatnonzero((structure.offsets[:-1] > rows) | (structure.lengths > rows - structure.offsets[:-1]))[0])
    return StructureError(
        f"{name}: component {i} begins at {structure.offsets[i]} and has length {structure.lengths[i]}, which leaves "
        f"the {rows} rows of values."
    )
