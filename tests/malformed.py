"""Malformed structures, shapes, dimensions and indices, drawn at random: refused with a clear error, or right.

    python -m tests.malformed [--count N] [--seed S]

A refusal is an error of pynested with a text, or one of Python's that names the operator. What is accepted is compared
with loops over Python's integers. A seed and a number make one call, whatever the machine: ``--first K --count 1``
repeats the call number K.
"""

from __future__ import annotations

import argparse
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import pynested as pn
from pynested.backends.errors import PynestedError

HUGE = (2**50, 2**59 - 1, 2**59, 2**60, 2**62, 2**63 - 1, 2**63, 2**64, 2**70)
STRANGE = (
    1.5,
    2.0,
    float("nan"),
    float("inf"),
    True,
    False,
    None,
    "2",
    b"2",
    (),
    [],
    [1],
    {},
    1j,
    object,
    np.float32(2),
    np.ma.array(2, mask=True),
)
SMALL_VIEW = 64  # elements; the components of larger views are only looked at in their corners


class Draw:
    """Arguments of one call, from a seed and its number."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = np.random.default_rng([seed, number])

    def chance(self, part: float) -> bool:
        return bool(self.random.random() < part)

    def among(self, choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def number(self) -> Any:
        """Mostly a small integer, of some kind; sometimes a huge one, seldom something else."""
        kind = self.random.random()
        if kind < 0.8:
            small = int(self.random.integers(-2, 8) if kind < 0.3 else self.random.integers(0, 5))
            return self.among((small, small, small, np.int64(small), np.int8(small), pn.array(small)))
        if kind < 0.96:
            return self.among(HUGE) * self.among((1, 1, -1))
        return self.among(STRANGE)

    def numbers(self, count: int | None = None) -> Any:
        """A list, a tuple or an array of numbers, of a length that may be wrong."""
        length = count if count is not None and self.chance(0.9) else int(self.random.integers(0, 5))
        given = [self.number() for _ in range(length)]
        if all(type(one) is int and abs(one) < 2**63 for one in given) and self.chance(0.5):
            dtype = self.among((np.int64, np.int64, np.uint64, np.int8, np.float64, np.bool_))
            with np.errstate(all="ignore"):
                return np.array(given, np.int64).astype(dtype)
        return self.among((list, tuple))(given)

    def several(self, count: int | None = None) -> Any:
        """Mostly `numbers`, seldom a number alone."""
        return self.number() if self.chance(0.03) else self.numbers(count)

    def offsets(self, count: int, end: int) -> Any:
        """Offsets that are often right."""
        if self.chance(0.4):
            return self.several(count + 1)
        cuts = np.sort(self.random.integers(0, end + 1, count + 1))
        cuts[0], cuts[-1] = 0, end if self.chance(0.8) else end + 1
        return cuts.tolist() if self.chance(0.5) else cuts

    def table(self, count: int, dims: int) -> Any:
        """Rows of numbers that are often right."""
        if self.chance(0.3):
            return [self.several(dims) for _ in range(count)]
        table = self.random.integers(0, 4, (count, dims))
        if table.size and self.chance(0.3):
            table[tuple(self.random.integers(0, table.shape))] = self.among((2**28, 2**31, 2**40, 2**59, 2**62, -1))
        return table.tolist() if self.chance(0.3) else table

    def entry(self, steps: bool = True) -> Any:
        """An entry of an index."""
        if self.chance(0.5):
            return slice(*[self.number() if self.chance(0.7) else None for _ in range(2 + steps)])
        return self.among((self.number(), None, ..., self.number()))


def jagged(draw: Draw) -> None:
    """`nested_array_from_jagged`, against slices."""
    values = np.arange(float(2 * 7)).reshape(7, 2)
    count = int(draw.random.integers(0, 4))
    offsets = None if draw.chance(0.2) else draw.offsets(count, 7)
    lengths = draw.several(count) if draw.chance(0.4) else None
    x = pn.nested_array_from_jagged(values, offsets, lengths, draw.number() if draw.chance(0.1) else None)
    if x.structure.ragged_dim == 2:
        values = values.T
    counts = lengths if lengths is not None else np.diff([int(one) for one in offsets])
    starts = offsets if offsets is not None else [0, *itertools.accumulate(int(one) for one in counts)]
    for got, start, size in zip(x.unbind(), starts, counts, strict=False):
        rows = list(range(int(start), int(start) + int(size)))
        assert all(0 <= row < len(values) for row in rows)
        shown = got.numpy().T if x.structure.ragged_dim == 2 else got.numpy()
        assert shown.tolist() == [values[row].tolist() for row in rows]
    assert len(x) == len(counts)
    use(draw, x)


def strided(draw: Draw) -> None:
    """`nested_array_from_strided`, against the formula."""
    buffer = np.arange(40.0)
    count, dims = int(draw.random.integers(0, 4)), int(draw.random.integers(0, 4))
    sizes = draw.table(count, dims)
    strides = draw.table(count, dims) if draw.chance(0.7) else None
    offsets = draw.several(count) if draw.chance(0.5) else None
    x = pn.nested_array_from_strided(buffer, sizes, strides, offsets)
    for i, component in enumerate(x.unbind()):
        size = tuple(int(one) for one in sizes[i])
        assert component.shape == size == x.component_shape(i)
        if 0 not in size and strides is not None and offsets is not None:
            check_places(component.numpy(), size, [int(one) for one in strides[i]], int(offsets[i]))
    use(draw, x)


def check_places(shown: Any, size: tuple[int, ...], steps: list[int], offset: int) -> None:
    """Each element, or each corner of a large view, is that of the buffer, which counts its places."""
    small = np.prod(size, dtype=float) <= SMALL_VIEW
    for index in itertools.product(*[range(n) if small else {0, n - 1} for n in size]):
        assert shown[index] == offset + sum(k * s for k, s in zip(index, steps, strict=True))


def use(draw: Draw, x: Any) -> None:
    """One view of an array, which has to be as valid as the array."""
    most = int(x.component_sizes().max(initial=0)) * max(len(x), 1) ** 2
    made = draw.among(NESTED if most < SMALL_VIEW else VIEWS)(draw, x)
    for one in made if isinstance(made, tuple) else (made,):
        if isinstance(one, pn.NestedArray):
            assert repr(one.shape) and len(one.unbind()) == len(one) and one.structure.fits(one.data.data)


def dense(draw: Draw) -> None:
    """A function of a dense array, or one that makes one."""
    x = pn.zeros(draw.among(((24,), (2, 3, 4), (1, 4), (2, 0, 3), ())))
    made = draw.among(DENSE)(draw, x)
    for one in made if isinstance(made, tuple) else (made,):
        assert isinstance(one, pn.Array) and one.ndim <= 64


Call = Callable[[Draw, Any], Any]
VIEWS: list[Call] = [  # which take no memory, however large the array
    lambda draw, x: x[draw.entry(steps=False)],
    lambda draw, x: x[tuple(draw.entry(steps=False) for _ in range(int(draw.random.integers(0, 4))))],
    lambda draw, x: x[(slice(None), *[None] * int(draw.among((1, 61, 62, 63, 64))))],
    lambda draw, x: x.select(draw.number(), draw.number()),
    lambda draw, x: x.transpose(draw.number(), draw.number()),
    lambda draw, x: x.unsqueeze(draw.number()),
    lambda draw, x: x.unflatten(draw.number(), draw.several(2)),
    lambda draw, x: x.view(len(x) if x.ndim else 1, -1, *draw.numbers(1)),
    lambda draw, x: x.narrow(draw.number(), draw.number(), draw.number()),
    lambda draw, x: x.permute(draw.several(x.ndim)),
    lambda draw, x: x.squeeze(draw.number()),
    lambda draw, x: x.split(draw.among((int(draw.random.integers(2**20, 2**60)), draw.several(2))), draw.number()),
    lambda draw, x: x.chunk(int(draw.random.integers(-1, 5)), draw.number()),
]
SMALL: list[Call] = [
    *VIEWS,
    lambda draw, x: x[[draw.number() for _ in range(int(draw.random.integers(0, 3)))]],
    lambda draw, x: x[draw.entry()],
    lambda draw, x: x[tuple(draw.entry() for _ in range(int(draw.random.integers(0, 4))))],
    lambda draw, x: x.reshape(draw.several(x.ndim)),
    lambda draw, x: x.flatten(draw.number(), draw.number()),
    lambda draw, x: x.reshape(len(x) if x.ndim else 1, *draw.numbers(x.ndim)),
    lambda draw, x: pn.stack([x, x], draw.number()),
    lambda draw, x: pn.layer_norm(x, draw.several(1)),
    lambda draw, x: pn.softmax(x, draw.number()),
    lambda draw, x: pn.sum(x, draw.number()),
    lambda draw, x: pn.amax(x, draw.several()),
]
NESTED: list[Call] = [
    *SMALL,
    lambda draw, x: x.size(draw.number()),
    lambda draw, x: pn.to_padded_array(x, 0.0, [len(x), *draw.numbers(x.ndim - 1)]),
    lambda draw, x: x.to(layout=pn.jagged),
]
DENSE: list[Call] = [
    *SMALL,
    lambda draw, x: x.as_strided(draw.several(2), draw.several(2), draw.number()),
    lambda draw, x: x.broadcast_to(draw.several(3)),
    lambda draw, x: x.permute(draw.several(3)),
    lambda draw, x: pn.zeros(draw.several(3)),
    lambda draw, x: pn.empty(*draw.numbers(2)),
    lambda draw, x: pn.full(draw.several(2), 1.0),
    lambda draw, x: pn.rand(draw.several(2)),
    lambda draw, x: pn.randint(3, size=draw.several(2)),
    lambda draw, x: pn.arange(*draw.numbers()),
    lambda draw, x: x.chunk(draw.number(), draw.number()),
    lambda draw, x: pn.reshape(x, (1,) * int(draw.among((64, 65)))),
    lambda draw, x: pn.narrow(x, draw.number(), draw.several(2), draw.several(2)).unbind(),
    lambda draw, x: pn.narrow(x, 1, draw.number(), draw.number(), layout=pn.jagged).unbind(),
]


def run(seed: int, count: int, first: int = 0) -> Counter[str]:
    """Make so many calls; what came of them, by name. An error that is none of ours is raised."""
    found: Counter[str] = Counter()
    for number in range(first, first + count):
        draw = Draw(seed, number)
        call = draw.among((jagged, strided, dense))
        try:
            call(draw)
        except (PynestedError, MemoryError, OverflowError) as error:
            own = not isinstance(error, OverflowError) or re.match(r"\w+: ", str(error))
            assert str(error) and own, f"{call.__name__}, seed {seed}, number {number}: {error!r}"
            found[type(error).__name__] += 1
        except Exception as error:
            raise AssertionError(f"{call.__name__}, seed {seed}, number {number}: {error!r}") from error
        else:
            found["accepted"] += 1
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, value in (("--seed", 1), ("--count", 1_000_000), ("--first", 0)):
        parser.add_argument(option, type=int, default=value)
    asked = parser.parse_args()
    warnings.simplefilter("error")
    print(dict(run(asked.seed, asked.count, asked.first).most_common()))
