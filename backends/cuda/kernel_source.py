"""The texts of kernels: files and generated texts, with their headers."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

KERNELS = Path(__file__).resolve().parent.parent / "kernels"

_INCLUDE = re.compile(r'^#include "(?P<file>[\w.]+)"$', re.MULTILINE)
_TEXTS: dict[str, str] = {}  # generated kernels by the names that launchers use in the place of files


def register_source(stem: str, text: str) -> str:
    """The name under which launchers find ``text``: the same for the same text, in every process."""
    name = f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.cu"
    _TEXTS[name] = text
    return name


def is_generated(file: str) -> bool:
    """Return whether a kernel is generated: it has a registered text instead of a file."""
    return file in _TEXTS


def text_of(file: str, kernels: Path) -> str:
    """The text that was entered under this name, or that of the file in a folder of kernels."""
    found = _TEXTS.get(file)
    return (kernels / file).read_text(encoding="utf-8") if found is None else found


def inlined(file: str, kernels: Path = KERNELS) -> str:
    """The text of a ``.cu`` file, each header in the place of its first include; errors name the files as they are."""
    return _inlined(file, kernels, set())


def _inlined(file: str, kernels: Path, seen: set[str]) -> str:
    text = text_of(file, kernels).replace("#pragma once", "")

    def replaced(match: re.Match[str]) -> str:
        header = match["file"]
        if header in seen:
            return ""
        seen.add(header)
        after = text[: match.start()].count("\n") + 2
        return f'#line 1 "{header}"\n{_inlined(header, kernels, seen)}\n#line {after} "{file}"'

    return _INCLUDE.sub(replaced, text)
