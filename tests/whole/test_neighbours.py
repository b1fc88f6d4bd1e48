"""Each component has the same bits, whatever numbers the other components and the gaps contain.

Every sample call is made twice. The second time all components but one, and all gaps, contain zeros, a large number, an
infinity or NaN. The result and the gradient of the component that is left must have the same bits.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.spec.encoding import Components

from ..batches import Batch, Call, Operand
from ..calls import CALLS
from ..nests import DENSE, Numbers, place, plain

LENGTHS = (3, 2, 2, 2) * 3  # of equal ones several are computed together; more than 8 are added up by one product
KEPT = 6
NUMBERS = (0.0, 1e30, -1e30, np.inf, -np.inf, np.nan)
PLACEMENTS = ("packed", "holes")
MEETING = {"equal", "allclose"}  # operators whose result is one number, of all components
LOSSES = ("sum", "mean")  # of cross entropy
# The components of the result are others.
MOVING = {*product(("getitem",), ("list", "component", "mask")), ("to_padded_array", "larger")}


def _keeps_components(call: Call) -> bool:
    """Whether component i of the result is made of components i of the operands."""
    if call.op in MEETING or (call.op == "cross_entropy" and call.label.startswith(LOSSES)):
        return False
    if (call.op, call.label) in MOVING:
        return False
    return not call.label.startswith(("0", "(0", "None")) or call.op == "dropout"


SAMPLES = [(call, kind) for call in CALLS if _keeps_components(call) for kind in call.forms]


def _made(sample: int, number: float | None) -> list[Numbers]:
    """The kept component of the result and of each gradient; ``number`` replaces the other components and the gaps."""
    call, kind = SAMPLES[sample]
    placement, dtype = PLACEMENTS[sample % 2], ("float32", "float64")[sample // 2 % 2]
    operands = []

    def changed(index: int, component: Numbers) -> Numbers:
        wanted = component.dtype if component.dtype.kind != "f" else np.dtype(dtype)
        if number is None or index == KEPT:
            return component.astype(wanted)
        return np.full(component.shape, number if wanted.kind == "f" else 1, wanted)

    def new(value: Any) -> Any:
        if isinstance(value, Operand):
            made = [changed(i, component) for i, component in enumerate(value.components)]
            is_float = made[0].dtype.kind == "f"
            given = Components(made, value.components.shape, made[0].dtype)
            gap = number if is_float else None
            operands.append(place(given, kind.layout, placement, value.ragged, is_float, gap))
            return operands[-1].array
        return pn.array(value.astype(dtype) if value.dtype.kind == "f" else value)

    batch = Batch(kind, LENGTHS if kind is not DENSE else LENGTHS[KEPT:][:1] * len(LENGTHS))
    result = call.function(*call.given(batch, new), **call.keywords)
    if call.op == "unbind":
        return [plain(result[KEPT])]
    parts = result if isinstance(result, tuple | list) else [result]
    for part in parts:
        if part.requires_grad:
            (part * part).sum().backward(retain_graph=True)
    assert all(len(part) == len(LENGTHS) for part in parts), f"{call} {kind}: the result has other components"
    gradients = [one.gradient()[KEPT] for one in operands if one.buffer.requires_grad]
    return [*(plain(part[KEPT]) for part in parts), *gradients]


@lru_cache(10000)
def _unchanged(sample: int) -> list[Numbers]:
    return _made(sample, None)


def _same_bits(a: Numbers, b: Numbers) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_every_operator_is_called() -> None:
    left_out = {call.op for call in CALLS} - {call.op for call, _ in SAMPLES}
    assert left_out == {*MEETING}


@pytest.mark.parametrize("number", NUMBERS)
def test_operators_and_their_gradients(number: float) -> None:
    differing = [
        f"{call} {kind}"
        for sample, (call, kind) in enumerate(SAMPLES)
        if not all(map(_same_bits, _made(sample, number), _unchanged(sample)))
    ]
    assert differing == []


LONG = {
    "softmax, rows": lambda x: pn.softmax(x, 1),
    "softmax, columns": lambda x: pn.softmax(x, 2),
    "log_softmax": lambda x: pn.log_softmax(x, 1),
    "logsumexp": lambda x: pn.logsumexp(x, 1),
    "amin": lambda x: pn.amin(x, 1),
    "var": lambda x: pn.var(x, 1),
    "std": lambda x: pn.std(x, 2),
    "cumsum": lambda x: pn.cumsum(x, 1),
    "layer_norm": lambda x: pn.layer_norm(x, (x.size(2),), eps=0),
    "attention": lambda x: pn.scaled_dot_product_attention(x, x, x),
    "causal attention": lambda x: pn.scaled_dot_product_attention(x, x, x, is_causal=True, scale=10.0),
    "flex attention": lambda x: pn.flex_attention(x, x, x),
}


def _long(name: str, layout: Any, dtype: str, number: float | None) -> list[Numbers]:
    """The middle one of three components of 300 rows, and its gradient; numbers need all of their digits."""
    whole = np.random.default_rng(0).normal(size=(3, 300, 40)).astype(dtype)
    if number is not None:
        whole[[0, 2]] = number
    operand = place(list(whole), layout, "holes", grad=True, gap=number)
    result = LONG[name](operand.array)
    (result * result).sum().backward()
    return [plain(result[1]), operand.gradient()[1]]


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided, None])
@pytest.mark.parametrize("name", LONG)
def test_long_components(name: str, layout: Any) -> None:
    for dtype in ("float32", "float64"):
        expected = _long(name, layout, dtype, None)
        differing = [n for n in NUMBERS if not all(map(_same_bits, _long(name, layout, dtype, n), expected))]
        assert differing == [], dtype
