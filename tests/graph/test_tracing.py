"""A traced function, replayed on arrays of another ragged structure, gives what the function itself gives for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, StructureError, TraceError

from .arrays import assert_same, holed, jagged
from .functions import FUNCTIONS, HELD, Layer, with_sizes


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_replay_gives_what_the_function_gives(function: Callable[..., Any]) -> None:
    """Of as many components, for `unbind` is among them, but of other lengths, empty ones too."""
    example = jagged(2, 3, 1)
    graph = pn.trace(function, example)
    for x in (example, jagged(4, 1, 2), jagged(1, 7, 3), jagged(5, 1, 0)):
        assert_same(graph(x), function(x))
    if function not in (FUNCTIONS["facts"], FUNCTIONS["written"]):  # which ask for it, and must not write
        assert_same(graph(x := jagged(1, 2, 3).requires_grad_()), function(x))


@pytest.mark.parametrize("name", ["the seed's", "dicts", "a closure", "a mask", "a copy", "NumPy's"])
def test_the_number_of_components_and_the_placement_are_free(name: str) -> None:
    function = FUNCTIONS[name]
    graph = pn.trace(function, jagged(2, 3))
    for x in (jagged(4), jagged(1, 0, 3, 1), holed(1, 2, 0), jagged(2, 1)[1:]):
        assert_same(graph(x), function(x))


def test_the_strided_layout() -> None:
    for name in ("the seed's", "views", "written", "a closure"):
        function, x = FUNCTIONS[name], jagged(4, 1, layout=pn.strided)
        assert_same(pn.trace(function, jagged(2, 3, layout=pn.strided))(x), function(x))


def test_arrays_made_of_offsets_and_of_two_structures() -> None:
    def function(values: Any, offsets: Any, *, other: Any) -> Any:
        return pn.nested_array_from_jagged(values, offsets) * 2.0 + other

    one, two = jagged(2, 3), jagged(4, 0, 1)
    graph = pn.trace(function, one.values(), one.offsets(), other=one)
    assert_same(graph(two.values(), two.offsets(), other=two), function(two.values(), two.offsets(), other=two))
    with pytest.raises(StructureError) as caught:
        graph(two.values(), two.offsets(), other=jagged(4, 1, 0))
    assert "+ other" in caught.value.__notes__[0] and __file__ in caught.value.__notes__[0]


def test_variables_are_read_anew() -> None:
    held, layer, here = {"w": pn.array(2.0), "all": [pn.array(1.0)]}, Layer(), pn.array(3.0)

    def function(x: Any) -> Any:
        return layer(x) * held["w"] + held["all"][0] + here

    graph, x = pn.trace(function, jagged(2, 3)), jagged(1, 4)
    held["w"] = pn.array(5.0)
    held["all"][0].fill_(7.0)
    layer.weight = layer.weight * 2
    here = here * 3
    assert_same(graph(x), function(x))
    assert {one.place.text for one in graph.captured} == {"held['w']", "held['all'][0]", "layer.weight", "here"}


@pytest.mark.parametrize("other", [2.0, True, "1", None])
def test_a_number_of_python_that_is_another_now_is_not_taken_for_what_it_was(other: Any) -> None:
    settings = {"factor": 1, "unused": 1}
    x = jagged(1, 2)
    graph = pn.trace(lambda y: y * settings["factor"], x)
    assert_same(graph(x), x * 1)
    settings["factor"] = other
    with pytest.raises(pn.errors.TraceError, match=r"settings\['factor'\] was another when the function was traced"):
        graph(x)


def test_random_numbers_are_drawn_anew_and_recording_draws_none() -> None:
    own = np.random.default_rng(1)

    def function(x: Any, generator: Any) -> Any:
        return pn.dropout(x, 0.5) + pn.rand_like(x) + pn.rand(2, generator=generator) + pn.randn(2, generator=own)

    x = jagged(3, 2)
    pn.manual_seed(3)
    graph = pn.trace(function, x, np.random.default_rng(5))
    first = graph(x, np.random.default_rng(6)), graph(x, np.random.default_rng(6))
    own, _ = np.random.default_rng(1), pn.manual_seed(3)
    expected = function(x, np.random.default_rng(6)), function(x, np.random.default_rng(6))
    assert_same(first, expected)
    assert not pn.equal(*first)


def test_recording_leaves_nothing_behind() -> None:
    held = pn.array([1.0, 2.0])
    leaf = pn.array([3.0, 4.0], requires_grad=True)
    leaf.grad = pn.array([1.0, 1.0])

    def function(x: Any) -> Any:
        x.mul_(2)
        x.unbind()[0].add_(1)
        held[0] = 9.0
        pn.map_components(lambda c: c.zero_(), x)
        (leaf * 2).sum().backward()
        leaf.grad = leaf.grad * 2
        return x + held

    x = jagged(2, 1)
    before = x.values().clone()
    graph = pn.trace(function, x)
    assert_same(x.values(), before)
    assert held.tolist() == [1.0, 2.0] and leaf.grad.tolist() == [1.0, 1.0]
    graph(x)
    assert held.tolist() == [9.0, 2.0] and leaf.grad.tolist() == [6.0, 6.0]
    assert x.values().tolist() == [[0.0, 0.0]] * 3


def test_arguments_that_do_not_fit_are_refused() -> None:
    graph = pn.trace(lambda x, scale, pair: x * scale + pair[0], jagged(2), 2.0, (pn.ones(2), "a"))
    x = jagged(1)
    assert_same(graph(x, 2.0, (pn.zeros(2), "a")), x * 2.0 + 0)
    for wrong in ((x, 3.0, (pn.ones(2), "a")), (x, 2, (pn.ones(2), "a")), (x, 2.0, (pn.ones(2), "b"))):
        with pytest.raises(TraceError, match="was traced"):
            graph(*wrong)
    for wrong in ((x, 2.0), (x, 2.0, [pn.ones(2), "a"]), (x, 2.0, (1.0, "a")), (x, 2.0, (pn.ones(2),))):
        with pytest.raises(ArgumentError):
            graph(*wrong)
    with pytest.raises(ArgumentError, match="pn.trace"):
        pn.trace(3)  # type: ignore[arg-type]


def test_a_picture_has_every_line_of_the_text() -> None:
    graph = pn.trace(with_sizes, jagged(2, 3))
    picture = graph.picture()
    assert picture.svg.count("<title>") == len(graph.nodes) + 2
    assert picture._repr_html_() == graph._repr_html_() and "(2, j1, 2) float64" in picture.alt
    with pytest.raises(ArgumentError):
        picture.save("graph.txt")


def test_a_graph_reads_like_its_function() -> None:
    def function(x: Any, y: Any) -> Any:
        rows = x.values().shape[0]
        with pn.no_grad():
            z = (x @ HELD["w"]).softmax(dim=-1) + y[:, :, :1]
        z.mul_(2)
        return {"z": z, "rows": rows * 2}

    x = jagged(2, 3)
    text = str(pn.trace(function, x, x))
    assert (
        text
        == """\
def function(x, y):
    # x: (2, j1, 2) float64 jagged
    # y: (2, j1, 2) float64 jagged
    # HELD['w']: (2, 2) float64
    a = x.values()  # (5, 2) float64
    (b, c) = a.shape
    with no_grad():
        d = x @ HELD['w']  # (2, j1, 2) float64 jagged
        e = softmax(d, dim=-1)  # (2, j1, 2) float64 jagged
        f = y[:, :, :1]  # (2, j1, 1) float64 jagged
        g = e + f  # (2, j1, 2) float64 jagged
    g.mul_(2)
    h = b * 2  # 10
    return {'z': g, 'rows': h}"""
    )


def test_an_option_that_has_a_class_is_written_with_it() -> None:
    x = pn.nested_array([np.ones((1, 2, 2)), np.ones((1, 1, 2))], layout=pn.jagged)
    text = str(pn.trace(lambda x: pn.flex_attention(x, x, x, return_aux=pn.AuxRequest(True, False)), x))
    assert "(a, (b, None)) = flex_attention(x, x, x, return_aux=AuxRequest(True, False))" in text
