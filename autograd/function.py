"""`Function`: an operation with a derivative of your own."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.dtypes import is_float
from pynested.backends.errors import DeviceError, GradientError, named_type, with_article
from pynested.backends.host import from_host

from .arguments.operands import as_array
from .array import Array
from .backward import grad
from .containers import flatten, flatten_like, map_leaves
from .dispatch import operator
from .hooks import read_only
from .modes import Mode, no_grad
from .primitives.primitive import attach_output, attach_outputs
from .tape import OFF, RECORDING, BackwardPass, Node, Pairs, source_of, state


class Context:
    """What ``forward`` leaves for ``backward``: arrays by `save_for_backward`, anything else as attributes.

    Attributes
    ----------
    saved : tuple
        What was saved, in ``backward`` and ``jvp``.
    needs_input_grad : tuple of bool
        For each argument, whether a gradient of it is wanted.
    """

    saved: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        """Keep arguments, results or other arrays; a write into one of them later is noticed."""
        self.saved = values


class Function:
    """An operation whose derivative you give: subclass it, and call ``apply``.

    ``forward(context, *arguments)`` computes; nothing in it is recorded. ``backward(context, *cotangents)`` gets one
    cotangent for each output, zeros where none arrived, and returns one gradient for each argument, None where there
    is none. Written in pynested's operators it can be differentiated again. ``jvp(context, *tangents)`` is optional: it
    gets one tangent for each argument (None for what is no array) and returns one for each output. Cotangents and
    tangents belong to the pass and cannot be written to. Arguments and outputs may be nested arrays, tuples, lists and
    dicts.

    Examples
    --------
    >>> import pynested as pn
    >>> class Cube(pn.Function):
    ...     @staticmethod
    ...     def forward(context, x):
    ...         context.save_for_backward(x)
    ...         return x * x * x
    ...
    ...     @staticmethod
    ...     def backward(context, cotangent):
    ...         (x,) = context.saved
    ...         return 3 * x * x * cotangent
    >>> x = pn.array(2.0, requires_grad=True)
    >>> pn.grad(Cube.apply(x), x)
    array(12.)
    """

    jvp: Any = None

    @staticmethod
    def forward(context: Context, *arguments: Any) -> Any:
        """Compute the outputs."""
        raise GradientError("Function: define forward(context, *arguments) as a static method.")

    @staticmethod
    def backward(context: Context, *cotangents: Any) -> Any:
        """Compute a gradient for each argument."""
        raise GradientError("Function: define backward(context, *cotangents) as a static method.")

    @classmethod
    @operator
    def apply(cls, *arguments: Any) -> Any:
        """The outputs of ``forward``, recorded if an argument requires grad."""
        arrays, _ = flatten(arguments)
        context = Context()
        context.needs_input_grad = tuple(any(a.requires_grad for a in flatten(one)[0]) for one in arguments)
        with no_grad():
            outputs = map_leaves(lambda x: _as_array(cls.__name__, x), cls.forward(context, *arguments))
        if state.mode == OFF or not any(context.needs_input_grad):
            return outputs
        if not flatten(outputs)[0]:
            raise GradientError(
                f"{cls.__name__}.forward returned {named_type(outputs)}, which no gradient flows through. Return "
                "arrays: pn.array(value)."
            )
        return _Call(cls, context, arguments, outputs).recorded(arrays)


class _Call:
    """The operation of the node that a call of a `Function` records."""

    def __init__(self, function: type[Function], context: Context, arguments: tuple[Any, ...], outputs: Any) -> None:
        self.name = self.public = function.__name__
        self.function = function
        self.context = context
        opened = [flatten(argument) for argument in arguments]
        self.arguments = [
            (type(one), [array.device for array in arrays], rebuild)
            for one, (arrays, rebuild) in zip(arguments, opened, strict=True)
        ]
        self.several = isinstance(outputs, tuple)
        self.results, self.rebuild = flatten(outputs)
        self.likes = [(result.shape, result.dtype, result.device) for result in self.results]

    def recorded(self, arrays: list[Array]) -> Any:
        """The outputs, hanging from a node whose sources are ``arrays``."""
        saved, self.rebuild_saved = flatten(self.context.saved)
        arguments = {id(array): array.as_saved() for array in arrays}
        places = {id(result): i for i, result in enumerate(self.results) if id(result) not in arguments}
        self.places = [places.get(id(array)) for array in saved]
        kept = [
            arguments.get(id(a), a) if place is None else a.detach()
            for a, place in zip(saved, self.places, strict=True)
        ]
        node = Node(self, [source_of(array) for array in arrays], None, None, kept)
        self.context.saved = ()
        fresh = [result.detach() for result in self.results]
        attach_outputs(fresh, node)
        self.results = []
        return self.rebuild(fresh)

    def view(self, node: Node, graph: bool) -> Context:
        """The context with what was saved, as the pass wants it: an output has its history again if it is recorded."""
        saved = node.saved()
        if graph:
            saved = [
                a if place is None else attach_output(a.detach(), node, place)
                for a, place in zip(saved, self.places, strict=True)
            ]
        context = copy.copy(self.context)
        context.saved = self.rebuild_saved(saved)
        return context

    def apply_vjp(self, node: Node, cotangent: Any, running: BackwardPass) -> Pairs:
        """Call ``backward``, and check what it returns."""
        parts = zip(node.sources, self.pulled(node, cotangent, running.is_recorded), strict=True)
        needed = running.needed
        return [(x, g) for x, g in parts if x is not None and g is not None and (needed is None or x in needed)]

    def pulled(self, node: Node, cotangents: Sequence[Array | None], graph: bool) -> list[Array | None]:
        """What ``backward`` returns, one for each array among the arguments."""
        full = [_zeros(*like) if one is None else one for one, like in zip(cotangents, self.likes, strict=True)]
        rebuilt = self.rebuild([read_only(one) for one in full])
        answer = self.function.backward(self.view(node, graph), *(rebuilt if self.several else (rebuilt,)))
        answers = answer if isinstance(answer, tuple) else (answer,)
        if len(answers) != len(self.arguments):
            raise GradientError(
                f"{self.name}.backward returned {len(answers)} gradients for {len(self.arguments)} arguments. "
                "Return one for each, None where there is none."
            )
        found: list[Array | None] = []
        for i, one in enumerate(answers):
            found += self.opened_answer(i, one)
        devices = [device for _, of_one, _ in self.arguments for device in of_one]
        for source, one, device in zip(node.sources, found, devices, strict=True):
            self.check(source, one, device)
        return found

    def opened_answer(self, i: int, answer: Any) -> Sequence[Array | None]:
        """The arrays of the gradient of argument ``i``, which has the argument's form."""
        kind, devices, rebuild = self.arguments[i]
        if answer is None:
            return [None] * len(devices)
        if not devices:
            raise GradientError(
                f"{self.name}.backward: argument {i} is {with_article(kind.__name__)}; return None for it."
            )
        if isinstance(answer, np.ndarray):
            answer = Array(from_host(answer, devices[0]), devices[0])
        arrays = flatten(answer)[0]
        if len(arrays) != len(devices):
            raise GradientError(
                f"{self.name}.backward returned {named_type(answer)} for argument {i}, "
                f"{with_article(kind.__name__)}. Return a gradient of the same form."
            )
        return arrays if kind is Array else flatten_like(f"{self.name}.backward", rebuild(arrays), answer)

    def check(self, source: Any, cotangent: Array | None, device: str) -> None:
        """A gradient has the shape and the dtype of its array, and lies on its device."""
        if source is None or cotangent is None:
            return
        if cotangent.shape != source.shape or cotangent.dtype != source.dtype:
            raise GradientError(
                f"{self.name}.backward returned a gradient of shape {cotangent.shape} and dtype {cotangent.dtype} for "
                f"an array of shape {source.shape} and dtype {source.dtype}."
            )
        if cotangent.device != device:
            raise DeviceError(
                f"{self.name}.backward returned a gradient on {cotangent.device!r} for an array on {device!r}. Move "
                f"it: gradient.to({device!r})."
            )

    def apply_jvp(self, node: Node, tangents: Sequence[Any]) -> Any:
        """Call ``jvp``; without it, transpose ``backward``, which is linear in its cotangents."""
        if self.function.jvp is None:
            return self.transposed(node, tangents)
        given, start = [], 0
        for _, devices, rebuild in self.arguments:
            end = start + len(devices)
            of_one = zip(node.sources[start:end], tangents[start:end], devices, strict=True)
            zeros = [_zeros(s.shape, s.dtype, at) if t is None and s is not None else t for s, t, at in of_one]
            whole = bool(devices) and all(t is not None for t in zeros)
            given.append(rebuild([read_only(t) for t in zeros]) if whole else None)
            start = end
        answer = self.function.jvp(self.view(node, True), *given)
        pushed = flatten(answer)[0]
        if [(one.shape, one.dtype) for one in pushed] != [like[:2] for like in self.likes]:
            raise GradientError(
                f"{self.name}.jvp returned tangents of shapes {[one.shape for one in pushed]}; the outputs have "
                f"{[like[0] for like in self.likes]}. Return one tangent for each output, of its shape and dtype."
            )
        if [one.device for one in pushed] != [like[2] for like in self.likes]:
            raise DeviceError(
                f"{self.name}.jvp returned tangents on {[one.device for one in pushed]}; the outputs are on "
                f"{[like[2] for like in self.likes]}. Return each tangent where its output is."
            )
        return pushed

    def transposed(self, node: Node, tangents: Sequence[Any]) -> list[Any]:
        """The tangents of the outputs by differentiating ``backward`` with respect to its cotangents."""
        with Mode(RECORDING):
            cotangents = [_zeros(*like) for like in self.likes]
            for one in cotangents:
                one.requires_grad = is_float(one.dtype)
            pulled = self.pulled(node, cotangents, True)
            pairs = [(p, t) for p, t in zip(pulled, tangents, strict=True) if p is not None and t is not None]
            if not all(p.requires_grad for p, _ in pairs):
                raise GradientError(
                    f"{self.name} has no jvp, and its backward is not written in pynested's operators throughout, so "
                    "it cannot be transposed. Define jvp(context, *tangents) as a static method."
                )
        wanted = [one for one in cotangents if one.requires_grad]
        outputs, weights = [p for p, _ in pairs], [t for _, t in pairs]
        found = iter(grad(outputs, wanted, weights, create_graph=state.mode != OFF, allow_unused=True))
        return [next(found) if one.requires_grad else None for one in cotangents]


def _as_array(name: str, output: Any) -> Any:
    """What ``forward`` returned; NumPy's arrays and numbers as `Array`."""
    return as_array(f"{name}.forward", output) if isinstance(output, np.ndarray | np.generic) else output


def _zeros(shape: tuple[int, ...], dtype: Any, device: str) -> Array:
    return Array(get_backend(device).xp.zeros(shape, dtype), device)
