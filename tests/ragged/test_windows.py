"""Windows over a few elements and huge components without elements: they take no memory; writes where none repeats."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError

# The program runs with 3 GiB of memory; each of its arrays shows 2 GiB of elements or more, up to 8 TiB.
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30,) * 2)
import numpy as np
import pynested as pn
from pynested.backends.errors import StructureError

def check(x):
    assert not x.is_contiguous() and x.numel() >= 2**28 and len(x.unbind()) == len(x) == len(list(x))
    assert "..." in repr(x) and x.shape
    try:
        x.mul_(2.0)
        raise AssertionError("a write into elements that repeat is not refused")
    except StructureError:
        pass
    first = x[0]
    assert first.shape == x.component_shape(0) and first[(-1,) * first.ndim].item() == 1
    assert x[:, :2].numel() < 2**40 and x[:, ::2**62].numel() >= 1
    first[(0,) * first.ndim] = 1.0

for device in ("cpu", "emulated"):
    buffer = pn.array(np.ones(4), device=device)
    for sizes, strides in (
        ([[2**28]], [[0]]), ([[2**40]], [[0]]), ([[2**28, 2]], [[0, 3]]), ([[2, 2**30]], [[1, 0]]),
        ([[2**30, 2], [2**31, 2]], [[0, 1], [0, 2]]), ([[2**20, 2, 2**20]], [[0, 1, 0]]),
    ):
        check(pn.nested_array_from_strided(buffer, sizes, strides, [0] * len(sizes)))
    windows = buffer.as_strided((2**40,), (0,))
    windows[5] = 1.0
    for layout in (pn.jagged, pn.strided):
        for sizes, dims in (((0, 2**31), (1, 2)), ((2**31, 0), (1, 2)), ((0, 2**20, 2**11), (1, 3))):
            data = pn.array(np.zeros(sizes, np.float32), device=device)
            x = pn.as_nested_array(data[None], layout=layout).requires_grad_()
            for dim in dims:
                for dense, y in ((False, pn.softmax(x, dim)), (True, pn.softmax(data.requires_grad_(), dim - 1))):
                    assert y.shape[dim - dense:] == (data if dense else x).shape[dim - dense:]
                    y.backward(pn.zeros_like(y) if not dense else data.detach())
            if layout is pn.jagged or 0 not in sizes[:1]:
                y = pn.layer_norm(x, sizes[-1])
                y.backward(pn.zeros_like(y))
        scores = pn.as_nested_array(pn.array(np.zeros((1, 0, 2**31), np.float32), device=device), layout=layout)
        labels = pn.as_nested_array(pn.array(np.zeros((1, 0), np.int64), device=device), layout=layout)
        pn.cross_entropy(scores.requires_grad_(), labels, label_smoothing=0.5).backward()
    for sizes in ([[0, 2**31], [0, 3]], [[2**31, 0], [3, 0]]):
        x = pn.nested_array_from_strided(pn.array(np.zeros(0), device=device), sizes).requires_grad_()
        turned = x.transpose(1, 2).contiguous()
        for y in (pn.softmax(x, 1), pn.softmax(x, 2), x + 1.0, x * x, turned, pn.cat([x, x], 2)):
            y.backward(pn.zeros_like(y))
print("held")
"""


def test_they_take_no_memory(root: Path) -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    command = [sys.executable, "-W", "error", "-c", LIMITED]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert (done.stdout, done.stderr) == ("held\n", "")


def test_parts_in_which_no_element_repeats_are_written() -> None:
    memory = np.arange(6.0)
    x = pn.nested_array_from_strided(memory, [[2, 3], [1, 2]], [[0, 1], [2, 1]], [0, 3])
    before = x.data.storage.version
    x[0][1] = 7.0
    x[0][0, ::2] = pn.array([8.0, 9.0])
    x[0, 1, 1] = 6.0
    x[0][0][2:].mul_(10.0)
    x[1:2].add_(1.0)
    assert memory.tolist() == [8.0, 6.0, 90.0, 4.0, 5.0, 5.0] and x.data.storage.version == before + 5
    for write in (lambda: x[0][:, 1].zero_(), lambda: x[0].__setitem__((slice(None), 0), 1.0)):
        with pytest.raises(GradientError, match="elements repeat"):
            write()


def test_views_of_dense_arrays_in_which_elements_repeat() -> None:
    x = pn.arange(4.0)
    view = x.as_strided((3, 2), (1, 1))
    nested = pn.nested_array_from_jagged(view, [0, 1, 3])
    for write, text in ((view.fill_, "elements repeat"), (nested.fill_, "read-only")):
        with pytest.raises(GradientError, match=text):
            write(1.0)
    view[1] = pn.array([5.0, 6.0])
    x.as_strided((2, 2), (2, 1))[:, 0] = 9.0
    assert x.tolist() == [9.0, 5.0, 9.0, 3.0]
    nested[0][0, 1] = 7.0
    assert x.tolist() == [9.0, 7.0, 9.0, 3.0]
