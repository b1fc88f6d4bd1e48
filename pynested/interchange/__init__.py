"""Exchange of nested arrays with other libraries, in shared memory if possible, and with files.

There are two functions for each library, for example `from_torch` and `to_torch`. A library is imported at the first
call of its function, which raises MissingDependency if the library is not installed. `exchange_checks` has the rules of
all exchanges. `list_arrays` has the lists within lists that Arrow, awkward and TensorFlow share. Each library has a
short module; `save_load` writes and reads files.

Rules of all functions:

- ``copy=None`` shares memory if possible and copies otherwise. ``copy=False`` raises ExchangeError if a copy is needed,
  with the reason. ``copy=True`` always copies. A write into shared memory changes both arrays. Memory that is read-only
  in the other library, or repeats elements, is read-only here.
- Offsets, lengths, sizes and strides are copied, or read-only: no other library can change the structure of an array.
- Gradients are not exchanged. An array that requires grad raises GradientError; ``detach()`` it first.
- No information is lost silently. A missing value and a string raise ExchangeError. A dtype that pynested or the other
  library does not have raises DTypeError. A component that is not a rectangle raises StructureError. The messages name
  the position. The components of an object array raise the errors of `pynested.nested_array` instead.
- There is one exception: a component of size 0 holds no inner lists, so its size along a following irregular dimension
  is lost. A component of shape ``(0, 5)`` returns as ``(0, 0)``.
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
