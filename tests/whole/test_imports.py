"""The floors of the house: an import goes down a floor or sideways in its own folder, never up, never in a circle."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

FLOORS = {
    "pynested._checkout": 0,
    "pynested._version": 0,
    "pynested.backends": 1,
    "pynested.spec": 1,
    "pynested.autograd": 2,
    "pynested": 3,  # whatever has no floor of its own
    "pynested.conformance": 4,
    "pynested.fuzzing": 4,
    "pynested.graph": 4,
    "pynested.interchange": 4,
    "pynested.notebook": 4,
    "pynested.pictures": 4,
    "pynested.timelines": 4,
    "pynested.training": 4,
    "pynested.cli": 4,
    "pynested.pytest_plugin": 4,
    "pynested.__main__": 4,
}
FACADE = "pynested"  # pynested/__init__.py: shows everything, so only the top floor may look at it
ABSOLUTE = {FACADE, "pynested.__main__"}  # the two that Python itself may start from
STUBS = {"pynested.nested.operator_methods", "pynested.autograd.operator_methods"}  # for type checkers only
TOP = 4
MAPPED = ("autograd", "backends", "spec")
OPTIONAL = {"awkward", "cupy", "dask", "distributed", "jax", "matplotlib", "tensorflow", "torch"}


class Import(NamedTuple):
    """One module that a file imports, and how it says so."""

    module: str
    target: str
    relative: bool
    place: str


class Circle(Exception):
    """Modules of which each imports the next, and the last the first."""


def floor(module: str) -> int:
    if module == FACADE:
        return TOP
    owner = max((name for name in FLOORS if f"{module}.".startswith(f"{name}.")), key=len)
    return FLOORS[owner]


def folder(module: str) -> str:
    """Return which of the four folders a module is in."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAPPED else "pynested"


def imports(module: str, file: Path, known: dict[str, Path]) -> Iterator[Import]:
    return found_in(module, file, ast.parse(file.read_text(encoding="utf-8")), known)


def found_in(module: str, file: Path, tree: ast.AST, known: dict[str, Path]) -> Iterator[Import]:
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        place = f"{file}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(module, name.name, False, place)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(
                    [*package.split(".")[: len(package.split(".")) - node.level + 1], *filter(None, [base])]
                )
            for name in node.names:
                full = f"{base}.{name.name}"
                yield Import(module, full if full in known else base, bool(node.level), place)


@pytest.fixture(scope="module")
def every(modules: dict[str, Path]) -> list[Import]:
    """Everything that our modules import."""
    return [found for module, file in modules.items() for found in imports(module, file, modules)]


@pytest.fixture(scope="module")
def ours(every: list[Import]) -> list[Import]:
    return [found for found in every if found.target.split(".")[0] == "pynested"]


def test_imports_go_down_or_sideways(ours: list[Import]) -> None:
    wrong = [
        f"{found.place}: {found.module} imports {found.target}"
        for found in ours
        if floor(found.target) > floor(found.module)
        or (floor(found.target) == floor(found.module) and folder(found.target) != folder(found.module))
    ]
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def needed(module: str, file: Path, known: dict[str, Path]) -> set[str]:
    """Return our modules that a file imports at any time, inside functions too, but for type checkers only."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    return {found.target for found in found_in(module, file, tree, known) if found.target in known} - {module}


def in_order(edges: dict[str, set[str]]) -> list[str]:
    """Return modules so that each comes after what it imports; a circle is refused."""
    order: list[str] = []
    path: list[str] = []

    def visit(module: str) -> None:
        if module in path:
            raise Circle(" -> ".join([*path[path.index(module) :], module]))
        if module not in order:
            path.append(module)
            for target in sorted(edges[module]):
                visit(target)
            order.append(path.pop())

    for module in sorted(edges):
        visit(module)
    return order


def test_imports_form_no_circle(modules: dict[str, Path]) -> None:
    edges = {module: needed(module, file, modules) for module, file in modules.items()}
    assert len(in_order(edges)) == len(modules)


def test_a_circle_is_found(tmp_path: Path) -> None:
    """Also one that a function closes; an import for type checkers closes none."""
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    known = {"pynested.one": one, "pynested.other": other}
    one.write_text("from .other import x\n", encoding="utf-8")
    for text, circle in (
        ("def f():\n    from . import one\n", True),
        ("if TYPE_CHECKING:\n    from . import one\nelse:\n    one = None\n", False),
    ):
        other.write_text(text, encoding="utf-8")
        edges = {module: needed(module, file, known) for module, file in known.items()}
        if circle:
            with pytest.raises(Circle, match="one -> pynested.other -> pynested.one"):
                in_order(edges)
        else:
            assert in_order(edges) == ["pynested.other", "pynested.one"]


def test_imports_are_relative_to_a_sibling_and_absolute_across_folders(
    ours: list[Import], modules: dict[str, Path]
) -> None:
    wrong = []
    for found in ours:
        across = folder(found.module) != folder(found.target)
        if found.module in ABSOLUTE or found.target in STUBS:
            continue
        if found.target not in modules:
            wrong.append(f"{found.place}: there is no {found.target}")
            continue
        siblings = modules[found.module].parent == modules[found.target].parent and found.target != FACADE
        if (siblings and not found.relative) or (across and found.relative):
            wrong.append(f"{found.place}: {found.target} is {'a sibling' if siblings else 'in another folder'}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def test_the_specification_needs_numpy_and_the_standard_library_only(every: list[Import]) -> None:
    wrong = []
    for found in (one for one in every if folder(one.module) == "spec"):
        allowed = {"numpy", "pynested"} | ({"mpmath"} if found.module.startswith("pynested.spec.generator") else set())
        name = found.target.split(".")[0]
        outside = name == "pynested" and folder(found.target) != "spec"
        if outside or not (name in allowed or name in sys.stdlib_module_names):
            wrong.append(f"{found.place}: {found.target}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def test_optional_packages_are_imported_only_where_they_are_used(modules: dict[str, Path]) -> None:
    wrong = []
    for module, file in modules.items():
        if ".adapters." in module:
            continue
        for node in at_module_level(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            if OPTIONAL & {name.split(".")[0] for name in names}:
                wrong.append(f"{file}:{node.lineno}: {', '.join(names)}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def at_module_level(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run when the module is imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "level", 0) == 0:
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from at_module_level(node)


def test_what_draws_is_imported_when_it_is_asked_for() -> None:
    code = """if True:
        import sys
        import pynested as pn
        drawing = [name for name in sys.modules if name.startswith("pynested.pictures")]
        assert not drawing, drawing
        assert pn.pictures.picture(pn.array([1.0])).svg.startswith("<svg")
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_scipy_is_imported_when_it_is_needed() -> None:
    code = """if True:
        import math
        import sys
        import pynested as pn
        early = [name for name in sys.modules if name.split(".")[0] in {"scipy", "zoneinfo", "unittest"}]
        assert not early, early
        assert abs(pn.erf(pn.array([0.5])).item() - math.erf(0.5)) < 1e-15
        assert "scipy.special" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_floors_can_be_broken(tmp_path: Path) -> None:
    upward = tmp_path / "storage.py"
    upward.write_text("def f():\n    from pynested.autograd import tape\n", encoding="utf-8")
    known = {"pynested.backends.storage": upward, "pynested.autograd.tape": upward}
    (found,) = imports("pynested.backends.storage", upward, known)
    assert found.target == "pynested.autograd.tape"
    assert floor(found.target) > floor(found.module)
