"""Kernels whose text is written while a program runs. Each has a name, as a file has, and is found under it."""

from __future__ import annotations

import hashlib
from pathlib import Path

_TEXTS: dict[str, str] = {}


def register_source(stem: str, text: str) -> str:
    """The name under which launchers find ``text``: the same for the same text, in every process."""
    name = f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.cu"
    _TEXTS[name] = text
    return name


def is_generated(file: str) -> bool:
    """Whether a kernel has no file, but a text that was entered."""
    return file in _TEXTS


def text_of(file: str, kernels: Path) -> str:
    """The text that was entered under this name, or that of the file in a folder of kernels."""
    found = _TEXTS.get(file)
    return (kernels / file).read_text(encoding="utf-8") if found is None else found
