"""The definition of `bmm`."""

from __future__ import annotations

from typing import Any

from .matmul import matmul


def bmm(self: Any, mat2: Any) -> Any:
    """BMM: the matrix product of component i with component, or slice, i."""
    return matmul(self, mat2)
