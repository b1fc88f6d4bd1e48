"""Every operator, on every batch of up to three components of up to three rows, against its executable definition.

Layout and placement must not show: components lie packed, or out of order between holes full of NaN, or transposed, in
the jagged layout with either dimension ragged and in the strided one with one and two irregular dimensions; of one
shape they are a dense array, too. Placements take turns from batch to batch and from call to call. A call meets every
batch of up to two components, and every eighth one of three; `pytest -m exhaustive` makes it meet all of these.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
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
from ..nests import DENSE, PLACEMENTS, Kind, Placed, place, plain

TABLE = load_table()
STEP = 2.0**-100  # of a complex step: nothing cancels, so it can be as small as one likes
REAL_STEP = 2.0**-10  # where the definition is piecewise linear, and its kinks are farther away


@lru_cache
def signature(op: str) -> inspect.Signature:
    return inspect.signature(definition(op))


def components(operand: Any) -> Any:
    return operand.components if isinstance(operand, Operand) else operand


def defined(call: Call, batch: Batch, change: Callable[[Any], Any] = components) -> Any:
    """What the definition says of the call, with ``change`` of its arrays."""
    keywords = {name: value for name, value in call.keywords.items() if name in signature(call.op).parameters}
    with np.errstate(all="ignore"):
        return definition(call.op)(*call.given(batch, change), **keywords)


def tolerance(call: Call, batch: Batch, exact: Any) -> Any:
    """How far the result may be off: twice the bound, as the definition is rounded too; None where it is exact."""
    precision = TABLE[call.op].precision
    if precision in bounds.NO_TOLERANCE:
        return None
    given = signature(call.op).bind(*call.given(batch, components), **call.keywords).arguments
    with np.errstate(all="ignore"):
        return bounds.tolerance(precision, definition(call.op), given, exact, "float64")


@lru_cache(20000)
def placed(operand: Operand, layout: Any, placement: str) -> Placed:
    """An operand that wants a gradient, if it can have one; operands are shared between calls."""
    return place(operand.components, layout, placement, operand.ragged, operand.components.dtype.kind == "f")


def called(call: Call, batch: Batch, placement: str) -> tuple[Any, list[Any]]:
    """The result, and the operands in their order."""
    made: list[Any] = []

    def one(operand: Any) -> Any:
        if isinstance(operand, Operand):
            made.append(placed(operand, batch.kind.layout, placement))
            made[-1].buffer.grad = None
            return made[-1].array
        made.append(pn.array(operand, requires_grad=operand.dtype.kind == "f"))
        return made[-1]

    return call.function(*call.given(batch, one), **call.keywords), made


def agree(got: Any, expected: Any, tol: Any) -> bool:
    """Whether a result is what the definition says, component by component."""
    if isinstance(expected, bool):
        return got is expected
    if isinstance(expected, list):
        tols = [None] * len(expected) if tol is None else tol
        return len(got) == len(expected) and all(map(agree, got, expected, tols))
    got = np.asarray(got)
    if got.shape != expected.shape or got.dtype.kind != np.asarray(expected).dtype.kind:
        return False
    if tol is None:
        return np.array_equal(got, expected, equal_nan=got.dtype.kind == "f")
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= 2 * tol
    return bool((near | (got == expected) | (np.isnan(got) & np.isnan(expected))).all())


def waves(tree: Any, seed: int = 7) -> Any:
    """A cotangent, or a direction, for every array of a result."""
    if isinstance(tree, list):
        return [waves(one, seed + 3 * i) for i, one in enumerate(tree)]
    return np.cos(np.arange(np.size(tree)) * 1.7 + seed).reshape(np.shape(tree))


def pull(result: Any, cotangent: Any) -> None:
    """Run the cotangent of a result back into the leaves."""
    if isinstance(result, tuple | list):
        for one, its in zip(result, cotangent, strict=True):
            pull(one, its)
    elif result.requires_grad and isinstance(result, pn.NestedArray):
        ragged = getattr(result.structure, "ragged_dim", 1)
        shape = (len(result), *[result.regular_size(dim) for dim in range(1, result.ndim)])
        made = Components(cotangent, shape, np.float64)
        result.backward(place(made, result.layout, "packed", ragged).array, retain_graph=True)
    elif result.requires_grad:
        result.backward(pn.array(np.reshape(cotangent, result.shape)), retain_graph=True)


def gradients(made: list[Any]) -> list[Any]:
    """The gradient of every operand that can have one, by components; in holes it is checked to be +0."""
    found: list[Any] = []
    for one in made:
        if isinstance(one, Placed):
            found += [one.gradient()] if one.buffer.requires_grad else []
        elif one.requires_grad:
            found.append(np.zeros(one.shape) if one.grad is None else one.grad.numpy())
    return found


def inner(a: Any, b: Any) -> tuple[float, float]:
    """The sum of the products of two trees of arrays, and that of their absolute values."""
    if isinstance(a, list):
        pairs = [inner(x, y) for x, y in zip(a, b, strict=True)]
        return sum(p for p, _ in pairs), sum(m for _, m in pairs)
    products = np.where(np.isnan(b), 0.0, a * np.asarray(b))
    return float(products.sum()), float(np.abs(products).sum())


class Law:
    """What the definition says of a call: its values, how far these may be off, and what it says of gradients."""

    def __init__(self, call: Call, batch: Batch) -> None:
        self.call, self.batch = call, batch
        self.values = defined(call, batch)
        self.tolerance = tolerance(call, batch, self.values)

    @cached_property
    def directions(self) -> list[Any]:
        """One for each operand of floats."""
        operands: list[Any] = []
        self.call.given(self.batch, lambda operand: operands.append(components(operand)))
        return [waves(list(x) if isinstance(x, Components) else x, 11) for x in operands if x.dtype.kind == "f"]

    @cached_property
    def slope(self) -> tuple[float, float]:
        """The cotangent times the derivative along the directions, and how large its terms are."""
        return inner(waves(self.values), slope(self.call, self.batch, self.directions))


def slope(call: Call, batch: Batch, directions: list[Any]) -> Any:
    """The derivative of the definition along ``directions``, one for each operand of floats."""

    def moved(step: complex) -> Any:
        along = iter(directions)

        def one(operand: Any) -> Any:
            given = components(operand)
            if given.dtype.kind != "f":
                return given
            if isinstance(given, np.ndarray):
                return given + step * next(along)
            made = [x + step * v for x, v in zip(given, next(along), strict=True)]
            return Components(made, given.shape, np.result_type(1.0, step))

        return defined(call, batch, one)

    def each(change: Callable[..., Any], *trees: Any) -> Any:
        return (
            [each(change, *parts) for parts in zip(*trees, strict=True)]
            if isinstance(trees[0], list)
            else change(*trees)
        )

    if call.smooth:
        return each(lambda y: np.imag(y) / STEP, moved(STEP * 1j))
    return each(lambda a, b: (a - b) / (2 * REAL_STEP), moved(REAL_STEP), moved(-REAL_STEP))


def outlined(result: Any, expected: Any) -> bool:
    """Whether a batch of no components has the dtype, the rank and the regular sizes of the definition's."""
    if not isinstance(expected, Components) or expected:
        return True
    sizes = (
        [result.regular_size(dim) for dim in range(result.ndim)] if isinstance(result, pn.NestedArray) else result.shape
    )
    known = [pair for pair in zip(sizes, expected.shape, strict=True) if None not in pair]
    return result.dtype == expected.dtype and all(mine == theirs for mine, theirs in known)


def check(law: Law, kind: Kind, placement: str) -> None:
    """One call: values, and gradients where there are any, are those of the definition."""
    call, exact, batch = law.call, law.values, Batch(kind, law.batch.lengths)
    result, made = called(call, batch, placement)
    where = f"{batch.shapes} {kind} {placement}"
    assert kind is not DENSE or not isinstance(result, pn.NestedArray), f"{where}: dense operands, {result}"
    assert agree(plain(result), exact, law.tolerance), f"{where}: {plain(result)}, due {exact}"
    assert outlined(result, exact), f"{where}: {result}, due {exact.dtype} {exact.shape}"
    if not TABLE[call.op].differentiable:
        return
    pull(result, waves(exact))
    found = gradients(made)
    pulled, size = inner(law.directions, found)
    pushed, other = law.slope
    near = (1e-12 if call.smooth else 1e-9) * (size + other)
    assert abs(pulled - pushed) <= near, f"gradients {where}: {found}, off by {pulled - pushed}"


def turns(call: Call, kind: Kind) -> Iterator[tuple[tuple[int, ...], str, int]]:
    """Batches, each with one of the placements, and the number of its turn; calls begin with different ones."""
    placements = [one for one in PLACEMENTS if call.op != "view" or one != "transposed"]
    batches = layouts() if kind is not DENSE else ((length,) * count for count in (1, 2, 3) for length in range(4))
    for number, lengths in enumerate(batches, CALLS.index(call)):
        yield lengths, placements[number % len(placements)], number // len(placements)


def of_small_batches(test: Any) -> Any:
    """A test of every call and of the kinds it takes; two of the same components go together, as their law is one."""
    pairs = [(call, kinds) for call in CALLS for kinds in alike(call.forms)]
    ids = [f"{call}-{'-'.join(map(str, kinds))}" for call, kinds in pairs]
    return pytest.mark.parametrize(("call", "kinds"), pairs, ids=ids)(test)


def alike(kinds: Sequence[Kind]) -> list[list[Kind]]:
    """The kinds, those together that have the same components."""
    groups: dict[Any, list[Kind]] = {}
    for kind in kinds:
        groups.setdefault((kind.ragged, kind.both, kind is DENSE), []).append(kind)
    return list(groups.values())


def check_all(call: Call, kinds: list[Kind], lengths: tuple[int, ...], placement: str) -> None:
    """A call on a batch, of all these kinds."""
    batch = Batch(kinds[0], lengths)
    refused = call.refuses(batch)
    if refused is None:
        law = Law(call, batch)
        for kind in kinds:
            check(law, kind, placement)
        return
    for kind in kinds:
        with pytest.raises(refused):
            called(call, Batch(kind, lengths), placement)


@of_small_batches
def test_small_batches(call: Call, kinds: list[Kind]) -> None:
    for lengths, placement, turn in turns(call, kinds[0]):
        if len(lengths) < 3 or turn % 8 == 1:
            check_all(call, kinds, lengths, placement)


@pytest.mark.exhaustive
@of_small_batches
def test_every_batch_of_three(call: Call, kinds: list[Kind]) -> None:
    for lengths, placement, turn in turns(call, kinds[0]):
        if len(lengths) == 3 and turn % 8 != 1:
            check_all(call, kinds, lengths, placement)


def test_every_operator_is_called() -> None:
    missing = {one.name for one in TABLE.values() if not one.is_idea} - {call.op for call in CALLS}
    apart = {"masked_select", "nested_array_from_jagged", "nested_array_from_strided"}  # take no nested operand
    apart |= {"create_nested_block_mask"}  # gives no array
    assert missing == apart, f"without sample calls in tests/calls.py: {sorted(missing - apart)}"
