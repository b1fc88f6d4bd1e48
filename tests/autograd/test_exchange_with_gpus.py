"""Memory shared with CuPy, by a stand-in: both ways, proven by writing; and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, ExchangeError, GradientError

from ..backends.cuda import stand_in


def from_dlpack(x: Any) -> Any:
    """As CuPy's: it takes the memory of a GPU only, and asks for it on the current stream."""
    kind, _ = x.__dlpack_device__()
    if kind not in (2, 13):
        raise RuntimeError("CuPy is built against CUDA, different from the backend that backs the incoming tensor")
    capsule = x.__dlpack__(stream=1, max_version=(1, 0), copy=None)
    return stand_in.ndarray(np.from_dlpack(SimpleNamespace(__dlpack__=lambda **_: capsule, __dlpack_device__=on_cpu)))


def on_cpu() -> tuple[int, int]:
    return 1, 0


def asarray(x: Any) -> Any:
    """As CuPy's, of an object with the interface of CUDA."""
    if not hasattr(x, "__cuda_array_interface__"):
        return stand_in.asarray(x)
    interface = {name: one for name, one in x.__cuda_array_interface__.items() if name != "stream"}
    return stand_in.ndarray(np.asarray(SimpleNamespace(__array_interface__=interface)))


@pytest.fixture
def cupy() -> Iterator[ModuleType]:
    with stand_in.installed() as module:
        vars(module).update(from_dlpack=from_dlpack, asarray=asarray)
        yield module


def test_memory_of_a_gpu_comes_in_and_goes_out(cupy: Any) -> None:
    theirs = cupy.zeros((2, 3), dtype="float32")
    ours = pn.from_dlpack(theirs)
    assert (ours.device, ours.dtype, ours.shape) == ("cuda", "float32", (2, 3))
    theirs[...] = 7
    assert ours.tolist() == [[7, 7, 7], [7, 7, 7]]
    again = cupy.from_dlpack(ours)
    again[...] = 8
    assert theirs.tolist() == ours.tolist() == [[8, 8, 8], [8, 8, 8]]
    with pytest.raises(ExchangeError, match="detach"):
        cupy.from_dlpack(ours.requires_grad_())


@pytest.mark.parametrize("way", ["dlpack", "interface", "a view"])
def test_a_write_into_memory_of_a_gpu_is_noticed_through_every_array(cupy: Any, way: str) -> None:
    x = pn.array([1.0, 2.0, 3.0], device="cuda", requires_grad=True)
    y = (x * x).sum()
    out = x.detach()
    if way == "dlpack":
        other = pn.from_dlpack(cupy.from_dlpack(out))
    elif way == "interface":
        other = pn.from_dlpack(SimpleNamespace(__cuda_array_interface__=out.__cuda_array_interface__))
    else:
        other = pn.from_dlpack(cupy.from_dlpack(out)[::-2])
    other.mul_(100)
    with pytest.raises(GradientError, match="overwritten in place"):
        pn.grad(y, x)
    theirs = cupy.zeros(3)
    saved, other = pn.from_dlpack(theirs), pn.from_dlpack(theirs[1:])
    y = (x * saved).sum()
    other.fill_(1)
    with pytest.raises(GradientError, match="overwritten in place"):
        pn.grad(y, x)


def test_the_stream_is_passed_on(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(cupy.ndarray, "__dlpack__", lambda self, **options: seen.append(options))
    pn.zeros(2, device="cuda").__dlpack__(stream=7, max_version=(1, 0))
    assert seen == [{"stream": 7, "max_version": (1, 0)}]


def test_the_interface_of_cuda_does_where_there_is_no_dlpack(cupy: Any) -> None:
    ours = pn.zeros(3, device="cuda")
    assert ours.__cuda_array_interface__ == ours.data.__cuda_array_interface__
    theirs = SimpleNamespace(__cuda_array_interface__=ours.__cuda_array_interface__)
    again = pn.from_dlpack(theirs)
    ours.data[...] = 5
    assert (again.device, again.tolist()) == ("cuda", [5, 5, 5])
    with pytest.raises(ExchangeError, match="detach"):
        hasattr(ours.requires_grad_(), "__cuda_array_interface__")


def test_moves_between_devices_are_copies(cupy: Any) -> None:
    theirs = cupy.ones(3)
    assert pn.from_dlpack(theirs, device="cpu").tolist() == pn.from_dlpack(theirs, copy=True).tolist() == [1, 1, 1]
    copies = pn.from_dlpack(theirs, device="cpu"), pn.from_dlpack(theirs, copy=True), pn.array(pn.from_dlpack(theirs))
    theirs[...] = 0
    assert [(one.device, one.tolist()) for one in copies] == [(d, [1, 1, 1]) for d in ("cpu", "cuda", "cuda")]
    assert pn.from_dlpack(np.ones(2), device="cuda").device == "cuda"
    with pytest.raises(ArgumentError, match="copy=False"):
        pn.from_dlpack(theirs, device="cpu", copy=False)


def test_dtypes_that_pynested_has_not_are_refused_on_a_gpu_too(cupy: Any) -> None:
    with pytest.raises(DTypeError, match="uint16"):
        pn.from_dlpack(cupy.zeros(2, dtype="uint16"))


def test_numpy_does_not_reach_a_gpu(cupy: Any) -> None:
    x = pn.array([1.0, 2.0], device="cuda")
    for refused in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(DeviceError, match=r"x\.to\('cpu'\)\.numpy\(\)"):
            refused()
    assert x.to("cpu").numpy().tolist() == x.tolist() == [1, 2]
    for read in (pn.array, lambda y: pn.nested_array([y])):
        with pytest.raises(ArgumentError, match="Implicit conversion"):
            read(x.data)


def test_offsets_from_a_gpu(cupy: Any) -> None:
    values, offsets = pn.arange(4, device="cuda"), pn.array([0, 1, 4], device="cuda")
    nested = pn.nested_array_from_jagged(values, offsets)
    assert (nested.offsets().device, nested.offsets().tolist()) == ("cuda", [0, 1, 4])


def test_without_cupy() -> None:
    with pytest.raises(DeviceError, match="the device 'cuda'"):
        pn.from_dlpack(SimpleNamespace(__cuda_array_interface__={}))


def test_what_is_read_of_an_array_comes_from_its_device(cupy: Any) -> None:
    x = pn.array([[1.0, 2.0]], device="cuda")
    assert repr(x) == "array([[1., 2.]], device='cuda')"
    assert (x.tolist(), x[0, 0].item(), float(x[0, 1]), len(x)) == ([[1, 2]], 1, 2, 1)
