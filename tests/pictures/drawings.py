"""Pictures that are compared with files; ``python -m tests.pictures.drawings [NAME ...]`` writes the files anew."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import pynested as pn
from pynested.pictures import Picture, beside, draw_jagged, draw_strided, picture

from ..profiling import stories

GOLDEN = Path(__file__).parent / "golden"
SVG = "{http://www.w3.org/2000/svg}"


def ints(*numbers: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(numbers, dtype=np.int64)


def packed(lengths: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.concatenate([ints(0), np.cumsum(ints(*lengths))])


def grids(sizes: list[tuple[int, ...]]) -> tuple[Any, Any, Any]:
    """Return sizes, strides and offsets of row-major components that follow one another."""
    strides = [[int(np.prod(size[k + 1 :])) for k in range(len(size))] for size in sizes]
    return ints(*sizes), ints(*strides), packed([int(np.prod(size)) for size in sizes])[:-1]


NINE = np.array([1.5, 2, 7, 0.5, 4, 3, 9, 8.25, 6])

JAGGED: dict[str, tuple[Any, ...]] = {
    "packed": (NINE, packed([2, 0, 4, 1, 2])), "overlap": (np.arange(5), ints(0, 1, 1, 9), ints(4, 2, 3)),
    "holes": (np.arange(12) / 3, ints(8, 1, 3, 3, 0), ints(3, 4, 0, 2)), "no_components": (np.zeros(0), ints(0)),
    "rows_of_two": (np.arange(14.0).reshape(7, 2) - 3, packed([3, 0, 4])),
    "long": (np.arange(20000.0) * 1.37, packed([i % 40 for i in range(1000)])),
    "empty_components": (np.zeros((0, 3)), ints(0, 0, 0)), "bool": (np.array([True, False, True]), packed([1, 2])),
    "not_finite": (np.array([np.nan, -np.inf, -0.0, -1e-300], np.float64), packed([3, 1])),
}  # fmt: skip
STRIDED: dict[str, tuple[Any, ...]] = {
    "three_ways": (np.arange(10, 34), ints((2, 3), (3, 2), (2, 2)), ints((3, 1), (1, 3), (5, 1)), ints(0, 6, 14)),
    "overlap": (np.arange(12) / 4, ints((2, 2), (2, 3), (1, 0)), ints((2, 1), (3, -1), (1, 1)), ints(0, 4, 5)),
    "one_dimension": (np.arange(9), ints((2,), (0,), (4,)), ints((1,), (1,), (-2,)), ints(0, 3, 8)),
    "long": (np.arange(119000.0), *grids([(10 + i, 20) for i in range(100)])),
    "long_in_three":
        (np.arange(6000), ints((20, 10, 10), (40, 10, 10)), ints((100, 10, 1), (100, 1, 10)), ints(0, 2000)),
    "far_positions": (np.zeros(10**6), ints((2, 3), (4, 4)), ints((3, 1), (1, 9)), ints(123450, 999900)),
    "three_dimensions_in_full": (np.arange(36), *grids([(2, 3, 4), (2, 2, 3)])),
    "many_small_matrices": (np.ones(18), *grids([(2, 1, 1)] * 9)),
    "broadcast": (np.arange(3), ints((2, 3)), ints((0, 1)), ints(0)),
    "scalars": (np.arange(5) / 7, np.zeros((3, 0), np.int64), np.zeros((3, 0), np.int64), ints(0, 1, 4)),
    "no_components": (np.zeros(0), *[np.zeros((0, 2), np.int64)] * 2, ints()),
}  # fmt: skip


def ragged() -> pn.NestedArray:
    return pn.nested_array([[1.5, 2.0], [], [7.0, 0.5, 4.0, 3.0], [9.0]], layout=pn.jagged)


def steps_of_softmax() -> Picture:
    """Six columns, which take two bands."""
    x = pn.nested_array([[1.0, 2.0, 4.0], [0.5]], layout=pn.jagged)
    greatest = x.amax(1, keepdim=True)
    powers = (x - greatest).exp()
    total = powers.sum(1, keepdim=True)
    columns = {"x": x, "max": greatest, "x - max": x - greatest, "exp": powers, "sum": total, "softmax": powers / total}
    return beside(columns, stretched=["max", "sum"])


def stretched() -> Picture:
    x, b = ragged(), pn.array([[1.0], [2.0], [3.0], [4.0]])
    return beside({"x": x, "+ b": b, "= x + b": x + b}, stretched=["+ b"])


def many() -> Picture:
    x = pn.nested_array([np.arange(float(k % 30)) for k in range(60)], layout=pn.jagged)
    lengths = pn.array(x.lengths_along(1))
    return beside({"x": x, "padded": x.to_padded_array(-1.0), "lengths": lengths}, padded=["padded"])


def masks(allowed: Any, heads: int | None, length: int, block: int, name: str | None = None) -> Picture:
    return picture(pn.create_block_mask(allowed, None, heads, length, length, BLOCK_SIZE=block), name)


def tape_of_a_layer() -> Picture:
    w = pn.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = pn.nested_array([np.ones((2, 2)), np.ones((3, 2))], layout=pn.jagged)
    hidden = x @ w
    return picture(pn.tape((hidden.softmax(2) * hidden).sum(1).sum(), w=w))


def long_tape() -> Picture:
    y = x = pn.array(1.0, requires_grad=True)
    for _ in range(500):
        y = y * x
    return picture(pn.tape(y))


W, B = pn.ones(4, 4), pn.zeros(4)


def layer_of_two_structures(x: Any, y: Any) -> Any:
    h, k = pn.relu(pn.linear(x, W, B)), pn.relu(pn.linear(y, W, B))
    return {"h": h * 2, "both": (h.mean(1) - k.mean(1), k.amax(1))}


def written(x: Any, y: Any) -> Any:
    z = x.clone()
    z[0][:] = 0.0
    z += 1
    return pn.cat([z, z @ W, z, z @ W, *[z] * 24], dim=2)


def graph(function: Callable[..., Any]) -> Picture:
    x, y = (pn.nested_array([pn.ones(n, 4) for n in lengths], layout=pn.jagged) for lengths in ((3, 5), (2, 6)))
    return pn.trace(function, x, y).picture()


PICTURES: dict[str, Callable[[], Picture]] = {
    **{f"jagged_{name}": lambda args=args: Picture(draw_jagged(*args)) for name, args in JAGGED.items()},
    **{f"strided_{name}": lambda args=args: Picture(draw_strided(*args)) for name, args in STRIDED.items()},
    "dense_transposed": lambda: picture(pn.arange(12).reshape(3, 4).transpose(0, 1), name="w"),
    "dense_scalar": lambda: picture(pn.array(2.5)), "dense_empty": lambda: picture(pn.zeros((0, 3))),
    "dense_long": lambda: picture(pn.zeros((100, 100))), "tape_nothing": lambda: picture(pn.tape(pn.array(1.0))),
    "ragged_last": lambda: picture(pn.nested_array([np.ones((2, 3)), np.ones((2, 1))], layout=pn.jagged)),
    "narrowed": lambda: picture(pn.narrow(np.arange(12.0).reshape(3, 4), 1, [1, 0, 2], [2, 0, 2], layout=pn.jagged)),
    "transposed": lambda: picture(pn.nested_array([np.ones((2, 3)), np.zeros((1, 2))]).transpose(1, 2)),
    "beside_stretched": stretched, "beside_steps": steps_of_softmax, "beside_many": many,
    "beside_no_components": lambda: beside({"x": pn.nested_array_from_jagged(pn.zeros(0), [0])}),
    "mask_window": lambda: masks(lambda b, h, i, j: (i >= j) & (i - j < 7), None, 20, 2),
    "mask_large": lambda: masks(lambda b, h, i, j: i + h >= j, 10, 300, 5, name="causal"),
    "tape_layer": tape_of_a_layer, "tape_long": long_tape, "timeline_sum": stories.picture,
    "graph_two_structures": lambda: graph(layer_of_two_structures), "graph_writes": lambda: graph(written),
}  # fmt: skip


def texts_of(shown: Picture) -> list[str]:
    """Return the visible texts, without the titles that a pointer shows."""
    marks = ElementTree.fromstring(shown.svg).iter(f"{SVG}text")
    return ["".join([mark.text or "", *(child.tail or "" for child in mark)]) for mark in marks]


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        (GOLDEN / f"{name}.svg").write_text(PICTURES[name]().svg, encoding="utf-8", newline="\n")
