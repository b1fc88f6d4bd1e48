"""The families that came first. Their arrays are frozen: a later level of an axis, or operator, is none of theirs."""

from __future__ import annotations

from collections.abc import Mapping

from .family import BATCH, FLOATS, MET, MOVED, ONE_DIM, REDUCED, SHAPE, Family, by_name

__all__ = ["FIRST", "THEN"]

# What these axes had then, for families that name no levels of them.
THEN = {
    "lengths": "mixed equal ones empty late long",
    "cotangent": "whole zeros fine",
    "numbers": "fine wide",
    "dim": "ragged regular last batch batch-ragged inner all none",
    "moved": "ragged regular first last",
    "second": "same wider whole",
    "misfit": "entry moved fewer size per-component padded total deeper",
}

# fmt: off
_UNARY = (
    "neg abs sgn relu gelu silu exp log sin tanh erf sqrt log1p expm1 cos tan sinh cosh atan log2 log10 rsqrt sigmoid "
    "reciprocal square floor ceil round trunc isnan isinf isfinite logical_not"
)
_MULTIPLIED: tuple[Mapping[str, str], ...] = (
    {"ragged": "first", "product": "summed left left-slices"},
    {"ragged": "last", "product": "matrix vector slices slice outer"},
    {"dtype": "float64", "second": "wider"},
    {"second": "whole", "tracked": "self other"},
)
_MISSED: tuple[Mapping[str, str], ...] = (
    {"misfit": "size", "sizes": "one zero"},
    {"misfit": "size", "rank": "2"},
    {"misfit": "size", "rank": "3", "ragged": "two"},
    {"misfit": "per-component padded total deeper", "ragged": "last two"},
    {"misfit": "total", "lengths": "late"},
)

_FAMILIES = (
    Family("of one", tuple(_UNARY.split()), (*BATCH, "dtype", "cotangent"),
           chosen={"dtype": FLOATS}, never=SHAPE),
    Family("of two", ("add", "sub", "mul", "div", "maximum", "minimum"),
           (*BATCH, "dtype", "other", "side", "second", "tracked"), each=True,
           chosen={"dtype": f"{FLOATS} int32"}, never=(*SHAPE, *MET)),
    Family("powers", ("pow", "floor_divide", "remainder"), (*BATCH, "dtype", "other", "side", "second", "tracked"),
           chosen={"dtype": f"{FLOATS} int32"}, never=(*SHAPE, *MET)),
    Family("compared", ("eq", "lt", "ne", "le", "gt", "ge"), (*BATCH, "dtype", "other", "side", "second"),
           chosen={"dtype": f"{FLOATS} int32 int8"}, never=(*SHAPE, *MET)),
    Family("bits", ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"),
           (*BATCH, "dtype", "other", "side", "second"),
           chosen={"dtype": "int32 int8 bool", "other": "nested thin point row slices slice whole"},
           never=(*SHAPE, *MET)),
    Family("misfits", ("add", "sub", "mul", "div", "maximum", "minimum", "pow", "floor_divide", "remainder", "eq", "lt",
                       "ne", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
           (*BATCH, "misfit", "side"),
           chosen={"batch": "two three many", "lengths": "mixed late long", "ragged": "first last middle two"},
           never=(*SHAPE, *_MISSED)),
    Family("reductions", ("sum", "mean", "prod", "logsumexp", "nansum", "var", "std"),
           (*BATCH, "dtype", "numbers", "cotangent", *REDUCED), each=True,
           chosen={"dtype": FLOATS}, never=(*SHAPE, *ONE_DIM), triples=("ragged", "dim", "keepdim")),
    Family("choices", ("amax", "amin", "any", "all"), (*BATCH, "dtype", "cotangent", *REDUCED), each=True,
           chosen={"dtype": f"{FLOATS} int32 int8 bool"}, never=(*SHAPE, *ONE_DIM),
           triples=("ragged", "dim", "keepdim")),
    Family("places", ("argmax", "argmin"), (*BATCH, "dtype", *REDUCED), each=True,
           chosen={"dtype": f"{FLOATS} int32", "dim": "ragged regular last batch", "spelled": "keyword position"},
           never=(*SHAPE, *ONE_DIM), triples=("ragged", "dim", "keepdim")),
    Family("movement", ("transpose", "permute", "flatten", "unsqueeze"),
           (*BATCH, "dtype", "cotangent", "moved", "onto", "sign", "spelled"),
           chosen={"dtype": f"{FLOATS} int32 bool", "spelled": "keyword position"},
           never=(*SHAPE, *MOVED), triples=("operator", "ragged", "moved", "onto")),
    Family("choice of one", ("select",), (*BATCH, "dtype", "cotangent", "moved", "place", "sign", "spelled"),
           chosen={"dtype": f"{FLOATS} int32 bool", "spelled": "keyword position"}, never=(*SHAPE, *MOVED),
           triples=("ragged", "moved", "place")),
    Family("products", ("matmul",), (*BATCH, "dtype", "cotangent", "product", "second", "tracked"),
           chosen={"rank": "3", "ragged": "first last", "dtype": FLOATS}, never=(*SHAPE, *_MULTIPLIED)),
    Family("batched products", ("bmm",), (*BATCH, "dtype", "cotangent", "product", "second", "tracked"),
           chosen={"rank": "3", "ragged": "first last", "dtype": FLOATS,
                   "product": "slices outer summed left-slices"}, never=(*SHAPE, *_MULTIPLIED)),
    Family("runs", ("softmax", "log_softmax", "softmin", "cumsum"),
           (*BATCH, "dtype", "numbers", "cotangent", "dim", "sign", "spelled"), each=True,
           chosen={"dtype": FLOATS, "dim": "ragged regular last", "spelled": "keyword position"},
           never=(*SHAPE, *ONE_DIM), triples=("ragged", "dim", "sign")),
)
# fmt: on

FIRST: Mapping[str, Family] = by_name(_FAMILIES, THEN)
