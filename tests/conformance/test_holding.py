"""`check`: a right function passes, a wrong one is told with its clause; of every kind of array, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.conformance import Disagreement, check

FLOATS = "relu/float32/*"


def relu(xs: Any) -> Any:
    return [np.maximum(x, 0) for x in xs] if isinstance(xs, list) else np.maximum(xs, 0)


def pulled(cotangent: Any, xs: Any) -> list[Any]:
    """The gradient of relu at each component."""
    if isinstance(xs, list):
        return [[g * (x > 0) for g, x in zip(cotangent, xs, strict=True)]]
    return [cotangent * (xs > 0)]


def broken(function: Any, op: str, **how: Any) -> Disagreement:
    with pytest.raises(Disagreement) as caught:
        check(function, op, **how)
    return caught.value


def test_the_operators_of_pynested_agree_in_both_layouts() -> None:
    for op in ("softmax", "cat", "getitem", "nested_array_from_jagged"):
        done = check(getattr(pn, op), op, match="*/1")
        assert done.agrees and not done.differences
        layouts = {"jagged"} if op == "nested_array_from_jagged" else {"jagged", "strided"}
        assert {one["layout"] for one in done.run.results} == layouts


def test_a_function_that_is_cut_off_from_the_tape_has_no_gradient() -> None:
    def cut(*args: Any, **kwargs: Any) -> Any:
        return pn.softmax(*args, **kwargs).detach()

    assert "SOFTMAX-9" in broken(cut, "softmax", match="softmax/float32/*").checked.differences
    assert check(cut, "softmax", gradients=False, match="softmax/float32/*").agrees


def test_a_wrong_function_is_told_with_its_clause() -> None:
    def cubed(x: Any, *, dtype: Any = None) -> Any:
        return x * x * x

    text = str(broken(lambda x: pn.abs(x), "relu"))
    assert "RELU-1" in text and "<lambda> gives another value" in text
    assert "cubed gives another value" in str(broken(cubed, "square", match="square/float32/*"))


class TestComponents:
    def test_a_right_function_agrees(self) -> None:
        assert check(relu, "relu", arrays="numpy", match=FLOATS).agrees

    def test_its_gradients_are_those_of_its_vjp(self) -> None:
        done = check(relu, "relu", arrays="numpy", vjp=pulled, match="relu/float32/ragged/*")
        assert {one["parts"].get("gradient") for one in done.run.results} == {"ok"}
        wrong = broken(relu, "relu", arrays="numpy", match=FLOATS, vjp=lambda g, xs: [g])
        assert all(one["part"] == "gradient" for found in wrong.checked.differences.values() for one in found)

    def test_a_vjp_gives_a_gradient_for_each_array(self) -> None:
        text = str(broken(relu, "relu", arrays="numpy", match=FLOATS, vjp=lambda g, xs: [g, g]))
        assert "vjp gave 2 gradients for 1 arrays" in text

    def test_holes_and_strides_lie_between_them(self) -> None:
        def sloppy(xs: Any) -> Any:
            return [np.maximum(x.ravel("K").reshape(x.shape), 0) for x in xs]

        found = broken(sloppy, "relu", arrays="numpy", match="relu/float32/ragged/*").checked.differences
        assert {tuple(one["placements"]) for some in found.values() for one in some} == {("transposed",)}

    def test_several_results_and_errors_of_python(self) -> None:
        def unbind(xs: Any, dim: int = 0) -> Any:
            if dim != 0:
                raise IndexError(f"dim {dim}")
            return list(xs)

        assert check(unbind, "unbind", arrays="numpy", match="unbind/float32/ragged/*").agrees

    def test_a_list_of_nothing_is_not_judged(self) -> None:
        done = broken(relu, "relu", arrays="numpy", match="relu/*/batch0/*").checked
        assert not done.differences and not done.asked("RELU-1")


def test_a_pair_of_converters() -> None:
    class Mine:
        def __init__(self, parts: Any) -> None:
            self.parts = parts

    def mine(x: Mine) -> Mine:
        return Mine(relu(x.parts))

    assert check(mine, "relu", arrays=(Mine, lambda x: x.parts), match="relu/float32/ragged/*").agrees


@pytest.mark.parametrize(
    ("op", "how"),
    [
        ("no_such", {}), ("relu", {"arrays": "torch"}), ("relu", {"vjp": pulled}), ("relu", {"match": "nothing"}),
        ("relu", {"arrays": (1, 2)}),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(op: str, how: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="check: "):
        check(relu, op, **how)


def test_nothing_checked_is_no_agreement() -> None:
    def absent(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("not yet")

    broken(absent, "relu", match="relu/float32/ragged/*")
