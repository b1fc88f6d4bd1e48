"""What becomes of a call: the result is used, the cotangent is pulled back twice, the whole leaf is read."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.conformance.adapters.base import Operand, Place, PythonAdapter, Target
from pynested.conformance.adapters.moved import Moved
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.adapters.values import each_array
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Corpus, Selection, load_corpus
from pynested.conformance.records import Run
from pynested.conformance.session import InProcess
from pynested.spec.components import Components

X = Components([np.array([1.0, 2.0]), np.array([]), np.array([3.0])], (3, None))


def run(corpus: Corpus, target: Target, **chosen: Any) -> Run:
    return conform(corpus, Selection(**chosen), lambda: InProcess(PythonAdapter(target)), None, None)


def sample(target: Target, vectors: Path) -> Run:
    return conform(load_corpus(vectors), Selection(), lambda: InProcess(PythonAdapter(target)), None, None)


def findings(made: Run) -> list[dict[str, Any]]:
    return [one for result in made.results for one in result["findings"]]


# ---- where operands lie ---------------------------------------------------------------------------------------------


class Recorder(PynestedTarget):
    def __init__(self) -> None:
        super().__init__()
        self.places: list[str] = []

    def operand(self, value: Any, place: Place, tracked: bool) -> Any:
        if isinstance(value, Components):
            self.places.append(place.placement)
        return super().operand(value, place, tracked)


def test_each_nested_operand_has_the_word_that_is_said_for_it(some_operators: Corpus) -> None:
    target = Recorder()
    run(
        some_operators,
        target,
        ops=("add",),
        match="add/float32/*",
        placements=("packed", "bare", "view"),
        layouts=("jagged",),
    )
    mixed = {tuple(target.places[at : at + 2]) for at in range(len(target.places) - 1)}
    assert {("packed", "bare"), ("bare", "view"), ("view", "packed")} <= mixed


class AddsBuffers(PynestedTarget):
    """Adds what lies at the same place in memory, wherever the buffers are equally large."""

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        x, y = args
        nested = isinstance(x, pn.NestedArray) and isinstance(y, pn.NestedArray)
        if nested and not kwargs and x.shape == y.shape and x.data.shape == y.data.shape:
            return pn.NestedArray(x.data + y.data, x.structure)
        return pn.add(*args, **kwargs)


def test_operands_that_lie_differently_show_what_operands_that_lie_alike_do_not(some_operators: Corpus) -> None:
    lying = ("packed", "reversed", "bare", "transposed", "view")
    made = run(some_operators, AddsBuffers(), ops=("add",), placements=lying, layouts=("jagged",))
    bad = {place for one in findings(made) if one["verdict"] == "value" for place in one["placements"]}
    assert bad and all("+" in place for place in bad)
    assert {one["clause"] for one in findings(made) if "clause" in one} == {"LAYOUTS-4"}


def test_operands_share_one_structure_unless_they_lie_apart() -> None:
    def pair(first: str, second: str, layout: str) -> tuple[Any, Any]:
        shared: dict[Any, Any] = {}
        target = PynestedTarget()
        x, y = (target.operand(X, Place(layout, word, shared), False).value for word in (first, second))
        return x.structure, y.structure

    for layout in ("jagged", "strided"):
        assert operator.is_(*pair("packed", "packed", layout))
        assert operator.is_(*pair("packed", "bare", layout))
        assert operator.is_(*pair("holes-nan", "holes-max", layout))
        assert not operator.is_(*pair("packed", "apart", layout))
        assert not operator.is_(*pair("packed", "reversed", layout))
    assert operator.is_(*pair("packed", "view", "jagged"))


# ---- what becomes of the result -------------------------------------------------------------------------------------


def test_a_result_that_is_another_once_it_is_used_is_corrupt(vectors: Path, miniature: ModuleType) -> None:
    class Stale(miniature.Right):  # type: ignore[name-defined, misc]
        def used(self, result: Any, read: Any) -> Iterator[tuple[str, Any]]:
            yield "padding", [one + 1 for one in read] if isinstance(read, Components) else read + 1

    made = sample(Stale(), vectors)
    (verdict,) = {result["parts"]["forward"] for result in made.results if "forward" in result["parts"]}
    assert verdict == "corrupt" and "used by another operator: padding" in findings(made)[0]["got"]


def test_a_structure_that_its_values_do_not_fit_shows_in_use(some_operators: Corpus) -> None:
    class ForgetsTheOrder(PynestedTarget):
        """Hands out an array whose facts were worked out for another one: it is said to tile its buffer."""

        def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
            made = pn.neg(*args)
            holes = np.concatenate([[7], np.asarray(made.values()), [7]])
            lengths = np.asarray(made.lengths_along(1))
            wrong = pn.nested_array_from_jagged(holes, np.asarray(made.offsets()) + 1, lengths)
            wrong.structure.__dict__["is_packed"] = True
            return wrong

    made = run(some_operators, ForgetsTheOrder(), ops=("neg",), match="neg/float32/batch1-len1/1", layouts=("jagged",))
    assert {one["verdict"] for one in findings(made) if one["part"] == "forward"} & {"corrupt", "refused"}


# ---- the tape -------------------------------------------------------------------------------------------------------


def test_gradients_accumulate_over_two_pulls(vectors: Path, miniature: ModuleType) -> None:
    class Overwrites(miniature.Right):  # type: ignore[name-defined, misc]
        accumulates = True

    class Adds(Overwrites):
        def backward(self, results: Sequence[Any], cotangents: Sequence[Any]) -> None:
            before = self.x.gradient
            super().backward(results, cotangents)
            if before is not None:
                self.x.gradient = Components(map(np.add, before, self.x.gradient), before.shape)

    assert sample(Adds(), vectors).exit_code == 0
    made = sample(Overwrites(), vectors)
    found = [one for one in findings(made) if one["verdict"] != "unreached"]
    assert {(one["part"], one["verdict"]) for one in found} == {("gradient", "corrupt")}
    assert all("pulled back twice" in one["got"] for one in found)


@pytest.mark.parametrize("layout", ["jagged", "strided"])
@pytest.mark.parametrize("placement", ["holes-nan", "holes-max", "view"])
def test_what_comes_to_memory_of_no_component_shows(layout: str, placement: str) -> None:
    made = PynestedTarget().operand(X, Place(layout, placement), True)
    (made.value * 2.0).sum().backward()
    found = made.gradient()
    assert isinstance(found, Components) and [one.tolist() for one in found] == [[2, 2], [], [2]]
    if placement != "view":
        made.value.values().sum().backward()  # of the holes too
        with pytest.raises(ValueError, match="in memory that belongs to no component"):
            made.gradient()


class OffByOne(PynestedTarget):
    """Its forward mode says that everything moves by one more."""

    def pushed(self, call: Any, operands: Any, tangents: Any) -> Any:
        return each_array(lambda one: one + one, super().pushed(call, operands, tangents))


def test_forward_mode_is_held_against_the_gradient(some_operators: Corpus) -> None:
    chosen = {"ops": ("unbind", "stack"), "layouts": ("jagged",)}
    assert run(some_operators, PynestedTarget(), **chosen).exit_code == 0
    found = [one for one in findings(run(some_operators, OffByOne(), **chosen)) if "clause" in one]
    assert {(one["part"], one["verdict"]) for one in found} == {("gradient", "corrupt")}
    assert all("by forward mode" in one["got"] for one in found) and len(found) > 5


def test_forward_mode_counts_the_products_of_every_operand() -> None:
    def moved(gradient: Any, cotangent: Any, pushed: Any) -> str:
        operand = Operand(None, lambda: None)
        held = Moved([operand], {}, [(operand, np.float32([4, 5, 6]), gradient)])
        return held.disagreement(pushed, cotangent) if held.is_plain(cotangent) else "unasked"

    (tangent,) = Moved([], {}, [(Operand(0, lambda: None), np.zeros(6), None)]).tangents
    assert np.array_equal(tangent, [1, -2, 3, 0, 2, 1])
    gradient, cotangent = np.float32([2, 0, 1]), np.float32([1, 1])  # 2 * 1 + 0 * -2 + 1 * 3 is 5
    assert moved(gradient, cotangent, np.float32([2, 3])) == ""
    assert "by 4.0 in all by forward mode, and by 5.0 by the gradient" in moved(gradient, cotangent, np.float32([1, 3]))
    assert "by 3.0 in all by forward mode, and by 0.0" in moved(None, cotangent, np.float32([0, 3]))
    assert moved(gradient, cotangent, None) == moved(gradient, cotangent, np.float32([0.1, 3])) == ""
    assert moved(gradient / 3, cotangent, gradient) == moved(gradient.astype("f2"), cotangent, gradient) == "unasked"
