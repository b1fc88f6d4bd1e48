"""Covering arrays, held against a search through every row there is."""

from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest

from pynested.spec.axes import AXES, FAMILIES, UNDRAWN
from pynested.spec.axes.first import FIRST
from pynested.spec.generator.covering import Row, cover
from pynested.spec.table import load_table

SIZES = dict.fromkeys("uvwx", ("a", "b", "c"))
NEVER = ({"u": "a b", "v": "a"}, {"v": "c", "w": "c", "x": "b c"}, {"u": "c", "x": "a"})


def allowed(levels: Mapping[str, Sequence[str]], never: Sequence[Mapping[str, str]]) -> Iterator[Row]:
    """Yield every row, but those that hold all of something forbidden."""
    for choice in itertools.product(*levels.values()):
        row = dict(zip(levels, choice, strict=True))
        if not any(all(row[axis] in words.split() for axis, words in one.items()) for one in never):
            yield row


def parts(rows: Iterator[Row] | list[Row], strength: int, axes: Sequence[str]) -> set[tuple[tuple[str, str], ...]]:
    """Return the tuples of so many axes that the rows have."""
    chosen = list(itertools.combinations(axes, strength))
    return {tuple((axis, row[axis]) for axis in some) for row in rows for some in chosen}


@pytest.mark.parametrize("never", [(), NEVER], ids=["free", "constrained"])
@pytest.mark.parametrize("triples", [(), "uvw", "uvwx"], ids=["pairs", "some-triples", "triples"])
def test_what_some_row_has_a_row_of_the_array_has(never: Sequence[Mapping[str, str]], triples: Sequence[str]) -> None:
    rows, everything = cover(SIZES, never, triples), list(allowed(SIZES, never))
    assert all(row in everything for row in rows)
    assert parts(rows, 2, list(SIZES)) == parts(everything, 2, list(SIZES))
    assert parts(rows, 3, triples) == parts(everything, 3, triples)


def test_what_only_a_third_axis_rules_out_is_not_asked_for() -> None:
    """u = a needs w = a, and w = a needs v = a, so that u = a and v = b are in no row, though nothing says so."""
    levels = dict.fromkeys("uvw", ("a", "b"))
    never = ({"u": "a", "w": "b"}, {"w": "a", "v": "b"})
    assert {(row["u"], row["v"]) for row in cover(levels, never)} == {("a", "a"), ("b", "a"), ("b", "b")}


def test_what_is_silent_covers_only_itself() -> None:
    """Where v is c there is nothing to see: pairs without it need a row without it."""
    rows, everything = cover(SIZES, NEVER, silent={"v": "c"}), list(allowed(SIZES, NEVER))
    others = [axis for axis in SIZES if axis != "v"]
    loud = ([row for row in some if row["v"] != "c"] for some in (rows, everything))
    assert parts(next(loud), 2, others) == parts(next(loud), 2, others)
    assert {part for part in parts(rows, 2, list(SIZES)) if ("v", "c") in part} == {
        part for part in parts(everything, 2, list(SIZES)) if ("v", "c") in part
    }


@pytest.mark.parametrize(
    ("axes", "levels", "least"), [(4, 3, 9), (5, 4, 16), (6, 5, 25), (10, 2, 6), (13, 3, 15), (3, 6, 36), (2, 7, 49)]
)
def test_arrays_are_nearly_as_small_as_can_be(axes: int, levels: int, least: int) -> None:
    """`least` is the size of the smallest array there is: orthogonal arrays, and the tables of Colbourn."""
    words = [str(level) for level in range(levels)]
    rows = cover({f"axis {number}": words for number in range(axes)})
    assert least <= len(rows) <= 1.5 * least


def test_the_lowest_levels_come_first() -> None:
    assert cover({"u": ("small", "large"), "v": ("small",)})[0] == {"u": "small", "v": "small"}


def test_another_process_finds_the_same_rows() -> None:
    program = (
        "from pynested.spec.axes import FAMILIES; from pynested.spec.generator.covering import cover\n"
        "one = FAMILIES['runs']; print(cover(one.levels(), one.never, one.triples))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    one = FAMILIES["runs"]
    assert texts == {f"{cover(one.levels(), one.never, one.triples)}\n"}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_speaks_of_its_axes_and_of_their_levels(name: str) -> None:
    family = FAMILIES[name]
    levels = family.levels()
    for axis in family.axes:
        assert set(levels[axis]) <= set(AXES[axis].levels)
    assert set(family.chosen) <= set(family.axes)
    assert set(family.triples) <= set(levels)
    assert all(set(words.split()) <= set(AXES[axis].levels) for axis, words in family.silent.items())
    for one in family.never:
        known = ((words, AXES[axis].levels if axis in AXES else levels[axis]) for axis, words in one.items())
        assert all(set(words.split()) <= set(found) for words, found in known)


def test_every_axis_is_drawn_by_a_family_but_the_one_of_the_runner() -> None:
    assert {axis for family in FAMILIES.values() for axis in family.axes} == set(AXES) - {"placement"}


def test_every_level_of_an_axis_is_drawn_by_a_family() -> None:
    for axis in set(AXES) - {"placement"}:
        drawn = {level for family in FAMILIES.values() if axis in family.axes for level in family.levels()[axis]}
        assert drawn == set(AXES[axis].levels), axis


DRAWN = {name for family in FAMILIES.values() for name in family.operators}


@pytest.mark.parametrize("name", sorted({*DRAWN, *UNDRAWN, *(o.name for o in load_table().values() if not o.is_idea)}))
def test_every_operator_is_in_a_family(name: str) -> None:
    """Calls of an operator without a family are not drawn: all of them are written by hand."""
    assert name in load_table(), f"no operator has the name {name}, which a family or UNDRAWN of spec/axes lists"
    assert (name in DRAWN) != (name in UNDRAWN), f"{name} must be in a family of spec/axes, or in UNDRAWN: not in both"


def test_the_families_that_came_first_have_the_levels_that_they_had() -> None:
    """A level more would draw other calls, and the vectors that are out would change."""
    levels = {name: {axis: list(words) for axis, words in family.levels().items()} for name, family in FIRST.items()}
    assert hashlib.sha256(json.dumps(levels).encode()).hexdigest()[:16] == "6d01e58b6af74872"
