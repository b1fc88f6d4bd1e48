"""Functions of users that look at pairs of a query and a key, called on a whole block of them, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from operator import and_, eq, ne, or_
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.scalars import number_text
from pynested.autograd.array import raw
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, IndexOutOfRange, ShapeError, named_type
from pynested.backends.host import from_host
from pynested.structure import Ints

ScoreMod = Callable[[Array, Array, Array, Array, Array], Array]
MaskMod = Callable[[Array, Array, Array, Array], Array]
PAIR = ("b", "h", "q_idx", "kv_idx")
SCORE = ("score", *PAIR)


class Block(NamedTuple):
    """Queries of some heads of a component, and the keys that they may meet."""

    component: int
    heads: range
    queries: range
    keys: Ints

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the scores."""
        return len(self.heads), len(self.queries), len(self.keys)

    def indices(self, device: str) -> tuple[Array, ...]:
        """``b``, without dimensions, and ``h``, ``q_idx`` and ``kv_idx``, each along its axis of the scores: int64."""
        heads, queries = (np.array(one, np.int64) for one in (self.heads, self.queries))
        found = np.array(self.component), heads[:, None, None], queries[None, :, None], self.keys[None, None]
        return tuple(Array(from_host(one, device), device) for one in found)


def function_of(op: str, name: str, given: Any, parameters: tuple[str, ...]) -> Any:
    """A function of users that can be called with these."""
    if not callable(given):
        raise ArgumentError(f"{op}: {name} must be a function, not {number_text(given)}.")
    try:
        signature(given).bind(*parameters)
    except TypeError as error:
        raise ArgumentError(f"{op}: {name} must be a function of ({', '.join(parameters)}): {error}.") from None
    except ValueError:
        return given  # one that does not say what it takes
    return given


def is_of_scores(op: str, given: Any) -> bool:
    """Whether a function of users is one of scores, and not of masks: its parameters without a default say so."""
    if not callable(given):
        raise ArgumentError(f"{op}: mod_fn must be a function, not {number_text(given)}.")
    each = signature(given).parameters.values()
    count = sum(one.default is one.empty and one.kind <= one.POSITIONAL_OR_KEYWORD for one in each)
    if count not in (len(PAIR), len(SCORE)):
        raise ArgumentError(
            f"{op}: mod_fn must be a function of ({', '.join(PAIR)}), or of ({', '.join(SCORE)}); this one has {count} "
            "parameters without a default."
        )
    return count == len(SCORE)


def modified(op: str, mod: ScoreMod, scores: Array, block: Block) -> Array:
    """What ``score_mod`` makes of the scores of a block: an array like them."""
    with _advised():
        found = mod(scores, *block.indices(scores.device))
    where = f"{op}: score_mod returned"
    _check_array(where, found, scores.device, block)
    if found.shape != scores.shape:
        raise ShapeError(
            f"{where} shape {found.shape} for scores of shape {scores.shape}, {_of(block)}. Return an array like score."
        )
    if found.dtype != scores.dtype:
        raise DTypeError(
            f"{where} {found.dtype} for scores of {scores.dtype}, {_of(block)}. The indices are int64, which makes "
            "float64 of float32: convert them, such as (q_idx - kv_idx).to(score.dtype)."
        )
    return found


def seen(op: str, mod: MaskMod, block: Block, device: str) -> Any:
    """What ``mask_mod`` says of a block, as a bare array of bools: three axes, each of full size, or 1."""
    with no_grad(), _advised():
        found = mod(*block.indices(device))
    where = f"{op}: mask_mod returned"
    _check_array(where, found, device, block)
    if found.dtype != np.bool_:
        raise DTypeError(f"{where} {found.dtype}, {_of(block)}. It must be bool: True where a query meets a key.")
    sizes = (1,) * (3 - found.ndim) + found.shape
    if len(sizes) > 3 or any(one not in (1, due) for one, due in zip(sizes, block.shape, strict=True)):
        raise ShapeError(
            f"{where} shape {found.shape}, {_of(block)}, which does not broadcast against {block.shape}: "
            "heads, queries, keys."
        )
    return raw(found).reshape(sizes)


@contextmanager
def _advised() -> Iterator[None]:
    """Say beside an index that is out of bounds what PyTorch's users may have meant."""
    try:
        yield
    except IndexOutOfRange as error:
        error.add_note("Indices stand in one pair of brackets: bias[h, kv_idx], not bias[h][kv_idx].")
        raise


def _check_array(where: str, found: Any, device: str, block: Block) -> None:
    if type(found) is not Array:
        raise ArgumentError(
            f"{where} {named_type(found)}, {_of(block)}. It must be an array; make it of operators of pynested."
        )
    if found.device != device:
        raise DeviceError(
            f"{where} an array on {found.device!r}, {_of(block)}, where the operands are on {device!r}. Move what it "
            f"uses: x.to({device!r})."
        )


def _of(block: Block) -> str:
    """Where a block is, for messages."""
    first, last = (int(block.keys[0]), int(block.keys[-1])) if len(block.keys) else (0, -1)
    queries = block.queries
    return f"in component {block.component}, queries {queries.start} to {queries.stop - 1}, keys {first} to {last}"


@operator
def noop_mask(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
    """The function of masks by which all pairs meet.

    Parameters
    ----------
    b, h, q_idx, kv_idx : Array
        Integers, as every function of masks gets them.

    Notes
    -----
    After `torch.nn.attention.flex_attention.noop_mask`.

    Examples
    --------
    >>> pn.create_block_mask(pn.noop_mask, None, None, 4, 4, BLOCK_SIZE=2)
    BlockMask(shape=(1, 1, 4, 4), BLOCK_SIZE=(2, 2), 4 full, 0 partial and 0 empty blocks, sparsity=0.00%)
    """
    found: Array = eq(b, b)
    return found


@operator
def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """A function of masks that is true where all of these are; of none, everywhere.

    Parameters
    ----------
    *mask_mods : callable
        Functions ``mask_mod(b, h, q_idx, kv_idx)`` of arrays of integers, which give arrays of bools.

    Raises
    ------
    ArgumentError
        For what is no function.

    Notes
    -----
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
    """A function of masks that is true where any of these is; of none, nowhere.

    Parameters
    ----------
    *mask_mods : callable
        Functions ``mask_mod(b, h, q_idx, kv_idx)`` of arrays of integers, which give arrays of bools.

    Raises
    ------
    ArgumentError
        For what is no function.

    Notes
    -----
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


def _joined(op: str, mask_mods: tuple[MaskMod, ...], join: Any, none: Any) -> MaskMod:
    """A function that joins what all of these say; what it says of none, a comparison of a number with itself says."""
    mods = [function_of(op, "each argument", one, PAIR) for one in mask_mods]

    def joined(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
        found: Array = none(b, b)
        for one in mods:
            found = join(found, one(b, h, q_idx, kv_idx))
        return found

    return joined
