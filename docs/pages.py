"""Pages of the site that follow from the project itself: the specification, the functions, the notebooks."""

from __future__ import annotations

import inspect
import re
import shutil
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import pynested as pn
from pynested.conformance.explain import definition_of
from pynested.spec.table import Operator, load_table

from .plots import write_plots

ROOT = Path(__file__).parents[1]
SPEC = ROOT / "spec"
MADE = ("readme", "specification", "functions", "notebooks", "speed")
_CLAUSE = re.compile(r"^- \*\*([A-Z_0-9]+-\d+)\*\*", re.MULTILINE)
_BLOCK = re.compile(r"<!-- clauses: (\w+) -->\n(.*?)<!-- end -->\n", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")
PAGE_BY_FILE = {
    SPEC / "README.md": "specification/reading.md",
    ROOT / "notebooks" / "README.md": "notebooks/index.md",
    ROOT / "benchmarks" / "README.md": "speed/index.md",
    ROOT / "CHANGELOG.md": "readme/changes.md",
}
GROUPS = {
    "classes": ("Arrays", "`NestedArray`, `Array`, and what describes them."),
    "making": ("Making arrays", "From lists, buffers and numbers; filled, and drawn at random."),
    "gradients": ("Gradients", "Reverse and forward mode, of any order, and what is around them."),
    "services": ("Looking inside", "The timeline of a call, functions as graphs, and the rest."),
    "interchange": ("Other libraries, and files", "Arrays of other libraries in the same memory, and on disk."),
    "training": ("Training", "Steps, clipping and batches, as pure functions."),
}
GROUP_BY_MODULE = {  # the first entry that is a part of the name of the module; all other modules are services
    "interchange": "interchange", "dlpack": "interchange", "training": "training", "construct": "making",
    "creation": "making", "random": "making", "default_device": "making", "autograd.array": "classes",
    "nested.nested_array": "classes", "structure": "classes", "block_masks.block_mask": "classes",
    "attention.flex_attention": "classes", "autograd": "gradients",
}  # fmt: skip


def write_pages(docs: Path) -> None:
    """Write the folders `MADE` into ``docs``, a copy of the folder of this name."""
    for name in MADE:
        (docs / name).mkdir()
    write_readme(docs / "readme")
    write_specification(docs / "specification")
    write_functions(docs / "functions")
    write_notebooks(docs / "notebooks")
    write_plots(docs / "benchmarks", docs / "speed")


def index(title: str, about: str, pages: list[str]) -> str:
    """Return a page that leads to others."""
    return f"# {title}\n\n{about}\n\n```{{toctree}}\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n"


def write_readme(folder: Path) -> None:
    """Write the first page, which is the README without links into folders, and the changelog."""
    text = outside_links((ROOT / "README.md").read_text(encoding="utf-8"), ROOT)
    picture = (ROOT / "docs" / "nested.svg").read_text(encoding="utf-8")  # inline, so that it has the page's colours
    top = re.sub(r"!\[[^\]]*\]\([^)]*nested\.svg\)", lambda match: picture, text)
    changes = outside_links((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), ROOT)
    (folder / "changes.md").write_text(changes, encoding="utf-8")
    (folder / "top.md").write_text(top.replace("](../", "]("), encoding="utf-8")  # it is shown by the first page


# ---- the specification -----------------------------------------------------------------------------------------------


def write_specification(folder: Path) -> None:
    """Write the chapters. Each clause can be linked to; each operator has the code that defines it."""
    chapters = sorted((SPEC / "chapters").glob("*.md"))
    for path in chapters:
        (folder / path.name).write_text(chapter(path.read_text(encoding="utf-8")), encoding="utf-8")
    readme = outside_links((SPEC / "README.md").read_text(encoding="utf-8"), SPEC)
    (folder / "reading.md").write_text(readme, encoding="utf-8")
    about = (
        "Numbered clauses, an executable definition of every operator, and vectors that any language reads. "
        "A clause keeps its number for ever, so it can be cited, and linked to: `15-movement.html#TRANSPOSE-1`."
    )
    pages = ["reading", *[path.stem for path in chapters]]
    (folder / "index.md").write_text(index("The specification", about, pages), encoding="utf-8")


def chapter(text: str) -> str:
    """Return a chapter with an anchor for each clause, and with definitions behind the clauses."""
    text = _BLOCK.sub(lambda match: match[2] + defined(match[1]), text)
    return outside_links(_CLAUSE.sub(r'- <span id="\1"></span>**\1**', text), SPEC / "chapters")


def defined(name: str) -> str:
    """Return the definition of an operator, folded; an empty text for an idea, which has no definition."""
    if load_table()[name].is_idea:
        return ""
    _, code = definition_of(name)
    return f"<details><summary>definition</summary>\n\n```python\n{code}\n```\n\n</details>\n\n"


def outside_links(text: str, folder: Path) -> str:
    """Rewrite links for a page in a folder of the site. A link to a file that is no page becomes text."""

    def link(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        if target in PAGE_BY_FILE:
            return f"[{match[1]}](../{PAGE_BY_FILE[target]})"
        if target.parent == SPEC / "chapters" and target.suffix == ".md":
            return f"[{match[1]}](../specification/{target.name}{match[3] or ''})"
        if target.parent == ROOT / "docs":
            return f"[{match[1]}](../{target.name})"
        return match[1]

    return _LINK.sub(link, text)


# ---- functions -------------------------------------------------------------------------------------------------------


def write_functions(folder: Path) -> None:
    """Write the docstrings of public names: operators by the chapters of the specification, all others by groups."""
    listed = directives(load_table())
    pages = []
    for name, (title, about) in GROUPS.items():
        (folder / f"{name}.md").write_text(page(title, about, listed[name]), encoding="utf-8")
        pages.append(name)
    for path in sorted((SPEC / "chapters").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        named = sorted(match[1] for match in _BLOCK.finditer(text))
        operators = [name for name in named if inspect.isfunction(getattr(pn, name, None))]
        if operators:
            title = text.partition("\n")[0].partition(". ")[2]
            about = f"What is true of them: [{title}](../specification/{path.name})."
            functions = [f".. autofunction:: pynested.{operator}" for operator in operators]
            (folder / path.name).write_text(page(title, about, functions), encoding="utf-8")
            pages.append(path.stem)
    about = "Every function is a method of both classes too where its first parameter is an array: `x.sum(1)`."
    (folder / "index.md").write_text(index("Functions", about, pages), encoding="utf-8")


def link_clauses(lines: list[str]) -> None:
    """Make links of the clauses that a docstring cites; each page of docstrings lies beside the specification."""
    places = chapters_of_clauses()

    def link(match: re.Match[str]) -> str:
        chapter = places.get(match[0])
        return f"`{match[0]} <../specification/{chapter}.html#{match[0]}>`__" if chapter else match[0]

    lines[:] = [re.sub(r"\b[A-Z][A-Z_0-9]*-\d+\b", link, line) for line in lines]


@cache
def chapters_of_clauses() -> dict[str, str]:
    """Return the chapter of each clause."""
    found = {}
    for path in (SPEC / "chapters").glob("*.md"):
        found.update(dict.fromkeys(_CLAUSE.findall(path.read_text(encoding="utf-8")), path.stem))
    return found


def page(title: str, about: str, listed: list[str]) -> str:
    """Return a page of docstrings."""
    return f"# {title}\n\n{about}\n\n```{{eval-rst}}\n" + "\n\n".join(listed) + "\n```\n"


def directives(table: dict[str, Operator]) -> dict[str, list[str]]:
    """Return for each group the directives of its public functions and classes, which no chapter has."""
    names = [f"pynested.{name}" for name in sorted(pn.__all__) if name not in table]
    names += [f"pynested.training.{name}" for name in pn.training.__all__]
    listed: dict[str, list[str]] = {name: [] for name in GROUPS}
    for name in names:
        value = attrgetter(name.removeprefix("pynested."))(pn)
        if inspect.isfunction(value):
            listed[group_of(value)].append(f".. autofunction:: {name}")
        elif inspect.isclass(value):
            listed[group_of(value)].append(f".. autoclass:: {name}\n   :members:")
    return listed


def group_of(value: Any) -> str:
    """Return the group of a function or a class, by the module that defines it."""
    for part, name in GROUP_BY_MODULE.items():
        if part in value.__module__:
            return name
    return "services"


# ---- notebooks -------------------------------------------------------------------------------------------------------


def write_notebooks(folder: Path) -> None:
    """Write the notebooks with their outputs, and the page that leads to them."""
    found = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in found:
        shutil.copy(path, folder / path.name)
    about = "Each can be read in ten minutes. They lie in the folder `notebooks`, to be run and changed."
    (folder / "index.md").write_text(index("Notebooks", about, [path.stem for path in found]), encoding="utf-8")
