"""Nested arrays of every layout and placement, drawn by Hypothesis, with their components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import pynested as pn
from pynested.spec.encoding import Components

from ..nests import Numbers, place

DTYPES = ("float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool")
FORMS = (  # layout, placement, ragged dimension
    *((pn.jagged, placement, ragged) for placement in ("packed", "holes") for ragged in (1, 2)),
    *((pn.strided, placement, 1) for placement in ("packed", "holes", "transposed")),
)
GAP = 77  # the elements of a buffer that belong to no component; no drawn number is equal to it


@dataclass
class Drawn:
    """An array with its components.

    Attributes
    ----------
    placement : packed, holes or transposed
    """

    array: pn.NestedArray
    components: list[Numbers]
    placement: str

    def __repr__(self) -> str:
        shapes = [component.shape for component in self.components]
        return f"{self.array.layout} {self.placement} {self.array.dtype} {shapes}"


@st.composite
def arrays(draw: st.DrawFn) -> Drawn:
    """Draw jagged arrays that are ragged along dimension 1 or 2, and strided arrays of rectangles."""
    dtype, (layout, placement, ragged) = np.dtype(draw(st.sampled_from(DTYPES))), draw(st.sampled_from(FORMS))
    lengths = draw(st.lists(st.integers(0, 3), max_size=4))
    sizes: list[int | None] = [*draw(st.lists(st.integers(0, 3), min_size=ragged - 1, max_size=2))]
    sizes.insert(ragged - 1, None)
    shapes = [tuple(length if size is None else size for size in sizes) for length in lengths]
    if layout is pn.strided:
        sizes = [None, None]
        shapes = [(length, draw(st.integers(0, 3))) for length in lengths]
        if placement == "transposed" and not any(min(shape) > 1 for shape in shapes):
            placement = "packed"  # both orders are the same
    counts = [int(np.prod(shape)) for shape in shapes]
    numbers = np.split(np.arange(1, sum(counts) + 1) % GAP, np.cumsum(counts))
    components = [part.reshape(shape).astype(dtype) for part, shape in zip(numbers, shapes, strict=False)]
    logical = Components(components, (len(shapes), *sizes), dtype)
    return Drawn(place(logical, layout, placement, ragged, gap=GAP).array, components, placement)
