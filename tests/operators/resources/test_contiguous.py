"""The law of `is_contiguous`, and contiguous results of operators that compute from contiguous operands."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.spec.table import run_wise
from pynested.structure import Strided

from ...batches import Batch
from ...nests import DENSE, assert_same, distinct, place
from ...support import structures
from ...support.samples import sample_arguments
from .samples import EVERY, samples


@given(structures.jagged() | structures.strided(), st.sampled_from("CF"))
def test_contiguous_arrays_and_the_gradient_of_their_values(drawn: Any, order: Any) -> None:
    """Elements must lie side by side in C order: of strided components one by one, of jagged ones as one array."""
    structure, values = drawn
    buffer = values.astype(float) if isinstance(structure, Strided) else values.astype(float, order=order)
    x = pn.NestedArray(pn.array(buffer, copy=False), structure)
    places = np.arange(buffer.size).reshape(buffer.shape, order=order if buffer.ndim > 1 else "C")
    parts = structures.shown(structure, places)
    joined = [np.concatenate(parts, structure.ragged_dim - 1)] if structure.ragged_dim and parts else parts
    memory = np.concatenate([np.zeros(0, int), *[one.ravel() for one in joined]])
    expected = bool((np.diff(memory) == 1).all())
    if memory.size:
        assert x.is_contiguous() is expected
    made = x.contiguous()
    assert made.is_contiguous() and made.numel() == made.values().numel()  # there are no gaps
    assert_same(made.to(pn.int64), structures.shown(structure, values))
    assert (made.data.storage is x.data.storage) is expected or not memory.size, "a contiguous array is not copied"
    if x.is_contiguous():  # elements have the gradient 3, and gaps of the buffer have 0
        leaf = x.values().detach().requires_grad_()
        again: Any = pn.NestedArray(leaf, x.structure)
        (again.contiguous() * 3.0).values().sum().backward()
        assert float(leaf.grad.sum() if leaf.grad is not None else 0) == 3.0 * x.numel()


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
