"""Vectors damaged by dice: the kit says what is damaged, or it runs them; it never fails over them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pynested.cli import main
from pynested.spec.corpus import load_vectors

from .mutations import mutated, torn

# Small cases of operators that take and give every form there is.
OPERATORS = ("amax", "cat", "equal", "getitem", "mean", "nested_array", "nested_array_from_strided", "unbind")
CHANGES = 320


def cases_of(op: str) -> list[Any]:
    """The shortest case of each kind: with a gradient, without, refused; and the call next to the one refused."""
    cases = sorted(load_vectors()[op], key=lambda case: len(json.dumps(case)))
    kinds = {("error" in case["expect"], "gradient" in case): case for case in reversed(cases)}
    chosen = {case["id"]: case for case in kinds.values()}
    near = {case.get("near") for case in kinds.values()}
    return [*(case for case in cases if case["id"] in near and case["id"] not in chosen), *chosen.values()]


def write(folder: Path, op: str, cases: Any, **header: Any) -> Path:
    path = folder / "chapter" / f"{op}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    file = {"format": "pynested-vectors/2", "spec": "0.1", "op": op, "count": len(cases), "cases": cases}
    path.write_text(json.dumps({**file, **header}))
    return path


@pytest.mark.parametrize("op", OPERATORS)
def test_damage_is_said_or_does_not_matter(op: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dice, codes = random.Random(op), set()
    path = write(tmp_path, op, cases_of(op))
    whole, file = path.read_bytes(), json.loads(path.read_bytes())
    code = main(["conform", "--vectors", str(tmp_path)])
    assert code == 0, capsys.readouterr().out
    capsys.readouterr()
    for number in range(CHANGES // len(OPERATORS)):
        text = torn(whole, dice) if number % 4 == 0 else json.dumps(mutated(file, dice)).encode()
        path.write_bytes(text)
        code = main(["conform", "--vectors", str(tmp_path)])
        codes.add(code)
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err, text
        if code == 3:
            assert shown.err.startswith("pynested conform: the kit is inconsistent: ") and f"{op}" in shown.err
            assert shown.err.count("\n") == 1 and not shown.out, text
    assert 3 in codes and codes & {0, 1} and codes <= {0, 1, 2, 3}
