"""The cases that are drawn from covering arrays: what a row says is what the operands are."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pynested.spec import calling, compare, decode_value, load_vectors
from pynested.spec.axes import FAMILIES
from pynested.spec.definitions import definition
from pynested.spec.encoding import Components
from pynested.spec.generator.batches import outline
from pynested.spec.generator.cases.designed import empty_book, rows
from pynested.spec.generator.cases.indexed import indexed
from pynested.spec.generator.cases.joined import join

from .test_vectors import accepted, answer

ROW = {"batch": "three", "lengths": "mixed", "rank": "4", "ragged": "middle", "sizes": "total"}


@pytest.mark.parametrize(
    ("changed", "shape", "shapes"),
    [
        ({}, (3, 3, None, 2), [(3, 2, 2), (3, 0, 2), (3, 1, 2)]),
        ({"ragged": "first", "sizes": "longest"}, (3, None, 2, 2), [(2, 2, 2), (0, 2, 2), (1, 2, 2)]),
        ({"ragged": "last", "sizes": "zero"}, (3, 0, 2, None), [(0, 2, 2), (0, 2, 0), (0, 2, 1)]),
        ({"ragged": "two", "sizes": "one"}, (3, None, 1, None), [(2, 1, 1), (0, 1, 3), (1, 1, 2)]),
        ({"ragged": "regular", "lengths": "equal", "batch": "two"}, (2, 2, 4, 2), [(2, 4, 2)] * 2),
        ({"rank": "2", "ragged": "first", "lengths": "late"}, (3, None), [(0,), (0,), (3,)]),
        ({"batch": "none", "sizes": "same"}, (0, 2, None, 2), []),
    ],
)
def test_an_outline_is_what_its_row_says(
    changed: dict[str, str], shape: tuple[int | None, ...], shapes: list[tuple[int, ...]]
) -> None:
    form = outline(ROW | changed)
    assert (form.shape, list(form.shapes)) == (shape, shapes)


@pytest.mark.parametrize(
    ("changed", "dim", "irregular", "regular"),
    [
        ({}, 2, ("strided", "jagged"), ()),
        ({}, 1, (), ("strided", "jagged")),
        ({"lengths": "equal"}, 2, ("jagged",), ("strided",)),  # the strided layout sees sizes, and they agree
        ({"ragged": "two"}, 1, ("strided",), ()),
        ({"ragged": "two", "lengths": "equal"}, 1, (), ("strided",)),
        ({"batch": "none", "sizes": "one"}, 2, ("strided", "jagged"), ()),
        ({"ragged": "regular", "lengths": "equal"}, 1, (), ("strided",)),
    ],
)
def test_an_outline_knows_where_a_dimension_is_irregular(
    changed: dict[str, str], dim: int, irregular: tuple[str, ...], regular: tuple[str, ...]
) -> None:
    assert outline(ROW | changed).layouts(dim) == (irregular, regular)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_row_has_components_of_its_shape(name: str) -> None:
    for row in rows(name):
        form = outline(row)
        assert len(form.shape) == int(row["rank"])
        for one in form.shapes:
            assert all(size in (None, own) for size, own in zip(form.shape[1:], one, strict=True))
        assert form.shape.count(None) == {"two": 2, "regular": 0}.get(row["ragged"], 1)


def every(levels: dict[str, tuple[str, ...]], said: dict[str, str]) -> Iterator[dict[str, str]]:
    """A row for each way to choose of the levels, beside what is said of the other axes."""
    for words in itertools.product(*levels.values()):
        yield said | dict(zip(levels, words, strict=True))


@pytest.mark.parametrize("op", ["cat", "stack"])
def test_arrays_that_are_refused_as_unlike_are_unlike(op: str) -> None:
    """Of no components there is nothing to be longer, or fewer."""
    levels = {
        "batch": ("none", "one", "two"), "rank": ("2", "3"), "dim": ("batch", "ragged", "regular"),
        "unlike": ("along", "across", "fewer", "deeper"), "odd": ("first", "middle"),
    }  # fmt: skip
    said = {"ragged": "first", "lengths": "mixed", "sizes": "other", "dtype": "float32", "cotangent": "whole"}
    said |= {"sign": "front", "spelled": "keyword", "arrays": "three", "second": "same"}
    verdicts = set()
    for row in every(levels, said):
        regular = [row["dim"] == "regular", row["unlike"] == "across"]
        if sum(regular) > int(row["rank"]) - 2:
            continue  # there are not so many regular dimensions
        book = empty_book(op)
        join(book, row, "key")
        (case,) = book.cases
        outlines = [(one.shape, [part.shape for part in one]) for one in case.args[0]]
        verdicts.add((case.error, row["batch"]))
        assert case.error != "StructureError" or any(one != outlines[0] for one in outlines), row
    assert {(None, "none"), ("StructureError", "none"), ("StructureError", "two")} <= verdicts


def test_an_index_is_refused_where_numpy_refuses_it() -> None:
    """Of components of one size in the strided layout, also where none of them is left."""
    levels = {
        "batch": ("none", "one", "two"), "rank": ("2", "3"), "lengths": ("empty", "ones"), "sizes": ("zero", "one"),
        "picked": ("all", "first", "tail", "none", "list"), "sliced": ("all", "number", "end"),
        "entry": ("tail", "end"),
    }  # fmt: skip
    said = {"ragged": "first", "dtype": "float32", "cotangent": "whole", "dots": "absent", "new": "absent"}
    verdicts = set()
    for row in every(levels, said):
        if row["batch"] == "none" and row["sliced"] != "all":
            continue  # whose ragged dimension has no size
        book = empty_book("getitem")
        indexed(book, row, "key")
        (case,) = book.cases
        x, index = case.args
        sizes = {part.shape for part in x} or {tuple(1 if size is None else size for size in x.shape[1:])}
        (size,) = sizes
        try:
            np.zeros((len(x), *size))[index.items]
        except IndexError:
            assert case.error == "IndexOutOfRange" or "strided" not in case.layouts, row
            verdicts.add(("refused", case.error))
        else:
            assert case.error is None, row
            assert "strided" in case.layouts, row
            verdicts.add(("allowed", case.error))
    assert verdicts == {("refused", "IndexOutOfRange"), ("refused", None), ("allowed", None)}


def test_vectors_reach_what_an_author_forgets() -> None:
    """More than eight components, five dimensions, a ragged dimension in the middle, one operand that requires grad."""
    cases = [case for group in load_vectors().values() for case in group if "/axes" in case["id"]]
    nested = [value for case in cases for value in map(decode_value, case["args"]) if isinstance(value, Components)]
    assert max(map(len, nested)) == 10
    assert max(len(one.shape) for one in nested) == 5
    assert any(len(one.shape) == 4 and one.shape[2] is None for one in nested)
    assert {tuple(case["tracked"]) for case in cases if "tracked" in case} >= {(0,), (1,), (2,)}


def beyond_eight(define: Callable[..., Any], self: Components, *rest: Any, **kw: Any) -> Any:
    """Forget what comes after the eighth component."""
    kept = [x if number < 8 else 0.0 * x for number, x in enumerate(self)]
    return define(Components(kept, self.shape, self.dtype), *rest, **kw)


def first_for_middle(define: Callable[..., Any], self: Components, dim: int, **kw: Any) -> Any:
    """Take the first dimension for the ragged one, where regular ones stand on both sides of that."""
    middle = len(self.shape) > 3 and self.shape[1] is not None and self.shape[-1] is not None
    return define(self, 1 if middle and self.shape[dim] is None else dim, **kw)


def wider_in_front(define: Callable[..., Any], self: Any, other: Any, **kw: Any) -> Any:
    """Round a dense operand in front to the dtype of the nested one."""
    nested = isinstance(other, Components) and isinstance(self, np.ndarray)
    return define(self.astype(other.dtype) if nested and other.dtype.kind == "f" else self, other, **kw)


def batch_for_rows(define: Callable[..., Any], self: Any, other: Any, **kw: Any) -> Any:
    """Take a dense row for one value for each component, where there are as many."""
    fits = isinstance(other, np.ndarray) and other.ndim == 1 and 1 < len(other) == len(self)
    return define(self, other.reshape(-1, *[1] * (len(self.shape) - 1)) if fits else other, **kw)


def last_of_many(define: Callable[..., Any], self: Components, dim: Any = None, **kw: Any) -> Any:
    """Forget the last row of long runs, of which there is one too many for a pair."""
    kept = [x[:-1] if len(x) > 8 else x for x in self]
    return define(Components(kept, self.shape, self.dtype), dim, **kw)


def from_the_end_of_large(define: Callable[..., Any], self: Components, dim: int, index: int) -> Any:
    """Count components from the end as if there were one less, where there are many."""
    return define(self, dim, index - 1 if dim == 0 and index < 0 and len(self) > 4 else index)


@pytest.mark.parametrize(
    ("op", "mistake"),
    [
        ("sum", beyond_eight),
        ("softmax", beyond_eight),
        ("relu", beyond_eight),
        ("softmax", first_for_middle),
        ("cumsum", first_for_middle),
        ("mul", wider_in_front),
        ("add", batch_for_rows),
        ("amax", last_of_many),
        ("select", from_the_end_of_large),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_nobody_thought_of_is_rejected(op: str, mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of these mistakes was looked at when the axes were written; the cases by hand let them pass."""
    right = definition(op)

    def wrong(*args: Any, **kw: Any) -> Any:
        names = list(inspect.signature(right).parameters)
        given = dict(zip(names, args, strict=False)) | kw
        return mistake(right, **given)

    wrong.__signature__ = inspect.signature(right)  # type: ignore[attr-defined]
    monkeypatch.setattr(calling, "definition", lambda name: wrong if name == op else definition(name))
    drawn, by_hand = [], []
    for vector in accepted(op):
        (drawn if "/axes" in vector["id"] else by_hand).append(outcome(op, vector))
    assert any(drawn)
    assert not any(by_hand)


def outcome(op: str, vector: Any) -> bool:
    """Say whether a case rejects what the definition answers now."""
    try:
        return compare(answer(op, vector), vector["expect"]) is not None
    except (ValueError, IndexError):
        return True
