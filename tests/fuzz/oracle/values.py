"""What a call takes and gives, in plain NumPy: arrays as components, and what the specification says of a call."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pynested.spec import bounds
from pynested.spec.components import Components, each
from pynested.spec.definitions import definition
from pynested.spec.overflow import overflowing
from pynested.spec.table import load_table

TABLE = load_table()
DTYPES = tuple(
    np.dtype(name) for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
)

Sizes = tuple[int | None, ...]


class Refused(Exception):
    """The specification refuses the call, with an error of one of these classes."""

    def __init__(self, *kinds: str) -> None:
        super().__init__(*kinds)
        self.kinds = frozenset(kinds)


class Silent(Exception):
    """The specification does not say whether the call is refused, or what comes out."""


class Nest(list[Any]):
    """Components of one nested array, in a layout; or one dense array, whose layout is then ``"dense"``.

    ``shape`` is the logical shape with None where sizes may differ. ``dtype`` is that of the array: the components of a
    result are wide, and are rounded by whoever compares. ``sizes`` are those of a batch of no components, None where
    nobody knows them.
    """

    def __init__(
        self, components: Iterable[Any], layout: str, dtype: Any, ragged: int | None = None, sizes: Sizes = ()
    ) -> None:
        super().__init__(components)
        self.layout, self.dtype, self.ragged = layout, np.dtype(dtype), ragged
        if layout == "dense":
            self.shape: Sizes = tuple(self[0].shape)
            return
        if self:
            sizes = tuple(
                same[0] if len(set(same)) == 1 else None for same in zip(*[c.shape for c in self], strict=True)
            )
        self.shape = (len(self), *[None if d == ragged else size for d, size in enumerate(sizes, 1)])

    @property
    def dense(self) -> bool:
        return self.layout == "dense"

    @property
    def rank(self) -> int:
        """The number of dimensions, the batch of a nested array among them."""
        return len(self.shape)

    @property
    def count(self) -> int:
        return len(self)

    @property
    def unknown(self) -> bool:
        """Whether this is a batch of no components that may have forgotten its regular sizes."""
        return not self and any(size is None for dim, size in enumerate(self.shape) if dim != self.ragged)

    def column(self, dim: int) -> tuple[int, ...]:
        """The size of each component along ``dim``, counted with the batch."""
        return tuple(component.shape[dim - 1] for component in self)

    def like(self, components: Iterable[Any], dtype: Any = None, ragged: int | None = None, sizes: Any = None) -> Nest:
        """Other components in this layout; what is not named stays."""
        return Nest(
            components,
            self.layout,
            self.dtype if dtype is None else dtype,
            self.ragged if ragged is None else ragged,
            self.shape[1:] if sizes is None else tuple(sizes),
        )


def flat(parts: Iterable[Any], dtype: Any) -> Any:
    """All elements of some arrays, one after the other."""
    return np.concatenate([np.zeros(0, dtype), *[np.asarray(one).reshape(-1) for one in parts]])


def shaped(x: Nest, dtype: Any = None) -> Components:
    """The components as definitions take them, in ``dtype``; a dense array is the one component of a batch."""
    parts = x if dtype is None else [one.astype(dtype) for one in x]
    return Components(parts, (1, *x.shape) if x.dense else x.shape, parts[0].dtype if x else x.dtype)


def dense(array: Any, dtype: Any = None) -> Nest:
    """One dense array."""
    return Nest([array], "dense", array.dtype if dtype is None else dtype)


def stacked(components: Sequence[Any], sizes: Sizes, dtype: Any) -> Nest:
    """A dense array with a row for each component; ``sizes`` are those of a row, should there be none."""
    if components:
        return dense(np.stack([np.asarray(component) for component in components]), dtype)
    if None in sizes:
        raise Silent
    return dense(np.zeros((0, *[size or 0 for size in sizes])), dtype)


class Answer:
    """What an accepted call gives: the definition, called with canonical arguments, and what kind of array that makes.

    ``wrap`` makes of what the definition gives a `Nest`, or a list of them. Where ``may_refuse`` is set the call may be
    refused as well. ``spread``, where a rule has one, is how far off a result may be that the table calls exact;
    ``raw`` is what the definition gives, where a rule knows better.
    """

    slopes: Mapping[str, Callable[..., Any]] = {}  # other definitions to use in place of those of the specification

    def __init__(
        self,
        op: str,
        arguments: Mapping[str, Any],
        wrap: Callable[[Any], Any],
        may_refuse: bool = False,
        spread: Callable[[Any], Any] | None = None,
        raw: Any = None,
    ) -> None:
        self.op, self.arguments, self.wrap, self.may_refuse, self.spread = op, arguments, wrap, may_refuse, spread
        self.raw = Answer.slopes.get(op, definition(op))(**arguments) if raw is None else raw
        self.value = wrap(self.raw)
        self.may_drop = False  # each element may be a zero instead

    @property
    def exact(self) -> bool:
        if self.spread is not None:
            return False
        return TABLE[self.op].precision in bounds.NO_TOLERANCE or first_nest(self.value).dtype.kind != "f"

    def tolerance(self) -> Any:
        """How far each element may be off, as a `Nest` of the same form; twice the bound, as float64 is rounded too."""
        with np.errstate(all="ignore"):
            if self.spread is not None:
                return self.wrap(self.spread(self.raw))
            dtype = first_nest(self.value).dtype.name
            allowed = bounds.tolerance(TABLE[self.op].precision, definition(self.op), self.arguments, self.raw, dtype)
            return self.wrap(each(lambda one: 2 * np.asarray(one), allowed))

    def overflowing(self) -> Any:
        """Where an infinity or NaN is right too, as a `Nest` of the same form."""
        dtype = first_nest(self.value).dtype.name
        with np.errstate(all="ignore"):
            return self.wrap(
                overflowing(TABLE[self.op].precision, definition(self.op), self.arguments, self.raw, dtype)
            )


def nests(value: Any) -> list[Nest]:
    """Every array of a result, or among arguments."""
    if isinstance(value, Nest):
        return [value]
    return [one for part in value for one in nests(part)] if isinstance(value, list | tuple) else []


def first_nest(value: Any) -> Nest:
    """The array of a result, or the first of several."""
    return nests(value)[0]


# ---- arguments -------------------------------------------------------------------------------------------------------


def integer(value: Any) -> int:
    """``value`` as an int; a bool, a float and anything else is refused."""
    if isinstance(value, bool | np.bool_):
        raise Refused("ArgumentError")
    try:
        return operator.index(value)
    except TypeError:
        raise Refused("ArgumentError") from None


def dim_of(x: Nest, dim: Any, more: int = 0) -> int:
    """``dim`` as definitions count it, with the batch as 0; the array is one component if it is dense."""
    rank, at = x.rank + more, integer(dim)
    if not -rank <= at < rank:
        raise Refused("DimensionError")
    return at % rank + x.dense


def component_dim(x: Nest, dim: Any, more: int = 0) -> int:
    """`dim_of`, where the batch has no part in it."""
    at = dim_of(x, dim, more)
    if not at:
        raise Refused("DimensionError")
    return at


def dims_of(x: Nest, dim: Any) -> tuple[int, ...] | None:
    """Sorted dims as definitions count them; None for all of a nested array."""
    if dim is None:
        return tuple(range(1, x.rank + 1)) if x.dense else None
    given = dim if isinstance(dim, tuple | list) else (dim,)
    dims = sorted(dim_of(x, one) for one in given)
    if len(set(dims)) < len(dims):
        raise Refused("DimensionError")
    return tuple(dims)


def dtype_of(value: Any) -> np.dtype[Any]:
    """A dtype that is asked for, if it is one of ours."""
    try:
        found: np.dtype[Any] = np.dtype(value)
    except TypeError:
        raise Refused("DTypeError") from None
    if found not in DTYPES:
        raise Refused("DTypeError")
    return found


def both(*checks: Callable[[], Any]) -> list[Any]:
    """What several checks give; where some refuse, all that they refuse with, as either mistake may be told first."""
    given, kinds = [], set()
    for check in checks:
        try:
            given.append(check())
        except Refused as refusal:
            kinds |= refusal.kinds
    if kinds:
        raise Refused(*kinds)
    return given


def holds(dtype: np.dtype[Any], value: Any) -> None:
    """Refuse a number to fill with that no element of ``dtype`` can equal."""
    number = value.item() if isinstance(value, np.generic) else value
    if dtype.kind == "f":
        least_too_many = 2 * float(np.finfo(dtype).max) if dtype.itemsize < 8 else 2**1024
        if abs(number) != np.inf and abs(number) >= least_too_many:
            raise Refused("OverflowError", "DTypeError")
        if abs(number) != np.inf and abs(number) > float(np.finfo(dtype).max):
            raise Silent  # it may round to the largest, or beyond
        return
    whole = isinstance(number, int) or (np.isfinite(number) and number == int(number))
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not whole or (dtype.kind == "b" and not least <= number <= most):
        raise Refused("DTypeError")
    if not least <= number <= most:
        raise Refused(*["OverflowError"] if isinstance(number, int) else ["OverflowError", "DTypeError"])


def unfit(dtype: np.dtype[Any], numbers: Any) -> str | None:
    """The error with which ``dtype`` does not take the numbers of an array: chapter 3, nothing narrower in silence."""
    kind = numbers.dtype.kind
    if kind == dtype.kind == "f" or kind == "b":
        return None
    if dtype.kind in "biu" and kind == "f":
        return "DTypeError"
    if dtype.kind == "f":
        return "OverflowError" if np.isinf(numbers.astype(dtype)).any() else None
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    fits = not numbers.size or least <= int(numbers.min()) <= int(numbers.max()) <= most
    return None if fits else "OverflowError"
