"""Creation of block masks from functions of masks, which are called on one strip of queries after the other."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from pynested.autograd.arguments.operands import chosen_device
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.decorators import operator
from pynested.backends.errors import ArgumentError, ShapeError, StructureError
from pynested.backends.host import to_host
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Operand
from pynested.structure import Ints

from .block_mask import BlockMask, merged_states
from .block_mask_lists import EMPTY, FULL
from .mask_functions import (
    MASK_PARAMETERS,
    MaskMod,
    PairRange,
    check_mod,
    checked_size_pair,
    checked_sizes,
    evaluate_mask,
)


@operator
def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: str | None = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
) -> BlockMask:
    """Return the block mask of a function of masks, for components of one size.

    Parameters
    ----------
    mask_mod : callable
        ``mask_mod(b, h, q_idx, kv_idx)`` gets arrays of integers that broadcast against the scores (heads, queries,
        keys). It returns an array of bools that also broadcasts against them, True where a query meets a key.
    B, H : int or None
        The numbers of components and of heads. With None, one mask serves any number; then ``b`` or ``h`` is 0.
    Q_LEN, KV_LEN : int
        The numbers of queries and keys.
    device : str, optional
        The device of the indices; by default the default device.
    BLOCK_SIZE : int or tuple of int
        The numbers of queries and keys of a block.

    Raises
    ------
    ArgumentError, DTypeError, ShapeError, DeviceError
        For sizes below 0, and sizes of blocks below 1. For a ``mask_mod`` that is not a function, and for one that
        returns anything but bools, a shape that does not broadcast, or an array on another device.

    Notes
    -----
    After `torch.nn.attention.flex_attention.create_block_mask`.

    Examples
    --------
    >>> pn.create_block_mask(lambda b, h, i, j: i >= j, None, None, 512, 512)
    BlockMask(shape=(1, 1, 512, 512), BLOCK_SIZE=(128, 128), 6 full, 4 partial and 6 empty blocks, sparsity=37.50%)
    """
    op = "create_block_mask"
    count, *sizes = checked_sizes(op, B, H, Q_LEN, KV_LEN)
    extents = np.tile(np.array(sizes, np.int64), (max(count, 1), 1))
    return _block_mask(op, mask_mod, extents, count, chosen_device(op, device), BLOCK_SIZE, False)


@overload
def create_nested_block_mask(
    mask_mod: MaskMod, q_nt: Operand, kv_nt: Operand | None = None, BLOCK_SIZE: int | tuple[int, int] = 128
) -> BlockMask: ...
@overload
def create_nested_block_mask(mask_mod: MaskMod, B: int | None, H: int | None, q_nt: NestedArray, /) -> BlockMask: ...
@operator
def create_nested_block_mask(mask_mod: MaskMod, q_nt: Any, kv_nt: Any = None, BLOCK_SIZE: Any = 128) -> BlockMask:
    """Return the block mask of ``mask_mod`` for nested arrays of shape ``(B, H, *, E)``, component by component.

    Empty components have no blocks.

    Parameters
    ----------
    mask_mod : callable
        As in `create_block_mask`; ``b`` is the index of the component, and ``q_idx`` and ``kv_idx`` count within it.
        A function that ignores ``h`` makes one mask for all heads. If ``q_nt`` has one head, ``h`` is 0 for all.
    q_nt : NestedArray or Array
        Queries, or any array of their shape. All dimensions of a component before the last two together are its heads.
    kv_nt : NestedArray or Array, optional
        Keys; by default ``q_nt``. One of the two arrays can be dense, as in `flex_attention`: with a slice for each
        component, or one for all.
    BLOCK_SIZE : int or tuple of int
        The numbers of queries and keys of a block. The blocks of each component begin at its first query and key.

    Raises
    ------
    StructureError, ShapeError
        For arrays that do not fit each other, or whose components are not at least matrices.
    ArgumentError, DTypeError, DeviceError
        If both arrays are dense, and as in `create_block_mask`.

    Notes
    -----
    The call of an older PyTorch, ``create_nested_block_mask(mask_mod, B, H, q_nt)``, works too; ``B`` and ``H`` must
    each be None, 1 or the number of components or heads of the array.

    Clauses: CREATE_NESTED_BLOCK_MASK-1 to CREATE_NESTED_BLOCK_MASK-10.
    After `torch.nn.attention.flex_attention.create_block_mask`, with sizes taken from the arrays.

    Examples
    --------
    >>> q = pn.nested_array([np.zeros((1, 5, 2)), np.zeros((1, 2, 2))])
    >>> print(pn.create_nested_block_mask(lambda b, h, i, j: i >= j, q, BLOCK_SIZE=2))
    BlockMask(shape=(2, 1, None, None), BLOCK_SIZE=(2, 2), 4 full, 3 partial and 3 empty blocks, sparsity=30.00%)
    (0, 0)
    ░··
    █░·
    ███
    (1, 0)
    ░
    """
    op = "create_nested_block_mask"
    B = H = None
    if type(BLOCK_SIZE) is NestedArray:  # the older order of PyTorch
        B, H, q_nt, kv_nt, BLOCK_SIZE = q_nt, kv_nt, BLOCK_SIZE, None, 128
    kv_nt = q_nt if kv_nt is None else kv_nt
    nested_arrays = [x for x in (q_nt, kv_nt) if type(x) is NestedArray]
    if not nested_arrays:
        raise ArgumentError(
            f"{op}: one of q_nt and kv_nt must be a nested array; q_nt is {value_text(q_nt)}. Use create_block_mask "
            "for dense arrays; B and H need not be given here, as the arrays have them."
        )
    nested, count = nested_arrays[0], len(nested_arrays[0])
    if count != len(nested_arrays[-1]):
        raise StructureError(f"{op}: q_nt and kv_nt have {count} and {len(nested_arrays[-1])} components.")
    queries, keys = _operand_extents(op, "q_nt", q_nt, nested), _operand_extents(op, "kv_nt", kv_nt, nested)
    extents = np.stack([queries[:, :-2].prod(axis=1), queries[:, -2], keys[:, -2]], axis=1)
    for name, given, actual in (("B", B, {count}), ("H", H, {*extents[:count, 0].tolist()})):
        if given not in (None, 1) and any(given != number for number in actual):
            raise ArgumentError(
                f"{op}: {name} is {value_text(given)}, and q_nt has {', '.join(map(str, sorted(actual)))} "
                f"{'components' if name == 'B' else 'heads'}. Give None, 1 or that number, or leave B and H out."
            )
    return _block_mask(op, mask_mod, extents, count, nested.device, BLOCK_SIZE, True)


def _operand_extents(op: str, name: str, x: Any, nested: NestedArray) -> Ints:
    """Return the extents of an operand; a dense operand has a slice for each component, or is the same for all."""
    if type(x) is NestedArray:
        if x.ndim < 3:
            raise StructureError(f"{op}: the components of {name} have {x.ndim - 1} dimensions, not two or more.")
        return x.extents
    shape, count = np.shape(x), len(nested)
    if not 2 <= len(shape) <= nested.ndim or (len(shape) == nested.ndim and shape[0] not in (1, count)):
        raise ShapeError(
            f"{op}: {name} has shape {shape} beside {count} nested components; it must have from 2 to {nested.ndim} "
            f"dimensions; if it has {nested.ndim}, the first must be {count} or 1."
        )
    return np.tile(np.array(shape[len(shape) == nested.ndim :], np.int64), (max(count, 1), 1))


def _block_mask(
    op: str, mod: MaskMod, extents: Ints, count: int, device: str, block_size: Any, is_nested: bool
) -> BlockMask:
    """Return the block mask of ``count`` components; ``extents`` has the numbers of heads, queries and keys of each.

    If the function ignores the head in a component, the states of one head are kept for it.
    """
    check_mod(op, "mask_mod", mod, MASK_PARAMETERS)
    block_sizes = checked_size_pair(op, "BLOCK_SIZE", block_size, 1)
    blocks = []
    for component, (heads, queries, keys) in enumerate(extents[:count].tolist()):
        whole = PairRange(component, heads, range(queries), range(keys))
        active = to_host(evaluate_mask(op, mod, whole, device))
        blocks.append(merged_states(np.where(active, np.int8(FULL), np.int8(EMPTY)), *block_sizes))
    return BlockMask(mod, extents, block_sizes, blocks, is_nested)
