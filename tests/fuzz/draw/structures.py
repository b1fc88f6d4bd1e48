"""Malformed input for every constructor: offsets, lengths, sizes, strides, shapes of every kind, and huge numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.fuzzing.chance import Chance

from ..plan import Call

STRUCTURE = 4  # the first number of a key

HUGE = (2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, 2**70, -(2**70))
NO_INTEGERS: tuple[Any, ...] = (
    1.0,
    2.5,
    np.nan,
    True,
    None,
    "1",
    b"1",
    1j,
    [],
    [1],
    {},
    np.float64(2.0),
    np.bool_(True),
)
WIDTHS = tuple(np.dtype(name) for name in ("int64", "int64", "int32", "int8", "uint8", "uint64", "uint32", "int16"))
ODD_DTYPES = ("float64", "bool", "complex128", "U1", "O", "M8[D]", "i4,i4", "float32", "S1")


def malformed(seed: int, number: int) -> Call:
    """Call ``number``: of a constructor, with arguments that are often wrong."""
    chance = Chance(STRUCTURE, seed, number)
    return DRAWS[chance.one(CHOICES)](chance)


# ---- integers --------------------------------------------------------------------------------------------------------


def entry(chance: Chance, usual: int) -> Any:
    """An integer, or one that is too large, or something else."""
    kind = chance.below(12)
    if kind < 6:
        return usual + chance.one((-1, 1, -2, 2, 5, -7))
    return chance.one(HUGE) if kind < 10 else chance.one(NO_INTEGERS)


def spoiled(chance: Chance, numbers: list[Any], share: float = 0.35) -> Any:
    """Numbers as they are, or with one of them changed, left out or doubled; in one form or another."""
    given: list[Any] = list(numbers)
    if chance.happens(share):
        at = chance.below(len(given) + 1)
        how = chance.below(4)
        if how < 2 and given:
            at = min(at, len(given) - 1)
            given[at] = entry(chance, given[at]) if not isinstance(given[at], list) else spoiled(chance, given[at], 1.0)
        elif how == 2 and given:
            given.pop(min(at, len(given) - 1))
        else:
            given.insert(at, given[0] if given else 0)
    return formed(chance, given)


def formed(chance: Chance, given: list[Any]) -> Any:
    """A list, a tuple, an array of some dtype; now and then of one that is no integer, masked, or of another rank."""
    kind = chance.below(20)
    if kind < 6:
        return given
    if kind < 8:
        return tuple(given)
    if not _whole(given):
        return given
    dtype = chance.one(WIDTHS) if kind < 17 else np.dtype(chance.one(ODD_DTYPES))
    try:
        made = np.array(given, dtype)
    except (TypeError, ValueError, OverflowError):
        return given
    if kind == 16 and made.size:
        mask = np.zeros(made.shape, np.bool_)
        mask.reshape(-1)[chance.below(made.size)] = chance.happens(0.7)
        return np.ma.MaskedArray(made, mask)
    if kind == 15:
        return chance.one((made[..., None], made[0] if made.size else made, made.reshape(-1)[::-1], made[None]))
    return made


def _whole(given: Any) -> bool:
    """Whether this is nested lists of integers."""
    return all(map(_whole, given)) if isinstance(given, list | tuple) else type(given) is int


def values(chance: Chance, shape: tuple[int, ...]) -> Any:
    """Dense numbers that are all different."""
    size = int(np.prod(shape, dtype=np.int64))
    return np.arange(size, dtype=chance.one(("float64", "int64", "int8", "float32"))).reshape(shape)


# ---- calls -----------------------------------------------------------------------------------------------------------


def jagged(chance: Chance) -> Call:
    lengths = [chance.one((0, 1, 1, 2, 3)) for _ in range(chance.between(0, 3))]
    dim = chance.one((1, 1, 1, 2))
    starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    shape = [chance.between(1, 2), chance.between(1, 2)][: chance.between(dim - 1, 2)]
    rows = starts[-1] + (chance.one((0, 0, 1, -1, 3)) if chance.happens(0.3) else 0)
    shape.insert(dim - 1, max(rows, 0))
    given: dict[str, Any] = {}
    how = chance.below(4)
    if how < 3:
        given["offsets"] = spoiled(chance, starts)
    if how in (1, 2, 3):
        given["lengths"] = spoiled(chance, lengths)
    if dim > 1 or chance.happens(0.1):
        given["jagged_dim"] = dim if not chance.happens(0.1) else entry(chance, dim)
    if chance.happens(0.05):
        given[chance.one(("min_seqlen", "max_seqlen"))] = entry(chance, 1)
    return Call("nested_array_from_jagged", (values(chance, tuple(shape)),), given)


def strided(chance: Chance) -> Call:
    rank, count = chance.between(0, 3), chance.between(0, 3)
    sizes = [[chance.one((0, 1, 1, 2, 3)) for _ in range(rank)] for _ in range(count)]
    strides = [[chance.one((0, 1, 1, 2, 3)) for _ in range(rank)] for _ in range(count)]
    offsets = [chance.below(4) for _ in range(count)]
    total = chance.one((0, 1, 4, 12, 30))
    given: dict[str, Any] = {"sizes": spoiled(chance, sizes)}
    if chance.happens(0.7):
        given["strides"] = spoiled(chance, strides)
    if chance.happens(0.7):
        given["offsets"] = spoiled(chance, offsets)
    shape = (total,) if not chance.happens(0.03) else (total, 1)
    return Call("nested_array_from_strided", (values(chance, shape),), given)


def listed(chance: Chance) -> Call:
    """Lists of components, some of which are none."""
    rank = chance.between(0, 2)
    parts: list[Any] = [
        values(chance, tuple(chance.between(0, 2) for _ in range(rank))) for _ in range(chance.between(0, 3))
    ]
    if chance.happens(0.5):
        parts.insert(chance.below(len(parts) + 1), chance.one(ODD_COMPONENTS))
    options: dict[str, Any] = {"layout": chance.one(("jagged", "strided"))} if chance.happens(0.8) else {}
    if chance.happens(0.15):
        options["dtype"] = chance.one(
            (np.dtype(np.int8), np.dtype(np.float32), "nonsense", np.dtype("M8[D]"), None, 7, "O")
        )
    whole: Any = (
        parts if not chance.happens(0.05) else chance.one((None, 3, "ab", {}, np.zeros(3), np.zeros((2, 2)), b"x"))
    )
    return Call(chance.one(("nested_array", "as_nested_array")), (whole,), options)


ODD_COMPONENTS: tuple[Any, ...] = (
    [1, [2]], "a", None, [], [[]], 3, 2**70, [2**70], {}, np.zeros(2, "M8[D]"), np.zeros(0, "i4,i4"), np.zeros(1, "O"),
    np.ma.MaskedArray([1.0, 2.0], [True, False]), np.ones((1, 1)).view(np.matrix), np.zeros(2, complex),
    np.zeros(1, "S3"), [1j], np.zeros((1,) * 40), np.uint64(5), np.zeros(2, np.uint32), [True, 2.5], range(2),
    np.array(1.0),
)  # fmt: skip


RESHAPING = (
    "reshape", "view", "unflatten", "select", "getitem", "unsqueeze", "to_padded_array", "narrow", "chunk", "split",
)  # fmt: skip


def reshaped(chance: Chance) -> Call:
    """Shapes and indices for the arrays `x` of `judge.structures.TEXTS`."""
    op = chance.one(RESHAPING)
    name = chance.one(("dense", "jagged", "strided", "empty", "nothing"))
    number: Callable[[], Any] = lambda: entry(chance, chance.below(4))  # noqa: E731
    if op in ("reshape", "view"):
        return Call(
            op, (name, tuple(chance.one((-1, 0, 1, 2, 3, number())) for _ in range(chance.one((1, 2, 3, 3, 4, 66)))))
        )
    if op == "unflatten":
        return Call(
            op,
            (name, chance.between(-3, 3), tuple(chance.one((-1, 1, 2, number())) for _ in range(chance.between(1, 3)))),
        )
    if op == "select":
        return Call(op, (name, chance.between(-3, 3), number()))
    if op == "unsqueeze":
        return Call(op, (name, number()))
    if op == "to_padded_array":
        return Call(op, (name, 0, tuple(chance.one((2, 3, 4, number())) for _ in range(chance.one((2, 3, 3, 3, 4))))))
    if op == "narrow":
        return Call(op, (name, chance.between(-1, 2), spoiled(chance, [0, 1]), spoiled(chance, [1, 1])))
    if op == "split":
        sizes = chance.one((number(), tuple(chance.one((0, 1, 2, number())) for _ in range(chance.between(0, 3)))))
        return Call(op, (name, sizes, chance.between(-3, 3)))
    if op == "chunk":
        return Call(op, (name, chance.one((1, 2, 3, 2.0, True, None, -1, 0)), chance.between(-3, 3)))
    parts: list[Any] = []
    for _ in range(chance.one((1, 2, 2, 3, 3, 66))):
        ends = [chance.one((None, None, 0, 1, number())) for _ in range(3)]
        parts.append(chance.one((slice(*ends), slice(*ends), number(), None, ...)))
    return Call(op, (name, tuple(parts)))


def created(chance: Chance) -> Call:
    """New arrays of impossible shapes."""
    op = chance.one(("zeros", "ones", "empty", "full", "rand", "randint", "arange"))
    shape = tuple(chance.one((0, 1, 2, entry(chance, 1))) for _ in range(chance.one((1, 2, 3, 66))))
    if op == "arange":
        return Call(op, tuple(chance.one((1, 5, entry(chance, 2), 0.5)) for _ in range(chance.between(1, 3))))
    args: tuple[Any, ...] = (shape,) if op != "full" else (shape, chance.one((0, 1.5, 2**70, "x", None, [1, 2])))
    return Call(op, (3, 5, shape) if op == "randint" else args)


DRAWS: dict[str, Callable[[Chance], Call]] = {
    "jagged": jagged,
    "strided": strided,
    "listed": listed,
    "reshaped": reshaped,
    "created": created,
}
CHOICES = ("jagged",) * 8 + ("strided",) * 7 + ("listed",) * 3 + ("reshaped",) * 4 + ("created",)
