"""Import rules: an import goes down a floor or sideways in its own folder, never up, and never in a cycle."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

TOP = 4
SERVICES = "cli conformance fuzzing graph html_repr interchange pictures profiling pytest_plugin training __main__"
FLOORS = {"_checkout": 0, "_version": 0, "backends": 1, "spec": 1, "autograd": 2} | dict.fromkeys(SERVICES.split(), TOP)
OTHERS = 3  # the floor of every other module of `pynested`
FACADE = "pynested"  # pynested/__init__.py imports everything, so only the top floor may import it
ABSOLUTE = {FACADE, "pynested.__main__"}  # the two that Python itself may start from
ANNOTATED = "pynested.autograd.array_methods."  # its annotations name classes of higher floors, for type checkers only
MAPPED = ("autograd", "backends", "spec")


class Import(NamedTuple):
    """A module that a file imports.

    Attributes
    ----------
    is_for_types : whether only type checkers run the import
    """

    module: str
    target: str
    is_relative: bool
    is_for_types: bool
    place: str


def floor(module: str) -> int:
    return TOP if module == FACADE else FLOORS.get(module.split(".")[1], OTHERS)


def folder(module: str) -> str:
    """Return which of the four folders a module is in."""
    return next((name for name in MAPPED if f"{module}.".startswith(f"pynested.{name}.")), "pynested")


def imports(module: str, file: Path, known: dict[str, Path]) -> Iterator[Import]:
    """Yield the imports of a file, those in functions among them."""
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    for_types = {
        node
        for block in nodes
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in nodes:
        if isinstance(node, ast.Import):
            targets = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            full = [f"{base}.{name.name}" for name in node.names]
            targets = [name if name in known else base for name in full]
        else:
            continue
        is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
        for target in targets:
            yield Import(module, target, is_relative, node in for_types, f"{file}:{node.lineno}")


@pytest.fixture(scope="module")
def every(modules: dict[str, Path]) -> list[Import]:
    """Return all imports of our modules."""
    return [each for module, file in modules.items() for each in imports(module, file, modules)]


@pytest.fixture(scope="module")
def ours(every: list[Import]) -> list[Import]:
    return [each for each in every if each.target.split(".")[0] == "pynested"]


def test_imports_go_down_or_sideways(ours: list[Import]) -> None:
    """An import goes to a lower floor, or stays in its folder; annotations may name classes of higher floors."""

    def is_upward(each: Import) -> bool:
        source, target = floor(each.module), floor(each.target)
        return target > source or (target == source and folder(each.target) != folder(each.module))

    upward = [each for each in ours if is_upward(each)]
    assert [each for each in upward if not (each.is_for_types and each.module.startswith(ANNOTATED))] == []


def test_imports_form_no_cycle(ours: list[Import], modules: dict[str, Path]) -> None:
    """In the folders besides `pynested` imports for type checkers count as well."""
    edges: dict[str, set[str]] = {module: set() for module in modules}
    for each in ours:
        may_be_cyclic = folder(each.module) == "pynested" or each.module.startswith(ANNOTATED)
        if each.target in modules and each.target != each.module and not (each.is_for_types and may_be_cyclic):
            edges[each.module].add(each.target)
    TopologicalSorter(edges).prepare()


def test_imports_are_relative_to_a_sibling_and_absolute_across_folders(
    ours: list[Import], modules: dict[str, Path]
) -> None:
    def is_wrong(import_: Import) -> bool:
        if import_.module in ABSOLUTE:
            return False
        if import_.target not in modules:
            return True
        are_siblings = modules[import_.module].parent == modules[import_.target].parent and import_.target != FACADE
        is_across = folder(import_.module) != folder(import_.target)
        return (are_siblings and not import_.is_relative) or (is_across and import_.is_relative)

    assert [each for each in ours if is_wrong(each)] == []


def test_the_specification_needs_numpy_and_the_standard_library_only(every: list[Import]) -> None:
    def is_wrong(import_: Import) -> bool:
        name = import_.target.split(".")[0]
        if name == "pynested":
            return folder(import_.target) != "spec"
        is_generator = import_.module.startswith("pynested.spec.generator")
        return name not in {"numpy", *sys.stdlib_module_names, *(["mpmath"] if is_generator else [])}

    assert [each for each in every if folder(each.module) == "spec" and is_wrong(each)] == []


@pytest.mark.parametrize(("names", "use"), [
    ({"pynested.pictures"}, "assert pn.pictures.picture(pn.array([1.0])).svg.startswith('<svg')"),
    ({"scipy", "zoneinfo", "unittest"}, "assert abs(pn.erf(pn.array([0.5])).item() - math.erf(0.5)) < 1e-15"),
])  # fmt: skip
def test_large_modules_are_imported_at_their_first_use(names: set[str], use: str) -> None:
    code = f"""if True:
        import math
        import sys
        import pynested as pn
        early = [name for name in sys.modules if any(f"{{name}}.".startswith(f"{{large}}.") for large in {names})]
        assert not early, early
        {use}
    """
    subprocess.run([sys.executable, "-c", code], check=True)
