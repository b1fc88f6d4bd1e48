"""The law carries what is due of a batch over to its components in any order, and only where it holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.fuzzing.calls import authored, expected, vector
from pynested.fuzzing.chance import Chance
from pynested.fuzzing.laws import defined, follows, orders, reordered, taken
from pynested.fuzzing.plan import drawn
from pynested.spec.components import Components
from pynested.spec.encoding import Index, decode, encode_value
from pynested.spec.generator.author import Case

X = Components([np.float32([1, 2]), np.float32([]), np.float32([3])], (3, None))


def case(op: str, *args: Any, **kwargs: Any) -> Case:
    return Case(op, f"{op}/test/1", (), args, kwargs, ("jagged",))


def exact(value: Any) -> dict[str, Any]:
    ((form, fields),) = encode_value(value).items()
    return {form: {**{name: own for name, own in fields.items() if name != "show"}, "cmp": "exact"}}


def test_the_orders_of_a_batch() -> None:
    found = [orders(Chance(seed), 3) for seed in range(60)]
    for one in found:
        assert len(set(one)) == len(one) and (0, 1, 2) not in one and one[-1] == (0, 1, 2, 2, 1, 0)
        assert all(set(order) <= {0, 1, 2} for order in one)
    seen = {order for one in found for order in one}
    assert len({order for order in seen if sorted(order) == [0, 1, 2]}) == 5  # all but the batch as it is
    assert {(0,), (1,), (2,), (0, 1), (1, 2)} < seen
    assert orders(Chance(1), 1) == orders(Chance(1), 0) == []


def test_operands_are_taken_component_by_component_and_what_is_shared_stays() -> None:
    slices, row = np.float32([[10], [20], [30]]), np.float32([7])
    found = reordered(case("where", X, slices, row, [X]), (2, 0, 0))
    x, picked, shared, (inside,) = found.args
    assert [one.tolist() for one in x] == [[3], [1, 2], [1, 2]] == [one.tolist() for one in inside]
    assert x.shape == (3, None) and picked.tolist() == [[30], [10], [10]] and shared is row


@pytest.mark.parametrize(
    ("call", "holds"),
    [
        (case("softmax", X, 1), True),
        (case("sum", X, 1), True),  # an answer for each component
        (case("sum", X, 0), False),  # one of all
        (case("argmax", X, 0), False),
        (case("add", X, np.float32([[1], [2], [3]])), True),
        (case("cat", [X, X], 0), False),
        (case("unbind", X), False),
        (case("reshape", X, (3, -1, 1)), False),  # 3 is the number of components
        (case("reshape", X, (-1, -1, 1)), True),
    ],
)
def test_the_law_holds_where_a_component_of_the_result_is_one_of_the_call(call: Case, holds: bool) -> None:
    assert follows(call, (2, 0), defined(call)) == holds


def test_the_law_does_not_hold_where_the_call_brings_components_elsewhere() -> None:
    backwards = case("getitem", X, Index((slice(None, None, -1),)))
    assert not any(follows(backwards, order, defined(backwards)) for order in ((0, 1), (1, 0, 2)))


def test_the_law_needs_the_components_that_it_names() -> None:
    assert not follows(case("neg", X), (3,), defined(case("neg", X)))


def entry() -> dict[str, Any]:
    """x + y of a nested x, (2,) (0,) (1,), and a y for each component, with gradients of both, and of a shared z."""
    y, z = np.float32([[10], [20], [30]]), np.float32([5])
    bound = {"dtype": "float32", "shape": [3, 1], "cmp": "bound"}
    words = {"hi": "a" * 16 + "b" * 16 + "c" * 16, "lo": "0" * 48, "tol": "1" * 48}
    return {
        "args": [encode_value(X), encode_value(y), encode_value(z), {"int": "1"}],
        "kwargs": {"more": {"list": [encode_value(X)]}},
        "expect": {**exact(X), "kind": {"jagged": "nested"}},
        "cotangent": encode_value(X),
        "gradient": [exact(X), {"dense": {**bound, **words}}, exact(z), None],
    }


def test_a_vector_is_taken_word_by_word() -> None:
    found = taken(entry(), (2, 0))
    x = found["args"][0]["nested"]
    assert (x["shape"], x["shapes"]) == ([2, None], [[1], [2]])
    assert [decode(*pair).tolist() for pair in zip(x["bits"], ["float32"] * 2, x["shapes"], strict=True)] == [
        [3],
        [1, 2],
    ]
    assert found["args"][1]["dense"]["shape"] == [2, 1]
    assert decode(found["args"][1]["dense"]["bits"], "float32", [2]).tolist() == [30, 10]
    assert found["args"][2:] == entry()["args"][2:]
    assert found["kwargs"]["more"]["list"][0]["nested"]["shapes"] == [[1], [2]]
    assert found["expect"]["nested"]["shapes"] == found["cotangent"]["nested"]["shapes"] == [[1], [2]]
    assert found["expect"]["kind"] == {"jagged": "nested"}
    assert found["gradient"][1]["dense"]["hi"] == "c" * 16 + "a" * 16


def test_the_gradient_of_what_is_shared_is_due_where_each_component_is_there_once() -> None:
    assert taken(entry(), (2, 0, 1))["gradient"][2] == entry()["gradient"][2]
    assert [taken(entry(), order)["gradient"][2] for order in ((0, 1), (1,), (0, 1, 2, 2, 1, 0))] == [None] * 3


def test_what_is_taken_is_what_the_definition_gives() -> None:
    compared = 0
    for number in range(60):
        plan = drawn(31, number)
        call = authored(plan)
        whole = None if call is None or call.error is not None else expected(call)
        if call is None or whole is None or not any(isinstance(one, Components) and len(one) > 1 for one in call.args):
            continue
        batch = next(len(one) for one in call.args if isinstance(one, Components))
        order = orders(Chance(number), batch)[-1 - number % 2]
        if follows(call, order, defined(call)):
            anew = vector(type(plan)(**{**vars(plan), "order": order}))
            assert anew is not None
            assert words(taken(whole, order)["expect"]) == words(anew["expect"])
            compared += 1
    assert compared > 25


def words(expect: dict[str, Any]) -> Any:
    """The words of an expectation, without its logical shape and the decimals; dense and nested ones alike."""
    (fields,) = (own for name, own in expect.items() if name in ("nested", "dense"))
    return {name: "".join(fields[name]) for name in ("bits", "hi", "lo", "tol", "open") if name in fields}
