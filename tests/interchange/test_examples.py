"""Examples that need another library, which the doctests leave out, run if that library is installed."""

from __future__ import annotations

import doctest
from importlib import import_module

import numpy as np
import pytest

import pynested as pn
from pynested.structure import ragged_size

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
def test_examples_of(path: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library)
    monkeypatch.setattr(ragged_size, "_numbers_by_digest", {})  # so that the first ragged size is j1
    report: list[str] = []
    skipped = 0
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    for examples in doctest.DocTestFinder().find(import_module(path), extraglobs={"np": np, "pn": pn}):
        skipped += sum(bool(example.options.pop(doctest.SKIP, False)) for example in examples.examples)
        runner.run(examples, out=report.append)
    assert "".join(report) == ""
    assert skipped, "no example here is left out by the doctests"
