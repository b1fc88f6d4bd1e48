"""All code of the pages and of the Markdown cells of notebooks is run.

Fenced Python is run: examples with prompts by doctest, blocks with tests by pytest, and all else as a program, the
blocks of a page one after the other in one namespace. What a page imports may have to be installed. Signatures in the
chapters of the specification are written from the table. Commands of `pynested` in other blocks may name adapters and
hosts that are absent: they are parsed, and those of `console` run by `test_readme`. Other commands install packages and
start servers, and are left alone.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pynested.cli import parser

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:\A|\n)\n((?:(?: {4}.*)\n(?:\n(?= {4}))?)+)")
PYTHON = re.compile(r"^\s*(import \w|from \w+.* import |def \w|@\w|>>> |assert |with \w|\w+ = pn\.)", re.MULTILINE)
OPTIONAL = {"torch", "pyarrow", "awkward", "tensorflow", "jax", "pandas", "cupy", "dask"}
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")


def cells(file: Path, kind: str) -> str:
    found = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in found if cell["cell_type"] == kind)


def pages() -> dict[str, str]:
    """The text of every page in Markdown, and the Markdown of every notebook."""
    files = [*ROOT.glob("*.md"), *(one for folder in ("docs", "spec", "notebooks", "benchmarks", "backends", "autograd")
                                   for one in (ROOT / folder).rglob("*.md"))]  # fmt: skip
    found = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}
    return found | {f"notebooks/{file.name}": cells(file, "markdown") for file in (ROOT / "notebooks").glob("*.ipynb")}


PAGES = pages()
FENCES = {name: FENCED.findall(text) for name, text in PAGES.items()}
CODE = {
    name: "".join(code for language, code in found if language in ("python", "pycon")) for name, found in FENCES.items()
}


def imported(code: str) -> set[str]:
    return OPTIONAL & set(re.findall(r"^(?:>>> )?(?:import|from) (\w+)", code, re.MULTILINE))


@needs_compiler
@pytest.mark.parametrize("name", [name for name, code in CODE.items() if ">>> " in code])
def test_examples_with_prompts(name: str, tmp_path: Path) -> None:
    """Examples run in a process of their own, since the names of ragged dimensions are counted in each process."""
    code = "".join(one for language, one in FENCES[name] if language in ("python", "pycon") and ">>> " in one)
    for package in imported(code):
        pytest.importorskip(package)
    (tmp_path / "page.txt").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", "page.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def programs() -> list[tuple[str, str]]:
    """The programs and the tests that pages show, each with the name of its page."""
    found = []
    for name, blocks in FENCES.items():
        if name.startswith("spec/chapters/"):
            continue
        plain = [code for language, code in blocks if language == "python" and ">>> " not in code]
        found += [(name, code) for code in plain if "def test_" in code]
        found += [(name, "\n".join(one for one in plain if "def test_" not in one))]
    return [pair for pair in found if pair[1]]


@pytest.mark.parametrize(("name", "code"), programs(), ids=lambda value: value if value in PAGES else "")
def test_programs_and_tests(name: str, code: str, tmp_path: Path) -> None:
    for package in imported(code):
        pytest.importorskip(package)
    if name.endswith(".ipynb"):  # what it defines is a module that the reader has by then
        body = ast.parse(cells(ROOT / name, "code")).body
        kept: list[ast.stmt] = [one for one in body if isinstance(one, (ast.FunctionDef, ast.Import, ast.ImportFrom))]
        (tmp_path / "mine.py").write_text(ast.unparse(ast.Module(kept, [])), encoding="utf-8")
    file = tmp_path / "test_page.py"
    file.write_text(code, encoding="utf-8")
    how = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"] if "def test_" in code else []
    done = subprocess.run([sys.executable, *how, file.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not how or " passed" in done.stdout


@pytest.mark.parametrize("name", PAGES)
def test_python_is_fenced_as_python(name: str) -> None:
    """What `text` quotes in CONTRIBUTING.md is compared with the code, in `test_readme`."""
    others = [code for language, code in FENCES[name] if language not in ("python", "pycon", "console")]
    rest = FENCED.sub("", PAGES[name])
    others = [*(others if name != "CONTRIBUTING.md" else []), *INDENTED.findall(rest)]
    assert [block for block in others if PYTHON.search(block)] == []


def commands(name: str) -> list[str]:
    """The commands of `pynested` in blocks that are not Python."""
    blocks = [code for language, code in FENCES[name] if language not in ("python", "pycon", "console")]
    lines = "\n".join([*blocks, *INDENTED.findall(FENCED.sub("", PAGES[name]))]).splitlines()
    found = [re.search(r"(?:^\s*|&& |/|-m )pynested (?=\w)(.*)", line) for line in lines]
    return [match[1] for match in found if match]


@pytest.mark.parametrize("name", [name for name in PAGES if commands(name)])
def test_commands_are_understood(name: str) -> None:
    for command in commands(name):
        words = shlex.split(command, comments=True)
        known: Any = parser()
        try:
            known.parse_args(words)
        except SystemExit:
            pytest.fail(f"pynested {command}")


def test_blocks_of_all_sorts_are_found() -> None:
    assert {"README.md", "docs/tour.md"} <= {name for name, code in CODE.items() if ">>> " in code}
    assert len(PAGES) > 35 and sum(len(commands(name)) for name in PAGES) > 15
    assert {"docs/interchange.md", "spec/README.md", "notebooks/07-hold-your-own.ipynb"} <= {
        one for one, _ in programs()
    }
    assert INDENTED.findall("a:\n\n    import x\n\n    y = 1\n\nb\n") == ["    import x\n\n    y = 1\n"]
