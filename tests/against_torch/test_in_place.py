"""Each operator that writes in place in PyTorch has a method that does so here, and writes the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested import operators

from ..nests import LAYOUTS, PLACEMENTS, place, plain

torch = pytest.importorskip("torch")

# These methods of PyTorch change the shape of the tensor itself, or what is recorded of it. They write no numbers.
NO_WRITES = {"detach", "squeeze", "transpose", "unsqueeze"}
COMPONENTS = [[0.5, -2.0, 0.0], [], [3.0]]
CALLS: dict[str, tuple[Any, ...]] = {
    "sgn_": (), "logical_not_": (), "gelu_": (), "silu_": (), "cumsum_": (-1,), "dropout_": (1.0, True),
}  # fmt: skip


def in_place_names() -> set[str]:
    """The names, without the underscore, of PyTorch's methods and operators that write into their first argument."""
    schemas = (one.name for one in torch._C._jit_get_all_schemas())
    names = {*dir(torch.Tensor), *(name.removeprefix("aten::") for name in schemas if name.startswith("aten::"))}
    return {name[:-1] for name in names if name.endswith("_") and not name.startswith("_")}


def test_every_operator_has_its_method() -> None:
    theirs = in_place_names() & set(operators.__all__)
    assert {"add", "gelu", "sgn", "clamp", *NO_WRITES} <= theirs
    lacking = {name for name in theirs if not (hasattr(pn.Array, f"{name}_") and hasattr(pn.NestedArray, f"{name}_"))}
    assert lacking == NO_WRITES


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CALLS)
def test_writes_what_pytorch_writes(name: str, layout: Any, placement: str) -> None:
    components = [np.array(component) for component in COMPONENTS]
    placed = place(components, layout, placement)
    gaps = placed.holes_of(placed.buffer.numpy()).copy()
    assert getattr(placed.array, name)(*CALLS[name]) is placed.array
    for written, component in zip(plain(placed.array), components, strict=True):
        expected = getattr(torch.ops.aten, name)(torch.tensor(component), *CALLS[name])
        np.testing.assert_allclose(written, expected.numpy(), rtol=1e-12, strict=True)
    np.testing.assert_array_equal(placed.holes_of(placed.buffer.numpy()), gaps)


@pytest.mark.parametrize("name", CALLS)
def test_writes_into_dense_arrays(name: str) -> None:
    x = pn.array(COMPONENTS[0])
    assert getattr(x, name)(*CALLS[name]) is x
    expected = getattr(torch.ops.aten, name)(torch.tensor(COMPONENTS[0], dtype=torch.float64), *CALLS[name])
    np.testing.assert_allclose(x.numpy(), expected.numpy(), rtol=1e-12)
