"""What is due of a drawn call is what first principles say: which is refused, and what any order of a sum may give."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from pynested.fuzzing.calls import authored, expected, vector
from pynested.fuzzing.plan import SCALED, SPECIAL, drawn
from pynested.spec.compare import compare
from pynested.spec.components import Components
from pynested.spec.generator.author import BOTH, Case


def calls(count: int, *ops: str) -> list[Case]:
    return [case for number in range(count) if (case := authored(drawn(20, number, ops))) is not None]


def joins(case: Case) -> bool:
    """Whether NumPy joins every component with those of its number, along a dimension that may be joined."""
    arrays, dim = [*case.args, *case.kwargs.values(), 0][:2]
    ranks, counts = {len(one.shape) for one in arrays}, {len(one) for one in arrays}
    rank = max(ranks) + (case.op == "stack")
    if not -rank <= dim < rank:
        return False
    dim %= rank
    if case.op == "stack":
        return dim > 0 and len(counts) == 1 and len({tuple(map(np.shape, one)) for one in arrays}) == 1
    if len(ranks) > 1 or dim == 0:
        return len(ranks) == 1
    try:
        return len(counts) == 1 and all(
            np.concatenate(parts, dim - 1) is not None for parts in zip(*arrays, strict=True)
        )
    except ValueError:
        return False


def test_arrays_are_to_be_refused_exactly_where_numpy_does_not_join_their_components() -> None:
    plans = [drawn(20, number, (op,)) for op, count in (("cat", 1600), ("stack", 200)) for number in range(count)]
    few = [plan for plan in plans if plan.number < 200 or plan.row.get("unlike") == "lengths"]
    cases = [case for case in map(authored, few) if case is not None and any(map(len, case.args[0]))]
    assert all((case.error is None) == joins(case) for case in cases)
    found = Counter((case.op, case.error is None) for case in cases)
    assert len(found) == 4 and min(found.values()) > 10


def test_another_shape_is_to_be_refused_exactly_where_some_component_has_too_many_elements_for_it_or_too_few() -> None:
    drawn_calls = calls(300, "reshape_as")
    for case in drawn_calls:
        pairs = [[math.prod(one.shape) for one in array] for array in case.args]
        assert (case.error is None) == (pairs[0] == pairs[1]), case
    assert Counter(case.error for case in drawn_calls).keys() == {None, "ShapeError"}


def sides(shape: Any, at: int) -> tuple[int, int]:
    before, after = shape[1:at], shape[at + 1 :]
    return math.prod(before), math.prod(after)


def test_several_jagged_components_are_not_to_be_viewed_across_their_ragged_dimension() -> None:
    """One can be, where it is packed and there are no other rows; so can those without elements."""
    across: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for case in calls(2000, "view"):
        x, shape = case.args
        if case.error is not None or x.shape.count(None) != 1:
            continue
        at = x.shape.index(None)
        target = [old if new == -1 else new for new, old in zip(shape, (*x.shape, *shape), strict=False)]
        if sides(x.shape, at) != sides(target, at):
            across[min(sum(one.size > 0 for one in x), 2), case.layouts] += 1
            assert case.placements == ("packed",) or "jagged" not in case.layouts
    assert set(across) == {(0, BOTH), (1, BOTH), (2, BOTH[:1])}


def added(x: Components, dim: int, keep: bool, order: int) -> list[np.ndarray]:
    """The sums of each component along a dimension, one number after the other, from the first or from the last."""
    with np.errstate(all="ignore"):
        runs = [np.moveaxis(one, dim - 1, 0)[::order] for one in x]
        sums = [np.add.accumulate(one)[-1] if len(one) else one.sum(0, one.dtype) for one in runs]
    return [np.expand_dims(one, dim - 1) for one in sums] if keep else sums


def sum_of_each(case: Case | None) -> tuple[Components, int, bool] | None:
    """What is added up along which dimension of every component, where a call does that to floats."""
    if case is None or case.error is not None or "dtype" in case.kwargs or case.args[0].dtype == "float16":
        return None
    x, dims = case.args[0], [case.kwargs.get("dim"), *case.args[1:2]]
    dim = next((one % len(x.shape) for one in dims if isinstance(one, int)), 0)
    return (x, dim, bool(case.kwargs.get("keepdim"))) if dim and x.dtype.kind == "f" else None


def test_no_order_of_a_sum_is_wrong_whatever_the_numbers_are() -> None:
    """Of three of the largest numbers and an infinity the sum is that infinity, or NaN where the three come first."""
    plans = [drawn(20, number, ("sum",)) for number in range(2000)]
    found: Counter[str] = Counter()
    for plan in [plan for plan in plans if plan.numbers in (SCALED, SPECIAL) and plan.family == "spoilt runs"]:
        case = authored(plan)
        asked = sum_of_each(case)
        due = None if case is None or asked is None else expected(case)
        if asked is None or due is None or "nested" not in due["expect"]:
            continue
        assert all(compare(added(*asked, order), due["expect"]) is None for order in (1, -1)), (asked, due)
        found[plan.numbers] += 1
        assert due["expect"]["nested"]["cmp"] == "bound"  # as some sum of the largest numbers would show, one in many
    assert min(found[SCALED], found[SPECIAL]) > 10


def test_infinities_beside_the_largest_numbers_are_an_infinity_or_nan() -> None:
    due = vector(drawn(1, 2206, ("nansum",)))  # of one operator: numbers of all of them change with each new one
    assert due is not None
    fields = due["expect"]["dense"]
    assert fields["cmp"] == "bound" and fields["open"] == "011111000"
