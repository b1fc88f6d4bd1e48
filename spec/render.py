"""The lists in the chapters: clauses and signatures come from the table and are written between markers.

    <!-- clauses: softmax -->      everything between the two lines is generated
    <!-- end -->

A block of entries has a section for every entry of a chapter, of those in `functions.py`, `pairs.py` and
`reductions.py`, that has no block of clauses elsewhere.

`python -m pynested.spec.render` writes them, `--check` says which chapters are stale.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

from .table import ENTRIES, TESTS, Clause, Operator, load_table

__all__ = ["rendered", "section", "stale_chapters"]

_FOLDER = Path(__file__).parent / "chapters"
_TABLE = re.compile(r"(<!-- entries: (\w+) -->\n)(.*?)(<!-- end of entries -->\n)", re.DOTALL)
_BLOCK = re.compile(r"(<!-- clauses: (\w+) -->\n)(.*?)(<!-- end -->\n)", re.DOTALL)
_WIDTH = 118


def section(operator: Operator) -> str:
    """Return the generated text of an operator or an idea."""
    lines = [] if operator.is_idea else _head(operator)
    return "\n".join([*lines, *(_item(clause) for clause in operator.clauses), ""])


def _head(operator: Operator) -> list[str]:
    facts = [f"precision: {operator.precision}"]
    facts.append(f"differentiable in: {', '.join(operator.differentiable) or 'nothing'}")
    elsewhere = {"torch": operator.torch, **operator.peers}
    facts += [f"{library}: `{name}`" for library, name in elsewhere.items() if name]
    return ["```python", *_signature(operator.signature), "```", "", _wrapped(" · ".join(facts), ""), ""]


def _signature(signature: str) -> list[str]:
    """Return the signature in one line, or with one parameter per line where it is too long."""
    if len(signature) <= _WIDTH:
        return [signature]
    name, _, rest = signature.partition("(")
    inside, _, returns = rest.rpartition(") -> ")
    parameters = re.split(r", (?=\*$|\*,|\*?\w+:)", inside)
    return [f"{name}(", *(f"    {parameter}," for parameter in parameters), f") -> {returns}"]


def _item(clause: Clause) -> str:
    kind = clause.kind_class if clause.error is None else f"{clause.kind_class}: {clause.error}"
    tested = " *(shown by tests)*" if clause.shown_by == TESTS else ""
    return _wrapped(f"- **{clause.id}** ({kind}) {clause.text}{tested}", "  ")


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def rendered(text: str, table: Mapping[str, Operator]) -> str:
    """Return a chapter with every block filled from the table; a block of an unknown table is refused."""

    def fill(match: re.Match[str]) -> str:
        name = match[2]
        if name not in table:
            raise KeyError(f"render: the table has no [{name}]")
        return f"{match[1]}\n{section(table[name])}\n{match[4]}"

    own = {match[2] for match in _BLOCK.finditer(_TABLE.sub("", text))}

    def sections(match: re.Match[str]) -> str:
        names = [name for name in ENTRIES[match[2]] if name not in own]
        return f"{match[1]}\n{''.join(map(_empty_section, names))}{match[4]}"

    return _BLOCK.sub(fill, _TABLE.sub(sections, text))


def _empty_section(name: str) -> str:
    return f"### {name}\n\n<!-- clauses: {name} -->\n<!-- end -->\n\n"


def stale_chapters(folder: Path = _FOLDER) -> list[str]:
    """Return the chapters whose blocks are not what the table says, and the tables without a block."""
    table, found, problems = load_table(), set(), []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        found |= {match[2] for match in _BLOCK.finditer(text)}
        if text != rendered(text, table):
            problems.append(f"{path.name}: stale, run python -m pynested.spec.render")
    return problems + [f"{name}: no chapter has its clauses" for name in table if name not in found]


def write(folder: Path = _FOLDER) -> list[Path]:
    """Fill the blocks of every chapter and return the paths that changed."""
    changed = []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        new = rendered(text, load_table())
        if new != text:
            path.write_text(new, encoding="utf-8", newline="\n")
            changed.append(path)
    return changed


def main(arguments: list[str] | None = None) -> int:
    """Write or check; 1 where a check fails."""
    parser = argparse.ArgumentParser(prog="python -m pynested.spec.render", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    if parser.parse_args(arguments).check:
        problems = stale_chapters()
        print("\n".join(problems) or "all chapters are up to date")
        return 1 if problems else 0
    print("\n".join(f"wrote {path.name}" for path in write()) or "nothing changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
