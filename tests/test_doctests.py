"""Every example in every docstring is run; `np` and `pn` are there without an import."""

from __future__ import annotations

import doctest
from importlib import import_module

import numpy as np

import pynested as pn

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def test_examples_of(module: str) -> None:
    if module.endswith(".__main__"):
        return  # running it is all it does
    result = doctest.testmod(import_module(module), extraglobs={"np": np, "pn": pn}, optionflags=OPTIONS)
    assert result.failed == 0


def test_a_wrong_example_is_found() -> None:
    example = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(example, out=lambda text: None).failed == 1
