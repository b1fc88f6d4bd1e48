"""What is written can be read: assignment through every kind of index, views and copies, what is handed out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.rules.pairs import PAIRS
from pynested.backends.errors import ArgumentError, DTypeError, GradientError, ShapeError, StructureError
from pynested.surface.derived import IN_PLACE

from ..nests import LAYOUTS, PLACEMENTS, Numbers, assert_same, batch, nest, place, plain

SHAPES = [(3, 2), (1, 2), (4, 2)]
X = batch(SHAPES)
EACH_LAYOUT = pytest.mark.parametrize("layout", LAYOUTS, ids=["jagged", "strided"])
PLACED = pytest.mark.parametrize("placement", PLACEMENTS)
RAGGED = pytest.mark.parametrize("ragged", [1, 2])

BATCH: list[Any] = [slice(None), slice(1, None), slice(None, None, -1), slice(None, None, 2), slice(0, 0)]
INNER: list[Any] = [
    0,
    -1,
    ...,
    None,
    slice(None, 1),
    slice(-2, None),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(3, 0, -2),
    (0, 1),
    (-1, slice(None, None, -1)),
    (slice(None, None, 2), 1),
    (slice(None, None, -1), 0),
    (slice(None, None, -1), slice(None, None, -1)),
    (slice(1, 1), 0),
    (None, 0),
    (0, None),
    (slice(None, None, 2), None, -1),
    (..., 0),
    (..., -1, slice(None, None, -1)),
    (slice(None, None, -1), ..., 0),
]


def turned(ragged: int) -> list[Numbers]:
    """The components with their ragged dimension at ``ragged``; both dimensions have index 0 and -1."""
    return [one if ragged == 1 else one.T.copy() for one in X]


def written(components: list[Numbers], which: Any, inner: tuple[Any, ...], values: Any) -> list[Numbers]:
    """What NumPy makes of it, component by component."""
    result = [one.copy() for one in components]
    picked = range(len(result))[which]
    for i, value in zip(picked, values, strict=True):
        result[i][inner] = value
    return result


def fits(components: list[Numbers], which: Any, inner: tuple[Any, ...]) -> bool:
    """Whether the picked components all have this index."""
    try:
        [components[i][inner] for i in range(len(components))[which]]
    except IndexError:
        return False
    return True


@EACH_LAYOUT
@PLACED
@RAGGED
@pytest.mark.parametrize("inner", INNER, ids=str)
def test_what_is_assigned_is_read(layout: Any, placement: str, ragged: int, inner: Any) -> None:
    components = turned(ragged)
    behind = inner if isinstance(inner, tuple) else (inner,)
    for which in BATCH:
        if not fits(components, which, behind):
            continue
        made = place(components, layout, placement, ragged)
        x, index = made.array, (which, *behind)
        count = len(range(len(X))[which])
        holes = made.holes_of(made.buffer.numpy()).copy()
        x[index] = 7
        assert_same(x, written(components, which, behind, [7.0] * count))
        own = x[index]
        x[index] = own * 2 + 1
        assert_same(x, written(components, which, behind, [15.0] * count))
        x[index] += 1
        assert_same(x, written(components, which, behind, [16.0] * count))
        fresh = nest(components, layout, placement, ragged)[index]
        x[index] = fresh
        assert_same(x, components)
        np.testing.assert_array_equal(made.holes_of(made.buffer.numpy()), holes)


@EACH_LAYOUT
@PLACED
def test_a_value_for_each_component(layout: Any, placement: str) -> None:
    x = nest(X, layout, placement)
    rows = np.arange(6.0).reshape(3, 2)
    for index, inner in (((slice(None), 0), 0), ((slice(None), -1), -1)):
        x[index] = rows
        assert_same([one[inner] for one in plain(x)], list(rows))
    x[:, ::-1] = rows[:, None]
    assert_same(x, [np.broadcast_to(row, one.shape) for row, one in zip(rows, X, strict=True)])
    x[:, ::-1] = nest(X, layout)
    assert_same(x, [one[::-1] for one in X])
    x[:, ::-1] = x
    assert_same(x, X)
    x[0] = [[1, 2], [3, 4], [5, 6]]
    assert_same(x[0], np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    x[:, 0] = [8, 9]
    assert_same([one[0] for one in plain(x)], [np.array([8.0, 9.0])] * 3)


@EACH_LAYOUT
def test_leaves_are_written_under_no_grad_only(layout: Any) -> None:
    x = nest(X, layout).detach().requires_grad_()
    square = (x * x).sum()
    for index in ((slice(None), 0), (slice(None), slice(None, None, -1)), 0):
        with pytest.raises(GradientError, match=r"pn\.where\(.*no_grad"):
            x[index] = 1.0
    with pn.no_grad():
        x[:, 0] = 1.0
        x[:, ::-1] = 2.0
    assert_same(x.detach(), [np.full(shape, 2.0) for shape in SHAPES])
    with pytest.raises(GradientError, match="overwritten"):
        square.backward()


@EACH_LAYOUT
def test_refused_assignments(layout: Any) -> None:
    x = nest(X, layout)
    for index in ((slice(None), 0), (slice(None), slice(None, None, -1))):
        with pytest.raises((ShapeError, StructureError)):
            x[index] = np.zeros((3, 4, 5))
        ints = pn.nested_array([np.array([[1, 2]], np.int8)], layout=layout)
        with pytest.raises(DTypeError):
            ints[index] = np.array([[0.5, 0.5]])
        with pytest.raises(OverflowError):
            ints[index] = [300, 0]
    with pytest.raises(ArgumentError, match="different lengths"):
        x[0] = [[1.0], [2.0, 3.0]]
    frozen = np.zeros(5)
    frozen.setflags(write=False)
    for index in (0, -1):
        with pytest.raises(GradientError, match="read-only"):
            pn.nested_array_from_jagged(frozen, [0, 5])[:, index] = 1.0
    assert_same(x, X)


@EACH_LAYOUT
@pytest.mark.parametrize("lengths", [[], [0], [2], [1, 2]])
def test_what_would_enlarge_a_component_is_refused(layout: Any, lengths: list[int]) -> None:
    thin, wide = (batch([(n, size) for n in lengths]) for size in (1, 3))
    jagged = pn.nested_array_from_jagged(np.concatenate([np.zeros((0, 1)), *thin]), lengths=np.array(lengths, int))
    x = jagged.to(layout=layout)
    larger = pn.nested_array_from_jagged(np.concatenate([np.zeros((0, 3)), *wide]), lengths=np.array(lengths, int))
    for value in (np.zeros(3), np.zeros((1, 1, 3)), larger, larger.to(layout=pn.strided)):
        for write in (x.copy_, x.add_, lambda value: x.__setitem__(..., value)):
            with pytest.raises((ShapeError, StructureError)):
                write(value)
    assert_same(x, thin)


def test_a_place_is_never_written_twice() -> None:
    values = pn.arange(6, dtype=pn.float64)
    jagged = pn.nested_array_from_jagged(values, [0, 0, 6], [3, 2])
    repeated = pn.nested_array_from_strided(values, [[3]], [[0]], [0])
    overlapping = pn.nested_array_from_strided(values, [[3, 2]], [[1, 1]], [0])
    for x, index in ((jagged, (slice(None), 0)), (jagged, (slice(None), slice(None, None, -1)))):
        with pytest.raises(StructureError, match="overlap"):
            x[index] = 1.0
    for x in (repeated, overlapping):
        with pytest.raises(GradientError, match="places repeat"):
            x[0] = 1.0
        with pytest.raises(GradientError, match="places repeat"):
            x.unbind()[0].fill_(1.0)
        with pytest.raises(StructureError, match="overlap"):
            x[:, ::-1] = 1.0
    woven = pn.nested_array_from_strided(values, [[2, 3]], [[3, 1]], [0])
    woven[0] = 9.0
    assert values.tolist() == [9.0] * 6


VIEWS: list[Any] = [
    0,
    slice(1, None),
    slice(None, None, -1),
    (slice(None), slice(1, None)),
    (..., 0),
    (slice(None), None),
]
COPIES: dict[str, list[Any]] = {
    "jagged": [(slice(None), 0), (slice(None), slice(None, None, 2)), (slice(None), slice(None, None, -1))],
    "strided": [(slice(None), slice(None, None, -1))],
}


@EACH_LAYOUT
def test_which_indexing_is_a_view(layout: Any) -> None:
    x = nest(X, layout)
    memory = x.values().numpy()
    strided = [(slice(None), 0), (slice(None), slice(None, None, 2))] if layout is pn.strided else []
    for index in VIEWS + strided:
        got = x[index]
        assert np.shares_memory(memory, (got.values() if got.is_nested else got).numpy()), index
    for index in COPIES["strided" if layout is pn.strided else "jagged"]:
        got = x[index]
        assert not np.shares_memory(memory, (got.values() if got.is_nested else got).numpy()), index


@EACH_LAYOUT
def test_reductions_over_nothing_are_copies(layout: Any) -> None:
    x = nest(X, layout)
    for name in ("sum", "mean", "amax"):
        got = getattr(x, name)(())
        assert not np.shares_memory(x.values().numpy(), got.values().numpy())
        assert_same(got, X)


@EACH_LAYOUT
@PLACED
def test_numpy_gets_a_copy_unless_it_asks_for_none(layout: Any, placement: str) -> None:
    x = nest([X[0], X[0]], layout, placement)
    memory = x.values().numpy()
    assert not np.shares_memory(np.array(x), memory)
    np.testing.assert_array_equal(np.asarray(x), [X[0], X[0]])
    if placement == "packed":
        assert np.shares_memory(np.asarray(x), memory) and np.shares_memory(np.array(x, copy=False), memory)
        with pytest.raises(ValueError, match="copy"):
            np.array(x, dtype=np.float32, copy=False)
    if placement == "holes":
        with pytest.raises(ArgumentError, match="need a copy"):
            np.array(x, copy=False)


@EACH_LAYOUT
@PLACED
def test_nobody_can_reach_the_structure(layout: Any, placement: str) -> None:
    x = nest(X, layout, placement)
    strided = layout is pn.strided
    handed = [x.offsets().numpy(), x.component_sizes(), x.component_offsets(), x.lengths_along(1), x.shape[1].lengths]
    handed += [x.stride(), x.stride(0), x.stride(1), x.component_strides()] if strided else []
    handed += [] if strided or x.lengths() is None else [x.lengths().numpy()]
    held = [one for one in vars(x.structure).values() if isinstance(one, np.ndarray)]
    assert held
    assert not any(np.shares_memory(mine, own) for mine in handed for own in held)
    again = x if strided else pn.nested_array_from_jagged(x.values(), handed[0], x.lengths())
    held = [one for one in vars(again.structure).values() if isinstance(one, np.ndarray)]
    assert not any(np.shares_memory(mine, own) for mine in handed for own in held)


def test_structures_do_not_share_what_a_caller_froze() -> None:
    offsets, sizes = np.array([0, 2, 3]), np.array([[2], [1]])
    for given in (offsets, sizes):
        given.setflags(write=False)
    jagged = pn.nested_array_from_jagged(np.arange(3.0), offsets)
    strided = pn.nested_array_from_strided(np.arange(3.0), sizes)
    assert not np.shares_memory(jagged.structure.offsets, offsets)
    assert not np.shares_memory(strided.structure.sizes, sizes)


@EACH_LAYOUT
def test_messages_name_what_exists(layout: Any) -> None:
    for make in (lambda: nest(X, layout), lambda: pn.array(X[0])):
        x = make().detach().requires_grad_()
        writes = {"clone()": lambda x=x: x.copy_(x), "pn.full_like": lambda x=x: x.fill_(1)}
        writes |= {"pn.zeros_like": x.zero_, "pn.where": lambda x=x: x.__setitem__(0, 1.0)}
        for words, call in writes.items():
            with pytest.raises(GradientError) as caught:
                call()
            assert words in str(caught.value) and "pn.no_grad()" in str(caught.value)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float64"])
def test_lists_without_elements_have_any_dtype(dtype: str) -> None:
    assert pn.zeros(1, 0, dtype=dtype).copy_([[]]).dtype == dtype
    for nothing in ([], ()):
        x = pn.ones(3, dtype=dtype)
        x[0:0] = nothing
        assert x.tolist() == [1, 1, 1]
        for layout in LAYOUTS:
            nt = nest([np.ones(2, dtype), np.ones(3, dtype)], layout)
            nt[:, 0:0] = nothing
            assert_same(nt, [np.ones(2, dtype), np.ones(3, dtype)])


@pytest.mark.parametrize("name", sorted(name for name in IN_PLACE if name in PAIRS or name in ("add", "sub", "clamp")))
@pytest.mark.parametrize("sizes", [[[1, 2], [3]], []], ids=["components", "no components"])
def test_a_dense_array_takes_no_nested_result(name: str, sizes: list[Any]) -> None:
    dtype = np.dtype(float if name in PAIRS and "i" in PAIRS[name].refused else int)
    nested = pn.nested_array(sizes, dtype=dtype) if sizes else pn.nested_array([np.zeros(1, dtype)])[:0]
    x = pn.array(np.ones((len(nested), 1), dtype))
    with pytest.raises(StructureError, match=rf"^{name}_: the result is nested and cannot be written into a dense"):
        getattr(x, f"{name}_")(nested)
    assert x.tolist() == [[1]] * len(nested)
