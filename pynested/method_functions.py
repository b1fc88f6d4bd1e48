"""The functions that methods of `Array` and `NestedArray` call: the attribute ``_functions`` is this module."""

# ruff: noqa: F401, F403

from pynested.autograd import backward
from pynested.autograd.hooks import register_hook

from .nested.array_text import as_text
from .nested.autograd_container import tangent_values
from .nested.layout_conversion import as_gradient, as_ndarray
from .nested.pickling import deep_copy, pickle_parts
from .numpy_protocol import call_function, call_ufunc
from .operators import *
from .operators.indexing.in_place_writes import setitem, write_result, write_value
from .operators.movement.reshaping import as_strided, broadcast_to, expand, narrowed
from .operators.random_fills import normal_, uniform_
