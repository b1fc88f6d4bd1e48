"""What is drawn: the same from the same numbers, permitted by its family, and wilder than the frozen cases."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pynested.fuzzing.calls import authored, expected, vector
from pynested.fuzzing.plan import DRAWN, OFFERED, SCALED, SPECIAL, WHOLE, Plan, admits, drawn
from pynested.spec.axes import FAMILIES
from pynested.spec.components import Components
from pynested.spec.generator.covering import permits


@pytest.fixture(scope="module")
def plans() -> list[Plan]:
    return [drawn(20, number) for number in range(5000)]


def nested(values: object) -> list[Components]:
    return [one for one in values if isinstance(one, Components)]  # type: ignore[attr-defined]


def test_a_seed_and_a_number_say_everything(plans: list[Plan]) -> None:
    again = [drawn(20, number) for number in reversed(range(300))][::-1]
    assert again == plans[:300]
    assert sum(drawn(21, number) == plan for number, plan in enumerate(plans[:300])) == 0


def test_every_operator_of_every_family_is_drawn(plans: list[Plan]) -> None:
    assert {(plan.family, plan.op) for plan in plans} >= set(OFFERED)


def test_a_row_is_one_that_its_family_permits(plans: list[Plan]) -> None:
    for plan in plans:
        family, row = FAMILIES[plan.family], dict(plan.row)
        assert permits(row, family.never) and row.keys() == family.levels().keys()
        assert row.get("operator", plan.op) == plan.op


def test_nearly_every_level_of_every_axis_is_drawn_soon(plans: list[Plan]) -> None:
    seen = Counter((axis, level) for plan in plans for axis, level in plan.row.items())
    levels = {(axis, level) for family in FAMILIES.values() for axis, own in family.levels().items() for level in own}
    assert len(levels - set(seen)) < 0.03 * len(levels)


def test_lengths_of_a_plan_are_what_the_levels_say_and_differ_from_call_to_call(plans: list[Plan]) -> None:
    with_lengths = [plan for plan in plans if plan.lengths]
    assert all(admits(dict(plan.row), plan.lengths) for plan in with_lengths)
    assert len({plan.lengths for plan in with_lengths}) > 100


@pytest.mark.parametrize(
    ("lengths", "level", "admitted"),
    [((2, 0), "mixed", True), ((1, 0), "mixed", False), ((3, 3), "mixed", False), ((3, 3), "equal", True),
     ((1, 1), "equal", False), ((1, 1), "ones", True), ((0, 0), "empty", True), ((0, 2), "late", True),
     ((2, 0), "late", False), ((40, 0), "long", True), ((32, 0), "long", False), ((2, 0, 1), "mixed", False)],
)  # fmt: skip
def test_what_a_level_admits(lengths: tuple[int, ...], level: str, admitted: bool) -> None:
    assert admits({"batch": "two", "lengths": level}, lengths) == admitted


def test_a_call_has_the_lengths_and_sizes_of_its_plan() -> None:
    row = {"batch": "two", "lengths": "mixed", "rank": "4", "ragged": "middle", "sizes": "other", "dtype": "float32"}
    plan = Plan(1, 2, "of one", "neg", {"operator": "neg", **row, "cotangent": "whole"}, (4, 1), (5, 3))
    case = authored(plan)
    assert case is not None
    assert [one.shape for one in case.args[0]] == [(5, 4, 3), (5, 1, 3)] and case.args[0].shape == (2, 5, None, 3)


def test_a_writer_makes_a_call_of_nearly_every_plan(plans: list[Plan]) -> None:
    """Of some there is nothing to ask, as of a dimension to squeeze that some layouts could have."""
    calls = [authored(plan) for plan in plans[:400]]
    assert calls.count(None) <= 4
    assert {len(one) for case in calls if case is not None for one in nested(case.args)} >= {*range(4), *range(9, 13)}


def test_a_call_has_no_more_elements_than_int8_has_numbers(plans: list[Plan]) -> None:
    """Of more, numbers that are all different could not be drawn; some calls would have them."""
    assert max(plan.elements for plan in plans) <= 250
    assert any(plan.elements > 200 for plan in plans)


def numbers_of(plan: Plan) -> np.ndarray:
    case = authored(plan)
    assert case is not None
    return np.concatenate([part.ravel() for part in case.args[0]])


def test_numbers_are_scaled_made_special_or_whole() -> None:
    row = {"batch": "many", "lengths": "equal", "rank": "3", "ragged": "first", "sizes": "other", "dtype": "float32"}
    kept = {"operator": "neg", **row, "cotangent": "whole"}

    def of(how: str) -> np.ndarray:
        plans = (Plan(1, number, "of one", "neg", kept, numbers=how, power=100) for number in range(9))
        return np.concatenate([numbers_of(plan) for plan in plans])

    plain, special, whole = of(DRAWN), of(SPECIAL), of(WHOLE)
    assert np.array_equal(of(SCALED), plain * np.float32(2) ** 100)
    assert np.isnan(special).any() and np.isinf(special).any() and (special == plain).mean() > 0.5
    assert np.array_equal(whole, np.trunc(whole)) and (np.abs(whole - plain) < 1).all() and (whole != 0).all()


def test_no_call_is_beyond_the_words_of_vectors_and_what_is_not_finite_has_no_gradient(
    plans: list[Plan],
) -> None:
    for plan in plans[:40]:
        case = authored(plan)
        found = None if case is None else expected(case)
        assert found is not None
        tame = plan.op in ("pow", "floor_divide", "remainder", "prod")
        assert plan.numbers != SPECIAL or tame or "gradient" not in found


def test_a_plan_with_an_order_is_reckoned_from_its_definition() -> None:
    row = {"batch": "three", "lengths": "mixed", "rank": "2", "ragged": "first", "sizes": "other", "dtype": "float32"}
    plan = Plan(1, 2, "of one", "neg", {"operator": "neg", **row, "cotangent": "whole"}, (2, 1, 3), order=(2, 0))
    found, whole = vector(plan), vector(Plan(1, 2, "of one", "neg", plan.row, (2, 1, 3)))
    assert found is not None and whole is not None
    bits = whole["expect"]["nested"]["bits"]
    assert found["expect"]["nested"]["bits"] == [bits[2], bits[0]]
    assert vector(Plan(1, 2, "of one", "neg", plan.row, (2, 1, 3), order=(3,))) is None


def test_a_misfit_that_fits_is_not_drawn(plans: list[Plan]) -> None:
    """(3, 1, *, 2) and a dense (3, 1, 2): 1 meets what is irregular, and 3 stretches 1."""
    rows = [plan.row for plan in plans if plan.row.get("misfit") == "per-component" and plan.row["ragged"] == "middle"]
    assert rows and all(row["sizes"] != "one" for row in rows)
