"""`checkpoint`: a call that stores only its arguments and results. The backward pass repeats the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pynested.backends.errors import GradientError

from . import random
from .array import Array
from .call_errors import check_function
from .containers import flatten
from .decorators import operator
from .default_device_and_dtype import default_device, default_dtype, set_default_device, set_default_dtype
from .modes import Mode
from .primitives.primitive import attach_outputs
from .tape import OFF, RECORDING, BackwardPass, Node, SourceCotangents, grad_mode, next_node_number, node_or_leaf
from .traversal import run_forward, vjp_between, walk_back


@operator
def checkpoint(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(*arguments)``, and store only its arguments and results for the gradient.

    A backward pass calls the function again, with the same default device and dtype and the same random numbers of the
    default generator. Gradients of any order flow, also to arrays that the function takes from outside.

    Raises
    ------
    GradientError
        In the backward pass: if an argument or a result was written to after the call, or if the second call returns
        another number of arrays, or other shapes, dtypes, devices or ``requires_grad``.

    Notes
    -----
    The values that the two calls return are not compared. Apart from the arguments, the defaults and the default
    generator, all that the function reads must be the same in both calls: counters, other arrays, your own generators.

    Examples
    --------
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> pn.checkpoint(lambda x: (x * x).sum(), x).backward()
    >>> x.grad
    array([2., 4.])
    """
    check_function("checkpoint", function)
    if grad_mode.value == OFF:
        return function(*arguments)
    return _Checkpoint(function).record(arguments)


class _Checkpoint:
    """The operation of a node that saves the arguments and the results of a call. Its vjp and jvp repeat the call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = self.public = f"checkpoint of {getattr(function, '__name__', function)}"  # in errors and in tapes
        self.function = function
        self.random_state = random.generator_state()
        self.device, self.dtype = default_device.value, default_dtype.value

    def record(self, arguments: tuple[Any, ...]) -> Any:
        """Call the function; return its results as outputs of one node, which replaces the nodes of the call."""
        arrays, self.rebuild = flatten(arguments)
        self.num_arguments = len(arrays)
        first_number = next_node_number()
        results, rebuild = flatten(self.function(*self.rebuild(arrays)))
        _, sources = walk_back([node_or_leaf(result) for result in results], first_number)  # older than the call
        outputs = [result.detach() for result in results]
        for output, result in zip(outputs, results, strict=True):
            output.write_guard = result.write_guard  # a view that must not be written stays so
        self.differentiable = [result.requires_grad for result in results]
        if sources:
            saved = [*[array.as_saved() for array in arrays], *[output.detach() for output in outputs]]
            node = Node(self, sources, shape=None, dtype=None, args=saved)
            attach_outputs(outputs, node, self.differentiable)
        return rebuild(outputs)

    def repeat(self, node: Node) -> list[Array]:
        """Call the function again with the saved arguments, and return the results; raise if their kinds differ."""
        saved = node.saved()
        with (
            Mode(RECORDING),  # this call is recorded even if the mode is OFF
            random.replay_random(self.random_state),
            set_default_device(self.device),
            set_default_dtype(self.dtype),
        ):
            results = flatten(self.function(*self.rebuild(saved[: self.num_arguments])))[0]
        pairs = zip(saved[self.num_arguments :], self.differentiable, strict=True)
        first_kinds, kinds = [_kind(x, flag) for x, flag in pairs], [_kind(x, x.requires_grad) for x in results]
        if kinds != first_kinds:
            raise GradientError(
                f"{self.name}: called again on the same arguments, it returned another result: {kinds} instead of "
                f"{first_kinds}. Everything else that the function reads must be the same in both calls: counters, "
                "other arrays, a generator of your own."
            )
        return results

    def apply_vjp(self, node: Node, cotangent: Any, this_pass: BackwardPass) -> SourceCotangents:
        """Call again, recorded, and return the cotangents of the sources."""
        first_number = next_node_number()
        sources = this_pass.nodes_to_visit.intersection(node.sources)
        results = self.repeat(node)
        # The pass begins after the call, so that it calls the hooks that the function registers.
        new_pass = BackwardPass(this_pass.is_recorded, caller_storages=this_pass.caller_storages)
        return [*vjp_between(results, cotangent, sources, first_number, new_pass).items()]

    def apply_jvp(self, node: Node, tangents: Sequence[Any]) -> Any:
        """Call again, recorded, and return the tangents of the results."""
        first_number = next_node_number()
        nodes = [node_or_leaf(result) for result in self.repeat(node)]
        tangent_by_source = {source: t for source, t in zip(node.sources, tangents, strict=True) if t is not None}
        return run_forward(tangent_by_source, nodes, first_number)


def _kind(x: Array, requires_grad: bool) -> str:
    return f"{x.dtype} {x.shape} on {x.device}, {requires_grad=}"
