"""The cases that are drawn from covering arrays: what a row says is what the operands are."""

from __future__ import annotations

import pytest

from pynested.spec import decode_value, load_vectors
from pynested.spec.axes import FAMILIES
from pynested.spec.encoding import Components
from pynested.spec.generator.batches import outline
from pynested.spec.generator.covering import cover

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


@pytest.mark.parametrize("name", FAMILIES)
def test_every_row_has_components_of_its_shape(name: str) -> None:
    family = FAMILIES[name]
    for row in cover(family.levels(), family.never, family.triples):
        form = outline(row)
        assert len(form.shape) == int(row["rank"])
        for one in form.shapes:
            assert all(size in (None, own) for size, own in zip(form.shape[1:], one, strict=True))
        assert form.shape.count(None) == {"two": 2, "regular": 0}.get(row["ragged"], 1)


def test_vectors_reach_what_an_author_forgets() -> None:
    """More than eight components, five dimensions, a ragged dimension in the middle, one operand that requires grad."""
    cases = [case for group in load_vectors().values() for case in group if "/axes" in case["id"]]
    nested = [value for case in cases for value in map(decode_value, case["args"]) if isinstance(value, Components)]
    assert max(map(len, nested)) == 10
    assert max(len(one.shape) for one in nested) == 5
    assert any(len(one.shape) == 4 and one.shape[2] is None for one in nested)
    assert {tuple(case["tracked"]) for case in cases if "tracked" in case} == {(0,), (1,)}
