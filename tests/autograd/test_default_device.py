"""The default device: what looks at it, what does not, and how long it lasts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import cuda, registry
from pynested.backends.cuda import compiler, emulated
from pynested.backends.errors import DeviceError, MissingDependency

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")

VALUES = np.array([[1.0, 2.0], [3.0, 4.0]])
FACTORIES: dict[str, Callable[..., Any]] = {
    "array, of a list": lambda **where: pn.array([1, 2], **where),
    "array, of NumPy's": lambda **where: pn.array(VALUES, **where),
    "array, of another dtype": lambda **where: pn.array(VALUES, dtype=pn.float32, **where),
    "array, not copied": lambda **where: pn.array(VALUES, copy=False, **where),
    "empty": lambda **where: pn.empty(2, **where),
    "zeros": lambda **where: pn.zeros(2, **where),
    "ones": lambda **where: pn.ones(2, **where),
    "full": lambda **where: pn.full((2,), 7, **where),
    "arange": lambda **where: pn.arange(3, **where),
    "rand": lambda **where: pn.rand(2, **where),
    "randn": lambda **where: pn.randn(2, **where),
    "randint": lambda **where: pn.randint(5, size=(2,), **where),
    "nested_array, of lists": lambda **where: pn.nested_array([[1], [2, 3]], layout=pn.jagged, **where),
    "nested_array, of NumPy's": lambda **where: pn.nested_array(list(VALUES), **where),
    "nested_array, of a batch": lambda **where: pn.nested_array(VALUES, **where),
    "nested_array, of nothing": lambda **where: pn.nested_array([], **where),
    "as_nested_array, of lists": lambda **where: pn.as_nested_array([[1], [2, 3]], **where),
    "as_nested_array, of a batch": lambda **where: pn.as_nested_array(VALUES, layout=pn.jagged, **where),
    "as_nested_array, of nothing": lambda **where: pn.as_nested_array([], **where),
}
WITHOUT_THE_ARGUMENT: dict[str, Callable[[], Any]] = {
    "nested_array_from_jagged": lambda: pn.nested_array_from_jagged(VALUES, [0, 2]),
    "nested_array_from_strided": lambda: pn.nested_array_from_strided(VALUES[0], [[1], [1]]),
    "narrow": lambda: pn.narrow(VALUES, 1, 0, [1, 2], layout=pn.jagged),
    "zeros_like": lambda: pn.zeros_like(VALUES),
    "rand_like": lambda: pn.rand_like(VALUES),
}


@pytest.fixture
def on_emulated() -> Iterator[None]:
    with pn.set_default_device("emulated"):
        yield


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)
def test_constructors_look_at_it_unless_a_device_is_named(make: Callable[..., Any], on_emulated: None) -> None:
    assert make().device == make(device="emulated").device == "emulated"
    assert make(device="cpu").device == "cpu"
    with pytest.raises(DeviceError, match="'nowhere'"):
        make(device="nowhere")


@pytest.mark.parametrize("make", WITHOUT_THE_ARGUMENT.values(), ids=WITHOUT_THE_ARGUMENT)
def test_constructors_without_the_argument_look_at_it(make: Callable[[], Any], on_emulated: None) -> None:
    assert make().device == "emulated"


@pytest.mark.parametrize("name", [*FACTORIES, *WITHOUT_THE_ARGUMENT])
def test_it_is_the_cpu_at_first(name: str) -> None:
    assert pn.get_default_device() == (FACTORIES | WITHOUT_THE_ARGUMENT)[name]().device == "cpu"


def test_arrays_stay_where_they_are(on_emulated: None) -> None:
    x = pn.array(VALUES, device="cpu")
    nested = pn.nested_array([x, x])
    follow = (
        pn.array(x), pn.array(x, dtype=pn.float32), nested, pn.nested_array(x), pn.nested_array([[[5.0]], x]),
        pn.as_nested_array(x), pn.as_nested_array([x, [[5.0]]]), pn.as_nested_array(nested), pn.zeros_like(x),
        pn.ones_like(nested), pn.randn_like(x), pn.nested_array_from_jagged(x, [0, 2]), pn.narrow(x, 1, 0, 1),
        pn.masked_select(x, np.ones((2, 2), bool)), nested.offsets(), x + 1, 2 * x, pn.softmax(nested, 1), x.sum(),
        x.detach(), x.clone(), x > 1, pn.from_dlpack(VALUES),
    )  # fmt: skip
    assert [one.device for one in follow] == ["cpu"] * len(follow)
    assert pn.as_nested_array([x], device="emulated").device == "emulated"
    assert pn.as_nested_array(nested, device="emulated").device == "emulated"
    with pytest.raises(DeviceError, match=r"different devices: cpu, emulated"):
        pn.as_nested_array([x, pn.array(VALUES)])


def test_parts_lie_where_the_values_do(on_emulated: None) -> None:
    x = pn.narrow(VALUES, 1, 0, [1, 2], layout=pn.jagged)
    lengths = x.lengths()
    assert lengths is not None
    assert x.values().device == x.offsets().device == lengths.device == "emulated"


def test_moved_arrays_keep_their_history() -> None:
    x = pn.array(VALUES, requires_grad=True)
    there = pn.as_nested_array([x, x], device="emulated", layout=pn.jagged)
    assert (there.device, there.requires_grad) == ("emulated", True)
    there.values().backward(pn.ones_like(there.values()))
    assert x.grad is not None
    assert (x.grad.device, x.grad.tolist()) == ("cpu", [[2, 2], [2, 2]])


def test_copies_are_copies_and_views_are_views() -> None:
    x = pn.array(VALUES)
    assert pn.array(x, copy=False).storage is x.storage
    assert not np.shares_memory(pn.array(VALUES, device="emulated", copy=False).data, VALUES)
    assert np.shares_memory(pn.nested_array_from_jagged(VALUES, [0, 2]).data.data, VALUES)


def test_a_device_that_is_not_there_says_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(registry._by_device, "cuda", raising=False)
    cuda.cuda_kernels.cache_clear()
    for device, says in (("cuda", "the device 'cuda' needs CuPy"), ("tpu", "no backend for device 'tpu'")):
        with pytest.raises(DeviceError, match=says) as caught:
            pn.set_default_device(device)
        assert "\n" not in str(caught.value)
        assert pn.get_default_device() == "cpu"
    with pytest.raises(DeviceError):
        pn.set_default_device(0)  # type: ignore[arg-type]


def test_so_does_the_emulation_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr(emulated, "compiler", compiler.compiler.__wrapped__)
    monkeypatch.setitem(registry._loaders, "emulated", cuda.emulated_kernels.__wrapped__)
    monkeypatch.delitem(registry._by_device, "emulated", raising=False)
    with pytest.raises(MissingDependency, match="'no-such-compiler' is not on the path"):
        pn.set_default_device("emulated")
    assert pn.get_default_device() == "cpu"


def test_number_0_of_a_device_is_the_device() -> None:
    x = pn.zeros(2, device="emulated:0")
    assert x.device == "emulated" and x.to("cpu:0").device == x.to(device="cpu:0").device == "cpu"
    for make in FACTORIES.values():
        assert make(device="emulated:0").device == "emulated"
    with pn.set_default_device("emulated:0"):
        assert pn.get_default_device() == "emulated"
    for ask in (*FACTORIES.values(), x.to):
        with pytest.raises(DeviceError, match="device 'cuda:1': only number 0 .* 'cuda' or 'cuda:0'"):
            ask(device="cuda:1")
    with pytest.raises(DeviceError, match="the device 'cuda' needs|no .*GPU"):
        pn.zeros(2, device="cuda:0")
    with pytest.raises(DeviceError, match="CUDA_VISIBLE_DEVICES"):
        pn.set_default_device("cuda:2")


def test_the_text_names_a_device_that_is_not_the_cpu() -> None:
    x = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)
    assert "device" not in repr(x)
    assert repr(x.to("emulated")).endswith(", layout=pn.jagged, device='emulated')")
    assert repr(x.to("emulated").requires_grad_()).endswith(", requires_grad=True, device='emulated')")
