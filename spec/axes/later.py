"""The families of operators that came later, and had none."""

from __future__ import annotations

from collections.abc import Mapping

from ..functions import FUNCTIONS
from ..pairs import PAIRS
from .family import BATCH, FLOATS, MET, ONE_DIM, REDUCED, SHAPE, Family, by_name
from .first import FIRST, THEN

__all__ = ["JOINED", "LATER", "SMALL"]

# fmt: off
# What tells most of axes of which a family names no levels: long runs, and more, have families of their own.
SMALL = {
    **THEN,
    "rank": "2 3 4", "cotangent": "whole spoilt", "spelled": "keyword position",
    "lengths": "mixed equal ones full empty", "sizes": "other one zero longest same",
    "asked": "same wider narrower float",
}
_ANY = f"{FLOATS} int32 bool int8"
_FEW = "float32 int32 bool float16"
_HOLDS = {"ragged": "first last middle"}
_DECIDED: tuple[Mapping[str, str], ...] = (
    {"rank": "2", "ragged": "first", "decides": "thin"},
    {"rank": "3", "ragged": "two", "decides": "thin"},
    {"lengths": "mixed empty late long full hundreds", "decides": "whole"},
    {"ragged": "two", "decides": "whole"},
    {"decides": "alone", "other": "nested thin"},
)
_THIRD: tuple[Mapping[str, str], ...] = (
    {"misfit": "size", "sizes": "one zero"},
    {"misfit": "size", "rank": "2"},
    {"misfit": "size", "rank": "3", "ragged": "two"},
    {"misfit": "per-component padded total deeper", "ragged": "last two"},
    {"misfit": "total", "lengths": "late"},
    {"operator": "masked_fill", "position": "third"},
    {"operator": "masked_fill", "position": "first", "misfit": "per-component padded total deeper"},
)
_LAYERS: tuple[Mapping[str, str], ...] = (
    {"dtype": "float64", "second": "wider"},
    {"second": "whole", "tracked": "self other"},
    {"over": "two", "rank": "3", "ragged": "first last"},
    {"over": "two", "ragged": "middle"},
)
_PIECES: tuple[Mapping[str, str], ...] = (
    {"ragged": "last two", "dim": "last"},
    {"operator": "chunk", "pieces": "uneven total"},
    {"batch": "none", "pieces": "uneven total"},
)
JOINED: tuple[Mapping[str, str], ...] = (
    {"ragged": "last two", "dim": "last"},
    {"arrays": "one", "unlike": "along across lengths fewer deeper"},
    {"ragged": "regular", "unlike": "lengths"},
    {"batch": "none", "unlike": "lengths fewer"},
    {"unlike": "across", "rank": "2"},
    {"unlike": "across", "rank": "3", "ragged": "two"},
    {"unlike": "across", "rank": "3", "ragged": "first last", "dim": "regular last"},
    {"unlike": "across", "rank": "4", "ragged": "two", "dim": "regular"},
    {"unlike": "across", "rank": "3", "ragged": "regular"},
    {"unlike": "across", "sizes": "one"},
    {"dtype": "float64", "second": "wider"},
)
# Of a call that is refused for its dimension nothing else is of interest.
_REFUSED: tuple[Mapping[str, str], ...] = (
    {"dim": "ragged batch", "dtype": "float64 float16 int32 bool"},
    {"dim": "ragged batch", "cotangent": "spoilt"},
    {"dim": "ragged batch", "factors": "three first last misfit"},
)
_SHAPED: tuple[Mapping[str, str], ...] = (
    {"ragged": "last two", "target": "split merged"},
    {"rank": "2", "target": "split merged turned"},
    {"rank": "3", "ragged": "two", "target": "turned"},
)
_INDEXED: tuple[Mapping[str, str], ...] = (
    {"entry": "list", "dots": "twice"},
    {"rank": "2", "ragged": "first", "entry": "tail end backwards list"},
    {"rank": "3", "ragged": "two", "entry": "tail end backwards list"},
    {"ragged": "regular", "sliced": "tail head backwards third minus number end none beyond"},
)
_CARVED: tuple[Mapping[str, str], ...] = (
    {"layout": "jagged", "ragged": "last middle"},
    {"extent": "number", "lengths": "mixed late long full"},
)
# Of one more operator like others, which are drawn in every shape.
_ONE_MORE = {"dtype": FLOATS, "lengths": "mixed empty", "rank": "2 3", "sizes": "other", "batch": "three none many"}
_LATER = (
    Family("alone", ("asinh", "acosh", "exp2", "contiguous", "clone", "detach", "unbind"),
           (*BATCH, "dtype", "cotangent"), chosen={"dtype": _ANY},
           never=(*SHAPE, {"operator": "asinh acosh exp2", "dtype": "int32 bool int8"},
                  {"operator": "asinh acosh exp2 detach", "cotangent": "spoilt"})),
    Family("choices of two", ("where",),
           (*BATCH, "dtype", "decides", "other", "side", "second", "tracked", "cotangent"),
           chosen={"dtype": "float32 float16 int32", "sizes": "other one zero longest"},
           never=(*SHAPE, *MET, *_DECIDED)),
    Family("fills", ("masked_fill",), (*BATCH, "dtype", "decides", "cotangent"),
           chosen={"dtype": _ANY, "decides": "nested thin row slices slice point whole"},
           never=(*SHAPE, *_DECIDED)),
    Family("limits", ("clamp",), (*BATCH, "dtype", "other", "limits", "second", "cotangent"),
           chosen={"dtype": "float32 float16 int32", "sizes": "other one zero"}, never=(*SHAPE, *MET)),
    Family("misfits of three", ("where", "masked_fill", "clamp"), (*BATCH, "misfit", "position"),
           chosen={"batch": "two three many", "lengths": "mixed late long",
                   "ragged": "first last middle two"},
           never=(*SHAPE, *_THIRD)),
    Family("layers", ("linear",), (*BATCH, "dtype", "cotangent", "given", "width", "second", "tracked"),
           chosen={"dtype": FLOATS, "rank": "3 4", "ragged": "first middle regular last", "given": "both weight",
                   "cotangent": "whole fine"},
           never=(*SHAPE, *_LAYERS), silent={"ragged": "last"}),
    Family("norms", ("layer_norm",), (*BATCH, "dtype", "cotangent", "given", "over", "eps", "tracked"),
           chosen={"dtype": FLOATS, "rank": "3 4", "ragged": "first middle regular last", "eps": "absent half",
                   "cotangent": "whole fine"}, never=(*SHAPE, *_LAYERS), silent={"ragged": "last"}),
    Family("dropping", ("dropout",), (*BATCH, "dtype", "cotangent", "dropped"),
           chosen={"dtype": FLOATS, "rank": "2 3", "sizes": "other zero", "lengths": "mixed full empty"}, never=SHAPE),
    Family("losses", ("cross_entropy",),
           (*BATCH, "dtype", "cotangent", "folded", "ignored", "smoothed", "given", "width"),
           chosen={"dtype": FLOATS, "rank": "2 3", "ragged": "first last regular", "sizes": "other one",
                   "given": "neither weight", "width": "other one longest", "cotangent": "whole fine"}, never=SHAPE),
    Family("rows", ("embedding",), (*BATCH, "dtype", "cotangent", "second", "width"),
           chosen={"dtype": f"{FLOATS} int32", "second": "same whole",
                   "width": "other one longest zero"}, never=SHAPE),
    Family("cuts", ("chunk", "split"), (*BATCH, "dtype", "cotangent", "dim", "sign", "spelled", "pieces"),
           chosen={"dtype": _FEW, "dim": "batch regular last ragged"},
           never=(*SHAPE, *ONE_DIM, *_PIECES), silent={"dim": "ragged", "pieces": "total"}),
    Family("joined", ("cat", "stack"),
           (*BATCH, "dtype", "cotangent", "dim", "sign", "spelled", "arrays", "unlike", "second"),
           chosen={"dtype": f"{FLOATS} int32", "dim": "batch regular last ragged"},
           never=(*SHAPE, *ONE_DIM, *JOINED), silent={"unlike": "across lengths fewer deeper"},
           triples=("operator", "dim", "arrays")),
    Family("without ones", ("squeeze",), (*BATCH, "dtype", "cotangent", "dim", "sign", "spelled"),
           chosen={"dtype": _FEW, "sizes": "one other", "dim": "regular last ragged batch",
                   "spelled": "keyword position tuple"},
           never=(*SHAPE, *ONE_DIM, *_REFUSED, {"sizes": "other", "dtype": "int32 bool float16"},
                  {"sizes": "other", "cotangent": "spoilt"}),
           silent={"sizes": "other", "dim": "ragged batch last"}),
    Family("factors", ("unflatten",), (*BATCH, "dtype", "cotangent", "dim", "sign", "spelled", "factors"),
           chosen={"dtype": _FEW, "sizes": "other one zero", "dim": "regular last ragged batch"},
           never=(*SHAPE, *ONE_DIM, *_REFUSED), silent={"dim": "ragged batch", "factors": "misfit"}),
    Family("shapes", ("reshape", "view", "reshape_as"), (*BATCH, "dtype", "cotangent", "target", "counted"),
           chosen={"dtype": _FEW}, never=(*SHAPE, *_SHAPED),
           silent={"target": "misfit"}),
    Family("indices", ("getitem",), (*BATCH, "dtype", "cotangent", "picked", "sliced", "entry", "dots", "new"),
           chosen={"dtype": _FEW},
           never=(*SHAPE, *_INDEXED), silent={"entry": "list", "picked": "none", "sliced": "none", "dots": "twice"}),
    Family("masks", ("getitem",), (*BATCH, "dtype", "cotangent", "masked"),
           chosen={"dtype": _FEW},
           never=(*SHAPE, {"ragged": "regular", "masked": "misfit"}, {"batch": "none", "masked": "misfit fewer"}),
           silent={"masked": "misfit fewer nowhere"}),
    Family("padded", ("to_padded_array",), (*BATCH, "dtype", "cotangent", "padding", "outside", "spelled"),
           chosen={"dtype": _ANY, "lengths": "mixed equal ones full empty nearly"},
           never=(*SHAPE, {"dtype": "int32 bool int8", "padding": "nan infinite minus"},
                  {"dtype": "bool", "padding": "number"}), silent={"outside": "less"}),
    Family("carved", ("narrow",), (*BATCH, "dtype", "cotangent", "layout", "begins", "extent", "sign", "spelled"),
           chosen={"dtype": _FEW, **_HOLDS}, never=(*SHAPE, *_CARVED)),
    Family("buffers", ("nested_array_from_jagged", "nested_array_from_strided"),
           (*BATCH, "dtype", "cotangent", "described"), each=True,
           chosen={"dtype": _FEW, **_HOLDS},
           never=(*SHAPE, {"lengths": "empty", "described": "overlapping"})),
    Family("wrong buffers", ("nested_array_from_jagged", "nested_array_from_strided"),
           (*BATCH, "wrong", "component"), each=True,
           chosen={"batch": "three", "lengths": "full", "rank": "2 3", "ragged": "first", "sizes": "other"},
           never=SHAPE),
    Family("sequences", ("nested_array", "as_nested_array"), (*BATCH, "dtype", "layout", "asked"),
           chosen={"dtype": f"{FLOATS} int32 int8",
                   "batch": "two one three many", "ragged": "first last middle two", "asked": "same wider"},
           never=(*SHAPE, {"layout": "jagged", "ragged": "two"})),
    Family("runs of bools", ("masked_select",), (*BATCH, "dtype", "cotangent", "decides"),
           chosen={"dtype": _FEW, "ragged": "regular", "lengths": "equal", "batch": "two three many",
                   "decides": "whole row slice point"},
           never=({"batch": "many", "rank": "4"}, {"batch": "many", "sizes": "total batch"},
                  {"rank": "2", "sizes": "same"})),
    Family("converted", ("to",), (*BATCH, "dtype", "asked", "layout", "cotangent"),
           chosen={"dtype": f"{FLOATS} int32 int8", "asked": "same wider narrower", **_HOLDS},
           never=(*SHAPE, {"dtype": "float16 int8", "asked": "narrower"}, {"dtype": "float64", "asked": "wider"})),
    Family("equalities", ("equal", "allclose"), (*BATCH, "dtype", "differs"),
           chosen={"dtype": f"{FLOATS} int32", "sizes": "other zero", "rank": "2 3"}, never=(
               *SHAPE, {"batch": "none", "differs": "lengths"}, {"ragged": "regular", "differs": "lengths"},
               {"lengths": "equal ones empty", "differs": "lengths"}, {"batch": "one", "differs": "lengths"},
               {"dtype": "int32", "differs": "nan sign near"}, {"dtype": "float64", "differs": "dtype"})),
    Family("means of numbers", ("nanmean",), (*BATCH, "dtype", "numbers", "cotangent", *REDUCED),
           chosen={"dtype": FLOATS, "cotangent": "whole fine", "sizes": "other zero"}, never=(*SHAPE, *ONE_DIM)),
)
_HAVE_ONE = {op for family in (*FIRST.values(), *_LATER) for op in family.operators}
# Each function of two elements, or of one, that is in none of these is the only operator of its family.
_EACH = [
    *[Family(f"like {op}", (op,), (*BATCH, "dtype", "other", "side", "second", "tracked"), chosen=_ONE_MORE,
             never=(*SHAPE, *MET)) for op in PAIRS if op not in _HAVE_ONE],
    *[Family(f"like {op}", (op,), (*BATCH, "dtype"), chosen=_ONE_MORE, never=SHAPE)
      for op in FUNCTIONS if op not in _HAVE_ONE],
]
# fmt: on

LATER: Mapping[str, Family] = by_name((*_LATER, *_EACH), SMALL)
