"""Functions of masks and of scores, which users write: checked calls on blocks of pairs, and the public functions.

A pair is *active* if the query meets the key: its score takes part in the softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from inspect import signature
from math import prod
from operator import and_, eq, ne, or_
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.operands import chosen_device
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.arguments.shapes import canonical_int, check_possible_shape
from pynested.autograd.array import raw
from pynested.autograd.decorators import operator
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, IndexOutOfRange, ShapeError, named_type
from pynested.backends.host import from_host
from pynested.structure.validation import as_integers

ScoreMod = Callable[[Array, Array, Array, Array, Array], Array]
MaskMod = Callable[[Array, Array, Array, Array], Array]
MASK_PARAMETERS = ("b", "h", "q_idx", "kv_idx")
SCORE_PARAMETERS = ("score", *MASK_PARAMETERS)
MOST_PAIRS_OF_CALL = 1 << 20  # in one call of the function of a mask, unless a single query has more


class PairRange(NamedTuple):
    """The pairs of some queries and some keys of a component, in its first ``num_heads`` heads."""

    component: int
    num_heads: int
    queries: range
    keys: range

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the scores: heads, queries, keys."""
        return self.num_heads, len(self.queries), len(self.keys)

    @property
    def num_pairs(self) -> int:
        """The number of pairs in all heads."""
        return prod(self.shape)

    def indices(self, device: str) -> tuple[Array, ...]:
        """Return ``b``, without dimensions, and ``h``, ``q_idx`` and ``kv_idx``, each along its axis of the scores."""
        heads, queries, keys = (np.array(axis, np.int64) for axis in (range(self.num_heads), self.queries, self.keys))
        indices = np.array(self.component), heads[:, None, None], queries[None, :, None], keys[None, None]
        return tuple(Array(from_host(index, device), device) for index in indices)

    def strips(self, most_pairs: int) -> Iterator[PairRange]:
        """Yield one or more strips of the queries, each with at most ``most_pairs`` pairs, or with a single query."""
        rows = max(1, most_pairs // max(1, self.num_heads * len(self.keys)))
        for start in range(0, max(1, len(self.queries)), rows):
            yield self._replace(queries=self.queries[start : start + rows])

    def __str__(self) -> str:
        queries, keys = (f"{indices.start} to {indices.stop - 1}" for indices in (self.queries, self.keys))
        return f"in component {self.component}, queries {queries}, keys {keys}"


# ---- checks of arguments --------------------------------------------------------------------------------------------


def check_mod(op: str, name: str, function: Any, *parameter_tuples: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parameters with which a function can be called: the first tuple that fits; raise if none fits."""
    if not callable(function):
        raise ArgumentError(f"{op}: {name} must be a function, not {value_text(function)}.")
    try:
        parameters = signature(function)
    except ValueError:  # a builtin function can be without a signature
        return parameter_tuples[0]
    for names in parameter_tuples:
        with suppress(TypeError):
            parameters.bind(*names)
            return names
    expected = ", or of ".join([f"({', '.join(names)})" for names in parameter_tuples])
    raise ArgumentError(f"{op}: {name} must be a function of {expected}, not of {parameters}.")


def checked_size(op: str, name: str, size: Any, least: int = 0) -> int:
    """Return a size as an integer of at least ``least``."""
    integer = canonical_int(op, name, size)
    if integer < least:
        raise ArgumentError(f"{op}: {name} must be {least} or more, not {integer}.")
    return integer


def checked_sizes(op: str, B: Any, H: Any, Q_LEN: Any, KV_LEN: Any) -> tuple[int, ...]:
    """Return the sizes as integers, 1 for B or H of None."""
    sizes = {"B": 1 if B is None else B, "H": 1 if H is None else H, "Q_LEN": Q_LEN, "KV_LEN": KV_LEN}
    return check_possible_shape(op, tuple([checked_size(op, name, size) for name, size in sizes.items()]))


def checked_size_pair(op: str, name: str, sizes: Any, least: int) -> tuple[int, int]:
    """Return one size for queries and one for keys, each an int64 of at least ``least``, from one size or two."""
    pair = sizes if isinstance(sizes, tuple | list) else (sizes, sizes)
    if len(pair) != 2:
        raise ArgumentError(f"{op}: {name} must be one size or two, not {value_text(sizes)}.")
    query_size, key_size = as_integers(op, name, [checked_size(op, name, size, least) for size in pair]).tolist()
    return query_size, key_size


# ---- calls ----------------------------------------------------------------------------------------------------------


def apply_score_mod(op: str, mod: ScoreMod, scores: Array, pairs: PairRange, name: str = "score_mod") -> Array:
    """Return what a function makes of the scores of some pairs: an array of their shape and dtype."""
    result = _call(op, name, mod, pairs, scores.device, scores)
    if result.shape != scores.shape:
        raise ShapeError(
            f"{op}: {name} returned shape {result.shape} for scores of shape {scores.shape}, {pairs}. Return an "
            "array like score."
        )
    if result.dtype != scores.dtype:
        raise DTypeError(
            f"{op}: {name} returned {result.dtype} for scores of {scores.dtype}, {pairs}. The indices are int64, "
            "which makes float64 of float32: convert them, such as (q_idx - kv_idx).to(score.dtype)."
        )
    return result


def evaluate_mask(op: str, mod: MaskMod, pairs: PairRange, device: str, name: str = "mask_mod") -> Any:
    """Return which pairs are active: a raw array of bools (H or 1, queries, keys)."""
    xp = get_backend(device).xp
    if not pairs.num_pairs:
        return xp.zeros((1, *pairs.shape[1:]), np.bool_)
    parts = [_evaluate_strip(op, mod, strip, device, name) for strip in pairs.strips(MOST_PAIRS_OF_CALL)]
    heads = max(map(len, parts))
    return xp.concatenate([xp.broadcast_to(part, (heads, *part.shape[1:])) for part in parts], axis=1)


def _evaluate_strip(op: str, mod: MaskMod, strip: PairRange, device: str, name: str) -> Any:
    with no_grad():
        result = _call(op, name, mod, strip, device)
    if result.dtype != np.bool_:
        raise DTypeError(
            f"{op}: {name} returned {result.dtype}, {strip}. It must be bool: True where a query meets a key."
        )
    sizes = (1,) * (3 - result.ndim) + result.shape
    if len(sizes) > 3 or any(size not in (1, expected) for size, expected in zip(sizes, strip.shape, strict=True)):
        raise ShapeError(
            f"{op}: {name} returned shape {result.shape}, {strip}, which does not broadcast against {strip.shape}: "
            "heads, queries, keys."
        )
    return get_backend(device).xp.broadcast_to(raw(result).reshape(sizes), (sizes[0], *strip.shape[1:]))


def _call(op: str, name: str, mod: Any, pairs: PairRange, device: str, *scores: Array) -> Array:
    """Return what a function of users returns for some pairs: an array on the device of the operands."""
    try:
        result = mod(*scores, *pairs.indices(device))
    except IndexOutOfRange as error:  # users of PyTorch write bias[h][kv_idx], which works there
        error.add_note("Indices stand in one pair of brackets: bias[h, kv_idx], not bias[h][kv_idx].")
        raise
    if type(result) is not Array:
        raise ArgumentError(
            f"{op}: {name} returned {named_type(result)}, {pairs}. It must be an array; make it of operators of "
            "pynested."
        )
    if result.device != device:
        raise DeviceError(
            f"{op}: {name} returned an array on {result.device!r}, {pairs}, where the operands are on {device!r}. "
            f"Move what it uses: x.to({device!r})."
        )
    return result


# ---- public functions of masks --------------------------------------------------------------------------------------


@operator
def create_mask(
    mod_fn: ScoreMod | MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: str | None = None
) -> Array:
    """Return the active pairs by a function, as a mask of bools for attention: ``(B, H, Q_LEN, KV_LEN)``.

    ``mod_fn`` is a function of masks, with four arguments, or a function of scores, with five, as `flex_attention`
    takes it. A function of scores gets scores of 0 in float32, and returns -inf for inactive pairs. The other
    arguments and the errors are those of `create_block_mask`, and for a function of scores those of `flex_attention`.
    After `torch.nn.attention.flex_attention.create_mask`.

    Examples
    --------
    >>> pn.create_mask(lambda b, h, i, j: i >= j, None, None, 2, 3)
    array([[[[ True, False, False],
             [ True,  True, False]]]])
    """
    op = "create_mask"
    count, heads, queries, keys = checked_sizes(op, B, H, Q_LEN, KV_LEN)
    device = chosen_device(op, device)
    mod: Any = mod_fn
    is_of_masks = check_mod(op, "mod_fn", mod, MASK_PARAMETERS, SCORE_PARAMETERS) == MASK_PARAMETERS
    xp = get_backend(device).xp
    mask = xp.zeros((count, heads, queries, keys), np.bool_)
    for component in range(count):
        pairs = PairRange(component, heads, range(queries), range(keys))
        if is_of_masks:
            mask[component] = evaluate_mask(op, mod, pairs, device, "mod_fn")
        else:
            with no_grad():
                scores = apply_score_mod(op, mod, Array(xp.zeros(pairs.shape, np.float32), device), pairs, "mod_fn")
            mask[component] = raw(scores) != -np.inf
    return Array(mask, device)


@operator
def noop_mask(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
    """Return True for every pair: a function of masks that makes all pairs active.

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
    """Return a function of masks that is true for pairs for which all given functions are true.

    Without functions, it is true for every pair. An argument that is not a function of masks raises an ArgumentError.
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
    """Return a function of masks that is true for pairs for which any given function is true.

    Without functions, it is true for no pair. Errors are those of `and_masks`.
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


def _joined(op: str, mask_mods: tuple[MaskMod, ...], join: Any, neutral: Any) -> MaskMod:
    """Return a function that joins the results of functions.

    ``neutral(b, b)`` is its result for no function: True by `eq`, or False by `ne`, on the device of the operands.
    """
    for mod in mask_mods:
        check_mod(op, "each argument", mod, MASK_PARAMETERS)

    def joined(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
        result: Array = reduce(join, [mod(b, h, q_idx, kv_idx) for mod in mask_mods], neutral(b, b))
        return result

    return joined
