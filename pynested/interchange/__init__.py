"""Nested arrays to other libraries and back, in the same memory wherever it can be shared.

A pair of functions for each library: `from_torch` and `to_torch`, and so on. None of the libraries is imported before
its function is called. A reader starts with `lists`, lists within lists, which Arrow, awkward and TensorFlow hold;
`levels` makes them of a nested array and back; then comes one short module for each library, and `files`.

What holds for all of them:

- ``copy=None`` shares memory where it can and copies where it must; ``copy=False`` is refused where it must, with the
  reason; ``copy=True`` always copies. A write is seen on both sides where memory is shared. Memory that the other
  side cannot write to is read-only here.
- What says where components lie is small, and copied: nobody else can change the structure of an array.
- Gradients stay behind: what requires grad is refused, until ``detach()`` says so.
- Nothing is lost silently: a missing value, a string, a dtype that pynested does not have, and lists whose components
  are no rectangles are refused, with the place. One thing lists cannot say: a component without a list does not tell
  how long its lists would be. ``(0, 5)`` comes back as ``(0, 0)`` where that dimension is irregular.
"""

from __future__ import annotations

from .arrow import from_arrow, to_arrow
from .awkward import from_awkward, to_awkward
from .files import load, save
from .jax import from_jax, to_jax
from .numpy import from_numpy, to_numpy
from .pandas import from_pandas, to_pandas
from .sparse import from_csr, to_csr
from .tensorflow import from_tensorflow, to_tensorflow
from .torch import from_torch, to_torch

__all__ = [
    "from_arrow", "from_awkward", "from_csr", "from_jax", "from_numpy", "from_pandas", "from_tensorflow", "from_torch",
    "load", "save", "to_arrow", "to_awkward", "to_csr", "to_jax", "to_numpy", "to_pandas", "to_tensorflow", "to_torch",
]  # fmt: skip
