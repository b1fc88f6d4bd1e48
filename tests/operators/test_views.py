"""Views: shared memory and version, a gradient of their own, writes through them, refused writes, and their shapes."""

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

from ..nests import assert_same, batch, distinct, nest, place

View = Callable[[Any], Any]
X = batch([(2, 4), (0, 4), (3, 4)])

DENSE_VIEWS: dict[str, View] = {
    "slice": lambda x: x[0:1],
    "index": lambda x: x[1],
    "element": lambda x: x[1, 1],
    "new axis": lambda x: x[..., None],
    "reversed": lambda x: x[::-1],
    "T": lambda x: x.T,
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute((1, 0)),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "unflatten": lambda x: x.unflatten(1, (2, -1)),
    "select": lambda x: x.select(1, 0),
    "narrow": lambda x: x.narrow(0, 0, 1),
    "chunk": lambda x: x.chunk(2)[1],
    "split": lambda x: x.split([1, 2])[1],
    "unbind": lambda x: x.unbind()[1],
    "copy.copy": lambda x: copy.copy(x[0]),
    "view of a view": lambda x: x[0][1:],
    "to its own dtype": lambda x: x.to(pn.float64),
}
PACKED_DENSE_VIEWS: dict[str, View] = {  # of memory without gaps
    "reshape": lambda x: x.reshape(-1),
    "view": lambda x: x.view(12),
    "as_strided": lambda x: x.as_strided((2,), (3,)),
    "contiguous": lambda x: x.contiguous(),
    "as_nested_array": lambda x: pn.as_nested_array(x),
    "from_jagged": lambda x: pn.nested_array_from_jagged(x, [0, 1, 3]),
    "narrow, ragged": lambda x: pn.narrow(x, 1, [0, 1, 2], 2, pn.jagged),
    "narrow, strided": lambda x: pn.narrow(x, 1, [0, 1, 2], 2, pn.strided),
}
NESTED_VIEWS: dict[str, View] = {  # the programs `share` of the vectors check views by the other operators
    "transpose": lambda x: x.transpose(1, 2),
    "flatten": lambda x: x.flatten(1),
    "reshape": lambda x: x.reshape(-1, -1, 2, 2),
    "select, regular": lambda x: x.select(2, 1),
    "select, component": lambda x: x.select(0, 2),
    "unbind, in two": lambda x: x.unbind()[2][1:],
    "narrow": lambda x: pn.narrow(x, 0, 1, 2),
    "narrow, regular": lambda x: pn.narrow(x, 2, 1, 2),
    "slice, batch": lambda x: x[1:],
    "slice, reversed batch": lambda x: x[::-1],
    "slice, every other component": lambda x: x[::2],
    "slice, ragged": lambda x: x[:, 1:],
    "slice, regular": lambda x: x[..., 1:3],
    "index, regular": lambda x: x[..., 0],
    "component": lambda x: x[2],
    "strided": lambda x: x.to(layout=pn.strided),
    "copy.copy": lambda x: copy.copy(x.transpose(1, 2)),
}
PACKED_NESTED_VIEWS: dict[str, View] = {
    "values": lambda x: x.values(),
    "jagged": lambda x: x.to(layout=pn.jagged),
    "contiguous": lambda x: x.contiguous(),
}
STRIDED_VIEWS: dict[str, View] = {  # which a jagged array copies
    "slice, every other row": lambda x: x[:, ::2],
    "index, ragged": lambda x: x[::2][:, 0],
}
DENSE_COPIES: dict[str, View] = {
    "sum over nothing": lambda x: x.sum(()),
    "reshape that has to copy": lambda x: x.T.reshape(-1),
    "astype": lambda x: x.astype(pn.float64),
}
NESTED_COPIES: dict[str, View] = {
    "slice, reversed rows": lambda x: x[:, ::-1],
    "flatten that has to copy": lambda x: x.transpose(1, 2).flatten(1),
    "astype": lambda x: x.astype(pn.float64),
    **{f"{name} over nothing": lambda x, n=name: getattr(x, n)(()) for name in ("sum", "mean", "amax")},
}


def views(placements: tuple[str, ...] = ("packed",)) -> Any:
    """Parametrize over every view by form; views of memory without gaps are of packed arrays only."""
    tables = [("dense", DENSE_VIEWS), ("jagged", NESTED_VIEWS), ("strided", NESTED_VIEWS | STRIDED_VIEWS)]
    of_packed = [("dense", PACKED_DENSE_VIEWS), ("jagged", PACKED_NESTED_VIEWS), ("strided", PACKED_NESTED_VIEWS)]
    cases = [(form, *item, placement) for form, table in tables for item in table.items() for placement in placements]
    cases += [(form, *item, "packed") for form, table in of_packed for item in table.items()]
    return pytest.mark.parametrize(
        ("form", "view", "placement"),
        [pytest.param(form, view, placement, id=f"{form}-{name}-{placement}") for form, name, view, placement in cases],
    )


def make(form: str, placement: str = "packed", grad: bool = False) -> Any:
    if form == "dense":
        return place(list(distinct((3, 4))), None, placement, grad=grad)
    return place(X, getattr(pn, form), placement, grad=grad)


def ndarray(x: Any) -> Any:
    return x.data.data if x.is_nested else x.data


def storage(x: Any) -> Any:
    return x.data.storage if x.is_nested else x.storage


@views(("packed", "holes"))
class TestViews:
    def test_a_write_reaches_the_array(self, form: str, view: View, placement: str) -> None:
        x = make(form, placement)
        seen, before, gaps = view(x.array), storage(x.array).version, x.holes_of(x.buffer.numpy()).copy()
        assert np.shares_memory(ndarray(seen), ndarray(x.array)) and storage(seen) is storage(x.array)
        seen.fill_(77.0)
        assert storage(x.array).version > before
        assert sum(int((part == 77).sum()) for part in x.components_of(x.buffer.numpy())) == seen.numel()
        np.testing.assert_array_equal(x.holes_of(x.buffer.numpy()), gaps)
        x.array.fill_(5.0)
        assert (seen == 5).all().item()

    def test_it_has_a_gradient_of_its_own(self, form: str, view: View, placement: str) -> None:
        x = make(form, placement, grad=True)
        seen = view(x.array)
        assert seen.requires_grad
        if not seen.is_leaf:  # an operator that returns the array itself returns the leaf
            seen.retain_grad()
        (seen * seen).sum().backward()
        values, grads = [list(array) if array.is_nested else [array] for array in (seen.detach(), seen.grad)]
        assert_same(grads, [2 * value.numpy() for value in values])
        gradient = x.gradient()
        assert sum(int((slope != 0).sum()) for slope in gradient) == seen.numel()
        with pn.no_grad():  # elements with a gradient are the elements that a write reaches
            seen.fill_(77.0)
        for part, slope in zip(x.components_of(x.buffer.detach().numpy()), gradient, strict=True):
            np.testing.assert_array_equal(part == 77, slope != 0)


@pytest.mark.parametrize("recorded", [False, True], ids=["leaf", "recorded"])
@views()
def test_a_view_made_under_no_grad_is_not_written_while_recording(
    form: str, view: View, placement: str, recorded: bool
) -> None:
    leaf = make(form, placement, grad=True).array
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


@views()
def test_a_view_of_a_leaf_is_written_under_no_grad_only_and_gradients_notice(
    form: str, view: View, placement: str
) -> None:
    leaf = make(form, placement, grad=True).array
    square, seen = (leaf * leaf).sum(), view(leaf)
    with pytest.raises(GradientError, match="requires grad, and a write"):
        seen.mul_(3)
    with pn.no_grad():
        seen.mul_(3)
    with pytest.raises(GradientError, match="overwritten"):
        square.backward()


def test_arguments_and_results_stay_views_that_were_not_recorded() -> None:
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


def test_a_view_of_a_constant_made_under_no_grad_is_written() -> None:
    x = pn.array([1.0, 2.0])
    with pn.no_grad():
        view = x[0:1]
    view.mul_(3)
    assert x.tolist() == [3, 2]


COPIES = [("dense", name, copied) for name, copied in DENSE_COPIES.items()]
COPIES += [(form, name, copied) for form in ("jagged", "strided") for name, copied in NESTED_COPIES.items()]
COPIES += [("jagged", name, copied) for name, copied in STRIDED_VIEWS.items()]


@pytest.mark.parametrize(("form", "name", "copied"), COPIES, ids=[f"{form}-{name}" for form, name, _ in COPIES])
def test_copies_share_nothing(form: str, name: str, copied: View) -> None:
    x = place(batch([(2, 4), (1, 4), (3, 4)]), getattr(pn, form)) if "amax" in name else make(form)
    with pn.no_grad():
        result = copied(x.array.requires_grad_())
    assert not np.shares_memory(ndarray(result), ndarray(x.array))
    assert storage(result) is not storage(x.array)


# ---- shapes of views ------------------------------------------------------------------------------------------------


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


# ---- arrays that share memory ---------------------------------------------------------------------------------------


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
    dense = pn.array([1.5])
    assert dense.to(pn.float64) is dense and dense.to("cpu") is dense
    assert dense.dropout(0.5, training=False).storage is dense.storage
    for op in (pn.floor, pn.ceil, pn.round, pn.trunc):
        whole = pn.array([3])
        assert not np.shares_memory(ndarray(op(whole)), ndarray(whole))
