"""Base class of the two structures, and the result of indexing one: `IndexedStructure`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

import numpy as np

from pynested.backends.errors import ReadOnlyError

from .extents import Ints

if TYPE_CHECKING:
    from . import Structure

FULL_SLICE = slice(None)


class ImmutableStructure:
    """Base of the two structures. Many arrays share a structure, so no attribute can be set or deleted.

    A copy is the object itself. Unpickling validates the fields as the constructor does. Only constructors, cached
    properties and methods that return a new structure write attributes, through ``__dict__``.
    """

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise ReadOnlyError(
            f"{type(self).__name__}.{name}: a structure cannot be changed, as other arrays may share it. Make a new "
            "structure."
        )

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class IndexedStructure(NamedTuple):
    """Result of indexing a structure: the new structure, and the index of the new values along an axis of the old ones.

    The new values are a view if ``values_index`` is a slice, a view without the axis if ``values_index`` is an integer,
    and a copy if ``values_index`` is an index array.
    """

    structure: Structure
    axis: int = 0
    values_index: slice | int | Ints = FULL_SLICE


def resolve_slice(index: slice, sizes: Ints) -> tuple[Ints, Ints, int]:
    """Return the start and the length of ``index`` in sequences of these sizes, and its step; size -1 is unknown."""
    step = index.indices(0)[2]
    start_and_length_by_size = {-1: (0, -1)}
    for size in np.unique(sizes).tolist():
        if size >= 0:
            start, stop, _ = index.indices(size)
            start_and_length_by_size[size] = (start, len(range(start, stop, step)))
    pairs = np.array([start_and_length_by_size[size] for size in sizes.tolist()], np.int64).reshape(len(sizes), 2)
    starts, lengths = pairs[:, 0], pairs[:, 1]
    # Every step that is at least the longest size selects one entry. Larger steps are replaced, as they could overflow.
    longest = max(*start_and_length_by_size, 1)
    step = min(max(step, -longest), longest)
    return np.where(lengths > 0, starts, 0), lengths, step
