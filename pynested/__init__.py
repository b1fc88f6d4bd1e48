"""Nested (ragged) arrays: a specification, a reference implementation and a conformance kit.

>>> import pynested as pn
>>> nt = pn.nested_array([[1.0, 2.0], [3.0, 4.0, 5.0]], layout=pn.jagged)
>>> nt.sum(dim=1)
array([ 3., 12.])
"""

from pynested import _checkout

_checkout.install()

import numpy as _np  # noqa: E402

from pynested import opening as _opening  # noqa: E402, F401  nested arrays make themselves known to autograd
from pynested._version import __version__  # noqa: E402
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
    tape,
    vjp,
    zeros,
)
from pynested.backends import errors  # noqa: E402
from pynested.buffers import nested_array_from_jagged, nested_array_from_strided  # noqa: E402
from pynested.construct import as_nested_array, nested_array  # noqa: E402
from pynested.extending import elementwise, map_components  # noqa: E402
from pynested.layouts import Layout, jagged, strided  # noqa: E402
from pynested.likeness import (  # noqa: E402
    empty_like,
    full_like,
    ones_like,
    rand_like,
    randint_like,
    randn_like,
    zeros_like,
)
from pynested.nested_array import NestedArray  # noqa: E402
from pynested.operators import (  # noqa: E402
    abs,
    add,
    bmm,
    cat,
    chunk,
    clone,
    contiguous,
    cross_entropy,
    detach,
    div,
    dropout,
    embedding,
    eq,
    equal,
    gelu,
    getitem,
    layer_norm,
    linear,
    logical_not,
    lt,
    masked_fill,
    matmul,
    maximum,
    minimum,
    mul,
    ne,
    neg,
    relu,
    reshape,
    reshape_as,
    select,
    sgn,
    silu,
    stack,
    sub,
    to,
    to_padded_array,
    transpose,
    unbind,
    unflatten,
    unsqueeze,
    view,
    where,
)
from pynested.operators import reduction as _reduction  # noqa: E402
from pynested.operators import runwise as _runwise  # noqa: E402
from pynested.operators.elementwise import smooth as _smooth  # noqa: E402
from pynested.operators.elementwise.smooth import *  # noqa: E402, F403
from pynested.operators.reduction import *  # noqa: E402, F403
from pynested.operators.runwise import *  # noqa: E402, F403
from pynested.padded import masked_select, narrow  # noqa: E402

bool = _np.dtype(_np.bool_)
int8, int16, int32, int64 = _np.dtype(_np.int8), _np.dtype(_np.int16), _np.dtype(_np.int32), _np.dtype(_np.int64)
uint8 = _np.dtype(_np.uint8)
float16, float32, float64 = _np.dtype(_np.float16), _np.dtype(_np.float32), _np.dtype(_np.float64)

__all__ = [
    "Array",
    "Function",
    "Layout",
    "NestedArray",
    "__version__",
    "abs",
    "add",
    "anomaly",
    "arange",
    "array",
    "as_nested_array",
    "bmm",
    "bool",
    "cat",
    "checkpoint",
    "chunk",
    "clone",
    "contiguous",
    "cross_entropy",
    "detach",
    "div",
    "dropout",
    "elementwise",
    "embedding",
    "empty",
    "empty_like",
    "enable_grad",
    "eq",
    "equal",
    "errors",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "full",
    "full_like",
    "gelu",
    "get_default_device",
    "getitem",
    "grad",
    "gradcheck",
    "hessian",
    "hvp",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "jacobian",
    "jagged",
    "jvp",
    "layer_norm",
    "linear",
    "logical_not",
    "lt",
    "manual_seed",
    "map_components",
    "masked_fill",
    "masked_select",
    "matmul",
    "maximum",
    "minimum",
    "mul",
    "narrow",
    "ne",
    "neg",
    "nested_array",
    "nested_array_from_jagged",
    "nested_array_from_strided",
    "no_grad",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "relu",
    "reshape",
    "reshape_as",
    "select",
    "set_default_device",
    "sgn",
    "silu",
    "stack",
    "strided",
    "sub",
    "tape",
    "to",
    "to_padded_array",
    "transpose",
    "uint8",
    "unbind",
    "unflatten",
    "unsqueeze",
    "view",
    "vjp",
    "where",
    "zeros",
    "zeros_like",
]  # fmt: skip
__all__ += _smooth.__all__ + _reduction.__all__ + _runwise.__all__
