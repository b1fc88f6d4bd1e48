"""Whatever holds arrays, opened and closed."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import pytest

import pynested as pn
from pynested.autograd import Array, Function, backward, flatten, grad, register_container, vjp
from pynested.autograd.containers import matched
from pynested.backends.errors import ArgumentError, StructureError

A, B, C = pn.array([1.0]), pn.array([2.0]), pn.array([3.0])


class Pair(NamedTuple):
    left: Any
    right: Any


class Tagged:
    """A class of somebody else's: an array and a tag that has to agree."""

    def __init__(self, array: Any, tag: str) -> None:
        self.array, self.tag = array, tag


def match(name: str, value: Tagged, given: Any) -> list[Array]:
    if given.tag != value.tag:
        raise StructureError(f"{name}: tags {value.tag} and {given.tag}")
    return [given.array]


register_container(Tagged, lambda t: ([t.array], lambda arrays: Tagged(arrays[0], t.tag)), match)


def test_opened_and_closed() -> None:
    value = {"p": Pair(A, [B, 3]), "n": None, "e": ((), {}), "c": C}
    arrays, rebuild = flatten(value)
    assert [one is other for one, other in zip(arrays, (A, B, C), strict=True)] == [True] * 3
    again = rebuild(["a", "b", "c"])
    assert again == {"p": Pair("a", ["b", 3]), "n": None, "e": ((), {}), "c": "c"}
    assert type(again["p"]) is Pair


def test_closing_does_not_keep_the_arrays() -> None:
    array = pn.array([1.0])
    watched = weakref.ref(array)
    rebuild = flatten((array, [array], {"c": array}))[1]
    del array
    assert watched() is None
    assert rebuild([1, 2, 3]) == (1, [2], {"c": 3})


def test_other_classes() -> None:
    x = pn.array([2.0], requires_grad=True)
    tagged = Tagged(x * x, "t")
    backward(tagged, Tagged(pn.array([3.0]), "t"))
    assert x.grad.tolist() == [12]
    with pytest.raises(StructureError, match="backward: tags"):
        backward(Tagged(x * x, "t"), Tagged(A, "other"))
    assert grad((x * x).sum(), Tagged(x, "t")).tag == "t"
    y, pull = vjp(lambda t: Tagged(t.array * 3, "y"), Tagged(A, "t"))
    assert y.tag == "y"
    assert pull(Tagged(B, "y")).array.tolist() == [6]


def test_matching() -> None:
    assert matched("f", [A, {"b": B}], None) == [None, None]
    assert matched("f", (A, 3, [B]), (C, None, None))[1] is None
    assert matched("f", A, 2.0)[0].item() == 2
    for value, given in (((A, B), (A,)), ({"a": A}, {"b": A}), ([A], A), (3, A), (A, "x")):
        with pytest.raises((ArgumentError, TypeError)):
            matched("f", value, given)


def test_nested_arrays_of_other_lengths() -> None:
    nested = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)
    arrays, rebuild = flatten(nested)
    assert [one.shape for one in arrays] == [(3,)]
    assert rebuild([arrays[0] * 2]).is_nested


class Endless(Function):
    """Returns, or asks for, what holds itself."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        return endless(x)

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        return cotangent


def endless(x: Any) -> list[Any]:
    holder = [x, {}]
    holder[1]["again"] = (holder,)
    return holder


X = pn.array([1.0], requires_grad=True)
ENDLESS: dict[str, Any] = {
    "flatten": flatten,
    "grad of": lambda e: grad(e, X),
    "grad by": lambda e: grad(X * 1, e),
    "backward": backward,
    "vjp": lambda e: vjp(lambda x: x, e),
    "vjp of": lambda e: vjp(lambda x: e, A),
    "jvp": lambda e: pn.jvp(lambda x: x, (e,), (e,)),
    "hvp": lambda e: pn.hvp(lambda x: x, e, e),
    "checkpoint": lambda e: pn.checkpoint(lambda x: x, e),
    "checkpoint of": lambda e: pn.checkpoint(lambda x: e, A),
    "gradcheck": lambda e: pn.gradcheck(lambda x: x, e),
    "gradcheck of": lambda e: pn.gradcheck(lambda x: e, A),
    "tape": lambda e: pn.tape(e),
    "a name of the tape": lambda e: pn.tape(A, name=e),
    "Function": lambda e: Endless.apply(e),
    "Function.forward": lambda e: Endless.apply(X),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_holds_itself_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="itself"):
        ENDLESS[name](endless(X))


def test_what_holds_itself_is_no_cotangent_and_no_tangent() -> None:
    for given in (
        lambda e: backward([X * 1, X * 1], e),
        lambda e: grad(X * 1, X, e),
        lambda e: vjp(lambda x: x, A)[1](e),
        lambda e: vjp(lambda x: [x, {"again": x}], A)[1](e),
        lambda e: pn.jvp(lambda x: x, (A,), (e,)),
        lambda e: pn.jvp(lambda x: x, ([A, {"again": A}],), (e,)),
    ):
        with pytest.raises(ArgumentError, match="does not have the form|is neither an array nor a number"):
            given(endless(A))


def test_containers_may_lie_deep_in_one_another() -> None:
    deep: Any = A
    for _ in range(33):
        deep = {"k": (deep, [deep]) if deep is A else [deep]}
    arrays, rebuild = flatten(deep)
    assert [one is A for one in arrays] == [True, True]
    assert flatten(rebuild([B, C]))[0][1] is C
