"""Which verb an operator comes to, where that stands, and how another function takes its place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.rules.rule import RULES
from pynested.backends import get_backend
from pynested.backends import numpy as cpu
from pynested.backends.errors import ArgumentError, DeviceError
from pynested.timelines.dispatch import choice


def test_the_table_of_softmax(root: Path) -> None:
    table = pn.dispatch_table("softmax")
    rows = {(row.layout, row.verb): row.chosen for row in table.rows}
    for layout in ("jagged", "strided"):
        assert {(layout, "segment_softmax"), (layout, "softmax_last")} <= set(rows)
    assert ("dense", "softmax_last") in rows and ("strided", "gather_components") in rows
    assert ("jagged", "gather_components") not in rows
    chosen = rows["jagged", "segment_softmax"]
    assert set(chosen) >= {"cpu", "cuda", "emulated"} and not any(one.fallback for one in chosen.values())
    for one in chosen.values():
        assert one.line is not None
        assert "def segment_softmax(" in "".join(
            (root / one.file).read_text().splitlines()[one.line - 1 : one.line + 1]
        )
    assert f"{chosen['cuda'].file}:{chosen['cuda'].line}" in str(table)


def test_what_has_no_kernel_falls_back() -> None:
    own, other = choice("add", "cpu"), choice("add", "emulated")
    assert (own.by, own.fallback) == ("numpy.add", False)
    assert (other.by, other.fallback) == ("numpy.add", True)
    assert not choice("relu", "emulated").fallback


def test_no_table_of_what_is_no_operator() -> None:
    with pytest.raises(ArgumentError, match="no operator 'nothing'"):
        pn.dispatch_table("nothing")


def test_a_view_computes_nothing() -> None:
    assert str(pn.dispatch_table("transpose")) == "transpose: computes nothing, whatever the layout"


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_every_rule_has_a_choice(device: str) -> None:
    for rule in RULES.values():
        found = choice(rule.verb, device)
        assert found.by and (found.line is None) == (found.file == ""), rule.name


@pytest.fixture
def plain() -> Iterator[None]:
    """Put the verbs back that a test replaces."""
    before = {device: get_backend(device).segment_softmax for device in ("cpu", "emulated")}
    yield
    for device, function in before.items():
        pn.kernel("segment_softmax", device=device)(function)


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.usefixtures("plain")
def test_a_kernel_takes_the_place_of_another(device: str, layout: pn.Layout) -> None:
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=layout, device=device)

    @pn.kernel("segment_softmax", device=device)
    def halves(values: Any, segments: Any, /) -> Any:
        return np.full(values.shape, 0.5)

    with pn.timeline() as t:
        assert [one.tolist() for one in pn.softmax(x, 1).unbind()] == [[0.5, 0.5], [0.5]]
    (rule,) = [event for event in t.events if event.name == "segment_softmax" and event.kind == "rule"]
    assert rule.facts["verb"].endswith("halves")
    found = choice("segment_softmax", device)
    assert found.line == inspect.getsourcelines(halves)[1] and found.file == "tests/timelines/test_dispatch.py"
    other = "emulated" if device == "cpu" else "cpu"
    assert pn.softmax(x.to(other), 1).unbind()[1].tolist() == [1.0]


def test_what_is_no_verb_or_no_device_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no verb 'softest'"):
        pn.kernel("softest", device="cpu")(cpu.relu)
    with pytest.raises(DeviceError, match="no backend for device 'tpu'"):
        pn.kernel("relu", device="tpu")(cpu.relu)
