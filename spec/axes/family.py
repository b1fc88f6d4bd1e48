"""What a family of operators is, and what the shape of a batch rules out for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from .levels import AXES

__all__ = ["BATCH", "FLOATS", "MET", "MOVED", "ONE_DIM", "REDUCED", "SHAPE", "Family", "by_name"]


@dataclass(frozen=True)
class Family:
    """Operators whose calls vary along the same axes.

    `chosen` names the levels of an axis where not all apply. `never` lists what no call has at once: levels by axis.
    `triples` are axes of which every three levels meet. `each` says that every operator has the whole array; otherwise
    the operators are an axis themselves, so that each meets every level and all of them together every two. `silent`
    are levels, beside `SILENT`, that leave nothing else to look at: mostly what is refused.
    """

    name: str
    operators: tuple[str, ...]
    axes: tuple[str, ...]
    chosen: Mapping[str, str] = field(default_factory=dict)
    never: tuple[Mapping[str, str], ...] = ()
    triples: tuple[str, ...] = ()
    each: bool = False
    silent: Mapping[str, str] = field(default_factory=dict)

    def levels(self) -> dict[str, tuple[str, ...]]:
        """The axes of an array with their levels, that of the operators among them."""
        operators = {} if self.each else {"operator": self.operators}
        return operators | {
            name: tuple(self.chosen[name].split()) if name in self.chosen else tuple(AXES[name].levels)
            for name in self.axes
        }


def by_name(families: Iterable[Family], levels: Mapping[str, str]) -> dict[str, Family]:
    """Return families by their names, with these levels of axes of which they name none."""
    found = {}
    for one in families:
        own = {axis: words for axis, words in levels.items() if axis in one.axes}
        found[one.name] = replace(one, chosen={**own, **one.chosen})
    return found


BATCH = ("batch", "lengths", "rank", "ragged", "sizes")
FLOATS = "float32 float64 float16"
REDUCED = ("dim", "sign", "spelled", "keepdim")

# fmt: off
# Where there is no middle, no regular dimension, or nothing to be equal to.
SHAPE: tuple[Mapping[str, str], ...] = (
    {"rank": "2 3", "ragged": "middle"},
    {"rank": "2", "ragged": "last two"},
    {"rank": "2", "ragged": "first", "sizes": "one zero batch longest total same"},
    {"rank": "3", "ragged": "two", "sizes": "one zero batch longest total same"},
    {"rank": "2", "ragged": "regular", "sizes": "same"},
    {"rank": "3", "ragged": "first last", "sizes": "same"},
    {"rank": "4", "ragged": "two", "sizes": "same"},
    {"ragged": "regular", "lengths": "mixed ones empty late long full hundreds nearly"},
    {"ragged": "regular two", "batch": "none"},
    {"batch": "none", "lengths": "equal ones empty late long full hundreds nearly"},
    {"batch": "none", "sizes": "batch longest total"},
    {"batch": "one", "lengths": "late equal full nearly"},
    {"lengths": "empty", "sizes": "longest total"},
    {"lengths": "long", "batch": "many"},
    {"lengths": "long", "rank": "3 4 5"},
    {"batch": "many", "rank": "4 5"},
    {"batch": "many", "sizes": "total batch"},
)
# What cannot be said of a dimension along which an operator works.
ONE_DIM: tuple[Mapping[str, str], ...] = (
    {"ragged": "regular", "dim": "ragged batch-ragged"},
    {"rank": "2", "ragged": "first", "dim": "regular"},
    {"rank": "3", "ragged": "two", "dim": "regular"},
    {"dim": "none", "spelled": "tuple reversed"},
    {"dim": "none", "sign": "back"},
    {"dim": "ragged regular last batch none", "spelled": "reversed"},
)
# What cannot be said of a second operand.
MET: tuple[Mapping[str, str], ...] = (
    {"rank": "2", "ragged": "first", "other": "thin"},
    {"rank": "3", "ragged": "two", "other": "thin"},
    {"lengths": "mixed empty late long full hundreds", "other": "whole"},
    {"ragged": "two", "other": "whole"},
    {"other": "number", "second": "wider whole"},
    {"other": "number", "tracked": "self other"},
    {"dtype": "float64", "second": "wider"},
    {"dtype": "int32 int8 bool", "tracked": "self other"},
    {"dtype": "int8", "second": "whole"},
    {"second": "whole", "tracked": "self other"},
)
# What cannot be said of a dimension that moves.
MOVED: tuple[Mapping[str, str], ...] = (
    {"ragged": "regular", "moved": "ragged"},
    {"ragged": "regular", "onto": "ragged"},
    {"rank": "2", "ragged": "first", "moved": "regular"},
    {"rank": "3", "ragged": "two", "moved": "regular"},
)
# fmt: on
