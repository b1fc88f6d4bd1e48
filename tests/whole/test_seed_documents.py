"""The examples of PyTorch's documents on nested tensors, with `tensor` read as `array` and `torch.nested` as `pn`.

Values, shapes and classes of errors are what the documents show; texts, and the numbers of ragged sizes, are ours.
Where a document prints random numbers, they are the input here. What differs on purpose says so.
"""

from __future__ import annotations

from typing import Any

import pytest

import pynested as pn
from pynested.backends.errors import DeviceError

from ..seeds import LAYOUTS, close, listed, regular

# ---- construction -------------------------------------------------------------------------------------------------


@LAYOUTS
def test_construction_from_a_list(layout: Any) -> None:
    a, b = pn.arange(3), pn.arange(5) + 3
    assert listed(a) == [0, 1, 2]
    assert listed(b) == [3, 4, 5, 6, 7]
    nt = pn.nested_array([a, b], layout=layout)
    assert [component.tolist() for component in nt] == [[0, 1, 2], [3, 4, 5, 6, 7]]
    assert nt.dtype == pn.int64
    assert listed(pn.nested_array(tensor_list=[a, b], layout=layout)) == listed(nt)
    assert listed(pn.as_nested_array(tensor_list=[a, b], layout=layout)) == listed(nt)


def test_strided_is_the_default_layout() -> None:
    lists = [[0.0, 1.0], [2.0]]
    assert pn.nested_array(lists).layout is pn.strided
    assert pn.nested_array(lists, layout=None).layout is pn.strided
    assert pn.as_nested_array(lists).layout is pn.strided
    assert pn.nested_array(lists, layout=pn.jagged).layout is pn.jagged


@LAYOUTS
def test_dtype_and_requires_grad_are_keywords(layout: Any) -> None:
    a, b = pn.arange(3), pn.arange(5) + 3
    nt = pn.nested_array([a, b], layout=layout, dtype=pn.float32, device="cpu", requires_grad=True)
    assert [component.detach().tolist() for component in nt] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0, 6.0, 7.0]]
    assert nt.dtype == pn.float32
    assert nt.requires_grad
    assert all(component.requires_grad for component in nt)
    assert "requires_grad=True" in repr(nt)


@LAYOUTS
def test_a_device_that_is_not_there_is_a_clear_error(layout: Any) -> None:
    a, b = pn.arange(3), pn.arange(5) + 3
    with pytest.raises(RuntimeError, match="cuda") as caught:
        pn.nested_array([a, b], layout=layout, dtype=pn.float32, device="cuda", requires_grad=True)
    assert isinstance(caught.value, DeviceError)
    with pytest.raises(DeviceError, match="pin_memory"):
        pn.nested_array([a, b], layout=layout, pin_memory=True)


def test_components_match_in_dimension_and_in_nothing_else() -> None:
    a, b = pn.randn(3, 50, 70), pn.randn(3, 128, 64)  # two images
    assert pn.nested_array([a, b], dtype=pn.float32).dim() == 4


@LAYOUTS
def test_components_of_different_dimension_are_refused(layout: Any) -> None:
    a, b = pn.randn(50, 128), pn.randn(3, 128, 64)  # a text and an image
    with pytest.raises(RuntimeError, match=r"dimension 3 .* index 1 and dimension 2 .* index 0"):
        pn.nested_array([a, b], dtype=pn.float32, layout=layout)


def test_components_are_copied_into_contiguous_memory() -> None:
    a, b = pn.zeros(2, 2), pn.ones(1, 2)
    nt = pn.nested_array([a, b], layout=pn.jagged)
    assert nt.is_contiguous()
    a.fill_(7)
    assert listed(nt) == [[[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0]]]


def test_one_level_of_nesting_only() -> None:
    with pytest.raises(RuntimeError, match="one level of nesting"):
        pn.nested_array([pn.nested_array([[1.0], [2.0, 3.0]])])


def test_components_may_vary_along_a_single_dimension_in_the_jagged_layout() -> None:
    with pytest.raises(RuntimeError, match="single ragged dimension"):
        pn.nested_array([pn.ones(2, 3), pn.ones(3, 4)], layout=pn.jagged)


def test_the_dtype_is_that_of_the_first_array() -> None:
    nt = pn.nested_array([pn.arange(2, dtype=pn.float32), pn.arange(3, dtype=pn.float16)])
    assert nt.dtype == pn.float32
    with pytest.raises(TypeError, match="without loss"):  # a position: nothing is cast to a narrower kind silently
        pn.nested_array([pn.arange(2), pn.arange(3, dtype=pn.float32)])


# ---- history ------------------------------------------------------------------------------------------------------


@LAYOUTS
def test_nested_array_is_a_leaf(layout: Any) -> None:
    a = pn.arange(3, dtype=pn.float32, requires_grad=True)
    b = pn.arange(5, dtype=pn.float32, requires_grad=True)
    nt = pn.nested_array([a, b], requires_grad=True, layout=layout)
    assert nt.is_leaf
    nt.sum().backward()
    assert (a.grad, b.grad) == (None, None)
    assert listed(nt.grad) == [[1.0] * 3, [1.0] * 5]


@LAYOUTS
def test_as_nested_array_keeps_the_history(layout: Any) -> None:
    a = pn.arange(3, dtype=pn.float32, requires_grad=True)
    b = pn.arange(5, dtype=pn.float32, requires_grad=True)
    nt = pn.as_nested_array([a, b], layout=layout)
    assert not nt.is_leaf
    fake_grad = pn.nested_array([pn.ones_like(a), pn.zeros_like(b)], layout=layout)
    nt.backward(fake_grad)
    assert listed(a.grad) == [1.0, 1.0, 1.0]
    assert listed(b.grad) == [0.0, 0.0, 0.0, 0.0, 0.0]


@LAYOUTS
def test_gradients_flow_through_as_nested_array(layout: Any) -> None:
    a, b = pn.randn(12, 512, requires_grad=True), pn.randn(23, 512, requires_grad=True)
    nt = pn.as_nested_array([a, b], layout=layout, dtype=pn.float32)
    nt.sum().backward()
    assert listed(a.grad) == [[1.0] * 512] * 12
    assert listed(b.grad) == [[1.0] * 512] * 23
    assert a.grad is not None and a.grad.dtype == pn.float64


# ---- size and shape -----------------------------------------------------------------------------------------------


def test_size_of_regular_dimensions() -> None:
    nt = pn.nested_array([pn.randn(50, 128), pn.randn(32, 128)], dtype=pn.float32)
    assert nt.size(0) == 2
    with pytest.raises(RuntimeError, match="Given dimension 1 is irregular and does not have a size"):
        nt.size(1)
    assert nt.size(2) == 128


@LAYOUTS
def test_components_of_one_shape_are_like_a_dense_array(layout: Any) -> None:
    with pn.set_default_dtype(pn.float32):  # PyTorch's
        a = pn.randn(20, 128)
    nt = pn.nested_array([a, a], dtype=pn.float32, layout=layout)
    sizes = [2, None if layout is pn.jagged else 20, 128]
    assert regular(nt.size(i) for i in range(3)) == sizes
    assert pn.stack(nt.unbind()).size() == (2, 20, 128)
    assert pn.stack([a, a]).size() == (2, 20, 128)
    assert pn.equal(pn.stack(nt.unbind()), pn.stack([a, a]))


def test_the_shape_of_a_jagged_array_has_a_symbol() -> None:
    nt = pn.nested_array([pn.randn(50, 128), pn.randn(32, 128)], layout=pn.jagged, dtype=pn.float32)
    assert nt.dim() == 3
    assert regular(nt.shape) == [2, None, 128]
    assert str(nt.shape[1]).startswith("j")


# ---- unbind -------------------------------------------------------------------------------------------------------

STRIDED = (
    [[1.2286, -1.2343, -1.4842], [-0.7827, 0.6745, 0.0658]],
    [[-1.1247, -0.4078, -1.0633, 0.8083], [-0.2871, -0.2980, 0.5559, 1.9885], [0.4074, 2.4855, 0.0733, 0.8285]],
    [[3.6858, -3.7030, -4.4525], [-2.3481, 2.0236, 0.1975]],
)
JAGGED = (
    [[-0.9916, -0.3363, -0.2799], [-2.3520, -0.5896, -0.4374]],
    [[-2.0969, -1.0104, 1.4841], [2.0952, 0.2973, 0.2516], [0.9035, 1.3623, 0.2026]],
    [[-2.9747, -1.0089, -0.8396], [-7.0561, -1.7688, -1.3122]],
)


@pytest.mark.parametrize(("layout", "printed"), [(pn.strided, STRIDED), (pn.jagged, JAGGED)], ids=["strided", "jagged"])
def test_unbind_gives_views(layout: Any, printed: Any) -> None:
    first, second, tripled = printed
    a, b = pn.array(first, dtype=pn.float32), pn.array(second, dtype=pn.float32)
    nt = pn.nested_array([a, b], layout=layout, dtype=pn.float32)
    components = nt.unbind()
    assert isinstance(components, tuple)
    assert close(components[0], first) and close(components[1], second)
    assert nt.unbind()[0] is not a
    assert close(nt.unbind()[0].mul_(3), tripled)
    assert close(nt.unbind()[0], tripled) and close(nt.unbind()[1], second)
    assert close(a, first)


def test_a_simple_sum_piece_by_piece() -> None:
    pn.manual_seed(0)
    whole = pn.rand(3, 4)[0] + pn.rand(3, 4)
    pn.manual_seed(0)
    t1 = pn.rand(3, 4)
    rows = t1.tolist()
    t2 = t1.__getitem__(0)
    del t1
    t3 = pn.rand(3, 4)
    r = t2.__add__(t3)
    terms = t3.tolist()
    del t2, t3
    assert r.shape == (3, 4)
    assert listed(r) == [[one + other for one, other in zip(rows[0], row, strict=True)] for row in terms]
    assert pn.equal(whole, r)


# ---- data layout --------------------------------------------------------------------------------------------------


def test_the_three_descriptions_of_the_strided_layout() -> None:
    nt = pn.nested_array([pn.arange(6).reshape(2, 3), pn.arange(12).reshape(3, 4)])
    assert nt.component_sizes().tolist() == [[2, 3], [3, 4]]  # the document's size_tensor
    assert nt.component_strides().tolist() == [[3, 1], [4, 1]]  # its stride_tensor
    assert nt.offsets().tolist() == [0, 6]
    assert nt.values().tolist() == [*range(6), *range(12)]  # flattened and concatenated into a single one
    with pytest.raises(RuntimeError, match="contiguous"):
        pn.nested_array_from_strided(pn.arange(8)[::2], [[2], [2]])


def test_values_and_offsets_of_the_jagged_layout() -> None:
    nt = pn.nested_array([pn.randn(50, 128), pn.randn(32, 128)], layout=pn.jagged, dtype=pn.float32)
    assert nt.values().shape == (82, 128)
    assert nt.offsets().tolist() == [0, 50, 82]


def test_from_jagged() -> None:
    values, offsets = pn.randn(82, 128), pn.array([0, 50, 82], dtype=pn.int64)
    nt = pn.nested_array_from_jagged(values=values, offsets=offsets)
    assert regular(nt.shape) == [2, None, 128]
    assert [component.shape for component in nt] == [(50, 128), (32, 128)]
    assert pn.equal(nt.unbind()[1], values[50:])
