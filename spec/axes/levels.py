"""What can vary in a call: every axis, and every level of it with the sentence that says what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["AXES", "SILENT", "Axis"]


@dataclass(frozen=True)
class Axis:
    """One thing that can vary: its name, what it is, and each level with what it means."""

    name: str
    says: str
    levels: Mapping[str, str]


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
        "long": "33 and less: more than a unit of 32",
        "hundreds": "130 and more: more than a byte counts",
        "full": "2, 4, 1, 3, 5, ...: none like the next, none empty",
        "nearly": "all 2 but the last, which is 1"}),
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
        "int32": "integers", "int8": "integers that wrap soon", "bool": "bools",
        "int64": "of more bits than float64", "uint8": "without a sign", "int16": "wider than a byte"}),
    Axis("numbers", "What is drawn where the order of evaluation may show.", {
        "fine": "every bit of the dtype", "wide": "every bit, and magnitudes that differ by a factor of 4096",
        "whole": "small integers", "large": "integers of every bit, up to 40"}),
    Axis("cotangent", "What comes in from above.", {
        "whole": "small integers, none 0", "zeros": "every second is 0", "fine": "every bit of the dtype",
        "spoilt": "NaN and infinities among small integers"}),
    Axis("dim", "Along what is reduced, or what runs.", {
        "ragged": "the ragged dimension", "regular": "the first regular one", "last": "the last dimension",
        "batch": "the batch", "batch-ragged": "the batch and the ragged dimension",
        "inner": "all but the batch", "all": "every dimension by its number", "none": "None, or left out",
        "others": "every regular dimension", "outside": "one more than there are", "before": "one before the first"}),
    Axis("sign", "From where dimensions are counted.", {"front": "0, 1, ...", "back": "-1, -2, ..."}),
    Axis("spelled", "How `dim` is given.", {
        "keyword": "by name", "position": "by position", "tuple": "in a tuple, also if there is one",
        "reversed": "in a tuple, the last first"}),
    Axis("keepdim", "Whether what is reduced stays with size 1.", {
        "absent": "it is left out", "true": "True by name", "false": "False by name"}),
    Axis("moved", "The dimension that moves, ends a range or is chosen from.", {
        "ragged": "the ragged one", "regular": "the first regular one", "first": "the one behind the batch",
        "last": "the last one", "batch": "the batch"}),
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
        "same": "that of the first", "wider": "the next wider one of its kind", "whole": "int8",
        "narrower": "the next narrower one of its kind"}),
    Axis("tracked", "Which operands require grad.", {"both": "all", "self": "the first", "other": "the second"}),
    Axis("misfit", "What is almost right.", {
        "entry": "one component is one longer", "moved": "lengths of an equal sum, in another order",
        "fewer": "one component less", "size": "a regular size is one more",
        "per-component": "dense (B, D), as if it were one value for each component",
        "padded": "dense, the greatest length along the ragged dimension",
        "total": "dense, the sum of the lengths along the ragged dimension",
        "deeper": "dense, with one dimension more",
        "swapped": "lengths 1 and more change places, so that every component would stretch",
        "ones": "all of its components are 1 long, so that they would stretch",
        "late": "the last component alone is 1 long, and would stretch",
        "elsewhere": "the ragged dimension is the last, of the same lengths",
        "almost": "dense, the length of all components but the last"}),
    Axis("extreme", "What stands in a run where it is easily forgotten.", {
        "front": "the greatest and the least element first", "back": "the greatest and the least element last",
        "nan": "NaN, first or last or between", "infinite": "an infinity, first or last",
        "huge": "nothing but what is near the end of the dtype"}),
    Axis("decides", "Where the bools come from that choose, element by element.", {
        "nested": "nested, beside a nested operand", "thin": "nested, the first regular size 1",
        "row": "dense, the last regular size", "slices": "dense, a slice for each component",
        "slice": "dense, one slice for all of them", "point": "dense without dimensions",
        "whole": "dense, the whole shape, where lengths are equal",
        "alone": "nested, and nothing else is"}),
    Axis("position", "Which operand it is that does not fit.", {"first": "0", "second": "1", "third": "2"}),
    Axis("limits", "Between which ends.", {
        "both": "two", "low": "the lower one alone", "high": "the upper one alone",
        "crossed": "the upper below the lower"}),
    Axis("given", "Which of weight and bias there are.", {
        "both": "both", "weight": "the weight", "bias": "the bias", "neither": "neither"}),
    Axis("width", "How many outputs, or classes, there are.", {
        "other": "3", "one": "1", "same": "as many as inputs", "longest": "the greatest length",
        "zero": "0"}),
    Axis("over", "Over what is normalized.", {
        "last": "the last dimension, in a tuple", "number": "the last dimension, as a number",
        "two": "the last two dimensions"}),
    Axis("eps", "What keeps the divisor from 0.", {"absent": "it is left out", "half": "0.5"}),
    Axis("dropped", "Which elements are dropped.", {
        "nothing": "none, p is 0", "everything": "all, p is 1", "evaluation": "none, training is False",
        "absent": "none, and p is left out"}),
    Axis("folded", "What becomes of the losses.", {"mean": "their mean", "sum": "their sum", "none": "nothing"}),
    Axis("ignored", "Which targets do not count.", {
        "absent": "all count", "some": "-100 among them", "other": "those of class 1", "every": "none counts"}),
    Axis("smoothed", "Whether labels are smoothed.", {"absent": "it is left out", "quarter": "by 0.25"}),
    Axis("pieces", "Into what is cut.", {
        "two": "2", "one": "1", "three": "3", "beyond": "more than there are elements", "uneven": "a list, with a 0",
        "total": "a list that adds up to one too many"}),
    Axis("arrays", "How many arrays are joined.", {"two": "2", "one": "1", "three": "3"}),
    Axis("odd", "Which of several arrays differs, where it is not the last.", {
        "middle": "one between", "first": "the first"}),
    Axis("unlike", "How one of the arrays, the last if nothing is said, differs.", {
        "alike": "in its elements", "along": "in size, along what is joined",
        "across": "in size, along another dimension", "lengths": "in one length", "fewer": "by a component less",
        "deeper": "by a dimension more"}),
    Axis("target", "Into which shape.", {
        "split": "the last size as two", "merged": "what follows the ragged dimension as one", "same": "its own",
        "ones": "with a 1 at the end", "turned": "the regular sizes in another order",
        "misfit": "one element too many"}),
    Axis("counted", "How a size that stays is written.", {"number": "as it is, where it is regular", "minus": "-1"}),
    Axis("factors", "Into which sizes one dimension is cut.", {
        "two": "two", "three": "three", "first": "the first left open", "last": "the last left open",
        "misfit": "sizes of another product"}),
    Axis("picked", "Which components an index names.", {
        "all": "all", "first": "one, 0", "last": "one, -1", "tail": "all but the first",
        "backwards": "all, the last first",
        "second": "every second", "list": "a list, one of them twice", "flags": "a list of bools",
        "none": "none", "beyond": "a slice that is longer than the batch"}),
    Axis("sliced", "What an index takes of the ragged dimension.", {
        "all": "all of it", "tail": "from 1 on", "head": "the first 2", "backwards": "the last first",
        "third": "every third from 1 on", "minus": "the last but one", "number": "place 0", "end": "the last place",
        "none": "nothing", "beyond": "a slice that is longer"}),
    Axis("entry", "What an index takes of the first regular dimension.", {
        "missing": "what is there by default", "tail": "from 1 on", "end": "the last place",
        "backwards": "every second, the last first",
        "list": "a list, which is refused where the batch is kept"}),
    Axis("dots", "Whether an index has an ellipsis, and where.", {
        "absent": "none", "behind": "at the end", "instead": "for all that is whole",
        "twice": "two of them"}),
    Axis("new", "Whether an index makes a dimension.", {"absent": "none", "inside": "behind the batch",
        "end": "at the end"}),
    Axis("masked", "What a nested mask of bools covers.", {
        "whole": "all dimensions", "rows": "the first of each component", "nowhere": "all, and holds nowhere",
        "everywhere": "all, and holds everywhere", "misfit": "one component is one longer",
        "fewer": "one component less"}),
    Axis("padding", "What stands where nothing is.", {
        "number": "7", "zero": "0", "minus": "-0.0", "nan": "NaN", "infinite": "an infinity",
        "integer": "an int for floats"}),
    Axis("outside", "Which size the padded array has.", {
        "absent": "the least", "same": "the least, written out", "more": "one more in each dimension",
        "batch": "more rows", "less": "one less than is needed"}),
    Axis("described", "What says where components lie.", {
        "offsets": "offsets, or sizes", "lengths": "lengths, or sizes and strides",
        "holes": "offsets and lengths, with gaps",
        "unordered": "offsets in another order", "overlapping": "what lies in two components"}),
    Axis("wrong", "What is wrong with the place of a component.", {
        "beyond": "it ends one beyond the buffer", "before": "it begins one before it",
        "longer": "it is longer than what is behind its beginning", "negative": "its length is negative"}),
    Axis("component", "Which component it is.", {"first": "0", "middle": "1", "last": "2"}),
    Axis("begins", "How the beginnings are given.", {
        "vector": "one for each component", "number": "one for all", "edges": "so that components touch the end"}),
    Axis("extent", "How the lengths are given.", {"vector": "one for each component", "number": "one for all"}),
    Axis("layout", "In which layout the result is asked for.", {"jagged": "jagged", "strided": "strided"}),
    Axis("asked", "Which dtype an argument asks for.", {
        "same": "that of the operand", "wider": "the next wider one", "narrower": "the next narrower one",
        "float": "float32, where there are integers"}),
    Axis("differs", "In what two arrays differ.", {
        "nothing": "in nothing", "last": "in the last element", "dtype": "in the dtype",
        "lengths": "in the order of lengths",
        "sign": "in the sign of zeros", "nan": "in nothing, and hold NaN", "near": "by little, everywhere"}),
    Axis("placement", "Where components lie in memory.", {
        "packed": "one after another", "holes": "gaps between them, full of NaN or extremes",
        "transposed": "the last dimension of components varies slowest"}),
)}

# Levels that leave no element to look at, so that whatever else a call has it cannot show.
SILENT: Mapping[str, str] = {"batch": "none", "lengths": "empty", "sizes": "zero"}
# fmt: on
