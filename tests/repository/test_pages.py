"""All code of the pages and of the Markdown cells of notebooks runs, and statements of README and CONTRIBUTING hold.

Fenced Python is run: examples with prompts by doctest, blocks with tests by pytest, and all else as a program, the
blocks of a page one after the other in one namespace. A page that imports an absent package is skipped. Signatures in
the chapters of the specification are written from the table. Commands in `console` blocks are run, with PyTorch if they
name it. Commands of `pynested` in other blocks can name adapters and hosts that are absent, so they are only parsed.
Other commands install packages and start servers, and are ignored.
"""

from __future__ import annotations

import ast
import doctest
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pynested import numpy_protocol
from pynested.cli import parser
from pynested.spec.reductions import REDUCTIONS
from pynested.spec.runwise import RUNWISE

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "spec", "notebooks", "benchmarks", "backends", "autograd")
FENCED = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:\A|\n)\n((?:(?: {4}.*)\n(?:\n(?= {4}))?)+)")
PYTHON = re.compile(r"^\s*(import \w|from \w+.* import |def \w|@\w|>>> |assert |with \w|\w+ = pn\.)", re.MULTILINE)
OPTIONAL = {"torch", "pyarrow", "awkward", "tensorflow", "jax", "pandas", "cupy", "dask"}
INSTALL = "python3 -m venv --without-pip .venv && python3 -m pip --python .venv install -e '.[test]'"
QUOTING = ("CONTRIBUTING.md", "docs/howto/add-operator.md")  # pages that quote code as text
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")


def cells(file: Path, kind: str) -> str:
    """Return the text of the cells of a notebook."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    return "\n\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind)


def pages() -> dict[str, str]:
    """Return the text of every page in Markdown, and the Markdown of every notebook."""
    files = [*ROOT.glob("*.md"), *(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.md"))]
    texts = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}
    return texts | {f"notebooks/{file.name}": cells(file, "markdown") for file in (ROOT / "notebooks").glob("*.ipynb")}


PAGES = pages()
FENCES = {name: FENCED.findall(text) for name, text in PAGES.items()}


def code_of(name: str, *languages: str) -> list[str]:
    return [code for language, code in FENCES[name] if language in languages]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def import_or_skip(code: str) -> None:
    for package in OPTIONAL & set(re.findall(r"^(?:>>> )?(?:import|from) (\w+)", code, re.MULTILINE)):
        pytest.importorskip(package)


# ---- Python


def examples() -> Iterator[Any]:
    """Yield the pages with prompts; blocks of `pycon` need an optional package, so they run apart."""
    for name in PAGES:
        for languages in (("python",), ("python", "pycon")):
            if any(">>> " in code for code in code_of(name, languages[-1])):
                yield pytest.param(name, languages, id=f"{name}-{languages[-1]}")


@needs_compiler
@pytest.mark.parametrize(("name", "languages"), list(examples()))
def test_examples(name: str, languages: tuple[str, ...], tmp_path: Path) -> None:
    """Run examples in a process of their own, since the names of ragged dimensions are counted in each process."""
    code = "".join(block for block in code_of(name, *languages) if ">>> " in block)
    import_or_skip(code)
    (tmp_path / "page.txt").write_text(code, encoding="utf-8")
    done = run(tmp_path, "-m", "doctest", "-o", "ELLIPSIS", "page.txt")
    assert done.returncode == 0, done.stdout + done.stderr
    for drawn in tmp_path.glob("*.svg"):
        kept = ROOT / "docs" / drawn.name
        assert drawn.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), f"{kept} is not current"


def programs() -> Iterator[Any]:
    """Yield the programs and the tests that pages show."""
    for name in PAGES:
        if not name.startswith("spec/chapters/"):
            plain = [code for code in code_of(name, "python") if ">>> " not in code]
            tests = [code for code in plain if "def test_" in code]
            for code in filter(None, (*tests, "\n".join(block for block in plain if block not in tests))):
                yield pytest.param(name, code, id=name)


@pytest.mark.parametrize(("name", "code"), list(programs()))
def test_programs_and_tests(name: str, code: str, tmp_path: Path) -> None:
    import_or_skip(code)
    if name.endswith(".ipynb"):  # the module of the reader, who has written the functions of the notebook by then
        body = ast.parse(cells(ROOT / name, "code")).body
        kept = [statement for statement in body if isinstance(statement, (ast.FunctionDef, ast.Import, ast.ImportFrom))]
        (tmp_path / "mine.py").write_text(ast.unparse(ast.Module(kept, [])), encoding="utf-8")
    file = tmp_path / "test_page.py"
    file.write_text(code, encoding="utf-8")
    how = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"] if "def test_" in code else []
    done = run(tmp_path, *how, file.name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not how or " passed" in done.stdout


def other_blocks(name: str) -> list[str]:
    """Return the blocks that are neither Python nor console sessions, indented ones among them."""
    others = [code for language, code in FENCES[name] if language not in ("python", "pycon", "console")]
    return [*others, *INDENTED.findall(FENCED.sub("", PAGES[name]))]


@pytest.mark.parametrize("name", sorted({*PAGES} - {*QUOTING}))
def test_python_is_fenced_as_python(name: str) -> None:
    assert [block for block in other_blocks(name) if PYTHON.search(block)] == []


# ---- commands


@pytest.mark.parametrize("name", PAGES)
def test_commands_are_understood(name: str) -> None:
    for line in "\n".join(other_blocks(name)).splitlines():
        command = re.search(r"(?:^\s*|&& |/|-m )pynested (?=\w)(.*)", line)
        if command is not None:
            known: Any = parser()
            try:
                known.parse_args(shlex.split(command[1], comments=True))
            except SystemExit:
                pytest.fail(f"pynested {command[1]}")


def sessions(name: str) -> Iterator[tuple[str, str]]:
    """Yield each command of the console blocks, and its output."""
    for part in re.split(r"^\$ ", "".join(code_of(name, "console")), flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@pytest.mark.parametrize("target", ["ours", "torch"])
def test_console_examples(target: str, tmp_path: Path) -> None:
    """Run each command once, though several pages show it."""
    if target == "torch":
        pytest.importorskip("torch")
    outputs: dict[str, list[str]] = {}
    for name in ("docs/conformance.md", "README.md"):
        for command, output in sessions(name):
            if ("--target torch" in command) == (target == "torch"):
                outputs.setdefault(command, []).append(output)
    assert outputs
    for command, shown in outputs.items():
        program, *arguments = shlex.split(command)
        assert program == "pynested"
        done = run(tmp_path, "-m", "pynested", *arguments)
        for output in shown:
            matches = doctest.OutputChecker().check_output(output, done.stdout, doctest.ELLIPSIS)
            assert matches, f"$ {command}\n{done.stdout}{done.stderr}"
        assert done.returncode == int(target == "torch"), "agreement is exit code 0, a difference 1"


def test_the_two_commands_of_the_readme() -> None:
    commands = "".join(code_of("README.md", "sh")).splitlines()
    assert commands == [f"{INSTALL} && .venv/bin/pynested conform", f"{INSTALL} && .venv/bin/pytest -n auto"]


# ---- statements


def test_names_of_numpy_are_listed() -> None:
    sentence = r"ufuncs take nested arrays:\s+`(.*?)`;\s+and\s+these\s+functions:\s+`(.*?)`"
    listed = re.search(sentence, PAGES["docs/names.md"], re.DOTALL)
    assert listed is not None
    of_elements, functions = (set(names.split()) for names in listed.groups())
    known = {ufunc.__name__ for ufunc in numpy_protocol.OPERATOR_NAMES}
    missing = known - of_elements | {name for name in (*REDUCTIONS, *RUNWISE) if hasattr(np, name)} - functions
    assert not missing, f"add {' '.join(sorted(missing))} to the list in docs/names.md, which is wrapped by hand"
    unknown = of_elements - known
    assert not unknown, f"docs/names.md lists {' '.join(sorted(unknown))}, for which no operator of pynested is named"


@pytest.mark.parametrize("name", [*QUOTING, "docs/howto/kernels.md", "docs/reading.md"])
def test_paths_of_code_exist(name: str) -> None:
    paths = re.findall(r"`((?:spec|backends|autograd|pynested|tests|benchmarks|\.ci|\.typing)/[\w./-]*)`", PAGES[name])
    assert paths and [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", QUOTING)
def test_quotations_of_code_are_current(name: str) -> None:
    """Every line of a block in the page occurs in the code; ``...`` stands for omitted text."""
    files = [file for folder in ("autograd", "backends", "pynested", "spec") for file in (ROOT / folder).rglob("*.*")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.suffix in (".py", ".cuh", ".toml")]
    code = " ".join(" ".join(text.split()) for text in texts)
    blocks = code_of(name, "text", "toml")
    quoted = [" ".join(part.split()).rstrip('",)') for block in blocks for part in re.split(r"\n|\.\.\.", block)]
    assert quoted and [part for part in quoted if part not in code] == []
