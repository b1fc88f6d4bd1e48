"""The law of `is_contiguous`, and contiguous results of operators that compute from contiguous operands."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.spec.table import run_wise

from ...batches import Batch
from ...nests import DENSE, distinct, place
from ...support.samples import sample_arguments
from .samples import EVERY, samples

TABLE = pn.array(np.arange(60.0).reshape(3, 10, 2))
JAGGED = pn.nested_array([np.ones((2, 3)), np.ones((0, 3)), np.ones((4, 3))], layout=pn.jagged)
TURNED = JAGGED.transpose(1, 2)  # its values have shape (3, 6) and strides (1, 3)
STRIDED = JAGGED.to(layout=pn.strided)

# Each array, and whether its elements lie in C order, each component beginning where the one before it ends.
ARRAYS = {
    "jagged": (JAGGED, True),
    "rows that begin at 1": (pn.narrow(TABLE, 1, [1, 0, 0], [9, 10, 10], layout=pn.jagged), True),
    "rows that end at 28": (pn.narrow(TABLE, 1, [0, 0, 0], [10, 10, 8], layout=pn.jagged), True),
    "an empty component elsewhere": (pn.narrow(TABLE, 1, [5, 7, 0], [5, 0, 10], layout=pn.jagged), False),
    "an empty component between": (pn.nested_array_from_jagged(TABLE[0], [4, 0, 6, 0], [2, 0, 3]), True),
    "rows of no component between": (pn.narrow(TABLE, 1, [0, 1, 0], [10, 9, 10], layout=pn.jagged), False),
    "jagged, the last two": (JAGGED[1:], True),
    "jagged, every second": (JAGGED[::2], True),
    "jagged, of all components the end": (JAGGED[:, 1:], False),
    "jagged, of one column": (JAGGED[:, :, :1], False),
    "jagged, only empty components": (JAGGED[:, 9:], True),
    "jagged, backwards": (pn.nested_array_from_jagged(TABLE[0], [5, 0, 10], [5, 5]), False),
    "jagged, overlapping": (pn.nested_array_from_jagged(TABLE[0], [0, 4, 10], [5, 5]), False),
    "turned": (TURNED, False),
    "turned, in C order": (TURNED.contiguous(), True),
    "turned, a part of each row of values": (TURNED.contiguous()[:1], False),
    "strided": (STRIDED, True),
    "strided, the first two": (STRIDED[:2], True),
    "strided, the last": (STRIDED[2:], True),
    "strided, none": (STRIDED[:0], True),
    "strided, of all components the end": (STRIDED[:, 1:], False),
    "strided, turned": (STRIDED.transpose(1, 2), False),
    "strided, only empty components": (STRIDED[:, 9:], True),
    "strided, backwards": (pn.nested_array_from_strided(TABLE[0, :, 0].contiguous(), [[5], [5]], None, [5, 0]), False),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_contiguous_arrays_and_the_gradient_of_their_values(name: str) -> None:
    x, expected = ARRAYS[name]
    assert x.is_contiguous() is expected
    made = x.contiguous()
    assert made.is_contiguous() and made.numel() == made.values().numel()  # there are no gaps
    is_shared = made.data.storage is x.data.storage
    assert is_shared is expected or not x.numel(), "a contiguous array is not copied"
    assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(made, x, strict=True))
    if expected:  # elements have the gradient 3, and gaps of the buffer have 0
        values = x.values().detach().requires_grad_()
        again: Any = pn.NestedArray(values, x.structure)
        (again.contiguous() * 3.0).values().sum().backward()
        assert float(values.grad.sum() if values.grad is not None else 0) == 3.0 * x.numel()


# Operators that return a view of their operand if they can.
VIEWS = {
    "as_nested_array", "chunk", "detach", "flatten", "getitem", "narrow", "permute", "reshape", "select", "split",
    "squeeze", "transpose", "unbind", "unflatten", "unsqueeze", "view",
}  # fmt: skip
BATCHES = [(2, 0, 3), (3, 2), (2, 2), ()]  # lengths that differ, an empty component, equal lengths, no components


@EVERY
def test_computed_results(every: bool) -> None:
    wrong = []
    for call, kind in samples(every):
        if call.op in VIEWS:
            continue
        for lengths in [(2, 2)] if kind is DENSE else BATCHES:
            batch = Batch(kind, lengths)
            if call.refuses(batch):
                continue
            arguments, keywords = sample_arguments(call, batch)
            result = call.function(*arguments, **keywords)
            for part in result if isinstance(result, tuple) else (result,):
                if not (isinstance(part, bool) or part.is_contiguous()):
                    wrong.append(f"{call} {kind} {lengths}: strides {part.stride()}")
    assert wrong == []


OPERANDS: dict[str, tuple[Any, int]] = {  # components of three dimensions: the layout, and the ragged dimension
    "dense": (None, 1), "strided": (pn.strided, 1), "strided_2": (pn.strided, 2), "strided_3": (pn.strided, 3),
    "jagged_1": (pn.jagged, 1), "jagged_2": (pn.jagged, 2), "jagged_3": (pn.jagged, 3),
}  # fmt: skip
DIMS = [dims for count in range(4) for dims in combinations((1, 2, 3), count)]


@pytest.mark.parametrize("name", OPERANDS)
def test_computed_results_along_any_dimension(name: str) -> None:
    layout, ragged = OPERANDS[name]
    sizes = [2, 2] if layout is None else [2, 0, 3]
    components = [distinct(tuple(n if d == ragged else d + 1 for d in (1, 2, 3))) for n in sizes]
    x = place(components, layout, "packed", ragged).array
    stretched = distinct((len(sizes), *[1 if d == ragged else d + 1 for d in (1, 2, 3)]))
    results = {
        **{(op, dim): getattr(pn, op)(x, dim) for op in run_wise() for dim in (1, 2, 3)},
        **{(op, dims): getattr(pn, op)(x, dims) for op in ("sum", "prod", "logsumexp", "var") for dims in DIMS},
        **{(op, dims, "kept"): getattr(pn, op)(x, dims, True) for op in ("mean", "any") for dims in DIMS},
        **{("amax", dims): pn.amax(x[:1], dims) for dims in DIMS},
        **{("argmax", dim): pn.argmax(x[:1].contiguous(), dim) for dim in (1, 2, 3)},
        "add": x + stretched, "add, dense first": stretched + x, "mul": x * x, "maximum": pn.maximum(stretched, x),
        "where": pn.where(stretched > 0, stretched, x), "cat": pn.cat([x, x], ragged), "stack": pn.stack([x, x], 1),
        "clone": x.clone(), "padded": x if layout is None else pn.to_padded_array(x, 0.0),
        "mask": x if layout is None else x[x > 0],
    }  # fmt: skip
    if layout is None or ragged != 3:
        results["layer_norm"] = pn.layer_norm(x, (4,))
        results["linear"] = pn.linear(x, distinct((5, 4)))
        results["matmul"] = x @ distinct((4, 5))
        results["attention"] = pn.scaled_dot_product_attention(x, x, x)
    assert [key for key, result in results.items() if not result.is_contiguous()] == []
