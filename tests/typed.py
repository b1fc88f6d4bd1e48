"""Types of an installed pynested: run mypy or pyright on this file, without the settings of this repository."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np

import pynested as pn
from pynested import Array, NestedArray

x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
y = pn.array([1.0, 2.0])
column = pn.array([[1.0], [2.0]])
rows = pn.nested_array([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], layout=pn.jagged)
leaf = pn.array([1.0, 2.0], requires_grad=True)

# Functions whose result is of the kind of the operand.
assert_type(x, NestedArray)
assert_type(pn.relu(x), NestedArray)
assert_type(pn.relu(y), Array)
assert_type(pn.softmax(x, 1), NestedArray)

# Functions of several operands: the result is nested if an operand is.
assert_type(pn.add(x, 1), NestedArray)
assert_type(pn.mul(column, x), NestedArray)
assert_type(pn.add(y, 1, alpha=2), Array)
assert_type(pn.maximum(y, np.zeros(2)), Array)
assert_type(pn.where(x > 0, x, 0.0), NestedArray)
assert_type(pn.where(y > 0, y, 0.0), Array)
assert_type(pn.clamp(y, 0.0), Array)
assert_type(pn.matmul(rows, column), NestedArray | Array)
assert_type(pn.linear(rows, column.reshape(1, 2)), NestedArray)
assert_type(pn.embedding(np.array([1, 0]), column), Array)
assert_type(pn.cat([x, x]), NestedArray)
assert_type(pn.cat([y, y]), Array)
assert_type(pn.select(y, 0, 0), Array)

# Methods.
assert_type(x.relu(), NestedArray)
assert_type(y.relu(), Array)
assert_type(x.relu_(), NestedArray)
assert_type(y.relu_(), Array)
assert_type(x.softmax(1), NestedArray)
assert_type(y.softmax(0), Array)
assert_type(x.unsqueeze(2).transpose(1, 2).reshape(2, 1, -1), NestedArray)
assert_type(x.chunk(2), tuple[NestedArray, ...])
assert_type(x.unbind(), tuple[Array, ...])
assert_type(x + 1, NestedArray)
assert_type(1 - x, NestedArray)
assert_type(x.eq(x), NestedArray)
assert_type(y + 1, Array)
assert_type(x.values(), Array)
assert_type(x.grad, NestedArray | None)
assert_type(y.grad, Array | None)
assert_type(y.numpy(), np.ndarray[Any, Any])
assert_type(leaf.register_hook(lambda gradient: None), Callable[[], None])

# A reduction of all dimensions is dense; the kind of any other result depends on the dimension.
assert_type(x.sum(), Array)
assert_type(pn.amax(x), Array)
assert_type(pn.amax(y, 0), Array)
assert_type(pn.sum(x, 1), NestedArray | Array)
assert_type(x.sum(1), NestedArray | Array)
assert_type(x.mean(1, keepdim=True), NestedArray | Array)
assert_type(y.sum(0), Array)
assert_type(x.sum(1, keepdims=None), NestedArray | Array)
assert_type(x.argmax(1, keepdims=None), NestedArray | Array)
assert_type(x.amin(), Array)
assert_type(x.nansum(1, dtype=np.float32), NestedArray | Array)
assert_type(x.std(axis=1, keepdims=None), NestedArray | Array)
