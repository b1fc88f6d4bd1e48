"""`compile`: a function as a whole, faster. A graph is made for each signature, and never for a ragged structure."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType
from typing import Any

from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import operator
from pynested.autograd.tape import ANOMALY, state
from pynested.backends.errors import ArgumentError, TraceError, named_type
from pynested.surface.passing import all_see, step, unwatched, watchers

from .chains import Chain
from .forms import values_in
from .nodes import Node, Recording
from .passes import optimized
from .passes.known import can_differ
from .places import Place, constants, objects
from .replay import Changed, runner
from .signature import Key, held_at, in_words, key_of
from .text import as_text
from .tracing import recorded

_OTHERWISE = object()  # a graph holds other calls than those that the function would make
CHAIN = step("chain", Chain.__call__)  # by which those who watch see a chain; the others see its operators
MANY = 8  # graphs; more of them say that something differs at each call that need not be an argument of Python's


@dataclass
class Made:
    """One graph of a compiled function, and why there is one.

    Attributes
    ----------
    why : str
        What was new about the call that it was made for.
    recording, program : Recording
        The function as it was recorded, and after the passes.
    notes : list of str
        What the passes did.
    calls : int
        How often it was used.
    raised, error : int, str
        How often it raised an error where the function itself then gave a result, and the last of these errors.
    """

    why: str
    recording: Recording
    program: Recording
    notes: list[str]
    run: Callable[..., Any]
    captured_key: Key
    attributes: list[Place]  # numbers and flags of objects among the arguments, as of a method's self
    seen: Key
    calls: int = 0
    raised: int = 0
    error: str = ""

    @property
    def acts(self) -> bool:
        """Whether it does more than give results."""
        return any(node.effect for node in self.program.nodes)


@dataclass
class _Signature:
    """The graphs of one signature: several where the function asks for sizes, and acts on them."""

    graphs: list[Made] = field(default_factory=list)
    uncompiled: str = ""  # why the function itself is called


class Compiled:
    """A function that `pynested.compile` made; call it as the function."""

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function, self.fullgraph = function, fullgraph
        self._known: dict[Key, _Signature] = {}
        self._variables: list[Place] | None = None  # they are looked for when all of them are there
        self._warned = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        if (watchers() and not all_see(CHAIN)) or state.mode == ANOMALY:
            return self.function(*args, **kwargs)
        arrays: list[Any] = []
        key: Key = (state.mode, *[key_of(one, arrays) for one in args])
        if kwargs:
            key += tuple((name, key_of(one, arrays)) for name, one in kwargs.items())
        if self._variables is None:
            self._variables = [place for _, place in constants(self.function)]
        if self._variables:
            key += held_at(self._variables)
        signature = self._known.get(key)
        if signature is None:
            signature = self._known[key] = _Signature()
        for graph in signature.graphs:
            result = self._tried(graph, arrays, args, kwargs)
            if result is not _OTHERWISE:
                return result
        return self._first(key, signature, args, kwargs, arrays)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """A compiled method of an object."""
        return self if owner is None else MethodType(self, owner)

    def _tried(self, graph: Made, arrays: list[Any], args: Any, kwargs: Any) -> Any:
        """What a graph gives, if the function would make its calls now."""
        given = [one.place.find() for one in graph.recording.captured]
        if given and _key(given) != graph.captured_key:
            return _OTHERWISE
        if graph.seen and held_at(graph.attributes) != graph.seen:
            return _OTHERWISE
        try:
            result = graph.run(*arrays, *given)
        except Changed:
            return _OTHERWISE
        except Exception as error:
            if graph.acts:
                raise
            raised = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        else:
            graph.calls += 1
            return result
        # Outside of the handler, so that the error of the function is the only one that people read.
        result = self.function(*args, **kwargs)
        graph.raised, graph.error = graph.raised + 1, raised
        return result

    def _first(self, key: Key, signature: _Signature, args: Any, kwargs: Any, arrays: list[Any]) -> Any:
        """A call for which there is no graph yet."""
        if signature.uncompiled:
            return self._uncompiled(signature, args, kwargs)
        why = "another answer to what the function asks of sizes" if signature.graphs else _said(key, len(args), kwargs)
        with unwatched():
            recording = recorded(self.function, args, kwargs)
        graph = self._made(why, recording, list(objects((args, kwargs))))
        late = _late_check(graph.program.nodes)
        if late is not None:
            signature.uncompiled = (
                f"at {late.spot} the function acts on what {late.name} gives, after it has written or drawn, so that "
                "no other graph could begin anew"
            )
            return self._uncompiled(signature, args, kwargs)
        result = self._tried(graph, arrays, args, kwargs)
        if result is _OTHERWISE:
            signature.uncompiled = "what the function asks of its arguments has another answer in a graph"
            return self._uncompiled(signature, args, kwargs)
        signature.graphs.append(graph)
        self._count()
        return result

    def _uncompiled(self, signature: _Signature, args: Any, kwargs: Any) -> Any:
        """A call without a graph, which ``fullgraph`` refuses."""
        if self.fullgraph:
            raise TraceError(f"compile: no graph holds the function: {signature.uncompiled}. Leave fullgraph out.")
        return self.function(*args, **kwargs)

    def _made(self, why: str, recording: Recording, held: list[Any]) -> Made:
        program, notes = optimized(recording)
        inputs = [*values_in(program.inputs), *(one.value for one in program.captured)]
        run = runner(inputs, program.nodes, program.outputs)
        captured = _key([one.place.find() for one in recording.captured])
        attributes = [place for one in held for _, place in constants(one)]
        seen = held_at(attributes)
        return Made(why, recording, program, notes, run, captured, attributes, seen)

    def _count(self) -> None:
        if len(self.graphs) > MANY and not self._warned:
            self._warned = True
            warnings.warn(
                f"compile: {len(self.graphs)} graphs were made of {getattr(self, '__name__', 'the function')}, one for "
                "each signature. Numbers that differ from call to call can be given as arrays: pn.array(value). "
                "explain() says what was new each time.",
                stacklevel=4,
            )

    @property
    def graphs(self) -> list[Made]:
        """The graphs that there are, in no order that matters."""
        return [graph for signature in self._known.values() for graph in signature.graphs]

    def explain(self) -> str:
        """Which graphs there are, why each was made, and what was done to it, as text.

        A graph that raises is given up for that call, and the function itself is called; how often that gave a result,
        as in a function that handles the error, is said too.

        Examples
        --------
        >>> g = pn.compile(lambda x: (x.sin() + 1) * 2)
        >>> y = g(pn.nested_array([[0.0], [1.0, 2.0]], layout=pn.jagged))
        >>> z = g(pn.nested_array([[3.0, 4.0]], layout=pn.jagged))
        >>> print(g.explain())
        graph 1, used 2 times, made for jagged of 2 dimensions, the ragged one 1, float64 on cpu
            chains: 3 operators in 1
            def f(x):
                # x: (2, j1) float64 jagged
                a = chain of sin, add, mul(x)  # (2, j1) float64 jagged
                return a
        """
        lines: list[str] = []
        for i, graph in enumerate(self.graphs, 1):
            lines.append(f"graph {i}, used {graph.calls} times, made for {graph.why}")
            if graph.raised:
                times = "once" if graph.raised == 1 else f"{graph.raised} times, at last"
                lines.append(f"    raised {times} {graph.error}; the function itself was called")
            text = [*graph.notes, *as_text(self.function, graph.program).splitlines()]
            lines += [f"    {line}" for line in text]
        for signature in self._known.values():
            if signature.uncompiled:
                lines.append(f"not compiled: {signature.uncompiled}")
        return "\n".join(lines) or "no graph yet: call the function"


@operator
def compile(function: Callable[..., Any], *, fullgraph: bool = False) -> Compiled:
    """``function`` as a whole, faster: it gives the same, bit for bit, with the same gradients and the same errors.

    Parameters
    ----------
    function : callable
        Takes and gives arrays, nested ones too, also in tuples, lists and dicts. It may be a decorated one, or an
        object that is called as one, whose attributes are read anew at each call.
    fullgraph : bool
        True raises TraceError if the function itself would be called instead of a graph, as PyTorch does; `explain`
        says why there is none.

    Returns
    -------
    Compiled
        Call it as the function. A graph is recorded at the first call of each signature: layouts, dtypes, ranks,
        devices, who requires grad, and the values of all other arguments, and of the numbers that the function finds in
        its variables. Ragged structures and sizes are no part of it.

    Raises
    ------
    TraceError
        At the first call of a signature, where the function does what a graph cannot hold, as in `pynested.trace`.

    Notes
    -----
    Chains of elementwise operators become one pass over the values and one line of the tape: on the CPU block by block,
    on a device with kernels by one that is written for the chain. That one rounds after each operator too; its exp, sin
    and so on are the compiler's, and differ from those of the array module within the bounds of the specification. A
    line saves what went into its chain: a write into that, between forward and backward pass, is refused there.

    On the CPU a `sum`, `mean`, `amax` or `amin` of floats over the last dimension, where that is regular, may end a
    chain: what it reduces is written nowhere, and neither is its gradient. On a device a chain ends before it.

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
    return Compiled(function, fullgraph)


def _key(arrays: list[Any]) -> Key:
    return tuple(key_of(one, []) for one in arrays)


def _said(key: Key, count: int, kwargs: Any) -> str:
    given = [in_words(one) for one in key[1 : count + 1]]
    named = [f"{name}={in_words(one)}" for name, one in key[count + 1 : count + 1 + len(kwargs)]]
    return "; ".join((*given, *named)) + "; gradients off" * (not key[0])


def _late_check(nodes: list[Node]) -> Node | None:
    """The first node that may find another result after one that acts."""
    acted = False
    for node in nodes:
        acted = acted or node.effect
        if acted and can_differ(node):
            return node
    return None
