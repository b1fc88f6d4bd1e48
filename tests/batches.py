"""Small batches, and sample inputs on them, in a form for the implementation and the definitions alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

import pynested as pn
from pynested import operators
from pynested.spec.encoding import Components

from .nests import BOTH, DENSE, JAGGED, JAGGED_2, STRIDED, Kind, Numbers, batch

REGULAR = (JAGGED, JAGGED_2, STRIDED)
ROWS = (JAGGED, STRIDED)
ALL = (*REGULAR, BOTH)


@contextmanager
def nothing_warns() -> Iterator[None]:
    """Turn warnings of NumPy, and of Python, into errors."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


@dataclass(frozen=True, eq=False)
class Operand:
    """A nested operand: components, and the ragged dimension of its jagged form."""

    components: Components
    ragged: int = 1


@dataclass(frozen=True)
class Batch:
    """A batch of components of certain lengths, and operands whose shapes fit them."""

    kind: Kind
    lengths: tuple[int, ...]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return self.kind.shapes(self.lengths)

    @property
    def count(self) -> int:
        return len(self.lengths)

    @property
    def ragged(self) -> int:
        return self.kind.ragged

    def logical(self, rank: int = 2) -> tuple[int | None, ...]:
        """Return the shape, with None for irregular dimensions."""
        if self.kind.both:
            return (self.count, *[None] * rank)
        if self.kind is DENSE:
            return (self.count, *self.shapes[0])
        return (self.count, None, 2) if self.ragged == 1 else (self.count, 2, None)

    @lru_cache(5000)  # noqa: B019 - a batch is small, and calls share its operands
    def x(self, seed: int = 0, dtype: Any = np.float64) -> Operand:
        """Return different numbers of both signs."""
        return Operand(Components(batch(self.shapes, seed, dtype), self.logical(), dtype), self.ragged)

    def of(self, change: Callable[[Numbers], Numbers], dtype: Any = np.float64, seed: int = 0) -> Operand:
        """Return the same components, changed element by element."""
        return Operand(Components(map(change, self.x(seed).components), self.logical(), dtype), self.ragged)

    @lru_cache(5000)  # noqa: B019 - a batch is small, and calls share its operands
    def deep(self) -> Operand:
        """Return components with one more dimension, of size 3, at the end."""
        shapes = [(*shape, 3) for shape in self.shapes]
        return Operand(Components(batch(shapes, 4), (*self.logical(), 3), np.float64), self.ragged)

    @lru_cache(5000)  # noqa: B019 - a batch is small, and calls share its operands
    def turned(self) -> Operand:
        """Return other components, of the transposed shapes."""
        shapes = [shape[::-1] for shape in self.shapes]
        logical = (self.count, *self.logical()[:0:-1])
        return Operand(Components(batch(shapes, 1), logical, np.float64), 3 - self.ragged)

    @lru_cache(5000)  # noqa: B019 - a batch is small, and calls share its operands
    def flat(self) -> Operand:
        """Return other components, of one dimension and the same number of elements."""
        shapes = [(int(np.prod(shape)),) for shape in self.shapes]
        return Operand(Components(batch(shapes, 2), (self.count, None), np.float64), 1)

    @lru_cache(5000)  # noqa: B019 - a batch is small, and calls share its operands
    def ones(self) -> Operand:
        """Return other components, whose regular size is 1."""
        shapes = [tuple(1 if d == self.kind.regular else n for d, n in enumerate(s, 1)) for s in self.shapes]
        logical = tuple(1 if d == self.kind.regular else n for d, n in enumerate(self.logical()))
        return Operand(Components(batch(shapes, 3), logical, np.float64), self.ragged)

    @lru_cache(5000)  # noqa: B019 - a batch is small, and calls share its operands
    def labels(self, classes: int) -> Operand:
        """Return an integer below ``classes`` for each row of the components."""
        made = [np.arange(shape[0]) * (i + 1) % classes for i, shape in enumerate(self.shapes)]
        return Operand(Components(made, (self.count, None), np.int64), 1)

    def sizes(self, batch_size: int) -> tuple[int, ...]:
        """Return the shape of a dense operand: in each dimension the size that all components have, or 1."""
        if not self.shapes:
            return (batch_size, *[2 if dim == self.kind.regular else 1 for dim in (1, 2)])
        return (batch_size, *[sizes[0] if len({*sizes}) == 1 else 1 for sizes in zip(*self.shapes, strict=True)])

    def at(self, dim: int, item: Any) -> tuple[Any, ...]:
        """Return the index ``[:, ..., item]`` with ``item`` at ``dim``."""
        return (*[slice(None)] * dim, item)


Arguments = Callable[[Batch], tuple[Any, ...]]
Refusal = Callable[[Batch], type[Exception] | None]


@dataclass(frozen=True)
class Call:
    """A sample input of an operator, for some kinds of nested arrays."""

    op: str
    label: str
    arguments: Arguments
    keywords: dict[str, Any] = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ALL
    refuses: Refusal = lambda batch: None
    smooth: bool = True  # the definition is analytic, so that a complex step differentiates it
    dense: bool = True  # it can be made of dense arrays too, by the same law

    def __str__(self) -> str:
        return f"{self.op}-{self.label}" if self.label else self.op

    @property
    def forms(self) -> tuple[Kind, ...]:
        """The kinds of nested arrays, and `DENSE` if the law holds for dense arrays too."""
        return (*self.kinds, DENSE) if self.dense and STRIDED in self.kinds else self.kinds

    @property
    def function(self) -> Callable[..., Any]:
        """The public function."""
        return getattr(operators, self.op, None) or getattr(pn, self.op)  # type: ignore[no-any-return]

    def given(self, batch: Batch, change: Callable[[Any], Any]) -> list[Any]:
        """Return the arguments, with each array changed; arrays among the keywords are constants."""
        return [mapped(change, argument) for argument in self.arguments(batch)]


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Return ``value`` with ``change`` applied to each array in it, nested or dense."""
    if isinstance(value, Operand | np.ndarray):
        return change(value)
    if isinstance(value, dict):
        return {name: mapped(change, part) for name, part in value.items()}
    return [mapped(change, part) for part in value] if isinstance(value, list) else value
