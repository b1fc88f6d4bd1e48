"""The operators on nested and dense arrays, one module per chapter of the specification."""

from .attention import *
from .comparison import *
from .conversion import *
from .elementwise import *
from .losses import *
from .movement import *
from .normalization import *
from .products import *
from .reduction import *
from .scan import *

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "abs", "acos", "acosh", "add", "all", "allclose", "amax", "amin",
    "and_masks", "any", "argmax", "argmin", "as_nested_array", "asin", "asinh", "atan", "atanh", "bitwise_and",
    "bitwise_or", "bitwise_xor", "bmm", "cat", "cbrt", "ceil", "chunk", "clamp", "clone", "contiguous", "cos",
    "cosh", "create_block_mask", "create_mask", "create_nested_block_mask", "cross_entropy", "cumsum", "deg2rad",
    "detach", "div", "dropout", "embedding", "eq", "equal", "erf", "erfc", "exp", "exp2", "expm1", "flatten",
    "flex_attention", "floor", "floor_divide", "ge", "gelu", "getitem", "gt", "isfinite", "isinf", "isnan",
    "layer_norm", "le", "linear", "log", "log10", "log1p", "log2", "log_softmax", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logsumexp", "lt", "masked_fill", "masked_select", "matmul",
    "maximum", "mean", "minimum", "mul", "multi_head_attention", "nanmean", "nansum", "narrow", "ne", "neg",
    "nested_array", "nested_array_from_jagged", "nested_array_from_strided", "noop_mask", "or_masks", "permute",
    "pin_memory", "pow", "prod", "reciprocal", "relu", "remainder", "reshape", "reshape_as", "round", "rsqrt",
    "scaled_dot_product_attention", "select", "sgn", "sigmoid", "silu", "sin", "sinh", "softmax", "softmin",
    "split", "sqrt", "square", "squeeze", "stack", "std", "sub", "sum", "tan", "tanh", "to", "to_dense",
    "to_padded_array", "transformer_decoder_layer", "transformer_encoder_layer", "transpose", "trunc", "unbind",
    "unflatten", "unsqueeze", "var", "view", "where",
]  # fmt: skip
