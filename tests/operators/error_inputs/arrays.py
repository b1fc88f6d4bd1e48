"""Error inputs of functions that make, convert, index and write arrays, and of their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.errors import (
    ArgumentError,
    DeviceError,
    DimensionError,
    DTypeError,
    GradientError,
    IndexOutOfRange,
    LayoutError,
    ShapeError,
    StructureError,
)

from ...nests import batch, distinct
from . import ErrorInput, pn

NAN = float("nan")
ALL = slice(None)
X = batch([(2, 3), (0, 3), (4, 3)])
MASK = [x > 0.05 for x in X]
INTS = [x.astype(np.int8) for x in X]
CUBE = distinct((3, 4, 2))


def setitem(x: Any, index: Any, value: Any) -> None:
    x[index] = value


def wants_grad(x: Any) -> Any:
    return x.detach().requires_grad_()


def view_in_no_grad(x: Any) -> Any:
    with pn.no_grad():
        return x[:1]


ALWAYS: list[ErrorInput] = [
    *[(lambda nest, index=index: nest(X)[index], kind, text) for index, kind, text in (
        ((None, ALL), DimensionError, "index: None before the batch dimension"),
        ((ALL,) * 4, DimensionError, "index: 4 indices are too many for an array of 3"),
        ((..., ..., 0), DimensionError, "index: an index can have only one ellipsis"),
        (slice(None, None, 0), ArgumentError, "step 0"),
        (pn.array(True), ArgumentError, "index: an index must be an integer, not array(True)"),
        (([0], [0]), ArgumentError, "must be the first entry"),
        (np.zeros((3, 1), int), ArgumentError, "an array that selects from a batch of components must have one dim"),
        (np.array([1.0]), ArgumentError, "must hold integers or bools, not float64"),
        ([[0], [1, 2]], ArgumentError, "must hold integers"))],
    (lambda nest: nest(X)[nest(MASK), 0], ArgumentError, "index: a nested mask stands alone"),
    (lambda nest: nest(X)[nest(MASK).unsqueeze(1)], StructureError, "2 to 3 dimensions"),
    (lambda nest: nest(X)[nest(INTS)], ArgumentError, "a nested array in an index is a mask of bools, not of int8"),
    (lambda nest: pn.getitem(pn.ones(3), nest(MASK)), StructureError, "the mask is nested and the array is dense"),
    (lambda nest: pn.masked_select(nest(X), nest(MASK)), ArgumentError, "x[mask]"),
    # conversion
    *[(lambda nest, size=size: pn.to_padded_array(nest(X), 0.0, size), ShapeError, text) for size, text in (
        ((3, 4, 3, 1), "output_size (3, 4, 3, 1) has 4 sizes and the nested array has 3 dimensions"),
        ((3, 4, 2), "to_padded_array: dimension 2 needs size 3 or more, and output_size (3, 4, 2) has 2"))],
    (lambda nest: pn.to_padded_array(nest(X), 0.0, out=pn.zeros(3, 2, 2)), ShapeError, "to_padded_array: out has"),
    (lambda nest: pn.to_padded_array(x := wants_grad(nest(X)), 0.0, out=x.detach().to_padded_array(0.0)), GradientError,
     "out= cannot be"),
    *[(lambda nest, args=args: nest(X).to(*args), kind, text) for args, kind, text in (
        (("nowhere",), DTypeError, "Devices are 'cpu', 'cuda', 'emulated', 'plain'"),
        ((None,), DTypeError, "to: None is neither a dtype nor a device"),
        (("int8", "int8"), ArgumentError, "to: two dtypes are given, 'int8' and 'int8'"),
        *[(targets, DTypeError, "to: pynested.jagged is neither a dtype nor a device; only the last target can be a")
          for targets in ((pn.jagged, "int8"), (pn.jagged, "cpu"), (pn.jagged, pn.strided))])],
    (lambda nest: nest(X).to(pn.jagged, layout=pn.strided), ArgumentError,
     "to: two layouts are given, pynested.jagged and pynested.strided"),
    *[(lambda nest, out=out: nest(X).to_padded_array(0.0, (3, 4, 4), out=out()), GradientError, text) for out, text in (
        (lambda: pn.zeros(3, 4, 4, requires_grad=True), "to_padded_array: this array requires grad"),
        (lambda: pn.zeros(3, 1, 4).broadcast_to((3, 4, 4)), "to_padded_array: the memory is read-only"))],
    (lambda nest: nest(X).to(layout="jagged"), LayoutError, "jagged"),
    *[(lambda nest, device=device: nest(X).to(device=device), DeviceError, f"no backend for device {device!r}")
      for device in ("nowhere", "float32", np.float32, 3)],
    (lambda nest: nest(X).to("cuda:1"), DeviceError, "to: device 'cuda:1': only number 0"),
    (lambda nest: nest(X).to(dtype="plain"), DTypeError, "to: 'plain' is not a dtype"),
    (lambda nest: nest(X).pin_memory(), DeviceError, "pin_memory: an array on 'cpu' cannot be pinned"),
    (lambda nest: pn.narrow(nest(X), 1, [0, 0], 1), StructureError, "narrow: start has shape (2,). Give an integer."),
    (lambda nest: pn.narrow(nest(X), 0), ArgumentError, "length is missing. Give an integer."),
    (lambda nest: pn.narrow(nest(X), 0, 2**70, 1), StructureError, "start holds an integer that is beyond int64"),
    (lambda nest: pn.embedding(pn.ones(3, 2), nest(X)), ArgumentError, "must be dense"),
    # writes
    *[(lambda nest, write=write: write(wants_grad(nest(X))), GradientError, words) for write, words in (
        (lambda x: setitem(x, ..., 1.0), "pn.where(mask, value, x)"),
        (lambda x: x.detach().add_(x), "add_: an operand requires grad"))],
    (lambda nest: pn.ones(1).clamp_(nest([x[:, 0] for x in X])), StructureError,
     "clamp_: the result is nested and cannot be written into a dense array"),
    *[(lambda nest, call=call: call(nest(X), nest(X).to("plain")), DeviceError, text) for call, text in (
        (lambda x, y: x.copy_(y), "copy_"), (lambda x, y: setitem(x, ALL, y), "assignment"),
        (lambda x, y: x.to_padded_array(0.0, out=y.to_padded_array(0.0)), "to_padded_array"),
        (lambda x, y: pn.map_components(pn.mul, x, y), "mul"),
        (lambda x, y: pn.elementwise("product", pn.mul, x, y), "different devices"))],
    # other functions
    (lambda nest: wants_grad(nest(X)).register_hook(3), ArgumentError, "not an int"),
]  # fmt: skip

FILLED: list[ErrorInput] = [
    *[(lambda nest, index=index: nest(X)[index], IndexOutOfRange, text) for index, text in (
        ([0, 3], "index: 3, at position 1 of the index, is out of bounds for a batch of components of 3"),
        ([True, False], "a mask of 2 entries selects from a batch of components of 3"),
        ([2**70], "index: a list has an integer beyond int64"))],
    *[(lambda nest, index=index: nest(X)[index], IndexOutOfRange, f"index: index {text}") for index, text in (
        (3, "3 is out of bounds for dimension 0 with size 3"), ((3, [0]), "3 is out of bounds for dimension 0"),
        ((ALL, 0), "0 is out of bounds along dimension 1 of component 1 (length 0)"),
        ((ALL, ALL, 9), "9 is out of bounds along dimension 2"))],
    (lambda nest: nest(X)[nest([mask[:1] for mask in MASK])], StructureError,
     "index: the mask has shape (1, 3) at component 0 of shape (2, 3)"),
    *[(lambda nest, span=span: pn.narrow(nest(X), 1, *span), StructureError, f"narrow: entry {entry}: start (")
      for entry, span in ((1, (0, 2)), (0, (2**62, 2**62)))],
    (lambda nest: nest(X).to_dense(), StructureError, "to_dense: component 1 has shape (0, 3)"),
    (lambda nest: setitem(nest(X), 0, [[1.0], [2.0, 3.0]]), ArgumentError, "a list with parts of different lengths"),
    (lambda nest: pn.grad(wants_grad(nest(X)) * 2, []), GradientError, "nested, of 18 elements"),
]  # fmt: skip

A = pn.array(np.arange(6.0).reshape(2, 3))
PAIR, BLOCK = pn.array([1.0, 2.0]), pn.zeros(4, 2, 3)
RAGGED = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)
FROZEN = np.zeros(5)
FROZEN.setflags(write=False)
VALUES = pn.arange(6, dtype=pn.float64)
OVERLAPPING = pn.nested_array_from_jagged(VALUES, [0, 0, 6], [3, 2])
WOVEN = pn.nested_array_from_strided(VALUES, [[3, 2]], [[1, 1]], [0])
SMALL = pn.nested_array([[1]], dtype=pn.int8)
DENSE: list[ErrorInput] = [
    # indices
    *[(lambda index=index: A[index], kind, text) for index, kind, text in (
        (-(2**70), IndexOutOfRange, "beyond int64"), (slice(True), ArgumentError, "an end of a slice"),
        (np.ones((2, 3, 1)) > 0, DimensionError, "index: 3 indices are too many for an array of 2 dimensions"),
        (([0], ..., ...), DimensionError, "only one ellipsis"), ((1, 3), IndexOutOfRange, "dimension 1 with size 3"),
        ([None], ArgumentError, "integers or bools, not NoneType."), (["a"], ArgumentError, "not str."),
        ((0, [9]), IndexOutOfRange, "out of bounds for dimension 1 of an array of 3"),
        ((None, [9]), IndexOutOfRange, "out of bounds for dimension 0 of an array of 2"),
        ((0, [True]), IndexOutOfRange, "selects from dimension 1 of an array of 3"))],
    *[(lambda index=index: BLOCK[index], kind, text) for index, kind, text in (
        (([0], [2]), IndexOutOfRange, "2, at position 0 of the index, is out of bounds for dimension 1 of"),
        (([0, 1], [0, 1, 0]), ShapeError, "index: arrays of shapes (2,) and (3,) do not broadcast"),
        (([True, False, True, False], [0, 1]), ArgumentError, "a mask cannot be combined with other lists"),
        ((ALL, 0, ..., [0]), ArgumentError, "Index by integers first, x[0][:, [1, 2]]"),
        ((ALL, [0], ..., [0]), ArgumentError, "leave out a ... that stands for no dimensions"),
        ((ALL, np.eye(2) > 0), IndexOutOfRange, "a mask of shape (2, 2) selects from sizes (2, 3) of an array"))],
    # conversion
    (lambda: pn.to_padded_array(A, 0.0), StructureError, "to_padded_array: the input must be nested, not Array"),
    (lambda: A.to(layout=pn.jagged), StructureError, "to: a dense array has no nested layout"),
    (lambda: A.to(pn.jagged), StructureError, "to: a dense array has no nested layout"),
    (lambda: pn.from_numpy(np.ones((2, 3)), layout=pn.jagged), StructureError,
     "from_numpy: a dense array has no nested layout"),
    (lambda: pn.from_numpy(np.array([np.ones(1), np.ones(2)], object), layout="jagged"), LayoutError, "from_numpy"),
    (lambda: pn.pin_memory([1.0]), ArgumentError, "pin_memory: list is neither an array nor a number"),
    (lambda: pn.to_dense([1.0]), ArgumentError, "to_dense: list is neither an array nor a number"),
    (lambda: np.array(pn.nested_array_from_jagged(VALUES, [0, 3, 6], [2, 2]), copy=False), ArgumentError, "need a"),
    *[(lambda dim=dim, layout=layout: pn.narrow(np.ones(3), dim, 0, 1, layout), StructureError,
       "narrow: a dense array needs 2 dimensions or more to be a batch; this array has 1")
      for dim in (0, 1) for layout in (pn.strided, pn.jagged)],
    (lambda: pn.narrow(CUBE, 0, 0, 1, pn.jagged), DimensionError, "narrow: a jagged result has ranges along dim"),
    (lambda: pn.masked_select(CUBE, np.ones((2, 3, 4, 2), np.bool_)), ShapeError, "masked_select"),
    (lambda: pn.masked_select(pn.array(1.0), pn.array(True)), ShapeError, "an array without dimensions has no rows"),
    *[(lambda entry=entry, make=make: make([1, entry]), DTypeError, f"{make.__name__}: entry 1, a {kind}, does not")
      for make in (pn.nested_array, pn.as_nested_array) for entry, kind in ((None, "NoneType"), ("a", "str"))],
    (lambda: pn.nested_array([[1.0], [2.0, None]]), DTypeError, "nested_array: entry 1, a list, does not hold"),
    # construction
    (lambda: pn.Array(None), ArgumentError, "Array: a NoneType is no array"),
    (lambda: pn.zeros_like(pn.ones(2), layout=pn.jagged), StructureError, "zeros_like: "),
    (lambda: pn.pictures.picture([1.0, 2.0]), ArgumentError, "list"),
    (lambda: pn.arange(0, 1, 0), ArgumentError, "the step not 0"),
    (lambda: pn.manual_seed(-1), ArgumentError, "manual_seed: the seed must be an integer of 0 or more, not -1"),
    *[(lambda name=name, args=args: getattr(pn, name)(SMALL, *args), kind, f"{name}: {text}")
      for name, args, kind, text in (
          ("rand_like", (), DTypeError, "random real numbers need a floating point dtype, not int8"),
          ("randint_like", (0,), ArgumentError, "there is no integer from 0 to 0 - 1"))],
    # writes
    (lambda: setitem(pn.ones(2), [0, 1], pn.ones(3, 2)), ShapeError, "a value of shape (3, 2) does not fit into"),
    (lambda: pn.ones(2).add_(pn.ones(3, 2)), ShapeError, "add_: a result of shape (3, 2) does not fit into"),
    (lambda: view_in_no_grad(wants_grad(PAIR)).fill_(1.0), GradientError, "a view, made inside no_grad, of an array"),
    (lambda: pn.ones(1).expand(3).fill_(1.0), GradientError, "its elements repeat"),
    (lambda: setitem(WOVEN, (ALL, slice(None, None, -1)), 1.0), StructureError, "overlap"),
    (lambda: OVERLAPPING.fill_(1.0), StructureError, "fill_: components overlap"),
    *[(lambda index=index: setitem(pn.nested_array_from_jagged(FROZEN, [0, 5]), index, 1.0), GradientError, "read-only")
      for index in ((ALL, 0), ...)],
    (lambda: PAIR.uniform_(2, 1), ArgumentError, "uniform_: low is 2 and high is 1"),
    *[(lambda low=low: PAIR.uniform_(low, 1), ArgumentError, f"uniform_: low must be a number, not {low}.")
      for low in (NAN, False)],
    (lambda: PAIR.uniform_(0, np.inf), ArgumentError, "uniform_: high must be finite, not inf"),
    (lambda: PAIR.uniform_(-1e308, 1e308), ArgumentError, "uniform_: the interval from -1e+308 to 1e+308 is longer"),
    (lambda: PAIR.normal_(0, -1), ArgumentError, "normal_: std must be 0 or more, not -1"),
    (lambda: pn.zeros(2, dtype=pn.float16).uniform_(0, 1e5), OverflowError, "100000.0 is out of bounds for float16"),
    (lambda: pn.arange(3).uniform_(), DTypeError, "random real numbers need a floating point dtype, not int64"),
    (lambda: pn.normal_([1.0]), ArgumentError, "normal_: takes an array to write to, not a list"),
    # gradients and Python's own functions
    (lambda: pn.grad(RAGGED.sum(), 3), ArgumentError, "not an int"), (lambda: pn.tape(3), ArgumentError, "not an int"),
    (lambda: pn.hessian(pn.sum, np.ones(2)), ArgumentError, "hessian: x must"),
    (lambda: bool(A > 0), ArgumentError, "not one. Use x.any() or x.all()"),
]  # fmt: skip
