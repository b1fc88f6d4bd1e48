"""The kernels that a call runs, the function of each kernel on each device, and functions that replace a kernel."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import PlainBackend, get_backend
from pynested.backends.errors import ArgumentError, DeviceError
from pynested.profiling.function_location import function_location
from pynested.profiling.kernel_table import kernel_location

from .stories import ragged


@pytest.mark.parametrize(("operand", "kernel"), [
    (ragged(), "segment_softmax"), (ragged(layout=pn.strided), "segment_softmax"), (pn.ones(2, 3), "softmax_last"),
])  # fmt: skip
def test_the_layout_decides_which_kernel_runs(operand: Any, kernel: str, root: Path) -> None:
    table = pn.dispatch_table(pn.softmax, operand, dim=-1)
    assert list(table.kernels) == [kernel] and set(table.kernels[kernel]) >= {"cpu", "cuda", "emulated", "plain"}
    for device, place in table.kernels[kernel].items():
        assert place.line is not None, device
        lines = (root / place.file).read_text(encoding="utf-8").splitlines()
        assert f"def {kernel}(" in "".join(lines[place.line - 1 : place.line + 1])
        assert f"{place.file}:{place.line}" in str(table)


def test_every_kernel_has_a_place_on_every_device_and_any_other_function_a_name() -> None:
    for name in (name for name, value in vars(PlainBackend).items() if isinstance(value, staticmethod)):
        for device in ("cpu", "plain", "emulated", "cuda"):
            place = kernel_location(name, device)
            assert place.name.endswith(f".{name}") or place.line is not None, (name, device)
        assert kernel_location(name, "plain").file.startswith("backends/plain/")
    names = {device: kernel_location("add", device).name for device in ("cpu", "plain", "emulated", "cuda")}
    assert names == {"cpu": "numpy.add", "plain": "numpy.add", "emulated": "numpy.add", "cuda": "cupy.add"}
    located = [function_location(function).name for function in (np.divmod, len, np.random.default_rng(0).random)]
    assert located == ["numpy.divmod", "builtins.len", "numpy.random._generator.Generator.random"]
    assert str(pn.dispatch_table(pn.transpose, pn.ones(2, 3), 0, 1)) == "transpose: no kernel runs"
    with pytest.raises(ArgumentError, match="dispatch_table: an operator is called, not an Array"):
        pn.dispatch_table(pn.ones(2), 1)  # type: ignore[arg-type]


@pytest.fixture
def softmax_kernels() -> Iterator[None]:
    """Put back the kernels that a test replaces."""
    before = {device: get_backend(device).segment_softmax for device in ("cpu", "emulated")}
    yield
    for device, function in before.items():
        pn.kernel("segment_softmax", device=device)(function)


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.usefixtures("softmax_kernels")
def test_a_kernel_takes_the_place_of_another(device: str, layout: pn.Layout) -> None:
    x = ragged(layout=layout, device=device)

    @pn.kernel("segment_softmax", device=device)
    def halves(values: Any, segments: Any, /) -> Any:
        return np.full(values.shape, 0.5)

    assert [component.tolist() for component in pn.softmax(x, 1).unbind()] == [[0.5, 0.5], [0.5]]
    with pn.timeline() as t:
        pn.softmax(x, 1)
    (kernel,) = [event for event in t.events if event.kind == "kernel" and event.name == "segment_softmax"]
    assert kernel.facts["function"].endswith("halves")
    place = kernel_location("segment_softmax", device)
    assert place.line == inspect.getsourcelines(halves)[1] and place.file == "tests/profiling/test_kernel_table.py"
    other = "emulated" if device == "cpu" else "cpu"
    assert pn.softmax(x.to(other), 1).unbind()[1].tolist() == [1.0]


def test_names_functions_and_devices_that_do_not_exist_are_refused() -> None:
    before = pn.relu(pn.array([-1.0, 2.0])).tolist()
    wrong: list[Any] = [("relu", 3), (3, len), ("nonsense", len), ("softest", abs), ("xp", len), ("__init__", len)]
    for name, function in wrong:
        with pytest.raises(ArgumentError, match="^kernel: "):
            pn.kernel(name, device="cpu")(function)
    with pytest.raises(DeviceError, match="^no backend for device 'tpu'"):
        pn.kernel("relu", device="tpu")(abs)
    assert pn.relu(pn.array([-1.0, 2.0])).tolist() == before
