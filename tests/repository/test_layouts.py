"""Operators do not ask for the layout: the structure, the drivers of `pynested/lifting` and the aligner do."""

from __future__ import annotations

import ast
from pathlib import Path

LAYOUTS = {"Jagged", "Strided", "jagged", "strided"}
# Functions that compute the same components in another way for each layout, and the reason.
ALLOWED = {
    "padding._padded": "rows of one length are padded as segments, all else is padded element by element",
    "getitem._select_by_mask": "selected elements are jagged if the ragged dimension is among those of the mask",
    "joining.cat": "arrays of one ragged dimension are joined as values, all others in flat buffers",
    "flattening.flatten": "jagged segments are scaled by the width of the values, which no structure knows",
    "matmul_dispatch._product_ragged_dim": "the product of a strided operand is strided",
    "reshaping._reshape_nested": "jagged values take the shape themselves, a strided buffer has none",
}


def asks_for_the_layout(node: ast.AST) -> bool:
    """Return whether an expression looks at the class of a layout, at its name, or for a ragged dimension of None."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        words, for_none = names(node.args[1]), False
    elif isinstance(node, ast.Compare):
        sides = node.comparators
        words, for_none = names(node), any(isinstance(side, ast.Constant) and side.value is None for side in sides)
    else:
        return False
    return bool(words & LAYOUTS) or (for_none and any(word.startswith("ragged") for word in words))


def names(node: ast.AST) -> set[str]:
    """Return every name in an expression, also behind a dot."""
    return {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}


def test_operators_leave_the_layout_to_others(root: Path) -> None:
    questions = [
        f"{file.stem}.{function.name}"
        for file in (root / "pynested" / "operators").rglob("*.py")
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if asks_for_the_layout(node)
    ]
    assert sorted(questions) == sorted(ALLOWED), (
        "Operators do not ask which layout an array has. What becomes of a structure is a method of Jagged and Strided "
        "(pynested/structure), what becomes of the values follows from with_structure and apply_view "
        "(nested/component_views.py); segments are for along (lifting/along_dim.py), elements for map_elementwise "
        "(lifting/mapping.py)."
    )
