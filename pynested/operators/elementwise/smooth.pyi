# Generated from pynested.autograd.rules.functions by python -m pynested.stubs.
from pynested.operands import Kind

__all__ = [
    "exp",
    "log",
    "sin",
    "tanh",
]

def exp(self: Kind) -> Kind: ...
def log(self: Kind) -> Kind: ...
def sin(self: Kind) -> Kind: ...
def tanh(self: Kind) -> Kind: ...
