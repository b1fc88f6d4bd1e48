"""A timeline records calls, the tape, memory and kernels, and leaves nothing behind."""

from __future__ import annotations

import json
import weakref
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

import pynested as pn
from pynested.autograd.decorators import thread_watchers
from pynested.backends.errors import ArgumentError
from pynested.backends.events import LISTENERS
from pynested.profiling import Event
from pynested.profiling.timeline_picture import MOST_ROWS

from ..crowd import together
from .stories import DEVICES, FOLDER, STORIES, listing, ragged


def of_kind(t: pn.timeline, kind: str) -> list[Event]:
    return [event for event in t.events if event.kind == kind]


def calls(t: pn.timeline) -> list[str]:
    return [event.name for event in of_kind(t, "call") if not event.depth]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", STORIES)
def test_a_listing_is_the_golden_one(name: str, device: str) -> None:
    assert listing(name, device) == (FOLDER / f"{name}_{device}.txt").read_text(encoding="utf-8")
    assert len([*FOLDER.iterdir()]) == len(STORIES) * len(DEVICES)


def test_the_tape_shows_its_node_or_the_reason_for_none() -> None:
    x, constant = pn.array([1.0, 2.0], requires_grad=True), pn.array([1.0, 2.0])
    with pn.timeline() as t:
        y = pn.exp(x * constant).sum()
        with pn.no_grad():
            x * constant
        constant * constant
        y.backward()
    assert [event.facts for event in of_kind(t, "tape")][:5] == [
        {"sources": ["leaf s1"], "saves": ["operand 1"]}, {"sources": ["node 1"], "saves": ["the result"]},
        {"sources": ["node 2"], "saves": []}, {"why_not": "gradients are off"}, {"why_not": "no operand requires grad"},
    ]  # fmt: skip
    assert [event.facts["primitive"] for event in of_kind(t, "vjp")] == ["sum", "exp", "mul"]
    (gradient,) = of_kind(t, "accumulate")
    assert of_kind(t, "vjp")[-1].facts["sources"] == [f"leaf {gradient.name}"] and gradient.facts["is_first"]


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("mode", [pn.enable_grad, pn.anomaly])
def test_a_backward_pass_shows_each_vjp_in_every_mode(mode: Any) -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    with mode():
        y = (x * x).exp().sum()
    with pn.timeline() as t:
        y.backward()
    assert [event.facts["primitive"] for event in of_kind(t, "vjp")] == ["sum", "exp", "mul"]


@pytest.mark.parametrize("other", [pn.array([1, 2, 3]), 2**70, Silent()], ids=["shape", "number", "silent"])
def test_an_error_is_recorded_and_comes_through(other: Any) -> None:
    x = pn.array([1, 2])
    with pytest.raises((pn.errors.PynestedError, OverflowError)) as without:
        pn.add(x, other)
    with pn.timeline() as t, pytest.raises(type(without.value)) as error:
        pn.add(x, other)
    assert str(error.value) == str(without.value)
    kind = type(without.value).__name__
    assert of_kind(t, "call")[-1].facts["raised"] == kind and f"raised {kind}" in str(t)
    assert ("a Silent" in str(t)) is isinstance(other, Silent)


@pytest.mark.parametrize("function", [
    lambda x: pn.layer_norm(x, (4,)), lambda x: pn.scaled_dot_product_attention(x, x, x),
    lambda x: pn.stack(x.unbind()[1:]),
], ids=["no weight", "no mask", "a part without a cotangent"])  # fmt: skip
def test_primitives_with_several_results_of_which_some_are_missing(function: Any) -> None:
    """Their gradients of all orders, inside a timeline, are those without it."""

    def gradients() -> list[Any]:
        x = pn.nested_array([pn.arange(8.0).reshape(1, 2, 4).sin()] * 3, requires_grad=True)
        (first,) = pn.grad(function(x).sin().to_dense().sum(), [x], create_graph=True)
        return [first.tolist(), *[part.tolist() for part in pn.grad(first.sin().to_dense().sum(), [x])]]

    expected = gradients()
    with pn.timeline() as t:
        assert gradients() == expected
    assert of_kind(t, "vjp")


def test_nothing_is_left_behind() -> None:
    with pn.timeline() as t:
        x = ragged().exp()
    count, storage = len(t.events), weakref.ref(x.data.storage)
    pn.exp(x)
    del x
    assert storage() is None and len(t.events) == count and not thread_watchers.value and not LISTENERS
    with pytest.raises(pn.errors.ArgumentError, match="Open another"), t:
        pass


def test_a_timeline_that_is_closed_inside_a_call_records_no_more() -> None:
    t = pn.timeline()

    def close(component: pn.Array) -> pn.Array:
        if thread_watchers.value:
            t.__exit__(None, None, None)
        return component

    with pn.timeline() as outer:
        t.__enter__()
        pn.map_components(close, ragged())
        pn.exp(ragged())
    assert calls(t) == ["nested_array", "map_components"] and calls(outer)[-1] == "exp"


def test_timelines_within_each_other_and_in_other_threads() -> None:
    x, names = ragged(), []

    def record() -> None:
        with pn.timeline() as timeline:
            pn.sin(x)
        names.extend(calls(timeline))

    with pn.timeline() as outer:
        pn.cos(x)
        with pn.timeline() as inner:
            pn.exp(x)
        together([record])
    assert calls(outer) == ["cos", "exp"] and calls(inner) == ["exp"] and names == ["sin"]
    assert [event.name for event in of_kind(inner, "primitive")] == ["exp"]
    assert [event.name for event in of_kind(outer, "primitive")] == ["cos", "exp"]


def test_graphs_are_the_same_with_a_timeline() -> None:
    def with_timeline(x: pn.NestedArray) -> pn.NestedArray:
        with pn.timeline():
            return x.exp()

    assert [node.name for node in pn.trace(with_timeline, ragged()).nodes] == ["exp"]

    def with_views(x: Any) -> Any:
        with pn.timeline() as timeline:
            y = pn.softmax(x * 2, -1) + x.sum(-1, keepdim=True)
        table = pn.dispatch_table(pn.reshape, x, (x.shape[0], -1))
        return y, calls(timeline), str(table)

    for make in (ragged, lambda **_: ragged().to_padded_array(0.0)):
        graph = pn.trace(with_views, make())
        recorded = [node.name for node in graph.nodes if not node.is_checked]
        assert recorded == ["mul", "softmax", "sum", "add", "shape", "reshape"]
        for x in (make(), make()[:1]):
            result, names, table = graph(x)
            assert pn.equal(result, with_views(x)[0])
            assert names == ["mul", "softmax", "sum", "add"] and table == "reshape: no kernel runs"
    with pn.timeline():
        graph = pn.trace(lambda x: x.exp() + 1, ragged())
        compiled = pn.compile(lambda x: x.exp() + 1)(ragged())
        inner_calls = pn.trace(lambda x: x.logsumexp(1), ragged())
    assert len(graph.nodes) == 2 and pn.equal(compiled, ragged().exp() + 1)
    assert [node.name for node in inner_calls.nodes] == ["logsumexp"]


@pytest.mark.parametrize(("value", "text"), [
    ({"w": pn.ones(2, 3), "b": [1, None]}, "{'w': float64 (2, 3) in s1, 'b': [1, None]}"),
    (dict.fromkeys(range(5)), "{0: None, 1: None, 2: None, 3: None, …}"),
    ((), "()"), ((1,), "(1,)"), ({}, "{}"), (SimpleNamespace(__name__=5), "5"), (len, "len"), ("x", "'x'"),
])  # fmt: skip
def test_arguments_of_all_classes_are_described(value: Any, text: str) -> None:
    with pn.timeline() as t, pytest.raises(ArgumentError, match="neither an array nor a number"):
        pn.exp(value)
    assert of_kind(t, "call")[0].facts["args"] == [text]


def test_events_are_plain_data_and_a_trace_for_browsers(tmp_path: Path) -> None:
    x = ragged(requires_grad=True)
    with pn.timeline() as t:
        (x.softmax(1) * x).sum().backward()
    assert json.loads(json.dumps([asdict(event) for event in t.events]))[0]["name"] == "softmax"
    t.to_chrome(tmp_path / "trace.json")
    entries = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert len(entries) == len(t.events)
    for entry, event in zip(entries, t.events, strict=True):
        assert entry["ph"] == ("i" if event.took is None else "X") and entry["cat"] == event.kind
        assert entry["ts"] == pytest.approx(1e6 * event.at) and isinstance(entry["pid"], int)
        assert entry.get("s") == ("t" if entry["ph"] == "i" else None) and isinstance(entry["tid"], int)
        assert ("dur" in entry) == (entry["ph"] == "X")
    spans = [(entry["ts"], entry["ts"] + entry["dur"]) for entry in entries if entry["ph"] == "X"]
    spans.sort(key=lambda span: (span[0], -span[1]))
    for (_, end), (later_start, later_end) in combinations(spans, 2):  # in microseconds
        assert later_end <= end + 1 or later_start >= end, "viewers need one event inside the other, or apart"


def test_the_picture_is_well_formed_and_short() -> None:
    x = ragged()
    with pn.timeline() as t:
        for _ in range(MOST_ROWS):
            x = x + 1
    root = ElementTree.fromstring(t.picture().svg)
    texts = [element.text or "" for element in root.iter() if element.tag.endswith("text")]
    assert texts[-1] == f"{len(t.events) - MOST_ROWS} more events" and texts.count("add") == 0
    assert f'alt="A timeline: {len(t.events)} events' in t._repr_html_()
