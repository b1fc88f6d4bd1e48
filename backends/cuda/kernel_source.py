"""The texts of kernels: those of ``.cu`` files, and those that were generated, with their headers."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

KERNEL_FOLDER = Path(__file__).resolve().parent.parent / "kernels"

_INCLUDE = re.compile(r'^#include "(?P<header>[\w.]+)"$', re.MULTILINE)
_generated_texts: dict[str, str] = {}  # by the names that `register_source` returned


def register_source(stem: str, text: str) -> str:
    """Return the name by which launchers find a generated text; equal texts have one name, in every process."""
    name = f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.cu"
    _generated_texts[name] = text
    return name


def source_with_headers(name: str, folder: Path = KERNEL_FOLDER) -> str:
    """Return the text of a ``.cu`` file or a generated text, with each header in place of its first include.

    ``#line`` directives let a compiler name the file and the line of an error.
    """
    inserted_headers: set[str] = set()

    def with_headers(name: str) -> str:
        text = _generated_texts.get(name) or (folder / name).read_text(encoding="utf-8").replace("#pragma once", "")

        def header_text(include: re.Match[str]) -> str:
            if include["header"] in inserted_headers:
                return ""
            inserted_headers.add(include["header"])
            next_line = text[: include.start()].count("\n") + 2
            return f'{with_headers(include["header"])}\n#line {next_line} "{name}"'

        return f'#line 1 "{name}"\n' + _INCLUDE.sub(header_text, text)

    return with_headers(name)
