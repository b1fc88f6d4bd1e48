"""`Primitive`: a differentiable function of dense arrays, its derivatives in both directions, and how it is recorded.

A primitive is written in four parts: the value, computed by the kernels ``k`` of a backend; the vjps, which take a
cotangent ``g`` back to each argument; the jvps, which take a tangent ``t`` forward; and the values that these
derivatives read. Here the jvps are the same functions as the vjps:

    mul = Primitive(
        "mul",
        lambda k, a, b: k.multiply(a, b),
        vjps=[lambda g, y, a, b: g * b, lambda g, y, a, b: g * a],
        saves=["b", "a"],
    )

Derivatives are written in primitives, too, so they can be differentiated again. A derivative that has a kernel of its
own is another primitive, such as ``gelu_backward``.
"""

from __future__ import annotations

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, Literal, TypeVar, overload

from pynested.backends import get_backend, register_kernel
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DeviceError
from pynested.backends.events import LISTENERS, ObservedBackend, emit_around
from pynested.backends.quiet import quiet_context

from ..arguments.scalars import operand_overflow
from ..array import Array, new_zeros
from ..decorators import operator
from ..tape import BackwardPass, Node, SourceCotangents, Unsaved, grad_mode

Derivative = Callable[..., Any]
Function = TypeVar("Function", bound=Callable[..., Any])
LINEAR: Literal["linear"] = "linear"  # the function is linear in all of its arrays together: it is its own jvp
OUTPUT = -1  # the position of the output among the saved values
PRIMITIVES: dict[str, Primitive] = {}  # by name, for tests


class Primitive:
    """A differentiable function of arrays and other arguments, all of them positional.

    Parameters
    ----------
    name : str
        The name that events and nodes show. It is usually that of the public operator.
    compute : callable
        ``compute(k, *args)`` returns the value, a tuple or list of values and None, or an `Array` on another device.
    vjps : list of callables, or callable, optional
        ``vjps[i](g, y, *args)`` returns the cotangent of argument ``i``, given ``g``, the cotangent of the output
        ``y``. None, or a list that ends earlier, means that an argument has no derivative. A function in place of the
        list returns the cotangents of all arguments. If there are several outputs, ``g`` is a list, with None for an
        output without cotangent, and ``y`` is None.
    jvps : list of callables, callable or LINEAR, optional
        ``jvps[i](t, y, *args)`` returns the tangent of the output for ``t``, the tangent of argument ``i``; a function
        in place of the list gets a list of all tangents, with None for an argument without tangent. The default is
        ``vjps``, a list, which is right if each Jacobian is symmetric, as that of an elementwise function.
    saves : list of str
        For each argument a string, such as "y x", with the names of the values that its vjp and its jvp read:
        parameters of ``compute``, and ``y``. If ``vjps`` is a function, one string for all arguments. Derivatives get
        an `Unsaved` (shape and dtype alone) in place of each array that no string of a tracked argument names.
    public : str, optional
        The name of the public operator, for errors and `pynested.tape`; by default ``name``.
    has_residuals : bool
        If True, ``compute`` returns one ``(value, *residuals)``; derivatives get the residuals after ``args``.
    """

    def __init__(
        self,
        name: str,
        compute: Callable[..., Any],
        vjps: Sequence[Derivative | None] | Derivative = (),
        jvps: Sequence[Derivative | None] | Derivative | Literal["linear"] | None = None,
        *,
        saves: Sequence[str] = (),
        public: str = "",
        has_residuals: bool = False,
    ) -> None:
        self.name, self.public = name, public or name
        self.compute = compute
        if callable(vjps) and jvps is None:
            raise ArgumentError(f"{name}: `vjps` is one function, which cannot be `jvps` as well. Pass `jvps`.")
        parameters = list(inspect.signature(compute).parameters)[1:]  # without the backend
        self.vjps: Any = vjps or [None] * len(parameters)
        self.jvps: Any = vjps if jvps is None else self._linear_jvp if jvps == LINEAR else jvps
        self.has_residuals = has_residuals
        positions = {**{parameter: i for i, parameter in enumerate(parameters)}, "y": OUTPUT}
        reads = [frozenset([positions[value] for value in values.split()]) for values in saves]
        self._reads: dict[int, frozenset[int]]
        if callable(vjps):
            self._differentiable: Container[int] = range(sys.maxsize)
            joint_reads = reads[0] if reads else frozenset[int]()
            self._reads = defaultdict(lambda: joint_reads)
        else:
            self._differentiable = frozenset([i for i, vjp in enumerate(vjps) if vjp is not None])
            self._reads = defaultdict(frozenset, enumerate(reads))
        PRIMITIVES[name] = self

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    @overload
    def __call__(self, first: Array, /, *others: Any) -> Array: ...
    @overload
    def __call__(self, *args: Any) -> Any: ...
    def __call__(self, *args: Any) -> Any:
        """Return the value, recorded if an array requires grad; of raw arrays alone, what ``compute`` returns."""
        if LISTENERS:
            return emit_around("primitive", self.name, self.apply, *args)
        return self.apply(*args)

    def apply(self, *args: Any) -> Any:
        """Return the value as `__call__` does, without an event."""
        device: str | None = None
        raw_args: list[Any] = []
        tracked = []  # the positions of the arguments to which gradients flow
        for i, arg in enumerate(args):
            if type(arg) is not Array:
                raw_args.append(arg)
                continue
            raw_args.append(arg._raw)
            if arg.tracked and i in self._differentiable:
                tracked.append(i)
            if device is None:
                device = arg.storage.device
            elif arg.storage.device != device:
                common_device(self.public, args)
        kernels: Any = get_backend(device or "cpu")
        if LISTENERS:
            kernels = ObservedBackend(kernels)
        try:
            value = quiet_context().run(self.compute, kernels, *raw_args)
        except OverflowError:  # a Python integer that the dtype of the array cannot represent
            raise operand_overflow(self.public, *args[:2]) from None
        if device is None:
            return value
        residuals = ()
        if self.has_residuals:
            value, *residuals = value
        if type(value) is tuple or type(value) is list:
            results = [None if entry is None else Array(entry, device, sources=args) for entry in value]
            if tracked and grad_mode.value:
                attach_outputs(results, self._record(None, args, tracked))
            return tuple(results)
        result = value if type(value) is Array else Array(value, device, sources=args)
        if tracked and grad_mode.value:
            result.node, result.tracked = self._record(result, args, tracked, residuals), True
        return result

    def _record(
        self, result: Array | None, args: Sequence[Any], tracked: Sequence[int], residuals: Sequence[Any] = ()
    ) -> Node:
        """Return the node of a result, or of several results. It saves what the vjps of the tracked arguments read."""
        sources: list[Any] = [None] * len(args)
        reads: frozenset[int] = frozenset()
        for i in tracked:
            sources[i] = args[i].node or args[i].leaf
            reads |= self._reads[i]
        saved = [*args, *residuals]
        for i, arg in enumerate(args):
            if type(arg) is Array:
                saved[i] = arg.as_saved() if i in reads else Unsaved(arg._raw.shape, arg._raw.dtype)
        if result is None:
            return Node(self, sources, None, None, saved)
        output = result.detach() if OUTPUT in reads else None
        return Node(self, sources, result._raw.shape, result._raw.dtype, saved, output)

    def apply_vjp(self, node: Node, cotangent: Any, this_pass: BackwardPass) -> SourceCotangents:
        """Return the sources of ``node`` that a pass visits, with the cotangent of each."""
        args = node.saved()
        y = node.output
        if y is not None and this_pass.is_recorded:
            y = y.as_output_of(node)
        terms = self.vjps(cotangent, y, *args) if callable(self.vjps) else None
        pairs: SourceCotangents = []
        for i, source in enumerate(node.sources):
            if source in this_pass.nodes_to_visit:
                term = self.vjps[i](cotangent, y, *args) if terms is None else terms[i]
                if term is not None:
                    pairs.append((source, term))
        return pairs

    def apply_jvp(self, node: Node, tangents: Sequence[Array | None]) -> Any:
        """Return the tangent of the output of ``node``, or a list of those of several outputs."""
        args = node.saved()
        y = None if node.output is None else node.output.as_output_of(node)
        if callable(self.jvps):
            return self.jvps(tangents, y, *args)
        terms = [jvp(t, y, *args) for jvp, t in zip(self.jvps, tangents, strict=False) if t is not None]
        terms = [term for term in terms if term is not None]
        return reduce(add, terms) if terms else None

    def _linear_jvp(self, tangents: Sequence[Array | None], y: Array | None, *args: Any) -> Any:
        """Return the function of the tangents, with zeros in place of missing tangents of arrays."""
        device = next(tangent.device for tangent in tangents if tangent is not None)
        tangents_and_constants = list(args)
        for i, (tangent, arg) in enumerate(zip(tangents, args, strict=True)):
            if tangent is not None:
                tangents_and_constants[i] = tangent
            elif type(arg) is Unsaved:
                tangents_and_constants[i] = new_zeros(arg.shape, arg.dtype, device)
        return self.apply(*tangents_and_constants)


@operator
def kernel(name: str, *, device: str) -> Callable[[Function], Function]:
    """Register a function as a kernel of a device. It replaces the kernel of this name.

    The kernels, their arguments and their results are those of `pynested.backends.PlainBackend`, and functions of
    NumPy, such as ``sin``. A name says the layout, too: ``segment_softmax`` computes segments of rows, ``softmax_last``
    the last axis of an array. The function runs in a context of its own, without the context variables of the caller.

    Examples
    --------
    >>> import numpy as np
    >>> before = pn.backends.get_backend("cpu").relu
    >>> @pn.kernel("relu", device="cpu")
    ... def relu(x, /):
    ...     return np.where(x < 0, x.dtype.type(0), x)
    >>> pn.relu(pn.array([-1.0, 2.0]))
    array([0., 2.])
    >>> _ = pn.kernel("relu", device="cpu")(before)
    """

    def register(function: Function) -> Function:
        register_kernel(name, device, function)
        return function

    return register


class ListedOutput:
    """The operation of the node of one output. The only source of the node is the node that has made all outputs."""

    name = public = "part"

    def apply_vjp(self, node: Node, cotangent: Any, this_pass: BackwardPass) -> SourceCotangents:
        """Return the cotangent by the position of the output."""
        return [(node.sources[0], {node.args[0]: cotangent})]

    def apply_jvp(self, node: Node, tangents: Sequence[Any]) -> Any:
        """Return the tangent at the position of the output."""
        return tangents[0][node.args[0]]


LISTED_OUTPUT = ListedOutput()


def attach_outputs(results: Sequence[Array | None], node: Node, is_tracked: Sequence[bool] | None = None) -> None:
    """Make each ``results[i]`` that is a float array output ``i`` of ``node``, unless ``is_tracked[i]`` is False."""
    node.num_listed_outputs = len(results)
    for i, result in enumerate(results):
        if result is not None and is_float(result.dtype) and (is_tracked is None or is_tracked[i]):
            attach_output(result, node, i)


def attach_output(result: Array, node: Node, index: int) -> Array:
    """Make ``result`` output ``index`` of ``node``."""
    result.node = Node(LISTED_OUTPUT, [node], result.shape, result.dtype, (index,))
    result.tracked = True
    return result


def common_device(name: str, arrays: Iterable[Any]) -> str:
    """Return the device on which all of ``arrays`` lie; DeviceError if there are several."""
    devices = {array.storage.device for array in arrays if type(array) is Array}
    if len(devices) != 1:
        raise device_mismatch_error(name, devices)
    return devices.pop()


def device_mismatch_error(name: str, devices: Iterable[str]) -> DeviceError:
    """Return the error for operands on several devices."""
    places = sorted(devices)
    return DeviceError(
        f"{name}: the operands lie on different devices: {', '.join(places)}. Move one, as with x.to({places[-1]!r}); "
        "an array of NumPy lies on the CPU."
    )
