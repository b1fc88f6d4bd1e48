"""Vectors that do not add up are refused before anything is run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.messages import differentiated
from pynested.conformance.problems import KitError, UsageError
from pynested.conformance.runner import plan
from pynested.spec.encoding import encode_value

from .conftest import exact

Rewrite = Callable[..., Path]


def broken(key: str, value: Any) -> Callable[[Any], Any]:
    """Return a change that sets one field of the first case."""
    return lambda cases: [{**cases[0], key: value}, *cases[1:]]


BROKEN: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
    "a case is lost": (lambda cases: cases[:-1], {"count": 3}, "announces 3 cases and holds 2"),
    "another format": (
        lambda cases: cases,
        {"format": "pynested-vectors/9"},
        "reduction/sum.json: format: expected pynested-vectors/2",
    ),
    "another operator": (lambda cases: cases, {"op": "mean"}, "holds the cases of mean"),
    "an id twice": (lambda cases: [*cases, cases[0]], {}, "sum/float32/ragged/1: the id of 2 cases"),
    "a clause too many": (broken("clauses", ["SUM-999"]), {}, "SUM-999"),
    "no clause": (broken("clauses", []), {}, "sum.json: sum/float32/ragged/1: clauses: is empty"),
    "a strange layout": (broken("layouts", ["padded"]), {}, r"sum/float32/ragged/1: layouts\[0\]: expected one of"),
    "no layout": (broken("layouts", []), {}, "layouts: is empty"),
    "a strange field": (broken("expected", {}), {}, "has no field 'expected'"),
    "no call to accept": (
        lambda cases: cases[2:],
        {},
        "sum/float32/error/3: near: 'sum/float32/ragged/2' is no accepted",
    ),
    "a call that nobody takes": (
        broken("kwargs", {"axis": {"int": "1"}}),
        {},
        "sum/float32/ragged/1: args and kwargs: got an unexp",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_vectors_that_do_not_add_up(rewrite: Rewrite, name: str) -> None:
    change, header, text = BROKEN[name]
    with pytest.raises(KitError, match=text):
        load_corpus(rewrite(change, **header))


def test_a_file_that_is_cut_short(vectors: Path) -> None:
    path = vectors / "reduction" / "sum.json"
    path.write_text(path.read_text()[:-40])
    with pytest.raises(KitError, match="damaged vectors: reduction/sum.json: Unterminated string"):
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


def whole_numbers(cases: Any) -> Any:
    text = json.dumps(cases[:1]).replace("float32", "int32").replace("int32/ragged", "float32/ragged")
    return json.loads(text)


def test_a_gradient_for_what_has_none(rewrite: Rewrite) -> None:
    corpus = load_corpus(rewrite(whole_numbers))
    with pytest.raises(KitError, match="expects gradients for"):
        differentiated(corpus.cases[0], corpus.table["sum"])


def test_placements_that_no_operand_has(rewrite: Rewrite) -> None:
    """One that is all dense lies packed and nowhere else."""
    dense = {"args": [encode_value(np.float32([1, 2])), encode_value(0)], "expect": exact(np.array(3, np.float32))}

    def change(cases: Any) -> Any:
        case = {name: one for name, one in cases[1].items() if name != "kind"}
        return [{**case, **dense, "placements": ["holes"]}]

    with pytest.raises(KitError, match="its operands can lie in none of its placements, holes"):
        plan(load_corpus(rewrite(change)), Selection())


def test_a_quick_look_still_cites_every_clause_and_has_a_gradient_of_each_operator() -> None:
    corpus = load_corpus()
    whole, core = list(Selection().pick(corpus)), list(Selection(quick=True).pick(corpus))
    assert len(core) < len(whole) / 5 and all(case.id in corpus.core for case, _ in core)
    for shows in (lambda case: case.clauses, lambda case: [case.op] if case.gradient_expected else []):
        cited = [{(one, layout) for case, layout in part for one in shows(case)} for part in (whole, core)]
        assert cited[0] == cited[1]
    assert all(case.near is None or case.near in corpus.core for case, _ in core)
