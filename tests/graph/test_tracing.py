"""A traced function, replayed on arrays of another ragged structure, gives what the function itself gives for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, StructureError, TraceError

from .arrays import assert_same, holed, jagged
from .functions import FUNCTIONS, HELD, UNTRACKED, Layer, with_sizes


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_replay_gives_what_the_function_gives(function: Callable[..., Any]) -> None:
    """Of as many components, for `unbind` is among them, but of other lengths, empty ones too."""
    example = jagged(2, 3, 1)
    graph = pn.trace(function, example)
    for x in (example, jagged(4, 1, 2), jagged(1, 7, 3), jagged(5, 1, 0)):
        assert_same(graph(x), function(x))
    if function not in UNTRACKED:  # which ask for it, and must not write
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


def test_what_a_function_takes_from_variables_and_attributes_is_constant() -> None:
    held, layer, here = {"w": pn.array(2.0), "all": [pn.array(1.0)]}, Layer(), pn.array(3.0)

    def function(x: Any) -> Any:
        return layer(x) * held["w"] + held["all"][0] + here

    graph, x = pn.trace(function, jagged(2, 3)), jagged(1, 4)
    assert {capture.source.text for capture in graph.captured} == {
        "held['w']",
        "held['all'][0]",
        "layer.weight",
        "here",
    }
    held["all"][0].fill_(7.0)  # the same array
    assert_same(graph(x), function(x))
    for change in (lambda: held.update(w=pn.array(5.0)), lambda: setattr(layer, "weight", layer.weight * 2)):
        graph = pn.trace(function, jagged(2, 3))
        change()
        with pytest.raises(TraceError, match="(held|layer).* was another when the function was traced"):
            graph(x)
    graph, here = pn.trace(function, jagged(2, 3)), here * 3
    with pytest.raises(TraceError, match="here was another"):
        graph(x)


@pytest.mark.parametrize("other", [2.0, True, "1", None])
def test_a_number_of_python_that_is_another_now_is_not_taken_for_what_it_was(other: Any) -> None:
    settings = {"factor": 1, "unused": 1}
    x = jagged(1, 2)
    graph = pn.trace(lambda y: y * settings["factor"], x)
    assert_same(graph(x), x * 1)
    settings["factor"] = other
    with pytest.raises(TraceError, match=r"settings\['factor'\] was another when the function was traced"):
        graph(x)


def test_one_array_under_two_names_is_checked_under_both() -> None:
    held: dict[str, Any] = {"one": {"w": pn.array(2.0)}}
    held["other"] = held["one"]
    function, x = lambda x: x * held["one"]["w"] + held["other"]["w"], jagged(2, 1)
    for name in ("other", "one"):
        graph = pn.trace(function, x)
        assert_same(graph(x), function(x))
        held[name] = {"w": pn.array(3.0)}
        with pytest.raises(TraceError, match="was another"):
            graph(x)


def test_random_numbers_are_drawn_anew_and_recording_draws_none_by_default() -> None:
    def function(x: Any, generator: Any) -> Any:
        return pn.dropout(x, 0.5) + pn.rand_like(x) + pn.rand(2, generator=generator)

    x = jagged(3, 2)
    pn.manual_seed(3)
    graph = pn.trace(function, x, np.random.default_rng(5))
    first = graph(x, np.random.default_rng(6)), graph(x, np.random.default_rng(6))
    pn.manual_seed(3)
    expected = function(x, np.random.default_rng(6)), function(x, np.random.default_rng(6))
    assert_same(first, expected)
    assert not pn.equal(*first)


def test_arguments_that_do_not_fit_are_refused() -> None:
    graph = pn.trace(lambda x, scale, pair: x * scale + pair[0], jagged(2), 2.0, (pn.ones(2), "a"))
    x = jagged(1)
    assert_same(graph(x, 2.0, (pn.zeros(2), "a")), x * 2.0 + 0)
    for wrong in ((x, 3.0, (pn.ones(2), "a")), (x, 2, (pn.ones(2), "a")), (x, 2.0, (pn.ones(2), "b")), (x, 2.0)):
        with pytest.raises(TraceError, match=r"was traced with \(\(1, j1, 2\) float64 jagged, 2.0, tuple of"):
            graph(*wrong)
    for wrong in ((x, 2.0, [pn.ones(2), "a"]), (x, 2.0, (1.0, "a")), (x.to(pn.float32), 2.0, (pn.ones(2), "a"))):
        with pytest.raises(TraceError, match="was traced"):
            graph(*wrong)
    with pytest.raises(ArgumentError, match="pn.trace"):
        pn.trace(3)  # type: ignore[arg-type]


def test_a_picture_has_every_line_of_the_text() -> None:
    graph = pn.trace(with_sizes, jagged(2, 3))
    picture = graph.picture()
    assert picture.svg.count("<title>") == len(graph.nodes) + 2
    assert picture._repr_html_() == graph._repr_html_() and "(2, j1, 2) float64" in picture.alt


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


def test_calls_of_all_kinds_are_written_as_people_write_them() -> None:
    def function(pair: Any, weights: Any) -> Any:
        w = weights["w"].clone().requires_grad_()
        w.grad = pair[1] * np.array([0.5, 2.0])
        value, pull = pn.vjp(lambda a: (a * w).sum(), pair[0])
        return [value, pull(value)], np.sum(pair[0]), len(pair[0])

    text = str(pn.trace(function, (jagged(1), pn.ones(2)), {"w": pn.ones(2)}))
    assert (
        text
        == """\
def function(pair[0], pair[1], weights['w']):
    # pair[0]: (1, j1, 2) float64 jagged
    # pair[1]: (2,) float64
    # weights['w']: (2,) float64
    a = clone(weights['w'])  # (2,) float64, requires grad
    a.requires_grad_()
    b = pair[1] * [0.5, 2.0]  # (2,) float64
    a.grad = b
    (c, d) = vjp(<lambda>, pair[0])
    e = d(c)  # (1, j1, 2) float64 jagged, requires grad
    f = sum(pair[0], None, False, dtype=None)  # () float64
    assert len(pair[0]) == 1
    return ([c, e], f, 1)"""
    )


def test_an_option_that_has_a_class_is_written_with_it() -> None:
    x = pn.nested_array([np.ones((1, 2, 2)), np.ones((1, 1, 2))], layout=pn.jagged)
    text = str(pn.trace(lambda x: pn.flex_attention(x, x, x, return_aux=pn.AuxRequest(True, False)), x))
    assert "(a, (b, None)) = flex_attention(x, x, x, return_aux=AuxRequest(True, False))" in text


class Doubled(pn.Function):
    """An operation with a derivative of the user."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        return cotangent * 2


def test_a_function_of_the_user_with_a_derivative_is_one_call() -> None:
    graph = pn.trace(lambda x: Doubled.apply(x).sum(), jagged(2))
    assert [node.name for node in graph.nodes] == ["apply", "sum"]
    x = jagged(3, 1).requires_grad_()
    assert_same(pn.grad(graph(x), x), pn.ones_like(x) * 2)


class Holding:
    """An object in which a function puts an array, and a function that looks there."""

    def __init__(self, x: Any) -> None:
        self.parts = {"x": x}

    def method(self, component: Any) -> Any:
        return component + self.parts["x"].sum()


def caught(x: Any) -> Any:
    try:
        return x + x[:0]
    except pn.errors.StructureError:
        return x


OUTSIDE = pn.array([1.0, 2.0])
LEAF = pn.array([1.0, 2.0], requires_grad=True)
HIDDEN = [lambda array=array: array for array in (pn.array([1.0, 2.0]),)]

REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "item": (lambda x: x * x.sum().item(), "x.item"),
    "if": (lambda x: x if x.sum() > 0 else -x, "a branch on data"),
    "float": (lambda x: x * float(x.sum()), "a number out of an array"),
    "tolist": (lambda x: x * x.offsets().tolist()[1], "x.tolist"),
    "numpy": (lambda x: x * x.values().numpy().sum(), "x.numpy"),
    "asarray": (lambda x: x * np.asarray(x.values()), "np.asarray"),
    "data": (lambda x: x * x.values().data.max(), "x.data"),
    "lengths_along": (lambda x: x * int(x.lengths_along(1).max()), "x.lengths_along"),
    "structure": (lambda x: x * x.structure.count, "x.structure"),
    "a part of an array": (lambda x: x * x._buffer, "x._buffer"),
    "lengths of a size": (lambda x: x * int(x.shape[1].lengths[0]), "the lengths"),
    "equal": (lambda x: x if pn.equal(x, x) else -x, "pn.equal"),
    "in": (lambda x: x if 0.0 in x else -x, "y in x"),
    "print": (lambda x: [print(x), x][1], "repr"),
    "range": (lambda x: sum(x[i] for i in range(x.offsets()[1])), "a number out of an array"),
    "a class": (lambda x: x * pn.Array(np.ones(2)), "an array from elsewhere, which mul uses"),
    "what another function holds": (lambda x: x * HIDDEN[0](), "an array from elsewhere, which mul uses"),
    "a generator": (lambda x: x * pn.rand(2, generator=np.random.default_rng(3)), "a generator from elsewhere"),
    "a graph in it": (lambda x: pn.trace(pn.exp, x), "pn.trace"),
    "a default": (lambda x: [pn.set_default_dtype(pn.float32), x][1], "pn.set_default_dtype"),
    "a result of another class": (lambda x: slice if x is None else iter([x]), "a result of the class"),
    "a mask's inside": (lambda x: pn.create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 4, 4).shape, "attribute"),
    "a write into an argument": (lambda x: x.mul_(2), "a write into an array from outside of the function, by mul_"),
    "a write into a part of it": (lambda x: x.unbind()[0].fill_(2.0), "a write into an array from outside"),
    "a write into a variable": (lambda x: [OUTSIDE.fill_(1.0), x][1], "a write into an array from outside"),
    "a write by a function": (lambda x: pn.map_components(lambda c: c + OUTSIDE.mul_(1), x), "a write into an array"),
    "a mark of an argument": (lambda x: x.requires_grad_(), "a write into an array from outside"),
    "backward": (lambda x: [(x * LEAF).sum().backward(), x][1], "x.backward()"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_recorded_is_refused_where_it_is_written(function: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(TraceError) as caught:
        pn.trace(function, jagged(2, 3))
    lines = str(caught.value).splitlines()
    assert says in lines[0] and f"test_tracing.py:{function.__code__.co_firstlineno}" in lines[0]
    assert "lambda x:" in lines[1] and lines[2].endswith(".")


def test_an_object_that_holds_an_array_of_the_recording_is_refused() -> None:
    with pytest.raises(TraceError, match=r"that an object holds .*\n *return component \+ self"):
        pn.trace(lambda x: pn.map_components(Holding(x * 2).method, x), jagged(2, 3))


def test_an_error_that_the_function_catches_is_refused() -> None:
    with pytest.raises(TraceError, match=r"an error of add, which the function catches, .*\n *return x \+ x\[:0\]"):
        pn.trace(caught, jagged(2, 3))


GUARDED: dict[str, tuple[Callable[[Any], Any], list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    "compared": (lambda x: x * 2 if x.shape[0] > 2 else x * 3, [(4,), (1, 5)], [(1, 2, 3)]),
    "len": (lambda x: x * len(x), [(4, 1)], [(1,), (1, 2, 3)]),
    "range": (lambda x: [x[i] for i in range(x.size(0))], [(4, 1)], [(4,)]),
    "a loop": (lambda x: [c.sum() for c in x], [(4, 1)], [(4,)]),
    "as text": (lambda x: {f"{x.values().shape[0]} rows": x}, [(4, 1)], [(4, 4)]),
    "NumPy's size": (lambda x: x.values() * np.arange(x.values().shape[0])[:, None], [(4, 1)], [(4, 4)]),
    "ragged sizes": (lambda x: x if x.shape[1] == x[:, :2].shape[1] else x + 1, [(3, 7)], [(1, 2), (2, 2)]),
    "bool of a size": (lambda x: x + 1 if x.values().shape[0] else x, [(4,)], [(0, 0)]),
}


@pytest.mark.parametrize(("function", "fit", "others"), GUARDED.values(), ids=GUARDED)
def test_a_branch_on_a_size_holds_for_what_goes_the_same_way(function: Any, fit: Any, others: Any) -> None:
    graph = pn.trace(function, jagged(2, 3))
    for lengths in fit:
        assert_same(graph(x := jagged(*lengths)), function(x))
    for lengths in others:
        with pytest.raises(TraceError, match="test_tracing.py"):
            graph(jagged(*lengths))
