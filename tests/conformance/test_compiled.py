"""The corpus can be asked of compiled functions, recorded on another ragged structure than that of the case."""

from __future__ import annotations

from typing import Any

import pytest

import pynested as pn
from pynested.cli import main
from pynested.conformance.adapters.compiled_adapter import CompiledTarget, Recompiled
from pynested.graph import compiling


def asked(*options: str) -> int:
    """The exit code of a run."""
    return main(["conform", "--compiled", "--processes", "1", "--match", "*/1", *options])


def test_compiled_operators_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("--op", "mul", "--op", "softmax", "--dtype", "float32", "--quick") == 0
    assert "pynested, compiled agrees with the specification in all" in capsys.readouterr().out


def test_what_a_graph_holds_of_its_structure_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A graph that gives again what it gave when it was made."""
    made: dict[int, Any] = {}

    def run(inputs: Any, nodes: Any, outputs: Any) -> Any:
        replay = plain(inputs, nodes, outputs)
        return lambda *given: made.setdefault(id(replay), replay(*given))

    plain = compiling.runner
    monkeypatch.setattr(compiling, "runner", run)
    assert asked("--op", "softmax", "--dtype", "float32", "--quick") == 1
    assert "differs" in capsys.readouterr().out


def test_another_graph_for_another_structure_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def counting(self: Any, x: Any) -> Any:
        return x if x[0].shape[0] == 1 else x * 2

    monkeypatch.setattr(pn, "counting", counting, raising=False)
    target = CompiledTarget()
    x = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)
    with pytest.raises(Recompiled, match="another graph"):
        target.function("counting")(None, x)
