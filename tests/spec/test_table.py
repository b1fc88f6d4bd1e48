from __future__ import annotations

from pathlib import Path

import pytest

from pynested.spec.table import FAMILIES, chapters, clause, clauses, load_table, read_tables

TABLE = """
[double]
signature = "double(self: Nested | Array) -> Nested | Array"
summary = "x + x."
since = "0.1"
precision = "exact"
differentiable = ["self"]

[double.clauses]
DOUBLE-1 = { class = "value", text = "Each element is added to itself." }
DOUBLE-2 = { class = "error", kind = "DTypeError", text = "Bools are refused." }
"""


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_table_knows_every_operator_of_the_first_version() -> None:
    operators = [operator for operator in load_table().values() if not operator.is_idea]
    assert {"softmax", "exp", "cross_entropy"} < {operator.name for operator in operators}
    assert load_table()["softmax"].chapter == "normalization"
    assert load_table()["softmax"].differentiable == ("self",)


def test_a_signature_says_what_an_operator_takes(tmp_path: Path) -> None:
    narrow = load_table()["narrow"].call
    assert list(narrow.parameters)[:2] == ["array", "dim"] and narrow.bind(1, 1, 0, 2)
    text = TABLE.replace("(self: Nested | Array)", "(self: Nested, *sizes: int, dim: int = 1, layout: Layout)")
    double = read_tables(folder(tmp_path, doubling=text))["double"].call
    assert double.bind(1, 2, 3, layout=4).arguments == {"self": 1, "sizes": (2, 3), "layout": 4}
    with pytest.raises(TypeError, match="missing a required"):
        double.bind(1, 2)


@pytest.mark.parametrize("signature", ["double(self", "twice(self) -> Array", "double", ""])
def test_a_signature_that_is_none_is_said_to_be(tmp_path: Path, signature: str) -> None:
    text = TABLE.replace("double(self: Nested | Array) -> Nested | Array", signature)
    with pytest.raises(ValueError, match="double: the signature"):
        _ = read_tables(folder(tmp_path, doubling=text))["double"].call


def test_chapters_are_ideas_and_then_families() -> None:
    assert chapters()[: -len(FAMILIES)] == tuple(name for name, one in load_table().items() if one.is_idea)
    assert chapters()[-len(FAMILIES) :] == FAMILIES


def test_a_clause_is_found_by_its_id() -> None:
    assert clause("SOFTMAX-4").error == "DimensionError"
    assert clause("SOFTMAX-4") is clauses()["SOFTMAX-4"]
    with pytest.raises(KeyError, match="SOFTMAX-99"):
        clause("SOFTMAX-99")


def test_a_table_is_read(tmp_path: Path) -> None:
    (operator,) = read_tables(folder(tmp_path, elementwise=TABLE), {}).values()
    assert (operator.name, operator.chapter, operator.torch, operator.peers) == ("double", "elementwise", "", {})
    assert [one.kind_class for one in operator.clauses] == ["value", "error"]


def test_ideas_hold_clauses_only(tmp_path: Path) -> None:
    text = '[order]\n[order.clauses]\nORDER-1 = { class = "value", text = "Order is kept." }\n'
    assert read_tables(folder(tmp_path, ideas=text))["order"].is_idea
    with pytest.raises(ValueError, match="missing"):
        read_tables(folder(tmp_path, elementwise=text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('since = "0.1"', 'sins = "0.1"'),
        ("summary", "abstract"),
        ('class = "error", kind', 'class = "error", sort'),
        ('class = "value", ', ""),
    ],
)
def test_unknown_and_missing_fields_are_refused(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(ValueError, match="unknown fields"):
        read_tables(folder(tmp_path, elementwise=TABLE.replace(old, new)))


def test_an_operator_has_one_table(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="already a table"):
        read_tables(folder(tmp_path, elementwise=TABLE, reduction=TABLE))


# Clauses that are no longer there; their numbers are not used again.
RETIRED = {
    "ARGMAX-8", "ARGMIN-8", "ATANH-4", "DROPOUT-2", "DROPOUT-7", "DTYPES-2", "EMBEDDING-7", "NARROW-5",
    "TAPE-8",
}  # fmt: skip


@pytest.mark.parametrize("name", load_table())
def test_clauses_are_numbered_without_the_retired_ones(name: str) -> None:
    ids = [one.id for one in load_table()[name].clauses]
    prefix = ids[0].rpartition("-")[0]
    last = max(int(one.rpartition("-")[2]) for one in ids)
    assert ids == [one for number in range(1, last + 1) if (one := f"{prefix}-{number}") not in RETIRED]
