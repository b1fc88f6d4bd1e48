"""The chapter *elementwise*: arithmetic, activations, and the functions of the tables."""

from . import functions, pairs
from .activations import clamp, gelu, relu, silu
from .arithmetic import abs, add, neg, sgn, sub
from .functions import *  # noqa: F403
from .pairs import *  # noqa: F403

__all__ = ["abs", "add", "clamp", "gelu", "neg", "relu", "sgn", "silu", "sub"]
__all__ += functions.__all__
__all__ += pairs.__all__
