"""A traced function, replayed on arrays of another ragged structure, returns what the function itself returns."""

from __future__ import annotations

import copy
import math
import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, StructureError, TraceError

from .arrays import assert_same, holed, jagged
from .functions import FUNCTIONS, HELD, Layer


@pytest.mark.parametrize("name", ["the seed's", "dicts", "a closure", "a mask", "a copy", "NumPy's", "gradients"])
def test_the_number_of_components_and_the_placement_are_free(name: str) -> None:
    function = FUNCTIONS[name]
    graph = pn.trace(function, jagged(2, 3))
    for x in (jagged(4), jagged(1, 0, 3, 1), holed(1, 2, 0), jagged(2, 1)[1:]):
        assert_same(graph(x), function(x))


def test_arrays_made_of_offsets_and_of_two_structures() -> None:
    def function(values: Any, offsets: Any, *, other: Any) -> Any:
        return pn.nested_array_from_jagged(values, offsets) * 2.0 + other

    first, second = jagged(2, 3), jagged(4, 0, 1)
    graph = pn.trace(function, first.values(), first.offsets(), other=first)
    parts = second.values(), second.offsets()
    assert_same(graph(*parts, other=second), function(*parts, other=second))
    with pytest.raises(StructureError) as caught:
        graph(*parts, other=jagged(4, 1, 0))
    assert "+ other" in caught.value.__notes__[0] and __file__ in caught.value.__notes__[0]


def test_arrays_in_variables_and_attributes_are_constants() -> None:
    held: dict[str, Any] = {"w": pn.array(2.0), "all": [pn.array(1.0)], "in a callback": pn.array(4.0)}
    layer, scale = Layer(), pn.array(3.0)

    def function(x: Any) -> Any:
        y = pn.map_components(lambda component: component * held["in a callback"], layer(x))
        return y * held["w"] + held["all"][0] + scale

    graph, x = pn.trace(function, jagged(2, 3)), jagged(1, 4)
    names = {source.text for source in graph.captured.values()}
    assert names == {"held['w']", "held['all'][0]", "layer.weight", "scale"}
    held["all"][0].fill_(7.0)  # the same array
    assert_same(graph(x), function(x))
    changes: list[Callable[[], None]] = [
        lambda: held.update(w=pn.array(5.0)), lambda: held.update({"in a callback": pn.array(5.0)}),
        lambda: setattr(layer, "weight", layer.weight * 2),
    ]  # fmt: skip
    for change in changes:
        graph = pn.trace(function, jagged(2, 3))
        change()
        with pytest.raises(TraceError, match="(held|layer).* has changed since the function was traced"):
            graph(x)
    graph, scale = pn.trace(function, jagged(2, 3)), scale * 3
    with pytest.raises(TraceError, match="scale has changed"):
        graph(x)


def test_random_numbers_are_drawn_anew_and_recording_draws_none_by_default() -> None:
    def function(x: Any, generator: Any) -> Any:
        return pn.dropout(x, 0.5) + pn.rand_like(x) + pn.rand(2, generator=generator)

    x, results = jagged(3, 2), []
    graph = pn.trace(function, x, np.random.default_rng(5))
    for call in (graph, function, pn.compile(function)):
        pn.manual_seed(3)
        results.append([call(x, np.random.default_rng(6)), call(x, np.random.default_rng(6))])
    assert_same(results[1:], [results[0]] * 2)
    assert not pn.equal(*results[0])


def test_arguments_that_do_not_fit_are_refused() -> None:
    graph, x = pn.trace(lambda x, scale, pair: x * scale + pair[0], jagged(2), 2.0, (pn.ones(2), "a")), jagged(1)
    assert_same(graph(x, 2.0, (pn.zeros(2), "a")), x * 2.0 + 0)
    y = pn.ones(2)
    for wrong in (
        (x, 3.0, (y, "a")), (x, 2, (y, "a")), (x, 2.0, (y, "b")), (x, 2.0), (x, 2.0, [y, "a"]), (x, 2.0, (1.0, "a")),
        (x.to(pn.float32), 2.0, (y, "a")),
    ):  # fmt: skip
        with pytest.raises(TraceError, match=r"was traced with \(\(1, j1, 2\) float64 jagged, 2.0, tuple of"):
            graph(*wrong)
    with pytest.raises(ArgumentError, match="pn.trace"):
        pn.trace(3)  # type: ignore[arg-type]


def in_blocks(x: Any) -> tuple[Any, ...]:
    with pn.no_grad():
        first = x * 2
        with pn.enable_grad():
            second = x * 2
    with pn.enable_grad():
        third = x * 2
    return first, second, third, x * 2


@pytest.mark.parametrize("mode_of_recording", [pn.no_grad, pn.enable_grad])
@pytest.mark.parametrize("mode_of_replay", [pn.no_grad, pn.enable_grad])
def test_blocks_of_a_mode_hold_in_every_replay(mode_of_recording: Any, mode_of_replay: Any) -> None:
    x = jagged(2, 3).requires_grad_()
    with mode_of_recording():
        graph, compiled = pn.trace(in_blocks, x), pn.compile(in_blocks)
        compiled(x)
    with mode_of_replay():
        for function in (graph, compiled, compiled):
            is_tracked = [y.requires_grad for y in function(x)]
            assert is_tracked == [False, True, True, mode_of_replay is pn.enable_grad]


def test_a_graph_reads_like_its_function() -> None:
    def function(pair: Any, weights: Any) -> Any:
        rows = pair[0].values().shape[0]
        with pn.no_grad():
            z = (pair[0] @ HELD["w"]).softmax(dim=-1) + pair[0][:, :, :1]
        z.mul_(2)
        w = weights["w"].clone().requires_grad_()
        w.grad = pair[1] * np.array([0.5, 2.0])
        return {"z": [pn.map_components(abs, z), np.sum(z)], "rows": rows * 2}, len(pair[0])

    graph = pn.trace(function, (jagged(2, 3), pn.ones(2)), {"w": pn.ones(2)})
    assert str(graph).splitlines() == [
        "def function(pair[0], pair[1], weights['w']):",
        "    # pair[0]: (2, j1, 2) float64 jagged",
        "    # pair[1]: (2,) float64",
        "    # weights['w']: (2,) float64",
        "    # HELD['w']: (2, 2) float64",
        "    a = pair[0].values()  # (5, 2) float64",
        "    (b, c) = a.shape",
        "    with no_grad():",
        "        d = pair[0] @ HELD['w']  # (2, j1, 2) float64 jagged",
        "        e = softmax(d, dim=-1)  # (2, j1, 2) float64 jagged",
        "        f = pair[0][:, :, :1]  # (2, j1, 1) float64 jagged",
        "        g = e + f  # (2, j1, 2) float64 jagged",
        "    g.mul_(2)",
        "    h = clone(weights['w'])  # (2,) float64, requires grad",
        "    h.requires_grad_()",
        "    i = pair[1] * [0.5, 2.0]  # (2,) float64",
        "    h.grad = i",
        "    j = map_components(abs, g)  # (2, j1, 2) float64 jagged",
        "    k = sum(g, None, False, dtype=None)  # () float64",
        "    l = b * 2  # 10",
        "    assert len(pair[0]) == 2",
        "    return ({'z': [j, k], 'rows': l}, 2)",
    ]
    assert graph.picture().svg.count("<title>") == len(graph.nodes) + 5
    assert graph._repr_html_() == graph.picture()._repr_html_()


OUTSIDE = pn.array([1.0, 2.0])
LEAF = pn.array([1.0, 2.0], requires_grad=True)
GENERATOR = np.random.default_rng(0)
HIDDEN = [lambda array=array: array for array in (pn.array([1.0, 2.0]),)]

REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "item": (lambda x: x * x.sum().item(), "x.item"), "if": (lambda x: x if x.sum() > 0 else -x, "a branch on data"),
    "numpy": (lambda x: x * x.values().numpy().sum(), "what numpy returns"),
    "asarray": (lambda x: x * np.asarray(x.values()), "np.asarray"), "print": (lambda x: [print(x), x][1], "repr"),
    "lengths_along": (lambda x: x * int(x.lengths_along(1).max()), "what lengths_along returns"),
    "structure": (lambda x: x * x.structure.count, "the attribute count of a result that is no array"),
    "lengths of a size": (lambda x: x * int(x.shape[1].lengths[0]), "the lengths"),
    "equal": (lambda x: x if pn.equal(x, x) else -x, "pn.equal"),
    "a class": (lambda x: x * pn.Array(np.ones(2)), "an array from elsewhere, which mul uses"),
    "a pullback": (lambda x: pn.vjp(pn.exp, x)[1](x), "pn.vjp"),
    "an array in a callback": (lambda x: pn.map_components(lambda c: c * (x * 2), x), "that a callback or an object"),
    "a size in a callback": (lambda x: pn.map_components(lambda c: c * x.shape[0], x), "that a callback or an object"),
    "what another function holds": (lambda x: x * HIDDEN[0](), "an array from elsewhere, which mul uses"),
    "a generator": (lambda x: x * pn.rand(2, generator=np.random.default_rng(3)), "a generator from elsewhere"),
    "a graph in it": (lambda x: pn.trace(pn.exp, x), "pn.trace"),
    "a default": (lambda x: [pn.set_default_dtype(pn.float32), x][1], "pn.set_default_dtype"),
    "a result of another class": (lambda x: slice if x is None else iter([x]), "a result of the class"),
    "a number of NumPy's generator": (lambda x: x * GENERATOR.random(), "a random number that NumPy draws"),
    "a number drawn before a call": (
        lambda x: [x * 2, GENERATOR.random(), x.sum()][2], "a random number that NumPy draws"),
    "the text of a tape": (lambda x: str(pn.tape(x)), "the text of a result that is no array"),
    "a mask's inside": (lambda x: pn.create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 4, 4).shape, "attribute"),
    "a write into an argument": (lambda x: x.mul_(2), "a write into an array from outside, by mul_"),
    "a write into a part of it": (lambda x: x.unbind()[0].fill_(2.0), "a write into an array from outside"),
    "a write into a variable": (lambda x: [OUTSIDE.fill_(1.0), x][1], "a write into an array from outside"),
    "a write by a function": (lambda x: pn.map_components(lambda c: c + OUTSIDE.mul_(1), x), "a write into an array"),
    "a mark of an argument": (lambda x: x.requires_grad_(), "a write into an array from outside"),
    "backward": (lambda x: [(x * LEAF).sum().backward(), x][1], "x.backward()"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "says"), REFUSED.values(), ids=REFUSED)
def test_a_call_that_cannot_be_recorded_is_refused_with_its_line(function: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(TraceError) as caught:
        pn.trace(function, jagged(2, 3))
    lines = str(caught.value).splitlines()
    assert says in lines[0] and f"test_tracing.py:{function.__code__.co_firstlineno}" in lines[0]
    assert "lambda x:" in lines[1] and lines[2].endswith(".")


def test_an_error_that_the_function_catches_is_refused() -> None:
    def caught(x: Any) -> Any:
        try:
            return x + x[:0]
        except StructureError:
            return x

    with pytest.raises(TraceError, match=r"an error of add, which the function catches, .*\n *return x \+ x\[:0\]"):
        pn.trace(caught, jagged(2, 3))


GUARDED: dict[str, tuple[Callable[[Any], Any], list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    "compared": (lambda x: x * 2 if x.shape[0] > 2 else x * 3, [(4,), (1, 5)], [(1, 2, 3)]),
    "len": (lambda x: x * len(x), [(4, 1)], [(1,), (1, 2, 3)]),
    "range": (lambda x: [x[i] for i in range(x.size(0))], [(4, 1)], [(4,)]),
    "as text": (lambda x: {f"{x.values().shape[0]} rows": x}, [(4, 1)], [(4, 4)]),
    "NumPy's size": (lambda x: x.values() * np.arange(x.values().shape[0])[:, None], [(4, 1)], [(4, 4)]),
    "ragged sizes": (lambda x: x if x.shape[1] == x[:, :2].shape[1] else x + 1, [(3, 7)], [(1, 2), (2, 2)]),
}


@pytest.mark.parametrize(("function", "fit", "others"), GUARDED.values(), ids=GUARDED)
def test_a_branch_on_a_size_is_valid_for_arrays_that_take_it(function: Any, fit: Any, others: Any) -> None:
    graph = pn.trace(function, jagged(2, 3))
    for lengths in fit:
        assert_same(graph(x := jagged(*lengths)), function(x))
    for lengths in others:
        with pytest.raises(TraceError, match="test_tracing.py"):
            graph(jagged(*lengths))


SIZES: dict[str, Callable[[int], Any]] = {
    **{sign: eval(f"lambda n: (n {sign} 3, 3 {sign} n)") for sign in (*"+-*/%&|^", "//", "**", "<<", ">>")},
    "one number": lambda n: (+n, -n, abs(-n), ~n, pow(n, 2, 3), round(n / 3), int(n / 3), float(n)),
    "divmod": lambda n: (*divmod(n, 2), *divmod(5, n), *divmod(n, n)),
    "math": lambda n: (math.sqrt(n), math.gcd(n, 4), math.floor(n / 3), math.ceil(n / 3), math.trunc(n / 3)),
    "copies": lambda n: (copy.copy(n), *copy.deepcopy([n]), pickle.loads(pickle.dumps(n))),
    "attributes": lambda n: (n.bit_length(), (n / 2).is_integer(), n.real, n.numerator, float(Fraction(n, 3))),
}


@pytest.mark.parametrize("compute", SIZES.values(), ids=SIZES)
def test_a_size_computes_as_the_number_that_it_is(compute: Callable[[int], Any]) -> None:
    graph = pn.trace(lambda x: (x * 2, compute(x.shape[0])), pn.zeros(2))
    _, numbers = graph(pn.zeros(2))
    assert numbers == compute(2) and [type(number) for number in numbers] == [type(number) for number in compute(2)]


def test_arithmetic_with_sizes_is_recorded_for_all_sizes() -> None:
    graph = pn.trace(lambda x: x * ((x.shape[0] & 6) << 1) + divmod(x.shape[0], 2)[1], pn.zeros(2))
    assert "b = a & 6  # 2\n" in str(graph) and "c = b << 1  # 4\n" in str(graph)
    for n, expected in (2, 4), (3, 5), (7, 13):
        assert graph(pn.ones(n)).tolist() == [expected] * n


def test_generators_that_calls_and_callbacks_use_are_recorded() -> None:
    def function(x: Any, generator: Any) -> Any:
        noise = pn.map_components(lambda c: c * GENERATOR.random(), x)  # a callback runs in each replay
        return noise + pn.rand(1, generator=generator) + pn.rand(1, generator=GENERATOR)

    x = jagged(2, 3)
    for kind in (np.random.PCG64, np.random.MT19937):
        graph = pn.trace(function, x, np.random.Generator(kind(1)))
        state, results = GENERATOR.bit_generator.state, []
        for call in (graph, function):
            GENERATOR.bit_generator.state = state
            generator = np.random.Generator(kind(1))
            results.append([call(x, generator).tolist() for _ in range(2)])
        assert results[0] == results[1]
        with pytest.raises(TraceError, match="a random number that NumPy draws"):
            pn.trace(lambda x, generator: x * generator.random(), x, np.random.Generator(kind(1)))


def test_a_missing_attribute_of_a_size_is_that_of_a_number() -> None:
    with pytest.raises(AttributeError, match="'int' object has no attribute 'sise'"):
        pn.trace(lambda x: x * x.shape[0].sise, pn.zeros(2))  # type: ignore[attr-defined]


@pytest.mark.parametrize("x", [pn.zeros(2), jagged(2)], ids=["dense", "nested"])
@pytest.mark.parametrize("name", ["sise", "ravel"])
def test_a_missing_attribute_of_an_array_is_that_of_the_array(x: Any, name: str) -> None:
    errors = []
    for call in (getattr, pn.compile(getattr)):
        with pytest.raises(AttributeError) as caught:
            call(x, name)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


@pytest.mark.parametrize("make", [dict, OrderedDict, type("Own", (dict,), {}), lambda items: defaultdict(list, items)])
def test_the_class_of_a_mapping_stays(make: Callable[..., Any]) -> None:
    graph = pn.trace(lambda mapping: (mapping, make({"y": mapping["x"] * 2})), make({"x": pn.zeros(2)}))
    for result, expected in zip(graph(make({"x": pn.ones(3)})), (1.0, 2.0), strict=True):
        assert type(result) is type(make({})) and [y.tolist() for y in result.values()] == [[expected] * 3]


def test_arguments_of_any_name() -> None:
    x = pn.ones(2)
    for function in pn.trace(lambda self: self * 2, self=x), pn.compile(lambda self: self * 2):
        assert function(self=x).tolist() == [2.0, 2.0]
