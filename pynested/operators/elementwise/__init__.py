"""Functions of one element or of two elements, and activations: the chapter *elementwise* of the specification.

The operand of a function of one element is a nested or a dense array: ``(B, *, D) -> (B, *, D)``. The result has the
same component shapes and layout, and no gaps. If integers become floats, then bool, int8 and uint8 give float16, int16
gives float32, int32 and int64 give float64; `reciprocal` gives float64, as `div` does.

An operand of a function of two elements is a nested array, a dense array (an `Array` or NumPy's) or a number. A dense
operand is aligned at the right with the shape ``(B, d1, ..., dk)`` of the nested operand. A dimension is *regular* if
all components have the same size along it. Nested operands must have equal component shapes; only a regular dimension
of size 1 broadcasts (clauses BROADCASTING-1 to BROADCASTING-10 of the specification). If an operand is nested, the
result is nested, in the layout of the first nested operand; otherwise it is dense. Dtypes promote as in NumPy. A Python
number takes the dtype of the array (DTYPES-1 to DTYPES-7).

float16 is computed in float32 and rounded once. An empty component stays empty, and so does a batch of no components.
No function emits warnings.

Errors: StructureError for nested operands of different lengths, ranks or numbers of components, which names the first
component that differs and both sizes. ShapeError for a dense operand that does not broadcast. DTypeError for an
unsupported dtype. DeviceError for operands on different devices. OverflowError for a Python integer that the integer
dtype of the other operand cannot represent: int8 and 300.

A gradient is the cotangent ``g`` times the derivative, summed over the elements that the operand was broadcast to.
Bools and integers have no gradient.
"""

from .activations import *
from .arithmetic import *
from .exponential import *
from .logical import *
from .trigonometric import *

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atanh", "bitwise_and", "bitwise_or", "bitwise_xor",
    "cbrt", "ceil", "clamp", "cos", "cosh", "deg2rad", "div", "erf", "erfc", "exp", "exp2", "expm1", "floor",
    "floor_divide", "gelu", "isfinite", "isinf", "isnan", "log", "log1p", "log2", "log10", "logaddexp",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "mul", "neg", "pow", "reciprocal", "relu",
    "remainder", "round", "rsqrt", "sgn", "sigmoid", "silu", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh",
    "trunc",
]  # fmt: skip
