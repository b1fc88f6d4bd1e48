"""Every example in every docstring is run as in a new session; `np` and `pn` are there without an import."""

from __future__ import annotations

import doctest
from importlib import import_module

import numpy as np
import pytest

import pynested as pn
from pynested.structure import sizes

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_examples_of(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if module.endswith(".__main__"):
        return  # importing it runs it
    said: list[str] = []
    for examples in doctest.DocTestFinder().find(import_module(module), extraglobs={"np": np, "pn": pn}):
        monkeypatch.setattr(sizes, "_names", {})  # so that the first ragged size is j1
        doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(examples, out=said.append)
    assert not said, "".join(said)


def test_a_wrong_example_is_found() -> None:
    example = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(example, out=lambda text: None).failed == 1
