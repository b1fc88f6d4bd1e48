"""The two targets that come with the kit, held against the vectors that come with it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.records import read

Captured = pytest.CaptureFixture[str]


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed here")
def test_a_target_that_is_not_installed_is_one_line_and_2(capsys: Captured) -> None:
    assert main(["conform", "--target", "torch", "--op", "exp"]) == 2
    shown = capsys.readouterr()
    assert "PyTorch is not installed" in shown.err and shown.err.count("\n") == 1 and not shown.out


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed here")
def test_torch_is_held_to_the_same_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # another test may have imported it
    kept = tmp_path / "run.ndjson"
    arguments = ["--op", "exp", "--op", "amax", "--op", "transpose", "--json", str(kept), "--processes", "1"]
    assert main(["conform", "--target", "torch", *arguments]) == 1
    found = {
        (one["op"], one["layout"], part, verdict)
        for one in read(kept).results
        for part, verdict in one["parts"].items()
    }
    assert ("exp", "jagged", "forward", "ok") in found and ("exp", "jagged", "gradient", "ok") in found
    assert ("exp", "strided", "forward", "missing") in found
    assert ("amax", "jagged", "forward", "value") in found and ("amax", "jagged", "error", "accepted") in found
    assert not {one for one in found if one[3] == "adapter"}
    assert "torch" not in sys.modules


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed here")
def test_what_torch_was_asked_before_does_not_matter(tmp_path: Path) -> None:
    """Its warning about strides fails for nested gradients, unless another gradient has brought it out before."""
    kept, case = tmp_path / "run.ndjson", "bmm/float64/axes/2"
    found = []
    of_bmm = ["conform", "--target", "torch", "--op", "bmm", "--layout", "strided", "--json", str(kept)]
    for chosen in ("bmm/float64/axes/[12]", case):
        main([*of_bmm, "--match", chosen])
        found += [one["parts"] for one in read(kept).results if one["id"] == case]
    assert found[0] == found[1] == {"forward": "ok", "gradient": "refused"}


def test_a_device_that_is_not_there_is_wrong_usage(capsys: Captured) -> None:
    assert main(["conform", "--device", "abacus"]) == 2
    assert "abacus" in capsys.readouterr().err


def test_the_specification_is_checked_before_anybody_is_judged(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("pynested.conformance.corpus.lint_whole", lambda *_: ["SUM-1: no vector witnesses it", "more"])
    assert main(["conform"]) == 3
    assert "SUM-1: no vector witnesses it (and 1 more" in capsys.readouterr().err
