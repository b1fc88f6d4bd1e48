"""`assert_close` takes tensors of PyTorch, nested and dense, on either side."""

from __future__ import annotations

import numpy as np
import pytest

import pynested as pn
from pynested.testing import assert_close

torch = pytest.importorskip("torch")

ROWS = ([1.0, 2.0], [], [3.0])


@pytest.mark.filterwarnings("ignore")
def test_tensors_nested_and_dense() -> None:
    parts = [torch.tensor([1.0, 2.0]), torch.tensor([]), torch.tensor([3.0])]
    ours = pn.nested_array([np.float32(one) for one in ROWS], layout=pn.jagged)
    values = torch.tensor([1.0, 2.0, 9.0, 3.0], requires_grad=True)
    holes = torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, 3, 3, 4]), torch.tensor([2, 0, 1]))
    for layout in (torch.jagged, torch.strided):
        tensor = torch.nested.nested_tensor(parts, layout=layout)
        assert_close(ours, tensor)
        assert_close(tensor, ours)
        with pytest.raises(AssertionError, match=r"component 2, at \[0\]: actual 3.0, expected 4.0"):
            assert_close(tensor, [[1.0, 2.0], [], [4.0]])
    assert_close(holes, ours)
    assert_close(ours, parts)
    assert_close(torch.ones(2, dtype=torch.float64), np.ones(2))
    with pytest.raises(AssertionError, match="actual has bfloat16"):
        assert_close(torch.ones(2, dtype=torch.bfloat16), np.ones(2))
    assert_close(torch.tensor([1.005], dtype=torch.bfloat16), [1.0])
    assert_close(torch.ones(1), torch.ones(1) * 1.05, tolerances={torch.float32: (0.1, 0)})
