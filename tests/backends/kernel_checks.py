"""A check for every kernel of the interface: a backend agrees with the device "plain" on operands of all kinds.

A check takes the backend and a dtype; it raises AssertionError. Operands lie between elements that no result may
depend on, and sizes are such that every path of the host side is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from ml_dtypes import bfloat16, finfo

from pynested.backends import PlainBackend, Segments, get_backend
from pynested.backends.dtypes import is_float
from pynested.backends.quiet import quietly

Array = np.ndarray[Any, Any]
Check = Callable[[Any, str], None]
SegmentCheck = Callable[[Any, Array, Segments], None]

KERNELS = [name for name, member in vars(PlainBackend).items() if isinstance(member, staticmethod)]
CHECKS: dict[str, tuple[tuple[str, ...], Check]] = {}
FLOATS = ("float16", "bfloat16", "float32", "float64")
ALL = ("bool", "int8", "int16", "int32", "int64", "uint8", *FLOATS)
NUMBERS = ALL[1:]
# The relative error of a number that is computed, and of one that is stored with fewer digits than it was computed in.
ROUNDING = {"float16": (3e-6, 1e-3), "bfloat16": (3e-6, 8e-3), "float32": (3e-6, 0.0), "float64": (1e-14, 0.0)}
POISON = 64  # elements before and after an operand
# (lengths, columns): a warp or a block a segment, several tiles of columns, wide packs, more rows than are kept.
LAYOUTS = (
    ((3, 0, 5, 1), 1), ((2, 0, 40, 7, 0), 3), ((0, 1, 130), 33), ((700, 0, 1300), 1), ((60, 90), 70), ((9, 0, 4), 256),
    ((2, 1, 0, 1), 256), ((3, 2), 300), ((0, 0), 4), ((2, 3), 0), ((), 2),
)  # fmt: skip
# Segments so long that they are cut into pieces, alone and among many empty ones.
LONG = (((100_000, 0, 3, 70_000), 1), ((66_000, *[0] * 100), 1), ((600, *[0] * 80), 128), ((140,), 700), ((140,), 701))


# ---- the reference --------------------------------------------------------------------------------------------------

BFLOAT16 = np.dtype(bfloat16)
KEPT_WIDE = {"layer_norm": (1, 2), "cross_entropy": (1,)}  # results in the dtype that kernels accumulate in


def widened(x: Any) -> Any:
    """Return floats as float64, anything else as it is."""
    return x.astype(np.float64) if getattr(x, "dtype", None) in (BFLOAT16, np.float32) else x


def rounded(result: Any, dtype: Any) -> Any:
    """Return float64 as ``dtype``, anything else as it is."""
    return result.astype(dtype) if getattr(result, "dtype", None) == np.float64 else result


class QuietKernels:
    """The kernels of a device, called without warnings as primitives call them."""

    def __init__(self, device: str) -> None:
        self.device = device

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(quietly, getattr(get_backend(self.device), name))


class PlainKernels(QuietKernels):
    """The kernels of the device "plain", also of bfloat16, which is rounded once here."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kernel = super().__getattr__(name)

        def computed(*args: Any) -> Any:
            if not any(getattr(x, "dtype", None) == BFLOAT16 for x in args):
                return kernel(*args)
            result = kernel(*map(widened, args))
            if not isinstance(result, tuple):
                return rounded(result, BFLOAT16)
            wide = KEPT_WIDE.get(name, ())
            return tuple(rounded(x, np.float32 if i in wide else BFLOAT16) for i, x in enumerate(result))

        return computed


plain = PlainKernels("plain")


# ---- operands -------------------------------------------------------------------------------------------------------


def poisoned(values: Array) -> Array:
    """Return the values, contiguous, between elements that no result may depend on."""
    whole = np.empty(values.size + 2 * POISON, values.dtype)
    whole.reshape(-1).view(np.uint8).fill(0xFF if is_float(values.dtype) else 0x01)
    inner = whole[POISON : POISON + values.size].reshape(values.shape)
    inner[...] = values
    return inner


def drawn(rng: np.random.Generator, shape: Any, dtype: str, scale: float = 3.0) -> Array:
    if dtype in FLOATS:
        return poisoned(rng.normal(0, scale, shape).astype(dtype))
    low = 0 if dtype in ("bool", "uint8") else -9
    return poisoned(rng.integers(low, 2 if dtype == "bool" else 10, shape).astype(dtype))


def partition(lengths: Any) -> Segments:
    return Segments.from_lengths(np.array(lengths, np.int64))


def segment_operands(dtype: str) -> Iterator[tuple[Array, Segments]]:
    """Yield rows and their segments: ordinary numbers in all layouts, then the extremes of the dtype."""
    for number, (lengths, columns) in enumerate(LAYOUTS):
        segments = partition(lengths)
        yield drawn(np.random.default_rng(number), (segments.rows, columns), dtype), segments
    rng, segments = np.random.default_rng(20), partition((2, 0, 1, 2, 2, 0, 3, 1, 2, 40, 2))
    shapes: tuple[Any, ...] = ((), (2, 2))
    for inner in shapes:
        yield drawn(rng, (segments.rows, *inner), dtype), segments
    yield np.asfortranarray(drawn(rng, (segments.rows, 3), dtype)), segments
    if dtype not in FLOATS:
        low, high = (False, True) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        rows = [[low, high], [high, high], [low, low], [high, low], [low, low], [high, low]]
        yield poisoned(np.array(rows, dtype)), partition((2, 0, 3, 1))
        return
    specials = np.array(
        [[np.nan, np.nan], [np.inf, np.inf], [-np.inf, -np.inf], [np.inf, 0], [-np.inf, 0], [0, np.nan]]
    )
    for turn, inner in product((0, 1), ((), (3,))):  # every second segment has them, and its neighbours have none
        x = drawn(rng, (segments.rows, *inner), dtype)
        for start, stop in list(pairwise(segments.offsets.tolist()))[turn::2]:
            pair = specials[start % len(specials)].reshape(2, *[1 for _ in inner])
            x[start:stop] = np.resize(pair, (stop - start, *pair.shape[1:]))
        yield x, segments
    x = drawn(rng, (segments.rows, 3), dtype)
    x[:, 1] = -np.inf
    yield x, segments
    sizes = [n for n in (1, 2, 3, 5, 17, 40) for _ in range(n)]  # a NaN in each place of a segment of each of them
    x = poisoned(np.concatenate([np.tile(np.arange(n), n) for n in (1, 2, 3, 5, 17, 40)]).astype(dtype)[:, None])
    x[np.concatenate([np.eye(n, dtype=bool).ravel() for n in (1, 2, 3, 5, 17, 40)])] = np.nan
    yield poisoned(np.hstack([x, np.nan_to_num(x.astype(np.float32)).astype(dtype)])), partition(sizes)
    large = [60_000, 60_000, -60_000, 1000, 1001, -1000, -1000.5, *[60_000, -60_000] * 64]
    yield poisoned(np.array(large, dtype)), partition((3, 0, 2, 2, 128))
    yield poisoned(np.ones((4099, 2), dtype)), partition((4096, 0, 3))
    if dtype != "float16":
        yield poisoned(np.array([1e30, 1e30, -1e30, -1e30, 39.9, 39.9, -39.9, -39.9], dtype)), partition([2] * 4)


def long_operands(dtype: str) -> Iterator[tuple[Array, Segments]]:
    for lengths, columns in LONG:
        segments = partition(lengths)
        yield drawn(np.random.default_rng(1), (segments.rows, columns), dtype), segments


def whole(x: Array) -> Array:
    """Return whole numbers, whose sums are exact and among which are ties; the infinities and NaN stay."""
    return poisoned(np.rint(x)) if is_float(x.dtype) else x


def like(x: Array, shape: Any, scale: float = 3.0) -> Array:
    """Return an operand of the dtype of ``x``, the same at each call."""
    return drawn(np.random.default_rng(x.size), shape, x.dtype.name, scale)


# ---- comparing ------------------------------------------------------------------------------------------------------


def same(got: Any, expected: Any) -> None:
    """Assert the same shape, dtype and values, NaN where NaN is."""
    assert got.dtype == expected.dtype, (got.dtype, expected.dtype)
    if got.dtype.name == "bfloat16":  # whose NaN NumPy's testing does not know
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(got, expected, strict=True)


def close(got: Any, expected: Any, terms: float = 1.0, magnitude: Any = 1.0) -> None:
    """Assert the same up to rounding: of the result, once, and of terms of about ``magnitude`` and up."""
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype), (got.shape, got.dtype, expected.dtype)
    if not is_float(got.dtype):
        same(got, expected)
        return
    wide = expected.astype(np.float64)
    finite = np.isfinite(wide)
    same(got[~finite], expected[~finite])
    computed, stored = ROUNDING[got.dtype.name]
    size, least = np.abs(wide[finite]), np.broadcast_to(magnitude, wide.shape)[finite]
    subnormal = float(finfo(got.dtype).smallest_subnormal)
    allowed = computed * terms * np.maximum(size, least) + stored * size + 2 * subnormal
    wrong = ~(np.abs(got[finite].astype(np.float64) - wide[finite]) <= allowed)
    assert not wrong.any(), (np.argwhere(wrong)[:3], got[finite][wrong][:3], expected[finite][wrong][:3])


def agree(backend: Any, name: str, *args: Any, terms: float = 1.0, magnitude: Any = 1.0, exact: bool = False) -> Any:
    """Return the results of a kernel, which are new, contiguous, and those of the plain kernel."""
    results, references = getattr(backend, name)(*args), getattr(plain, name)(*args)
    several = isinstance(references, tuple)
    for got, expected in zip(results, references, strict=True) if several else [(results, references)]:
        assert (got is None) == (expected is None), name
        if expected is None:
            continue
        is_empty = not all(getattr(x, "size", 1) for x in args)
        assert got.flags.c_contiguous or is_empty, f"{name}: not contiguous"
        assert not any(np.may_share_memory(got, x) for x in args if isinstance(x, np.ndarray)), f"{name}: a view"
        if exact:
            same(got, expected)
        else:
            close(got, expected, terms, magnitude)
    return results


def check(*dtypes: str, name: str = "") -> Callable[[Check], Check]:
    """Enter a check under the name of its kernel."""

    def enter(function: Check) -> Check:
        CHECKS[name or function.__name__] = dtypes, function
        return function

    return enter


def check_segments(*dtypes: str, name: str = "", long: bool = False) -> Callable[[SegmentCheck], SegmentCheck]:
    """Enter a check that takes any rows and any partition of them."""

    def enter(function: SegmentCheck) -> SegmentCheck:
        @check(*dtypes, name=name or function.__name__)
        def check_all(backend: Any, dtype: str) -> None:
            for x, segments in segment_operands(dtype):
                function(backend, x, segments)
            for x, segments in long_operands(dtype) if long else ():
                function(backend, x, segments)

        return function

    return enter


# ---- segments -------------------------------------------------------------------------------------------------------


def magnitude_of_sums(segments: Segments) -> float:
    return float(10 * max(1, segments.longest) ** 0.5)


@check_segments(*ALL, long=True)
def segment_sum(backend: Any, x: Array, segments: Segments) -> None:
    agree(backend, "segment_sum", x, segments, terms=4, magnitude=magnitude_of_sums(segments))
    sums = agree(backend, "segment_sum", whole(x), segments, exact=True)
    assert not np.signbit(sums[segments.lengths == 0].astype(float)).any()  # the sum of nothing is +0


@check_segments(*ALL)
def segment_cumsum(backend: Any, x: Array, segments: Segments) -> None:
    same_bits = backend.device == "cpu" and x.dtype.itemsize == 8  # as the additions have the order of the elements
    for backwards in (False, True):
        args, size = (x, segments, backwards), magnitude_of_sums(segments)
        agree(backend, "segment_cumsum", *args, terms=8, magnitude=size, exact=same_bits)
        agree(backend, "segment_cumsum", whole(x), segments, backwards, exact=True)


def check_extremes(name: str) -> None:
    """Enter the check of a kernel whose result is exact; whole numbers have ties."""

    @check_segments(*ALL, name=name, long=name == "segment_max")
    def check_exact(backend: Any, x: Array, segments: Segments) -> None:
        agree(backend, name, whole(x) if "arg" in name else x, segments, exact=True)


for extreme in ("segment_max", "segment_min", "segment_argmax", "segment_argmin"):
    check_extremes(extreme)


@check_segments(*ALL)
def segment_prod(backend: Any, x: Array, segments: Segments) -> None:
    if not is_float(x.dtype):
        agree(backend, "segment_prod", x, segments, exact=True)
        return
    powers = np.random.default_rng(x.size).choice(np.array([-1, 1, 0.5, 2], x.dtype), x.shape)
    factors = poisoned(np.where(np.isfinite(x), powers, x))  # whose products are exact
    got, expected = backend.segment_prod(factors, segments), plain.segment_prod(factors, segments)
    same(*(np.clip(products, -6e4, 6e4).astype(products.dtype) for products in (got, expected)))


@check_segments(*FLOATS)
def segment_max_backward(backend: Any, x: Array, segments: Segments) -> None:
    x = whole(x)
    top = plain.segment_max(x, segments)
    g = like(x, top.shape)
    agree(backend, "segment_max_backward", g, x, top, segments)
    agree(backend, "segment_max_backward", g, x, plain.segment_min(x, segments), segments)
    g[np.random.default_rng(x.size).random(g.shape) < 0.3] = np.nan if x.size % 2 else np.inf
    agree(backend, "segment_max_backward", g, x, top, segments)


@check_segments(*FLOATS)
def segment_softmax(backend: Any, x: Array, segments: Segments) -> None:
    agree(backend, "segment_softmax", x, segments, terms=16, magnitude=0)
    x = x.copy()
    x[np.random.default_rng(x.size).random(x.shape) < 0.1] = -np.inf
    agree(backend, "segment_softmax", poisoned(x), segments, terms=2)
    x[np.random.default_rng(x.size).random(x.shape) < 0.01] = np.nan if x.size % 2 else np.inf
    agree(backend, "segment_softmax", poisoned(x), segments, terms=2)


@check_segments(*FLOATS)
def segment_softmax_backward(backend: Any, x: Array, segments: Segments) -> None:
    y = poisoned(plain.segment_softmax(x, segments))
    agree(backend, "segment_softmax_backward", like(x, x.shape), y, segments, terms=2)


@check_segments(*ALL)
def spread(backend: Any, x: Array, segments: Segments) -> None:
    agree(backend, "spread", like(x, (segments.count, *x.shape[1:])), segments, exact=True)
