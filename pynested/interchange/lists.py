"""Lists within lists, as Arrow, awkward and TensorFlow hold ragged arrays; and what every exchange has to ask."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, GradientError, MissingDependency, named_type
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints

from .receivers import must_copy


@dataclass(frozen=True)
class Level:
    """Lists in what lies below: list ``i`` begins at ``offsets[i]``.

    Attributes
    ----------
    offsets : int64 (n + 1,)
    lengths : int64 (n,) or None
        Where there are none, list ``i`` ends where the next one begins.
    """

    offsets: Ints
    lengths: Ints | None = None

    @property
    def counted(self) -> Ints:
        """The length of each list."""
        return np.diff(self.offsets) if self.lengths is None else self.lengths

    @property
    def rows(self) -> int:
        """How many rows of what lies below the lists reach over."""
        return int((self.offsets[:-1] + self.counted).max(initial=0))


@dataclass(frozen=True)
class Lists:
    """An array as lists within lists: levels from the outermost on, a number where all lists have that length."""

    levels: tuple[Level | int, ...]
    content: NDArray[Any]  # the rows of the innermost lists
    count: int  # of the outermost entries


def tight(offsets: Any) -> tuple[Level, slice]:
    """A level of lists that follow one another, counted from the first on, and which part of the content it takes."""
    starts = np.asarray(offsets).astype(np.int64)
    first, last = (int(starts[0]), int(starts[-1])) if starts.size else (0, 0)
    return Level(starts - first if starts.size else np.zeros(1, np.int64)), slice(first, last)


def anywhere(starts: Any, lengths: Any) -> Level:
    """A level of lists that lie anywhere in the content."""
    counted = np.asarray(lengths).astype(np.int64)
    begins = np.where(counted > 0, np.asarray(starts), 0).astype(np.int64)
    return Level(np.append(begins, 0), counted)


def library(name: str, package: str, installed_as: str | None = None) -> Any:
    """The module of another library, which is imported only now."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingDependency(
            f"{name}: {package} is not installed. Install it: pip install {installed_as or package}."
        ) from None


def untracked(name: str, x: Array | NestedArray) -> None:
    """Refuse what is no array, and an array whose gradients would be lost."""
    if not isinstance(x, Array | NestedArray):
        raise ArgumentError(
            f"{name}: takes an array of pynested, not {named_type(x)}. Make one of it: pn.array(x), or "
            "pn.nested_array(x)."
        )
    if x.requires_grad:
        raise GradientError(
            f"{name}: this array requires grad, and gradients do not cross to another library. Say so: "
            f"{name}(x.detach())."
        )


def contiguous(name: str, values: NDArray[Any], copy: bool | None) -> NDArray[Any]:
    """``values`` in C order, copied where they are not."""
    if not values.flags.c_contiguous:
        must_copy(name, copy, f"values of strides {values.strides} are not in C order")
    return np.ascontiguousarray(values)
