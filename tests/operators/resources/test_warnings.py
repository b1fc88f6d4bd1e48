"""No operator warns, forward or backward, on the largest, least and special numbers of every dtype."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import PynestedError

from ...batches import ROWS, Batch, Call, nothing_warns
from ...calls import CALLS
from ...nests import DENSE, Kind, Numbers, distinct
from ...support.samples import EVERY, recorded, sample_arguments, samples

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
FLOATS = DTYPES[-3:]
MORE = [
    *[Call(op, "number", lambda b: (b.x(), 1e-300)) for op in ("add", "mul", "div", "eq", "lt")],
    *[Call(op, "huge number", lambda b: (b.x(), 2**2000)) for op in ("add", "sub", "mul", "div", "eq", "lt", "ge")],
    *[Call(op, "int64", lambda b: (b.x(), np.array([2**63 - 1]))) for op in ("add", "mul", "div", "eq", "lt", "equal")],
    *[Call("to", str(dtype), lambda b, dtype=dtype: (b.x(), np.dtype(dtype))) for dtype in DTYPES],
    *[Call(op, f"as {t}", lambda b: (b.x(), 1), {"dtype": t}) for op in ("sum", "mean", "softmax") for t in FLOATS],
    Call("where", "numbers", lambda b: (b.of(lambda x: x > 0, np.bool_), 1, 0.5)),
    Call("where", "least", lambda b: (b.of(lambda x: x > 0, np.bool_), b.x(), 1e-300)),
    Call("masked_fill", "least", lambda b: (b.x(), b.of(lambda x: x > 0, np.bool_), 5e-324)),
    Call("dropout", "half", lambda b: (b.x(), 0.5)),
    Call("layer_norm", "eps 0", lambda b: (b.x(), (2,), distinct((2,)), distinct((2,), 1), 0), kinds=ROWS),
]


def edge_values(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Numbers:
    """Draw from the ends of the range of a dtype, its least numbers, zeros, infinities, and NaN in every third draw."""
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        least = float(limits.smallest_subnormal)
        numbers = [np.inf, -np.inf, limits.max, limits.max, limits.min, least, -least, limits.tiny, 0.0, -0.0]
        numbers += [-88.7, 710.5] + ([] if seed % 3 else [np.nan])  # NaN hides what the others give
    else:
        numbers = [0, 1] if dtype.kind == "b" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1, 2]
    with np.errstate(all="ignore"):
        return np.random.default_rng([seed, *shape]).choice(np.array(numbers).astype(dtype), shape)


def run(call: Call, kind: Kind, dtype: np.dtype[Any], placement: str) -> bool:
    """Return whether a call is accepted; pull a cotangent of edge values through what it records."""
    seeds = count()

    def change(array: Numbers, component: int | None) -> Numbers:
        return edge_values(array.shape, dtype, next(seeds)) if array.dtype.kind == "f" else array

    batch = Batch(kind, (2, 2) if kind is DENSE else (3, 0, 4))
    arguments, _, _ = sample_arguments(call, batch, placement, grad=True, change=change)
    with nothing_warns():
        try:
            result = call.function(*arguments, **call.keywords)
        except (PynestedError, OverflowError):
            return False
        for part in recorded(result):
            values = part.data if isinstance(part, pn.NestedArray) else part
            cotangent = pn.array(edge_values(values.shape, values.dtype, 7))
            nested = values is not part
            part.backward(pn.NestedArray(cotangent, part.structure) if nested else cotangent, retain_graph=True)
    return True


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_operator_warns(dtype: str, every: bool) -> None:
    turn = DTYPES.index(dtype)
    calls = [*CALLS, *MORE]
    accepted = set()
    for number, (call, kind) in enumerate(samples(every, turn, calls), turn):
        for placement in ("packed", "holes") if every else [("packed", "holes")[number % 2]]:
            try:
                if run(call, kind, np.dtype(dtype), placement):
                    accepted.add(call.op)
            except (FloatingPointError, Warning) as warning:
                pytest.fail(f"{call} {kind}: {warning}")
    if dtype in FLOATS:
        assert {call.op for call in calls} - accepted == set()
