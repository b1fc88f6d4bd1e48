"""Names of PyTorch in the table, docstrings and pages exist, and its operators that write in place are methods."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import pynested as pn
from pynested import operators
from pynested.spec.table import load_table

torch = pytest.importorskip("torch")

NAMED = re.compile(r"`(torch(?!\.ops\.fbgemm)(?:\.\w+)+)")  # FBGEMM's operators come with FBGEMM only
NO_WRITES = {"detach", "squeeze", "transpose", "unsqueeze"}  # which change a shape or what is recorded, no numbers


def exists(name: str) -> bool:
    """Return whether a dotted name is a module, or an attribute of a module."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        return reduce(lambda value, part: getattr(value, part, None), parts[count:], module) is not None
    return False


def test_every_name_exists() -> None:
    texts = {f"pn.{name}": getattr(getattr(pn, name), "__doc__", "") or "" for name in pn.__all__}
    root = Path(__file__).parents[2]
    for page in (*root.glob("docs/*.md"), *root.glob("spec/chapters/*.md"), root / "README.md"):
        texts[page.name] = page.read_text(encoding="utf-8")
    names = {operator.torch: f"{operator.name} of the table" for operator in load_table().values() if operator.torch}
    for where, text in texts.items():
        names |= dict.fromkeys(NAMED.findall(text), where)
    assert len(names) > 100
    assert {name: where for name, where in names.items() if not exists(name)} == {}


def test_operators_that_write_in_place_in_pytorch_are_methods() -> None:
    schemas = (schema.name for schema in torch._C._jit_get_all_schemas())
    names: set[Any] = {*dir(torch.Tensor), *(name.removeprefix("aten::") for name in schemas if name[:6] == "aten::")}
    theirs = {name[:-1] for name in names if name.endswith("_") and not name.startswith("_")} & set(operators.__all__)
    assert {"add", "gelu", "sgn", "clamp", *NO_WRITES} <= theirs
    assert {
        name for name in theirs for kind in (pn.Array, pn.NestedArray) if not hasattr(kind, f"{name}_")
    } == NO_WRITES
