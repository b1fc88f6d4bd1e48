"""First attempts of people who know NumPy and PyTorch: they work, or the message says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, GradientError, ShapeError
from pynested.name_hints import FUNCTION_REPLACEMENTS, METHOD_REPLACEMENTS

from ..nests import LAYOUTS, assert_same, nest

X = [np.array([1.5, 2.0]), np.zeros(0), np.array([7.0, 0.5, 4.0, 3.0])]

MESSAGES: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: pn.nested_array([[[1], [2, 3]]]), ArgumentError, r"[^.]\. There is one level of nesting"),
    (lambda x: x == [[1.5, 2.0], [], [7.0]], ArgumentError, "eq: a list is no array.*pn.nested_array"),
    (lambda x: x != [1.5], ArgumentError, "ne: a list is no array"),
    (lambda x: pn.sum(x, 1) == [3.5, 0.0, 14.5], ArgumentError, "pn.array"),
    (lambda x: pn.sum(x, 1) == (1.0,), ArgumentError, "eq: a tuple"),
    (lambda x: x.shape[1] + 1, ArgumentError, r"j\d+ is the size .* x.lengths_along\(dim\)"),
    (lambda x: int(x.shape[1]), ArgumentError, "lengths_along"),
    (lambda x: 2 * x.shape[1], ArgumentError, "lengths_along"),
    (lambda x: range(x.shape[1]), ArgumentError, "lengths_along"),
    (lambda x: x.reshape(-1), ShapeError, r"The batch stays a dimension: x.flatten\(1\)"),
    (lambda x: x.view(-1), ShapeError, r"x.values\(\)"),
    (lambda x: round(x, 2), ArgumentError, "^round: 2 positional arguments, but at most 1"),
    (lambda x: round(x[2], 2), ArgumentError, "^round: 2 positional arguments, but at most 1"),
    (lambda x: pn.grad(lambda v: v, x), ArgumentError, r"pn.grad\(f\(x\), x\)"),
    (lambda x: x.float(), AttributeError, r"Use x.to\(pn.float32\)"),
    (lambda x: x.T, AttributeError, "the batch stays the first"),
    (lambda x: pn.array([1.0]).cuda(), AttributeError, r"Array has no attribute 'cuda'. Use x.to\(\"cuda\"\)"),
    (lambda x: pn.nested_tensor, AttributeError, "Use pn.nested_array"),
    (lambda x: pn.nothing_like_it, AttributeError, "^module 'pynested' has no attribute 'nothing_like_it'$"),
    (lambda x: pn.NestedArray.numpy, AttributeError, "pn.to_padded_array"),
    (lambda x: pn.nn, AttributeError, "Use pn.linear, "),
    (lambda x: pn.nested.narrow, AttributeError, "has no attribute 'narrow'. Use pn.narrow.$"),
    (lambda x: pn.nested.nested_tensor, AttributeError, "has no attribute 'nested_tensor'. Use pn.nested_array.$"),
    (lambda x: pn.nested.nonsense, AttributeError, "has no attribute 'nonsense'$"),
]


@pytest.mark.parametrize("name", ["degrees", "fabs", "float_power", "fmax", "fmod", "heaviside", "hypot", "rint"])
def test_the_call_that_replaces_a_ufunc_of_numpy_works(name: str) -> None:
    ufunc: np.ufunc = getattr(np, name)
    for x in (nest(X), pn.array(X[2])):
        with pytest.raises(ArgumentError, match=f"^numpy.{name}: ") as caught:
            ufunc(*[x, x][: ufunc.nin])
        replacement = str(caught.value).partition("with NumPy: ")[2].rstrip(".")
        result = eval(replacement, {"pn": pn, "np": np, "x": x, "y": x})
        components = X if x.is_nested else [X[2]]
        for component, numbers in zip(result.unbind() if x.is_nested else [result], components, strict=True):
            np.testing.assert_array_equal(component.numpy(), ufunc(*[numbers, numbers][: ufunc.nin]))


@pytest.mark.parametrize("number", range(len(MESSAGES)))
def test_a_message_says_what_to_write(number: int) -> None:
    call, kind, pattern = MESSAGES[number]
    with pytest.raises(kind, match=pattern):
        call(nest(X))


def test_replacements_exist_and_only_public_names_are_listed() -> None:
    assert dir(pn) == sorted(pn.__all__)
    for name, instead in FUNCTION_REPLACEMENTS.items():
        assert not name.startswith("_") and not hasattr(pn, name)
        assert all(hasattr(pn, function) for function in re.findall(r"pn\.(\w+)", f"pn.{instead}"))
    x, d = nest(X), pn.array([1.0])
    for name, instead in METHOD_REPLACEMENTS.items():
        methods = re.findall(r"x\.(\w+)", instead)
        assert all(hasattr(x, method) and hasattr(d, method) for method in methods if method != "values"), name
        assert all(hasattr(pn, function) for function in re.findall(r"pn\.(\w+)", instead))
        assert not hasattr(x, name), f"{name} is there, and needs no hint"


def test_a_similar_name_is_still_found() -> None:
    with pytest.raises(AttributeError) as caught:
        nest(X).reshap  # noqa: B018
    assert (caught.value.name, type(caught.value.obj)) == ("reshap", pn.NestedArray)


def test_a_number_is_looked_for_among_all_elements() -> None:
    assert 2 in pn.ones(2, 3) * 2 and 3 not in pn.ones(2, 3)
    for layout in LAYOUTS:
        x = nest(X, layout, "holes")
        assert 2.0 in x and 9.0 not in x and np.nan not in x


def test_functions_of_numpy_are_mapped_over_components() -> None:
    for layout in LAYOUTS:
        assert_same(pn.map_components(np.sort, nest(X, layout)), [np.sort(x) for x in X])
        assert pn.map_components(np.sort, nest(X, layout)[:0]).layout is layout
        with pytest.raises(GradientError, match="requires grad"):
            pn.map_components(np.sort, nest(X, layout).requires_grad_())
        assert_same([pn.map_components(np.median, nest(X[::2], layout))], [np.array([1.75, 3.5])])


def test_large_arrays_are_printed_on_a_screen() -> None:
    for layout in LAYOUTS:
        for shape in ((900, 900), (4, 400), (3, 20, 20), (2000, 1)):
            text = repr(pn.nested_array(list(np.zeros(shape)), layout=layout))
            assert "..." in text and len(text) < 4000
    assert "..." not in repr(pn.nested_array([np.arange(300.0)] * 2))
