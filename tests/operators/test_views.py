"""Views: shared memory and version, contiguity, writes that reach the elements shown, refused writes, and shapes.

Buffers contain the positions of their elements, so that the elements of a view say which memory it shows.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError

from ..batches import ALL, Batch
from ..nests import BOTH, DENSE, JAGGED, JAGGED_2, STRIDED, Placed, assert_same, batch, distinct, nest, place, plain
from ..support.samples import sample_arguments, samples
from .test_result_structure import LISTS, VIEWS

X = batch([(2, 4), (0, 4), (3, 4)])
View = Callable[[Any], Any]

# Views that no sample input makes.
DENSE_VIEWS: dict[str, View] = {
    "element": lambda x: x[1, 1], "T": lambda x: x.T, "narrow": lambda x: x.narrow(0, 0, 1),
    "copy.copy": lambda x: copy.copy(x[0]), "view of a view": lambda x: x[0][1:],
    "to its own dtype": lambda x: x.to(pn.float64), "as_strided": lambda x: x.as_strided((2,), (3,)),
    "contiguous": lambda x: x.contiguous(), "as_nested_array": lambda x: pn.as_nested_array(x),
    "from_jagged": lambda x: pn.nested_array_from_jagged(x, [0, 1, 3]),
    "narrow, ragged": lambda x: pn.narrow(x, 1, [0, 1, 2], 2, pn.jagged),
    "narrow, strided": lambda x: pn.narrow(x, 1, [0, 1, 2], 2, pn.strided),
}  # fmt: skip
NESTED_VIEWS: dict[str, View] = {
    "values": lambda x: x.values(), "contiguous": lambda x: x.contiguous(), "component": lambda x: x[2][1:],
    "every other component": lambda x: x[::2], "in the strided layout": lambda x: x.to(layout=pn.strided),
    "copy.copy": lambda x: copy.copy(x.transpose(1, 2)),
}  # fmt: skip
OTHER_VIEWS = {"dense": DENSE_VIEWS, "jagged": NESTED_VIEWS, "strided": NESTED_VIEWS}
EACH_VIEW = pytest.mark.parametrize(("form", "view"), [
    pytest.param(form, view, id=f"{form}-{name}") for form, views in OTHER_VIEWS.items() for name, view in views.items()
])  # fmt: skip


def make(form: str, grad: bool = False) -> Placed:
    components = list(distinct((3, 4))) if form == "dense" else X
    return place(components, getattr(pn, form, None), grad=grad)


def ndarray(x: Any) -> Any:
    return x.data.data if x.is_nested else x.data


def storage(x: Any) -> Any:
    return x.data.storage if x.is_nested else x.storage


def number_elements(made: Placed) -> None:
    """Let each element of the buffer be its position."""
    numbers = made.buffer.numpy()
    numbers[...] = np.arange(numbers.size).reshape(numbers.shape)


def check_contiguity(x: Any) -> None:
    """Compare with the positions of elements: of strided components one by one, of jagged ones as one array."""
    parts = plain(x) if x.is_nested else [plain(x)]
    if x.is_nested and x.layout is pn.jagged and parts:
        parts = [np.concatenate(parts, x.structure.ragged_dim - 1)]
    positions = np.concatenate([np.zeros(0), *[part.ravel() for part in parts]])
    expected, made = bool((np.diff(positions) == 1).all()), x.contiguous()
    assert x.is_contiguous() is expected and made.is_contiguous()
    assert (storage(made) is storage(x)) is expected or not positions.size, "a contiguous array is not copied"
    assert not x.is_nested or made.values().numel() == x.numel(), "there are gaps"


def check_view(made: Placed, result: Any) -> None:
    """Write through a view, and check the buffer, its version, and that the view shows what is written to the array."""
    parts, version = result if isinstance(result, tuple) else (result,), made.buffer.storage.version
    for part in parts:
        check_contiguity(part)
    shown = [number for part in parts for array in (part if part.is_nested else [part]) for number in plain(array).flat]
    expected = np.arange(made.buffer.numel())
    expected[np.array(shown, np.int64)] = -1
    for part in parts:
        assert storage(part) is made.buffer.storage
        part.fill_(-1.0)
    assert made.buffer.numpy().ravel().tolist() == expected.tolist()
    assert made.buffer.storage.version > version
    made.array.fill_(-2.0)
    assert all((part == -2).all().item() for part in parts)


# Views that some arrays copy: a jagged structure describes whole rows, a strided one steps from 0 up in a component.
COPIED: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("getitem-list", "getitem-mask"), (*ALL, DENSE)),
    **dict.fromkeys(("select-ragged 0", "select-ragged -1", "getitem-integer"), (JAGGED, JAGGED_2)),
    **dict.fromkeys(("flatten", "flatten-deep 1 2", "flatten-deep 1 3"), (JAGGED_2,)),
    **dict.fromkeys(("getitem-1 slice(None, None, -1)", "getitem-1 slice(2, 0, -1)"), (JAGGED, STRIDED, BOTH)),
    "getitem-1 slice(None, None, 2)": (JAGGED,), "getitem-2 slice(None, None, -1)": (JAGGED_2, STRIDED, BOTH),
}  # fmt: skip


@pytest.mark.parametrize("op", sorted(VIEWS - LISTS))
def test_sample_inputs_of_views(op: str) -> None:
    for (call, kind), placement in itertools.product(samples(every=True), ("packed", "holes")):
        batch = Batch(kind, (2, 2) if kind is DENSE else (3, 1, 2))
        if call.op != op or call.refuses(batch) is not None:
            continue
        arguments, keywords, (made, *_) = sample_arguments(call, batch, placement)
        number_elements(made)
        result = call.function(*arguments, **keywords)
        if kind in COPIED.get(str(call), ()):
            assert not np.shares_memory(ndarray(result), ndarray(made.array)), f"{call} {kind} {placement}"
        else:
            check_view(made, result)


@EACH_VIEW
def test_other_views(form: str, view: View) -> None:
    made = make(form)
    number_elements(made)
    check_view(made, view(made.array))


@pytest.mark.parametrize("recorded", [False, True], ids=["leaf", "recorded"])
@EACH_VIEW
def test_a_view_made_under_no_grad_is_not_written_while_recording(form: str, view: View, recorded: bool) -> None:
    leaf = make(form, grad=True).array
    owner = leaf * 3 if recorded else leaf
    with pn.no_grad():
        seen = view(owner)
    before = ndarray(owner).copy()
    for write in (lambda: seen.mul_(2), lambda: seen.__setitem__(..., 5.0), lambda: seen[...].fill_(5.0)):
        with pytest.raises(GradientError, match=r"a view, made inside no_grad|requires grad, and a write"):
            write()
    np.testing.assert_array_equal(ndarray(owner), before)
    for allowed in (seen, seen.detach()):
        version = storage(owner).version
        with pn.no_grad() if allowed is seen else nullcontext():
            allowed.mul_(2)
        assert storage(owner).version == version + 1


def test_views_made_under_no_grad_stay_unrecorded_and_only_those_of_constants_are_written() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    y = x * 3
    with pn.no_grad():
        view = y[0:1]
    for write in (
        lambda: pn.checkpoint(lambda x: (x * 1, view), x)[1].mul_(10),
        lambda: pn.vjp(lambda v: v.mul_(10), view),
        lambda: pn.jvp(lambda v: v[0:1].mul_(10), (view,), (view,)),
    ):
        with pytest.raises(GradientError, match="in place would not be recorded"):
            write()
    assert y.tolist() == [3, 6]
    constant = pn.array([1.0, 2.0])
    with pn.no_grad():
        view = constant[0:1]
    view.mul_(3)
    assert constant.tolist() == [3, 2]


@pytest.mark.parametrize("form", OTHER_VIEWS)
def test_reductions_over_no_dimension_and_casts_share_nothing(form: str) -> None:
    for copied in (*[lambda x, op=op: op(x, ()) for op in (pn.sum, pn.mean, pn.amax)], lambda x: x.astype(pn.float64)):
        made = make(form)
        with pn.no_grad():
            result = copied(made.array.requires_grad_())
        assert storage(result) is not made.buffer.storage
        assert not np.shares_memory(ndarray(result), ndarray(made.array))


MOVABLE = [([(4, 3, 2)], "packed"), ([(4, 0, 2), (4, 3, 2)], "packed")]
MOVABLE += itertools.product(([(1, 3, 8)], [(4, 0, 2)] * 2, [(4, 2, 0), (4, 1, 0)]), ("packed", "holes"))


@pytest.mark.parametrize(("shapes", "placement"), MOVABLE, ids=str)
def test_elements_move_across_the_ragged_dimension_of_one_component(shapes: Any, placement: str) -> None:
    x = batch(shapes)
    wide = 0 if shapes[0][2] == 0 else 4
    array = nest(x, pn.jagged, placement, 2)
    seen = pn.view(array, (len(x), 2, -1, wide))
    assert_same(seen, [part.reshape(2, part.shape[1], wide) for part in x])
    assert seen.layout is pn.jagged and storage(seen) is storage(array)
    seen.fill_(7.0)
    assert all((part.numpy() == 7).all() for part in array)


def test_expand_repeats_elements_in_a_view(lay: Any) -> None:
    components = batch([(2, 1, 3), (0, 1, 3), (4, 1, 3)])
    x = lay(components).detach().requires_grad_()
    for shape in ((-1, -1, 5, -1), (3, -1, 5, 3), (3, x.shape[1], 5, 3)):
        seen = x.expand(*shape)
        assert_same(seen.detach(), [np.repeat(part, 5, axis=1) for part in components])
        assert seen.layout is x.layout and storage(seen) is storage(x)
    assert_same(x.detach().expand(-1, -1, 0, -1), [part[:, :0] for part in components])
    (x.expand(-1, -1, 5, -1) * 2.0).sum().backward()
    assert all((part.numpy() == 10.0).all() for part in x.grad)


@pytest.mark.parametrize("ragged", [1, 2])
def test_the_shape_of_an_array_is_a_shape_for_it(lay: Any, ragged: int) -> None:
    """`x.shape` contains an object for an irregular dimension, which `reshape` and `view` take as a size."""
    components = X if ragged == 1 else [part.T for part in X]
    x = lay(components, ragged)
    for function in (pn.reshape, pn.view) if x.is_contiguous() else (pn.reshape,):
        for shape in (x.shape, [-1, *x.shape[1:]]):
            assert_same(function(x, shape), components)
        assert_same(function(x, (*x.shape, 1)), [part[..., None] for part in components])


SHAPES: list[tuple[View, list[tuple[int, ...]]]] = [
    (lambda x: x.squeeze(), [(3, 2)]), (lambda x: x.squeeze((0, 2)), [(3, 2)]), (lambda x: x.flatten(), [(6,)]),
    (lambda x: x.sum().flatten(), [(1,)]), (lambda x: pn.stack([x], 1), [(1, 1, 3, 1, 2)]),
    (lambda x: pn.arange(7).chunk(5), [(2,), (2,), (2,), (1,)]), (lambda x: x[:0].chunk(3), [(0, 3, 1, 2)] * 3),
    (lambda x: x.split(2, 1), [(1, 2, 1, 2), (1, 1, 1, 2)]), (lambda x: x[:0].split(3), [(0, 3, 1, 2)]),
    (lambda x: x[:0].unbind(), []), (lambda x: x[:, :, :, :0].unbind(1), [(1, 1, 0)] * 3),
    (lambda x: x.expand(2, -1, 4, 2), [(2, 3, 4, 2)]), (lambda x: x.broadcast_to((2, 1, 3, 1, 2)), [(2, 1, 3, 1, 2)]),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(SHAPES)))
def test_shapes_of_dense_arrays(row: int) -> None:
    call, due = SHAPES[row]
    result = call(pn.zeros(1, 3, 1, 2))
    assert [part.shape for part in (result if isinstance(result, tuple) else [result])] == due


def test_a_write_into_numbers_of_a_structure_changes_no_array(layout: Any, placement: str) -> None:
    x, strided = nest(X, layout, placement), layout is pn.strided
    handed = [x.offsets().numpy(), x.component_sizes(), x.component_offsets(), x.lengths_along(1), x.shape[1].lengths]
    handed += [x.stride(), x.stride(0), x.stride(1), x.component_strides()] if strided else []
    handed += [] if strided or x.lengths() is None else [x.lengths().numpy()]
    for integers in handed:
        assert not integers.flags.writeable
        owner = integers if integers.base is None else integers.base
        owner.setflags(write=True)  # which NumPy allows to whoever has the owner of the memory
        owner[...] = 0
    assert_same(x, X)


def test_numpy_gets_a_view_on_request(layout: Any) -> None:
    numbers = [X[0], X[0]]
    x = nest(numbers, layout)
    np.testing.assert_array_equal(np.asarray(x), numbers)
    assert not np.shares_memory(np.array(x), ndarray(x))
    assert np.shares_memory(np.asarray(x), ndarray(x)) and np.shares_memory(np.array(x, copy=False), ndarray(x))


def test_an_operator_that_changes_nothing_returns_the_array_itself() -> None:
    for layout in (None, pn.jagged, pn.strided):
        x = pn.array([1.5]) if layout is None else nest([np.ones(2), np.ones(1)], layout)
        targets = [(pn.float64,), ("cpu",), ("cpu", pn.float64), *([] if layout is None else [(layout,)])]
        assert all(x.to(*target) is x for target in targets) and x.contiguous() is x
    dense = pn.array([1.5])
    assert dense.to_dense() is dense and type(pn.to_dense(np.ones(2))) is pn.Array
    for op in (pn.floor, pn.ceil, pn.round, pn.trunc):
        whole = pn.array([3])
        assert not np.shares_memory(ndarray(op(whole)), ndarray(whole))


@pytest.mark.parametrize("options", [{"p": 0.0}, {"training": False}], ids=str)
def test_dropout_that_drops_nothing_returns_a_view(options: Any) -> None:
    gaps = pn.narrow(np.ones((2, 3)), 1, 0, [1, 2], layout=pn.jagged)
    for x in (pn.array([1.5]), nest([np.ones(2), np.ones(1)], pn.strided), gaps):
        y = x.dropout(**options)
        assert y is not x and pn.equal(y, x) and np.shares_memory(ndarray(y), ndarray(x))
