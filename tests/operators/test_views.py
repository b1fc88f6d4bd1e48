"""Views: shared memory and version, a gradient of their own, writes through them, and refusals while recording."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError, ShapeError

from ..nests import LAYOUTS, assert_same, batch, distinct, nest, place

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
NESTED_VIEWS: dict[str, View] = {
    "transpose": lambda x: x.transpose(1, 2),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "permute": lambda x: x.permute(0, 2, 1),
    "squeeze": lambda x: x.unsqueeze(1).squeeze(1),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "reshape": lambda x: x.reshape(-1, -1, 2, 2),
    "view": lambda x: x.view(-1, -1, 2, 2),
    "select, regular": lambda x: x.select(2, 1),
    "select, component": lambda x: x.select(0, 2),
    "chunk, batch": lambda x: x.chunk(2)[0],
    "chunk, regular": lambda x: x.chunk(2, 2)[1],
    "split, batch": lambda x: x.split([1, 2])[1],
    "split, regular": lambda x: x.split(3, 2)[0],
    "unbind": lambda x: x.unbind()[2],
    "unbind, in two": lambda x: x.unbind()[2][1:],
    "narrow": lambda x: pn.narrow(x, 0, 1, 2),
    "slice, batch": lambda x: x[1:],
    "slice, reversed batch": lambda x: x[::-1],
    "slice, every other component": lambda x: x[::2],
    "slice, ragged": lambda x: x[:, 1:],
    "slice, regular": lambda x: x[..., 1:3],
    "index, regular": lambda x: x[..., 0],
    "new axis": lambda x: x[:, None],
    "component": lambda x: x[2],
    "strided": lambda x: x.to(layout=pn.strided),
    "copy.copy": lambda x: copy.copy(x.transpose(1, 2)),
}
PACKED_NESTED_VIEWS: dict[str, View] = {
    "values": lambda x: x.values(),
    "jagged": lambda x: x.to(layout=pn.jagged),
    "contiguous": lambda x: x.contiguous(),
}
STRIDED_VIEWS: dict[str, View] = {
    "slice, every other row": lambda x: x[:, ::2],
    "index, ragged": lambda x: x[::2][:, 0],
}
DENSE_COPIES: dict[str, View] = {
    "clone": lambda x: x.clone(),
    "sum": lambda x: x.sum(0),
    "sum over nothing": lambda x: x.sum(()),
    "reshape that has to copy": lambda x: x.T.reshape(-1),
    "list": lambda x: x[[0, 1]],
    "mask": lambda x: x[x > -99],
    "astype": lambda x: x.astype(pn.float64),
}
NESTED_COPIES: dict[str, View] = {
    "clone": lambda x: x.clone(),
    "list": lambda x: x[[0, 1, 2]],
    "bools": lambda x: x[[True] * 3],
    "mask": lambda x: x[x > -99],
    "slice, reversed rows": lambda x: x[:, ::-1],
    "flatten that has to copy": lambda x: x.transpose(1, 2).flatten(1),
    "astype": lambda x: x.astype(pn.float64),
    **{f"{name} over nothing": lambda x, n=name: getattr(x, n)(()) for name in ("sum", "mean", "amax")},
}
JAGGED_COPIES: dict[str, View] = {
    "slice, every other row": lambda x: x[:, ::2],
    "index, ragged": lambda x: x[::2][:, 0],
}


def rows(packed: bool = True) -> list[Any]:
    """Return every view by form, with its placements."""
    tables: list[tuple[str, dict[str, View], tuple[str, ...]]] = [("dense", DENSE_VIEWS, ("packed", "holes"))]
    tables += [(form, NESTED_VIEWS, ("packed", "holes")) for form in ("jagged", "strided")]
    tables += [("strided", STRIDED_VIEWS, ("packed", "holes")), ("dense", PACKED_DENSE_VIEWS, ("packed",))]
    tables += [(form, PACKED_NESTED_VIEWS, ("packed",)) for form in ("jagged", "strided")]
    return [
        pytest.param(form, view, placement, id=f"{form}-{name}-{placement}")
        for form, table, placements in tables
        for name, view in table.items()
        for placement in (placements[:1] if packed else placements)
    ]


def made(form: str, placement: str = "packed", grad: bool = False) -> Any:
    if form == "dense":
        return place(list(distinct((3, 4))), None, placement, grad=grad)
    return place(X, getattr(pn, form), placement, grad=grad)


def bare(x: Any) -> Any:
    return x.data.data if x.is_nested else x.data


def storage(x: Any) -> Any:
    return x.data.storage if x.is_nested else x.storage


@pytest.mark.parametrize(("form", "view", "placement"), rows(packed=False))
class TestViews:
    def test_a_write_reaches_the_array(self, form: str, view: View, placement: str) -> None:
        x = made(form, placement)
        seen, before, gaps = view(x.array), storage(x.array).version, x.holes_of(x.buffer.numpy()).copy()
        assert np.shares_memory(bare(seen), bare(x.array)) and storage(seen) is storage(x.array)
        seen.fill_(77.0)
        assert storage(x.array).version > before
        assert sum(int((one == 77).sum()) for one in x.components_of(x.buffer.numpy())) == seen.numel()
        np.testing.assert_array_equal(x.holes_of(x.buffer.numpy()), gaps)
        x.array.fill_(5.0)
        assert (seen == 5).all().item()

    def test_it_has_a_gradient_of_its_own(self, form: str, view: View, placement: str) -> None:
        x = made(form, placement, grad=True)
        seen = view(x.array)
        assert seen.requires_grad
        if not seen.is_leaf:  # an operator that returns the array itself returns the leaf
            seen.retain_grad()
        (seen * seen).sum().backward()
        values, grads = [list(one) if one.is_nested else [one] for one in (seen.detach(), seen.grad)]
        assert_same(grads, [2 * one.numpy() for one in values])
        gradient = x.gradient()
        assert sum(int((one != 0).sum()) for one in gradient) == seen.numel()
        with pn.no_grad():  # elements with a gradient are the elements that a write reaches
            seen.fill_(77.0)
        for one, slope in zip(x.components_of(x.buffer.detach().numpy()), gradient, strict=True):
            np.testing.assert_array_equal(one == 77, slope != 0)


WRITES: dict[str, Callable[[Any], Any]] = {
    "mul_": lambda x: x.mul_(2),
    "fill_": lambda x: x.fill_(7.0),
    "zero_": lambda x: x.zero_(),
    "copy_": lambda x: x.copy_(7.0),
    "masked_fill_": lambda x: x.masked_fill_(x > 2, 0.0),
    "augmented": lambda x: x.__iadd__(1),
    "assignment": lambda x: x.__setitem__(..., 5.0),
    "assignment to a view": lambda x: x[...].__setitem__(..., 5.0),
}


@pytest.mark.parametrize("recorded", [False, True], ids=["leaf", "recorded"])
@pytest.mark.parametrize(("form", "view", "placement"), rows())
def test_a_view_made_under_no_grad_is_not_written_while_recording(
    form: str, view: View, placement: str, recorded: bool
) -> None:
    leaf = made(form, placement, grad=True).array
    owner = leaf * 3 if recorded else leaf
    with pn.no_grad():
        seen = view(owner)
    before = bare(owner).copy()
    for write in WRITES.values():
        with pytest.raises(GradientError, match=r"a view, made inside no_grad|requires grad, and a write"):
            write(seen)
    np.testing.assert_array_equal(bare(owner), before)
    for allowed in (seen, seen.detach()):
        version = storage(owner).version
        with pn.no_grad() if allowed is seen else nullcontext():
            allowed.mul_(2)
        assert storage(owner).version == version + 1


@pytest.mark.parametrize(("form", "view", "placement"), rows())
def test_a_view_of_a_leaf_is_written_under_no_grad_only_and_gradients_notice(
    form: str, view: View, placement: str
) -> None:
    leaf = made(form, placement, grad=True).array
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
COPIES += [("jagged", name, copied) for name, copied in JAGGED_COPIES.items()]


@pytest.mark.parametrize(("form", "name", "copied"), COPIES, ids=[f"{form}-{name}" for form, name, _ in COPIES])
def test_copies_share_nothing(form: str, name: str, copied: View) -> None:
    x = place(batch([(2, 4), (1, 4), (3, 4)]), getattr(pn, form)) if "amax" in name else made(form)
    with pn.no_grad():
        found = copied(x.array.requires_grad_())
    assert not np.shares_memory(bare(found), bare(x.array))
    before, version = bare(x.array).copy(), storage(x.array).version
    for write in WRITES.values():
        write(found)
    np.testing.assert_array_equal(bare(x.array), before)
    assert storage(x.array).version == version


# ---- shapes that a view can have ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shapes", "placement"),
    [
        ([(4, 3, 2)], "packed"),
        ([(4, 0, 2), (4, 3, 2)], "packed"),
        *[
            (shapes, placement)
            for shapes in ([(1, 3, 8)], [(4, 0, 2)] * 2, [(4, 2, 0), (4, 1, 0)])
            for placement in ("packed", "holes")
        ],
    ],
    ids=str,
)
def test_elements_move_across_the_ragged_dimension_of_one_component(shapes: Any, placement: str) -> None:
    x = batch(shapes)
    wide = 0 if shapes[0][2] == 0 else 4
    array = nest(x, pn.jagged, placement, 2)
    seen = pn.view(array, (len(x), 2, -1, wide))
    assert_same(seen, [one.reshape(2, one.shape[1], wide) for one in x])
    assert seen.layout is pn.jagged and storage(seen) is storage(array)
    seen.fill_(7.0)
    assert all((one.numpy() == 7).all() for one in array)


@pytest.mark.parametrize("shapes", [[(4, 3, 2), (4, 1, 2)], [(1, 3, 8), (1, 3, 8)]], ids=str)
def test_elements_do_not_move_across_the_rows_of_several_components(shapes: Any) -> None:
    x = batch(shapes)
    with pytest.raises(ShapeError, match="no view. Use reshape"):
        pn.view(nest(x, pn.jagged, "packed", 2), (2, 2, -1, 4))
    for layout in LAYOUTS:
        seen = nest(x, layout, "packed", 2).reshape(2, 2, -1, 4)
        assert_same(seen, [one.reshape(2, one.shape[1], 4) for one in x])
    assert pn.view(nest(x, pn.strided), (2, 2, -1, 4)).layout is pn.strided


@pytest.mark.parametrize("placement", ["packed", "holes"])
def test_dimensions_of_contiguous_rows_are_joined_in_a_view(layout: Any, placement: str) -> None:
    x = nest(batch([(2, 3, 4), (0, 3, 4), (1, 3, 4)]), layout, placement)
    for joined in (x.flatten(1), x.flatten(2), x.reshape(-1, -1, 12), x.view(-1, -1, 6, 2)):
        assert storage(joined) is storage(x)


@pytest.mark.parametrize(
    ("shape", "ragged", "new"),
    [
        ((0, 4, 1), 1, (-1, 4, 3)),
        ((0, 4, 1), 1, (-1, 7)),
        ((4, 0, 1), 2, (2, -1, 5)),
        ((4, 0), 2, (4, -1, 2)),
        ((0, 3), 1, (-1, 0)),
        ((0, 2, 0), 1, (-1, 9, 2)),
    ],
    ids=str,
)
def test_no_elements_fill_every_shape_of_no_elements(
    shape: tuple[int, ...], ragged: int, new: tuple[int, ...], layout: Any, placement: str
) -> None:
    x = place([np.zeros(shape)] * 2, layout, placement, ragged, grad=True)
    if layout is pn.strided:
        new = tuple(shape[k] if size == -1 and k < len(shape) else size for k, size in enumerate(new))
    expected = [np.zeros([shape[k] if size == -1 else size for k, size in enumerate(new)])] * 2
    result = x.array.reshape(2, *new)
    assert_same(result, expected)
    assert result.layout is layout
    result.sum().backward()
    x.gradient()
    if ragged == 1 or layout is pn.strided:
        seen = x.array.detach().view(2, *new)
        assert_same(seen, expected)
        assert storage(seen) is storage(x.array)
    with pytest.raises(ShapeError):
        nest([np.zeros(shape), np.ones([max(size, 1) for size in shape])], layout, placement, ragged).reshape(2, *new)


def test_rows_without_elements_stay_rows(layout: Any) -> None:
    x = place([np.zeros((0, n, 3)) for n in (2, 0, 1)], layout, "holes", 2).array
    for inner in ((0,), (1,), (4, 2), (3, 0)):
        for method in (x.reshape, x.view):
            assert_same(method(3, 0, -1, *inner), [np.zeros((0, n, *inner)) for n in (2, 0, 1)])
    cut = pn.nested_array_from_jagged(np.arange(16.0).reshape(4, 4, 1), [0, 2, 4])[:, :0]
    for one in (cut, cut.contiguous()):
        assert_same(one.reshape(2, -1, 2, 3), [np.zeros((0, 2, 3))] * 2)


def test_expand_repeats_elements_in_a_view(lay: Any) -> None:
    components = batch([(2, 1, 3), (0, 1, 3), (4, 1, 3)])
    x = lay(components).detach().requires_grad_()
    for shape in ((-1, -1, 5, -1), (3, -1, 5, 3), (3, x.shape[1], 5, 3)):
        seen = x.expand(*shape)
        assert_same(seen.detach(), [np.repeat(one, 5, axis=1) for one in components])
        assert seen.layout is x.layout and storage(seen) is storage(x)
    assert_same(x.detach().expand(-1, -1, 0, -1), [one[:, :0] for one in components])
    (x.expand(-1, -1, 5, -1) * 2.0).sum().backward()
    assert all((one.numpy() == 10.0).all() for one in x.grad)


# ---- what is handed out ---------------------------------------------------------------------------------------------


def test_no_result_shares_memory_with_a_structure(layout: Any, placement: str) -> None:
    x = nest(X, layout, placement)
    strided = layout is pn.strided
    handed = [x.offsets().numpy(), x.component_sizes(), x.component_offsets(), x.lengths_along(1), x.shape[1].lengths]
    handed += [x.stride(), x.stride(0), x.stride(1), x.component_strides()] if strided else []
    handed += [] if strided or x.lengths() is None else [x.lengths().numpy()]
    again = x if strided else pn.nested_array_from_jagged(x.values(), handed[0], x.lengths())
    for array in (x, again):
        held = [one for one in vars(array.structure).values() if isinstance(one, np.ndarray)]
        assert held
        assert not any(np.shares_memory(mine, own) for mine in handed for own in held)


def test_structures_do_not_share_what_a_caller_froze() -> None:
    offsets, sizes = np.array([0, 2, 3]), np.array([[2], [1]])
    for frozen in (offsets, sizes):
        frozen.setflags(write=False)
    jagged = pn.nested_array_from_jagged(np.arange(3.0), offsets)
    strided = pn.nested_array_from_strided(np.arange(3.0), sizes)
    assert not np.shares_memory(jagged.structure.offsets, offsets)
    assert not np.shares_memory(strided.structure.sizes, sizes)


def test_numpy_gets_a_copy_unless_a_view_is_requested(layout: Any) -> None:
    numbers = [X[0], X[0]]
    x = nest(numbers, layout)
    np.testing.assert_array_equal(np.asarray(x), numbers)
    assert not np.shares_memory(np.array(x), bare(x))
    assert np.shares_memory(np.asarray(x), bare(x)) and np.shares_memory(np.array(x, copy=False), bare(x))
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype=np.float32, copy=False)
    with pytest.raises(ValueError, match="need a copy"):
        np.array(nest(numbers, layout, "holes"), copy=False)


def test_an_operator_that_changes_nothing_returns_the_array_itself() -> None:
    dense = pn.array([1.5])
    assert dense.to(pn.float64) is dense and dense.to("cpu") is dense
    assert dense.dropout(0.5, training=False).storage is dense.storage
    for op in (pn.floor, pn.ceil, pn.round, pn.trunc):
        whole = pn.array([3])
        assert not np.shares_memory(bare(op(whole)), bare(whole))
