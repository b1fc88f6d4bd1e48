"""Plant a fault, a row of a table beside this file: in this process, or in a copy of the repository.

A row names the wrong part as users do: ``kernel`` (a name of `pn.kernel`, of the CPU unless ``device`` says another),
``primitive`` (a name that `pn.tape` shows, or a list of names) or ``function`` (a dotted name of `pn`). ``new`` is an
expression for the function that is called with the original and its arguments. For a primitive, ``vjp`` or ``jvp``
replaces a derivative instead: ``lambda g, right: ...`` and ``lambda right: ...`` change the right cotangent or tangent.
If no name leads to the fault, ``old``, found once in ``file``, becomes ``new``.

`planted` replaces what a name stands for until the end of a block. `environment` copies the repository and changes one
file of the copy: ``file``, or `pynested/__init__.py`, whose last line then plants what a name stands for.
Processes that run in the copy import it.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import pynested as pn
from pynested.autograd.array import raw
from pynested.autograd.primitives.primitive import PRIMITIVES
from pynested.backends import get_backend

ROOT = Path(__file__).resolve().parents[2]
# The last two names lie in ROOT for a moment, while a wheel is built and while tests are loaded.
NOT_COPIED = (".git", ".nox", ".venv*", "*_cache", ".hypothesis", "_site", "build", "pynested-*", "*-pytest-*.pyc")
PLANT_AT_IMPORT = """
from tests.mutation.plant import plant_for_good

plant_for_good({!r})
del plant_for_good
"""
Row = dict[str, Any]


class FaultError(Exception):
    """A fault that cannot be planted."""


def load(table: str) -> dict[str, Row]:
    """Return the rows of a table by name."""
    return tomllib.loads(Path(__file__).with_name(f"{table}.toml").read_text(encoding="utf-8"))


# ---- in a copy of the repository


@contextmanager
def environment(row: Row | None) -> Iterator[dict[str, str]]:
    """Yield the environment variables of processes that import a copy of the repository, with the fault or without."""
    change = None if row is None else changed_file(row)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "repository")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
        if change is not None:
            file, text = change
            (copy / file).unlink()
            (copy / file).write_text(text, encoding="utf-8")
        yield {**os.environ, "PYTHONPATH": str(copy), "PYNESTED_THREADS": "1"}


def changed_file(row: Row) -> tuple[str, str]:
    """Return the file that carries the fault and its text."""
    if "text" in row:
        return row["file"], row["text"]
    if "file" not in row:
        with planted(row):  # raises the error here, where no test fails by it
            pass
        init = "pynested/__init__.py"
        return init, (ROOT / init).read_text(encoding="utf-8") + PLANT_AT_IMPORT.format(row)
    text = (ROOT / row["file"]).read_text(encoding="utf-8")
    if text.count(row["old"]) != 1:
        raise FaultError(f"{row['file']}: holds {text.count(row['old'])} times, not once: {row['old']}")
    return row["file"], text.replace(row["old"], row["new"])


# ---- in this process


@contextmanager
def planted(row: Row) -> Iterator[None]:
    """Replace the kernel, primitives or function of a row in this process, until the end of the block."""

    def like(values: Any, other: Any) -> Any:
        return pn.array(values) if isinstance(other, pn.Array) else np.asarray(values)

    text = next(row[key] for key in ("new", "vjp", "jvp") if key in row)
    names = {"np": np, "pn": pn, "raw": raw, "like": like, "kernels": get_backend("cpu")}
    replacement = eval(text.strip(), names)
    with ExitStack() as undo:
        if "kernel" in row:
            _replace_kernel(row["kernel"], row.get("device", "cpu"), replacement, undo)
        elif "primitive" in row:
            for name in [row["primitive"]] if isinstance(row["primitive"], str) else row["primitive"]:
                _replace_primitive(name, row, replacement, undo)
        elif "function" in row:
            _replace_function(row["function"], replacement, undo)
        else:
            raise FaultError(f"a fault needs one of kernel, primitive, function or file, got {', '.join(row)}.")
        yield


def plant_for_good(row: Row) -> None:
    """Replace the kernel, primitives or function of a row in this process, until it ends."""
    _until_the_end.enter_context(planted(row))


_until_the_end = ExitStack()


def _replace_kernel(name: str, device: str, replacement: Callable[..., Any], undo: ExitStack) -> None:
    original = getattr(get_backend(device), name, None)
    if original is None:
        raise FaultError(f"no kernel {name!r} on {device}.")
    pn.kernel(name, device=device)(_calling(replacement, original))
    undo.callback(pn.kernel(name, device=device), original)


def _replace_primitive(name: str, row: Row, replacement: Callable[..., Any], undo: ExitStack) -> None:
    """Replace the value or a derivative of a primitive."""
    if name not in PRIMITIVES:
        raise FaultError(f"no primitive {name!r}. `pn.tape` shows their names.")
    attribute = "vjps" if "vjp" in row else "jvps" if "jvp" in row else "compute"
    right = getattr(PRIMITIVES[name], attribute)

    def wrong(function: Any) -> Any:
        def call(*args: Any) -> Any:
            if attribute == "compute":
                return replacement(functools.partial(function, args[0]), *args[1:])
            return replacement(args[0], function(*args)) if attribute == "vjps" else replacement(function(*args))

        return function and functools.wraps(function)(call)

    changed = wrong(right) if callable(right) else [wrong(function) for function in right]
    undo.enter_context(mock.patch.object(PRIMITIVES[name], attribute, changed))


def _replace_function(name: str, replacement: Callable[..., Any], undo: ExitStack) -> None:
    """Replace a public function, or a method, in its class or in every module of pynested that imports it."""
    owner, _, attribute = name.removeprefix("pn.").rpartition(".")
    holder = functools.reduce(lambda value, part: getattr(value, part, None), filter(None, owner.split(".")), pn)
    original = getattr(holder, attribute, None)
    if original is None or not name.startswith("pn."):
        raise FaultError(f"no public function {name!r}.")
    modules = [module for key, module in sys.modules.items() if key.partition(".")[0] == "pynested"]
    for place in dict.fromkeys([holder, *modules]):
        for key in [key for key, value in vars(place).items() if value is original]:
            undo.enter_context(mock.patch.object(place, key, _calling(replacement, original)))


def _calling(replacement: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that looks like the original and calls the replacement."""

    @functools.wraps(original)
    def new(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    return new
