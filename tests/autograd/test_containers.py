"""Whatever holds arrays, opened and closed."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import pytest

import pynested as pn
from pynested.autograd import Array, backward, flatten, grad, register_container, vjp
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
