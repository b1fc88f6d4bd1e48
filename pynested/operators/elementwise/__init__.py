"""The chapter *elementwise*: arithmetic, and functions of one element."""

from .arithmetic import abs, add, div, mul, neg, sgn, sub
from .functions import exp, gelu, log, relu, silu, sin, tanh

__all__ = ["abs", "add", "div", "exp", "gelu", "log", "mul", "neg", "relu", "sgn", "silu", "sin", "sub", "tanh"]
