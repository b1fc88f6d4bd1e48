"""A compiled function reads variables, attributes, containers and classes anew; a graph is made if they differ."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Any

import pytest

import pynested as pn

from .arrays import assert_same, jagged


@pytest.mark.parametrize("toggles", [(True,), (True, False, True)])
def test_gradients_flow_to_a_variable_that_requires_grad_only_later(toggles: tuple[bool, ...]) -> None:
    held = {"w": jagged(2, 3), "b": pn.array([3.0, 4.0])}
    compiled = pn.compile(function := lambda x: ((y := x * held["w"] + held["b"]), (y.sin() * y).exp()))
    x = jagged(2, 3)
    assert not compiled(x)[0].requires_grad
    for requires_grad in toggles:
        for w in held.values():
            w.requires_grad = requires_grad
        for i, (result, expected) in enumerate(zip(compiled(x), function(x), strict=True)):
            assert result.requires_grad == requires_grad
            if requires_grad:
                slopes = [pn.grad(y.sum(), held, retain_graph=i == 0) for y in (result, expected)]
                assert_same(*slopes)
    assert len(compiled.graphs) == 2 and "another held['w'].requires_grad" in compiled.explain()


class Holder:
    """An object whose attributes are numbers."""

    shared = 2.0


def sum_of(numbers: Any, x: Any) -> Any:
    """Return x times the sum of ``numbers``: a container, or an object that has them as attributes."""
    values = vars(numbers).values() if isinstance(numbers, Holder) else numbers
    return x * sum(values.values() if isinstance(values, dict) else values)


def grow(numbers: Any) -> None:
    """Add the number 4."""
    if isinstance(numbers, list):
        numbers.append(4.0)
    elif isinstance(numbers, set):
        numbers.add(4.0)
    elif isinstance(numbers, dict):
        numbers["new"] = 4.0
    else:
        numbers.new = 4.0


@pytest.mark.parametrize("make", [list, set, Holder, lambda: {"old": 0.0}], ids=["list", "set", "object", "dict"])
@pytest.mark.parametrize("is_argument", [False, True])
def test_an_entry_that_is_added_to_a_variable_makes_another_graph(make: Any, is_argument: bool) -> None:
    numbers, x = make(), pn.array([1.0, 2.0])
    compiled = pn.compile(sum_of if is_argument else lambda x: sum_of(numbers, x))
    call = partial(compiled, numbers) if is_argument else compiled
    assert call(x).tolist() == [0, 0]
    grow(numbers)
    assert call(x).tolist() == call(x).tolist() == [4, 8] and len(compiled.graphs) == 2


def test_entries_that_the_function_itself_adds_make_no_other_graph() -> None:
    """They are added while a graph is recorded only."""
    results: list[Any] = []
    holder = Holder()

    def function(x: Any) -> Any:
        results.append(x * 2)
        holder.last = results[-1]  # type: ignore[attr-defined]
        return holder.last + 1  # type: ignore[attr-defined]

    compiled, x = pn.compile(function), pn.array([1.0])
    assert [compiled(x).tolist() for _ in range(3)] == [[3]] * 3 and len(compiled.graphs) == len(results) == 1
    assert [compiled(x.to(pn.float32)).tolist() for _ in range(3)] == [[3]] * 3 and len(compiled.graphs) == 2
    assert pn.trace(function, x)(x).tolist() == [3]


def test_values_of_a_class_are_read_anew() -> None:
    class Inherited(Holder):
        """A class in a variable of the function, and the first argument of a method."""

        weight = pn.array([1.0])

        @classmethod
        @pn.compile
        def method(cls, x: Any) -> Any:
            return x * cls.shared * cls.weight

    compiled, x = pn.compile(lambda x: x * Inherited.shared * Inherited.weight), pn.array([1.0])
    for call in (compiled, Inherited.method):
        Holder.shared = 2.0
        assert call(x).tolist() == [2]
        Inherited.shared = 3.0
        assert call(x).tolist() == [3]
        Inherited.weight = pn.array([10.0])
        assert call(x).tolist() == [30]
        Inherited.weight = pn.array([1.0])
        del Inherited.shared


SCALE = 2.0
DECORATORS: dict[str, Any] = {
    "plain": lambda function: function, "no_grad": pn.no_grad, "compile": pn.compile,
    "both": lambda function: pn.no_grad(pn.compile(function)),
}  # fmt: skip


@pytest.mark.parametrize("decorator", DECORATORS.values(), ids=DECORATORS)
@pytest.mark.parametrize("compiled", ["object", "method", "function"])
def test_globals_of_decorated_functions_are_read_anew(
    decorator: Any, compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Layer:
        @decorator
        def __call__(self, x: Any) -> Any:
            return x * SCALE

    layer = Layer()
    function = {"object": layer, "method": layer.__call__, "function": decorator(lambda x: x * SCALE)}[compiled]
    call, x = pn.compile(function), pn.array([1.0])
    assert call(x).tolist() == [2]
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert call(x).tolist() == [3]


class Named:
    """An object that is equal to every other object of its name."""

    def __init__(self, name: str, weight: Any) -> None:
        self.name, self.weight = name, weight

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @pn.compile
    def method(self, x: Any) -> Any:
        return x * self.weight


def test_equal_objects_with_other_attributes_have_graphs_of_their_own() -> None:
    x = pn.array([1.0])
    for weight in (2.0, pn.array(3.0), pn.array(4.0), 5.0):
        assert Named("same", weight).method(x).item() == float(weight)


def test_equal_values_without_attributes_share_a_graph() -> None:
    compiled, x = pn.compile(lambda x, value: x * 2), pn.array([1.0])
    for make in (lambda: frozenset({1, 2}), lambda: date(2000, 1, 2), lambda: Holder.__init__, lambda: x.sin):
        before = len(compiled.graphs)
        assert [compiled(x, make()).tolist() for _ in range(3)] == [[2]] * 3 and len(compiled.graphs) == before + 1
