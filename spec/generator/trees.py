"""Values as trees: a dense array is a leaf, Components hold leaves, a list or a mapping holds either."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..components import Components, is_several, of_parts, parts_of
from ..numerics import NDArray

__all__ = ["as_dtype", "leaves", "like", "map_leaves"]


def leaves(tree: Any) -> list[NDArray]:
    """Return the arrays of a tree in order; what is no array has none."""
    if isinstance(tree, np.ndarray):
        return [tree]
    return list(tree) if isinstance(tree, Components) else [leaf for part in parts_of(tree) for leaf in leaves(part)]


def map_leaves(function: Callable[[NDArray], NDArray], tree: Any) -> Any:
    """Return the tree with `function` applied to every array."""
    return like(tree, iter([function(leaf) for leaf in leaves(tree)]))


def as_dtype(tree: Any, dtype: Any) -> Any:
    """Return the tree with every array, and every batch of no components, in another dtype."""
    return like(tree, iter([leaf.astype(dtype) for leaf in leaves(tree)]), dtype)


def like(tree: Any, arrays: Iterator[NDArray], dtype: Any = None) -> Any:
    """Return a tree of the same form around new arrays."""
    if isinstance(tree, Components):
        parts = [next(arrays) for _ in tree]
        return Components(parts, tree.shape, dtype if dtype is not None or parts else tree.dtype)
    if is_several(tree):
        return of_parts(tree, [like(part, arrays, dtype) for part in parts_of(tree)])
    return next(arrays) if isinstance(tree, np.ndarray) else tree
