"""The bounds of reductions: of results and of gradients, an operator after the other.

`E`, `lost` and `added` are those of `bounds`, `gradient_bounds` and `overflow`, which take them from here. Each is a
function of one block: `x`, where its elements are `present`, the axes of the run, and for gradients the cotangent `g`,
that of a run at all of its elements. A block is a component, or with dimension 0 the whole batch, left-aligned.

| name | E                | E of the gradient        | because                               |
|------|------------------|--------------------------|---------------------------------------|
| prod | n·abs(r)         | (n + 4)·abs(g·r/x)       | n - 1 products, in any order          |

In r/x no division is meant: it is the product of the other elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .components import Components, dims_of, left_align, over_runs
from .numerics import NDArray, product_along, sum_along, wide

__all__ = ["RUN_BOUNDS", "RunBound", "of_gradient", "of_result"]

Block = Callable[..., Any]  # (x, present, axes) or (x, present, axes, g) -> numbers that broadcast against x


@dataclass(frozen=True)
class RunBound:
    """What the errors of one reduction are made of; results keep the reduced axes, with size 1."""

    error: Block
    lost: Block
    added: Block
    gradient: Block
    gradient_lost: Block
    gradient_added: Block


def of_result(block: Block, arguments: Mapping[str, Any]) -> Any:
    """Return what `block` says of every element of the result."""
    dim, keepdim = arguments.get("dim"), arguments.get("keepdim", False)

    def one(x: NDArray, present: NDArray, axes: tuple[int, ...]) -> Any:
        found = np.asarray(block(wide(x), present, axes))
        return found if keepdim else found.reshape([n for axis, n in enumerate(found.shape) if axis not in axes])

    return over_runs(one, arguments["self"], dim, keepdim)


def of_gradient(block: Block, arguments: Mapping[str, Any], cotangent: Any) -> dict[str, Any]:
    """Return what `block` says of every element of `self`."""
    self, keepdim = arguments["self"], arguments.get("keepdim", False)
    dims = dims_of(arguments.get("dim"), self.shape)

    def one(x: NDArray, present: NDArray, axes: tuple[int, ...], g: Any) -> NDArray:
        g = np.asarray(g) if keepdim else np.expand_dims(g, axes)
        return np.asarray(block(wide(x), present, axes, np.broadcast_to(g, x.shape)) + np.zeros(x.shape))

    if 0 not in dims:
        axes = tuple(d - 1 for d in dims)
        pairs = zip(self, cotangent, strict=True)
        found = [one(x, np.ones(x.shape, np.bool_), axes, g) for x, g in pairs]
    else:
        aligned = one(*left_align(self), dims, cotangent)
        corners = [tuple(slice(size) for size in x.shape) for x in self]
        found = [row[corner] for row, corner in zip(aligned, corners, strict=True)]
    return {"self": Components(found, self.shape, np.float64)}


def _count(present: NDArray, axes: tuple[int, ...]) -> NDArray:
    return sum_along(present, axes, keepdims=True)


# ---- prod ---------------------------------------------------------------------------------------------------------


def _product(x: NDArray, present: NDArray, axes: tuple[int, ...]) -> NDArray:
    return product_along(np.where(present, np.abs(x), 1), axes, keepdims=True)


def _steps(x: NDArray, present: NDArray, axes: tuple[int, ...]) -> NDArray:
    """The greatest product of some elements of each run."""
    return _product(np.maximum(np.abs(x), 1), present, axes)


def _others(x: NDArray, present: NDArray, axes: tuple[int, ...]) -> NDArray:
    """The product of the other elements of the run, for each."""
    if x.size == 0:
        return x
    last = tuple(range(x.ndim - len(axes), x.ndim))
    moved = np.moveaxis(np.where(present, np.abs(x), 1), axes, last)
    flat = moved.reshape(*moved.shape[: x.ndim - len(axes)], -1)
    ones = np.ones((*flat.shape[:-1], 1), flat.dtype)
    before = np.multiply.accumulate(np.concatenate([ones, flat[..., :-1]], -1), -1)
    after = np.multiply.accumulate(np.concatenate([ones, flat[..., :0:-1]], -1), -1)[..., ::-1]
    return np.moveaxis((before * after).reshape(moved.shape), last, axes)


RUN_BOUNDS: Mapping[str, RunBound] = {
    "prod": RunBound(
        error=lambda x, present, axes: _count(present, axes) * _product(x, present, axes),
        lost=lambda x, present, axes: _count(present, axes) * _steps(x, present, axes),
        added=_steps,
        gradient=lambda x, present, axes, g: (_count(present, axes) + 4) * np.abs(g) * _others(x, present, axes),
        gradient_lost=lambda x, present, axes, g: (
            (1 + np.abs(g)) * (_count(present, axes) + 2) * _steps(x, present, axes)
        ),
        gradient_added=lambda x, present, axes, g: np.maximum(np.abs(g), 1) * _steps(x, present, axes),
    ),
}
