"""The device "plain" as a target: its kernels, which all others are compared with, agree with the specification."""

from __future__ import annotations

from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.records import read


@pytest.mark.parametrize(
    "selection",
    [["--op", "layer_norm", "--op", "cross_entropy"], pytest.param([], marks=pytest.mark.exhaustive)],
    ids=["what overflows on the way", "all"],
)
def test_the_plain_kernels_agree(selection: list[str], tmp_path: Path) -> None:
    kept = tmp_path / "run.ndjson"
    assert main(["conform", "--device", "plain", "--json", str(kept), *selection]) == 0
    parts = {part for result in read(kept).results for part in result["parts"].values()}
    assert parts <= {"ok", "refused"}, parts
