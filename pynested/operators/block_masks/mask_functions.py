"""Functions of users over pairs of a query and a key: their call on a block of pairs, and checks of what they return.

A pair is *active* if the query meets the key: its score takes part in the softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from operator import and_, eq, ne, or_
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.scalars import number_text
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.array import raw
from pynested.autograd.dispatch import operator
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, IndexOutOfRange, ShapeError, named_type
from pynested.backends.host import from_host

ScoreMod = Callable[[Array, Array, Array, Array, Array], Array]
MaskMod = Callable[[Array, Array, Array, Array], Array]
PAIR = ("b", "h", "q_idx", "kv_idx")
SCORE = ("score", *PAIR)
MOST_PAIRS = 1 << 20  # in one call of a function of masks, unless a single query has more


class PairBlock(NamedTuple):
    """Pairs of some queries and some keys, in the first heads of a component."""

    component: int
    num_heads: int
    queries: range
    keys: range

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the scores: heads, queries, keys."""
        return self.num_heads, len(self.queries), len(self.keys)

    def indices(self, device: str) -> tuple[Array, ...]:
        """Return ``b``, without dimensions, and ``h``, ``q_idx`` and ``kv_idx``, each along its axis of the scores."""
        heads, queries, keys = (np.array(axis, np.int64) for axis in (range(self.num_heads), self.queries, self.keys))
        indices = np.array(self.component), heads[:, None, None], queries[None, :, None], keys[None, None]
        return tuple(Array(from_host(index, device), device) for index in indices)

    def strips(self, block_rows: int, most_pairs: int) -> Iterator[PairBlock]:
        """Yield strips of queries, each within one block of ``block_rows``, of so many pairs or of a single query."""
        rows = max(1, most_pairs // max(1, self.num_heads * len(self.keys)))
        for start in range(0, len(self.queries), block_rows):
            stop = min(start + block_rows, len(self.queries))
            for first in range(start, stop, rows):
                yield self._replace(queries=self.queries[first : min(first + rows, stop)])

    def __str__(self) -> str:
        component, _, queries, keys = self
        key_range = (keys.start, keys.stop - 1) if keys else (0, -1)
        where = f"queries {queries.start} to {queries.stop - 1}, keys {key_range[0]} to {key_range[1]}"
        return f"in component {component}, {where}"


# ---- checks of functions --------------------------------------------------------------------------------------------


def check_function(op: str, name: str, function: Any, parameters: tuple[str, ...]) -> Any:
    """Return a function of users, which must be callable with these parameters."""
    if not callable(function):
        raise ArgumentError(f"{op}: {name} must be a function, not {number_text(function)}.")
    try:
        signature(function).bind(*parameters)
    except TypeError as error:
        raise ArgumentError(f"{op}: {name} must be a function of ({', '.join(parameters)}): {error}.") from None
    except ValueError:  # a builtin function can be without a signature
        return function
    return function


def is_score_function(op: str, function: Any) -> bool:
    """Return whether a function is one of scores, not of masks, by its number of parameters without a default."""
    if not callable(function):
        raise ArgumentError(f"{op}: mod_fn must be a function, not {number_text(function)}.")
    parameters = signature(function).parameters.values()
    count = sum(one.default is one.empty and one.kind <= one.POSITIONAL_OR_KEYWORD for one in parameters)
    if count not in (len(PAIR), len(SCORE)):
        raise ArgumentError(
            f"{op}: mod_fn must be a function of ({', '.join(PAIR)}), or of ({', '.join(SCORE)}); this one has {count} "
            "parameters without a default."
        )
    return count == len(SCORE)


def checked_size(op: str, name: str, size: Any, least: int = 0) -> int:
    """Return a size as an integer of at least ``least``."""
    integer = canonical_int(op, name, size)
    if integer < least:
        raise ArgumentError(f"{op}: {name} must be {least} or more, not {integer}.")
    return integer


def checked_block_size(op: str, block_size: Any) -> tuple[int, int]:
    """Return the queries and keys of a block, from one size or two."""
    sizes = block_size if isinstance(block_size, tuple | list) else (block_size, block_size)
    if len(sizes) != 2:
        raise ArgumentError(f"{op}: BLOCK_SIZE must be one size or two, not {block_size}.")
    return checked_size(op, "BLOCK_SIZE", sizes[0], 1), checked_size(op, "BLOCK_SIZE", sizes[1], 1)


# ---- calls ----------------------------------------------------------------------------------------------------------


def apply_score_mod(op: str, mod: ScoreMod, scores: Array, block: PairBlock) -> Array:
    """Return what ``score_mod`` makes of the scores of a block: an array of their shape and dtype."""
    with _advice_on_indices():
        result = mod(scores, *block.indices(scores.device))
    where = f"{op}: score_mod returned"
    _check_array(where, result, scores.device, block)
    if result.shape != scores.shape:
        raise ShapeError(
            f"{where} shape {result.shape} for scores of shape {scores.shape}, {block}. Return an array like score."
        )
    if result.dtype != scores.dtype:
        raise DTypeError(
            f"{where} {result.dtype} for scores of {scores.dtype}, {block}. The indices are int64, which makes "
            "float64 of float32: convert them, such as (q_idx - kv_idx).to(score.dtype)."
        )
    return result


def evaluate_mask(op: str, mod: MaskMod, block: PairBlock, device: str) -> Any:
    """Return the active pairs of a block: a raw array of bools (H or 1, queries, keys)."""
    with no_grad(), _advice_on_indices():
        result = mod(*block.indices(device))
    where = f"{op}: mask_mod returned"
    _check_array(where, result, device, block)
    if result.dtype != np.bool_:
        raise DTypeError(f"{where} {result.dtype}, {block}. It must be bool: True where a query meets a key.")
    sizes = (1,) * (3 - result.ndim) + result.shape
    if len(sizes) > 3 or any(size not in (1, due) for size, due in zip(sizes, block.shape, strict=True)):
        raise ShapeError(
            f"{where} shape {result.shape}, {block}, which does not broadcast against {block.shape}: "
            "heads, queries, keys."
        )
    xp = get_backend(device).xp
    return xp.broadcast_to(raw(result).reshape(sizes), (sizes[0], *block.shape[1:]))


@contextmanager
def _advice_on_indices() -> Iterator[None]:
    """Add a note to an index that is out of bounds, for users of PyTorch, where ``bias[h][kv_idx]`` works."""
    try:
        yield
    except IndexOutOfRange as error:
        error.add_note("Indices stand in one pair of brackets: bias[h, kv_idx], not bias[h][kv_idx].")
        raise


def _check_array(where: str, result: Any, device: str, block: PairBlock) -> None:
    if type(result) is not Array:
        raise ArgumentError(
            f"{where} {named_type(result)}, {block}. It must be an array; make it of operators of pynested."
        )
    if result.device != device:
        raise DeviceError(
            f"{where} an array on {result.device!r}, {block}, where the operands are on {device!r}. Move what it "
            f"uses: x.to({device!r})."
        )


# ---- public functions of masks --------------------------------------------------------------------------------------


@operator
def noop_mask(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
    """Return True for every pair: the function of masks without an inactive pair.

    The parameters are those of every function of masks. After `torch.nn.attention.flex_attention.noop_mask`.

    Examples
    --------
    >>> pn.create_block_mask(pn.noop_mask, None, None, 4, 4, BLOCK_SIZE=2)
    BlockMask(shape=(1, 1, 4, 4), BLOCK_SIZE=(2, 2), 4 full, 0 partial and 0 empty blocks, sparsity=0.00%)
    """
    always: Array = eq(b, b)
    return always


@operator
def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return a function of masks that is true where all of the given functions are true; of none, everywhere.

    ``mask_mods`` are functions ``mask_mod(b, h, q_idx, kv_idx)`` of arrays of integers, which return arrays of bools.
    An argument that is not a function raises an ArgumentError.
    After `torch.nn.attention.flex_attention.and_masks`.

    Examples
    --------
    >>> near = pn.and_masks(lambda b, h, i, j: i >= j, lambda b, h, i, j: i - j < 2)
    >>> print(pn.create_block_mask(near, None, None, 4, 4, BLOCK_SIZE=1).to_string())
    (0, 0)
    █···
    ██··
    ·██·
    ··██
    """
    return _joined("and_masks", mask_mods, and_, eq)


@operator
def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return a function of masks that is true where any of the given functions is true; of none, nowhere.

    ``mask_mods`` are functions ``mask_mod(b, h, q_idx, kv_idx)`` of arrays of integers, which return arrays of bools.
    An argument that is not a function raises an ArgumentError.
    After `torch.nn.attention.flex_attention.or_masks`.

    Examples
    --------
    >>> prefix = pn.or_masks(lambda b, h, i, j: i >= j, lambda b, h, i, j: j < 2)
    >>> print(pn.create_block_mask(prefix, None, None, 4, 4, BLOCK_SIZE=1).to_string())
    (0, 0)
    ██··
    ██··
    ███·
    ████
    """
    return _joined("or_masks", mask_mods, or_, ne)


def _joined(op: str, mask_mods: tuple[MaskMod, ...], join: Any, of_none: Any) -> MaskMod:
    """Return a function that joins the results of functions; ``of_none(b, b)`` is its result for no function."""
    mods = [check_function(op, "each argument", mod, PAIR) for mod in mask_mods]

    def joined(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
        result: Array = of_none(b, b)
        for mod in mods:
            result = join(result, mod(b, h, q_idx, kv_idx))
        return result

    return joined
