"""`compile`: a function as a whole, faster. A graph is made for each signature, and never for other lengths."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import MethodType
from typing import Any

from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import operator
from pynested.autograd.tape import ANOMALY, state
from pynested.backends.errors import ArgumentError, TraceError, named_type

from .assumptions import NUMBERS, signature_of
from .chain_fusion import fuse_chains
from .graph_display import as_text
from .nodes import Node, Recording, TraceMismatch
from .recorder import is_recording, record
from .traced_function import call_in_words, changed_source, replay_of

_MISMATCH = object()  # returned if no graph holds the calls that the function would make
_MANY = 8  # graphs of a signature that are kept, and graphs after which a warning says that calls differ


@dataclass
class Specialization:
    """One graph of a compiled function: ``program`` is the recording with fused chains.

    ``reason`` says what was new about the call that it was made for, ``notes`` what was fused; ``calls`` counts uses.
    """

    reason: str
    program: Recording
    notes: list[str]
    replay: Callable[..., Any]
    calls: int = 1


@dataclass
class _Signature:
    """The graphs of one signature: several if the function acts on sizes, or if its variables change."""

    graphs: list[Specialization] = field(default_factory=list)
    uncompiled: str = ""  # why the function itself is called


class CompiledFunction:
    """A function that `pynested.compile` made; call it as the function."""

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function, self.fullgraph = function, fullgraph
        self._signatures: dict[Any, _Signature] = {}
        self._lock = threading.RLock()  # one thread records at a time
        self._recordings = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns."""
        if is_recording() or state.mode == ANOMALY:
            return self.function(*args, **kwargs)
        arrays: list[Any] = []
        key = state.mode, signature_of(args, arrays), signature_of(kwargs, arrays) if kwargs else None
        signature = self._signatures.get(key)
        if signature is None:
            signature = self._signatures.setdefault(key, _Signature())
        result = self._replayed(signature, arrays, args, kwargs)
        if result is not _MISMATCH:
            return result
        with self._lock:
            result = self._replayed(signature, arrays, args, kwargs)  # another thread may have recorded meanwhile
            return self._recorded(signature, args, kwargs) if result is _MISMATCH else result

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Return a compiled method of an object."""
        return self if owner is None else MethodType(self, owner)

    def _replayed(self, signature: _Signature, arrays: list[Any], args: Any, kwargs: Any) -> Any:
        """Return the result of a graph that makes the calls of the function, or of the function itself."""
        if signature.uncompiled:
            return self.function(*args, **kwargs)
        for graph in signature.graphs:
            if changed_source(graph.program) is not None:
                continue
            try:
                result = graph.replay(*arrays)
            except TraceMismatch:
                continue
            except Exception:
                if any(node.effect for node in graph.program.nodes):
                    raise
            else:
                graph.calls += 1
                return result
            # Outside of the handler, so that the error of the function is the only one that people read.
            return self.function(*args, **kwargs)
        return _MISMATCH

    def _recorded(self, signature: _Signature, args: Any, kwargs: Any) -> Any:
        """Run the function as it is recorded, and keep its graph."""
        reason = call_in_words(args, kwargs) + ", gradients off" * (not state.mode)
        for graph in signature.graphs:
            changed = changed_source(graph.program)
            reason = "other sizes, on which the function acts" if changed is None else f"another {changed.text}"
        recording, result = record(self.function, args, kwargs)
        program, note = fuse_chains(recording)
        late = _late_check(program.nodes)
        if late is not None:
            uncompiled = (
                f"at {late.spot} the function acts on what {late.name} returns, after it has written or drawn random "
                "numbers, so that no other graph could begin anew"
            )
            if self.fullgraph:
                raise TraceError(f"compile: no graph holds the function: {uncompiled}. Leave fullgraph out.")
            signature.uncompiled = uncompiled
            return result
        graph = Specialization(reason, program, [f"chains: {note}"] if note else [], replay_of(program))
        signature.graphs = [*filter(_has_current_arrays, signature.graphs), graph][-_MANY:]
        self._recordings += 1
        if self._recordings == _MANY + 1:
            warnings.warn(
                f"compile: {self._recordings} graphs were made of {getattr(self, '__name__', 'the function')}, one for "
                "each signature. Numbers that differ from call to call can be given as arrays: pn.array(value). "
                "explain() says what was new each time.",
                stacklevel=3,
            )
        return result

    @property
    def graphs(self) -> list[Specialization]:
        """The graphs, in the order of their signatures."""
        return [graph for signature in list(self._signatures.values()) for graph in signature.graphs]

    def explain(self) -> str:
        """Return as text which graphs there are, why each was made, and which operators were fused.

        Examples
        --------
        >>> g = pn.compile(lambda x: (x.sin() + 1) * 2)
        >>> y = g(pn.nested_array([[0.0], [1.0, 2.0]], layout=pn.jagged))
        >>> z = g(pn.nested_array([[3.0, 4.0]], layout=pn.jagged))
        >>> print(g.explain())
        graph 1, used 2 times, made for (2, j1) float64 jagged
            chains: 3 operators in 1
            def f(x):
                # x: (2, j1) float64 jagged
                a = chain of sin, add, mul(x)  # (2, j1) float64 jagged
                return a
        """
        lines: list[str] = []
        for i, graph in enumerate(self.graphs, 1):
            lines.append(f"graph {i}, used {graph.calls} times, made for {graph.reason}")
            text = [*graph.notes, *as_text(self.function, graph.program).splitlines()]
            lines += [f"    {line}" for line in text]
        reasons = [signature.uncompiled for signature in self._signatures.values() if signature.uncompiled]
        lines += [f"not compiled: {reason}" for reason in reasons]
        return "\n".join(lines) or "no graph yet: call the function"


@operator
def compile(function: Callable[..., Any], *, fullgraph: bool = False) -> CompiledFunction:
    """Make ``function`` faster as a whole: it returns the same, bit for bit, with the same gradients and errors.

    Parameters
    ----------
    function : callable
        Takes and returns arrays, nested ones too, also in tuples, lists and dicts. It may be a decorated function, or
        an object that is called as one.
    fullgraph : bool
        True raises TraceError if the function itself would be called instead of a graph, as PyTorch does; `explain`
        says why there is none.

    Returns
    -------
    CompiledFunction
        Call it as the function. A graph is recorded at the first call of each signature: layouts, dtypes, ranks,
        devices, who requires grad, and the values of all other arguments. Lengths and sizes are no part of it. Another
        number or another array in a variable of the function, or in an attribute, makes a new graph.

    Raises
    ------
    TraceError
        At the first call of a signature, if the function does what a graph cannot hold, as in `pynested.trace`.

    Notes
    -----
    Chains of elementwise operators become one pass over the values and one node of the tape: on the CPU block by block,
    on a device with kernels by one that is written for the chain, whose exp, sin and so on are the compiler's. The node
    saves the inputs of the chain: a write into one of them between forward and backward pass is refused.
    What else the function does, as printing, happens only when a graph is recorded.

    Clauses: COMPILE-1 to COMPILE-5.

    Examples
    --------
    >>> @pn.compile
    ... def f(x):
    ...     return x.sin() + 1
    >>> f(pn.nested_array([[0.0], [0.0, 0.0]], layout=pn.jagged)).unbind()
    (array([1.]), array([1., 1.]))
    """
    check_flags("compile", fullgraph=fullgraph)
    if not callable(function):
        raise ArgumentError(f"compile: a function is compiled, not {named_type(function)}: pn.compile(f).")
    return CompiledFunction(function, fullgraph)


def _has_current_arrays(graph: Specialization) -> bool:
    """Return whether only numbers of a graph have changed, which may come back."""
    changed = [source for source in graph.program.constants if not source.is_current()]
    return all(isinstance(source.thing, NUMBERS) for source in changed)


def _late_check(nodes: Sequence[Node]) -> Node | None:
    """Return the first node whose results are checked after a node with an effect."""
    first = next((i for i, node in enumerate(nodes) if node.effect), len(nodes))
    return next((node for node in nodes[first:] if node.is_checked), None)
