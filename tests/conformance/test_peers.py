"""awkward and TensorFlow as targets, where they are installed: what they do otherwise is found, and shown."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.pasted import findings, mismatches
from pynested.conformance.records import Run, read

Captured = pytest.CaptureFixture[str]
PEERS = ["awkward", "tensorflow"]
NAMES = {"awkward": "awkward", "tensorflow": "TensorFlow"}

# Differences that are known from elsewhere: documented, or measured by hand. Operator, part, verdict and clause.
KNOWN = {
    "awkward": [
        ("amax", "forward", "value", "AMAX-4"),  # a NaN is passed over
        ("amax", "error", "accepted", "AMAX-5"),  # the maximum of nothing is None
        ("softmax", "forward", "value", "SOFTMAX-1"),  # not shifted: exp(1000) is inf
        ("add", "error", "accepted", "ADD-6"),  # (B, *) + (B,) is broadcast from the left
    ],
    "tensorflow": [
        ("amax", "forward", "value", "AMAX-4"),
        ("amax", "error", "accepted", "AMAX-5"),  # the maximum of nothing is the least float
        ("softmax", "error", "accepted", "SOFTMAX-4"),
        ("add", "error", "accepted", "ADD-7"),  # int8 + 300 wraps
    ],
}


def missing(peer: str) -> bool:
    return find_spec(peer) is None


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_that_is_not_installed_is_one_line_and_2(peer: str, capsys: Captured) -> None:
    if not missing(peer):
        pytest.skip(f"{peer} is installed here")
    assert main(["conform", "--target", peer, "--op", "exp"]) == 2
    shown = capsys.readouterr()
    assert f"{NAMES[peer]} is not installed here" in shown.err and shown.err.count("\n") == 1 and not shown.out


@pytest.fixture(scope="module", params=PEERS)
def held(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Run, Path]:
    """What a peer makes of a few operators."""
    if missing(request.param):
        pytest.skip(f"{request.param} is not installed here; pip install 'pynested[{request.param}]'")
    kept = tmp_path_factory.mktemp(request.param) / "run.ndjson"
    chosen = [part for op in ("add", "softmax", "amax", "sum", "logical_not") for part in ("--op", op)]
    options = ["--exclude", "*/axes*/*", "--json", str(kept), "--processes", "1"]  # TensorFlow takes long to import
    code = main(["conform", "--target", request.param, *chosen, *options])
    assert code == 1 and request.param not in sys.modules
    return request.param, read(kept), kept


def test_what_is_known_of_a_peer_is_found(held: tuple[str, Run, Path]) -> None:
    peer, run, _ = held
    found = {
        (result["op"], one["part"], one["verdict"], one.get("clause"))
        for result in run.results
        for one in result["findings"]
    }
    assert set(KNOWN[peer]) <= found and run.footer is not None
    assert not {one for one in found if one[2] in ("adapter", "corrupt", "crashed", "garbled")}


def test_most_of_a_peer_is_right(held: tuple[str, Run, Path]) -> None:
    peer, run, _ = held
    forward = [result["parts"].get("forward") for result in run.results if result["op"] in ("add", "sum")]
    assert forward.count("ok") > 60, peer
    gradients = [result["parts"].get("gradient") for result in run.results]
    assert not any(one["got"].startswith("no gradient, which") for row in run.results for one in row["findings"])
    assert ("ok" in gradients) is (peer == "tensorflow")


def test_the_snippets_of_a_peer_show_what_was_recorded(held: tuple[str, Run, Path], capsys: Captured) -> None:
    assert main(["snippets", str(held[2])]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("lines", ["hello", "1", "dense float8 (17, 19)"])
def test_no_replaced_snippet_shows_what_was_recorded_of_a_peer(held: tuple[str, Run, Path], lines: str) -> None:
    run = read(held[2])
    for _, finding in findings(run):
        finding["snippet"] = f"import math\n\nprint({lines!r})"
    number = len(list(findings(run)))
    assert number > 0 and len(list(mismatches(run))) == number
