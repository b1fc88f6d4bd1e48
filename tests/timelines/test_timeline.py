"""What a timeline notes of calls, tapes, memory and kernels; and that it changes nothing and leaves nothing behind."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pynested as pn
from pynested.backends import memory, registry
from pynested.surface.passing import PUBLIC
from pynested.timelines import Event
from pynested.timelines.drawing import SHOWN
from pynested.timelines.steps import steps


def of_kind(t: pn.timeline, kind: str) -> list[Event]:
    return [event for event in t.events if event.kind == kind]


def ragged(**options: Any) -> pn.NestedArray:
    return pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, **options)


def test_a_call_is_shown_as_it_is_bound() -> None:
    x = ragged()
    with pn.timeline() as t:
        pn.softmax(x, -1)
    (call,) = of_kind(t, "call")
    assert call.facts["arguments"] == {"self": "jagged float64 (2, *) in s1", "dim": "-1"}
    assert call.facts["defaults"]["dtype"] == "None"
    assert call.facts["converted"] == ["dim -1 -> 1"] and call.facts["on"] == "jagged, cpu"
    assert call.facts["result"] == "jagged float64 (2, *) in s2"


def test_composite_operators_show_what_they_are_made_of() -> None:
    x = pn.array([1.0, 2.0])
    with pn.timeline() as t:
        pn.allclose(x, x)
    outer, *inner = of_kind(t, "call")
    assert outer.name == "allclose" and outer.depth == 0
    assert inner and all(call.depth > 0 for call in inner)


def why_not(t: pn.timeline) -> list[str]:
    return [event.facts["why_not"] for event in of_kind(t, "tape") if "why_not" in event.facts]


def test_the_tape_says_what_it_recorded_or_why_not() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    plain = pn.array([1.0, 2.0])
    with pn.timeline() as t:
        y = x * plain
        z = pn.exp(y)
    mul, exp = of_kind(t, "tape")
    assert (mul.name, mul.facts["sources"], mul.facts["saved"]) == ("line 1", ["leaf s1", "a constant"], ["operand 1"])
    assert (exp.name, exp.facts["sources"], exp.facts["saved"]) == ("line 2", ["line 1"], ["the result"])
    with pn.timeline() as t, pn.no_grad():
        x * plain
    assert why_not(t) == ["gradients are off"]
    with pn.timeline() as t:
        plain * plain
    assert why_not(t) == ["no operand requires grad"]
    with pn.timeline() as t:
        z.sum().backward()
    pulled = [(event.name, event.facts["rule"], event.facts["to"]) for event in of_kind(t, "pull")]
    (grad,) = of_kind(t, "grad")
    assert [rule for _, rule, _ in pulled] == ["sum", "exp", "mul"] and pulled[-1][2] == [f"leaf {grad.name}"]
    assert grad.facts["is_now"] == "the first"


def test_lines_and_storages_that_are_gone_leave_their_names_to_nobody() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    with pn.timeline() as t:
        for _ in range(3):
            pn.exp(x)
    assert [event.name for event in of_kind(t, "tape")] == ["line 1", "line 2", "line 3"]
    assert [event.name for event in of_kind(t, "new")] == ["s2", "s3", "s4"] == [e.name for e in of_kind(t, "dies")]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_writes_are_noted_with_the_version(device: str) -> None:
    x = ragged(device=device)
    version = x.data.storage.version
    with pn.timeline() as t:
        x.unbind()[0].mul_(3)
    (write,) = of_kind(t, "write")
    assert write.facts["version"] == version + 1 == x.data.storage.version and "written: s1" in str(t)


def test_an_element_that_serves_a_whole_dimension_has_step_0_there() -> None:
    with pn.timeline() as t:
        pn.zeros(3, 1) + pn.zeros(2, 1, 4).transpose(0, 2)
        pn.zeros(3, 4, dtype=pn.float32) * 2
    plans = [event.facts for event in of_kind(t, "plan")]
    assert plans[0]["shape"] == [4, 3, 2] and plans[0]["strides"] == [[0, 8, 0], [8, 0, 32]]
    assert plans[1]["strides"] == [[16, 4], [0, 0]] and plans[1]["loop"] == [12]
    assert plans[1]["meet_in"] == "float32"


def test_operands_say_how_they_meet() -> None:
    x = ragged()
    holes = pn.nested_array_from_jagged(
        pn.array([1.0, 2.0, 9.0, 3.0]), offsets=np.array([0, 3, 4]), lengths=np.array([2, 1])
    )
    for other, words in (
        (x.clone(), "of the same structure"),
        (ragged(), "of an equal structure"),
        (holes, "placed otherwise"),
        (pn.array([[1.0], [2.0]]), "aligned at the right"),
        (2.0, "for every element"),
    ):
        with pn.timeline() as t:
            x + other
        assert of_kind(t, "lineup")[0].facts["operands"][1].endswith(words), words
    assert of_kind(t, "lineup")[0].facts["way"] == "whole buffers, as they lie"


def test_fallbacks_and_kernels_are_named() -> None:
    x = ragged(device="emulated")
    with pn.timeline() as t:
        pn.softmax(x, 1)
        x + x
    softmax, add = of_kind(t, "rule")
    assert softmax.facts["verb"] == "backends.cuda.segment.segment_softmax"
    assert add.facts["verb"] == "numpy.add, as there is no kernel for it"
    (kernel,) = of_kind(t, "kernel")
    assert kernel.name.startswith("segment_softmax<") and kernel.facts["file"] == "segment_softmax.cu"
    assert kernel.took is not None and kernel.took > 0


def test_large_memory_is_fresh_or_used_again() -> None:
    memory.release_kept()
    count = memory.LARGE // 8
    with pn.timeline() as t:
        pn.empty(count)
        pn.empty(count)
    assert [event.facts["source"] for event in of_kind(t, "new")] == ["fresh", "reused"]
    borrowed = np.zeros(3)
    with pn.timeline() as t:
        pn.array(borrowed, copy=False)
    assert [event.facts["bytes"] for event in of_kind(t, "new")] == [24]


def test_what_is_alive_at_the_end_has_the_names_of_its_variables() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    with pn.timeline() as t:
        y = (x * x).sum()
        y.backward()
    assert sorted(event.facts["called"] for event in of_kind(t, "alive")) == [["x.grad"], ["y"]]


def test_an_error_is_noted_and_comes_through() -> None:
    with pn.timeline() as t, pytest.raises(pn.errors.ShapeError):
        pn.array([1.0, 2.0]) + pn.array([1.0, 2.0, 3.0])
    assert of_kind(t, "call")[-1].facts["raised"] == "ShapeError" and "raised ShapeError" in str(t)


@pytest.mark.parametrize("other", ["float16", "int8", "bfloat16"])
def test_dtypes_that_numpy_cannot_promote_are_no_hindrance(other: str) -> None:
    x = pn.array([1.0], dtype="bfloat16", device="emulated")
    y = pn.array([1], dtype=other, device="emulated")
    expected = x + y
    with pn.timeline() as t:
        assert (x + y).dtype == expected.dtype
    (plan,) = of_kind(t, "plan")
    assert plan.facts["dtypes"] == ["bfloat16", other] and plan.facts["meet_in"] == str(expected.dtype)


def test_nothing_is_left_behind() -> None:
    codes = {function: function.__code__ for function in [*PUBLIC.values(), *(one.public for one in steps())]}
    with pn.timeline() as t:
        x = ragged()
    count = len(t.events)
    pn.exp(x)
    del x
    assert len(t.events) == count
    assert {function: function.__code__ for function in codes} == codes
    with pytest.raises(pn.errors.ArgumentError, match="open another"), t:
        pass


def test_timelines_within_each_other_and_in_other_threads() -> None:
    x = ragged()

    def elsewhere() -> None:
        with pn.timeline() as own:
            pn.sin(x)
        names.append([event.name for event in of_kind(own, "call")])

    names: list[list[str]] = []
    with pn.timeline() as outer:
        pn.cos(x)
        with pn.timeline() as inner:
            pn.exp(x)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert [event.name for event in of_kind(outer, "call")] == ["cos", "exp"]
    assert [event.name for event in of_kind(inner, "call")] == ["exp"] and names == [["sin"]]
    assert [event.name for event in of_kind(inner, "rule")] == ["exp"]


@pytest.mark.parametrize(("device", "way"), [("cpu", "block by block"), ("emulated", "one kernel")])
def test_a_function_that_is_compiled_shows_the_chains_that_run(device: str, way: str) -> None:
    x = ragged().to(device)
    compiled = pn.compile(lambda a: (a * 2 + a).relu())
    plain = (x * 2 + x).relu()
    for _ in range(2):  # recorded, which nobody sees, and from the graph that was recorded
        with pn.timeline() as t:
            made = compiled(x)
        assert pn.equal(made, plain)
        (chain,) = of_kind(t, "chain")
        assert chain.facts["operators"] == ["mul", "add", "relu"] and chain.facts["way"] == way
        assert not of_kind(t, "call") and not of_kind(t, "rule") and len(of_kind(t, "new")) == 1
        kernels = [event.name for event in of_kind(t, "kernel")]
        assert kernels == ([] if device == "cpu" else ["chain<unsigned int>"])


def test_a_chain_whose_operands_do_not_line_up_shows_its_operators() -> None:
    x, function = ragged(), pn.compile(lambda a, b: (a + b) * 2)
    apart = pn.as_nested_array(x.unbind(), layout=pn.strided)
    assert pn.equal(function(x, apart), (x + x) * 2)
    with pn.timeline() as t:
        function(x, apart)
    assert of_kind(t, "chain")[0].facts["way"].startswith("one by one")
    assert [event.name for event in of_kind(t, "call") if event.depth == 1] == ["add", "mul"]


def test_other_watchers_see_the_operators_of_a_compiled_function() -> None:
    x, compiled = ragged(), pn.compile(lambda a: (a * 2).exp())
    compiled(x)
    assert [node.name for node in pn.trace(compiled, x).nodes] == ["mul", "exp"]


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
    assert nested_in_time([entry for entry in entries if entry["ph"] == "X"])


def nested_in_time(entries: list[dict[str, Any]]) -> bool:
    """Whether of two that overlap one lies in the other, which viewers need."""
    open_until: list[float] = []
    for entry in sorted(entries, key=lambda one: (one["ts"], -one["dur"])):
        while open_until and open_until[-1] <= entry["ts"]:
            open_until.pop()
        end = entry["ts"] + entry["dur"]
        if open_until and end > open_until[-1] + 1:  # microseconds
            return False
        open_until.append(end)
    return True


def test_the_picture_is_well_formed_and_short() -> None:
    x = ragged()
    with pn.timeline() as t:
        for _ in range(SHOWN):
            x = x + 1
    root = ElementTree.fromstring(t.picture().svg)
    texts = [element.text or "" for element in root.iter() if element.tag.endswith("text")]
    durations = [text for text in texts if text.endswith((" us", " ms"))]
    assert texts[-1].endswith(" more") and 0 < len(durations) < SHOWN
    assert 'alt="A timeline: 120 calls' in t._repr_html_()


def test_where_random_numbers_come_from_is_shown() -> None:
    generator = np.random.Generator(np.random.MT19937(0))
    with pn.timeline() as t:
        pn.rand(2)
        pn.rand(2, generator=generator)
    assert [(event.name, event.facts["whose"]) for event in of_kind(t, "random")] == [
        ("PCG64", "the default one of this thread"), ("MT19937", "given"),
    ]  # fmt: skip


def test_a_backend_that_begins_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_by_device", dict(registry._by_device))
    monkeypatch.setattr(registry, "_loaders", dict(registry._loaders))
    registry.register_loader("another", lambda: registry.get_backend("cpu"))
    with pn.timeline() as t:
        assert [registry.get_backend("another") for _ in range(2)]
    (event,) = of_kind(t, "backend")
    assert event.name == "another" and event.took is not None and "backend of 'another' begins" in str(t)
