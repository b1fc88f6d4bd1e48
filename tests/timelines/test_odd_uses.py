"""Timelines and leak checks where people put them: in generators, in one another, in graphs, around what fails."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.surface.passing import PUBLIC, watchers


def ragged() -> pn.NestedArray:
    return pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)


def calls(t: pn.timeline) -> list[str]:
    return [event.name for event in t.events if event.kind == "call" and not event.depth]


def test_of_two_timelines_either_may_end_first() -> None:
    x, codes = ragged(), {name: one.__code__ for name, one in PUBLIC.items()}
    first, second = pn.timeline(), pn.timeline()
    first.__enter__()
    second.__enter__()
    x.exp()
    first.__exit__(None, None, None)
    x.sin()
    second.__exit__(None, None, None)
    x.cos()
    assert calls(first) == ["exp"] and calls(second) == ["exp", "sin"]
    assert not watchers() and {name: one.__code__ for name, one in PUBLIC.items()} == codes


def test_one_that_ends_inside_a_call_sees_no_more() -> None:
    def steps() -> Iterator[pn.timeline]:
        with pn.timeline() as t:
            yield t

    generator = steps()
    t = next(generator)

    def close(component: pn.Array) -> pn.Array:
        generator.close()
        return component

    pn.map_components(close, ragged())
    ragged().exp()
    assert calls(t) == ["nested_array", "map_components"] and not watchers()


def test_what_was_seen_may_be_let_go() -> None:
    x = ragged()
    with pn.timeline() as t:
        y = x.exp()
    (event,) = [event for event in t.events if event.kind == "alive"]
    assert event.facts["called"] == ["y"]
    storage = weakref.ref(y.data.storage)
    del y
    assert storage() is None


def test_a_leak_check_in_another_one_holds_nothing() -> None:
    x = ragged()
    with pn.leak_check():
        with pn.leak_check() as inner:
            y = inner.result(x.exp())
        del y


def test_a_result_may_be_named_before_the_block() -> None:
    check = pn.leak_check()
    kept = check.result([])
    with check:
        kept.append(ragged())


def test_a_timeline_in_a_graph_leaves_no_trace_there() -> None:
    def seen(x: pn.NestedArray) -> pn.NestedArray:
        with pn.timeline():
            y = x.exp()
        return y

    names = [[node.name for node in pn.trace(one, ragged()).nodes] for one in (seen, lambda x: x.exp())]
    assert names == [["exp"], ["exp"]]


def test_a_graph_is_made_in_a_timeline_and_not_in_another_graph() -> None:
    with pn.timeline() as t:
        graph = pn.trace(lambda x: x.exp() + 1, ragged())
        compiled = pn.compile(lambda x: x.exp() + 1)(ragged())
    assert len(graph.nodes) == 2 and pn.equal(compiled, ragged().exp() + 1) and "exp" in calls(t)
    with pytest.raises(pn.errors.TraceError, match="a graph is made of one function|cannot be recorded"):
        pn.trace(lambda x: pn.trace(lambda y: y, x)(x), ragged())


def test_what_cannot_be_printed_does_not_stop_what_is_watched() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError

    with pn.timeline() as t, pytest.raises(ArgumentError):
        pn.relu(ragged(), Silent())  # type: ignore[call-arg]
    assert "a Silent" in str(t)


@pytest.mark.parametrize("verb, function", [("relu", 3), (3, len), ("nonsense", len)])
def test_what_is_no_kernel_is_refused(verb: str, function: object) -> None:
    before = pn.relu(pn.array([-1.0, 2.0])).tolist()
    with pytest.raises(ArgumentError):
        pn.kernel(verb, device="cpu")(function)  # type: ignore[type-var]
    assert pn.relu(pn.array([-1.0, 2.0])).tolist() == before
