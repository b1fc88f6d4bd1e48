"""New arrays with the shape of an existing array, nested or dense: constants and random numbers.

A result has the shape and the device of ``x``. It also has the layout and the dtype of ``x``, unless ``layout`` or
``dtype`` names another. The result has no gaps, and keeps empty components. A NumPy array has no device, so the result
for it lies on the device of `set_default_device`. ``requires_grad`` makes the result a leaf whose operations are
recorded; no gradient flows to ``x``. ``generator`` is the source of random numbers, by default that of `manual_seed`.

A layout for a dense array raises StructureError. An unsupported dtype raises DTypeError; in `rand_like` and
`randn_like`, so does a dtype that is not floating. After `torch.zeros_like` and its siblings. Clauses: LIKE-1 to
LIKE-10; for random numbers RANDOM-1 to RANDOM-10.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from pynested.autograd import Array, creation
from pynested.autograd.arguments.operands import as_array, canonical_dtype, chosen_device
from pynested.autograd.call_errors import check_flags
from pynested.autograd.decorators import operator
from pynested.autograd.random import canonical_generator, empty_floats, integers
from pynested.backends.errors import StructureError
from pynested.nested.layout_conversion import to_layout
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, DType
from pynested.structure import Strided
from pynested.structure.layout import Layout, canonical_layout

MakeValues = Callable[..., Array]  # takes a shape, and the keywords dtype and device


def _like(
    name: str, x: ArrayT, dtype: DType | None, requires_grad: bool, make: MakeValues, layout: Layout | None = None
) -> ArrayT:
    """Return an array with the shape of ``x`` and values from ``make``."""
    check_flags(name, requires_grad=requires_grad)
    template = x if isinstance(x, NestedArray) else as_array(name, x)
    dtype = template.dtype if dtype is None else canonical_dtype(name, dtype, template.device)
    if isinstance(template, NestedArray):
        if layout is not None:
            template = to_layout(name, template.detach(), canonical_layout(name, layout))
        values = make(_packed_shape(template), dtype=dtype, device=template.device)
        return NestedArray(values, template.structure.packed).requires_grad_(requires_grad)
    if layout is not None:
        raise StructureError(f"{name}: a dense array has no nested layout; nest it: pn.as_nested_array(x, layout=…).")
    device = chosen_device(name, None, x)  # for a NumPy array, which has no device, the default device
    return make(template.shape, dtype=dtype, device=device).requires_grad_(requires_grad)


def _packed_shape(x: NestedArray) -> tuple[int, ...]:
    """Return the shape of the values that a packed copy of ``x`` has."""
    structure = x.structure
    if isinstance(structure, Strided):
        return (structure.packed.buffer_size,)
    axis = structure.ragged_dim - 1
    return (*x.data.shape[:axis], structure.segments.rows, *x.data.shape[axis + 1 :])


@operator
def empty_like(
    x: ArrayT, *, dtype: DType | None = None, requires_grad: bool = False, layout: Layout | None = None
) -> ArrayT:
    """Return an array like ``x`` with arbitrary values: ``(B, *, D) -> (B, *, D)``.

    Clauses: LIKE-1, LIKE-2, LIKE-4 to LIKE-6, LIKE-9, LIKE-10.

    >>> pn.empty_like(pn.nested_array([[1, 2], [3]], layout=pn.jagged)).shape
    (2, j1)
    """
    return _like("empty_like", x, dtype, requires_grad, creation.empty, layout)


@operator
def zeros_like(
    x: ArrayT, *, dtype: DType | None = None, requires_grad: bool = False, layout: Layout | None = None
) -> ArrayT:
    """Return an array like ``x`` of zeros: ``(B, *, D) -> (B, *, D)``.

    Clauses: LIKE-1 to LIKE-5, LIKE-9, LIKE-10.

    >>> pn.zeros_like(pn.nested_array([[1, 2], [3]])).unbind()
    (array([0, 0]), array([0]))
    """
    return _like("zeros_like", x, dtype, requires_grad, creation.zeros, layout)


@operator
def ones_like(
    x: ArrayT, *, dtype: DType | None = None, requires_grad: bool = False, layout: Layout | None = None
) -> ArrayT:
    """Return an array like ``x`` of ones: ``(B, *, D) -> (B, *, D)``.

    Clauses: LIKE-1 to LIKE-5, LIKE-9, LIKE-10.

    >>> pn.ones_like(pn.nested_array([[1, 2], [3]]), dtype=pn.float32).unbind()
    (array([1., 1.], dtype=float32), array([1.], dtype=float32))
    """
    return _like("ones_like", x, dtype, requires_grad, creation.ones, layout)


@operator
def full_like(
    x: ArrayT, fill_value: float, *, dtype: DType | None = None, requires_grad: bool = False,
    layout: Layout | None = None,
) -> ArrayT:  # fmt: skip
    """Return an array like ``x`` with ``fill_value`` everywhere: ``(B, *, D) -> (B, *, D)``.

    Clauses: LIKE-1 to LIKE-5, LIKE-7 to LIKE-10.

    >>> pn.full_like(pn.nested_array([[1, 2], [3]]), 7).unbind()
    (array([7, 7]), array([7]))
    """
    return _like(
        "full_like", x, dtype, requires_grad,
        lambda shape, dtype, device: creation.new_full("full_like", shape, fill_value, dtype, device), layout,
    )  # fmt: skip


@operator
def rand_like(
    x: ArrayT, *, dtype: DType | None = None, requires_grad: bool = False, generator: np.random.Generator | None = None
) -> ArrayT:
    """Return an array like ``x`` of uniform random numbers from [0, 1): ``(B, *, D) -> (B, *, D)``.

    Clauses: LIKE-1, LIKE-2, LIKE-5, RANDOM-1, RANDOM-5 to RANDOM-8, RANDOM-10.

    >>> drawn = pn.rand_like(pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged))
    >>> drawn.shape, bool((drawn.values() < 1).numpy().all())
    ((2, j1), True)
    """
    canonical_generator("rand_like", generator)
    return _like(
        "rand_like", x, dtype, requires_grad,
        lambda shape, dtype, device: empty_floats("rand_like", shape, dtype, device).uniform_(generator=generator),
    )  # fmt: skip


@operator
def randn_like(
    x: ArrayT, *, dtype: DType | None = None, requires_grad: bool = False, generator: np.random.Generator | None = None
) -> ArrayT:
    """Return an array like ``x`` of standard normal random numbers: ``(B, *, D) -> (B, *, D)``.

    Clauses: LIKE-1, LIKE-2, LIKE-5, RANDOM-2, RANDOM-5 to RANDOM-8, RANDOM-10.

    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]])
    >>> first, second = [pn.randn_like(nt, generator=np.random.default_rng(0)) for _ in range(2)]
    >>> pn.equal(first, second)
    True
    """
    canonical_generator("randn_like", generator)
    return _like(
        "randn_like", x, dtype, requires_grad,
        lambda shape, dtype, device: empty_floats("randn_like", shape, dtype, device).normal_(generator=generator),
    )  # fmt: skip


@operator
def randint_like(
    x: ArrayT, low: int, high: int | None = None, *, dtype: DType | None = None,
    generator: np.random.Generator | None = None,
) -> ArrayT:  # fmt: skip
    """Return an array like ``x`` of random integers from ``low`` to ``high - 1``: ``(B, *, D) -> (B, *, D)``.

    Without ``high``, the integers are from 0 to ``low - 1``. The result has the dtype of ``x``, even if it is floating.
    Clauses: LIKE-1, LIKE-2, LIKE-5, RANDOM-3, RANDOM-5 to RANDOM-7, RANDOM-9, RANDOM-10.

    >>> pn.randint_like(pn.nested_array([[1.0, 2.0], [3.0]]), 5, 6).unbind()
    (array([5., 5.]), array([5.]))
    """
    return _like("randint_like", x, dtype, False, partial(integers, "randint_like", low, high, generator=generator))
