"""What operators take and give, for type checkers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import EllipsisType
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from pynested.autograd import Array

from .array import NestedArray

Dense: TypeAlias = Array | np.ndarray[Any, Any]
Plain: TypeAlias = Dense | np.generic | float  # a float, an int or a bool
Operand: TypeAlias = NestedArray | Plain
DType: TypeAlias = DTypeLike
IntsLike: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]] | Dense
Components: TypeAlias = NestedArray | Dense | Iterable[Any]
Entry: TypeAlias = int | slice | EllipsisType | None
Picked: TypeAlias = Sequence[int] | Sequence[bool] | Dense  # places, or a mask
Index: TypeAlias = Entry | Picked | NestedArray | tuple[Entry | Picked, ...]
Dims: TypeAlias = int | tuple[int, ...] | None

Joined: TypeAlias = NestedArray | Array  # nested where an operand is

Kind = TypeVar("Kind", NestedArray, Array)  # nested gives nested, dense gives dense

__all__ = ["Components", "DType", "Dense", "Dims", "Index", "IntsLike", "Joined", "Kind", "Operand", "Plain"]
