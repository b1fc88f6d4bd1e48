"""What can vary in a call, as data: axes with their levels, and families of operators with the axes that apply.

A level is a word for one way to be, and the sentence beside it says which. Levels are written smallest first: where it
makes no difference the generator takes the first. A family names its axes, for some of them only a few levels, and what
can never be together: `{"rank": "2 3", "ragged": "middle"}` is no call, since a component of one or two dimensions has
no middle. From a family a covering array is computed (`generator/covering.py`): every two levels that can be
together are together in some call, and every three of the axes that the family lists in `triples`.

Vectors do not change once they are out, and another operator among those of a family would change its array: operators
that come later are a family of their own.

`placement` is not drawn: it is asked of every case by whoever runs it. And edges of value are positions, which are
written by hand in `generator/cases`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["AXES", "FAMILIES", "SILENT", "Axis", "Family"]


@dataclass(frozen=True)
class Axis:
    """One thing that can vary: its name, what it is, and each level with what it means."""

    name: str
    says: str
    levels: Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """Operators whose calls vary along the same axes.

    `chosen` names the levels of an axis where not all apply. `never` lists what no call has at once: levels by axis.
    `triples` are axes of which every three levels meet. `each` says that every operator has the whole array; otherwise
    the operators are an axis themselves, so that each meets every level and all of them together every two.
    """

    name: str
    operators: tuple[str, ...]
    axes: tuple[str, ...]
    chosen: Mapping[str, str] = field(default_factory=dict)
    never: tuple[Mapping[str, str], ...] = ()
    triples: tuple[str, ...] = ()
    each: bool = False

    def levels(self) -> dict[str, tuple[str, ...]]:
        """The axes of an array with their levels, that of the operators among them."""
        operators = {} if self.each else {"operator": self.operators}
        return operators | {
            name: tuple(self.chosen[name].split()) if name in self.chosen else tuple(AXES[name].levels)
            for name in self.axes
        }


# fmt: off
AXES: Mapping[str, Axis] = {axis.name: axis for axis in (
    Axis("batch", "How many components there are.", {
        "two": "2", "one": "1", "three": "3", "none": "0", "many": "10, more than a unit of eight"}),
    Axis("lengths", "How long the components are along the ragged dimension.", {
        "mixed": "2, 0, 1, 3, ...: none like the next, an empty one among them",
        "equal": "all 2, so that a reading of the batch as one dense array fits",
        "ones": "all 1, which is what would stretch",
        "empty": "all 0",
        "late": "all empty but the last",
        "long": "33 and less: more than a unit of 32"}),
    Axis("rank", "How many dimensions there are, with the batch.", {"2": "2", "3": "3", "4": "4", "5": "5"}),
    Axis("ragged", "Where the ragged dimension lies.", {
        "first": "behind the batch", "last": "at the end", "middle": "between regular ones",
        "two": "two dimensions are irregular, the first and the last: strided only",
        "regular": "nowhere: all components have one shape, as only the strided layout can say"}),
    Axis("sizes", "The regular sizes, and what they happen to be equal to, so that a wrong reading fits.", {
        "other": "equal to nothing else", "one": "the first is 1", "zero": "the first is 0",
        "batch": "the first is the number of components", "longest": "the first is the greatest length",
        "total": "the first is the sum of the lengths", "same": "all are equal"}),
    Axis("dtype", "The dtype of the first operand.", {
        "float32": "floats of 24 bits", "float64": "of 53 bits", "float16": "of 11 bits",
        "int32": "integers", "int8": "integers that wrap soon", "bool": "bools"}),
    Axis("numbers", "What is drawn where the order of evaluation may show.", {
        "fine": "every bit of the dtype", "wide": "every bit, and magnitudes that differ by a factor of 4096"}),
    Axis("cotangent", "What comes in from above.", {
        "whole": "small integers, none 0", "zeros": "every second is 0", "fine": "every bit of the dtype"}),
    Axis("dim", "Along what is reduced, or what runs.", {
        "ragged": "the ragged dimension", "regular": "the first regular one", "last": "the last dimension",
        "batch": "the batch", "batch-ragged": "the batch and the ragged dimension",
        "inner": "all but the batch", "all": "every dimension by its number", "none": "None, or left out"}),
    Axis("sign", "From where dimensions are counted.", {"front": "0, 1, ...", "back": "-1, -2, ..."}),
    Axis("spelled", "How `dim` is given.", {
        "keyword": "by name", "position": "by position", "tuple": "in a tuple, also if there is one",
        "reversed": "in a tuple, the last first"}),
    Axis("keepdim", "Whether what is reduced stays with size 1.", {
        "absent": "it is left out", "true": "True by name", "false": "False by name"}),
    Axis("moved", "The dimension that moves, ends a range or is chosen from.", {
        "ragged": "the ragged one", "regular": "the first regular one", "first": "the one behind the batch",
        "last": "the last one"}),
    Axis("onto", "Where it goes, or where the range has its other end.", {
        "last": "the end", "first": "behind the batch", "ragged": "where the ragged dimension is"}),
    Axis("place", "Which element is chosen.", {"first": "0", "last": "-1", "end": "the size less 1, of the shortest"}),
    Axis("other", "What the second operand is.", {
        "nested": "nested, of equal shape, made apart", "thin": "nested, the first regular size 1",
        "number": "a number", "point": "dense without dimensions",
        "row": "dense, the last regular size", "slices": "dense, a slice for each component",
        "slice": "dense, one slice for all of them", "whole": "dense, the whole shape, where lengths are equal"}),
    Axis("product", "What a batch of matrices is multiplied by.", {
        "matrix": "a dense matrix behind it", "vector": "a dense vector behind it",
        "slices": "a dense matrix behind each component", "slice": "the only slice of a dense batch of one",
        "outer": "nested matrices (B, D, *) behind it, so that two dimensions are irregular",
        "summed": "nested matrices (B, *, E) behind it, so that the irregular dimension is summed over",
        "left": "a dense matrix in front", "left-slices": "a dense matrix in front of each component"}),
    Axis("side", "On which side the second operand stands.", {"right": "behind", "left": "in front"}),
    Axis("second", "The dtype of the second operand.", {
        "same": "that of the first", "wider": "the next wider one of its kind", "whole": "int8"}),
    Axis("tracked", "Which operands require grad.", {"both": "all", "self": "the first", "other": "the second"}),
    Axis("misfit", "What is almost right.", {
        "entry": "one component is one longer", "moved": "lengths of an equal sum, in another order",
        "fewer": "one component less", "size": "a regular size is one more",
        "per-component": "dense (B, D), as if it were one value for each component",
        "padded": "dense, the greatest length along the ragged dimension",
        "total": "dense, the sum of the lengths along the ragged dimension",
        "deeper": "dense, with one dimension more"}),
    Axis("placement", "Where components lie in memory.", {
        "packed": "one after another", "holes": "gaps between them, full of NaN or extremes",
        "transposed": "the last dimension of components varies slowest"}),
)}

# Levels that leave no element to look at, so that whatever else a call has it cannot show.
SILENT: Mapping[str, str] = {"batch": "none", "lengths": "empty", "sizes": "zero"}

# What the shape of a batch rules out: where there is no middle, no regular dimension, or nothing to be equal to.
_SHAPE: tuple[Mapping[str, str], ...] = (
    {"rank": "2 3", "ragged": "middle"},
    {"rank": "2", "ragged": "last two"},
    {"rank": "2", "ragged": "first", "sizes": "one zero batch longest total same"},
    {"rank": "3", "ragged": "two", "sizes": "one zero batch longest total same"},
    {"rank": "2", "ragged": "regular", "sizes": "same"},
    {"rank": "3", "ragged": "first last", "sizes": "same"},
    {"rank": "4", "ragged": "two", "sizes": "same"},
    {"ragged": "regular", "lengths": "mixed ones empty late long"},
    {"ragged": "regular two", "batch": "none"},
    {"batch": "none", "lengths": "equal ones empty late long"},
    {"batch": "none", "sizes": "batch longest total"},
    {"batch": "one", "lengths": "late equal"},
    {"lengths": "empty", "sizes": "longest total"},
    {"lengths": "long", "batch": "many"},
    {"lengths": "long", "rank": "3 4 5"},
    {"batch": "many", "rank": "4 5"},
    {"batch": "many", "sizes": "total batch"},
)
_BATCH = ("batch", "lengths", "rank", "ragged", "sizes")
_FLOATS = "float32 float64 float16"

_UNARY = (
    "neg abs sgn relu gelu silu exp log sin tanh erf sqrt log1p expm1 cos tan sinh cosh atan log2 log10 rsqrt sigmoid "
    "reciprocal square floor ceil round trunc isnan isinf isfinite logical_not"
)
_ONE_DIM: tuple[Mapping[str, str], ...] = (
    {"ragged": "regular", "dim": "ragged batch-ragged"},
    {"rank": "2", "ragged": "first", "dim": "regular"},
    {"rank": "3", "ragged": "two", "dim": "regular"},
    {"dim": "none", "spelled": "tuple reversed"},
    {"dim": "none", "sign": "back"},
    {"dim": "ragged regular last batch none", "spelled": "reversed"},
)
_REDUCED = ("dim", "sign", "spelled", "keepdim")
_MET: tuple[Mapping[str, str], ...] = (
    {"rank": "2", "ragged": "first", "other": "thin"},
    {"rank": "3", "ragged": "two", "other": "thin"},
    {"lengths": "mixed empty late long", "other": "whole"},
    {"ragged": "two", "other": "whole"},
    {"other": "number", "second": "wider whole"},
    {"other": "number", "tracked": "self other"},
    {"dtype": "float64", "second": "wider"},
    {"dtype": "int32 int8 bool", "tracked": "self other"},
    {"dtype": "int8", "second": "whole"},
    {"second": "whole", "tracked": "self other"},
)
_MOVED: tuple[Mapping[str, str], ...] = (
    {"ragged": "regular", "moved": "ragged"},
    {"ragged": "regular", "onto": "ragged"},
    {"rank": "2", "ragged": "first", "moved": "regular"},
    {"rank": "3", "ragged": "two", "moved": "regular"},
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

FAMILIES: Mapping[str, Family] = {family.name: family for family in (
    Family("of one", tuple(_UNARY.split()), (*_BATCH, "dtype", "cotangent"),
           chosen={"dtype": _FLOATS}, never=_SHAPE),
    Family("of two", ("add", "sub", "mul", "div", "maximum", "minimum"),
           (*_BATCH, "dtype", "other", "side", "second", "tracked"), each=True,
           chosen={"dtype": f"{_FLOATS} int32"}, never=(*_SHAPE, *_MET)),
    Family("powers", ("pow", "floor_divide", "remainder"), (*_BATCH, "dtype", "other", "side", "second", "tracked"),
           chosen={"dtype": f"{_FLOATS} int32"}, never=(*_SHAPE, *_MET)),
    Family("compared", ("eq", "lt", "ne", "le", "gt", "ge"), (*_BATCH, "dtype", "other", "side", "second"),
           chosen={"dtype": f"{_FLOATS} int32 int8"}, never=(*_SHAPE, *_MET)),
    Family("bits", ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"),
           (*_BATCH, "dtype", "other", "side", "second"),
           chosen={"dtype": "int32 int8 bool", "other": "nested thin point row slices slice whole"},
           never=(*_SHAPE, *_MET)),
    Family("misfits", ("add", "sub", "mul", "div", "maximum", "minimum", "pow", "floor_divide", "remainder", "eq", "lt",
                       "ne", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
           (*_BATCH, "misfit", "side"),
           chosen={"batch": "two three many", "lengths": "mixed late long", "ragged": "first last middle two"},
           never=(*_SHAPE, *_MISSED)),
    Family("reductions", ("sum", "mean", "prod", "logsumexp", "nansum", "var", "std"),
           (*_BATCH, "dtype", "numbers", "cotangent", *_REDUCED), each=True,
           chosen={"dtype": _FLOATS}, never=(*_SHAPE, *_ONE_DIM), triples=("ragged", "dim", "keepdim")),
    Family("choices", ("amax", "amin", "any", "all"), (*_BATCH, "dtype", "cotangent", *_REDUCED), each=True,
           chosen={"dtype": f"{_FLOATS} int32 int8 bool"}, never=(*_SHAPE, *_ONE_DIM),
           triples=("ragged", "dim", "keepdim")),
    Family("places", ("argmax", "argmin"), (*_BATCH, "dtype", *_REDUCED), each=True,
           chosen={"dtype": f"{_FLOATS} int32", "dim": "ragged regular last batch", "spelled": "keyword position"},
           never=(*_SHAPE, *_ONE_DIM), triples=("ragged", "dim", "keepdim")),
    Family("movement", ("transpose", "permute", "flatten", "unsqueeze"),
           (*_BATCH, "dtype", "cotangent", "moved", "onto", "sign", "spelled"),
           chosen={"dtype": f"{_FLOATS} int32 bool", "spelled": "keyword position"},
           never=(*_SHAPE, *_MOVED), triples=("operator", "ragged", "moved", "onto")),
    Family("choice of one", ("select",), (*_BATCH, "dtype", "cotangent", "moved", "place", "sign", "spelled"),
           chosen={"dtype": f"{_FLOATS} int32 bool", "spelled": "keyword position"}, never=(*_SHAPE, *_MOVED),
           triples=("ragged", "moved", "place")),
    Family("products", ("matmul",), (*_BATCH, "dtype", "cotangent", "product", "second", "tracked"),
           chosen={"rank": "3", "ragged": "first last", "dtype": _FLOATS}, never=(*_SHAPE, *_MULTIPLIED)),
    Family("batched products", ("bmm",), (*_BATCH, "dtype", "cotangent", "product", "second", "tracked"),
           chosen={"rank": "3", "ragged": "first last", "dtype": _FLOATS,
                   "product": "slices outer summed left-slices"}, never=(*_SHAPE, *_MULTIPLIED)),
    Family("runs", ("softmax", "log_softmax", "softmin", "cumsum"),
           (*_BATCH, "dtype", "numbers", "cotangent", "dim", "sign", "spelled"), each=True,
           chosen={"dtype": _FLOATS, "dim": "ragged regular last", "spelled": "keyword position"},
           never=(*_SHAPE, *_ONE_DIM), triples=("ragged", "dim", "sign")),
)}
# fmt: on
