"""The law of `is_contiguous`, and contiguous results of operators that compute from contiguous operands."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.structure import Strided

from ...batches import Batch
from ...nests import DENSE, assert_same
from ...support import structures
from ...support.samples import EVERY, sample_arguments, samples


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
    for call, kind in samples(every):
        for lengths in [(2, 2)] if kind is DENSE else BATCHES:
            batch = Batch(kind, lengths)
            if call.op in VIEWS or call.refuses(batch):
                continue
            arguments, keywords, _ = sample_arguments(call, batch)
            result = call.function(*arguments, **keywords)
            for part in result if isinstance(result, tuple) else (result,):
                assert isinstance(part, bool) or part.is_contiguous(), f"{call} {kind} {lengths}"
