"""Import rules: an import goes down a floor or sideways in its own folder, never up, and never in a cycle."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

FLOORS = {
    "pynested._checkout": 0,
    "pynested._version": 0,
    "pynested.backends": 1,
    "pynested.spec": 1,
    "pynested.autograd": 2,
    "pynested": 3,  # every module without a floor of its own
    "pynested.conformance": 4,
    "pynested.fuzzing": 4,
    "pynested.graph": 4,
    "pynested.interchange": 4,
    "pynested.notebook": 4,
    "pynested.pictures": 4,
    "pynested.profiling": 4,
    "pynested.training": 4,
    "pynested.cli": 4,
    "pynested.pytest_plugin": 4,
    "pynested.__main__": 4,
}
FACADE = "pynested"  # pynested/__init__.py imports everything, so only the top floor may import it
ABSOLUTE = {FACADE, "pynested.__main__"}  # the two that Python itself may start from
ANNOTATED = "pynested.autograd.array_methods."  # its annotations name classes of higher floors, for type checkers only
TOP = 4
MAPPED = ("autograd", "backends", "spec")
OPTIONAL = {"awkward", "cupy", "dask", "distributed", "jax", "matplotlib", "tensorflow", "torch"}
NOW, LATER, NEVER = "at import", "at a call", "for type checkers"


class Import(NamedTuple):
    """A module that a file imports, and when."""

    module: str
    target: str
    is_relative: bool
    when: str
    place: str


def floor(module: str) -> int:
    if module == FACADE:
        return TOP
    owner = max((name for name in FLOORS if f"{module}.".startswith(f"{name}.")), key=len)
    return FLOORS[owner]


def folder(module: str) -> str:
    """Return which of the four folders a module is in."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAPPED else "pynested"


def statements(node: ast.AST, when: str = NOW) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Yield the import statements in a node, and when they run."""
    when = LATER if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else when
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            now = NEVER if is_for_type_checkers(node, name) else when
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child, now
            elif isinstance(child, ast.AST):
                yield from statements(child, now)


def is_for_type_checkers(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.If) and name == "body" and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(module: str, file: Path, known: dict[str, Path]) -> Iterator[Import]:
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    for node, when in statements(ast.parse(file.read_text(encoding="utf-8"))):
        place = f"{file}:{node.lineno}"
        if isinstance(node, ast.Import):
            yield from (Import(module, name.name, False, when, place) for name in node.names)
            continue
        above = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*above, *filter(None, [node.module])])
        for name in node.names:
            full = f"{base}.{name.name}"
            yield Import(module, full if full in known else base, bool(node.level), when, place)


@pytest.fixture(scope="module")
def every(modules: dict[str, Path]) -> list[Import]:
    """Return all imports of our modules."""
    return [found for module, file in modules.items() for found in imports(module, file, modules)]


@pytest.fixture(scope="module")
def ours(every: list[Import]) -> list[Import]:
    return [found for found in every if found.target.split(".")[0] == "pynested"]


def assert_none(wrong: list[Import]) -> None:
    lines = [f"{found.place}: {found.module} imports {found.target}" for found in wrong]
    assert not lines, "\n".join(dict.fromkeys(lines))


def is_upward(found: Import) -> bool:
    """Return whether an import goes up a floor, or into another folder of the same floor."""
    own, other = floor(found.module), floor(found.target)
    return other > own or (other == own and folder(found.target) != folder(found.module))


def test_imports_go_down_or_sideways(ours: list[Import]) -> None:
    wrong = [found for found in ours if is_upward(found)]
    assert_none([one for one in wrong if not (one.when == NEVER and one.module.startswith(ANNOTATED))])


def check_cycles(found: list[Import], known: dict[str, Path]) -> None:
    """Raise a `CycleError` if modules import each other, inside functions too, but for type checkers."""
    edges: dict[str, set[str]] = {module: set() for module in known}
    for one in found:
        if one.target in known and one.target != one.module and one.when != NEVER:
            edges[one.module].add(one.target)
    TopologicalSorter(edges).prepare()


def test_imports_form_no_cycle(ours: list[Import], modules: dict[str, Path]) -> None:
    check_cycles(ours, modules)


def test_imports_are_relative_to_a_sibling_and_absolute_across_folders(
    ours: list[Import], modules: dict[str, Path]
) -> None:
    def is_wrong(found: Import) -> bool:
        if found.module in ABSOLUTE:
            return False
        if found.target not in modules:
            return True
        are_siblings = modules[found.module].parent == modules[found.target].parent and found.target != FACADE
        is_across = folder(found.module) != folder(found.target)
        return (are_siblings and not found.is_relative) or (is_across and found.is_relative)

    assert_none([found for found in ours if is_wrong(found)])


def test_the_specification_needs_numpy_and_the_standard_library_only(every: list[Import]) -> None:
    def is_wrong(found: Import) -> bool:
        name = found.target.split(".")[0]
        if name == "pynested":
            return folder(found.target) != "spec"
        is_generator = found.module.startswith("pynested.spec.generator")
        return name not in {"numpy", *sys.stdlib_module_names, *(["mpmath"] if is_generator else [])}

    assert_none([found for found in every if folder(found.module) == "spec" and is_wrong(found)])


def test_optional_packages_are_imported_only_in_functions_that_use_them(every: list[Import]) -> None:
    early = [found for found in every if found.when != LATER and found.target.split(".")[0] in OPTIONAL]
    assert_none([found for found in early if not found.is_relative and ".adapters." not in found.module])


@pytest.mark.parametrize(
    ("names", "use"),
    [
        ({"pynested.pictures"}, "assert pn.pictures.picture(pn.array([1.0])).svg.startswith('<svg')"),
        ({"scipy", "zoneinfo", "unittest"}, "assert abs(pn.erf(pn.array([0.5])).item() - math.erf(0.5)) < 1e-15"),
    ],
)
def test_large_modules_are_imported_at_their_first_use(names: set[str], use: str) -> None:
    code = f"""if True:
        import math
        import sys
        import pynested as pn
        early = [name for name in sys.modules if any(f"{{name}}.".startswith(f"{{one}}.") for one in {names})]
        assert not early, early
        {use}
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_wrong_imports_are_found(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    known = {"pynested.backends.one": one, "pynested.autograd.other": other}
    one.write_text("def f():\n    from pynested.autograd import other\n", encoding="utf-8")
    (upward,) = imports("pynested.backends.one", one, known)
    assert is_upward(upward) and (upward.target, upward.when) == ("pynested.autograd.other", LATER)
    for text in (
        "from pynested.backends import one\n",
        "if TYPE_CHECKING:\n    from pynested.backends import one\nelse:\n    one = None\n",
    ):
        other.write_text(text, encoding="utf-8")
        (back,) = imports("pynested.autograd.other", other, known)
        assert not is_upward(back)
        if back.when == NOW:
            with pytest.raises(CycleError):
                check_cycles([upward, back], known)
        else:
            check_cycles([upward, back], known)
