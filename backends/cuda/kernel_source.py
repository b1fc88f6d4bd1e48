"""The texts of kernels: those of ``.cu`` files, and those that were generated, with their headers."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

KERNELS = Path(__file__).resolve().parent.parent / "kernels"

_INCLUDE = re.compile(r'^#include "(?P<header>[\w.]+)"$', re.MULTILINE)
_TEXTS: dict[str, str] = {}  # of generated kernels, by the names that stand for files


def register_source(stem: str, text: str) -> str:
    """Return the name by which launchers find a generated text; equal texts have one name, in every process."""
    name = f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.cu"
    _TEXTS[name] = text
    return name


def text_of(file: str, kernels: Path) -> str:
    """Return the generated text of this name, or else the text of the file in the folder ``kernels``."""
    return _TEXTS[file] if file in _TEXTS else (kernels / file).read_text(encoding="utf-8")


def inlined(file: str, kernels: Path = KERNELS) -> str:
    """Return the text of a ``.cu`` file, with each header in place of its first include.

    ``#line`` directives let a compiler name the file and the line of an error.
    """
    return _inlined(file, kernels, set())


def _inlined(file: str, kernels: Path, included: set[str]) -> str:
    text = text_of(file, kernels).replace("#pragma once", "")

    def header_text(include: re.Match[str]) -> str:
        header = include["header"]
        if header in included:
            return ""
        included.add(header)
        next_line = text[: include.start()].count("\n") + 2
        return f'{_inlined(header, kernels, included)}\n#line {next_line} "{file}"'

    return f'#line 1 "{file}"\n' + _INCLUDE.sub(header_text, text)
