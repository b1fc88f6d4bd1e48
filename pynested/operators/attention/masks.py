"""Block masks of functions: every block of every component is looked at once, a few of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, overload

import numpy as np

from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.scalars import number_text
from pynested.autograd.arguments.shapes import check_possible_shape
from pynested.autograd.array import raw
from pynested.autograd.default_device import chosen_device
from pynested.autograd.dispatch import operator
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, ShapeError, StructureError
from pynested.backends.host import to_host
from pynested.lifting.attention_matrices import as_attention_operand
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Operand
from pynested.structure import Ints

from .block_mask import BlockMask
from .given import shape_of
from .lists import EMPTY, FULL, PARTIAL, States, size_of, sizes_of_blocks
from .mods import PAIR, Block, MaskMod, ScoreMod, function_of, is_of_scores, modified, seen

BlockSize: TypeAlias = int | tuple[int, int]
MOST_PAIRS = 1 << 20  # that a function is asked about at a time


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
    """Which blocks of queries and keys a function of pairs leaves empty, for components of one size.

    Parameters
    ----------
    mask_mod : callable
        ``mask_mod(b, h, q_idx, kv_idx)`` gets arrays of integers that broadcast against the scores (heads, queries,
        keys), and returns an array of bools that does: True where a query meets a key.
    B, H : int or None
        Components and heads; None for a mask that is the same for all, of which ``b`` or ``h`` is 0.
    Q_LEN, KV_LEN : int
        Queries and keys.
    device : str, optional
        Where the indices are; by default the default device.
    BLOCK_SIZE : int or tuple of int
        Queries and keys of a block.

    Raises
    ------
    ArgumentError
        For a function that is none, or gives no array, and sizes below 0, of blocks below 1.
    DTypeError, ShapeError, DeviceError
        For a function that gives other than bools, a shape that does not broadcast, or an array on another device.

    Notes
    -----
    After `torch.nn.attention.flex_attention.create_block_mask`. For components of different lengths there is
    `create_nested_block_mask`.

    Examples
    --------
    >>> pn.create_block_mask(lambda b, h, i, j: i >= j, None, None, 512, 512)
    BlockMask(shape=(1, 1, 512, 512), BLOCK_SIZE=(128, 128), 6 full, 4 partial and 6 empty blocks, sparsity=37.50%)
    """
    op = "create_block_mask"
    count, *sizes = _sizes(op, B=B, H=H, Q_LEN=Q_LEN, KV_LEN=KV_LEN)
    extents = np.tile(np.array(sizes, np.int64), (max(count, 1), 1))
    return _made(op, mask_mod, extents, count, chosen_device(device), BLOCK_SIZE, False)


def _sizes(op: str, **given: int | None) -> list[int]:
    """The sizes that are given, 1 for those that are None."""
    found = [1 if one is None and name in "BH" else size_of(op, name, one) for name, one in given.items()]
    return list(check_possible_shape(op, tuple(found)))


@operator
def create_mask(
    mod_fn: ScoreMod | MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: str | None = None
) -> Array:
    """Which pairs of queries and keys a function of pairs leaves, as bools: ``(B, H, Q_LEN, KV_LEN)``.

    Parameters
    ----------
    mod_fn : callable
        A function of masks, of four arguments, as of `create_block_mask`; or one of scores, of five, as of
        `flex_attention`, which gets scores of 0 and leaves out a pair by -inf.
    B, H : int or None
        Components and heads; None for 1.
    Q_LEN, KV_LEN : int
        Queries and keys.
    device : str, optional
        Where the mask is; by default the default device.

    Raises
    ------
    ArgumentError
        For a function that is none, takes other arguments or gives no array, and sizes below 0.
    DTypeError, ShapeError, DeviceError
        For a function of masks that gives other than bools, or a shape that does not broadcast, one of scores that
        gives another dtype or shape than theirs, float32, or either if it gives an array on another device.

    Notes
    -----
    It is what `scaled_dot_product_attention` takes as a mask. All pairs are there at once; `create_block_mask` keeps a
    number for each block of them.

    After `torch.nn.attention.flex_attention.create_mask`.

    Examples
    --------
    >>> pn.create_mask(lambda b, h, i, j: i >= j, None, None, 2, 3)
    array([[[[ True, False, False],
             [ True,  True, False]]]])
    """
    op = "create_mask"
    count, *sizes = _sizes(op, B=B, H=H, Q_LEN=Q_LEN, KV_LEN=KV_LEN)
    device = chosen_device(device)
    left: Any = _left if is_of_scores(op, mod_fn) else seen
    found = get_backend(device).xp.zeros((count, *sizes), np.bool_)
    for i in range(count):
        whole = Block(i, range(sizes[0]), range(sizes[1]), np.arange(sizes[2]))
        found[i] = left(op, mod_fn, whole, device)
    return Array(found, device)


def _left(op: str, mod: Any, block: Block, device: str) -> Any:
    """Which scores of a block a function leaves, as a bare array of bools."""
    with no_grad():
        scores = Array(get_backend(device).xp.zeros(block.shape, np.float32), device)
        return raw(modified(op, mod, scores, block)) != -np.inf


@overload
def create_nested_block_mask(
    mask_mod: MaskMod, q_nt: Operand, kv_nt: Operand | None = None, BLOCK_SIZE: BlockSize = 128
) -> BlockMask: ...
@overload
def create_nested_block_mask(mask_mod: MaskMod, B: int | None, H: int | None, q_nt: NestedArray, /) -> BlockMask: ...
@operator
def create_nested_block_mask(mask_mod: MaskMod, q_nt: Any, kv_nt: Any = None, BLOCK_SIZE: Any = 128) -> BlockMask:
    """Which blocks of queries and keys a function of pairs leaves empty, for each component: ``(B, H, *, E)``.

    Parameters
    ----------
    mask_mod : callable
        As of `create_block_mask`; ``b`` is the number of the component, and ``q_idx`` and ``kv_idx`` count within it.
        A function that ignores ``h`` makes one mask for all heads.
    q_nt : NestedArray or Array
        Queries, or anything of their shape: each component has so many heads, in all dimensions before its matrices.
    kv_nt : NestedArray or Array, optional
        Keys; by default ``q_nt``. One of the two may be dense: each component gets its slice, or all of it, as in
        `flex_attention`.
    BLOCK_SIZE : int or tuple of int
        Queries and keys of a block. Blocks begin anew in each component.

    Raises
    ------
    StructureError
        For nested arrays of different numbers of components, or whose components are not matrices at least.
    ArgumentError
        For dense arrays alone, other numbers of components or heads than theirs, a function that is none, or gives no
        array, and blocks of less than 1.
    DTypeError, ShapeError, DeviceError
        For a function that gives other than bools, a shape that does not broadcast, or an array on another device; for
        a dense array of other dimensions, or with slices for others.

    Notes
    -----
    The function is asked once about every pair. Empty components have no blocks.

    PyTorch 2.13 has none of this name, as its `flex_attention` takes no nested tensors. An older one was called as
    ``create_nested_block_mask(mask_mod, B, H, q_nt)``, which is taken too: both numbers follow from the array, and each
    must be None, 1 or that number; ``b`` and ``h`` count components and heads all the same.

    Clauses: CREATE_NESTED_BLOCK_MASK-1 to CREATE_NESTED_BLOCK_MASK-10.
    After `torch.nn.attention.flex_attention.create_block_mask`, which makes one of given sizes.

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
    given = {"q_nt": q_nt, "kv_nt": q_nt if kv_nt is None else kv_nt}
    nested = [x for x in given.values() if type(x) is NestedArray]
    if not nested:
        raise ArgumentError(
            f"{op}: q_nt must be a nested array, or kv_nt, not {number_text(q_nt)}. For dense ones alone there is "
            "create_block_mask; numbers of components and heads follow from the arrays."
        )
    counts = [len(x) for x in nested]
    if counts[0] != counts[-1]:
        raise StructureError(f"{op}: q_nt and kv_nt have {counts[0]} and {counts[1]} components.")
    of_queries, of_keys = (_outline(op, name, x, nested[0]) for name, x in given.items())
    extents = np.stack([of_queries[:, :-2].prod(axis=1), of_queries[:, -2], of_keys[:, -2]], axis=1)
    for name, size, found in zip("BH", (B, H), ({counts[0]}, {*extents[: counts[0], 0].tolist()}), strict=True):
        if size not in (None, 1) and not found <= {size}:
            raise ArgumentError(
                f"{op}: {name} is {number_text(size)}, and q_nt has {', '.join(map(str, sorted(found)))} "
                f"{'components' if name == 'B' else 'heads'}. Give None, 1 or that number, or leave B and H out."
            )
    return _made(op, mask_mod, extents, counts[0], nested[0].device, BLOCK_SIZE, True)


def _outline(op: str, name: str, x: Any, nested: NestedArray) -> Ints:
    """The sizes of the components of an operand, of which a dense one gives each its slice, or itself to all."""
    if type(x) is NestedArray:
        if x.ndim < 3:
            raise StructureError(f"{op}: the components of {name} have {x.ndim - 1} dimensions; they must be matrices.")
        return as_attention_operand(op, name, x, len(x), x.ndim - 1, False).extents
    shape, count = shape_of(x), len(nested)
    if not 2 <= len(shape) <= nested.ndim or (len(shape) == nested.ndim and shape[0] not in (1, count)):
        raise ShapeError(
            f"{op}: {name} has shape {shape} beside {count} nested components; it must have from 2 to {nested.ndim} "
            f"dimensions, of which the first of {nested.ndim} is {count}, or 1."
        )
    return np.tile(np.array(shape[len(shape) == nested.ndim :], np.int64), (max(count, 1), 1))


def _made(op: str, mod: Any, extents: Ints, count: int, device: str, block_size: Any, nested: bool) -> BlockMask:
    """A mask for so many components of so many heads, queries and keys, int64 (B, 3)."""
    function_of(op, "mask_mod", mod, PAIR)
    sizes = sizes_of_blocks(op, block_size)
    blocks = [
        _states(op, mod, Block(i, range(heads), range(queries), np.arange(keys)), device, sizes)
        for i, (heads, queries, keys) in enumerate(extents[:count].tolist())
    ]
    return BlockMask(mod, extents, sizes, blocks, nested)


def _states(op: str, mod: MaskMod, whole: Block, device: str, block_size: tuple[int, int]) -> States:
    """The state of each block of a component, of one head if all are alike."""
    heads, queries, keys = whole.shape
    rows, columns = (-(-size // step) for size, step in zip((queries, keys), block_size, strict=True))
    found = np.zeros((heads, rows, columns), np.int8)
    alike = True
    for row, column, part in _strips(whole, block_size):
        answer = seen(op, mod, part, device)
        alike &= len(answer) == 1
        xp = get_backend(device).xp
        met = to_host(xp.broadcast_to(answer, (len(answer), *part.shape[1:])).sum(axis=1))
        starts = np.arange(0, len(part.keys), block_size[1])
        pairs = np.diff(np.append(starts, len(part.keys))) * len(part.queries)
        total = np.add.reduceat(met, starts, axis=1)
        state = np.where(total == pairs, FULL, np.where(total > 0, PARTIAL, EMPTY))
        found[:, row, column : column + len(starts)] = state
    return found[:1] if alike else found


def _strips(whole: Block, block_size: tuple[int, int]) -> Iterator[tuple[int, int, Block]]:
    """A row of blocks, the first block there, and what lies in a few blocks from it on."""
    heads, queries, keys = whole.shape
    q_size, kv_size = block_size
    step = kv_size * max(1, MOST_PAIRS // max(1, heads * q_size * kv_size))
    for first in range(0, queries if heads else 0, q_size):
        part = whole._replace(queries=range(first, min(first + q_size, queries)))
        for key in range(0, keys, step):
            yield first // q_size, key // kv_size, part._replace(keys=whole.keys[key : key + step])
