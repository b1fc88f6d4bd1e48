"""Ways to make a nested array: from components, from buffers, from a dense array, or with the shape of an array."""

from .from_buffers import nested_array_from_jagged, nested_array_from_strided
from .from_components import as_nested_array, nested_array
from .from_dense import masked_select, narrow

__all__ = [
    "as_nested_array", "masked_select", "narrow", "nested_array", "nested_array_from_jagged",
    "nested_array_from_strided",
]  # fmt: skip
