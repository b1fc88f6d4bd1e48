"""Tensors that `from_dlpack` refuses, and `assert_close` of tensors; `interchange` has memory that is shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, ExchangeError
from pynested.testing import assert_close

torch = pytest.importorskip("torch")


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "float8": (torch.zeros(2, dtype=torch.float8_e4m3fn), DTypeError, "float8_e4m3fn"),
    "sparse": (torch.eye(2).to_sparse(), ExchangeError, "from_dlpack: "),
    "meta": (torch.zeros(2, device="meta"), ExchangeError, "from_dlpack: "),
    "gradients": (torch.ones(2, requires_grad=True), ExchangeError, "detach"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    theirs, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as caught:
        pn.from_dlpack(theirs)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_tensors_are_compared_with_arrays() -> None:
    parts = [torch.tensor([1.0, 2.0]), torch.tensor([]), torch.tensor([3.0])]
    ours = pn.nested_array([np.float32(part) for part in parts], layout=pn.jagged)
    for layout in (torch.jagged, torch.strided):
        tensor = torch.nested.nested_tensor(parts, layout=layout)
        assert_close(ours, tensor)
        assert_close(tensor, ours)
        with pytest.raises(AssertionError, match=r"component 2, at \[0\]: actual 3.0, expected 4.0"):
            assert_close(tensor, [[1.0, 2.0], [], [4.0]])
    values = torch.tensor([1.0, 2.0, 9.0, 3.0], requires_grad=True)
    gaps = torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, 3, 3, 4]), torch.tensor([2, 0, 1]))
    for actual, expected in ((gaps, ours), (ours, parts), (torch.ones(2, dtype=torch.float64), np.ones(2))):
        assert_close(actual, expected)
    with pytest.raises(AssertionError, match="actual has bfloat16"):
        assert_close(torch.ones(2, dtype=torch.bfloat16), np.ones(2))
    assert_close(torch.tensor([1.005], dtype=torch.bfloat16), [1.0])
    assert_close(torch.ones(1), torch.ones(1) * 1.05, tolerances={torch.float32: (0.1, 0)})
