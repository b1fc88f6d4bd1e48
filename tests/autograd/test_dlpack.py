"""Memory shared with NumPy, other libraries and CuPy's stand-in, checked by writes on both sides; and refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, ExchangeError, GradientError

from ..backends.cuda import stand_in

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


class Foreign:
    """An array of another library, which has the methods of the protocol alone."""

    def __init__(self, data: Any, device: int = 1) -> None:
        self._data, self._device = data, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0


def check_shared(ours: pn.Array, theirs: Any) -> None:
    """Check that a write on either side is seen on the other."""
    ours[...] = 1
    assert np.asarray(theirs).all()
    theirs[...] = 0
    assert not ours.numpy().any()


@pytest.mark.parametrize("device", [1, 3], ids=["memory of the host", "pinned for a GPU"])
def test_every_object_with_the_protocol_is_taken(device: int) -> None:
    theirs = np.zeros(3)
    check_shared(pn.from_dlpack(Foreign(theirs, device)), theirs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_memory_is_shared_in_both_directions(dtype: str) -> None:
    for shape in ((), (3,), (2, 3)):
        theirs = np.zeros(shape, dtype)
        ours = pn.from_dlpack(theirs)
        assert (ours.dtype, ours.shape, ours.device, ours.requires_grad) == (dtype, shape, "cpu", False)
        check_shared(ours, theirs)
    for ours in (pn.zeros(2, 3, dtype=dtype), pn.zeros((), dtype=dtype), pn.zeros(4, 6, dtype=dtype)[::2, 1:4]):
        check_shared(ours, np.from_dlpack(ours))
    assert np.from_dlpack(pn.zeros(0, 3, dtype=dtype)).shape == (0, 3)


def test_strides_are_kept() -> None:
    whole = np.arange(24.0).reshape(4, 6)
    for theirs in (whole.T, whole[::2, 1:4], whole[::-1, ::-2], whole[:, 2], whole[:0], np.zeros((0, 3))):
        ours = pn.from_dlpack(theirs)
        assert ours.data.__array_interface__["data"] == theirs.__array_interface__["data"]
        assert (ours.data.strides, ours.tolist()) == (theirs.strides, theirs.tolist())
        assert (ours * 2).tolist() == (theirs * 2).tolist()


def test_memory_outlives_its_owner_and_can_be_differentiated() -> None:
    assert pn.from_dlpack(np.arange(1000.0)).sum().item() == 499500
    x = pn.from_dlpack(np.array([1.0, 2.0])).requires_grad_()
    assert pn.grad((x * x).sum(), x).tolist() == [2, 4]


def test_copies() -> None:
    theirs = np.zeros(3)
    for options in ({"copy": True}, {"device": "plain"}, {"device": "plain", "copy": True}):
        ours = pn.from_dlpack(theirs, **options)  # type: ignore[arg-type]
        assert ours.device == options.get("device", "cpu")
        ours.data[...] = 7
        assert not theirs.any() and not hasattr(ours, "__cuda_array_interface__")
    for options in ({"copy": False}, {"device": "cpu"}, {"device": "cpu", "copy": False}, {"device": "cpu:0"}):
        check_shared(pn.from_dlpack(theirs, **options), theirs)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'cpu'; copy=False keeps it there, device='plain' does not"):
        pn.from_dlpack(theirs, device="plain", copy=False)


def test_read_only_memory_is_not_written() -> None:
    theirs = np.arange(3.0)
    theirs.flags.writeable = False
    ours = pn.from_dlpack(theirs)
    for write in (lambda: ours.mul_(2), lambda: ours.__setitem__(0, 1.0)):
        with pytest.raises(GradientError, match="read-only"):
            write()
    assert (ours + 1).tolist() == [1, 2, 3]


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "part of a record": (np.zeros(2, "i1,f8")["f1"], ExchangeError, "from_dlpack: .*multiple of itemsize"),
    "another byte order": (np.zeros(2, ">f8"), ExchangeError, "native byte order"),
    "another device": (Foreign(np.zeros(2), 8), DeviceError, "DLPack's type 8"),
    "no CuPy": (SimpleNamespace(__cuda_array_interface__={}), DeviceError, "the device 'cuda'"),
    "gradients": (pn.array([1.0], requires_grad=True), ExchangeError, "detach"),
    "nested": (pn.nested_array([[1.0]]), ArgumentError, r"values\(\)"),
    "one half of the protocol": (
        SimpleNamespace(__dlpack__=None),
        ArgumentError,
        "SimpleNamespace has neither __dlpack__ with __dlpack_device__ nor __cuda_array_interface__",
    ),
    "a list": ([1.0], ArgumentError, r"list has neither.*pn\.array\(x\)"),
}


@pytest.mark.parametrize(("value", "kind", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(value: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        pn.from_dlpack(value)
    assert "\n" not in str(caught.value)


def test_arrays_that_require_grad_do_not_go_out() -> None:
    leaf = pn.array([1.0], requires_grad=True)
    for x in (leaf, leaf * 2):
        with pytest.raises(ExchangeError, match=r"x\.detach\(\)"):
            np.from_dlpack(x)
        assert np.from_dlpack(x.detach()).shape == (1,)


def test_negative_strides_go_out_as_a_copy_only() -> None:
    x = pn.arange(6).reshape(2, 3)
    for backwards in (x[::-1], x[:, ::-1]):
        with pytest.raises(ExchangeError, match=r"negative stride, .* x\.contiguous\(\)"):
            np.from_dlpack(backwards)
        assert np.from_dlpack(backwards.contiguous()).tolist() == backwards.tolist()
        assert np.from_dlpack(backwards, copy=True).tolist() == backwards.tolist()


def from_dlpack(x: Any) -> Any:
    """Return CuPy's array of an object in memory of a GPU, requested on the current stream."""
    kind, _ = x.__dlpack_device__()
    if kind not in (2, 13):
        raise RuntimeError("CuPy is built against CUDA, different from the backend that backs the incoming tensor")
    capsule = x.__dlpack__(stream=1, max_version=(1, 0), copy=None)
    on_the_cpu = SimpleNamespace(__dlpack__=lambda **_: capsule, __dlpack_device__=lambda: (1, 0))
    return stand_in.ndarray(np.from_dlpack(on_the_cpu))


def asarray(x: Any) -> Any:
    """Return CuPy's array of an object with the interface of CUDA."""
    if not hasattr(x, "__cuda_array_interface__"):
        return stand_in.asarray(x)
    interface = {name: value for name, value in x.__cuda_array_interface__.items() if name != "stream"}
    return stand_in.ndarray(np.asarray(SimpleNamespace(__array_interface__=interface)))


@pytest.fixture
def cupy() -> Iterator[Any]:
    with stand_in.installed() as module:
        vars(module).update(from_dlpack=from_dlpack, asarray=asarray)
        yield module


def test_memory_of_a_gpu_comes_in_and_goes_out(cupy: Any) -> None:
    theirs = cupy.zeros((2, 3), dtype="float32")
    ours = pn.from_dlpack(theirs)
    assert (ours.device, ours.dtype, ours.shape) == ("cuda", "float32", (2, 3))
    theirs[...] = 7
    assert ours.tolist() == [[7, 7, 7], [7, 7, 7]]
    cupy.from_dlpack(ours)[...] = 8
    assert theirs.tolist() == ours.tolist() == [[8, 8, 8], [8, 8, 8]]
    tracked = ours.detach().requires_grad_()
    for share in (cupy.from_dlpack, lambda x: x.__cuda_array_interface__):
        with pytest.raises(ExchangeError, match="detach"):
            share(tracked)
    with pytest.raises(DTypeError, match="uint16"):
        pn.from_dlpack(cupy.zeros(2, dtype="uint16"))


ROUTES: dict[str, Callable[[Any, Any], Any]] = {
    "dlpack": lambda library, x: pn.from_dlpack(library.from_dlpack(x)),
    "a view": lambda library, x: pn.from_dlpack(library.from_dlpack(x)[::2]),  # which begins at the same address
    "array": lambda library, x: pn.array(library.from_dlpack(x), copy=False),
    "nested": lambda library, x: pn.nested_array_from_jagged(library.from_dlpack(x), [0, 2, 3]),
    "interface": lambda library, x: pn.from_dlpack(
        SimpleNamespace(__cuda_array_interface__=x.__cuda_array_interface__)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("device", "route"),
    [(device, route) for device, without in (("cpu", {"interface"}), ("cuda", {"array", "nested"}))
     for route in ROUTES if route not in without],
)  # fmt: skip
def test_a_write_through_an_array_that_comes_back_is_noticed(cupy: Any, route: str, device: str) -> None:
    library = cupy if device == "cuda" else np
    memory, theirs = pn.array([1.0, 2.0, 3.0], device=device), library.zeros(3)
    nested = pn.nested_array_from_jagged(memory, [0, 1, 3])
    leaves = [pn.ones_like(saved).requires_grad_() for saved in (memory, nested)]
    outputs = [(leaves[0] * memory).sum(), (leaves[1] * nested).sum(), (leaves[0] * pn.from_dlpack(theirs)).sum()]
    again = ROUTES[route](library, memory).mul_(100)
    assert again.device == device and {100, 300} <= set(memory.tolist())
    pn.from_dlpack(theirs).fill_(1)
    for output, x in zip(outputs, (*leaves, leaves[0]), strict=True):
        with pytest.raises(GradientError, match="overwritten in place"):
            pn.grad(output, x)


def test_the_stream_is_passed_on(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(cupy.ndarray, "__dlpack__", lambda self, **options: calls.append(options))
    pn.zeros(2, device="cuda").__dlpack__(stream=7, max_version=(1, 0))
    assert calls == [{"stream": 7, "max_version": (1, 0)}]


def test_moves_between_devices_are_copies(cupy: Any) -> None:
    theirs = cupy.ones(3)
    copies = pn.from_dlpack(theirs, device="cpu"), pn.from_dlpack(theirs, copy=True), pn.array(pn.from_dlpack(theirs))
    theirs[...] = 0
    assert [(x.device, x.tolist()) for x in copies] == [(device, [1, 1, 1]) for device in ("cpu", "cuda", "cuda")]
    assert pn.from_dlpack(np.ones(2), device="cuda").device == "cuda"
    with pytest.raises(ArgumentError, match="copy=False"):
        pn.from_dlpack(theirs, device="cpu", copy=False)


def test_numpy_does_not_read_memory_of_a_gpu(cupy: Any) -> None:
    x = pn.array([1.0, 2.0], device="cuda")
    for read in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(DeviceError, match=r"x\.to\('cpu'\)\.numpy\(\)"):
            read()
    assert x.to("cpu").numpy().tolist() == x.tolist() == [1, 2]
    for make in (pn.array, lambda y: pn.nested_array([y])):
        with pytest.raises(ArgumentError, match="Implicit conversion"):
            make(x.data)
