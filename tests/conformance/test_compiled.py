"""The corpus can be asked of compiled functions, recorded on another ragged structure than that of the case."""

from __future__ import annotations

from typing import Any

import pytest

import pynested as pn
from pynested.cli import main
from pynested.conformance.adapters.compiled_adapter import CompiledTarget, Recompiled
from pynested.graph import compiled_function


def test_compiled_operators_agree(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--op", "mul", "--op", "softmax", "--dtype", "float32", "--quick", "--match", "*/1"]
    assert main(["conform", "--compiled", "--processes", "1", *chosen]) == 0
    assert "pynested, compiled agrees with the specification in all" in capsys.readouterr().out


def test_it_is_a_graph_of_another_structure_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """So one that is wrong is found out."""
    x = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)
    assert CompiledTarget().function("mul")(x, 2.0).values().tolist() == [2.0, 4.0, 6.0]
    made: list[Any] = []

    def replay_of_the_first(recording: Any) -> Any:
        def replay(*arrays: Any) -> Any:
            made.append(faithful(*arrays) * 0)
            return made[0]

        faithful = replay_of(recording)
        return replay

    replay_of = compiled_function.replay_of
    monkeypatch.setattr(compiled_function, "replay_of", replay_of_the_first)
    assert CompiledTarget().function("mul")(x, 2.0).values().tolist() == [0.0, 0.0, 0.0]


def test_another_graph_for_another_structure_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def counting(self: Any, x: Any) -> Any:
        return x if x[0].shape[0] == 1 else x * 2

    monkeypatch.setattr(pn, "counting", counting, raising=False)
    target = CompiledTarget()
    x = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)
    with pytest.raises(Recompiled, match="another graph"):
        target.function("counting")(None, x)
