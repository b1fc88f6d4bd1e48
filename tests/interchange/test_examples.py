"""The examples that the doctests leave out, where the library that they need is installed."""

from __future__ import annotations

import doctest
from importlib import import_module

import numpy as np
import pytest

import pynested as pn

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NEED = {
    "pynested.interchange.arrow": "pyarrow",
    "pynested.interchange.awkward": "awkward",
    "pynested.interchange.jax": "jax",
    "pynested.interchange.pandas": "pandas",
    "pynested.interchange.tensorflow": "tensorflow",
    "pynested.interchange.torch": "torch",
    "pynested.training.parameter_trees": "torch",
}


@pytest.mark.parametrize(("path", "library"), NEED.items(), ids=NEED.keys())
def test_examples_of(path: str, library: str) -> None:
    pytest.importorskip(library)
    said: list[str] = []
    ran = 0
    for found in doctest.DocTestFinder().find(import_module(path), extraglobs={"np": np, "pn": pn}):
        for example in found.examples:
            ran += example.options.pop(doctest.SKIP, False)
        doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(found, out=said.append)
    assert not said, "".join(said)
    assert ran, "no example here is left out by the doctests"
