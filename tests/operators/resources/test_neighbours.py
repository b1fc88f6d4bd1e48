"""The bits of a component and of its gradient do not depend on the numbers in other components and in gaps.

Each sample call is made twice. The second time all components but one, and all gaps, contain zeros, a large number, an
infinity or NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ...batches import Batch, Call
from ...calls import CALLS
from ...nests import DENSE, Kind, Numbers, place, plain
from ...support.samples import EVERY, recorded, sample_arguments, samples

# Equal lengths are computed together, and sums of more than 8 components by one product.
LENGTHS = (3, 2, 2, 2) * 3
KEPT = 6
NUMBERS = (0.0, 1e30, -1e30, np.inf, -np.inf, np.nan)
REDUCING = {"equal", "allclose"}  # operators whose result is one number, of all components
# Calls whose result has other components.
MOVING = {*product(("getitem",), ("list", "component", "mask")), ("to_padded_array", "larger")}


def keeps_components(call: Call) -> bool:
    """Return whether component i of the result is made of components i of the operands."""
    if call.op in REDUCING or (call.op, call.label) in MOVING:
        return False
    if call.op == "cross_entropy":
        return not call.label.startswith(("sum", "mean"))
    return not call.label.startswith(("0", "(0", "None")) or call.op == "dropout"


def kept(call: Call, kind: Kind, dtype: str, placement: str, number: float | None) -> list[bytes]:
    """Return the kept component of the result and of each gradient, with ``number`` everywhere else if it is given."""

    def change(array: Numbers, component: int | None) -> Numbers:
        is_float = array.dtype.kind == "f"
        array = array.astype(dtype) if is_float else array
        if number is None or component in (None, KEPT):
            return array
        return np.full(array.shape, number if is_float else 1, array.dtype)

    batch = Batch(kind, LENGTHS if kind is not DENSE else LENGTHS[KEPT:][:1] * len(LENGTHS))
    arguments, keywords, operands = sample_arguments(call, batch, placement, True, change, gap=number)
    result = call.function(*arguments, **keywords)
    if call.op == "unbind":
        return [plain(result[KEPT]).tobytes()]
    for part in recorded(result):
        (part * part).sum().backward(retain_graph=True)
    parts = result if isinstance(result, tuple | list) else [result]
    assert all(len(part) == len(LENGTHS) for part in parts), f"{call} {kind}: the result has other components"
    arrays = [plain(part[KEPT]) for part in parts]
    arrays += [operand.gradient()[KEPT] for operand in operands if operand.buffer.requires_grad]
    return [array.tobytes() for array in arrays]


def test_only_reductions_to_one_number_are_left_out() -> None:
    assert {call.op for call in CALLS} - {call.op for call in CALLS if keeps_components(call)} == REDUCING


@EVERY
def test_operators_and_their_gradients(every: bool) -> None:
    differing = []
    calls = [(call, kind) for call, kind in samples(every) if keeps_components(call)]
    for index, (call, kind) in enumerate(calls):
        how = call, kind, ("float32", "float64")[index // 2 % 2], ("packed", "holes")[index % 2]
        expected = kept(*how, None)
        for number in NUMBERS if every else [NUMBERS[index % len(NUMBERS)]]:
            if kept(*how, number) != expected:
                differing.append(f"{call} {kind}, beside {number}")
    assert differing == []


LONG: dict[str, Callable[[Any], Any]] = {
    "softmax, rows": lambda x: pn.softmax(x, 1), "softmax, columns": lambda x: pn.softmax(x, 2),
    "log_softmax": lambda x: pn.log_softmax(x, 1), "logsumexp": lambda x: pn.logsumexp(x, 1),
    "amin": lambda x: pn.amin(x, 1), "var": lambda x: pn.var(x, 1), "std": lambda x: pn.std(x, 2),
    "cumsum": lambda x: pn.cumsum(x, 1), "layer_norm": lambda x: pn.layer_norm(x, (x.size(2),), eps=0),
    "attention": lambda x: pn.scaled_dot_product_attention(x, x, x),
    "causal attention": lambda x: pn.scaled_dot_product_attention(x, x, x, is_causal=True, scale=10.0),
    "flex attention": lambda x: pn.flex_attention(x, x, x),
}  # fmt: skip


def kept_of_long(name: str, layout: Any, dtype: str, number: float | None) -> list[bytes]:
    """Return the middle one of three components of 300 rows, and its gradient; numbers need all of their digits."""
    components = np.random.default_rng(0).normal(size=(3, 300, 40)).astype(dtype)
    if number is not None:
        components[[0, 2]] = number
    operand = place(list(components), layout, "holes", grad=True, gap=number)
    result = LONG[name](operand.array)
    (result * result).sum().backward()
    return [plain(result[1]).tobytes(), operand.gradient()[1].tobytes()]


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided, None], ids=str)
@pytest.mark.parametrize("name", LONG)
def test_long_components(name: str, layout: Any) -> None:
    for dtype, numbers in (("float32", (1e30, np.nan)), ("float64", (-np.inf,))):
        expected = kept_of_long(name, layout, dtype, None)
        assert [n for n in numbers if kept_of_long(name, layout, dtype, n) != expected] == [], dtype
