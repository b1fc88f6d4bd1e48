"""The names of PyTorch that the table, the documentation and the pages give are names that it has."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import pynested as pn
from pynested.spec.table import load_table

torch = pytest.importorskip("torch")

NAMED = re.compile(r"`(torch(?!\.ops\.fbgemm)(?:\.\w+)+)")  # FBGEMM's operators are there with FBGEMM only


def found(name: str) -> Any:
    """What a dotted name means: a module as far as there is one, then attributes; None where there is no such thing."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        return reduce(lambda one, part: getattr(one, part, None), parts[count:], module)
    return None


def names() -> dict[str, str]:
    """Every name, and where it was found."""
    given = {operator.torch: f"{operator.name} of the table" for operator in load_table().values() if operator.torch}
    for public in pn.__all__:
        given |= dict.fromkeys(NAMED.findall(getattr(getattr(pn, public), "__doc__", "") or ""), f"pn.{public}")
    root = Path(__file__).parents[2]
    for page in (*root.glob("docs/*.md"), *root.glob("spec/chapters/*.md"), root / "README.md"):
        given |= dict.fromkeys(NAMED.findall(page.read_text(encoding="utf-8")), page.name)
    return given


def test_every_name_is_there() -> None:
    given = names()
    assert len(given) > 100
    assert {name: where for name, where in given.items() if found(name) is None} == {}


def test_one_that_is_not_is_noticed() -> None:
    assert found("torch.nn.attention.flex_attention.create_nested_block_mask") is None
    assert found("torch.nowhere.at_all") is None
    assert found("torch.nn.functional.softmax") is torch.nn.functional.softmax
