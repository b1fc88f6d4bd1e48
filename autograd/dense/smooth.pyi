# Generated from pynested.autograd.rules.functions by python -m pynested.stubs.
from typing import Any

from ..array import Array

__all__ = [
    "erf",
    "exp",
    "log",
    "sin",
    "sqrt",
    "tanh",
]

def erf(self: Any) -> Array: ...
def exp(self: Any) -> Array: ...
def log(self: Any) -> Array: ...
def sin(self: Any) -> Array: ...
def sqrt(self: Any) -> Array: ...
def tanh(self: Any) -> Array: ...
