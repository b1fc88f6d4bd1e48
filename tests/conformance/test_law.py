"""The definitions as a target: they agree, and what is planted in them is found."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from pynested.cli import main
from pynested.conformance.adapters.base import Place
from pynested.conformance.adapters.law_adapter import LawTarget
from pynested.conformance.records import read
from pynested.spec.encoding import Components

JAGGED, STRIDED = "jagged", "strided"


@pytest.mark.parametrize("selection", [["--exclude", "*/axes*"], pytest.param([], marks=pytest.mark.exhaustive)])
def test_the_law_agrees(selection: list[str], tmp_path: Path) -> None:
    kept = tmp_path / "run.ndjson"
    assert main(["conform", "--target", "law", "--layout", STRIDED, "--json", str(kept), *selection]) == 0
    run = read(kept)
    forward = [result["parts"]["forward"] for result in run.results if "forward" in result["parts"]]
    assert forward.count("ok") > 0.98 * len(forward)
    lacking = {result["op"] for result in run.results if result["parts"].get("forward") == "missing"}
    assert lacking <= {"layer_norm", "cross_entropy", "tape", "like", "to_dense"}  # programs that ask for gradients
    assert not any("error" in result["parts"] for result in run.results)


def test_a_port_counts_from_the_front_and_rounds_once() -> None:
    x = Components([np.float32([1, 2]), np.float32([2**24, 1, 1])])
    sums = LawTarget().call("sum", JAGGED, [x, -1], {})
    assert sums.dtype == np.float32 and sums.tolist() == [3.0, 2.0**24 + 2]  # 1 by 1 in float32, they would be lost


@pytest.mark.parametrize(("layout", "form"), [(JAGGED, np.ndarray), (STRIDED, Components)])
def test_a_result_is_dense_where_nothing_can_be_ragged(layout: str, form: type) -> None:
    x = Components([np.float32([[1, 2]]), np.float32([[3, 4], [5, 6]])])
    assert isinstance(LawTarget().call("sum", layout, [x, 1], {}), form)
    assert isinstance(LawTarget().call("neg", layout, [x], {}), Components)


def test_integers_become_the_floats_that_hold_them() -> None:
    found = {
        name: LawTarget().call("exp", JAGGED, [Components([np.zeros(1, name)])], {}).dtype.name
        for name in ("bool", "int8", "int16", "int32")
    }
    assert found == {"bool": "float16", "int8": "float16", "int16": "float32", "int32": "float64"}


def test_operands_are_the_components_themselves() -> None:
    x = Components([np.float32([1])])
    assert LawTarget().operand(x, Place(JAGGED, "packed"), False).value is x


def test_there_is_no_other_device() -> None:
    assert "unavailable" in LawTarget().identity("cuda")
    assert main(["conform", "--target", "law", "--device", "emulated"]) == 2


def test_a_port_that_rounds_on_the_way_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same port, which computes in float16 what is a float32."""
    port = tmp_path / "port.py"
    port.write_text(
        "from pynested.conformance.adapters.base import PythonAdapter\n"
        "from pynested.conformance.adapters.law_adapter import LawTarget\n"
        "from pynested.conformance.adapters.serve import serve\n"
        "from pynested.spec.components import each\n"
        "class Port(LawTarget):\n"
        "    def call(self, op, layout, args, kwargs):\n"
        "        result = super().call(op, layout, args, kwargs)\n"
        "        return each(lambda x: x.astype('float16').astype(x.dtype), result)\n"
        "serve(PythonAdapter(Port()))\n",
        encoding="utf-8",
    )
    code = main(["conform", "--adapter", shlex.join([sys.executable, str(port)]), "--match", "sum/float32/long/1"])
    assert code == 1 and "another value" in capsys.readouterr().out
