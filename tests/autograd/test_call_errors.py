"""Errors of calls that do not fit a signature: the wrong argument, all arguments, and the signature."""

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
from pynested.autograd.decorators import watching
from pynested.backends.errors import ArgumentError

from ..support.methods import PUBLIC

X = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
OPERATORS = {name: operator for name, operator in spec.load_table().items() if operator.signature}
KINDS = inspect.Parameter


def refusal(call: Callable[[], Any], *kinds: type[Exception]) -> str:
    with pytest.raises(kinds or ArgumentError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_wrong_call_of_an_operator_is_answered_with_the_signature_of_the_table(name: str) -> None:
    function, operator = PUBLIC[name], OPERATORS[name]
    kinds = {name: parameter.kind for name, parameter in operator.call.parameters.items()}
    positional = [X] * list(kinds.values()).count(KINDS.POSITIONAL_OR_KEYWORD)
    first = next(iter(kinds))
    wrong: dict[str, Callable[[], Any]] = {
        f"{first!r} is missing": lambda: function(),
        "no argument 'nonsense'": lambda: function(*positional, nonsense=7),
        "nonsense=7": lambda: function(*positional, nonsense=7),
        f"{first!r} is given twice": lambda: function(X, **{first: X}),
    }
    if KINDS.VAR_POSITIONAL not in kinds.values():
        parameters = inspect.signature(function).parameters.values()
        taken = sum(parameter.kind is KINDS.POSITIONAL_OR_KEYWORD for parameter in parameters)
        text = f"{taken + 2} positional arguments, but at most {taken} are accepted"
        wrong[text] = lambda: function(*[X] * (taken + 2))
    for text, call in wrong.items():
        message = refusal(call)
        assert message.startswith(f"{name}: ") and text in message and operator.signature in message, message


def test_every_public_function_refuses_an_unknown_argument() -> None:
    for name, function in PUBLIC.items():
        parameters = inspect.signature(function).parameters.values()
        if KINDS.VAR_KEYWORD not in [parameter.kind for parameter in parameters]:
            text = refusal(lambda function=function: function(nonsense=7))  # type: ignore[misc]
            assert text.startswith(f"{name}: ") and "nonsense" in text and f"{name}(" in text


FLAGS = {
    (name, parameter.name): parameter
    for name, function in PUBLIC.items()
    for parameter in inspect.signature(function).parameters.values()
    if "bool" in str(parameter.annotation) or isinstance(parameter.default, bool)
}
NO_FLAGS = ["no", "", 1, 0, 0.0, [], [True], (), X, np.array(True), np.int8(1), type]


@pytest.mark.parametrize("name, flag", FLAGS)
def test_a_flag_is_true_or_false(name: str, flag: str) -> None:
    parameters = inspect.signature(PUBLIC[name]).parameters.values()
    needed = [p for p in parameters if p.default is KINDS.empty and p.kind is not KINDS.VAR_POSITIONAL]
    positional = [X for p in needed if p.kind is KINDS.POSITIONAL_ONLY]
    keywords = {p.name: X for p in needed[len(positional) :]}
    for wrong in [*NO_FLAGS, *([] if FLAGS[name, flag].default is None else [None])]:
        text = refusal(lambda wrong=wrong: PUBLIC[name](*positional, **keywords, **{flag: wrong}))  # type: ignore[misc]
        assert text.startswith(f"{name}: {flag!r} must be True or False, not "), text


def test_flags_of_methods_and_attributes_are_true_or_false() -> None:
    for x in (pn.ones(2), X.clone()):
        for method, flag in (("requires_grad_", "requires_grad"), ("backward", "create_graph"),
                             ("backward", "retain_graph")):  # fmt: skip
            text = refusal(lambda x=x, method=method, flag=flag: getattr(x, method)(**{flag: "no"}))  # type: ignore[misc]
            assert text.startswith(f"{method}: {flag!r} must be True or False, not 'no'")
        with pytest.raises(ArgumentError, match="'requires_grad' must be True or False, not 'no'"):
            x.requires_grad = "no"
        assert not x.requires_grad
        x.requires_grad = True
        assert x.requires_grad is True


def test_bools_of_numpy_are_flags_too() -> None:
    for yes, no in ((True, False), (np.True_, np.False_)):
        assert X.sum(1, keepdim=yes).tolist() == [[3.0], [3.0]] and X.sum(1, keepdims=no).tolist() == [3.0, 3.0]
        assert pn.nested_array([[1.0]], requires_grad=yes, pin_memory=no).requires_grad is True
        x = pn.ones(2, requires_grad=yes)
        assert pn.grad(x.sum(), [x, pn.ones(1, requires_grad=yes)], create_graph=no, allow_unused=yes)[1] is None


# Methods of the house itself, and those without parameters that it calls everywhere: Python checks their arguments.
UNCHECKED = {
    "accumulate", "as_output_of", "as_saved", "detach", "dim", "from_memory", "is_contiguous", "is_writable", "numel",
    "retain_grad",
}  # fmt: skip


@pytest.mark.parametrize("array", [X, pn.ones(2)], ids=["nested", "dense"])
def test_every_method_refuses_an_unknown_argument(array: Any) -> None:
    methods = [name for name in dir(type(array)) if not name.startswith("_") and hasattr(array, name)]
    methods = [name for name in methods if inspect.ismethod(getattr(array, name))]
    for name in methods if array.is_nested else set(methods) - UNCHECKED:
        text = refusal(lambda name=name: getattr(array, name)(nonsense=7))  # type: ignore[misc]
        assert text.startswith(f"{name}: ") and "nonsense" in text and f"x.{name}(" in text


TEXTS: dict[str, tuple[Callable[[], Any], str]] = {
    "part of a name": (lambda: pn.sum(X, dimension=1), "'dim' was probably meant"),
    "misspelt": (lambda: pn.add(X, X, alhpa=2), "'alpha' was probably meant"),
    "another library's name": (lambda: pn.relu(input=X), "'self' was probably meant"),
    "nothing like it": (lambda: pn.relu(X, q=1), "there is no argument 'q'."),
    "a method": (lambda: X.softmax(dims=1), "'dim' was probably meant"),
    "a method of one class": (lambda: X.to_padded_array(), "'padding' is missing"),
    "a method in place": (lambda: X.add_(), "add_: 'other' is missing"),
    "a function with a decorator": (lambda: pn.nested_array([[1.0]], layot=pn.jagged), "'layout' was probably meant"),
    "a transform": (lambda: pn.jvp(1), "'primals' is missing, and 'tangents' is missing"),
    "the arguments": (lambda: pn.softmax(X, 1, 2, "three"), "(2, *) and dtype float64, 1, 2, 'three'"),
    "arguments by name": (lambda: pn.softmax(X, 1, pn.float32), "(by name: dtype, axis)"),
    "a positional argument too many": (lambda: pn.from_dlpack(X, 3), "2 positional arguments, but at most 1 are"),
    "several unknown arguments": (lambda: pn.relu(X, q=1, u=2, v=3, w=4),
        "argument 'q', and there is no argument 'u', and there is no argument 'v', and there is no argument 'w'."),
    "several arguments twice": (lambda: pn.add(X, X, other=X, self=X), "'self' is given twice, and 'other' is given"),
    "a method of dense arrays": (lambda: pn.ones(2).stride(q=0), "stride: there is no argument 'q'."),
    "a method with the name of another function": (lambda: pn.ones(2).narrow(0),
        "Arguments of the call: array([1., 1.]), 0.\n    Accepted:\n        x.narrow(dim, start, length)"),
    "a method of a class": (lambda: pn.Function.apply(pn.ones(2), q=1),
        "Arguments of the call: array([1., 1.]), q=1.\n    Accepted:\n        Function.apply(*arguments)"),
    "no positional argument": (lambda: pn.from_dlpack(), "from_dlpack: 'x' is missing.\n"),
    "a positional argument by name": (lambda: pn.from_dlpack(x=X), "from_dlpack: 'x' parameter is positional only"),
    "unknown, after a positional argument": (lambda: pn.from_dlpack(X, q=3), "from_dlpack: there is no argument 'q'."),
    "a function that is imported later": (lambda: pn.dispatch_table(), "'operator' is missing"),
    "one of two names": (lambda: pn.softmax(X), "softmax: the dimension is missing. Give 'dim', or 'axis'"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "text"), TEXTS.values(), ids=TEXTS)
def test_messages_are_the_same_with_a_watcher_and_without(call: Callable[[], Any], text: str) -> None:
    assert text in refusal(call)
    with watching(lambda watched: watched.run()):
        assert text in refusal(call)


def test_a_call_that_a_watcher_runs_again_passes_all_inner_watchers_again() -> None:
    zero, names = pn.array(0.0), []

    def note(name: str, runs: int) -> Any:
        return lambda call: [names.append(name), *(call.run() for _ in range(runs))][-1]

    with watching(note("inner", 1)), watching(note("middle", 2)), watching(note("outer", 2)):
        pn.exp(zero)
    assert names == ["outer", *["middle", "inner", "inner"] * 2]


def test_a_decorated_function_looks_as_it_is_written() -> None:
    for name, function in PUBLIC.items():
        written = inspect.unwrap(function)
        assert f"def {written.__name__}(" in inspect.getsource(written) and function.__doc__ == written.__doc__
        assert pickle.loads(pickle.dumps(function)) is function is getattr(pn, name)
    assert list(inspect.signature(pn.softmax).parameters) == ["self", "dim", "dtype", "axis"]


def test_an_error_inside_a_function_is_raised_unchanged() -> None:
    with pytest.raises(pn.errors.DimensionError) as caught:
        pn.softmax(X, 5)
    assert "softmax" in [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert refusal(lambda: pn.map_components(lambda x: x.nonsense(3), X), AttributeError)
