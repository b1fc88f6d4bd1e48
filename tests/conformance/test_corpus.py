"""Vectors that do not add up are refused before anything is run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.messages import differentiated
from pynested.conformance.problems import KitError, UsageError

Rewrite = Callable[..., Path]


def broken(key: str, value: Any) -> Callable[[Any], Any]:
    """Return a change that sets one field of the first case."""
    return lambda cases: [{**cases[0], key: value}, *cases[1:]]


BROKEN: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
    "a case is lost": (lambda cases: cases[:-1], {"count": 3}, "announces 3 cases and holds 2"),
    "another format": (lambda cases: cases, {"format": "pynested-vectors/2"}, "format pynested-vectors/2"),
    "another operator": (lambda cases: cases, {"op": "mean"}, "holds the cases of mean"),
    "an id twice": (lambda cases: [*cases, cases[0]], {}, "two cases have this id"),
    "a clause too many": (broken("clauses", ["SUM-999"]), {}, "SUM-999"),
    "no clause": (broken("clauses", []), {}, "clauses"),
    "a strange layout": (broken("layouts", ["padded"]), {}, "layouts are"),
    "no layout": (broken("layouts", []), {}, "layouts are"),
    "a strange field": (broken("expected", {}), {}, "expected"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_vectors_that_do_not_add_up(rewrite: Rewrite, name: str) -> None:
    change, header, text = BROKEN[name]
    with pytest.raises(KitError, match=text):
        load_corpus(rewrite(change, **header))


def test_a_file_that_is_cut_short(vectors: Path) -> None:
    path = vectors / "reduction" / "sum.json"
    path.write_text(path.read_text()[:-40])
    with pytest.raises(KitError, match="cut short"):
        load_corpus(vectors)


def test_no_vectors_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no vectors"):
        load_corpus(tmp_path)


def test_the_digest_is_that_of_the_content(vectors: Path, rewrite: Rewrite) -> None:
    same, other = rewrite(), None
    assert load_corpus(vectors).digest == load_corpus(same).digest
    other = rewrite(lambda cases: cases[:-1])
    assert load_corpus(vectors).digest != load_corpus(other).digest


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (Selection(), 6),
        (Selection(layouts=("jagged",)), 3),
        (Selection(match="*/error/*"), 2),
        (Selection(kind_class="gradient"), 2),
        (Selection(ops=("mean",)), 0),
    ],
)
def test_selections(vectors: Path, selection: Selection, count: int) -> None:
    assert len(list(selection.pick(load_corpus(vectors)))) == count


def test_an_unknown_operator_is_named_with_its_neighbours(vectors: Path) -> None:
    with pytest.raises(UsageError, match="no operator 'softmx'; did you mean softmax"):
        Selection(ops=("softmx",)).check(load_corpus(vectors))


def test_a_gradient_for_what_the_table_does_not_differentiate(rewrite: Rewrite) -> None:
    folder = rewrite(lambda cases: [{**cases[0], "gradient": [None, {"python": 1}]}])
    corpus = load_corpus(folder)
    with pytest.raises(KitError, match="expects gradients for"):
        differentiated(corpus.cases[0], corpus.table["sum"])
