"""`compile`: a faster form of a whole function. Each signature has a graph, which serves arrays of all lengths."""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile
from types import MethodType
from typing import Any

from pynested.autograd.call_errors import check_flags
from pynested.autograd.decorators import operator
from pynested.autograd.default_device_and_dtype import default_device, default_dtype
from pynested.autograd.tape import ANOMALY, grad_mode
from pynested.backends.errors import ArgumentError, TraceError, named_type

from .chain_fusion import fuse_chains
from .fused_chain import FusedChain
from .graph_display import as_text
from .inputs import NUMBERS, read_source, signature_of
from .nodes import Recording, TraceMismatch
from .recorder import Recorder
from .traced_function import call_in_words, changed_source, replay_of
from .unsupported import RECORDED_ERRORS

_MISMATCH = object()  # returned if no graph contains the calls that the function would make
_MAX_GRAPHS = 8  # kept for a signature; a warning appears once a function has more in all


@dataclass
class Specialization:
    """One graph of a compiled function."""

    reason: str  # what was new about the call for which it was recorded
    program: Recording  # with fused chains
    replay: Callable[..., Any]
    calls: int = 1  # the number of uses

    @property
    def chains(self) -> list[FusedChain]:
        """The fused chains."""
        return [node.function for node in self.program.nodes if isinstance(node.function, FusedChain)]


class CompiledFunction:
    """A function that `pynested.compile` made; call it as the function.

    A signature has several graphs if the function branches on sizes. It has none if a graph is impossible: then the
    function itself is called.
    """

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function, self.fullgraph = function, fullgraph
        self._graphs: dict[Any, list[Specialization]] = {}
        self._uncompiled: dict[Any, str] = {}
        self._lock = threading.RLock()  # one thread records at a time
        self._recordings = 0

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns."""
        if RECORDED_ERRORS.get(None) is not None or grad_mode.value == ANOMALY:
            return self.function(*args, **kwargs)
        arrays: list[Any] = []
        signatures = signature_of(args, arrays), signature_of(kwargs, arrays) if kwargs else None
        key = grad_mode.value, default_dtype.value, default_device.value, *signatures
        result = self._replayed(key, arrays, args, kwargs)
        if result is not _MISMATCH:
            return result
        with self._lock:
            result = self._replayed(key, arrays, args, kwargs)  # another thread may have recorded meanwhile
            return self._recorded(key, args, kwargs) if result is _MISMATCH else result

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Return a compiled method of an object."""
        return self if owner is None else MethodType(self, owner)

    def __reduce__(self) -> Any:
        """Pickle a function of a module by its name, as Python does; copy other functions without their graphs."""
        name = getattr(self, "__qualname__", "")
        if getattr(sys.modules.get(self.__module__), name, None) is self:
            return name
        return CompiledFunction, (self.function, self.fullgraph)

    def _replayed(self, key: Any, arrays: list[Any], args: Any, kwargs: Any) -> Any:
        """Return the result of a fitting graph. If the graph raises an error, the function itself is called."""
        for graph in self._graphs.get(key, ()):
            if changed_source(graph.program) is not None:
                continue
            try:
                result = graph.replay(*arrays)
            except TraceMismatch:
                continue
            except Exception:
                if any(node.effect for node in graph.program.nodes):
                    raise
                break
            graph.calls += 1
            return result
        else:
            if key not in self._uncompiled:
                return _MISMATCH
        return self.function(*args, **kwargs)  # outside of the handler, so that users read one error

    def _recorded(self, key: Any, args: Any, kwargs: Any) -> Any:
        """Record a run of the function. Its graph replaces graphs that were recorded with other arrays in variables."""
        reason = call_in_words(args, kwargs) + ", gradients off" * (not grad_mode.value)
        kept = []
        for graph in self._graphs.get(key, ()):
            changed = [source for source in graph.program.constants if not source.is_current()]
            reason = f"another {changed[0].text}" if changed else "other sizes, on which the function branches"
            kept += [graph] * all(isinstance(source.content, NUMBERS) for source in changed)  # numbers may come back
        recording, result = Recorder(self.function, args, kwargs).run()
        program = fuse_chains(recording)
        after_effect = dropwhile(lambda node: not node.effect, program.nodes)
        late = next((node for node in after_effect if node.is_checked), None)
        if late is not None:
            reason = (
                f"at {late.line} the function branches on the result of {late.name}, after it has written or drawn "
                "random numbers, which a replay could not undo"
            )
            if self.fullgraph:
                raise TraceError(f"compile: the function has no graph: {reason}. Leave fullgraph out.")
            self._uncompiled[key] = reason
            return result
        for value, source in program.captured.items():
            if not program.facts[value.number].tracked:  # the variable may require grad later
                flag = "requires_grad"
                program.constants += read_source(f"{source.text}.{flag}", source.content, flag, getattr)
        self._graphs[key] = [*kept, Specialization(reason, program, replay_of(program))][-_MAX_GRAPHS:]
        self._recordings += 1
        if self._recordings == _MAX_GRAPHS + 1:
            name, advice = getattr(self, "__name__", "the function"), "Give numbers as arrays, or look at explain()"
            warnings.warn(f"compile: {self._recordings} graphs were made of {name}. {advice}.", stacklevel=3)
        return result

    @property
    def graphs(self) -> list[Specialization]:
        """The graphs, in the order of their signatures."""
        return [graph for graphs in list(self._graphs.values()) for graph in graphs]

    def explain(self) -> str:
        """Return as text which graphs there are, why each was made, and which operators were fused.

        Examples
        --------
        >>> g = pn.compile(lambda x: (x.sin() + 1) * 2)
        >>> y, z = (g(pn.nested_array([[0.0], [1.0] * n], layout=pn.jagged)) for n in (2, 5))
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
            sizes = [len(chain.nodes) for chain in graph.chains]
            text = [f"chains: {sum(sizes)} operators in {len(sizes)}"] * bool(sizes)
            lines += [f"    {line}" for line in [*text, *as_text(self.function, graph.program).splitlines()]]
        lines += [f"not compiled: {reason}" for reason in self._uncompiled.values()]
        return "\n".join(lines) or "no graph yet: call the function"


@operator
def compile(function: Callable[..., Any], *, fullgraph: bool = False) -> CompiledFunction:
    """Make ``function`` faster as a whole. Results, gradients and errors stay the same, on the CPU bit for bit.

    Parameters
    ----------
    function : callable
        Takes and returns arrays, also in tuples, lists and dicts. It can be an object with ``__call__``.
    fullgraph : bool
        True raises TraceError if the function itself would be called instead of a graph, as PyTorch does.

    Returns
    -------
    CompiledFunction
        A graph is recorded at the first call of each signature: layouts, dtypes, ranks, devices, ``requires_grad``, and
        the values of all arguments that are no arrays, and the default device and dtype. Lengths and sizes are not part
        of a signature. Another number, array or entry in a variable of the function, or in an attribute, makes a new
        graph. Operations that a graph cannot contain raise TraceError, as in `pynested.trace`.

    Notes
    -----
    Chains of elementwise operators become one pass over the values and one node of the tape: on the CPU block by block,
    on a device as one kernel, whose exp, sin and so on are the compiler's. The node saves the inputs of the chain: a
    write into one of them between forward and backward pass is refused. Other effects of the function, such as
    printing, happen only while a graph is recorded.

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
