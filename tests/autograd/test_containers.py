"""Containers of arrays: flattened, rebuilt, registered, compared in form, and refused if they hold themselves."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import pynested as pn
from pynested.autograd import Array, Function, backward, flatten, grad, register_container, vjp
from pynested.backends.errors import ArgumentError, StructureError

A, B, C = pn.array([1.0]), pn.array([2.0]), pn.array([3.0])
X = pn.array([1.0], requires_grad=True)


class Pair(NamedTuple):
    left: Any
    right: Any


class Tagged:
    """A class of a user: an array, and a tag that must agree."""

    def __init__(self, array: Any, tag: str) -> None:
        self.array, self.tag = array, tag


def match(name: str, value: Tagged, other: Any) -> list[Array]:
    if other.tag != value.tag:
        raise StructureError(f"{name}: tags {value.tag} and {other.tag}")
    return [other.array]


register_container(Tagged, lambda t: ([t.array], lambda arrays: Tagged(arrays[0], t.tag)), match)


def test_flatten_and_rebuild() -> None:
    value = {"p": Pair(A, [B, 3]), "n": None, "e": ((), {}), "c": C}
    arrays, rebuild = flatten(value)
    assert all(array is expected for array, expected in zip(arrays, (A, B, C), strict=True))
    again = rebuild(["a", "b", "c"])
    assert again == {"p": Pair("a", ["b", 3]), "n": None, "e": ((), {}), "c": "c"}
    assert type(again["p"]) is Pair
    nested = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    (values,), rebuild = flatten(nested)
    assert values.shape == (3,) and rebuild([values * 2]).tolist() == [[2, 4], [6]]
    deep: Any = [A, [A]]
    for _ in range(32):
        deep = {"k": ([deep],)}
    arrays, rebuild = flatten(deep)
    assert [array is A for array in arrays] == [True, True]
    assert flatten(rebuild([B, C]))[0] == [B, C]


def test_rebuild_does_not_keep_the_arrays() -> None:
    array = pn.array([1.0])
    reference = weakref.ref(array)
    rebuild = flatten((array, [array], {"c": array}))[1]
    del array
    assert reference() is None
    assert rebuild([1, 2, 3]) == (1, [2], {"c": 3})


def test_a_registered_class() -> None:
    x = pn.array([2.0], requires_grad=True)
    backward(Tagged(x * x, "t"), Tagged(pn.array([3.0]), "t"))
    assert x.grad.tolist() == [12]
    with pytest.raises(StructureError, match="backward: tags"):
        backward(Tagged(x * x, "t"), Tagged(A, "other"))
    assert grad((x * x).sum(), Tagged(x, "t")).tag == "t"
    y, function_vjp = vjp(lambda t: Tagged(t.array * 3, "y"), Tagged(A, "t"))
    assert y.tag == "y" and function_vjp(Tagged(B, "y")).array.tolist() == [6]


def test_cotangents_of_another_form_are_refused() -> None:
    for outputs, cotangents in (
        ((X * 1, X * 1), (A,)), ({"a": X * 1}, {"b": A}), ([X * 1], A), ((X * 1, [X * 1]), ([A], A)), (X * 1, "x"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match="backward: .*(form|is neither an array nor a number)"):
            backward(outputs, cotangents)


ENDLESS: dict[str, Callable[[Any], Any]] = {
    "flatten": flatten,
    "the inputs of grad": lambda e: grad(X * 1, e),
    "the outputs of backward": backward,
    "the result of a function": lambda e: pn.gradcheck(lambda x: e, A),
    "the argument of a function": lambda e: pn.gradcheck(lambda x: x, e),
    "the tape": lambda e: pn.tape(e),
    "a name of the tape": lambda e: pn.tape(A, name=e),
    "Function": lambda e: type("Identity", (Function,), {"forward": staticmethod(lambda context, x: x)}).apply(e),
    "cotangents of backward": lambda e: backward([X * 1, X * 1], e),
    "cotangents of vjp": lambda e: vjp(lambda x: [x, {"again": x}], A)[1](e),
    "tangents of jvp": lambda e: pn.jvp(lambda x: x, ([A, {"again": A}],), (e,)),
}


@pytest.mark.parametrize("call", ENDLESS.values(), ids=ENDLESS)
def test_a_container_that_holds_itself_is_refused(call: Callable[[Any], Any]) -> None:
    endless: list[Any] = [X, {}]
    endless[1]["again"] = (endless,)
    with pytest.raises(ArgumentError, match="itself|does not have the form|is neither an array nor a number"):
        call(endless)
