"""The kind, layout and regular sizes of a result follow from layouts and dims, never from the lengths of components.

The definition of an operator gives the logical shape of its result, with None for each irregular dimension. A nested
operand is jagged only if its result is: a jagged result has one irregular dimension, `ragged_dim`. Without an irregular
dimension the result is dense, and with several it is strided. A result of strided operands stays strided. A batch of no
components obeys the same rules. A computed result is contiguous.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ShapeError, StructureError
from pynested.spec.encoding import Components

from ..batches import Batch, Call, Operand
from ..calls import CALLS
from ..nests import DENSE, LAYOUTS, PLACEMENTS, nest, place, plain
from ..support.samples import EVERY, sample_arguments, samples
from .test_law import OPERATORS, agrees, called, defined, tolerance

LISTS = {"nested_array", "as_nested_array"}  # their option `layout` says the layout
FROM_SECOND = {"cross_entropy", "reshape_as"}  # the result has the layout of the second nested operand
# The result is jagged only if all operands are, apart from the mask of attention.
FROM_ALL = {"matmul", "bmm", "cat", "stack", "scaled_dot_product_attention", "multi_head_attention", "flex_attention"}
BATCHES = (1, 3), (2, 0, 3), (2, 2), (1, 1, 1), (0,), ()


def structure_of(result: Any) -> tuple[str, int | None]:
    """Return the name of the layout, or "dense", and the ragged dimension."""
    if not isinstance(result, pn.NestedArray):
        return "dense", None
    return result.layout.name, getattr(result.structure, "ragged_dim", None)


def expected_structure(shape: Sequence[int | None], jagged: bool) -> tuple[str, int | None]:
    """Return the structure that a result of this logical shape must have."""
    irregular = [dim for dim, size in enumerate(shape) if dim and size is None]
    if len(shape) == 1 or (jagged and not irregular):
        return "dense", None
    return ("jagged", irregular[0]) if jagged and len(irregular) == 1 else ("strided", None)


def check_structure(result: Any, expected: Any, jagged: bool, where: str) -> None:
    """Compare the structure of a result with the logical shape of the definition's."""
    if isinstance(expected, list) and not isinstance(expected, Components):
        for part, of_part in zip(result, expected, strict=True):
            check_structure(part, of_part, jagged, where)
    elif not isinstance(expected, Components):
        assert structure_of(result) == ("dense", None), where
    else:
        layout, ragged = expected_structure(expected.shape, jagged)
        assert structure_of(result) == (layout, ragged), f"{where}: {expected.shape}"
        assert result.dtype == expected.dtype, where
        sizes = result.shape[1:] if layout == "dense" else [result.regular_size(d) for d in range(1, result.ndim)]
        for size, due in zip(sizes, expected.shape[1:], strict=True):
            assert size == due or (due is None and layout != "jagged"), f"{where}: {sizes}, due {expected.shape}"


@EVERY
@pytest.mark.parametrize("op", sorted({*OPERATORS} - LISTS))
def test_structure_follows_from_layout_and_dims(op: str, every: bool) -> None:
    """Of the kinds of arrays two take turns on each batch."""
    calls = [call for call in CALLS if call.op == op]
    for (turn, call), (number, lengths) in product(enumerate(calls), enumerate(BATCHES, 1)):
        first = (turn + number) % len(call.kinds)
        for kind in call.kinds if every else {call.kinds[first], call.kinds[first - 1]}:
            batch, placement = Batch(kind, lengths), PLACEMENTS[(turn + number) % 2]
            if call.refuses(batch) is None:
                jagged = kind.layout is pn.jagged and call.keywords.get("layout") is not pn.strided
                result, _ = called(call, batch, placement)
                check_structure(result, defined(call, batch), jagged, f"{call} {kind} {lengths}")


def nested_count(call: Call) -> int:
    operands: list[Any] = []
    call.given(Batch(call.kinds[0], (1, 3)), operands.append)
    return sum(isinstance(operand, Operand) for operand in operands)


@pytest.mark.parametrize("call", [call for call in CALLS if call.op not in LISTS and nested_count(call) > 1], ids=str)
def test_layouts_of_nested_operands_may_differ(call: Call) -> None:
    for kind in [kind for kind in call.kinds if kind.layout is pn.jagged]:
        batch = Batch(kind, (2, 3))
        exact = defined(call, batch)
        for layouts in product(LAYOUTS, repeat=nested_count(call)):
            left = iter(layouts)

            def new(operand: Any, left: Iterator[Any] = left) -> Any:
                nested = isinstance(operand, Operand)
                return place(operand.components, next(left), "holes", operand.ragged).array if nested else operand

            result = call.function(*call.given(batch, new), **call.keywords)
            deciding = layouts[:3] if call.op in FROM_ALL else layouts[1:2] if call.op in FROM_SECOND else layouts[:1]
            where = f"{kind} {[layout.name for layout in layouts]}"
            check_structure(result, exact, all(layout is pn.jagged for layout in deciding), where)
            assert agrees(plain(result), exact, tolerance(call, batch, exact)), where


# ---- batches of no components that the sample inputs leave out -------------------------------------------------------

STRIDED_NONE = pn.as_nested_array(np.zeros((0, 3, 4)))
JAGGED_NONE = pn.nested_array_from_jagged(np.zeros((0, 4)), [0])
UNKNOWN = pn.nested_array_from_strided(np.zeros(0), np.zeros((0, 2), np.int64))
REGULAR_SIZES: list[tuple[Callable[[], Any], tuple[int | None, ...]]] = [
    (lambda: STRIDED_NONE, (0, 3, 4)), (lambda: JAGGED_NONE, (0, None, 4)), (lambda: UNKNOWN, (0, None, None)),
    (lambda: pn.nested_array(np.zeros((0, 3, 4), np.int8)), (0, 3, 4)),
    (lambda: pn.nested_array(np.zeros((0, 3, 4)), layout=pn.jagged), (0, None, 4)),
    (lambda: pn.nested_array([[[1, 2]], [[3, 4]] * 2])[5:], (0, None, 2)),
    (lambda: pn.narrow(np.zeros((0, 3, 4)), 1, 1, 2), (0, 2, 4)),
    (lambda: pn.narrow(np.zeros((0, 3, 4)), 2, [], []), (0, 3, None)),
    (lambda: STRIDED_NONE.to(layout=pn.jagged).to(layout=pn.strided), (0, None, 4)),
    (lambda: UNKNOWN + STRIDED_NONE, (0, 3, 4)), (lambda: STRIDED_NONE + UNKNOWN, (0, 3, 4)),
    (lambda: UNKNOWN.unsqueeze(1) * pn.as_nested_array(np.zeros((0, 5, 1, 4))), (0, 5, None, 4)),
    (lambda: pn.cat([STRIDED_NONE, UNKNOWN], 1), (0, None, 4)),
    (lambda: pn.cat([STRIDED_NONE, pn.as_nested_array(np.zeros((0, 5, 4)))], 0), (0, None, 4)),
    (lambda: pn.cat([STRIDED_NONE, pn.as_nested_array(np.zeros((2, 5, 4)))], 0), (2, 5, 4)),
    (lambda: pn.zeros_like(STRIDED_NONE, layout=pn.jagged), (0, None, 4)),
    (lambda: pickle.loads(pickle.dumps(STRIDED_NONE)), (0, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REGULAR_SIZES)))
def test_regular_sizes_of_no_components(number: int) -> None:
    make, sizes = REGULAR_SIZES[number]
    made = make()
    assert tuple(made.regular_size(dim) for dim in range(made.ndim)) == sizes


def test_no_components_are_compared_by_regular_sizes() -> None:
    wider = np.zeros((0, 3, 5))
    assert not pn.equal(STRIDED_NONE, pn.as_nested_array(wider)) and not pn.equal(STRIDED_NONE, wider)
    assert pn.equal(STRIDED_NONE, UNKNOWN) and pn.equal(JAGGED_NONE, np.zeros((0, 9, 4)))
    for call, error in (
        (lambda: pn.reshape_as(STRIDED_NONE, pn.as_nested_array(np.zeros((0, 5)))), ShapeError),
        (lambda: pn.narrow(np.zeros((0, 3)), 1, 0, 4), StructureError),
        (lambda: STRIDED_NONE.detach().requires_grad_().backward(pn.as_nested_array(wider)), StructureError),
    ):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("x", [STRIDED_NONE, JAGGED_NONE], ids=["strided", "jagged"])
def test_a_dense_operand_of_no_components_has_a_gradient_of_zero(x: Any) -> None:
    for function, shape in ((pn.mul, (4,)), (pn.matmul, (4, 2)), (pn.linear, (2, 4))):
        weight = pn.array(np.ones(shape), requires_grad=True)
        function(x, weight).sum().backward()
        assert weight.grad is not None and weight.grad.tolist() == np.zeros(shape).tolist()


def test_any_range_along_the_ragged_dimension_of_no_components() -> None:
    for layout in LAYOUTS:
        x = nest([np.ones((3, 4)), np.ones((1, 4))], layout)[:0]
        assert pn.narrow(x, 1, 3, 2).shape == pn.narrow(x, 1, 0, 0).shape == x.shape
        assert pn.narrow(x, 2, 1, 2).shape == (*x.shape[:2], 2)


# ---- contiguous arrays ----------------------------------------------------------------------------------------------

# Operators that return a view of their operand if they can.
VIEWS = {
    "as_nested_array", "chunk", "detach", "flatten", "getitem", "narrow", "permute", "reshape", "select", "split",
    "squeeze", "transpose", "unbind", "unflatten", "unsqueeze", "view",
}  # fmt: skip


@EVERY
def test_computed_results_are_contiguous(every: bool) -> None:
    for call, kind in samples(every):
        for lengths in [(2, 2)] if kind is DENSE else BATCHES:
            batch = Batch(kind, lengths)
            if call.op in VIEWS or call.refuses(batch):
                continue
            arguments, keywords, _ = sample_arguments(call, batch)
            result = call.function(*arguments, **keywords)
            for part in result if isinstance(result, tuple) else (result,):
                assert isinstance(part, bool) or part.is_contiguous(), f"{call} {kind} {lengths}"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_batch_has_a_piece_for_each_component(layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pynested.operators.movement.splitting.MAX_EMPTY_PIECES", 4)
    for lengths in ([0, 1] * 5, [0] * 10):
        x = nest([np.ones(length) for length in lengths], layout)
        for pieces in (x.split(1), x.chunk(10)):
            assert [len(piece) for piece in pieces] == [1] * 10
