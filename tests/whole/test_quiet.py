"""Nothing warns, whatever the numbers: every operator on the hardest ones of every dtype, forward and backward.

Warnings of NumPy are errors here, and so are those that Python's filters would show.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import PynestedError

from ..batches import ROWS, Batch, Call, Operand, nothing_warns
from ..calls import CALLS
from ..nests import DENSE, JAGGED, JAGGED_2, STRIDED, Numbers, distinct, place

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
LENGTHS = (3, 0, 4)  # and a batch of equal lengths where the operands are dense
FORMS = ("dense", "jagged", "jagged last", "strided", "strided in holes")
KINDS = {"dense": DENSE, "jagged": JAGGED, "jagged last": JAGGED_2, "strided": STRIDED, "strided in holes": STRIDED}

FLOATS = DTYPES[-3:]
HUGE = 2**2000

MORE = [
    *[Call(op, "number", lambda b: (b.x(), 1e-300)) for op in ("add", "mul", "div", "eq", "lt")],
    *[Call(op, "huge number", lambda b: (b.x(), HUGE)) for op in ("add", "sub", "mul", "div", "eq", "lt", "ge")],
    *[Call(op, "int64", lambda b: (b.x(), np.array([2**63 - 1]))) for op in ("add", "mul", "div", "eq", "lt", "equal")],
    *[Call("to", str(dtype), lambda b, dtype=dtype: (b.x(), np.dtype(dtype))) for dtype in DTYPES],
    *[Call(op, f"as {t}", lambda b: (b.x(), 1), {"dtype": t}) for op in ("sum", "mean", "softmax") for t in FLOATS],
    Call("where", "numbers", lambda b: (b.of(lambda x: x > 0, np.bool_), 1, 0.5)),
    Call("where", "least", lambda b: (b.of(lambda x: x > 0, np.bool_), b.x(), 1e-300)),
    Call("masked_fill", "least", lambda b: (b.x(), b.of(lambda x: x > 0, np.bool_), 5e-324)),
    Call("dropout", "half", lambda b: (b.x(), 0.5)),
    Call("layer_norm", "eps 0", lambda b: (b.x(), (2,), distinct((2,)), distinct((2,), 1), 0), kinds=ROWS),
]


def hard(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Numbers:
    """The ends of a dtype, its least numbers, and none at all where it has those; every one meets every other."""
    if dtype.kind == "f":
        ends = np.finfo(dtype)
        least = float(ends.smallest_subnormal)
        numbers = [np.inf, -np.inf, ends.max, ends.max, ends.min, least, -least, ends.tiny, 0.0, -0.0, -88.7, 710.5]
        numbers += [] if seed % 3 else [np.nan]  # which hides what the others give together
    else:
        numbers = [0, 1] if dtype.kind == "b" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1, 2]
    with np.errstate(all="ignore"):
        return np.random.default_rng([seed, *shape]).choice(np.array(numbers).astype(dtype), shape)


def prepared(call: Call, form: str, dtype: np.dtype[Any]) -> list[Any]:
    """The arguments of a call with hard numbers in place of its floats, as leaves where these can have a gradient."""
    batch = Batch(KINDS[form], (2, 2) if form == "dense" else LENGTHS)
    seeds = count()

    def changed(value: Any) -> Any:
        numbers = value.components if isinstance(value, Operand) else [value]
        seed = next(seeds)
        parts = [hard(x.shape, dtype, seed + i) if x.dtype.kind == "f" else x for i, x in enumerate(numbers)]
        wanted = parts[0].dtype.kind == "f"
        if isinstance(value, np.ndarray):
            return pn.array(parts[0], requires_grad=wanted)
        return place(parts, batch.kind.layout, "holes" if "holes" in form else "packed", value.ragged, wanted).array

    return call.given(batch, changed)


def pulled(result: Any, dtype: np.dtype[Any]) -> None:
    """A hard cotangent back through whatever has a gradient."""
    for one in result if isinstance(result, tuple | list) else [result]:
        if not getattr(one, "requires_grad", False):
            continue
        values = one.data if isinstance(one, pn.NestedArray) else one
        cotangent = pn.array(hard(values.shape, values.dtype, 7))
        one.backward(pn.NestedArray(cotangent, one.structure) if values is not one else cotangent, retain_graph=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
def test_no_operator_warns(form: str, dtype: str) -> None:
    refused, kind = set(), np.dtype(dtype)
    calls = [call for call in (*CALLS, *MORE) if KINDS[form] in call.forms]
    for call in calls:
        given = prepared(call, form, kind)
        with nothing_warns():
            try:
                result = call.function(*given, **call.keywords)
            except (PynestedError, OverflowError):
                refused.add(call.op)
                continue
            except (FloatingPointError, Warning) as warning:
                pytest.fail(f"{call}: {warning}")
            try:
                pulled(result, kind)
            except (FloatingPointError, Warning) as warning:
                pytest.fail(f"the gradient of {call}: {warning}")
    assert len(refused) < (11 if kind.kind == "f" else 38), sorted(refused)
