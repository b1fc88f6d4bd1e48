"""`Function`: an operation with a derivative of the user's own."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, GradientError, named_type, with_article
from pynested.backends.host import from_host

from .arguments.operands import as_array
from .array import Array, check_gradient, new_zeros
from .backward import grad
from .containers import Rebuild, flatten, flatten_like, map_values
from .decorators import operator
from .hooks import read_only
from .modes import Mode, no_grad
from .primitives.primitive import attach_output, attach_outputs
from .tape import OFF, RECORDING, BackwardPass, Node, SourceCotangents, grad_mode, node_or_leaf


class Context:
    """Values that ``forward`` leaves for ``backward``: arrays by `save_for_backward`, other values as attributes.

    Attributes
    ----------
    saved : tuple
        The saved arrays, in ``backward`` and ``jvp``.
    needs_input_grad : tuple of bool
        For each argument, whether it needs a gradient.
    """

    saved: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        """Save arguments, results or other arrays. A later write into one of them is noticed."""
        self.saved = values


class Function:
    """An operation with a derivative of your own: subclass it, and call ``apply``.

    ``forward(context, *arguments)`` computes; nothing in it is recorded. ``backward(context, *cotangents)`` gets one
    cotangent for each output, zeros if none arrived, and returns one gradient for each argument, None for an argument
    without gradient. If it is written in pynested's operators, it can be differentiated again. ``jvp(context,
    *tangents)`` is optional: it gets one tangent for each argument (None for a constant, also in a container) and
    returns one for each output, or None for an output without tangent. Cotangents and tangents are read-only. Arguments
    and outputs can be nested arrays, tuples, lists and dicts.

    Examples
    --------
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
        """Return the outputs of ``forward``, recorded if an argument requires grad."""
        context = Context()
        context.needs_input_grad = tuple(any(x.requires_grad for x in flatten(value)[0]) for value in arguments)
        with no_grad():
            outputs = map_values(
                lambda x: as_array(f"{cls.__name__}.forward", x) if isinstance(x, np.ndarray | np.generic) else x,
                cls.forward(context, *arguments),
            )
        if grad_mode.value == OFF or not any(context.needs_input_grad):
            return outputs
        if not flatten(outputs)[0]:
            raise GradientError(
                f"{cls.__name__}.forward returned {named_type(outputs)}, which no gradient flows through. Return "
                "arrays: pn.array(value)."
            )
        return _Call(cls, context).record(arguments, outputs)


class _Argument(NamedTuple):
    """The class of an argument of a call, the shape, dtype and device of each of its arrays, and its `Rebuild`."""

    kind: type
    forms: list[tuple[Any, Any, str]]
    rebuild: Rebuild


class _Call:
    """The operation of the node that a call of a `Function` records."""

    def __init__(self, function: type[Function], context: Context) -> None:
        self.name = self.public = function.__name__
        self.function, self.context = function, context

    def record(self, arguments: tuple[Any, ...], outputs: Any) -> Any:
        """Return the outputs, made by a node whose sources are the arrays among the arguments."""
        flattened = [flatten(value) for value in arguments]
        self.arguments = [
            _Argument(type(value), [(x.shape, x.dtype, x.device) for x in arrays], rebuild)
            for value, (arrays, rebuild) in zip(arguments, flattened, strict=True)
        ]
        arrays = [x for arrays, _ in flattened for x in arrays]
        results, self.rebuild_outputs = flatten(outputs)
        self.output_forms = [(result.shape, result.dtype, result.device) for result in results]
        self.returns_tuple = isinstance(outputs, tuple)

        context_arrays, self.rebuild_saved = flatten(self.context.saved)
        self.context.saved = ()  # the node saves the arrays instead
        input_by_id = {id(x): x.as_saved() for x in arrays}
        output_number_by_id = {id(y): number for number, y in enumerate(results) if id(y) not in input_by_id}
        self.output_numbers = [output_number_by_id.get(id(x)) for x in context_arrays]  # None for other arrays
        saved = [
            input_by_id.get(id(x), x) if number is None else x.detach()
            for x, number in zip(context_arrays, self.output_numbers, strict=True)
        ]
        node = Node(self, [node_or_leaf(x) for x in arrays], None, None, saved)
        recorded = [result.detach() for result in results]
        attach_outputs(recorded, node)
        return self.rebuild_outputs(recorded)

    def restored_context(self, node: Node, is_recorded: bool) -> Context:
        """Return the context with its saved arrays. In a recorded pass, a saved output has its history again."""
        saved = node.saved()
        if is_recorded:
            saved = [
                x if number is None else attach_output(x.detach(), node, number)
                for x, number in zip(saved, self.output_numbers, strict=True)
            ]
        context = copy.copy(self.context)
        context.saved = self.rebuild_saved(saved)
        return context

    def apply_vjp(self, node: Node, cotangent: Any, this_pass: BackwardPass) -> SourceCotangents:
        """Call ``backward``, and return the cotangent of each source that the pass visits."""
        gradients = self.gradients(node, cotangent, this_pass.is_recorded)
        this_pass.caller_storages.update([g.storage for g in [*cotangent, *gradients] if g is not None])
        pairs = zip(node.sources, gradients, strict=True)
        return [(source, g) for source, g in pairs if g is not None and source in this_pass.nodes_to_visit]

    def gradients(self, node: Node, cotangents: Sequence[Array | None], is_recorded: bool) -> list[Array | None]:
        """Return what ``backward`` returns, one gradient for each array among the arguments, after checks."""
        pairs = zip(cotangents, self.output_forms, strict=True)
        output_cotangents = self.rebuild_outputs([read_only(new_zeros(*form) if g is None else g) for g, form in pairs])
        context = self.restored_context(node, is_recorded)
        returned = self.function.backward(context, *(output_cotangents if self.returns_tuple else [output_cotangents]))
        argument_gradients = returned if isinstance(returned, tuple) else (returned,)
        if len(argument_gradients) != len(self.arguments):
            raise GradientError(
                f"{self.name}.backward returned {len(argument_gradients)} gradients for {len(self.arguments)} "
                "arguments. Return one for each, None where there is none."
            )
        gradients = [g for i, gradient in enumerate(argument_gradients) for g in self.flatten_gradient(i, gradient)]
        forms = [form for argument in self.arguments for form in argument.forms]
        for source, gradient, form in zip(node.sources, gradients, forms, strict=True):
            if source is not None and gradient is not None:
                check_gradient(f"{self.name}.backward returned", gradient, *form)
        return gradients

    def flatten_gradient(self, i: int, gradient: Any) -> Sequence[Array | None]:
        """Return the arrays of the gradient of argument ``i``, which must have the form of the argument."""
        kind, forms, rebuild = self.arguments[i]
        if gradient is None:
            return [None] * len(forms)
        if isinstance(gradient, np.ndarray) and forms:
            gradient = Array(from_host(gradient, forms[0][2]), forms[0][2])
        if not forms or (kind is Array and type(gradient) is not Array):
            raise GradientError(
                f"{self.name}.backward returned {named_type(gradient)} for argument {i}, "
                f"{with_article(kind.__name__)}. Return a gradient of the same form, or None if it holds no array."
            )
        if kind is Array:
            return [gradient]
        return flatten_like(f"{self.name}.backward", rebuild([new_zeros(*form) for form in forms]), gradient)

    def apply_jvp(self, node: Node, tangents: Sequence[Any]) -> Any:
        """Call ``jvp``; without it, transpose ``backward``, which is linear in its cotangents."""
        if self.function.jvp is None:
            return self.transpose_backward(node, tangents)
        pairs = iter(zip(node.sources, tangents, strict=True))
        arguments = [self.rebuild_tangent(argument, islice(pairs, len(argument.forms))) for argument in self.arguments]
        returned = self.function.jvp(self.restored_context(node, True), *arguments)
        outputs = self.rebuild_outputs([new_zeros(*form) for form in self.output_forms])
        try:
            results = flatten_like(f"{self.name}.jvp", outputs, returned, is_tangent=True)
        except ArgumentError as error:
            raise GradientError(f"{error} Return one tangent for each output.") from error
        for tangent, form in zip(results, self.output_forms, strict=True):
            if tangent is not None:
                check_gradient(f"{self.name}.jvp returned", tangent, *form, kind="tangent")
        return results

    def rebuild_tangent(self, argument: _Argument, pairs: Iterable[tuple[Any, Any]]) -> Any:
        """Return the tangent of an argument: None for a constant, zeros for a source without tangent."""
        tangents = [
            new_zeros(*form) if t is None and source is not None else t
            for (source, t), form in zip(pairs, argument.forms, strict=True)
        ]
        if all(t is None for t in tangents):
            return None
        return argument.rebuild([None if t is None else read_only(t) for t in tangents])

    def transpose_backward(self, node: Node, tangents: Sequence[Any]) -> list[Any]:
        """Return the tangents of the outputs by differentiating ``backward`` with respect to its cotangents."""
        with Mode(RECORDING):
            cotangents = [new_zeros(*form) for form in self.output_forms]
            float_cotangents = [g.requires_grad_() for g in cotangents if is_float(g.dtype)]
            gradients = self.gradients(node, cotangents, True)
            pairs = [(g, t) for g, t in zip(gradients, tangents, strict=True) if g is not None and t is not None]
            if not all(g.requires_grad for g, _ in pairs):
                raise GradientError(
                    f"{self.name} has no jvp, and its backward did not compute each gradient from its cotangents by "
                    "pynested's operators. Define jvp(context, *tangents) as a static method."
                )
        outputs, weights = zip(*pairs, strict=True) if pairs else ((), ())
        create_graph = grad_mode.value != OFF
        results = iter(grad(outputs, float_cotangents, weights, create_graph=create_graph, allow_unused=True))
        return [next(results) if g.requires_grad else None for g in cotangents]
