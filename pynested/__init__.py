"""Nested (ragged) arrays: a specification, a reference implementation and a conformance kit.

>>> import pynested as pn
>>> nt = pn.nested_array([[1.0, 2.0], [3.0, 4.0, 5.0]], layout=pn.jagged)
>>> nt.sum(dim=1)
array([ 3., 12.])
"""

from . import _checkout

_checkout.install()

from importlib import import_module as _import_module  # noqa: E402
from typing import TYPE_CHECKING as _TYPE_CHECKING  # noqa: E402
from typing import Any as _Any  # noqa: E402

import numpy as _np  # noqa: E402

from pynested.autograd import (  # noqa: E402
    Array,
    Function,
    anomaly,
    arange,
    array,
    checkpoint,
    empty,
    enable_grad,
    from_dlpack,
    full,
    get_default_device,
    get_default_dtype,
    grad,
    gradcheck,
    hessian,
    hvp,
    is_grad_enabled,
    jacobian,
    jvp,
    manual_seed,
    no_grad,
    ones,
    rand,
    randint,
    randn,
    set_default_device,
    set_default_dtype,
    tape,
    vjp,
    zeros,
)
from pynested.autograd.array_methods import ArrayMethods as _ArrayMethods  # noqa: E402
from pynested.autograd.primitives.primitive import kernel  # noqa: E402
from pynested.backends import errors  # noqa: E402

from . import allocators, training  # noqa: E402
from . import html_repr as _html_repr  # noqa: E402, F401  what notebooks show of arrays
from . import interchange as _interchange  # noqa: E402
from . import method_functions as _method_functions  # noqa: E402
from . import operators as _operators  # noqa: E402
from ._version import __version__  # noqa: E402
from .construct.like import empty_like, full_like, ones_like, rand_like, randint_like, randn_like, zeros_like  # noqa: E402
from .interchange import *  # noqa: E402
from .lifting.mapping import elementwise, map_components  # noqa: E402
from .name_hints import add_hints as _add_hints  # noqa: E402
from .name_hints import missing_name_error as _missing_name_error  # noqa: E402
from .nested import autograd_container as _autograd_container  # noqa: E402, F401  registers NestedArray with autograd
from .nested.nested_array import NestedArray  # noqa: E402
from .operators.attention import *  # noqa: E402  each chapter: mypy cannot read a computed __all__
from .operators.comparison import *  # noqa: E402
from .operators.conversion import *  # noqa: E402
from .operators.elementwise import *  # noqa: E402
from .operators.losses import *  # noqa: E402
from .operators.movement import *  # noqa: E402
from .operators.normalization import *  # noqa: E402
from .operators.products import *  # noqa: E402
from .operators.random_fills import normal_, uniform_  # noqa: E402
from .operators.reduction import *  # noqa: E402
from .operators.scan import *  # noqa: E402
from .structure.layout import Layout, jagged, strided  # noqa: E402

bool = _np.dtype(_np.bool_)
int8, int16, int32, int64 = _np.dtype(_np.int8), _np.dtype(_np.int16), _np.dtype(_np.int32), _np.dtype(_np.int64)
uint8 = _np.dtype(_np.uint8)
float16, float32, float64 = _np.dtype(_np.float16), _np.dtype(_np.float32), _np.dtype(_np.float64)
# PyTorch's other names. They are not in __all__: a star import keeps Python's float and int.
half, float, double, int, long = float16, float32, float64, int32, int64

__all__ = [
    "Array", "Function", "Layout", "NestedArray", "__version__", "allocators", "anomaly", "arange", "array", "bool",
    "checkpoint", "compile", "dispatch_table", "elementwise", "empty", "empty_like", "enable_grad", "errors", "float16",
    "float32", "float64", "from_dlpack", "full", "full_like", "get_default_device", "get_default_dtype", "grad",
    "gradcheck", "hessian", "hvp", "int16", "int32", "int64", "int8", "is_grad_enabled", "jacobian", "jagged", "jvp",
    "kernel", "manual_seed", "map_components", "memory", "no_grad", "normal_", "ones", "ones_like", "rand", "rand_like",
    "randint", "randint_like", "randn", "randn_like", "set_default_device", "set_default_dtype", "strided", "tape",
    "timeline", "trace", "training", "uint8", "uniform_", "vjp", "zeros", "zeros_like",
]  # fmt: skip
__all__ += _interchange.__all__
__all__ += _operators.__all__
_MODULES = {  # the module of each name that is imported at its first use
    "compile": "graph.compiled_function", "dispatch_table": "profiling", "memory": "profiling",
    "pictures": "pictures", "timeline": "profiling", "trace": "graph.traced_function",
}  # fmt: skip
if _TYPE_CHECKING:
    from . import pictures as pictures
    from .graph.compiled_function import compile
    from .graph.traced_function import trace
    from .profiling import dispatch_table, memory, timeline
else:

    def __getattr__(name: str) -> _Any:
        if name not in _MODULES:
            raise _missing_name_error(__name__, name)
        module = _import_module(f".{_MODULES[name]}", __name__)
        return module if name == _MODULES[name] else getattr(module, name)

    def __dir__() -> list[str]:
        return __all__


_ArrayMethods._functions = _method_functions
for _array_class in (Array, NestedArray):
    _add_hints(_array_class)
