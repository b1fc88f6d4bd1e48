"""Every operator equals its definition, in values and gradients, on batches of up to three components.

Layout and placement must not show: each sample input runs in every layout, and placements (contiguous, with gaps of
NaN, transposed) take turns. The sample inputs of an operator share batches in which all pairs of two lengths, and of a
length and a placement, occur; `pytest -m exhaustive` runs all sample inputs on all 85 batches of at most three
components of length 0 to 3.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.spec import bounds
from pynested.spec.components import layouts
from pynested.spec.definitions import definition
from pynested.spec.encoding import Components
from pynested.spec.table import load_table

from ..batches import Batch, Call, Operand
from ..calls import CALLS
from ..nests import DENSE, PLACEMENTS, Kind, Placed, cotangent_like, place, plain, pull_back

TABLE = load_table()
STEP = 2.0**-100  # of a complex step: nothing cancels, so that any small step is exact enough
REAL_STEP = 2.0**-10  # if the definition is piecewise linear; its kinks are farther away
DOUBLE = (0, 2, 3, 1)  # multiplication by 2 in the field of four elements, in which ^ is addition
SINGLE_ROWS = [((), 0), *(((length,), length % 3) for length in range(4))]
PAIRWISE_ROWS = [((a, b, a ^ b), (a ^ DOUBLE[b]) % 3) for a in range(4) for b in range(4)]
DENSE_ROWS = [((length,) * count, (length + count) % 3) for count in (1, 2, 3) for length in range(4)]
EVERY_ROW = [(lengths, number) for number, lengths in enumerate(layouts())]


@lru_cache
def signature(op: str) -> inspect.Signature:
    return inspect.signature(definition(op))


def components(operand: Any) -> Any:
    return operand.components if isinstance(operand, Operand) else operand


def defined(call: Call, batch: Batch, change: Callable[[Any], Any] = components) -> Any:
    """Return the result of the definition of a call, with ``change`` of its arrays."""
    keywords = {name: value for name, value in call.keywords.items() if name in signature(call.op).parameters}
    with np.errstate(all="ignore"):
        return definition(call.op)(*call.given(batch, change), **keywords)


def tolerance(call: Call, batch: Batch, exact: Any) -> Any:
    """Return the bound of the error, None if the result must be exact."""
    precision = TABLE[call.op].precision
    if precision in bounds.NO_TOLERANCE:
        return None
    arguments = signature(call.op).bind(*call.given(batch, components), **call.keywords).arguments
    with np.errstate(all="ignore"):
        return bounds.tolerance(precision, definition(call.op), arguments, exact, "float64")


@lru_cache(20000)
def placed(operand: Operand, layout: Any, placement: str) -> Placed:
    """Return an operand that requires a gradient if it can have one; calls share operands."""
    return place(operand.components, layout, placement, operand.ragged, operand.components.dtype.kind == "f")


def called(call: Call, batch: Batch, placement: str) -> tuple[Any, list[Any]]:
    """Return the result and the operands in their order."""
    operands: list[Any] = []

    def new(operand: Any) -> Any:
        if isinstance(operand, Operand):
            operands.append(placed(operand, batch.kind.layout, placement))
            operands[-1].buffer.grad = None
            return operands[-1].array
        operands.append(pn.array(operand, requires_grad=operand.dtype.kind == "f"))
        return operands[-1]

    return call.function(*call.given(batch, new), **call.keywords), operands


def agrees(got: Any, expected: Any, tol: Any) -> bool:
    """Return whether a result equals that of the definition, component by component, within twice the bound."""
    if isinstance(expected, bool):
        return got is expected
    if isinstance(expected, list):
        tols = [None] * len(expected) if tol is None else tol
        return len(got) == len(expected) and all(map(agrees, got, expected, tols))
    got = np.asarray(got)
    if got.shape != expected.shape or got.dtype.kind != np.asarray(expected).dtype.kind:
        return False
    if tol is None:
        return np.array_equal(got, expected, equal_nan=got.dtype.kind == "f")
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= 2 * tol
    return bool((near | (got == expected) | (np.isnan(got) & np.isnan(expected))).all())


def gradients(operands: list[Any]) -> list[Any]:
    """Return the gradient of every operand that can have one, by components; in gaps it must be +0."""
    slopes: list[Any] = []
    for operand in operands:
        if isinstance(operand, Placed):
            slopes += [operand.gradient()] if operand.buffer.requires_grad else []
        elif operand.requires_grad:
            slopes.append(np.zeros(operand.shape) if operand.grad is None else operand.grad.numpy())
    return slopes


def inner(a: Any, b: Any) -> tuple[float, float]:
    """Return the sum of the products of two trees of arrays, and that of their absolute values."""
    if isinstance(a, list):
        pairs = [inner(x, y) for x, y in zip(a, b, strict=True)]
        return sum(p for p, _ in pairs), sum(m for _, m in pairs)
    products = np.where(np.isnan(b), 0.0, a * np.asarray(b))
    return float(products.sum()), float(np.abs(products).sum())


class Law:
    """The definition of a call: values, bounds of their errors, and the derivative along a direction."""

    def __init__(self, call: Call, batch: Batch) -> None:
        self.call, self.batch = call, batch
        self.values = defined(call, batch)
        self.tolerance = tolerance(call, batch, self.values)

    @cached_property
    def directions(self) -> list[Any]:
        """Return a tangent for each floating operand."""
        operands: list[Any] = []
        self.call.given(self.batch, lambda operand: operands.append(components(operand)))
        return [cotangent_like(x, 11) for x in operands if x.dtype.kind == "f"]

    @cached_property
    def slope(self) -> tuple[float, float]:
        """The cotangent times the derivative along the directions, and the sum of the absolute values of its terms."""
        return inner(cotangent_like(self.values), self._derivative())

    def _derivative(self) -> Any:
        if self.call.smooth:
            return _by_leaves(lambda y: np.imag(y) / STEP, self._moved(STEP * 1j))
        return _by_leaves(lambda a, b: (a - b) / (2 * REAL_STEP), self._moved(REAL_STEP), self._moved(-REAL_STEP))

    def _moved(self, step: complex) -> Any:
        """Return the definition, with its operands of floats moved by a step along the directions."""
        directions = iter(self.directions)

        def moved(operand: Any) -> Any:
            x = components(operand)
            if x.dtype.kind != "f":
                return x
            if isinstance(x, np.ndarray):
                return x + step * next(directions)
            parts = [part + step * v for part, v in zip(x, next(directions), strict=True)]
            return Components(parts, x.shape, np.result_type(1.0, step))

        return defined(self.call, self.batch, moved)


def _by_leaves(function: Callable[..., Any], *trees: Any) -> Any:
    if not isinstance(trees[0], list):
        return function(*trees)
    return [_by_leaves(function, *parts) for parts in zip(*trees, strict=True)]


def check(law: Law, kind: Kind, placement: str) -> None:
    """Compare one call with the definition: values, and gradients if there are any."""
    call, exact, batch = law.call, law.values, Batch(kind, law.batch.lengths)
    result, operands = called(call, batch, placement)
    where = f"{call} {batch.shapes} {kind} {placement}"
    assert kind is not DENSE or not isinstance(result, pn.NestedArray), f"{where}: dense operands, {result}"
    assert agrees(plain(result), exact, law.tolerance), f"{where}: {plain(result)}, due {exact}"
    if not TABLE[call.op].differentiable:
        return
    pull_back(result, cotangent_like(exact))
    slopes = gradients(operands)
    pulled, size = inner(law.directions, slopes)
    pushed, other = law.slope
    near = (1e-12 if call.smooth else 1e-9) * (size + other)
    assert abs(pulled - pushed) <= near, f"{where}: gradients {slopes}, off by {pulled - pushed}"


def check_row(call: Call, kinds: list[Kind], lengths: tuple[int, ...], number: int) -> None:
    """Check a call on one batch, in all kinds of arrays that hold these components."""
    placements = [placement for placement in PLACEMENTS if call.op != "view" or placement != "transposed"]
    placement, batch = placements[number % len(placements)], Batch(kinds[0], lengths)
    refused = call.refuses(batch)
    if refused is None:
        law = Law(call, batch)
        for kind in kinds:
            check(law, kind, placement)
        return
    for kind in kinds:
        with pytest.raises(refused):
            called(call, Batch(kind, lengths), placement)


def sample_inputs(op: str) -> list[tuple[Call, list[Kind]]]:
    """Return the calls of an operator, each with groups of kinds that have the same components."""
    samples = []
    for call in CALLS:
        groups: dict[Any, list[Kind]] = {}
        for kind in call.forms if call.op == op else ():
            groups.setdefault((kind.ragged, kind.both, kind is DENSE), []).append(kind)
        samples += [(call, kinds) for kinds in groups.values()]
    return samples


OPERATORS = sorted({call.op for call in CALLS})


@pytest.mark.parametrize("op", OPERATORS)
def test_values_and_gradients(op: str) -> None:
    samples = sample_inputs(op)
    share = min(len(samples), 3)
    for number, (call, kinds) in enumerate(samples):
        rows = DENSE_ROWS if DENSE in kinds else SINGLE_ROWS + PAIRWISE_ROWS
        for row in rows[-number % share :: share]:
            check_row(call, kinds, *row)


@pytest.mark.exhaustive
@pytest.mark.parametrize("op", OPERATORS)
def test_every_batch(op: str) -> None:
    for call, kinds in sample_inputs(op):
        for row in DENSE_ROWS if DENSE in kinds else EVERY_ROW:
            check_row(call, kinds, *row)


def test_every_operator_has_a_sample_input() -> None:
    missing = {entry.name for entry in TABLE.values() if not entry.is_idea} - set(OPERATORS)
    apart = {"masked_select", "nested_array_from_jagged", "nested_array_from_strided"}  # take no nested operand
    apart |= {"create_nested_block_mask"}  # returns no array
    assert missing == apart, f"without sample calls in tests/calls.py: {sorted(missing - apart)}"
