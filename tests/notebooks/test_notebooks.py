"""Notebooks are kept with their outputs, can be read in ten minutes, and lead to one another; CI executes them."""

from __future__ import annotations

import ast
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
FILES = sorted(FOLDER.glob("*.ipynb"))


def cells(file: Path, kind: str) -> list[str]:
    found = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def code(file: Path) -> str:
    """All code cells as one module. Lines for the shell are no Python, and fail without a word: there are none."""
    return "\n\n".join(cells(file, "code"))


def test_there_are_notebooks() -> None:
    assert [file.stem[:2] for file in FILES] == [f"{k + 1:02}" for k in range(len(FILES))] != []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_outputs_are_kept_in_order_and_without_errors(file: Path) -> None:
    notebook: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert all(cell["metadata"] in ({}, {"tags": ["varies"]}) for cell in notebook["cells"])
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code_cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code_cells] == [*range(1, len(code_cells) + 1)]
    outputs = [output for cell in code_cells for output in cell["outputs"]]
    assert outputs and not [output for output in outputs if output["output_type"] == "error"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_is_read_in_ten_minutes(file: Path) -> None:
    """At 150 words of prose a minute, and ten lines of code."""
    words = sum(len(cell.split()) for cell in cells(file, "markdown"))
    lines = sum(bool(line.strip()) for line in code(file).splitlines())
    assert words / 150 + lines / 15 < 12
    assert cells(file, "markdown")[0].startswith("# ")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_code_is_python_and_holds_what_it_says(file: Path) -> None:
    tree = ast.parse(code(file))
    claims = [node for node in ast.walk(tree) if isinstance(node, ast.Assert) or "assert_close" in ast.dump(node)]
    assert claims, "a notebook that asserts nothing cannot fail when what it tells is no longer true"


def test_each_leads_to_the_next_and_the_page_to_all() -> None:
    for file, following in pairwise(FILES):
        assert f"]({following.name})" in cells(file, "markdown")[-1]
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((.*\.ipynb)\)", page) == [file.name for file in FILES]
