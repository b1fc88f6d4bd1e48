"""Sample arguments of the primitives: what every primitive is checked on, edges included.

A sample is the tuple of arguments of one call, arrays first. Arrays are float64; the checks cast them. Values are short
decimals, so that a failure can be read, and stay away from kinks, whose gradients are tested by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.random import Generator

from pynested.autograd.primitives import binary, unary
from pynested.autograd.primitives.primitive import Primitive
from pynested.backends import HeadLayout, Matrices, Segments

Samples = Callable[[Generator], Iterable[tuple[Any, ...]]]
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (5,), (0,), (2, 3), (3, 0, 2), (2, 1, 4))
PAIRS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1, 4), (3, 1)), ((), (2, 2)), ((0, 3), (3,)),
    ((1,), (4,)),
)  # fmt: skip


def numbers(generator: Generator, shape: tuple[int, ...], low: float = -2.0, high: float = 2.0) -> np.ndarray[Any, Any]:
    """Two-digit decimals between ``low`` and ``high``, none of them within 0.05 of zero."""
    values = np.asarray(generator.integers(round(low * 100), round(high * 100), shape) / 100)
    return np.where(np.abs(values) < 0.05, values + 0.11, values)


def one_array(low: float, high: float) -> Samples:
    """One array of numbers between ``low`` and ``high``, in each of `SHAPES`."""
    return lambda generator: [(numbers(generator, shape, low, high),) for shape in SHAPES]


def pairs(low: float, high: float) -> Samples:
    """Two arrays that broadcast, the first of numbers between ``low`` and ``high``."""
    return lambda generator: [(numbers(generator, a, low, high), numbers(generator, b)) for a, b in PAIRS]


def quotients(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Two arrays that broadcast, whose quotients are not near an integer."""
    return [(generator.integers(-4, 4, a) + 0.5, generator.choice([-2.0, -1.0, 1.0, 2.0], b)) for a, b in PAIRS]


def with_static(*cases: tuple[Any, ...]) -> Samples:
    """For each case an array of the shape that begins it, and the other arguments."""
    return lambda generator: [(numbers(generator, shape), *static) for shape, *static in cases]


def arrays(*cases: tuple[Any, ...]) -> Samples:
    """For each case arrays of the shapes that begin it, and the other arguments."""
    return lambda generator: [(*[numbers(generator, shape) for shape in shapes], *static) for shapes, *static in cases]


def products(weights: bool) -> Samples:
    """Products of attention: of weights and rows, or of rows and rows, with and without a mask."""
    rows, keys, width = np.array([2, 0, 3]), np.array([2, 1, 1]), np.array([3, 3, 2])
    first, second = Matrices.of_sizes(rows, width), Matrices.of_sizes(keys, width)
    scores = Matrices.of_sizes(rows, keys)
    seen = np.array([True, False, True, True, False, True, True])

    def samples(generator: Generator) -> Iterable[tuple[Any, ...]]:
        if not weights:
            return [(numbers(generator, (12,)), numbers(generator, (11,)), first, second, m) for m in (None, seen)]
        w, r, other = (numbers(generator, (n,)) for n in (7, 11, 12))
        return [(w, r, scores, second, seen), (w, r, scores, second, None), (w, other, scores.transposed, first, None)]

    return samples


def attention(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Two heads of queries, keys and values in any order of memory: free, causal and masked."""
    sizes = np.array([[1, 2, 2, 3], [1, 2, 1, 2], [1, 2, 3, 0]])
    query, key = np.array([[0, 2, 4], [8, 2, 4], [12, 2, 4]]), np.array([[0, 6, 2], [6, 4, 2], [10, 0, 2]])
    value, made = np.array([[0, 3, 1], [3, 2, 1], [5, 0, 1]]), np.array([[0, 2, 1], [4, 1, 1], [6, 3, 1]])
    mask = np.array([[0, 6, 3, 1], [1, 0, 0, 1], [0, 0, 0, 0]])
    arrays = [numbers(generator, (n,)) for n in (24, 10, 5, 12)]
    free, causal = (HeadLayout(sizes, query, key, value, made, None, 2, 1, 0.5, flag) for flag in (False, True))
    masked = HeadLayout(sizes, query, key, value, made, mask, 2, 1, 0.5, False)
    unmasked = *arrays[:3], None
    return [(*unmasked, free, False, True), (*unmasked, causal, False, True), (*arrays, masked, True, True)]


def components(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Matrices of components, the second call transposed."""
    rows, inner, cols = np.array([2, 0, 1]), np.array([3, 2, 3]), np.array([1, 2, 2])
    a, b = Matrices.of_sizes(rows, inner), Matrices.of_sizes(inner, cols)
    turned = Matrices.of_sizes(inner, rows).transposed, Matrices.of_sizes(cols, inner).transposed
    sampled = arrays((((9,), (13,)), a, b), (((3, 3), (13,)), *turned))
    return list(sampled(generator))


def norms(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Rows with weight and shift, and without."""
    shapes = (((3, 4), (4,), (4,)), 1e-5), (((2, 3), (3,), (3,)), 1e-2), (((0, 3), (3,), (3,)), 1e-5)
    sampled = arrays(*shapes)
    return [*sampled(generator), (numbers(generator, (2, 4)), None, None, 1e-5)]


def labelled(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Scores and labels, one of which is ignored, without and with weights of classes."""
    target = np.array([2, 0, -100, 1])
    weight = np.array([0.5, 2.0, 1.0])
    return [
        (numbers(generator, (4, 3)), target, None, -100, 0.0),
        (numbers(generator, (4, 3)), target, weight, -100, 0.3),
    ]


def joined(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Return two arrays to concatenate, the second without rows in the last call."""
    return [*arrays((((2, 3), (1, 3)),), (((2, 3), (0, 3)),))(generator)]


SIZES, STRIDES, OFFSETS = np.array([[2, 2], [0, 3], [1, 3]]), np.array([[3, 1], [1, 1], [0, 2]]), np.array([0, 2, 3])
SEGMENTS, EMPTY = Segments(np.array([0, 2, 2, 5])), Segments(np.array([0, 0]))

POSITIVE, FRACTIONS = one_array(0.3, 3.0), one_array(-0.8, 0.8)

# By the primitive. Every other primitive computes each element by itself, for any numbers.
SAMPLES: dict[str, Samples] = {
    "pair_products": products(weights=False),
    "weighted_rows": products(weights=True),
    "attention": attention,
    "to_device": with_static(((3,), "cpu", "cpu"), ((2, 0), "cpu", "cpu")),
    "where": arrays(
        (((3,), (3,)), np.array([True, False, True])),
        (((2, 3), (3,)), np.array([[True], [False]])),
        (((), (2, 2)), np.array([[True, False], [False, True]])),
        (((0, 3), (3,)), np.array([True, False, True])),
    ),
    "dropout": with_static(
        ((4,), np.array([True, False, True, True]), 0.25), ((2, 2), np.zeros((2, 2), bool), 1), ((), True, 0.5)
    ),
    **dict.fromkeys(
        ("relu_backward", "silu_backward", "gelu_backward", "gelu_tanh_backward"),
        arrays((((), ()),), (((5,), (5,)),), (((2, 0), (2, 0)),), (((2, 3), (2, 3)),)),
    ),
    "log": POSITIVE,
    "sqrt": POSITIVE,
    "log1p": POSITIVE,
    "tan": FRACTIONS,
    "acosh": one_array(1.3, 4.0),
    "asin": FRACTIONS,
    "acos": FRACTIONS,
    "atanh": FRACTIONS,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "rsqrt": POSITIVE,
    "matmul": arrays(
        (((2, 3), (3, 4)),),
        (((5, 2, 3), (3, 4)),),
        (((2, 1, 2, 3), (4, 3, 1)),),
        (((0, 3), (3, 2)),),
        (((2, 0), (0, 2)),),
    ),
    "matmul_components": components,
    "reshape": with_static(((2, 3), (3, 2)), ((4,), (2, 2)), ((), (1,)), ((0, 3), (3, 0))),
    "transpose": with_static(((2, 3), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((3, 0, 2), (1, 0, 2))),
    "broadcast_to": with_static(((3,), (2, 3)), ((2, 1), (2, 4)), ((), (3,)), ((1, 0), (2, 0))),
    "sum_to": with_static(((2, 3), (3,)), ((2, 4), (2, 1)), ((3,), ()), ((2, 0), (1, 0))),
    "cast": with_static(((3,), np.dtype(np.float64))),
    "alias": with_static(((3,),), ((2, 0),), ((),)),
    "copy": with_static(((3,),), ((2, 3),), ((0,),)),
    "slice": with_static(
        ((4, 3), (slice(1, 3), slice(None))),
        ((4, 3), (2,)),
        ((5,), (slice(None, None, -2),)),
        ((3,), (None, 1)),
        ((2, 3), (1, 2)),
        ((2, 3), (..., 0)),
        ((), (None,)),
    ),
    "place": with_static(
        ((2, 3), (4, 3), (slice(1, 3), slice(None))),
        ((3,), (4, 3), (2,)),
        ((3,), (5,), (slice(None, None, -2),)),
        ((), (4, 3), (1, 2)),
    ),
    "cat": lambda generator: [(*arrays, 0) for arrays in joined(generator)],
    "unbind": with_static(((3, 2), 0), ((2, 3), 1)),
    "as_strided": with_static(((6,), (2, 3), (2, 1), 1), ((2, 3), (3, 2), (1, 3), 0), ((4,), (3,), (0,), 2)),
    "take_rows": with_static(
        ((4, 2), np.array([3, 0, 3])), ((2,), np.array([1, 1, 0])), ((3, 2), np.array([], np.int64))
    ),
    "add_rows": with_static(((3, 2), np.array([3, 0, 3]), 4), ((0, 2), np.array([], np.int64), 2)),
    "gather": with_static(((8,), SIZES, STRIDES, OFFSETS)),
    "scatter": with_static(((7,), SIZES, STRIDES, OFFSETS, 8)),
    "pad": with_static(((4, 2), Segments(np.array([0, 1, 1, 4])), 3, 1.5)),
    "unpad": with_static(((3, 3, 2), Segments(np.array([0, 1, 1, 4])), 3)),
    "pow": pairs(0.3, 3.0),
    "floor_divide": quotients,
    "remainder": quotients,
    "sum": with_static(((2, 3), (0,)), ((2, 3), (0, 1)), ((2, 0, 4), (1,)), ((3,), ()), ((), ())),
    "amax": with_static(((2, 3), (0,)), ((2, 3), (0, 1)), ((4,), (0,)), ((2, 3), ()), ((), ())),
    "amin": with_static(((2, 3), (0,)), ((2, 3), (0, 1)), ((4,), (0,)), ((2, 3), ()), ((), ())),
    "layer_norm": norms,
    "cross_entropy": labelled,
    "segment_sum": with_static(((5,), SEGMENTS), ((5, 2), SEGMENTS), ((5, 0), SEGMENTS)),
    "spread": with_static(((3,), SEGMENTS), ((3, 2), SEGMENTS)),
    "segment_cumsum": with_static(((5,), SEGMENTS), ((5, 2), SEGMENTS, True), ((5, 0), SEGMENTS)),
    "segment_prod": with_static(((5,), SEGMENTS), ((5, 2), SEGMENTS), ((5, 0), SEGMENTS), ((0, 2), EMPTY)),
    "segment_softmax": with_static(((5,), SEGMENTS), ((5, 2), SEGMENTS), ((0, 2), EMPTY)),
    "softmax_last": with_static(((4,),), ((2, 3),), ((3, 0),), ((0, 2),)),
    "segment_softmax_backward": arrays(
        (((5,), (5,)), SEGMENTS), (((5, 2), (5, 2)), SEGMENTS), (((0, 2), (0, 2)), EMPTY)
    ),
    "softmax_last_backward": arrays((((4,), (4,)),), (((2, 3), (2, 3)),), (((3, 0), (3, 0)),)),
    "segment_max": with_static(((5,), Segments(np.array([0, 2, 5]))), ((5, 2), Segments(np.array([0, 1, 5])))),
    "segment_min": with_static(((5,), Segments(np.array([0, 2, 5]))), ((5, 2), Segments(np.array([0, 1, 5])))),
    "pieces": with_static(
        ((4, 2), 0, (0, 1, 1), (1, 0, 3)),
        ((2, 5), 1, (3, 0), (2, 2)),
        ((3,), 0, (0, 1), (2, 2)),
        ((3, 0), 0, (0,), (3,)),
    ),
    "components": with_static(
        ((8,), np.array([[2, 2], [0, 3], [1, 3]]), np.array([[3, 1], [1, 1], [1, 2]]), np.array([0, 2, 3])),
    ),
}


# Their kernels take residuals of another call. The second derivatives of that call check them.
WITH_RESIDUALS = frozenset(
    {"attention_backward", "cross_entropy_backward", "layer_norm_backward", "segment_max_backward"}
)
ELEMENTWISE = [x for x in (*vars(unary).values(), *vars(binary).values()) if type(x) is Primitive]


def draw_samples(primitive: Primitive) -> list[tuple[Any, ...]]:
    """Return the sample arguments of a primitive, the same every time."""
    samples = SAMPLES.get(primitive.name)
    if samples is None:
        assert primitive in ELEMENTWISE, f"no samples of {primitive.name}"
        samples = one_array(-2.0, 2.0) if len(primitive.vjps) == 1 else pairs(-2.0, 2.0)
    drawn = list(samples(np.random.default_rng(0)))
    assert drawn, f"no samples of {primitive.name}"
    return drawn
