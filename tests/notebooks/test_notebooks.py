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
    """Return the text of each cell of a kind."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def code(file: Path) -> str:
    """Return all code cells as one module; lines for the shell, which can fail unnoticed, are no Python."""
    return "\n\n".join(cells(file, "code"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_notebook_is_short_asserts_something_and_keeps_its_outputs(file: Path) -> None:
    notebook: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert all(cell["metadata"] in ({}, {"tags": ["varies"]}) for cell in notebook["cells"])
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code_cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code_cells] == [*range(1, len(code_cells) + 1)]
    outputs = [output for cell in code_cells for output in cell["outputs"]]
    assert outputs and not [output for output in outputs if output["output_type"] == "error"]
    prose = cells(file, "markdown")
    words = sum(len(cell.split()) for cell in prose)
    lines = sum(bool(line.strip()) for line in code(file).splitlines())
    assert words / 150 + lines / 15 < 12, "more than about ten minutes to read"
    assert prose[0].startswith("# ")
    nodes = ast.walk(ast.parse(code(file)))
    claims = [node for node in nodes if isinstance(node, ast.Assert) or "assert_close" in ast.dump(node)]
    assert claims, "a notebook that asserts nothing cannot fail when what it tells is no longer true"


def test_each_leads_to_the_next_and_the_page_to_all() -> None:
    assert [file.stem[:2] for file in FILES] == [f"{k + 1:02}" for k in range(len(FILES))] != []
    for file, following in pairwise(FILES):
        assert f"]({following.name})" in cells(file, "markdown")[-1]
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((.*\.ipynb)\)", page) == [file.name for file in FILES]
