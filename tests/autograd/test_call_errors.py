"""A call that does not fit a signature says what is wrong, which arguments it has, and what is accepted."""

from __future__ import annotations

import inspect
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested import spec
from pynested.autograd.dispatch import watching
from pynested.backends.errors import ArgumentError

from ..support.methods import PUBLIC

X = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
OPERATORS = {name: one for name, one in spec.load_table().items() if one.signature}
KINDS = inspect.Parameter


def refusal(call: Callable[[], Any], *kinds: type[Exception]) -> str:
    with pytest.raises(kinds or ArgumentError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_call_of_an_operator_that_does_not_fit_is_told_with_the_signature_of_the_table(name: str) -> None:
    function, operator = PUBLIC[name], OPERATORS[name]
    parameters = list(operator.call.parameters.values())
    places = [one for one in parameters if one.kind is KINDS.POSITIONAL_OR_KEYWORD]
    first = parameters[0].name
    wrong = {
        f"{first!r} is missing": lambda: function(),
        "no argument 'nonsense'": lambda: function(*[X] * len(places), nonsense=7),
    }
    if all(one.kind is not KINDS.VAR_POSITIONAL for one in parameters):
        own_places = inspect.signature(function).parameters.values()
        taken = sum(one.kind is KINDS.POSITIONAL_OR_KEYWORD for one in own_places)
        wrong[f"{taken + 2} positional arguments, but at most {taken} are accepted"] = lambda: function(
            *[X] * (taken + 2)
        )
    for says, call in wrong.items():
        text = refusal(call)
        assert text.startswith(f"{name}: ") and says in text and operator.signature in text, text
    assert "nonsense=7" in refusal(wrong["no argument 'nonsense'"])
    assert f"{first!r} is given twice" in refusal(lambda: function(X, **{first: X}))


def test_every_public_function_refuses_by_itself() -> None:
    for name, function in PUBLIC.items():
        if not any(one.kind is KINDS.VAR_KEYWORD for one in inspect.signature(function).parameters.values()):
            text = refusal(lambda function=function: function(nonsense=7))  # type: ignore[misc]
            assert text.startswith(f"{name}: ") and "nonsense" in text and f"{name}(" in text


FLAGS = {
    (name, one.name): one
    for name, function in PUBLIC.items()
    for one in inspect.signature(function).parameters.values()
    if "bool" in str(one.annotation) or isinstance(one.default, bool)
}
NO_FLAGS = ["no", "", 1, 0, 0.0, [], [True], (), X, np.array(True), np.int8(1), type]


@pytest.mark.parametrize("name, flag", FLAGS)
def test_a_flag_is_true_or_false_and_nothing_that_counts_as_it(name: str, flag: str) -> None:
    parameter = FLAGS[name, flag]
    parameters = inspect.signature(PUBLIC[name]).parameters.values()
    needed = [one for one in parameters if one.default is KINDS.empty and one.kind is not KINDS.VAR_POSITIONAL]
    positional = [X for one in needed if one.kind is KINDS.POSITIONAL_ONLY]
    given = {one.name: X for one in needed[len(positional) :]}
    for wrong in [*NO_FLAGS, *([] if parameter.default is None else [None])]:
        text = refusal(lambda wrong=wrong: PUBLIC[name](*positional, **given, **{flag: wrong}))  # type: ignore[misc]
        assert text.startswith(f"{name}: {flag!r} must be True or False, not "), text


def test_flags_are_those_of_numpy_too() -> None:
    for yes, no in ((True, False), (np.True_, np.False_)):
        assert X.sum(1, keepdim=yes).tolist() == [[3.0], [3.0]] and X.sum(1, keepdims=no).tolist() == [3.0, 3.0]
        assert pn.nested_array([[1.0]], requires_grad=yes, pin_memory=no).requires_grad is True
        x = pn.ones(2, requires_grad=yes)
        assert pn.grad(x.sum(), [x, pn.ones(1, requires_grad=yes)], create_graph=no, allow_unused=yes)[1] is None


METHODS_WITH_FLAGS = [
    (pn.NestedArray.requires_grad_, "requires_grad"),
    (pn.Array.requires_grad_, "requires_grad"),
    (pn.NestedArray.backward, "create_graph"),
    (pn.Array.backward, "retain_graph"),
]


@pytest.mark.parametrize("method, flag", METHODS_WITH_FLAGS, ids=lambda one: getattr(one, "__qualname__", one))
def test_flags_of_methods_are_looked_at(method: Callable[..., Any], flag: str) -> None:
    x = X.detach() if "Nested" in method.__qualname__ else pn.ones(2)
    text = refusal(lambda: method(x, **{flag: "no"}))
    assert text.startswith(f"{method.__name__}: {flag!r} must be True or False, not 'no'")
    assert not x.requires_grad


@pytest.mark.parametrize("x", [pn.ones(2), X.clone()], ids=["dense", "nested"])
def test_an_attribute_that_is_a_flag_is_looked_at(x: Any) -> None:
    with pytest.raises(ArgumentError, match="'requires_grad' must be True or False, not 'no'"):
        x.requires_grad = "no"
    x.requires_grad = True
    assert x.requires_grad is True


SAID: dict[str, tuple[Callable[..., Any], str]] = {
    "part of a name": (lambda: pn.sum(X, dimension=1), "'dim' was probably meant"),
    "misspelt": (lambda: pn.add(X, X, alhpa=2), "'alpha' was probably meant"),
    "another library's name": (lambda: pn.relu(input=X), "'self' was probably meant"),
    "nothing like it": (lambda: pn.relu(X, q=1), "there is no argument 'q'."),
    "a method": (lambda: X.softmax(dims=1), "'dim' was probably meant"),
    "a method of one class": (lambda: X.to_padded_array(), "'padding' is missing"),
    "a method in place": (lambda: X.add_(), "add_: 'other' is missing"),
    "what is behind a decorator": (lambda: pn.nested_array([[1.0]], layot=pn.jagged), "'layout' was probably meant"),
    "no operator": (lambda: pn.jvp(1), "'primals' is missing, and 'tangents' is missing"),
    "what came": (lambda: pn.softmax(X, 1, 2, "three"), "(2, *) and dtype float64, 1, 2, 'three'"),
    "what may have a name": (lambda: pn.softmax(X, 1, pn.float32), "(by name: dtype, axis)"),
    "what is imported later": (lambda: pn.dispatch_table(), "'operator' is missing"),
    "one of two names": (lambda: pn.softmax(X), "softmax: the dimension is missing. Give 'dim', or 'axis'"),
}  # fmt: skip


@pytest.mark.parametrize("call, says", SAID.values(), ids=SAID)
@pytest.mark.parametrize("is_watched", [False, True])
def test_what_is_wrong_is_said_watched_or_not(call: Callable[[], Any], says: str, is_watched: bool) -> None:
    if is_watched:
        with watching(lambda one: one.run()):
            assert says in refusal(call)
        return
    assert says in refusal(call)


def test_a_decorated_function_looks_as_it_is_written() -> None:
    for name, function in PUBLIC.items():
        written = inspect.unwrap(function)
        assert f"def {written.__name__}(" in inspect.getsource(written) and function.__doc__ == written.__doc__
        assert pickle.loads(pickle.dumps(function)) is function is getattr(pn, name)
    assert list(inspect.signature(pn.softmax).parameters) == ["self", "dim", "dtype", "axis"]


def test_what_fails_inside_is_raised_as_it_is() -> None:
    with pytest.raises(pn.errors.DimensionError) as caught:
        pn.softmax(X, 5)
    assert "softmax" in [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert refusal(lambda: pn.map_components(lambda x: x.nonsense(3), X), AttributeError)
