"""Vectors on disk are read whole, and held against their form unless they are known to be as they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pynested.spec import corpus
from pynested.spec.corpus import read_vectors

from .test_forms import ACCEPTED, Json


def written(folder: Path, chapter: str = "movement", **changes: Any) -> Path:
    file = {"format": "pynested-vectors/2", "spec": "0.1", "op": "cat", "count": 1, "cases": [ACCEPTED], **changes}
    path = folder / chapter / "cat.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(file))
    return path


def test_a_file_is_read(tmp_path: Path) -> None:
    written(tmp_path)
    assert read_vectors(tmp_path) == {"cat": [ACCEPTED]}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": "pynested-vectors/9"}, "format: expected pynested-vectors/2, got 'pynested-vectors/9'"),
        ({"spec": 0.1}, "spec: expected 0.1"),
        ({"op": "stack"}, "holds the cases of stack"),
        ({"op": ["cat"]}, "op: expected text"),
        ({"count": 2}, "announces 2 cases and holds 1"),
        ({"count": "1"}, "count: expected an integer"),
        ({"cases": {}}, "cases: expected a list"),
        ({"cases": [7]}, r"cases\[0\]: expected an object"),
        ({"cases": [{}]}, "case 0: has no id"),
        ({"cases": [{**ACCEPTED, "near": 7}]}, "cat/float32/ragged/1: near: expected text"),
        ({"more": 1}, "has no field 'more'"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_name(tmp_path: Path, changes: Json, says: str) -> None:
    written(tmp_path, **changes)
    with pytest.raises(ValueError, match=rf"movement/cat.json: {says}"):
        read_vectors(tmp_path)


def test_a_file_that_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    path = written(tmp_path)
    for damage in (b"", b"\xff\xfe", b"[", b"[" * 100_000, path.read_bytes()[:-40]):
        path.write_bytes(damage)
        with pytest.raises(ValueError, match=r"movement/cat.json: "):
            read_vectors(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match=r"movement/cat.json: .*directory"):
        read_vectors(tmp_path)


def test_an_operator_has_one_file(tmp_path: Path) -> None:
    written(tmp_path)
    written(tmp_path, "other")
    with pytest.raises(ValueError, match=r"other/cat.json: another file holds the cases of cat too"):
        read_vectors(tmp_path)


def test_cases_that_came_later_follow_those_of_the_first_file(tmp_path: Path) -> None:
    first = written(tmp_path)
    later = first.with_name("cat.later.json")
    later.write_text(first.read_text(encoding="utf-8").replace("cat/float32/", "cat/float32/later-"), encoding="utf-8")
    ids = [case["id"] for case in read_vectors(tmp_path)["cat"]]
    half = len(ids) // 2
    assert half and ids[half:] == [one.replace("float32/", "float32/later-") for one in ids[:half]]


@pytest.fixture
def as_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of cases and one of programs in the place of the vectors of this specification, and their digest."""
    path = written(tmp_path)
    (tmp_path / "programs").mkdir()
    empty = {"format": "pynested-programs/1", "spec": "0.1", "chapter": "own", "count": 0, "programs": []}
    (tmp_path / "programs" / "own.json").write_text(json.dumps(empty))
    (tmp_path / corpus.DIGEST).write_text(f"{corpus.digest_of(tmp_path)}\n")
    monkeypatch.setattr(corpus, "_FOLDER", tmp_path)
    monkeypatch.setattr(corpus, "load_digest", corpus.load_digest.__wrapped__)
    monkeypatch.setattr(corpus.read_vectors, "__defaults__", (tmp_path,))
    monkeypatch.setattr(corpus.read_programs, "__defaults__", (tmp_path,))
    return path


def test_vectors_that_are_as_they_were_written_are_not_held_against_their_form_again(
    as_own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, programs = corpus.load_vectors.__wrapped__, corpus.load_programs.__wrapped__
    whole = load(), programs()
    assert whole == ({"cat": [ACCEPTED]}, {"own": []}) == (corpus.read_vectors(), corpus.read_programs())
    with monkeypatch.context() as patched:
        patched.setattr(corpus, "check", None)
        assert (load(), programs()) == whole
        as_own.with_name("stack.json").write_text("")
        with pytest.raises(TypeError):
            load()
        with pytest.raises(TypeError):
            programs()


@pytest.mark.parametrize("damaged", ["cat.json", "own.json", "SHA256", "SHA256 is gone", "another file"])
def test_vectors_of_another_digest_are_held_against_their_form(as_own: Path, damaged: str) -> None:
    folder = as_own.parents[1]
    as_own.write_text(as_own.read_text(encoding="utf-8").replace('"count": 1', '"count": 2'))
    (folder / corpus.DIGEST).write_text(f"{corpus.digest_of(folder)}\n")
    assert corpus.load_vectors.__wrapped__() == {"cat": [ACCEPTED]}  # the digest is believed
    if damaged == "SHA256":
        (folder / corpus.DIGEST).write_text("0" * 64)
    elif damaged == "SHA256 is gone":
        (folder / corpus.DIGEST).unlink()
    elif damaged == "another file":
        as_own.with_name("stack.json").write_text("{}")
    else:
        (path,) = folder.glob(f"*/{damaged}")
        path.write_text(path.read_text(encoding="utf-8") + "\n")
    with pytest.raises(ValueError, match=r"movement/cat.json: announces 2 cases and holds 1"):
        corpus.load_vectors.__wrapped__()


def test_the_digest_beside_the_vectors_is_theirs() -> None:
    own = Path(corpus.__file__).with_name("vectors")
    assert (own / corpus.DIGEST).read_text(encoding="utf-8") == f"{corpus.digest_of(own)}\n"
