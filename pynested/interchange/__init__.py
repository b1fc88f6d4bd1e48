"""Exchange of nested arrays with other libraries, in shared memory if possible, and with files.

There are two functions for each library, `from_torch` and `to_torch` for example. A library is imported at the first
call of its function; MissingDependency if it is not installed. `exchange_checks` has the rules of all exchanges,
`list_arrays` the lists within lists that Arrow, awkward and TensorFlow have in common. Then there is one short module
for each library, and `save_load` for files.

Rules of all functions:

- ``copy=None`` shares memory if possible and copies otherwise. ``copy=False`` raises ExchangeError if a copy is needed,
  with the reason. ``copy=True`` always copies. A write into shared memory is seen on both sides. Memory that the other
  library does not allow to write to is read-only here.
- Offsets, lengths, sizes and strides are always copied: no other library can change the structure of an array.
- Gradients are not exchanged. GradientError for an array that requires grad; ``detach()`` it first.
- No information is lost silently. ExchangeError for a missing value and for a string. DTypeError for a dtype that
  pynested, or the other library, does not have. StructureError for a component that is not a rectangle. The messages
  name the position. The one exception: a component of size 0 along one dimension holds no lists, so its size along
  the next dimension is not kept if that dimension is irregular. ``(0, 5)`` comes back as ``(0, 0)``.
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
