"""Where the queries, keys and values of attention lie in flat buffers, and which of them meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .matrices import Matrices
from .places import same_integers

Ints = NDArray[np.int64]


class Placed(NamedTuple):
    """Matrices in a flat buffer, one for each head: where each begins, its sizes, and the steps from row to row.

    Those of a mask may step from column to column too, by 0 where it is the same for all of them.
    """

    sizes: Ints  # (P, 2)
    strides: Ints  # (P, 2)
    offsets: Ints  # (P,)


@dataclass(frozen=True, eq=False)
class Heads:
    """Attention in B components, each of several heads: a matrix of queries meets one of keys and one of values.

    Component ``i`` has ``sizes[i]``: heads of keys, heads of queries that share one of these, queries, keys. Where its
    arrays lie is said by an offset, the step from head to head and that from row to row; the elements of a row follow
    each other. Those of different components, and heads, do not overlap; only masks may.

    Attributes
    ----------
    sizes : int64 (B, 4)
    query, key, value, made : int64 (B, 3)
        ``made`` is where the result goes; it covers its buffer exactly once.
    mask : int64 (B, 4), or None
        An offset, and steps between heads of queries, queries and keys, any of which may be 0.
    width, value_width : int
        The elements of a query or a key, and those of a value.
    scale : float
        What the products of queries and keys are multiplied by.
    causal : bool
        Whether query ``i`` of a component meets its first ``i + 1`` keys only.
    """

    sizes: Ints
    query: Ints
    key: Ints
    value: Ints
    made: Ints
    mask: Ints | None
    width: int
    value_width: int
    scale: float
    causal: bool

    def __post_init__(self) -> None:
        """Let equal tables be one, so that what follows from them is worked out once."""
        known: list[Ints] = []
        for name in ("query", "key", "value", "made"):
            own = getattr(self, name)
            same = next((one for one in known if same_integers(one, own)), None)
            if same is None:
                known.append(own)
            else:
                object.__setattr__(self, name, same)

    def of(self, which: Ints) -> Heads:
        """The heads of these components, in this order."""
        every = (self.sizes, self.query, self.key, self.value, self.made)
        sizes, query, key, value, made = (one[which] for one in every)
        mask = None if self.mask is None else self.mask[which]
        return replace(self, sizes=sizes, query=query, key=key, value=value, made=made, mask=mask)

    @cached_property
    def counts(self) -> Ints:
        """The number of heads of queries of each component: int64 (B,)."""
        return self.sizes[:, 0] * self.sizes[:, 1]

    @cached_property
    def first_row(self) -> Ints:
        """Where the rows of each component begin, those of all its heads one after the other: int64 (B + 1,)."""
        starts = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(self.counts * self.sizes[:, 2], out=starts[1:])
        return starts

    @property
    def rows(self) -> int:
        """The number of all queries of all heads."""
        return int(self.first_row[-1])

    @property
    def pairs(self) -> int:
        """The number of all scores."""
        return int((self.counts * self.sizes[:, 2] * self.sizes[:, 3]).sum())

    @cached_property
    def _component(self) -> tuple[Ints, Ints]:
        """For each head of queries its component, and its number there."""
        component = np.repeat(np.arange(len(self.sizes)), self.counts)
        before = np.cumsum(self.counts) - self.counts
        return component, np.arange(len(component)) - before[component]

    def _placed(self, places: Ints, rows: int, width: int, shared: bool = False) -> Placed:
        """The matrices of each head of queries: so many columns, and the rows of the sizes in that column."""
        component, head = self._component
        number = head // self.sizes[component, 1] if shared else head
        own = places[component]
        sizes = np.stack([self.sizes[component, rows], np.full(len(component), width)], axis=1)
        steps = np.stack([own[:, 2], np.ones(len(component), np.int64)], axis=1)
        return Placed(sizes, steps, own[:, 0] + number * own[:, 1])

    @cached_property
    def queries(self) -> Placed:
        """The matrix of queries of each head."""
        return self._placed(self.query, 2, self.width)

    @cached_property
    def keys(self) -> Placed:
        """The matrix of keys that each head of queries meets."""
        return self._placed(self.key, 3, self.width, shared=True)

    @cached_property
    def values(self) -> Placed:
        """The matrix of values that each head of queries meets."""
        return self._placed(self.value, 3, self.value_width, shared=True)

    @cached_property
    def results(self) -> Placed:
        """Where the result of each head goes."""
        return self._placed(self.made, 2, self.value_width)

    @cached_property
    def masks(self) -> Placed:
        """The mask of each head: there is one."""
        assert self.mask is not None
        component, head = self._component
        own = self.mask[component]
        return Placed(self.sizes[component, 2:], own[:, 2:], own[:, 0] + head * own[:, 1])

    @cached_property
    def scores(self) -> Matrices:
        """A matrix of scores for each head, one after the other."""
        return Matrices.of_sizes(self.queries.sizes[:, 0], self.keys.sizes[:, 0])
