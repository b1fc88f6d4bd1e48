"""The devices "emulated" and "cuda" as users meet them: factories, moves, gradients, and what is missing."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import allocate, get_backend
from pynested.backends.cuda import compiler
from pynested.backends.cuda.checks import checked_shape
from pynested.backends.cuda.emulated import Emulator, emulated_backend
from pynested.backends.cuda.report import listing
from pynested.backends.errors import DeviceError, DTypeError, MissingDependency


@pytest.fixture
def nested(compiled: None) -> pn.NestedArray:
    return pn.nested_array([np.ones((2, 3)), np.arange(3.0)[None]], layout=pn.jagged, device="emulated")


def test_arrays_know_their_device(nested: pn.NestedArray) -> None:
    assert get_backend("emulated").device == "emulated"
    assert nested.device == "emulated" and pn.softmax(nested, 1).device == "emulated"
    assert pn.zeros(2, 3, device="emulated").device == pn.empty(2, device="emulated").device == "emulated"
    assert allocate("emulated", (3,), "float32").shape == (3,)


def test_moves_are_copies_and_gradients_move_back(nested: pn.NestedArray) -> None:
    x = pn.nested_array([np.ones((2, 3)), np.zeros((1, 3))], layout=pn.jagged, requires_grad=True)
    there = x.to("emulated")
    assert (there.device, x.device, there.to("emulated").device) == ("emulated", "cpu", "emulated")
    pn.sum(there * nested).backward()
    assert x.grad.device == "cpu"
    np.testing.assert_array_equal(x.grad.values().data, nested.values().data)
    back = there.detach().to("cpu")
    back.values().data[...] = 7
    assert not (there.values().data == 7).any()


def test_operands_on_different_devices(nested: pn.NestedArray) -> None:
    with pytest.raises(DeviceError, match="different devices: cpu, emulated"):
        nested + nested.to("cpu")


def test_a_dtype_that_is_refused_is_told_those_of_the_device(compiled: None) -> None:
    for device, has in (("cpu", False), ("emulated", True)):
        for dtype in ("complex64", "no dtype"):
            with pytest.raises(DTypeError, match=r"one of bool, int8, .*float64") as refused:
                pn.zeros(2, dtype=dtype, device=device)
            assert ("bfloat16" in str(refused.value)) == has


def test_gradcheck_takes_outputs_of_every_floating_dtype(compiled: None) -> None:
    def function(x: Any) -> Any:
        return x * x, (x * 0).to(dtype="bfloat16")

    assert pn.gradcheck(function, pn.array([1.0, 2.0], device="emulated"), order=2)


def test_gradients_agree_with_those_of_the_cpu(nested: pn.NestedArray) -> None:
    def loss(device: str) -> tuple[np.ndarray, np.ndarray]:
        x = nested.detach().to(device).clone().requires_grad_()
        w = pn.array(np.arange(6.0).reshape(2, 3), device=device, requires_grad=True)
        y = pn.layer_norm(pn.softmax(pn.gelu(pn.linear(x, w)), 1), (2,))
        pn.sum(y * y * y).backward()
        return np.asarray(x.grad.values().data), np.asarray(w.grad.data)

    for there, here in zip(loss("emulated"), loss("cpu"), strict=True):
        np.testing.assert_allclose(there, here, atol=1e-12)


def test_the_specification_holds_on_the_emulated_device(compiled: None) -> None:
    command = [sys.executable, "-m", "pynested", "conform", "--device", "emulated", "--op", "softmax", "--op", "matmul"]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path))
    monkeypatch.setattr(compiler, "compiler", compiler.compiler.__wrapped__)
    with pytest.raises(MissingDependency, match=r"'no-such-compiler' is not on the path\. Install g\+\+"):
        emulated_backend(Emulator()).relu(np.ones(3, np.float32))
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is installed")
def test_without_cupy() -> None:
    for ask in (get_backend, lambda device: pn.zeros(2, device=device), lambda device: pn.ones(2).to(device)):
        with pytest.raises(DeviceError, match="the device 'cuda' needs CuPy"):
            ask("cuda")


@pytest.mark.parametrize(("count", "says"), [(None, "needs an NVIDIA driver and a GPU"), (0, "the driver sees none")])
def test_without_a_driver_or_a_gpu(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, count: int | None, says: str
) -> None:
    def counted() -> int:
        if count is None:
            raise cupy.cuda.runtime.CUDARuntimeError("cudaErrorInsufficientDriver")
        return count

    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", counted)
    with pytest.raises(DeviceError, match=says):
        pn.zeros(2, device="cuda")


def test_kernels_are_compiled_once_from_a_text_without_includes(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    compiled_by = cupy.RawModule

    def noted(**given: Any) -> Any:
        made.append(given)
        return compiled_by(**given)

    monkeypatch.setattr(cupy, "RawModule", noted)
    for _ in range(2):
        pn.relu(pn.ones(5, dtype=pn.float32, device="cuda"))
    assert len(made) == 1 and made[0]["name_expressions"] == ("unary<Relu, float>",)
    assert '#include "common.cuh"' not in made[0]["code"] and "struct Limits" in made[0]["code"]


def test_a_launch_asks_for_more_shared_memory_than_there_is_by_default(cupy: ModuleType) -> None:
    backend = get_backend("cuda")
    x, out = cupy.ones(5, np.float32), cupy.zeros(5, np.float32)
    for shared in (0, 100_000):
        backend.launch("elementwise.cu", "unary<Relu, float>", (1,), (256,), (x, np.int64(5), out), shared)
        assert out.sum().item() == 5


def test_libraries_are_kept_by_their_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "kept"))
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    text = "template <class T>\n__global__ void one(T *out) { out[0] = 1; }\n"
    for times, change in enumerate(("", "// and a word\n"), 1):
        (kernels / "one.cu").write_text(text + change, encoding="utf-8")
        first = compiler.library("one.cu", ["one<int>"], kernels=kernels)
        assert first == compiler.library("one.cu", ["one<int>"], kernels=kernels)
        assert len(list((tmp_path / "kept").glob("one-*.so"))) == times
    (kernels / "one.cu").write_text(text.replace("1;", "nothing;"), encoding="utf-8")
    with pytest.raises(DeviceError, match=r"one.cu does not compile cleanly:[\s\S]*nothing"):
        compiler.library("one.cu", ["one<int>"], kernels=kernels)


def test_the_listing_names_every_kernel() -> None:
    text = listing()
    for word in ("segment_reduce.cu", "gather_transposed", "in all", 'device "emulated"', 'device "cuda"', "NVRTC"):
        assert word in text
    assert checked_shape("k", (1,), (1,), 0) == ((1, 1, 1), (1, 1, 1))
