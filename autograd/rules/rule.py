"""The base class of rules: it computes, records a node on the tape, and applies the derivatives in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any, TypeVar, overload

import numpy as np

from pynested.backends import get_backend, register_kernel
from pynested.backends.dtypes import is_float
from pynested.backends.errors import DeviceError, GradientError
from pynested.backends.events import ObservedBackend, emit_around, listening

from ..arguments.scalars import refused_operand
from ..array import Array, raw
from ..dispatch import operator
from ..pending import Pending
from ..tape import ANOMALY, Node, source_of, state

Verb = str | Callable[..., Any]
Function = TypeVar("Function", bound=Callable[..., Any])
RULES: dict[str, Rule] = {}


def bind(verb: Verb, device: str) -> Callable[..., Any]:
    """Return the function that computes ``verb`` on ``device``: a kernel, or ``verb`` itself with the backend bound."""
    if listening.count:
        return _of_backend(verb, ObservedBackend(get_backend(device)))
    return bind_cached(verb, device)


@cache
def bind_cached(verb: Verb, device: str) -> Callable[..., Any]:
    """Return `bind` of a device whose kernels nobody observes."""
    return _of_backend(verb, get_backend(device))


def _of_backend(verb: Verb, backend: Any) -> Callable[..., Any]:
    return getattr(backend, verb) if isinstance(verb, str) else partial(verb, backend)


@operator
def kernel(verb: str, *, device: str) -> Callable[[Function], Function]:
    """Register a function as the kernel for a verb on a device. It replaces the kernel that was there.

    The verbs, what they take and what they give are those of `pynested.backends.Backend`; so a verb also says for which
    layout: ``segment_softmax`` is asked where runs are segments of rows, ``softmax_last`` where they are rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pynested.backends.numpy import relu as before
    >>> @pn.kernel("relu", device="cpu")
    ... def relu(x, /):
    ...     return np.where(x < 0, x.dtype.type(0), x)
    >>> pn.relu(pn.array([-1.0, 2.0]))
    array([0., 2.])
    >>> _ = pn.kernel("relu", device="cpu")(before)
    """

    def register(function: Function) -> Function:
        register_kernel(verb, device, function)
        bind_cached.cache_clear()
        for rule in RULES.values():
            if rule.verb == verb:
                rule.compute = bind_cached(verb, "cpu")
        return function

    return register


def fused_on_device(fused: Verb, g: Array, *saved: Any) -> Any:
    """Return what a kernel of gradients computes from a cotangent and saved values of its device, wrapped as arrays."""
    pulled = bind(fused, g.device)(*_unwrap((g, *saved)))
    return _wrap(pulled, g.device)


def _unwrap(value: Any) -> Any:
    return tuple([_unwrap(one) for one in value]) if type(value) is tuple else raw(value)


def _wrap(value: Any, device: str) -> Any:
    if type(value) is tuple:
        return tuple([_wrap(one, device) for one in value])
    return None if value is None else Array(value, device)


class Rule:
    """A primitive: called with arrays first, then with arguments that are not differentiated.

    Parameters
    ----------
    name : str
        What error messages and the tape call it.
    verb : str or callable
        The backend's verb, or a function of the backend, the arrays and the other arguments.
    arity : int
        How many arrays there are.
    saves : str
        What the derivative looks at: ``y`` the output, ``a``, ``b``, ... the inputs.
    """

    broadcasts = False
    may_alias = True  # whether a result can be a view of an operand
    select_static: Callable[..., tuple[Any, ...]] | None = None  # which static arguments a node keeps, if not all

    def __init__(self, name: str, verb: Verb, arity: int, saves: str) -> None:
        self.name = name
        self.verb = verb
        self.compute = bind_cached(verb, "cpu")
        self.arity = arity
        self.saves_output = "y" in saves
        self.saved_inputs = tuple("abcdef"[i] in saves for i in range(arity))
        self.saves_inputs = any(self.saved_inputs)
        RULES[name] = self

    def __repr__(self) -> str:
        return f"<rule {self.name}>"

    @overload
    def __call__(self, first: Array, /, *others: Any) -> Array: ...
    @overload
    def __call__(self, *arguments: Any) -> Any: ...
    def __call__(self, *arguments: Any) -> Any:
        """Compute on the arrays, which come first; recorded if they are `Array` and one of them wants a gradient."""
        if listening.count:
            return self.apply_observed(arguments[: self.arity], arguments[self.arity :])
        return self.apply(arguments[: self.arity], arguments[self.arity :])

    def apply_observed(self, arrays: tuple[Any, ...], static: tuple[Any, ...]) -> Any:
        """`apply`, with an event."""
        return emit_around("primitive", self.name, self.apply, arrays, static)

    def apply(self, arrays: tuple[Any, ...], static: tuple[Any, ...]) -> Any:
        """Compute, wrap, and record a node if a gradient is wanted; bare arrays only compute."""
        device: str | None = None
        tracked = False
        raw_arrays: list[Any] = []
        for array in arrays:
            if type(array) is not Array:
                raw_arrays.append(array)
                continue
            raw_arrays.append(array._bare)
            tracked = tracked or array.tracked
            if device is None:
                device = array.storage.device
            elif array.storage.device != device:
                same_device(self.name, arrays)
        if listening.count or not (device is None or device == "cpu"):
            compute = bind(self.verb, device or "cpu")
        else:
            compute = self.compute
        try:
            output = compute(*raw_arrays, *static)
        except OverflowError:  # a Python integer that the dtype of the array cannot hold
            raise refused_operand(self.name, *arrays) from None
        if device is None:
            return output
        if type(output) is not tuple and type(output) is not list:
            result = Array.of(output, device, arrays) if self.may_alias else Array(output, device)
            if tracked and state.mode:
                result.node, result.tracked = self.record_node(result, arrays, static), True
            return result
        results = [Array.of(one, device, arrays) for one in output]
        if tracked and state.mode and results:
            attach_outputs(results, self.record_node(results[0], arrays, static))
        return tuple(results)

    def record_node(self, result: Array, arrays: tuple[Any, ...], static: tuple[Any, ...]) -> Node:
        """Return a node for ``result``. Where a rule has several outputs, ``result`` is the first."""
        sources: list[Any] = []
        shapes: list[tuple[int, ...]] = []
        for array in arrays:
            if type(array) is Array:
                sources.append(source_of(array))
                shapes.append(array._bare.shape)
            else:
                sources.append(None)
                shapes.append(np.shape(array))
        options = static if self.select_static is None else self.select_static(*static)
        node = Node(self, tuple(sources), options, result._bare.shape, result._bare.dtype)
        node.shapes = tuple(shapes)
        if self.saves_inputs or self.saves_output or state.mode == ANOMALY:
            saved = self.saved(arrays, node.sources) if self.saves_inputs else None
            node.save(saved, result.detach() if self.reads_output(node.sources) else None)
        return node

    def saved(self, arrays: tuple[Any, ...], sources: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs that the derivative reads, as a node may hold them, and None for the others."""
        saved = [
            None if not is_read else array.as_saved() if type(array) is Array else array
            for array, is_read in zip(arrays, self.inputs_read(sources), strict=True)
        ]
        return tuple(saved)

    def inputs_read(self, sources: tuple[Any, ...]) -> Sequence[bool]:
        """Return for each input whether the derivatives for the inputs with a source read it."""
        return self.saved_inputs

    def reads_output(self, sources: tuple[Any, ...]) -> bool:
        """Return whether a derivative of the tracked inputs reads the output."""
        return self.saves_output

    def apply_vjp(self, node: Node, cotangent: Any, pending: Pending, needed: set[Any] | None) -> None:
        """Pull ``cotangent``, that of the output, back to the sources of ``node``."""
        inputs, output = self.saved_values(node)
        cotangents = self.cotangents(node, cotangent, inputs, output, needed)
        for i, source in enumerate(node.sources):
            if source is None or (needed is not None and source not in needed):
                continue
            pulled = cotangents[i]
            if pulled is None:
                continue
            if pulled.shape != source.shape or pulled.dtype != source.dtype:
                pulled = self._match_source(node, i, source, pulled)
            pending.add(source, pulled)

    def saved_values(self, node: Node) -> tuple[Any, Any]:
        """Return the saved inputs and the saved output, with their history."""
        if not self.saves_inputs and not self.saves_output and node.stack is None:
            return (None,) * len(node.sources), None
        inputs, output = node.saved()
        if inputs is None:
            inputs = (None,) * len(node.sources)
        return inputs, Array.made_by(node, output) if output is not None else None

    def cotangents(self, node: Node, cotangent: Any, inputs: Any, output: Any, needed: set[Any] | None) -> Any:
        """The cotangent of each array argument; None where there is none."""
        raise GradientError(f"{self.name} has no derivative.")

    def apply_jvp(self, node: Node, tangents: list[Any]) -> Any:
        """The tangent of the output, given those of the inputs (None for a constant)."""
        raise GradientError(f"{self.name} has no forward derivative.")

    def _match_source(self, node: Node, i: int, source: Any, cotangent: Any) -> Any:
        """``cotangent`` in the shape and dtype of argument ``i``; it may differ by broadcasting or promotion only."""
        shape, dtype = source.shape, source.dtype
        if cotangent.shape != shape:
            if not self.broadcasts or cotangent.shape != node.shape:
                raise GradientError(
                    f"{self.name}: its rule returned a cotangent of shape {cotangent.shape} for argument {i}, which "
                    f"has shape {shape} (the output has {node.shape}). The rule is wrong; it must return the input's "
                    "shape."
                )
            cotangent = RULES["sum_to"](cotangent, shape)
        if cotangent.dtype != dtype:
            if cotangent.dtype != node.dtype:
                raise GradientError(
                    f"{self.name}: its rule returned a cotangent of dtype {cotangent.dtype} for argument {i}, which "
                    f"has dtype {dtype} (the output has {node.dtype}). The rule is wrong; it must keep the input's "
                    "dtype."
                )
            cotangent = RULES["cast"](cotangent, dtype)
        return cotangent


class Part(Rule):
    """The rule for one of several outputs of a node: its cotangent goes to its place, its tangent comes from there."""

    def __init__(self) -> None:
        self.name = "part"

    def apply_vjp(self, node: Node, cotangent: Any, pending: Pending, needed: set[Any] | None) -> None:
        """Put the cotangent in its place."""
        if needed is None or node.sources[0] in needed:
            pending.add_part(node.sources[0], node.static[0], cotangent)

    def apply_jvp(self, node: Node, tangents: list[Any]) -> Any:
        """Take the tangent from its place."""
        return None if tangents[0] is None else tangents[0][node.static[0]]


PART = Part()


def attach_outputs(results: list[Array], node: Node, which: Sequence[bool] | None = None) -> None:
    """Make ``results`` the outputs of ``node``, one after the other; only floating ones, and those of ``which``."""
    node.parts = len(results)
    for i, result in enumerate(results):
        if is_float(result.dtype) and (which is None or which[i]):
            attach_output(result, node, i)


def attach_output(result: Array, node: Node, index: int) -> Array:
    """Make ``result`` output ``index`` of ``node``."""
    result.node = Node(PART, (node,), (index,), result.data.shape, result.data.dtype)
    result.tracked = True
    return result


def same_device(name: str, arrays: Iterable[Any]) -> str:
    """The one device on which all of ``arrays`` lie."""
    devices = {array.storage.device for array in arrays if type(array) is Array}
    if len(devices) != 1:
        raise device_error(name, devices)
    return devices.pop()


def device_error(name: str, devices: Iterable[str]) -> DeviceError:
    """The error for operands on several devices."""
    places = sorted(devices)
    return DeviceError(
        f"{name}: the operands lie on different devices: {', '.join(places)}. Move one, as with x.to({places[-1]!r}); "
        "an array of NumPy lies on the CPU."
    )
