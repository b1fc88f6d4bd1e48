"""Operators do not ask for the layout: the structure, the drivers of `pynested/lifting` and the aligner do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

LAYOUTS = {"Jagged", "Strided", "jagged", "strided"}
# Each of these takes another way in each layout, to the same components; what is not here is no question of theirs.
ALLOWED = {
    "padding._padded": "rows of one length are padded as segments, all else is padded element by element",
    "getitem._select_by_mask": "selected elements are jagged if the ragged dimension is among those of the mask",
    "joining.cat": "arrays of one ragged dimension are joined as values, all others in flat buffers",
    "flattening.flatten": "jagged segments are scaled by the width of the values, which no structure knows",
    "matmul_dispatch._product_ragged_dim": "the product of a strided operand is strided",
    "reshaping._reshape_nested": "jagged values take the shape themselves, a strided buffer has none",
}


def names(node: ast.AST) -> set[str]:
    """Return every name in an expression, also behind a dot."""
    return {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(node)}


def asks(node: ast.AST) -> bool:
    """Whether an expression asks for the layout: for its class, its name, or whether there is a ragged dimension."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        return bool(names(node.args[1]) & LAYOUTS)
    if not isinstance(node, ast.Compare):
        return False
    for_none = any(isinstance(side, ast.Constant) and side.value is None for side in node.comparators)
    words = names(node)
    return bool(words & LAYOUTS) or (for_none and any(word.startswith("ragged") for word in words))


def questions(file: Path) -> Iterator[str]:
    """Yield the function, with its module, of every question for the layout."""
    for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            yield from (f"{file.stem}.{function.name}" for node in ast.walk(function) if asks(node))


def test_operators_leave_the_layout_to_others(root: Path) -> None:
    found = [one for file in sorted((root / "pynested" / "operators").rglob("*.py")) for one in questions(file)]
    assert sorted(found) == sorted(ALLOWED), (
        "Operators do not ask which layout an array has. What becomes of a structure is a method of Jagged and Strided "
        "(pynested/structure), what becomes of the values follows from with_structure and apply_view "
        "(nested/component_views.py); segments are for along (lifting/along_dim.py), elements for map_elementwise "
        "(lifting/mapping.py)."
    )


def test_questions_are_found(tmp_path: Path) -> None:
    file = tmp_path / "asking.py"
    ways = ["isinstance(x.structure, Jagged)", "isinstance(s, (s.Strided, int))", "type(s) is Jagged"]
    ways += ["x.layout is strided", "x.structure.ragged_dim is None"]
    file.write_text("".join(f"def f{i}():\n    return {way}\n" for i, way in enumerate(ways)), encoding="utf-8")
    assert list(questions(file)) == [f"asking.f{i}" for i in range(len(ways))]
    file.write_text("def f():\n    return isinstance(x, NestedArray) and dim == s.ragged_dim\n", encoding="utf-8")
    assert list(questions(file)) == []
