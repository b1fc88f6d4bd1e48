"""Exchange of nested arrays with other libraries, in shared memory if possible, and with files.

`exchange_checks` has the rules of all exchanges. `list_arrays` has the lists within lists that Arrow, awkward and
TensorFlow share. Each library has a module, and is imported at the first call; `save_load` writes and reads files.

- ``copy=None`` shares memory if possible and copies otherwise. ``copy=False`` raises ExchangeError if a copy is needed,
  with the reason. ``copy=True`` always copies. A write into shared memory changes both arrays. Memory that is read-only
  in the other library, or repeats elements, is read-only here. Integers of a structure are copied, or read-only.
- Gradients are not exchanged. An array that requires grad raises GradientError; ``detach()`` it first.
- No value is lost silently. A missing value and a string raise ExchangeError, a dtype that one side does not have
  raises DTypeError, and a component that is not a rectangle raises StructureError. The messages name the position.
- Lists within lists do not keep the layout, nor the size of an empty component along a following irregular dimension:
  ``(0, 5)`` returns as ``(0, 0)``.
"""

from __future__ import annotations

from .arrow import from_arrow, to_arrow
from .awkward import from_awkward, to_awkward
from .jax import from_jax, to_jax
from .numpy import from_numpy, to_numpy
from .pandas import from_pandas, to_pandas
from .save_load import load, save
from .scipy_csr import from_csr, to_csr
from .tensorflow import from_tensorflow, to_tensorflow
from .torch import from_torch, to_torch

__all__ = [
    "from_arrow", "from_awkward", "from_csr", "from_jax", "from_numpy", "from_pandas", "from_tensorflow", "from_torch",
    "load", "save", "to_arrow", "to_awkward", "to_csr", "to_jax", "to_numpy", "to_pandas", "to_tensorflow", "to_torch",
]  # fmt: skip
