# Generated from pynested.autograd.dense.reduction and runwise by python -m pynested.stubs.
from collections.abc import Callable
from typing import Any

from pynested.nested.operands import DType, Kind

__all__ = [
    "softmax",
    "log_softmax",
    "softmin",
    "cumsum",
]

NUMPY: dict[Any, Callable[..., Any]]

def softmax(self: Kind, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Kind: ...
def log_softmax(self: Kind, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Kind: ...
def softmin(self: Kind, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Kind: ...
def cumsum(self: Kind, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Kind: ...
