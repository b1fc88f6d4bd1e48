"""The chapter *elementwise*: arithmetic, and functions of one element."""

from . import smooth
from .arithmetic import abs, add, div, maximum, minimum, mul, neg, sgn, sub
from .functions import clamp, gelu, relu, silu
from .smooth import *  # noqa: F403

__all__ = ["abs", "add", "clamp", "div", "gelu", "maximum", "minimum", "mul", "neg", "relu", "sgn", "silu", "sub"]
__all__ += smooth.__all__
