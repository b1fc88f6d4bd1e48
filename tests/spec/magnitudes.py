"""Numbers of every magnitude, and components of them."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components

Draw = np.random.Generator


def numbers(draw: Draw, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers of one dtype: of every magnitude, of one magnitude, near the largest, near the least, ordinary, level."""
    kind = np.finfo(dtype)
    way = draw.integers(7)
    low, high = kind.minexp - kind.nmant, kind.maxexp
    middle = int(draw.integers(low, high))
    ways = [(low, high), (middle, middle), (middle - 6, middle + 6), (high - 3, high), (low, kind.minexp), (-3, 3)]
    first, last = [*ways, (middle, middle)][way]
    exponents = draw.integers(max(first, low), min(last, high), shape, endpoint=True)
    with np.errstate(all="ignore"):
        x = np.ldexp(draw.uniform(0.5, 1, shape) * draw.choice([-1, 1], shape), exponents).astype(dtype)
    x = np.asarray(np.clip(x, -kind.max, kind.max))
    x[...] = x.ravel()[0] if way == 6 and x.size else x
    x[draw.random(shape) < (0.1 if draw.random() < 0.3 else 0)] = 0
    return x


def components(draw: Draw, shapes: list[tuple[int, ...]], dtype: str) -> Components:
    return Components([numbers(draw, shape, dtype) for shape in shapes], (len(shapes), None, *shapes[0][1:]), dtype)


def shapes_of(draw: Draw, form: str, width: int) -> list[tuple[int, ...]]:
    """The shapes of up to three components of rows; where they are handed over as one dense array, they are equal."""
    count, longest = int(draw.integers(1, 4)), int(draw.choice([2, 4, 12]))
    lengths = draw.integers(0, longest, count, endpoint=True).tolist()
    return [(lengths[0] if form == "dense" else length, width) for length in lengths]
