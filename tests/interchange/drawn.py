"""Nested arrays of every layout and placement, drawn: the components are known beside the array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import pynested as pn

DTYPES = ("float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool")
Numbers = np.ndarray[Any, Any]


@dataclass
class Drawn:
    """An array, what its components are, and where they lie."""

    array: pn.NestedArray
    components: list[Numbers]
    placement: str  # packed, holes or apart

    def __repr__(self) -> str:
        shapes = [one.shape for one in self.components]
        return f"{self.array.layout} {self.placement} {self.array.dtype} {shapes}"


@st.composite
def arrays(draw: st.DrawFn, *, dtypes: Sequence[str] = DTYPES, ragged: Sequence[int] = (1, 2)) -> Drawn:
    """Jagged arrays with and without holes along dimension 1 or 2, strided ones of rectangles, packed or apart."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    lengths = draw(st.lists(st.integers(0, 3), max_size=4))
    kind = draw(st.sampled_from(["jagged", "holes", "strided", "apart"]))
    if kind in ("jagged", "holes"):
        at = draw(st.sampled_from(ragged))
        regular = draw(st.lists(st.integers(0, 3), min_size=at - 1, max_size=2))
        return _jagged(dtype, at, regular, lengths, kind == "holes")
    second = draw(st.lists(st.integers(0, 3), min_size=len(lengths), max_size=len(lengths)))
    return _strided(dtype, list(zip(lengths, second, strict=True)), kind == "apart")


def numbers(shape: Sequence[int], dtype: np.dtype[Any], first: int) -> Numbers:
    """Numbers that differ from each other."""
    return (np.arange(first, first + int(np.prod(shape))).reshape(shape) % 100).astype(dtype)


def _jagged(dtype: np.dtype[Any], at: int, regular: Sequence[int], lengths: Sequence[int], holes: bool) -> Drawn:
    steps = np.array(lengths, int) + int(holes)  # with holes, one row lies behind each component
    offsets = np.concatenate([[0], np.cumsum(steps)]).astype(int)
    values = numbers([*regular[: at - 1], int(steps.sum()), *regular[at - 1 :]], dtype, 1)
    components = [np.split(values, [start, start + n], at - 1)[1] for start, n in zip(offsets, lengths, strict=False)]
    counted = list(lengths) if holes else None
    made = pn.nested_array_from_jagged(pn.from_numpy(values), offsets, counted, jagged_dim=at)
    return Drawn(made, components, "holes" if holes else "packed")


def _strided(dtype: np.dtype[Any], shapes: Sequence[tuple[int, int]], apart: bool) -> Drawn:
    apart = apart and any(min(shape) > 1 for shape in shapes)  # else both orders are the same
    components = [numbers(shape, dtype, 7 * i) for i, shape in enumerate(shapes)]
    stored = [one.T if apart else one for one in components]
    flat = np.concatenate([np.zeros(0, dtype), *[one.reshape(-1) for one in stored]])
    sizes = np.array(shapes, int).reshape(-1, 2)
    strides = np.stack([np.ones(len(sizes), int), sizes[:, 0]], 1) if apart else None
    made = pn.nested_array_from_strided(pn.from_numpy(flat), sizes, strides)
    return Drawn(made, components, "apart" if apart else "packed")
