"""The texts of kernels: files and generated texts, with their headers, and the parameters that a text declares."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DeviceError
from .naming import DTYPES, WORDS, wide_dtype

KERNELS = Path(__file__).resolve().parent.parent / "kernels"

_INCLUDE = re.compile(r'^#include "(?P<file>[\w.]+)"$', re.MULTILINE)
_KERNEL = re.compile(
    r"template\s*<(?P<template>[^<>]*)>\s*__global__\s+void\s+(?:__launch_bounds__\(\d+\)\s*)?"
    r"(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)\s*\{"
)
_ALIASES = {"i64": "long long"}
_WORDS = {name: size for size, name in WORDS.items()}
_TEXTS: dict[str, str] = {}  # generated kernels by the names that launchers use in the place of files


# ---- texts ----------------------------------------------------------------------------------------------------------


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


# ---- parameters -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """One parameter of an instantiated kernel.

    A pointer has the dtype of what it points to, or None and a word size where any dtype of whole words will do.
    """

    name: str
    pointer: bool
    dtype: np.dtype[Any] | None
    word: int = 0

    @property
    def code(self) -> str:
        """What the emulation calls the type: P for a pointer, otherwise NumPy's letter."""
        if self.pointer:
            return "P"
        return "Q" if self.dtype is None else self.dtype.char.replace("l", "q")


@dataclass(frozen=True)
class Template:
    """A kernel as it is written: the names of its template arguments and the words of its parameters."""

    name: str
    arguments: tuple[str, ...]
    parameters: tuple[str, ...]


def templates(text: str) -> dict[str, Template]:
    """The kernels in the text of a ``.cu`` file."""
    found = {}
    for match in _KERNEL.finditer(text):
        arguments = tuple(one.split()[-1] for one in match["template"].split(","))
        parameters = tuple(" ".join(one.split()) for one in match["parameters"].split(","))
        found[match["name"]] = Template(match["name"], arguments, parameters)
    return found


@cache
def signature(folder: Path, file: str, name: str) -> tuple[Parameter, ...]:
    """The parameters of the instantiation ``name`` of a kernel in ``file``."""
    known = _templates_of(folder, file)
    kernel, _, rest = name.partition("<")
    if kernel not in known:
        raise DeviceError(f"{file} has no kernel {kernel!r}: it has {', '.join(known)}.")
    template = known[kernel]
    values = rest.removesuffix(">").split(", ")
    if len(values) != len(template.arguments):
        raise DeviceError(f"{kernel} in {file} takes the template arguments {template.arguments}, not {values}.")
    types = dict(zip(template.arguments, values, strict=True))
    return tuple(_parameter(written, types) for written in template.parameters)


@cache
def _templates_of(folder: Path, file: str) -> dict[str, Template]:
    return templates(text_of(file, folder))


def _parameter(written: str, types: dict[str, str]) -> Parameter:
    pointer = "*" in written
    plain = re.sub(r"\bconst\b|__restrict__|\*", " ", written)
    *words, name = plain.split()
    kind = " ".join(words)
    if kind in ("U", "u64"):  # data that is only moved
        return Parameter(name, pointer, None, _WORDS[types.get(kind, "unsigned long long")])
    wide = re.fullmatch(r"acc<(\w+)>", kind)
    kind = wide[1] if wide else kind
    dtype = DTYPES[_ALIASES.get(kind, types.get(kind, kind))]
    return Parameter(name, pointer, wide_dtype(dtype) if wide else dtype)
