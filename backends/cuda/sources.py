"""The text of a kernel file with its headers in it: all that a compiler without files needs."""

from __future__ import annotations

import re
from pathlib import Path

from .generated import text_of
from .signatures import KERNELS

_INCLUDE = re.compile(r'^#include "(?P<file>[\w.]+)"$', re.MULTILINE)


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
