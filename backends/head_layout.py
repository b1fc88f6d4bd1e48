"""The memory layout of attention: where the matrices of queries, keys and values of each head lie in flat buffers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .component_layout import Integers, packed_offsets, packed_strides
from .segments import Segments


class HeadMatrices(NamedTuple):
    """Matrices in a flat buffer, one for each of P heads of queries: their sizes, strides and offsets."""

    sizes: Integers  # (P, 2)
    strides: Integers  # (P, 2)
    offsets: Integers  # (P,)

    def select(self, heads: Integers) -> HeadMatrices:
        """Return the matrices of some heads."""
        return HeadMatrices(self.sizes[heads], self.strides[heads], self.offsets[heads])


@dataclass(frozen=True, eq=False)
class HeadLayout:
    """The memory layout of attention in B components, each of several heads.

    Each head has a matrix of queries, of keys and of values. A table of places has for each component the offset of its
    first matrix, and three steps: from a head to the next, from row to row, and from column to column. The elements of
    a row are adjacent. Matrices of different components and heads do not overlap. Only a mask can have any steps; a
    step of 0 repeats a part of it.

    Attributes
    ----------
    sizes : int64 (B, 4)
        Numbers of key heads, of query heads for each key head, of queries, and of keys.
    query_places, key_places, value_places, result_places, mask_places : int64 (B, 4)
        Tables of places. The results cover their buffer exactly once. The rows and columns of a mask are queries and
        keys; without a mask, the table is None.
    width, value_width : int
        The numbers of elements of a query or a key, and of a value.
    scale : float
        The factor by which products of queries and keys are multiplied.
    causal : bool
        Whether query ``i`` of a component attends to the first ``i + 1`` keys only. Then there is no mask.
    """

    sizes: Integers
    query_places: Integers
    key_places: Integers
    value_places: Integers
    result_places: Integers
    mask_places: Integers | None
    width: int
    value_width: int
    scale: float
    causal: bool

    @cached_property
    def num_query_heads(self) -> Integers:
        """The number of heads of queries of each component: int64 (B,)."""
        return self.sizes[:, 0] * self.sizes[:, 1]

    @property
    def num_queries(self) -> Integers:
        """The number of queries of each head of a component: int64 (B,)."""
        return self.sizes[:, 2]

    @property
    def num_keys(self) -> Integers:
        """The number of keys of each head of a component: int64 (B,)."""
        return self.sizes[:, 3]

    @property
    def num_scores(self) -> Integers:
        """The number of scores of all heads of a component: int64 (B,)."""
        return self.num_query_heads * self.num_queries * self.num_keys

    @cached_property
    def query_segments(self) -> Segments:
        """The queries of all heads of all components, as a segment for each component."""
        return Segments.from_lengths(self.num_query_heads * self.num_queries)

    @cached_property
    def total_scores(self) -> int:
        """The number of scores of all heads of all components."""
        return int(self.num_scores.sum())

    @property
    def result_numel(self) -> int:
        """The number of elements of all results."""
        return self.query_segments.rows * self.value_width

    @cached_property
    def query_matrices(self) -> HeadMatrices:
        """The matrix of queries of each head."""
        return self._matrices(self.query_places, self.num_queries, self.width)

    @cached_property
    def key_matrices(self) -> HeadMatrices:
        """The matrix of keys for each head of queries; the heads of a group share it."""
        return self._matrices(self.key_places, self.num_keys, self.width, is_shared=True)

    @cached_property
    def value_matrices(self) -> HeadMatrices:
        """The matrix of values for each head of queries; the heads of a group share it."""
        return self._matrices(self.value_places, self.num_keys, self.value_width, is_shared=True)

    @cached_property
    def result_matrices(self) -> HeadMatrices:
        """The matrix of results of each head."""
        return self._matrices(self.result_places, self.num_queries, self.value_width)

    @cached_property
    def mask_matrices(self) -> HeadMatrices:
        """The mask of each head; ``mask_places`` must not be None."""
        assert self.mask_places is not None
        return self._matrices(self.mask_places, self.num_queries, self.num_keys)

    @cached_property
    def score_matrices(self) -> HeadMatrices:
        """A matrix of scores for each head, one after the other."""
        sizes = np.stack([self.query_matrices.sizes[:, 0], self.key_matrices.sizes[:, 0]], axis=1)
        return HeadMatrices(sizes, packed_strides(sizes), packed_offsets(sizes))

    @cached_property
    def _components_and_heads(self) -> tuple[Integers, Integers]:
        """The component of each head of queries, and the index of the head in its component: int64 (P,) each."""
        component = np.repeat(np.arange(len(self.sizes)), self.num_query_heads)
        first_head = np.cumsum(self.num_query_heads) - self.num_query_heads
        return component, np.arange(len(component)) - first_head[component]

    def _matrices(
        self, places: Integers, rows: Integers, columns: Integers | int, is_shared: bool = False
    ) -> HeadMatrices:
        """Return the matrix of each head of queries; heads of a group have the same matrix if ``is_shared``."""
        component, head = self._components_and_heads
        if is_shared:
            head = head // self.sizes[component, 1]
        sizes = np.stack(np.broadcast_arrays(rows, columns), axis=1).take(component, axis=0)
        placed = places.take(component, axis=0)  # much faster than an index in brackets
        return HeadMatrices(sizes, placed[:, 2:], placed[:, 0] + head * placed[:, 1])
